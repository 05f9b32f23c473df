"""``judgestats decide`` and ``labels next``: a cut-off, automation, a panel, items to label."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from judgestats.analysis.decisions.automation import NO_CONFIDENCE, Routed
from judgestats.analysis.decisions.cascade import HUMAN, Cascade, cascade_certificate
from judgestats.analysis.decisions.frame_decisions import automation_of, panel_of
from judgestats.analysis.decisions.next_labels import BATCHES, NextLabels, next_labels
from judgestats.analysis.decisions.operating_point import operating_point
from judgestats.analysis.decisions.record import (
    SCHEMA,
    Decision,
    ItemJudgments,
    item_judgments,
    joined_items,
    plan_command,
)
from judgestats.api import read_judgments
from judgestats.arrays import Floats
from judgestats.commands.arguments import (
    Args,
    check_new,
    named_numbers,
    reading_options,
    table_options,
)
from judgestats.commands.labels import OWN_COLUMNS, check_writable, read_table, write_table
from judgestats.commands.options import repeated_options
from judgestats.data.verdict_kinds import PREFERENCES
from judgestats.errors import InputError
from judgestats.files.text import command_word
from judgestats.results.purposes import read_requirements
from judgestats.results.verdict import Demand, Subject, decide
from judgestats.runner import display as console
from judgestats.sinks import write_csv_file

EXITS = {"USE": 0, "USE_WITH_CARE": 0, "DO_NOT_USE": 1, "CANNOT_TELL": 3}
"""Exit codes by outcome; 0 if nothing is required."""


def read_decidable(arguments: Args) -> tuple[pd.DataFrame, list[ItemJudgments]]:
    """Judgments of a file, and the items of each judge of pass / fail verdicts or scores.

    Parameters
    ----------
    arguments : Args
        ``file``, and how it is read.

    Raises
    ------
    InputError
        Verdicts are neither.
    """
    frame = read_judgments(arguments.file, **reading_options(arguments))
    every = item_judgments(frame)
    found = [one for one in every if one.is_scored or np.isfinite(one.verdicts).any()]
    if not found:
        words = frame.loc[frame["choice"] != "", "choice"].value_counts().index[:4].tolist()
        if words and set(words) <= set(PREFERENCES):
            raise InputError(
                f"{arguments.file}: verdicts are preferences; pass / fail verdicts or scores are "
                f"needed. For preferences: judgestats analyze {command_word(arguments.file)}."
            )
        raise InputError(
            f"{arguments.file}: verdicts are {', '.join(words) or 'all unparsed'}, not pass / "
            f"fail. State which of them pass, e.g. --pass {words[0] if words else 'yes'}."
        )
    return frame, found


def _labelled_items(
    arguments: Args, *, labels: bool = True, scores: bool = False
) -> list[ItemJudgments]:
    """Items of each judge, of which some have a label, or a human score, where one is needed."""
    _, every = read_decidable(arguments)
    found = [one for one in every if one.has_labels or not labels]
    scored = [one for one in every if one.has_label_scores]
    if scores and scored and not found:
        return scored
    if not found and scored:
        held = np.unique(scored[0].label_scores[np.isfinite(scored[0].label_scores)])
        least = f"{held[held.size // 2]:g}"
        raise InputError(
            f"{arguments.file}: labels are scores, not pass / fail. State which of them pass, e.g. "
            f"--values 'label:>={least}=pass,label:<{least}=fail'. To bound the error of scores: "
            "judgestats decide automate my.csv --scale 1-10, with a column of confidence."
        )
    if not found:
        raise InputError(
            f"{arguments.file}: no item has a pass / fail label. Add --labels FILE, or draw them: "
            f"{plan_command(200, len(every[0].items))}"
        )
    return found


def name_file(command: Callable[[Args], int]) -> Callable[[Args], int]:
    """Make a command's refusals name its file, where decisions without one say ``my.csv``."""

    @functools.wraps(command)
    def run(arguments: Args) -> int:
        try:
            return command(arguments)
        except InputError as refusal:
            if "my.csv" not in str(refusal):
                raise
            raise InputError(str(refusal).replace("my.csv", command_word(arguments.file))) from None

    return run


def requirements_of(made: Sequence[Decision], arguments: Args) -> dict[str, Demand | None]:
    """What is required of decisions.

    Raises
    ------
    InputError
        A decision has no such quantity.
    """
    required = read_requirements(arguments.require)
    for one in made:
        if unknown := sorted(set(required) - set(one.required)):
            raise InputError(
                f"--require: this decision has no {unknown[0]}. It has {', '.join(one.required)}."
            )
    return required


