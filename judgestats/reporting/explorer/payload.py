"""Payload ``judgestats.view/1`` of the interactive page: judgments as columns, and the record."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from judgestats.data.readers.columns import TEXTS
from judgestats.data.readers.interpretation import COUNT_OF
from judgestats.data.vocabulary import PASS, pass_fail_words
from judgestats.errors import InputError
from judgestats.files import parquet_table
from judgestats.files.text import clean
from judgestats.items.preference_sets import majority_labels
from judgestats.items.records import item_from_record
from judgestats.protocols.base import Status
from judgestats.protocols.template import pair_name, pairs_of, response_names
from judgestats.redaction import scrubbed
from judgestats.reporting.explorer.page import html_page, packed
from judgestats.reporting.runs import Run
from judgestats.results import Results, plain, verdict_screen
from judgestats.results.numbers import count_noun
from judgestats.results.purposes import threshold_text
from judgestats.results.records import own_condition
from judgestats.results.screen import brief_of

SCHEMA = "judgestats.view/1"
STATUSES = ("ok", "not_applicable", "unparsed", "error", "missing")
"""Statuses of judgments, by the codes of the payload."""
_CODES = {s.value: STATUSES.index(COUNT_OF[s]) for s in Status} | {Status.OK.value: 0}
MAX_MB = 20.0
"""Size of a page in megabytes above which texts, then items, are left out."""
ITEM_TEXTS = "texts.parquet"
"""Name of the texts that an audit keeps in the folder ``data``."""
_MOST_JUDGMENTS, _MOST_ITEMS, _MOST_LABELS, _MOST_REPEATS = 500_000, 300_000, 200, 65_535
_MARKS = re.compile(r"\*\*|`|^#+ ")
"""Markdown that a title is shown without."""
_NONE = -1
_ROLES = ("judge", "condition", "criterion", "system", "name", "rater", "kind")
"""What a column is named by; systems are those of items."""
_REPLIES = {"explanation": "explanation", "raw": "raw_text", "request": "request"}
"""Texts of a reply, and the columns that hold them."""
ItemTexts = Mapping[str, Sequence[tuple[str, str]]]
"""Of each item: name and text of each part that was judged, e.g. ``("Answer", "It is blue.")``."""


def run_page(run: Run, **options: Any) -> str:
    """Return the page of a run.

    Parameters
    ----------
    run : Run
    **options
        Of `view_payload`.

    Returns
    -------
    str
        HTML.
    """
    frame = options.pop("frame", run.finals)
    if "label" not in frame:  # of pairs, items hold the labels
        decided, _ = majority_labels(map(item_from_record, run.items))
        labels = {pair_name(i, (g.a, g.b)): g.winner for i in decided for g in i.labels}
        frame = frame.assign(label=[labels.get(str(i), "") for i in frame["item_id"]])
    return html_page(view_payload(run.records, frame, texts=item_texts(run), **options)[1])


def item_texts(run: Run) -> ItemTexts:
    """Return what was judged, by the ids of judged items.

    Parameters
    ----------
    run : Run
        Items of an experiment hold their texts; an audit keeps those of its file.
    """
    kept = run.folder / "data" / ITEM_TEXTS
    if not run.items:
        held = _frame_texts(run.finals)
        return held if held or not kept.is_file() else _frame_texts(parquet_table(kept))
    out: dict[str, list[tuple[str, str]]] = {}
    for item in map(item_from_record, run.items):
        question = [("Context", item.context), ("Question", "\n\n".join(item.turns))]
        answers = ["\n\n".join(r.turns) for r in item.responses]
        out[item.id] = [*question, *((f"Answer {i + 1}", a) for i, a in enumerate(answers))]
        for name, answer in zip(response_names(item), answers, strict=True):
            out[name] = [*question, ("Answer", answer)]
        for i, j in pairs_of(item):
            pair = [("Answer a", answers[i]), ("Answer b", answers[j])]
            out[pair_name(item, (i, j))] = [*question, *pair]
    return out


def _frame_texts(frame: pd.DataFrame) -> ItemTexts:
    """Question and answer of each item, where the judgments hold them."""
    own = [c for c in TEXTS if c in frame]
    if not own:
        return {}
    names = [c.removesuffix("_text").capitalize() for c in own]
    first = frame.drop_duplicates("item_id")
    texts = zip(*(first[c].astype(str) for c in own), strict=True)
    return {
        str(item): list(zip(names, parts, strict=True))
        for item, parts in zip(first["item_id"], texts, strict=True)
    }


class TextList:
    """Texts by number: each different text is kept once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text; -1 of an empty one."""
        return self.numbers.setdefault(text, len(self.numbers)) if text else _NONE

    def by_part(self, items: Iterable[Iterable[tuple[str, str]]]) -> list[list[Any]]:
        """Each part of the items, with the numbers of its texts by item."""
        own = list(map(dict, items))
        names = dict.fromkeys(name for parts in own for name in parts)
        return [[name, [self.number(parts.get(name, "")) for parts in own]] for name in names]


@dataclass(frozen=True)
class _CodedJudgments:
    """Judgments with the codes of their items, columns, verdicts and labels."""

    frame: pd.DataFrame
    columns: list[dict[str, str]]
    labels: list[str]
    is_numeric: bool
    cutoff: float | None

    @property
    def scores(self) -> pd.Series:
        """The scores of judges."""
        return self.frame["value"][self.frame["scored"]].dropna()

    @cached_property
    def flagged(self) -> set[str]:
        """Items with a disagreement, flip, error of a judge, or judgment without a verdict."""
        judges = [k for k, c in enumerate(self.columns) if c["rater"] == "judge"]
        frame = self.frame[self.frame["column"].isin(judges)]
        is_vote = frame["called"].notna()
        step = is_vote.map({True: 0.0, False: _step(self)})
        vote = frame["called"].where(is_vote, frame["value"])
        # A flip within a column is a difference within its criterion too.
        cells = vote.groupby([frame["item_id"], frame["criterion"], is_vote], sort=False)
        differ = cells.transform("max") - cells.transform("min") > step
        wrong = (vote - frame["label"]).abs().gt(step) & (is_vote | self.is_numeric)
        return set(frame["item_id"][differ | wrong | frame["status"].gt(1)])


def view_payload(
    results: Results,
    frame: pd.DataFrame,
    *,
    texts: ItemTexts | None = None,
    cutoff: float | None = None,
    keep_texts: bool = True,
    max_mb: float = MAX_MB,
    decisions: pd.DataFrame | None = None,
) -> tuple[dict[str, Any], bytes]:
    """Return the payload of a run, and the payload packed, within a size.

    Parameters
    ----------
    results : Results
        Of the run; its verdicts and facts are shown as they are.
    frame : DataFrame
        Parsed judgments, with ``label`` where there are human labels.
    texts : mapping of item to sequence of (name, text), optional
        By default the texts that the frame holds.
    cutoff : float, optional
        Score from which an item passes.
    keep_texts : bool
        Whether texts of items and replies are in the page.
    max_mb : float
        Size of the page in megabytes (10^6 bytes). Above it requests, replies, then items are
        left out, and the page says so.
    decisions : DataFrame, optional
        Earlier decisions of reviewers, as the page saves them.

    Returns
    -------
    payload : dict
    data : bytes
        The payload as JSON, gzipped.

    Raises
    ------
    InputError
        There are no judgments.
    """
    if "stage" in frame:
        frame = frame[frame["stage"] == "final"]
    if frame.empty:
        raise InputError("view: there are no judgments to show.")
    texts = _frame_texts(frame) if texts is None else texts
    if not keep_texts:
        texts, frame = {}, frame.drop(columns=[c for c in _REPLIES.values() if c in frame])
    judged = _coded_judgments(frame, cutoff)
    n_items = judged.frame["item_id"].nunique()
    decided = [] if decisions is None else decisions.astype(str).to_dict("records")

    def build(keep: np.ndarray | None, step: int) -> dict[str, Any]:
        own = _built(results, judged, texts, keep, step)
        return own | {"decisions": clean_texts(decided)}

    fits = (max_mb * 1e6 - len(html_page(b"").encode())) * 0.75  # base64 adds a third
    shown = min(_MOST_ITEMS, int(_MOST_JUDGMENTS / max(len(judged.frame) / n_items, 1)), n_items)
    keep = _sampled(judged, shown) if shown < n_items else None
    for step in range(_NO_REPLIES + 1):
        made = build(keep, step)
        if len(data := packed(made)) <= fits:
            return made, data
    while shown > 1 and len(data) > fits:
        shown = max(1, int(shown * min(0.9, 0.9 * fits / len(data))))
        made = build(_sampled(judged, shown), _NO_REPLIES)
        data = packed(made)
    return made, data


def _coded_judgments(frame: pd.DataFrame, cutoff: float | None) -> _CodedJudgments:
    """Judgments with codes; the verdicts of a condition are scores, or categories."""
    if frame["replicate"].max() > _MOST_REPEATS:
        raise InputError(f"view: more than {_MOST_REPEATS:,} repeats of an item cannot be shown.")
    frame = frame.reset_index(drop=True)
    none = pd.Series("", index=frame.index)
    criterion = frame.get("criterion", none).astype(str)
    key = frame["condition"].astype(str) + "\0" + criterion
    by_score, by_word = frame["score"].notna(), frame["choice"].astype(str).ne("")
    stated = frame.get("verdict_kind", pd.Series("score", frame.index))
    is_score = bool(by_score.any() or stated.eq("score").all())  # where nothing was parsed
    more = by_score.astype(int).sub(by_word).groupby(key).transform("sum")
    scored = more.gt(0) | (more.eq(0) & is_score)
    choice = frame["choice"].astype(str).mask(scored, "")
    score = frame["score"].where(scored)
    label = frame["label"].astype(str).str.strip() if "label" in frame else none
    words = [w for w in label.unique() if w]
    points = pd.to_numeric(label.where(label.ne("")), errors="coerce")
    is_numeric = bool(scored.any() and words and points.notna().eq(label.ne("")).all())
    people = _label_columns(frame)
    said = [] if is_numeric else [*words, *people.to_numpy().ravel()]  # by people
    labels = _ordered(w for w in [*choice.unique(), *said] if w)
    called = choice
    if scored.any() and not is_numeric and cutoff is not None:
        words = [w for w in label[scored].unique() if w]
        meaning = pass_fail_words(dict.fromkeys(words, 1)).verdicts if words else {}
        if len(meaning) == len(words):
            named = {m: w for w, m in meaning.items()}
            passes, fails = named.get(PASS, "pass"), named.get("fail", "fail")
            labels = _ordered([*labels, passes, fails])
            above = pd.Series([passes if v >= cutoff else fails for v in score], frame.index)
            called = choice.mask(score.notna(), above)
    if len(labels) > _MOST_LABELS:
        raise InputError(
            f"view: {len(labels)} different verdicts and labels; the page shows at most "
            f"{_MOST_LABELS}. Map them to categories by --values."
        )
    code = {w: k for k, w in enumerate(labels)}
    texts = {"slice": "category", "system": "author"}
    out = frame.reindex(columns=["item_id", "cluster", "order", "tokens_out", "cost_usd"]).assign(
        **{name: frame.get(column, none).astype(str) for name, column in texts.items()},
        **{name: frame[c].fillna("").astype(str) for name, c in _REPLIES.items() if c in frame},
        criterion=criterion,
        repeat=frame["replicate"].astype(int) + (frame["replicate"].min() == 0),
        status=frame["status"].map(_CODES),
        scored=scored,
        value=score.where(scored, choice.map(code).astype(float)),
        called=called.map(code).astype(float),
        label=points if is_numeric else label.map(code).astype(float),
    )
    columns = []
    for at in out.index[~key.duplicated()]:
        judge, name, aspect = frame["judge"][at], frame["condition"][at], criterion[at]
        parts = judge, own_condition(name, judge, aspect), aspect, "", name, "judge"
        kind = "score" if scored[at] else "choice"
        columns.append(dict(zip(_ROLES, (*parts, kind), strict=True)))
    # Next to each other stand the columns of a judge, then those of a condition.
    places = {n: list(dict.fromkeys(c[n] for c in columns)) for n in columns[0]}
    order = sorted(
        range(len(columns)), key=lambda k: [places[n].index(columns[k][n]) for n in places]
    )
    out["column"] = np.argsort(order)[pd.factorize(key)[0]]
    columns = [columns[k] for k in order]
    out = _with_raters(out, people, columns, {} if is_numeric else code)
    return _CodedJudgments(out, columns, labels, is_numeric, cutoff)


def _label_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Labels of each human rater where there are several, as words."""
    people = frame.filter(regex="^label_")
    own = people if people.shape[1] > 1 else people.iloc[:, :0]
    words: pd.DataFrame = own.fillna("").astype(str).apply(lambda given: given.str.strip())
    return words


