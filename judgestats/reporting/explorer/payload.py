"""Payload ``judgestats.view/1`` of the interactive page: judgments as columns, and the record."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from judgestats.data.readers.columns import TEXTS
from judgestats.data.readers.interpretation import COUNT_OF
from judgestats.data.vocabulary import PASS, pass_fail_words
from judgestats.errors import InputError
from judgestats.files.text import clean
from judgestats.protocols.base import Status
from judgestats.redaction import scrubbed
from judgestats.reporting.explorer.page import packed
from judgestats.results import Results, plain
from judgestats.results.purposes import threshold_text
from judgestats.results.screen import brief_of
from judgestats.results.verdict import Requirement
from judgestats.results.verdict_screen import (
    care_of,
    facts_of,
    finding_of,
    number_text,
    subject_names,
    verdict_groups,
)

SCHEMA = "judgestats.view/1"
STATUSES = ("ok", "not_applicable", "unparsed", "error", "missing")
"""Statuses of judgments, by the codes of the payload."""
_CODES = {s.value: STATUSES.index(COUNT_OF[s]) for s in Status} | {Status.OK.value: 0}
MAX_MB = 20.0
"""Size of a page in megabytes above which texts, then items, are left out."""
_MOST_JUDGMENTS, _MOST_ITEMS, _MOST_LABELS = 500_000, 300_000, 200
_MARKS = re.compile(r"\*\*|`|^#+ ")
"""Markdown that a title is shown without."""
_NONE = -1
ItemTexts = Mapping[str, Sequence[tuple[str, str]]]
"""Of each item: name and text of each part that was judged, e.g. ``("Answer", "It is blue.")``."""


class _TextList:
    """Texts by number: each different text is kept once, without secrets."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._number: dict[str, int] = {}

    def number(self, text: object) -> int:
        """The number of a text; -1 of an empty one."""
        known = str(text)
        if not known:
            return _NONE
        if known not in self._number:
            self._number[known] = len(self.all)
            self.all.append(scrubbed(clean(known)))
        return self._number[known]


class _CodedJudgments(NamedTuple):
    """Judgments with the codes of their items, columns, verdicts and labels."""

    frame: pd.DataFrame
    columns: list[dict[str, str]]
    categories: list[str]
    labels: list[str]
    is_score: bool
    is_numeric: bool
    other: int


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
    judged = _coded(frame, cutoff)
    texts = (frame_texts(frame) if texts is None else texts) if keep_texts else {}
    flagged = _flagged_items(judged)
    fits = max_mb * 750_000  # base64 adds a third
    keep: np.ndarray | None = None
    n_items = judged.frame["item_id"].nunique()
    most = min(_MOST_ITEMS, int(_MOST_JUDGMENTS / max(len(judged.frame) / n_items, 1)))
    if n_items > most:
        keep = _sampled(judged.frame, flagged, most)
    steps = ("all", "no requests", "no replies next to explanations", "flagged replies", "none")
    for step in steps if keep_texts else ("none",):
        made = _built(results, judged, texts, step, flagged, keep, decisions, cutoff, keep_texts)
        if len(data := packed(made)) <= fits:
            return made, data
    shown = n_items if keep is None else int(keep.sum())
    while shown > 1 and len(data) > fits:
        shown = max(1, int(shown * min(0.9, 0.9 * fits / len(data))))
        keep = _sampled(judged.frame, flagged, shown)
        made = _built(results, judged, texts, "none", flagged, keep, decisions, cutoff, keep_texts)
        data = packed(made)
    return made, data


def frame_texts(frame: pd.DataFrame) -> dict[str, list[tuple[str, str]]]:
    """Return question and answer of each item, where the judgments hold them.

    Examples
    --------
    >>> frame_texts(pd.DataFrame({"item_id": ["x"], "answer_text": ["It is blue."]}))
    {'x': [('Answer', 'It is blue.')]}
    """
    own = [c for c in TEXTS if c in frame]
    first = frame.drop_duplicates("item_id")
    names = [c.removesuffix("_text").capitalize() for c in own]
    rows = zip(first["item_id"], *(first[c] for c in own), strict=True) if own else ()
    return {
        str(item): [(n, str(t)) for n, t in zip(names, parts, strict=True)]
        for item, *parts in rows
    }  # fmt: skip