def finish(
    made: Sequence[Decision], arguments: Args, *, steps: Sequence[str] = (), looks: int = 1
) -> int:
    """Print decisions, and compare them with the requirements.

    Parameters
    ----------
    made : sequence of Decision
    arguments : Args
        ``file``, ``require``, and how results are shown.
    steps : sequence of str
        Last lines.
    looks : int
        Looks at growing labels that share the error.

    Returns
    -------
    int
        0; of what is required 1 where it fails and 3 where it cannot be determined.
    """
    required = requirements_of(made, arguments)
    outcomes = []
    for one in made:
        own = {m.key: m for m in one.measures(Subject(judge=one.subject))}
        demands = [(d, own.get(key)) for key, d in required.items() if d is not None]
        outcomes.append(decide(demands, judges=1, looks=looks).outcome if demands else "USE")
    codes = [EXITS[outcome] for outcome in outcomes]
    code = 1 if 1 in codes else max(codes)
    with console.use_output(console.parse_output_options(arguments)):
        if console.output_options().form == "json":
            documents = [one.to_dict() for one in made]
            console.write_json(
                documents[0] if len(documents) == 1 else {"schema": SCHEMA, "decisions": documents}
            )
            return code
        for one in made:
            more = [f"Next  {step.command}" for step in one.next[:1] if step.command]
            if not (more or steps):
                more = [
                    f"Next  {' '.join(['judgestats analyze my.csv', *repeated_options(arguments)])}"
                ]
            lines = (*one.screen(), *one.care(), *more, *steps)
            console.print_result(
                *(line.replace("my.csv", command_word(arguments.file)) for line in lines)
            )
        if required:
            console.print_result(f"exit {code} ({_EXIT_TEXT[code]})")
    return code


_Made = TypeVar("_Made", bound=Decision)
_EXIT_TEXT = {0: "every requirement holds", 1: "a requirement fails", 3: "cannot tell"}


def _decide_each(
    arguments: Args, judged: Sequence[ItemJudgments], make: Callable[[ItemJudgments, float], _Made]
) -> list[_Made]:
    """One decision per judge; claims made at once share the level."""
    level = 1 - (1 - arguments.level) / len(judged)
    several = len(judged) > 1
    return [replace(make(one, level), subject=one.name if several else "") for one in judged]


@name_file
def cutoff_command(arguments: Args) -> int:
    """Certify the cut-offs of a score.

    Parameters
    ----------
    arguments : Args
        Of the command line.

    Returns
    -------
    int
        0; of what is required 1 where it fails and 3 where it cannot be determined.
    """
    cost = named_numbers("--cost", arguments.cost, "fn=3,fp=1") or None
    split = "cost" in read_requirements(arguments.require)
    if split and not cost:
        raise InputError("--require: a cost needs its prices. Add --cost fn=3,fp=1.")
    judged = [one for one in _labelled_items(arguments) if one.is_scored]
    if not judged:
        raise InputError(
            f"decide cutoff: {arguments.file} holds no scores. Pass / fail verdicts have no "
            "cut-off: judgestats decide automate my.csv."
        )

    def make(one: ItemJudgments, level: float) -> Decision:
        return operating_point(
            one.scores, one.labels, tpr=arguments.tpr, tnr=arguments.tnr, cost=cost,
            cutoff=arguments.cutoff, cluster=one.cluster, level=level,
            lower_is_better=arguments.lower_is_better, prevalence=arguments.prevalence,
            labels_drawn=one.drawn or arguments.labels_drawn, tuned=one.tuned,
            seed=arguments.seed, full_roc=arguments.all, split=split,
        )  # fmt: skip

    return finish(_decide_each(arguments, judged, make), arguments)


@name_file
def automate_command(arguments: Args) -> int:
    """Certify which verdicts need no human, by one judge or by price.

    Parameters
    ----------
    arguments : Args
        Of the command line.

    Returns
    -------
    int
        0; of what is required 1 where it fails and 3 where it cannot be determined.
    """
    prices = named_numbers("--price", arguments.price, "cheap=1,dear=10,human=200")
    if arguments.strict and not prices:
        raise InputError("decide automate: --strict is of a cascade. Add --price.")
    if arguments.per_class and prices:
        raise InputError(
            "decide automate: --per-class is of one judge, not of a cascade. Leave it out."
        )
    judged = _labelled_items(arguments, scores=not prices)
    if arguments.cutoff is not None and not any(o.is_scored and o.has_labels for o in judged):
        raise InputError(
            "decide automate: --cutoff is of scores with pass / fail labels. Leave it out."
        )
    if arguments.out:
        check_new(Path(arguments.out))
    if prices:
        made: list[Routed] = [_cascade(arguments, judged, prices)]
    else:
        made = _decide_each(
            arguments, judged, lambda one, level: _automation(arguments, one, level)
        )
    requirements_of(made, arguments)
    if arguments.out:
        if len(made) > 1:
            raise InputError(
                "decide automate: --out holds the routes of one judge. Name it: --rows judge=NAME."
            )
        _write_routes(Path(arguments.out), made[0], judged)
    return finish(made, arguments)