def _with_raters(
    out: pd.DataFrame, people: pd.DataFrame, columns: list[dict[str, str]], code: Mapping[str, int]
) -> pd.DataFrame:
    """Human raters as columns: one judgment per item that they labelled.

    Without codes of words labels are numbers.
    """
    parts = [out]
    kind = "choice" if code else "score"
    for label, given in people.items():
        values = given.map(code) if code else pd.to_numeric(given, errors="coerce")
        rows = out.assign(value=values.astype(float)).dropna(subset="value")
        rows = rows.drop_duplicates(["item_id", "criterion"])
        rows = rows.assign(
            repeat=1, status=0, called=rows["value"] if code else np.nan, scored=False,
            tokens_out=np.nan, cost_usd=np.nan, **dict.fromkeys(_REPLIES.keys() & set(rows), ""),
        )  # fmt: skip
        who = str(label).replace("label_", "human ", 1)
        for criterion, own in rows.groupby("criterion", sort=False):
            parts.append(own.assign(column=len(columns)))
            person = who, "", str(criterion), "", f"{who} {criterion}".strip(), "human", kind
            columns.append(dict(zip(_ROLES, person, strict=True)))
    return pd.concat(parts, ignore_index=True)


def _ordered(words: Iterable[str]) -> list[str]:
    """Categories in an order that readers expect: pass before fail, numbers by size."""
    first = {"pass": 0, "a": 0, "fail": 1, "b": 1, "tie": 2}
    found = [*dict.fromkeys(words)]

    def key(word: str) -> tuple[int, float, str]:
        try:
            return 1, float(word), word
        except ValueError:
            return (0, first[word], word) if word in first else (2, 0, word)

    return sorted(found, key=key)


