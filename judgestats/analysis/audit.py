"""Audit of judgments, whole and in parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.families import AnalysisPlan, Design, Hypothesis, planned, with_omega_model
from judgestats.analysis.leaderboard import STRENGTH
from judgestats.analysis.limits import Limit
from judgestats.analysis.measures import with_systems
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.score_audit import audit_scores, single_shot_plan
from judgestats.analysis.scores import LEAST_PERMUTED, MOST_PERMUTED
from judgestats.analysis.specifications import with_specifications
from judgestats.analysis.supplements import UNREPEATED, not_repeated
from judgestats.analysis.text_checks import join_copies, with_read_notes
from judgestats.analysis.validity import label_warnings, marked_as_tuned
from judgestats.analysis.validity_raters import PANEL, check_drawn, read_mix, read_rates
from judgestats.analysis.validity_systems import SLICES, SYSTEMS
from judgestats.analysis.verdict_audit import audit_verdicts, single_shot_verdict_plan
from judgestats.data import validate_parsed
from judgestats.data.parse import kept_rows
from judgestats.data.readers.frame import bare, sort_conditions
from judgestats.errors import InputError, one_of
from judgestats.results import Row
from judgestats.results.numbers import count_noun
from judgestats.stats.inference.result import Comparisons


def kinds(frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conditions with scores, and those with categorical verdicts only.

    A condition in which nothing was read goes with the scores if there are any.

    Examples
    --------
    >>> kinds(pd.DataFrame({"condition": ["x", "y"], "score": [7.0, None], "choice": ["", "C"]}))
    (('x',), ('y',))
    """
    of = frame["condition"]
    every, scored, chosen = (
        tuple(map(str, rows.unique()))
        for rows in (of, of[frame["score"].notna()], of[frame["choice"].ne("")])
    )
    words = tuple(c for c in every if c in chosen and c not in scored)
    if not scored:
        return (), every if words else ()
    return tuple(c for c in every if c not in words), words


def both_plans(scores: AnalysisPlan, verdicts: AnalysisPlan) -> AnalysisPlan:
    """One plan with the hypotheses of both."""
    own = {h.id for h in scores.hypotheses}
    later = (replace(h, id=f"{h.id}_verdicts") if h.id in own else h for h in verdicts.hypotheses)
    return replace(
        scores,
        question=f"{scores.question} {verdicts.question}",
        blocks=f"Scores: {scores.blocks} Verdicts: {verdicts.blocks}",
        missing=f"{scores.missing} {verdicts.missing}",
        hypotheses=(*scores.hypotheses, *later),
    )