def _coded(frame: pd.DataFrame, cutoff: float | None) -> _CodedJudgments:
    """Judgments of one kind, scores or categories, with codes."""
    choice = frame["choice"].astype(str)
    is_score = bool(frame["score"].notna().sum() >= choice.ne("").sum())
    if is_score and frame["score"].notna().sum() == 0:
        is_score = bool(frame.get("verdict_kind", pd.Series("score")).eq("score").all())
    other = choice.ne("") if is_score else frame["score"].notna()
    conditions = frame["condition"]
    mixed = set(conditions[other]) - set(conditions[choice.ne("") if not is_score else ~other])
    left = conditions.isin(mixed)
    frame = frame[~left].reset_index(drop=True)
    choice = frame["choice"].astype(str)
    none = pd.Series("", index=frame.index)
    label = frame["label"].astype(str).str.strip() if "label" in frame else none
    words = [w for w in label.unique() if w]
    points = pd.to_numeric(label.where(label.ne("")), errors="coerce")
    is_numeric = is_score and bool(words) and bool(points.notna().eq(label.ne("")).all())
    categories = _ordered(w for w in choice.unique() if w)
    labels = [] if is_numeric else _ordered([*categories, *words])
    called = choice
    if is_score and not is_numeric:
        meaning = pass_fail_words(dict.fromkeys(labels, 1)).verdicts if labels else {}
        if cutoff is None or (labels and len(meaning) < len(labels)):
            called = none
        else:
            labels = labels or ["pass", "fail"]
            named = {m: w for w, m in meaning.items()} or {"pass": "pass", "fail": "fail"}
            passes, fails = named.get(PASS, "pass"), named.get("fail", "fail")
            labels = _ordered(dict.fromkeys([*labels, passes, fails]))
            above = frame["score"].ge(cutoff)
            called = pd.Series(np.where(above, passes, fails)).where(frame["score"].notna(), "")
    if len(labels) > _MOST_LABELS:
        raise InputError(
            f"view: {len(labels)} different verdicts and labels; the page shows at most "
            f"{_MOST_LABELS}. Map them to categories by --values."
        )
    code = {w: k for k, w in enumerate(labels)}
    out = pd.DataFrame({
        "item_id": frame["item_id"].astype(str),
        "cluster": frame["cluster"].astype(str),
        "slice": frame.get("category", none).astype(str),
        "system": frame.get("author", none).astype(str),
        "criterion": frame.get("criterion", none).astype(str),
        "repeat": frame["replicate"].astype(int) + (frame["replicate"].min() == 0),
        "order": frame["order"].astype(str),
        "status": frame["status"].map(_CODES),
        "value": frame["score"] if is_score
        else choice.map({w: k for k, w in enumerate(categories)}).astype(float),
        "called": called.map(code).astype(float),
        "label": points if is_numeric else label.map(code).astype(float),
    })  # fmt: skip
    for name in ("tokens_out", "cost_usd", "explanation", "raw_text", "request"):
        if name in frame:
            out[name] = frame[name]
    key = frame["condition"].astype(str) + "\0" + out["criterion"]
    out["column"] = pd.factorize(key)[0]
    first = ~key.duplicated()
    columns = [
        _column(judge, condition, criterion)
        for judge, condition, criterion in zip(
            frame["judge"][first], frame["condition"][first], out["criterion"][first], strict=True
        )
    ]
    out = _with_raters(out, frame, columns, code, is_numeric, is_score)
    return _CodedJudgments(out, columns, categories, labels, is_score, is_numeric, int(left.sum()))


def _column(judge: str, condition: str, criterion: str) -> dict[str, str]:
    """A judge under a condition and a criterion: the condition's label without these."""
    rest = condition.removeprefix(judge).removeprefix(", ")
    parts = [p for p in rest.split(", ") if p and p != f"criterion={criterion}"]
    return {
        "judge": judge, "condition": ", ".join(parts), "criterion": criterion, "system": "",
        "name": condition, "rater": "judge",
    }  # fmt: skip