def _sampled(judged: _CodedJudgments, n: int) -> np.ndarray:
    """Which items are shown: those flagged, then items of clusters drawn at random."""
    first = judged.frame.drop_duplicates("item_id")
    clusters = first["cluster"].unique()
    place = dict(
        zip(clusters, np.random.default_rng(0).permutation(len(clusters)).tolist(), strict=True)
    )
    held = first["item_id"].isin(judged.flagged).to_numpy()
    order = np.lexsort((np.arange(len(first)), first["cluster"].map(place).to_numpy(), ~held))
    return np.isin(np.arange(len(first)), order[:n])


def _step(judged: _CodedJudgments) -> float:
    """The smallest difference of two scores that occur; a tenth of the range of many."""
    values = np.unique(judged.scores.to_numpy(float))
    if len(values) < 2:
        return 1.0
    return float(np.diff(values).min() if len(values) <= 101 else (values[-1] - values[0]) / 10)


_NO_REPLIES = 4
"""The last step: none of the texts of replies. Before: all, no requests, no replies next to
explanations, replies of flagged items."""


def _built(
    results: Results, judged: _CodedJudgments, texts: ItemTexts, keep: np.ndarray | None, step: int
) -> dict[str, Any]:
    """The payload at one step of the budget."""
    frame, flagged = judged.frame, judged.flagged
    n_all = frame["item_id"].nunique()
    why = []
    if keep is not None:
        frame = frame[keep[pd.factorize(frame["item_id"])[0]]].reset_index(drop=True)
        held = frame["item_id"][frame["item_id"].isin(flagged)].nunique()
        every = "all" if held == len(flagged) else f"{held:,} of"
        why.append(
            f"Shown: {int(keep.sum()):,} of {n_all:,} items ({every} {len(flagged):,} with a "
            "disagreement, flip, or error, a random sample of the rest). Estimates are of all "
            "items."
        )
    code, found = pd.factorize(frame["item_id"])
    ids = list(map(str, found))
    kept = TextList()
    own = [[(name, t) for name, t in texts.get(i, ()) if t] for i in ids]
    heads = [[*(t.strip().split("\n")[0] for _, t in parts[:2]), "", ""] for parts in own]
    times = Counter(head[0] for head in heads)
    titles = [f"{a} · {b}" if times[a] > 1 and b else a for a, b, *_ in heads]
    orders = frame["order"].unique().tolist()
    judgments: dict[str, Any] = {
        "item": code.tolist(), "column": frame["column"].tolist(),
        "repeat": frame["repeat"].tolist(), "value": _numbers(frame["value"]),
        "called": _numbers(frame["called"]), "status": frame["status"].tolist(),
    }  # fmt: skip
    if len(orders) > 1:
        judgments["order"] = frame["order"].map({o: k for k, o in enumerate(orders)}).tolist()
    for ours, theirs in (("tokens", "tokens_out"), ("cost", "cost_usd")):
        if frame[theirs].notna().any():
            judgments[ours] = _numbers(frame[theirs])
    lost = _add_replies(judgments, frame, kept, step, flagged)
    if lost:
        why.append(f"{lost:,} texts of replies are left out, as the page would exceed its size.")
    by_criterion = _labels(frame, code, len(ids))
    first = frame.drop_duplicates("item_id")
    payload: dict[str, Any] = {
        "schema": SCHEMA,
        "meta": {
            "mode": "explore", "title": f"{results.title or results.experiment} · judgestats",
            "scale": _scale(results, judged), "step": _step(judged), "cut": judged.cutoff,
            "numeric": judged.is_numeric, "labels": judged.labels, "orders": orders,
            "provenance": f"{count_noun(len(judged.frame), 'judgment', 'judgments')}. Marks and "
            "means are of the selection; estimates with intervals are of the record.",
            "left_out": {"texts": lost, "items": n_all - len(ids), "why": " ".join(why), "seed": 0},
        },
        "record": {**record_of(results), "figure": {"note": _figure_note(judged, frame)}},
        "columns": judged.columns,
        "items": {
            "id": ids, **{n: first[n].tolist() for n in ("cluster", "slice", "system")},
            "label": by_criterion[0][1],
            **({"labels": by_criterion} if len(by_criterion) > 1 else {}),
            "title": [kept.number(_MARKS.sub("", title)[:300]) for title in titles],
            "texts": kept.by_part(own),
        },
        "judgments": judgments,
        "texts": list(kept.numbers),
    }  # fmt: skip
    same = packed(clean_texts({k: payload[k] for k in ("columns", "items", "judgments")}))
    payload["meta"]["id"] = hashlib.sha256(same).hexdigest()[:12]
    return dict(clean_texts(payload))