def _automation(arguments: Args, one: ItemJudgments, level: float) -> Routed:
    scale = None
    if one.is_scored and one.has_label_scores:
        scale = table_options(arguments)["scale"]
        if scale is None:
            raise InputError(
                "decide automate: labels are scores, so --error is a share of the scale. State "
                "it, e.g. --scale 1-10."
            )
    elif one.is_scored:
        one = _from_cutoff(one, arguments.cutoff)
    made = automation_of(
        one, error=arguments.error, level=level, drawn=one.drawn or arguments.labels_drawn,
        per_class=arguments.per_class or None, scale=scale,
    )  # fmt: skip
    if made is None:
        raise InputError(f"decide automate: {NO_CONFIDENCE}")
    return made


def _from_cutoff(one: ItemJudgments, cutoff: float | None) -> ItemJudgments:
    """Scores as verdicts at a stated cut-off; without a confidence, the rank of the distance."""
    if cutoff is None:
        raise InputError(
            "decide automate: scores need a cut-off. Find one: judgestats decide cutoff my.csv; "
            "then --cutoff VALUE."
        )
    verdicts = np.where(np.isnan(one.scores), np.nan, (one.scores >= cutoff).astype(float))
    one = replace(one, verdicts=verdicts, repeats=np.where(np.isnan(verdicts), 0, 1))
    if one.confident.any() and one.source != "stated":
        return one
    distance = pd.Series(np.abs(one.scores - cutoff))
    return replace(
        one, confidence=np.asarray(distance.rank(pct=True), dtype=np.float64), source="cutoff"
    )


def _cascade(arguments: Args, judged: Sequence[ItemJudgments], prices: dict[str, float]) -> Cascade:
    by_name = {one.name: one for one in judged}
    names = [name for name in prices if name != HUMAN]
    missing = sorted(set(names) - set(by_name)) or sorted(set(by_name) - set(names))
    if missing:
        raise InputError(
            f"decide automate: --price and judges differ: {missing[0]}. Judges: "
            f"{', '.join(by_name)}."
        )
    if any(one.is_scored for one in judged):
        raise InputError("decide automate: a cascade takes pass / fail verdicts, not scores.")
    held = joined_items([by_name[name] for name in names])
    return cascade_certificate(
        dict(zip(names, held.verdicts.T, strict=True)),
        dict(zip(names, held.confidence.T, strict=True)), held.labels, prices=prices,
        error=arguments.error, cluster=held.cluster, level=arguments.level,
        labels_drawn=judged[0].drawn or arguments.labels_drawn, tuned=judged[0].tuned,
        strict=arguments.strict, source=dict(zip(names, held.sources, strict=True)),
    )  # fmt: skip


@name_file
def panel_command(arguments: Args) -> int:
    """Estimate the effective votes of the judges of a file.

    Parameters
    ----------
    arguments : Args
        Of the command line.

    Returns
    -------
    int
        0; of what is required 1 where it fails and 3 where it cannot be determined.
    """
    prices = named_numbers("--price", arguments.price, "cheap=1,dear=10")
    every = _labelled_items(arguments, labels=False)
    judged = [one for one in every if not one.is_scored] or every
    if len(judged) < 2:
        raise InputError(
            f"decide panel: {arguments.file} holds verdicts of {len(judged)} judge; two or more "
            "are needed. Name the column of judges: --map judge=COLUMN, or --wide 'PATTERN'."
        )
    made = panel_of(
        judged, drawn=arguments.labels_drawn, level=arguments.level, margin=arguments.margin,
        prices=prices,
    )  # fmt: skip
    return finish([made], arguments)


def _write_routes(path: Path, made: Routed, judged: Sequence[ItemJudgments]) -> None:
    """One row per item: where it goes, with its verdict and confidence."""
    items = joined_items(judged).items if isinstance(made, Cascade) else judged[0].items
    words: dict[float, str] = {} if judged[0].has_label_scores else {1.0: "pass", 0.0: "fail"}
    table = pd.DataFrame({
        "item_id": [str(i) for i in items],
        "route": made.routes,
        "verdict": ["" if math.isnan(v) else words.get(v, f"{v:g}") for v in made.verdicts],
        "confidence": made.confidence,
    })  # fmt: skip
    write_csv_file(path, table)


_MOST_CHOICES = 10
_IDS = ("item_id", "item", "id")