def _with_raters(
    out: pd.DataFrame,
    frame: pd.DataFrame,
    columns: list[dict[str, str]],
    code: Mapping[str, int],
    is_numeric: bool,
    is_score: bool,
) -> pd.DataFrame:
    """Human raters as columns: one judgment per item that they labelled."""
    people = [str(c) for c in frame if str(c).startswith("label_")]
    if len(people) < 2 or (is_score and not is_numeric):
        return out
    parts = [out]
    for name in people:
        given = frame[name].astype(str).str.strip()
        rows = out[given.ne("")].assign(value=given[given.ne("")])
        rows = rows.drop_duplicates(["item_id", "criterion"])
        values = pd.to_numeric(rows["value"], errors="coerce") if is_numeric else rows["value"].map(
            code
        )  # fmt: skip
        for criterion in rows["criterion"].unique():
            own = rows["criterion"].eq(criterion) & values.notna()
            columns.append({
                "judge": name.removeprefix("label_"), "condition": "", "criterion": criterion,
                "system": "", "name": f"human {name.removeprefix('label_')} {criterion}".strip(),
                "rater": "human",
            })  # fmt: skip
            parts.append(rows[own].assign(
                column=len(columns) - 1, repeat=1, status=0, value=values[own].astype(float),
                called=np.nan if is_numeric else values[own].astype(float), tokens_out=np.nan,
                cost_usd=np.nan, explanation="", raw_text="",
            ))  # fmt: skip
    return pd.concat(parts, ignore_index=True)[list(out.columns)]


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


def _flagged_items(judged: _CodedJudgments) -> set[str]:
    """Items with a disagreement, a flip, an error of a judge, or a judgment without a verdict."""
    frame = judged.frame
    judges = [k for k, c in enumerate(judged.columns) if c["rater"] == "judge"]
    frame = frame[frame["column"].isin(judges)]
    out = set(frame["item_id"][frame["status"].gt(1)])
    vote = frame["called"] if frame["called"].notna().any() else frame["value"]
    votes = frame.assign(vote=vote).dropna(subset="vote")
    cells = votes.groupby(["item_id", "column"], sort=False)["vote"]
    spread = cells.agg(["min", "max"])
    step = _step(judged) if judged.is_score and frame["called"].isna().all() else 0
    out |= set(spread[spread["max"] - spread["min"] > step].index.get_level_values(0))
    items = votes.groupby("item_id", sort=False)["vote"].agg(["min", "max"])
    out |= set(items.index[items["max"] - items["min"] > step])
    wrong = votes["label"].notna() & (votes["vote"] - votes["label"]).abs().gt(step)
    if judged.is_numeric or not judged.is_score or frame["called"].notna().any():
        out |= set(votes["item_id"][wrong])
    return {str(item) for item in out}


def _sampled(frame: pd.DataFrame, flagged: set[str], n: int) -> np.ndarray:
    """Which items are shown: those flagged, then items of clusters drawn at random."""
    first = frame.drop_duplicates("item_id")
    clusters = first["cluster"].unique()
    place = dict(
        zip(clusters, np.random.default_rng(0).permutation(len(clusters)).tolist(), strict=True)
    )
    held = first["item_id"].isin(flagged).to_numpy()
    order = np.lexsort((np.arange(len(first)), first["cluster"].map(place).to_numpy(), ~held))
    keep = np.zeros(len(first), dtype=bool)
    keep[order[:n]] = True
    return keep


def _step(judged: _CodedJudgments) -> float:
    """The smallest difference of two scores that occur; a tenth of the range of many."""
    values = np.unique(judged.frame["value"].dropna().to_numpy(float))
    if not judged.is_score or len(values) < 2:
        return 1.0
    return float(np.diff(values).min() if len(values) <= 101 else (values[-1] - values[0]) / 10)