def clean_texts(value: Any) -> Any:
    """Names, words, and texts without secrets, and with no lone surrogate."""
    if isinstance(value, str):
        return scrubbed(clean(value))
    if isinstance(value, dict):
        return {k: clean_texts(v) for k, v in value.items()}
    if not isinstance(value, (list, tuple)) or (value and isinstance(value[0], int)):
        return value  # numbers stay as they are
    return [clean_texts(v) for v in value]


def _add_replies(
    judgments: dict[str, Any], frame: pd.DataFrame, kept: TextList, step: int, flagged: set[str]
) -> int:
    """Texts of replies, as many as the step allows; how many are left out."""
    lost = 0
    quiet = ~frame["item_id"].isin(flagged) | (step == _NO_REPLIES)
    for name in (n for n in _REPLIES if n in frame):
        texts = frame[name]
        gone = quiet & (step > 2)
        if name == "request":
            gone |= step > 0
        elif name == "raw" and "explanation" in frame:
            gone |= frame["explanation"].ne("") & (step > 1)
        lost += int((texts.ne("") & gone).sum())
        left = texts.mask(gone, "")
        if left.ne("").any():
            judgments[name] = list(map(kept.number, left))
    return lost


def _labels(frame: pd.DataFrame, code: np.ndarray, n: int) -> list[list[Any]]:
    """Labels by item, once where criteria share them, else per criterion."""
    held = frame.assign(code=code).drop_duplicates(["code", "criterion"])
    out = [
        [criterion, _numbers(own.set_index("code")["label"].reindex(range(n)))]
        for criterion, own in held.groupby("criterion", sort=False)
    ]
    return out[:1] if all(values == out[0][1] for _, values in out) else out