@name_file
def next_command(arguments: Args) -> int:
    """Print the bound and the estimate, and write the next batch.

    Parameters
    ----------
    arguments : Args
        ``file``, ``labels``, ``budget``, ``until``, ``text``, ``seed``, ``out``, and how the table
        is read.

    Returns
    -------
    int
        0; of what is required 1 where it fails and 3 where it cannot be determined.
    """
    until = _width(arguments.until)
    frame, judged = read_decidable(arguments)
    if len(judged) != 1:
        names = [one.name for one in judged]
        raise InputError(
            f"labels next: {arguments.file} holds {len(names)} judges: {', '.join(names[:8])}. "
            f"Name one, e.g. --rows judge={names[0]}."
        )
    chance = None
    if judged[0].has_labels or judged[0].has_label_scores:
        if "chance" not in frame:
            own = shlex.quote(frame.attrs["roles"].get("label", ["label"])[0])
            other = "" if arguments.labels else f", or leave labels out: --ignore {own}"
            raise InputError(
                f"{arguments.labels or arguments.file}: there is no column chance, so the sampling "
                f"of the labels is unknown. Give a file that labels next wrote{other}."
            )
        named = frame.groupby("item_id", sort=False)["chance"].first()
        chance = pd.to_numeric(named.reindex(judged[0].items), errors="coerce").to_numpy()
    made = _choose_items(judged[0], arguments, chance)
    requirements_of([made], arguments)
    if until is not None and until >= 1 and made.quantity == "pass_rate":
        raise InputError(f"labels next: a pass rate's width is below 1, got {until:g}.")
    width = made.estimate.high - made.estimate.low
    reached = until is not None and width <= until
    steps: list[str] = []
    if made.chosen and not reached:
        number = f"-{made.batch}" if made.n_labels else ""
        out = Path(arguments.out or f"labels-next{number}.csv")
        _write(made, judged[0], arguments, out)
        again = f"this command with --labels {command_word(out)}"
        again += " and another --out" if arguments.out else ""
        collect = f"judgestats labels collect {command_word(out)}{_choices(judged[0])}"
        steps = [f"Next  {collect}, then {again}"]
    elif reached:
        steps = [f"Width {width:.3f} is reached: no more labels are needed."]
    return finish([made], arguments, steps=steps, looks=BATCHES)


def _choose_items(judged: ItemJudgments, arguments: Args, chance: Floats | None) -> NextLabels:
    verdicts, share = judged.majority
    stated = judged.confidence if judged.confident.any() else None
    return next_labels(
        judged.scores if judged.is_scored else verdicts,
        share if stated is None and not judged.is_scored else stated,
        judged.labels if judged.has_labels else judged.label_scores, budget=arguments.budget,
        chance=chance, cluster=judged.cluster, seed=arguments.seed,
    )  # fmt: skip


def _choices(judged: ItemJudgments) -> str:
    """The option that names the scores which raters choose from, where they are few."""
    scores = judged.scores[np.isfinite(judged.scores)]
    if not scores.size or (scores % 1).any() or not 0 < np.ptp(scores) <= _MOST_CHOICES:
        return ""
    # size: at most _MOST_CHOICES apart, see above
    return f" --choices {','.join(map(str, range(int(scores.min()), int(scores.max()) + 1)))}"


def _write(made: NextLabels, judged: ItemJudgments, arguments: Args, out: Path) -> None:
    check_new(out)
    check_writable(out)
    items = judged.items[list(made.chosen)]
    texts = {}
    if arguments.text:
        table = read_table(Path(arguments.file))
        names = [c for c in (*_IDS, *arguments.item) if c in table]
        lost = [c for c in arguments.text if c not in table or c in OWN_COLUMNS]
        if lost or not names:
            raise InputError(f"labels next: there is no column {(lost or ['item'])[0]!r} to show.")
        first = table.drop_duplicates(names[-1]).set_index(names[-1])
        texts = {c: first[c].reindex(items).fillna("").to_numpy() for c in arguments.text}
    rows = pd.DataFrame({
        "item_id": items, "chance": made.chance, **texts, "annotator": "", "label": ""
    })  # fmt: skip
    if arguments.labels:  # batches so far stay in one file
        earlier = read_table(Path(arguments.labels))
        named = next((c for c in _IDS if c in earlier), "item_id")
        earlier = earlier.rename(columns={named: "item_id"})
        rows = pd.concat([earlier[~earlier["item_id"].isin(items)], rows]).fillna("")
    write_table(rows, out)


def _width(text: str) -> float | None:
    """The width of ``width<=NUMBER``."""
    if not text:
        return None
    name, sign, value = text.partition("<=")
    try:
        width = float(value)
    except ValueError:
        width = math.nan
    if name.strip() != "width" or not sign or not 0 < width < math.inf:
        raise InputError(f"labels next: --until takes 'width<=.1', got {text!r}.")
    return width