def _built(
    results: Results,
    judged: _CodedJudgments,
    texts: ItemTexts,
    step: str,
    flagged: set[str],
    keep: np.ndarray | None,
    decisions: pd.DataFrame | None,
    cutoff: float | None,
    keep_texts: bool,
) -> dict[str, Any]:
    """The payload at one step of the budget."""
    frame = judged.frame
    code, ids = pd.factorize(frame["item_id"])
    n_all = len(ids)
    why = []
    if judged.other:
        kind = "scores" if judged.is_score else "categorical verdicts"
        why.append(
            f"The page shows {kind}; {judged.other:,} judgments of another kind are left out."
        )
    if keep is not None:
        frame = frame[keep[code]].reset_index(drop=True)
        code, ids = pd.factorize(frame["item_id"])
        held = sum(str(i) in flagged for i in ids)
        every = "all" if held == len(flagged) else f"{held:,} of"
        why.append(
            f"Shown: {len(ids):,} of {n_all:,} items ({every} {len(flagged):,} with a "
            "disagreement, flip, or error, a random sample of the rest). Estimates are of all "
            "items."
        )
    kept = _TextList()
    first = frame.drop_duplicates("item_id")
    names = list(dict.fromkeys(name for item in ids for name, _ in texts.get(str(item), ())))
    parts = {name: [_NONE] * len(ids) for name in names}
    titles = []
    heads = [next((t for _, t in texts.get(str(i), ()) if t), "").strip() for i in ids]
    lines = [head.split("\n")[0] for head in heads]
    repeated = {
        line for line, n in zip(*np.unique(lines, return_counts=True), strict=True) if n > 1
    }
    for i, item in enumerate(ids):
        own = texts.get(str(item), ())
        for name, text in own:
            parts[name][i] = kept.number(text)
        second = own[1][1].strip().split("\n")[0] if len(own) > 1 else ""
        title = f"{lines[i]} · {second}" if lines[i] in repeated and second else lines[i]
        titles.append(kept.number(_MARKS.sub("", title)[:300]))
    judgments: dict[str, Any] = {
        "item": code.tolist(), "column": frame["column"].tolist(),
        "repeat": frame["repeat"].tolist(), "value": _numbers(frame["value"]),
        "called": _codes(frame["called"]), "status": frame["status"].tolist(),
    }  # fmt: skip
    orders = frame["order"].unique().tolist()
    if len(orders) > 1:
        judgments["order"] = frame["order"].map({o: k for k, o in enumerate(orders)}).tolist()
    for ours, theirs in (("tokens", "tokens_out"), ("cost", "cost_usd")):
        if theirs in frame and frame[theirs].notna().any():
            judgments[ours] = _numbers(frame[theirs])
    lost = _add_replies(judgments, frame, kept, step, flagged)
    if lost and keep_texts:
        why.append(f"{lost:,} texts of replies are left out, as the page would exceed its size.")
    scale = _scale(results, judged)
    by_criterion = _labels(judged, frame, code, len(ids))
    meta = {
        "mode": "explore", "title": f"{results.title or results.experiment} · judgestats",
        "kind": "score" if judged.is_score else "choice", "scale": scale, "step": _step(judged),
        "cut": cutoff, "numeric": judged.is_numeric, "categories": judged.categories,
        "labels": judged.labels, "orders": [o or "(none)" for o in orders],
        "provenance": f"{len(judged.frame):,} judgments. Marks and means are of the selection; "
        "estimates with intervals are of the record.",
        "left_out": {"texts": lost, "items": n_all - len(ids), "why": " ".join(why), "seed": 0},
    }  # fmt: skip
    has_votes = bool(frame["called"].notna().any())
    payload = {
        "schema": SCHEMA,
        "meta": meta,
        "record": {**record_of(results), "figure": _figure(judged, frame, has_votes, cutoff)},
        "columns": judged.columns,
        "items": {
            "id": [str(i) for i in ids], "cluster": first["cluster"].tolist(),
            "slice": first["slice"].tolist(), "system": first["system"].tolist(),
            "label": by_criterion[0][1],
            **({"labels": by_criterion} if len(by_criterion) > 1 else {}),
            "title": titles, "texts": [[name, numbers] for name, numbers in parts.items()],
        },
        "judgments": judgments,
        "decisions": _decisions(decisions, [str(i) for i in ids], judged.columns),
        "texts": kept.all,
    }  # fmt: skip
    same = packed({k: payload[k] for k in ("columns", "items", "judgments")})
    meta["id"] = hashlib.sha256(same).hexdigest()[:12]
    return _scrubbed_names(payload)