def _numbers(values: pd.Series) -> list[float | int | None]:
    """Finite numbers, whole ones as such; None where there is none."""
    return [
        None if not math.isfinite(v) else int(v) if v.is_integer() else v
        for v in values.astype(float).tolist()
    ]


def _scale(results: Results, judged: _CodedJudgments) -> list[float] | None:
    """Ends of the scale: stated, else of the scores that occur."""
    if not judged.frame["scored"].any():
        return None
    stated = (results.facts.get("design") or {}).get("scale")
    values = judged.scores
    low, high = stated or (values.min(), values.max()) if len(values) else (0, 1)
    return [float(low), float(high) if high > low else float(low) + 1]


def _figure_note(judged: _CodedJudgments, frame: pd.DataFrame) -> str:
    """Caption of the figure: what a mark is, and what a click does."""
    notes = []
    scored = frame[frame["scored"]]
    cut = "" if judged.cutoff is None else " Dashed: cut-off."
    if len(scored) and not scored.duplicated(["item_id", "column"]).any():
        note = f"A bar counts the items with one score.{cut} Click a bar or drag to filter."
        if scored["label"].notna().any():
            note = f"Blue: agrees with the human label. Hatched: differs. Grey: no label. {note}"
        notes.append(note)
    elif len(scored):
        note = "A mark is an item. Horizontal: mean of the repeats. Vertical: their SD."
        if scored["label"].notna().any():
            note += " Cross: differs from the human label."
        notes.append(f"{note}{cut} Drag to filter, click to open an item.")
    if any(c["kind"] == "choice" and c["rater"] == "judge" for c in judged.columns):
        by = "human label (rows) and majority" if frame["label"].notna().any() else "majority"
        notes.append(
            f"Items by {by} of a judge's verdicts (columns); split: no verdict has a majority. "
            "Counts are of the selection; a click filters."
        )
    return " ".join(notes)