def criterion_blocks(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The judgments of each criterion: criteria are neither compared nor pooled.

    Examples
    --------
    >>> frame = pd.DataFrame({"criterion": ["tone", "tone", "facts"]})
    >>> [(name, len(block)) for name, block in criterion_blocks(frame)]
    [('tone', 2), ('facts', 1)]
    """
    if "criterion" not in frame or frame["criterion"].nunique() < 2:
        return [("", frame)]
    return [
        (str(name), own.reset_index(drop=True))
        for name, own in frame.groupby("criterion", sort=False)
    ]


_WORDS = "verdicts"
"""What the part of verdicts is called where there are scores, too."""


def criterion_plan(declared: AnalysisPlan, n: int) -> AnalysisPlan:
    """The plan of one criterion of several, whose claims are adjusted for all."""
    if n < 2:
        return declared
    apart = f"{declared.blocks} Criteria are audited apart; p of a claim is multiplied by {n}."
    return replace(declared, blocks=apart, options={**declared.options, "criteria": str(n)})


def merged_plan(plans: list[AnalysisPlan]) -> AnalysisPlan:
    """One plan with each hypothesis of several blocks once."""
    every = {h.id: h for plan in reversed(plans) for h in plan.hypotheses}
    order = dict.fromkeys(h.id for plan in plans for h in plan.hypotheses)
    return replace(plans[0], hypotheses=tuple(every[identity] for identity in order))


def _audits(
    frame: pd.DataFrame, options: Mapping[str, Any], scale: tuple[float, float] | None
) -> Analysis:
    """Audit scores and verdicts of each criterion apart, and tell all.

    Raises
    ------
    InputError
        No part can be audited.
    """
    parts: list[tuple[str, Analysis]] = []
    refused: list[InputError] = []
    criteria = criterion_blocks(frame)
    for criterion, block in criteria:
        in_scores, in_words = kinds(block)
        words = block["condition"].isin(in_words)
        if not (in_scores or in_words):
            text = f"Criterion {criterion}: no verdict in {len(block):,} judgments."
            refused.append(InputError(text))
        both = bool(in_scores and in_words)
        blocks = ((in_scores, ~words, audit_scores, ""),
                  (in_words, words, audit_verdicts, _WORDS))  # fmt: skip
        for conditions, part, analyse, word in blocks:
            if not conditions:
                continue
            own = kept_rows(block, part).reset_index(drop=True)
            declared = criterion_plan(plan_for(own, **options), len(criteria))
            try:
                analysis = analyse(own, declared)
                if "specs" in declared.options:
                    analysis = with_specifications(analysis, own, declared, scale=scale)
            except InputError as error:
                refused.append(error)
            else:
                named = (criterion, word if both else "")
                parts.append((".".join(filter(None, named)) or word, analysis))
    if not parts:
        raise refused[0]
    if len(parts) == 1 and not refused:
        return parts[0][1]
    names = [str(name) for _, a in parts for name in a.conditions["condition"]]
    read = frame[frame["score"].notna() | (frame["choice"] != "")]
    most = read.groupby(["condition", "item_id", "order"]).size().groupby("condition").max()
    unrepeated = not_repeated([n for n in names if most.get(n, 0) == 1], of=len(names))
    return merge_analyses(parts, unrepeated, map(str, refused))


def merge_analyses(
    named: Iterable[tuple[str, Analysis]], before: Iterable[str] = (), after: Iterable[str] = ()
) -> Analysis:
    """The analyses of several parts as one.

    Parameters
    ----------
    named : iterable of (str, Analysis)
        The criterion, or the kind of verdicts, and its analysis.
    before, after : iterable of str
        Limitations of the whole: that conditions were not repeated, what could not be audited.

    Returns
    -------
    Analysis
    """
    parts: list[Analysis] = []
    for word, part in named:
        own = replace(part, condition_records=part.records().conditions)
        taken = {r.id for p in parts for r in (*p.results, *p.described)}
        parts.append(_separate_ids(own, taken, word))
    limits = (x for a in parts for x in a.limitations if getattr(x, "code", "") != UNREPEATED.code)
    return replace(
        parts[0],
        question=" ".join(dict.fromkeys(a.question for a in parts)),
        conditions=pd.concat([a.conditions for a in parts], ignore_index=True),
        condition_records=tuple(c for a in parts for c in a.condition_records),
        described=tuple(r for a in parts for r in a.described),
        rows=_merged_rows(row for a in parts for row in a.rows),
        results=tuple(r for a in parts for r in a.results),
        headlines=tuple(h for a in parts for h in a.headlines),
        limitations=tuple(dict.fromkeys([*before, *limits, *after])),
        metrics={k: v for a in [*parts[1:], parts[0]] for k, v in a.metrics.items()},
        condition_metrics={k: v for a in parts for k, v in a.condition_metrics.items()},
    )


def _merged_rows(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows of one quantity as one, with the cells of all parts."""
    merged: dict[tuple[str, str], Row] = {}
    for row in rows:
        held = merged.setdefault((row.key, row.ask), row)
        if held is not row:
            cells, beside = {**held.cells, **row.cells}, {**held.beside, **row.beside}
            merged[row.key, row.ask] = replace(held, cells=cells, beside=beside)
    return tuple(merged.values())


def _separate_ids(part: Analysis, taken: set[str], word: str) -> Analysis:
    """A part whose results share no id with those of others: both have several judges, perhaps."""
    ids = {
        r.id: r.id.replace(".", f".{word}.", 1) if "." in r.id else f"{r.id}.{word}"
        for r in (*part.results, *part.described)
        if r.id in taken
    }
    names = ids | {f"headline.{old}": f"headline.{new}" for old, new in ids.items()}

    def renamed(identity: str) -> str:
        whole = next((i for i in names if identity == i or identity.startswith(f"{i}/")), "")
        return names[whole] + identity.removeprefix(whole) if whole else identity

    def named_anew(named: NamedResult) -> NamedResult:
        result, title = named.result, named.title
        if isinstance(result, Comparisons):
            rows = (replace(r, held_to=renamed(r.held_to)) for r in result.rows)
            result = replace(result, rows=tuple(rows))
        of_criterion = word not in {"", _WORDS} and len(named.about.conditions) != 1
        title = f"{title}, {word}" if named.id in ids or of_criterion else title
        return replace(named, id=ids.get(named.id, named.id), title=title, result=result)

    headlines = tuple(
        replace(h, id=renamed(h.id), size=renamed(h.size), rests_on=tuple(map(renamed, h.rests_on)))
        for h in part.headlines
    )
    results, described = (tuple(map(named_anew, own)) for own in (part.results, part.described))
    return replace(part, results=results, described=described, headlines=headlines)


def verdict_plan(*, n_resamples: int, seed: int, level: float) -> AnalysisPlan:
    """Plan of an audit of verdicts, which does not depend on the data.

    Parameters
    ----------
    n_resamples, seed : int
    level : float

    Returns
    -------
    AnalysisPlan
    """
    return planned(
        "audit", {"resamples": n_resamples, "seed": seed},
        Hypothesis(
            "reliability", "How consistent are repeated verdicts?",
            "Fleiss' kappa, AC1, vote-share reliability, and flip rate, with nulls", role="primary",
        ),
        Hypothesis("order", "Does the verdict follow the response or its position?",
            "order consistency, first-position preference, position effect", role="primary"),
        Hypothesis("people", "Do the verdicts agree with human labels?",
            "credit (1, .5, 0) with always-tie and random baselines, accuracy, Cohen's kappa. The "
            "null permutes human labels over items. With several annotators: their agreement, and "
            "the alternative annotator test (epsilon .1)", role="primary"),
        Hypothesis("slots", "Do choices follow the position of an option?",
            "accuracy by the position of the correct option, else the positions chosen. Positions "
            "are exchanged within items; adjusted with the comparisons of conditions"),
        PANEL, SYSTEMS, STRENGTH, SLICES,
        Hypothesis("compare", "Which condition agrees more with human labels?",
            "blocked F test on the scores, p by exchanging conditions within items; also Friedman "
            "(Wilcoxon for two)", "all pairs of conditions, on the items that all of them judged"),
        question="How consistent are these verdicts, do they follow position, and do they agree "
        "with humans?",
        blocks="The item (for pairs: the pair of responses) is the block; intervals keep the items "
        "of a cluster together.",
        missing="A judgment without a verdict has a status and no verdict; the rates are reported "
        "by condition.",
        level=level,
    )  # fmt: skip


def plan(*, n_resamples: int = 999, seed: int = 0, level: float = 0.95) -> AnalysisPlan:
    """Plan of an audit of scores, which does not depend on the data.

    Parameters
    ----------
    n_resamples, seed : int
        Of bootstraps and permutations.
    level : float
        Of the intervals.

    Returns
    -------
    AnalysisPlan
    """
    return planned(
        "audit", {"resamples": n_resamples, "seed": seed},
        Hypothesis("reliability", "How reliable is one judgment, and the mean of all replications?",
            "ICC(1) and Cronbach's alpha with intervals, each next to its null", role="primary"),
        Hypothesis("spread", "Does the mean difference of repeats differ between conditions?",
            "GMD ratios (of the mean differences of two repeats), cells exchanged within clusters, "
            "Holm; secondary: blocked F test and ranks of spread",
            "pairs of conditions, and the claims on spread, means and agreement with human labels"),
        Hypothesis("ratio", "Which condition is more consistent, by how much?",
            "SD ratio of the repeats, cells exchanged within clusters", "pairs of conditions"),
        Hypothesis("shift", "Which condition gives higher scores?",
            "paired difference of means, interval over clusters", "pairs of conditions"),
        question="How consistent and reliable are these judgments, and how do the judges compare?",
        blocks="The item is the block; only items judged under every compared condition enter a "
        "comparison. Intervals and permutations keep the items of a cluster together.",
        missing="A judgment without a verdict has a status and no score; the rates are reported by "
        "condition.",
        level=level,
    )  # fmt: skip


def plan_for(
    frame: pd.DataFrame,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    labels_drawn: str = "",
    mix: str = "",
    omega_model: str = "parallel",
    sensitivity: str = "",
    specificity: str = "",
    specs: str = "",
) -> AnalysisPlan:
    """The plan that fits what a frame holds: scores, or categorical verdicts.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.
    n_resamples, seed : int
    level : float
    labels_drawn : str
        How the labelled items were chosen; empty where it is not said.
    mix : str
        See `audit`.
    omega_model : str
        See `audit`.
    sensitivity, specificity, specs : str
        See `audit`.

    Returns
    -------
    AnalysisPlan
    """
    check_drawn(labels_drawn)
    one_of("audit", "specs", specs, ("", "yes", "joint"))
    drawn = {"labels_drawn": labels_drawn, "mix": mix if read_mix(mix) else "", "specs": specs}
    drawn = {name: given for name, given in drawn.items() if given}
    rates = {"sensitivity": sensitivity, "specificity": specificity}
    drawn |= rates if read_rates(rates) else {}
    scores = plan(n_resamples=n_resamples, seed=seed, level=level)
    scores = with_omega_model(replace(scores, options=drawn), omega_model)
    verdicts = verdict_plan(n_resamples=n_resamples, seed=seed, level=level)
    verdicts = replace(verdicts, options={**verdicts.options, **drawn})
    scored, worded = [], []
    for _, block in criterion_blocks(frame):
        in_scores, in_words = kinds(block)
        words = block["condition"].isin(in_words)
        if in_scores:
            scored.append(single_shot_plan(scores, block[~words]))
        if in_words or not in_scores:
            worded.append(single_shot_verdict_plan(verdicts, block[words] if in_words else block))
    merged = [merged_plan(plans) for plans in (scored, worded) if plans]
    whole = merged[0] if len(merged) == 1 else both_plans(*merged)
    whole = replace(whole, design=Design.from_frame(frame))
    return criterion_plan(whole, len(criterion_blocks(frame)))


def audit(
    judgments: pd.DataFrame,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    labels_drawn: str = "",
    mix: str = "",
    omega_model: str = "parallel",
    sensitivity: str = "",
    specificity: str = "",
    duplicates: str = "cluster",
    specs: str = "",
) -> Analysis:
    """Audit a frame of judgments: reliability and spread per condition, and paired comparisons.

    Parameters
    ----------
    judgments : DataFrame
        A judgments frame, as `judgestats.read_judgments` returns it.
    n_resamples, seed : int
        Of bootstraps and permutations.
    level : float
        Of the intervals.
    labels_drawn : {"random", "stratified", "by-verdict", "convenience"}, optional
        How the labelled items were chosen; by default as their chances (a column ``chance`` of
        the labels) show, else random is assumed, and said.
    mix : str
        Share of each category in the traffic that corrected rates are for: ``chat=.8,code=.2``.
    omega_model : {"parallel", "tau-equivalent", "congeneric"}
        Its omega is reported in addition to the parallel one, which exchangeable replications
        imply. It is chosen before the data are seen, never by its fit.
    sensitivity, specificity : str
        The judge's rates in another study with their numbers of labels, ``137/149`` or ``.92/149``:
        where these judgments have no labels, the pass rate is corrected by them.
    duplicates : {"cluster", "drop", "keep", "refuse"}
        How items that repeat another item's text or replies are handled: `join_copies`.
    specs : {"", "yes", "joint"}
        Whether each claim on two conditions is made again under every declared choice of its
        analysis (`with_specifications`), and with one joint p.

    Returns
    -------
    Analysis
        Prints as a summary that ends in one plain sentence.

    Raises
    ------
    InputError
        No judgment has a score or a choice.

    Examples
    --------
    >>> import pandas as pd
    >>> from judgestats.data.readers.frame import parsed_frame
    >>> rows = [dict(judge="J", temperature=1.0, item_id=f"i{i}", cluster=f"i{i}", replicate=r,
    ...              score=float(3 + i % 5 + (i + r) % 2), status="ok")
    ...         for i in range(12) for r in range(4)]
    >>> found = audit(parsed_frame(pd.DataFrame(rows)), n_resamples=99)
    >>> found.conditions["n_items"].tolist()
    [12]
    """
    frame, copies = join_copies(validate_parsed(judgments), duplicates)
    return audit_read(
        frame,
        notes=judgments.attrs.get("notes", ()),
        limits=copies.limits,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        labels_drawn=labels_drawn,
        mix=mix,
        omega_model=omega_model,
        sensitivity=sensitivity,
        specificity=specificity,
        specs=specs,
    )


def _with_criteria(audits: Analysis, frame: pd.DataFrame) -> Analysis:
    """The criterion of each condition among its factors, where there are several."""
    if len(criterion_blocks(frame)) < 2:
        return audits
    criterion = frame.groupby("condition", sort=False)["criterion"].first()
    named = tuple(
        c if c.criterion else replace(c, factors={**c.factors, "criterion": criterion[c.label]})
        for c in audits.condition_records or audits.records().conditions
    )
    return replace(audits, condition_records=named)


def audit_read(
    frame: pd.DataFrame,
    *,
    notes: Iterable[object] = (),
    limits: Iterable[Limit] = (),
    **options: Any,
) -> Analysis:
    """Audit a frame that has just been read, and was validated there.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returned it.
    notes : iterable of str
        What the data leave open.
    limits : iterable of Limit
        What `join_copies` found.
    **options
        As `audit` takes them.

    Returns
    -------
    Analysis
    """
    options = {"n_resamples": 999, "seed": 0, "level": 0.95, "labels_drawn": "", **options}
    scale = frame.attrs.get("scale")
    frame = bare(sort_conditions(frame))
    in_scores, in_words = kinds(frame)
    if not (in_scores or in_words):
        raise InputError(
            f"audit: none of the {len(frame)} judgments could be read "
            f"({', '.join(f'{n} {s}' for s, n in frame['status'].value_counts().items())}), so "
            "nothing can be described. Look at their reason column. Verdicts as text need a "
            "choice column: read_judgments(..., mapping={'choice': 'COLUMN'})."
        )
    audits = _audits(frame, options, scale)
    read_notes = [note if isinstance(note, str) else str(note) for note in notes]
    by_verdict = options["labels_drawn"] == "by-verdict" and "chance" not in frame
    if by_verdict and len(audits.conditions) > 1:
        read_notes.append(
            "Labels drawn by verdict are weighted in each condition by its own verdicts. That is "
            "correct only for the judge whose verdicts drew them. A column chance next to the "
            "labels serves all judges."
        )
    audits = with_systems(_with_criteria(audits, frame), frame, level=options["level"])
    warned = label_warnings(audits.results)
    without = int((frame["condition"].value_counts() > MOST_PERMUTED // LEAST_PERMUTED).sum())
    said = count_noun(without, "condition", "conditions")
    most = f"of more than {MOST_PERMUTED // LEAST_PERMUTED:,} judgments"
    nulls = [f"Left out: null references of {said} {most}."] if without else []
    audits = replace(audits, limitations=(*warned, *audits.limitations, *limits, *nulls))
    return marked_as_tuned(with_read_notes(audits, read_notes), [frame])