def _scrubbed_names(payload: dict[str, Any]) -> dict[str, Any]:
    """Names and words without secrets, and with no lone surrogate."""

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return scrubbed(clean(value))
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        return [walk(v) for v in value] if isinstance(value, (list, tuple)) else value

    items = payload["items"]
    for name in ("id", "cluster", "slice", "system"):
        items[name] = walk(items[name])
    items["texts"] = [[walk(name), numbers] for name, numbers in items["texts"]]
    return payload | {name: walk(payload[name]) for name in ("meta", "record", "columns")}


def _add_replies(
    judgments: dict[str, Any], frame: pd.DataFrame, kept: _TextList, step: str, flagged: set[str]
) -> int:
    """Texts of replies, as many as the step allows; how many are left out."""
    lost = 0
    columns = {
        name: frame[own].fillna("").astype(str)
        for name, own in (
            ("explanation", "explanation"),
            ("raw", "raw_text"),
            ("request", "request"),
        )
        if own in frame
    }
    gone = dict.fromkeys(columns, pd.Series(False, index=frame.index))
    if step != "all":
        gone["request"] = pd.Series(True, index=frame.index)
    if step == "no replies next to explanations" and "explanation" in columns:
        gone["raw"] = columns["explanation"].ne("")
    elif step in {"flagged replies", "none"}:
        off = ~frame["item_id"].isin(flagged) | (step == "none")
        gone |= {"explanation": off, "raw": off}
    for name, texts in columns.items():
        lost += int((texts.ne("") & gone[name]).sum())
        left = texts.where(~gone[name], "")
        if left.ne("").any():
            judgments[name] = [kept.number(t) for t in left.tolist()]
    return lost


def _labels(
    judged: _CodedJudgments, frame: pd.DataFrame, code: np.ndarray, n: int
) -> list[list[Any]]:
    """Labels by item, once where criteria share them, else per criterion."""
    out: list[list[Any]] = []
    held = frame.assign(code=code)[["code", "criterion", "label"]].dropna(subset="label")
    for criterion in frame["criterion"].unique():
        own = held[held["criterion"].eq(criterion)].drop_duplicates("code")
        values: list[float | None] = [None] * n
        for i, value in zip(own["code"], own["label"], strict=True):
            values[i] = float(value) if judged.is_numeric else int(value)
        out.append([criterion, values])
    return out[:1] if all(values == out[0][1] for _, values in out) else out


def _numbers(values: pd.Series) -> list[float | int | None]:
    """Finite numbers, whole ones as such; None where there is none."""
    out: list[float | int | None] = []
    for v in values.astype(float).tolist():
        out.append(None if not math.isfinite(v) else int(v) if v.is_integer() else v)
    return out


def _codes(values: pd.Series) -> list[int | None]:
    return [None if math.isnan(v) else int(v) for v in values.tolist()]


def _scale(results: Results, judged: _CodedJudgments) -> list[float] | None:
    """Ends of the scale: stated, else of the scores that occur."""
    if not judged.is_score:
        return None
    stated = (results.facts.get("design") or {}).get("scale")
    values = judged.frame["value"].dropna()
    low, high = stated or (values.min(), values.max()) if len(values) else (0, 1)
    return [float(low), float(high) if high > low else float(low) + 1]