def record_of(results: Results) -> dict[str, Any]:
    """Return what the page shows of a record: finding, verdicts with their numbers as texts, care.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict
        ``title``, ``finding``, ``facts``, ``verdicts`` (judgestats.verdict/1, each requirement with
        ``text``: estimate and interval as reports print them), ``groups`` and ``advice``.
    """
    names = verdict_screen.subject_names(results)
    verdicts: list[dict[str, Any]] = []
    asked: dict[str, dict[str, str]] = {}
    # A column that is empty for every judge is left out, as in the report.
    listed = [r for v in results.verdicts for r in v.requirements]
    measured = {r.key for r in listed if r.status != "not_measured"}
    for v in results.verdicts:
        made: dict[str, Any] = plain(v)
        verdicts.append(
            made | {"name": names[v.subject.label], "why": verdict_screen.limit_text(v)}
        )
        for r, out in zip(v.requirements, made["requirements"], strict=True):
            number, _, bounds = verdict_screen.number_text(r).partition(" ")
            out["text"] = [number, bounds]
            if r.key in measured or not measured:
                asked[r.key] = {"id": r.key, "label": r.label, "needed": threshold_text(r)}
    facts = verdict_screen.facts_of(results, brief_of(results))
    said = verdict_screen.finding_of(results) or results.finding
    advice = [["Care", t] for grave, t in verdict_screen.care_of(results) if grave != "minor"][:3]
    finding = said
    if said in {"", verdict_screen.finding_on_rate(results)}:  # the verdict itself is the finding
        finding = next((text for _, text, _ in verdict_screen.verdict_groups(results)), said)
        advice = [["Finding", said]] * (said not in {"", finding}) + advice
    if any(r.low == r.low for r in listed):
        advice.append(
            ["Note", "Brackets are 95% confidence intervals; shaded: fails the threshold."]
        )
    groups: dict[str, list[dict[str, str]]] = {}
    for key, measure in asked.items():
        groups.setdefault(verdict_screen.spanner(key), []).append(measure)
    return {
        "title": " · ".join(facts), "finding": finding, "facts": facts, "verdicts": verdicts,
        "groups": [{"title": t, "measures": own} for t, own in groups.items()],
        "advice": advice,
    }  # fmt: skip