def _figure(
    judged: _CodedJudgments, frame: pd.DataFrame, has_votes: bool, cutoff: float | None
) -> dict[str, str]:
    """Title and caption of the figure: what a mark is, and what a click does."""
    single = not frame.duplicated(["item_id", "column"]).any()
    if not judged.is_score:
        return {
            "kind": "counts", "title": "Each count opens its items",
            "note": "Items by human label (rows) and majority of a judge's verdicts (columns); "
            "split: no verdict has a majority. Counts are of the selection; a click filters.",
        }  # fmt: skip
    cut = "" if cutoff is None else " Dashed: cut-off."
    if single:
        return {
            "kind": "bars", "title": "Each bar counts the items with one score",
            "note": "Blue: agrees with the human label; hatched: differs; grey: no label."
            f"{cut} Click a bar or drag to filter.",
        }  # fmt: skip
    marks = " Cross: the majority differs from the human label." if has_votes else ""
    return {
        "kind": "points", "title": "Each mark is one item: the higher, the more its repeats differ",
        "note": f"Across: mean of the repeats. Up: their SD.{marks}{cut} Drag to filter, click to "
        "open an item.",
    }  # fmt: skip


def _decisions(
    decisions: pd.DataFrame | None, ids: list[str], columns: list[dict[str, str]]
) -> list[dict[str, Any]]:
    """Earlier decisions of reviewers on items and columns that are shown."""
    if decisions is None:
        return []
    places = {item: k for k, item in enumerate(ids)}
    at = {(c["judge"], c["condition"], c["criterion"]): k for k, c in enumerate(columns)}
    out = []
    for row in decisions.to_dict("records"):
        key = tuple(str(row.get(n, "")) for n in ("judge", "condition", "criterion"))
        item, column = places.get(str(row["item_id"])), at.get(key)  # type: ignore[arg-type]
        if item is None or column is None or row["resolution"] not in {"judge", "human", "unclear"}:
            continue
        out.append({
            "item": item, "column": column, "resolution": row["resolution"],
            "annotator": str(row.get("annotator", "")), "note": str(row.get("note", "")),
        })  # fmt: skip
    return out


_GROUPS = (
    ("Reliability", ("icc", "sem", "flip", "kappa_repeat", "gmd", "far", "alpha", "omega")),
    ("Order", ("order", "position", "grade")),
    ("Cost", ("tokens", "cost")),
    ("Accuracy", ("",)),
)
"""Spanners over requirements, by how their keys begin."""


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
    names = subject_names(results)
    groups: dict[str, dict[str, dict[str, str]]] = {}
    verdicts = []
    for v in results.verdicts:
        made: dict[str, Any] = plain(v)
        made |= {"name": names[v.subject.label], "why": v.sentence}
        for r, out in zip(v.requirements, made["requirements"], strict=True):
            number, _, bounds = number_text(r).partition(" ")
            out |= {"text": [number, bounds], "axis": _axis(r)}
            group = next(g for g, keys in _GROUPS if r.key.startswith(keys))
            groups.setdefault(group, {}).setdefault(
                r.key, {"id": r.key, "label": r.label, "needed": threshold_text(r)}
            )
        verdicts.append(made)
    facts = facts_of(results, brief_of(results))
    finding = finding_of(results) or results.finding
    if not finding:
        finding = " ".join(text for _, text, _ in verdict_groups(results)[:1]) or results.finding
    advice = [["Care", text] for severity, text in care_of(results) if severity != "minor"][:3]
    if any(r.low == r.low for v in results.verdicts for r in v.requirements):
        advice.append(
            ["Note", "Brackets are 95% confidence intervals; shaded: fails the threshold."]
        )
    return {
        "title": " · ".join(facts), "finding": finding, "facts": facts, "verdicts": verdicts,
        "groups": [
            {"title": title, "measures": list(groups[title].values())}
            for title, _ in _GROUPS if title in groups
        ],
        "advice": advice,
    }  # fmt: skip


def _axis(r: Requirement) -> list[float]:
    """Ends of the axis of an interval: by estimate and threshold, not by one wide interval."""
    known = [v for v in (r.estimate, r.threshold, r.top) if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(known), max(known)
    room = max((high - low) * 0.8, 0.2 * max(abs(low), abs(high)), 0.05)
    inside = r.bounded and low >= 0 and high <= 1
    return [max(0.0, low - room), min(1.0, high + room)] if inside else [low - room, high + room]
