"""Human labels next to a judge's verdicts: of one or several, in the same or another table."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.data.readers.columns import (
    ALIASES,
    Remark,
    clean_cells,
    column_named,
    each_distinct,
    folded,
    joined_ids,
    may_hold_verdicts,
    text_column,
)
from judgestats.data.readers.logs import table_of
from judgestats.data.readers.roles import ColumnRoles
from judgestats.data.readers.verdicts import FAR, Read, coded_choices, is_too_large
from judgestats.data.verdict_kinds import (
    PREFERENCES,
    Kind,
    check_direction,
    counted_words,
    kind_of,
    normalize_value,
    numbers_of,
)
from judgestats.data.vocabulary import (
    FAIL,
    PASS,
    STATUS_OF,
    MeaningError,
    family,
    not_understood,
    pass_fail_words,
    stated_meaning,
    stated_words,
    status_word,
    values_option,
)
from judgestats.errors import InputError
from judgestats.files.remote import local_file
from judgestats.files.text import clean_json, command_word
from judgestats.results.numbers import count_noun
from judgestats.results.records import CRITERIA


class LabelJoinError(InputError):
    """Labels cannot be joined with judged items by the ids that were tried."""


PART = "labels_part"
"""Column that `judgestats labels split` writes: ``tuning:DIGEST`` or ``validation:DIGEST``."""
_PEOPLE = ("annotator", "rater", "person", "human", "expert", "labeler", "labeller", "worker",
           "judge", "coder")  # fmt: skip
LABEL_ENDINGS = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"})
"""Endings of the files that `judgestats labels collect` fills in."""
_LABELS = (*ALIASES["label"], "score", "rating", "verdict", "winner", "choice", "passed", "pass",
           "correct", "value", "answer")  # fmt: skip


def with_labels(
    path: Path,
    frame: pd.DataFrame,
    labels: Any,
    *,
    values: Mapping[str, str] | None = None,
    scores: bool = False,
) -> pd.DataFrame:
    """A log's frame with human labels from a second table, joined by item or by cluster.

    Parameters
    ----------
    path : Path
        The log, for messages.
    frame : DataFrame
        Parsed.
    labels : path or DataFrame or list of dict
    values : mapping of word to meaning, optional
        As `judgestats.data.readers.options.TableOptions` has it.
    scores : bool
        Next to pass and fail verdicts labels may be scores, which the caller cuts.

    Returns
    -------
    DataFrame
        Verdicts and labels that say pass and fail are in these words.
    """
    attrs = dict(frame.attrs)
    frame = coded_choices(frame)
    kind = _kind(frame)
    how: dict[str, Any] = {"values": values, "scores": scores}
    try:
        out, notes = joined_labels(path, frame, labels, {"": kind}, ("item_id",), **how)
    except LabelJoinError:
        out, notes = joined_labels(
            path, frame, labels, {"": kind}, ("cluster",), names=frame["cluster"], **how
        )
    out.attrs = {**attrs, "notes": [*attrs.get("notes", []), *notes]}
    return out


def labelled_ids(
    path: Path, item: Sequence[str] = ("item_id",), *, choices: Sequence[str] = ()
) -> set[str]:
    """What the labelled items of a table are called; it is checked as when it is joined.

    Parameters
    ----------
    path : Path
    item : sequence of str
        The columns that name an item among the judgments.
    choices : sequence of str
        The words of a label, where they are not pass and fail.

    Returns
    -------
    set of str
    """
    table = _table(path)
    keys = _keys(path, table, item)
    ids = joined_ids(table, tuple(keys))
    if _criterion_column(table, keys):
        return set(ids)  # one label a criterion, which is checked when it is joined
    return set(_people(path, table, keys, ids, choices=choices).index)


def _criterion_column(table: pd.DataFrame, keys: Iterable[str]) -> str:
    return next((c for c in table.columns if folded(c) in CRITERIA and c not in keys), "")


def unlabelled_note(lost: Sequence[Any], of: int, name: object) -> Remark:
    """The note on items without a label in a second table."""
    return _lost_note(lost, of, f"items have no label in {name}", "item_without_label")


def _lost_note(lost: Sequence[Any], of: int, what: str, code: str) -> Remark:
    shown = ", ".join(map(str, lost[:5])) + (" and others" if len(lost) > 5 else "")
    return Remark(f"{len(lost)} of {of:,} {what}: {shown}.", code, len(lost))


def with_stated_words(frame: pd.DataFrame, values: Mapping[str, str]) -> pd.DataFrame:
    """A log's frame with its verdicts and labels as was stated of their words."""
    frame = coded_choices(frame, values)
    people = [str(c) for c in frame if c == "label" or str(c).startswith("label_")]
    if not people:
        return frame
    judged = frame["choice"].unique()
    labels, notes = coded_labels("the labels", frame[people], _kind(frame), values, judged=judged)
    out = frame.assign(**{c: labels[c] for c in people})
    out.attrs = {**frame.attrs, "notes": [*frame.attrs.get("notes", []), *notes]}
    return out


def _kind(frame: pd.DataFrame) -> Kind:
    """The kind of a parsed frame's verdicts."""
    if frame["score"].notna().any():
        return Kind(name="score")
    return kind_of(frame["choice"].replace("", None), column="")


def with_labels_of(
    where: Path | str,
    out: pd.DataFrame,
    own: pd.Series,
    people: pd.DataFrame,
    kinds: Mapping[str, Kind],
    values: Mapping[str, str] | None = None,
    *,
    criterion: str = "",
    scores: bool = False,
) -> tuple[pd.DataFrame, list[str]]:
    """The frame with human labels in the words of its verdicts, criterion by criterion.

    Parameters
    ----------
    where : Path or str
        For messages.
    out : DataFrame
        Rows of judgments.
    own : Series
        What each row's label is called among those of `people`.
    people : DataFrame
        One row per name of a label, one column per person.
    kinds : mapping of criterion to Kind
    values, scores
        As `coded_labels` takes them.
    criterion : str
        The factor of `out` that names the criterion; empty where there is one.

    Returns
    -------
    tuple of DataFrame and list of str
        With ``label``, the majority label, and with several raters a column per rater too; and what
        `coded_labels` tells.
    """
    groups = (
        out.groupby(text_column(out[f"factor_{criterion}"]), sort=False).groups
        if criterion and len(kinds) > 1
        else {next(iter(kinds), ""): out.index}
    )
    parts, notes = [], []
    for name, rows in groups.items():
        keys, kind = own.loc[rows], kinds.get(str(name))
        theirs = people if len(groups) == 1 else people[people.index.isin(set(keys))]
        judged = out.loc[rows, "choice"].unique()
        labels, told = coded_labels(where, theirs, kind, values, scores=scores, judged=judged)
        matched = labels.reindex(keys).set_axis(rows).fillna("")
        several = len(matched.columns) > 1
        label = _most(matched, kind) if several else matched.iloc[:, 0]
        raters = {f"label_{person}": matched[person] for person in matched if several}
        parts.append(out.loc[rows].assign(label=label, **raters))
        notes += told
    labelled = pd.concat(parts).loc[out.index] if len(parts) > 1 else parts[0]
    each = labelled[[c for c in labelled if str(c).startswith("label_")]].fillna("")
    if tied := own[labelled["label"].eq("") & (each != "").any(axis=1)].nunique():
        text = (
            f"{count_noun(tied, 'item has', 'items have')} no majority label, so rates rest on "
            "items on which raters agree. Let a further rater decide."
        )
        notes.append(Remark(text, "labels_differ", tied))
    return labelled, notes


def coded_labels(
    where: Path | str,
    people: pd.DataFrame,
    kind: Kind | None,
    values: Mapping[str, str] | None = None,
    *,
    scores: bool = False,
    judged: Iterable[str] = (),
) -> tuple[pd.DataFrame, list[str]]:
    """Labels in the words of the verdicts' kind, each cell looked up alone.

    Parameters
    ----------
    where : Path or str
        For messages.
    people : DataFrame
        A column per person.
    kind : Kind or None
        Of the judge's verdicts.
    values : mapping of word to meaning, optional
    scores : bool
        Next to pass and fail verdicts labels may be scores.
    judged : iterable of str
        The judge's verdicts.

    Returns
    -------
    tuple of DataFrame and list of str
        Texts, empty where there is no label; how many cells say that there is none, and which
        scores are too large to compute with.

    Raises
    ------
    InputError
        A word is not understood next to such verdicts.

    Examples
    --------
    >>> cells = pd.DataFrame({"label": ["Passed", "no", "N/A", None]})
    >>> labels, notes = coded_labels("f", cells, Kind(name="pass-fail"))
    >>> labels["label"].tolist(), notes
    (['pass', 'fail', '', ''], ['1 label is no verdict and left out of every rate: 1 not applicable.'])
    """  # noqa: E501
    own = stated_words(values or {}, "verdict")
    stated = {w: m for w, m in (kind.stated if kind else {}).items() if w not in own}
    stated |= stated_words(values or {}, "label")
    made: dict[str, pd.Series] = {}
    lost: Counter[str] = Counter()
    notes: list[str] = []
    for column in people.columns:
        counts = counted_words(people[column])
        try:
            code = _codes(str(column), counts, kind, stated, scores=scores, judged=judged)
        except MeaningError as error:
            raise error.at(where) from None
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if kind is not None and kind.name == "pass-fail":
            check_direction(where, str(column), code, stated, side="label:")
        made[str(column)] = each_distinct(people[column], _decoder(code))
        for word, meaning in code.items():
            if not meaning and (status := stated_meaning(word, stated) or status_word(word)):
                lost[status] += counts[word]
        notes += _range_note(where, people[column], [w for w, m in code.items() if not m])
    del lost["missing"]
    return pd.DataFrame(made, index=people.index), [*_left_out(lost), *notes]


def _range_note(where: Path | str, cells: pd.Series, unused: Sequence[str]) -> list[str]:
    """Which of a rater's labels are too large to compute with, and where the first stands."""
    such = {word for word in unused if is_too_large(word)}
    if not such:
        return []
    far = cells[cells.map(lambda v: normalize_value(v) in such)]
    at, are = far.index[0], "are" if len(far) > 1 else "is"
    place = f"in row {at + 1}" if isinstance(at, (int, np.integer)) else f"of {at!r}"
    several = count_noun(len(far), "label", "labels")
    note = f"{where}: {several} ({far.iloc[0]} {place}) {are} {FAR}, no point of a "
    return [Remark(f"{note}scale and left out.", "no_score", len(far))]


def _decoder(code: Mapping[str, str]) -> Callable[[Any], str]:
    """What a cell becomes: by its word, or as it stands."""

    def text(value: Any) -> str:
        missing = pd.api.types.is_scalar(value) and pd.isna(value)
        return code.get(normalize_value(value), "" if missing else str(value).strip())

    return text


def _codes(
    column: str,
    counts: Mapping[str, int],
    kind: Kind | None,
    stated: Mapping[str, str],
    *,
    scores: bool,
    judged: Iterable[str],
) -> dict[str, str]:
    """What each word of a column of labels becomes; words that stay as they are have no entry."""
    if kind is None:
        return {}
    found = pass_fail_words(counts, stated)
    of_words = kind.name in {"choice", "category"}
    status = {w: stated_meaning(w, stated) or status_word(w, any_column=of_words) for w in counts}
    empty = dict.fromkeys((w for w, m in status.items() if m in STATUS_OF), "")
    if kind.name == "score" or scores:
        empty |= dict.fromkeys(filter(is_too_large, counts), "")
    if kind.name in {"preference", "choice", "category"} and found.verdicts:
        own = (set(kind.codes) or {w.lower() for w in judged}) - {""}
        if own and not own & set(counts) and not set(found.verdicts) <= set(PREFERENCES):
            words = dict.fromkeys(sorted(own), "WHAT")
            pairs = (PASS, FAIL), (FAIL, PASS)
            ways = [{"values": dict(zip(words, p, strict=True))} for p in pairs if len(words) == 2]
            raise MeaningError(
                f"{column!r} says {' and '.join(sorted(set(found.verdicts)))}, and the verdicts "
                f"are {', '.join(words)}. Say what they mean: {values_option(words)}.", ways,
            )  # fmt: skip
    if of_words:
        return empty
    if kind.name == "preference":
        told = {w: kind.codes.get(w) or PREFERENCES.get(w, "") for w in counts}
        told |= {w: m for w in counts if family(m := stated_meaning(w, stated)) == "preference"}
        strange = {w: n for w, n in counts.items() if not told[w] and w not in empty}
        if strange:
            raise not_understood(column, strange, beside=" next to verdicts on pairs")
        return {**told, **empty}
    numbers = not np.isnan(numbers_of([w for w in counts if w not in empty])).any()
    if kind.name == "score" or (scores and numbers and found.unknown):
        told = {w: family(stated_meaning(w, stated)) for w in counts}
        is_binary = found.is_binary or "pass-fail" in told.values()
        if is_binary and found.unknown:
            raise not_understood(
                column, found.unknown, otherwise="Write label:WORD where labels alone are meant."
            )
        points = {w: stated_meaning(w, stated) for w, own in told.items() if own == "score"}
        words = {
            w: m for w, m in found.verdicts.items()
            if told[w] == "pass-fail" or w not in {"1", "0", "-1"}
        }  # fmt: skip
        return {**(words if is_binary else {}), **points, **empty}
    if found.unknown:
        raise not_understood(column, found.unknown, beside=" next to pass / fail verdicts")
    return {**found.verdicts, **empty}


_STATUS_SAID = {"skip": "not applicable", "unparsed": "unparsed", "error": "error"}


def _left_out(lost: Mapping[str, int]) -> list[str]:
    """How many labels say that there is none, as text."""
    n = sum(lost.values())
    if not n:
        return []
    each = ", ".join(f"{lost[s]:,} {said}" for s, said in _STATUS_SAID.items() if lost.get(s))
    several = "labels are" if n > 1 else "label is"
    text = f"{n:,} {several} no verdict and left out of every rate: {each}."
    return [Remark(text, "labels_left_out", n)]


def _most(table: pd.DataFrame, kind: Kind | None) -> pd.Series:
    """Most common label (empty for a tie); of scores the mean."""
    if kind is not None and kind.name == "score":
        mean = table.apply(pd.to_numeric, errors="coerce").mean(axis=1)
        texts = ["" if np.isnan(v) else f"{v:.10g}" for v in mean.to_numpy(float)]
        return pd.Series(texts, index=table.index, dtype=object)
    codes, words = pd.factorize(table.to_numpy(object).ravel())
    counts = np.zeros((len(table), len(words)), dtype=np.int64)
    np.add.at(counts, (np.repeat(np.arange(len(table)), table.shape[1]), codes), 1)
    empty = [i for i, w in enumerate(words) if w == ""]
    counts[:, empty] = 0
    best = counts.max(axis=1)
    tied = (counts == best[:, None]).sum(axis=1) > 1
    most = np.array(words, dtype=object)[counts.argmax(axis=1)]
    return pd.Series(np.where(tied | (best == 0), "", most), index=table.index, dtype=object)


def with_labelled_rows(
    source: Path | str,
    out: pd.DataFrame,
    rows: pd.DataFrame,
    columns: Sequence[str],
    read: Read,
    understanding: ColumnRoles,
    *,
    values: Mapping[str, str] | None = None,
    rater: str,
) -> tuple[pd.DataFrame, list[str]]:
    """The judge's rows with the labels that human rows of the same table hold.

    Parameters
    ----------
    source : Path or str
    out : DataFrame
        The judge's rows, parsed.
    rows : DataFrame
        Human rows, unchanged.
    columns : sequence of str
        That hold the verdicts; the first that is filled counts.
    read : Read
    understanding : ColumnRoles
        Labels belong to an item, and to a criterion or condition where human rows name it.
    values : mapping of word to meaning, optional
    rater : str
        The column that may name the person.

    Returns
    -------
    tuple of DataFrame and list of str
        The frame with labels, and what did not match.

    Raises
    ------
    InputError
        No label belongs to a judged item, a person labelled one twice, or several criteria are
        judged and people name none.
    """
    theirs, own = joined_ids(rows, understanding.item), out["item_id"]
    for factor in understanding.factors:
        levels = text_column(rows[factor])
        if levels.ne("").any():
            theirs = _criterion_ids(theirs, levels)
            own = _criterion_ids(own, out[f"factor_{factor}"])
        elif factor == read.criterion and len(read.kinds) > 1:
            raise InputError(
                f"{source}: the judge's rows are of {len(read.kinds)} criteria ({factor}), and "
                "human rows name none. Fill the column, or leave one criterion."
            )
    said = rows[list(columns)].bfill(axis=1).iloc[:, 0]
    filled = text_column(said).str.strip().ne("")
    long = pd.DataFrame({"key": theirs[filled], "label": said[filled]})
    person = text_column(rows[rater])[filled]
    if len(pd.unique(person)) > 1:
        wide = _pivot_raters(source, long.assign(person=person))
    else:
        long["person"] = long.groupby("key", sort=False).cumcount()
        wide = long.pivot(index="key", columns="person", values="label")
    joined = own.isin(set(wide.index))
    if not joined.any():
        raise InputError(
            f"{source}: no label of --human belongs to a judged item. Items are called "
            f"{', '.join(map(repr, out['item_id'].unique()[:3]))} in the judge's rows and "
            f"{', '.join(map(repr, joined_ids(rows, understanding.item).unique()[:3]))} in "
            "the human rows. Name the item's column by --item."
        )
    labelled, notes = with_labels_of(
        source, out, own, wide, read.kinds, values, criterion=read.criterion
    )
    first = ~own.duplicated() & joined
    spare = int((~wide.index.isin(own)).sum())
    n = int(labelled.loc[first, "label"].ne("").sum())
    sentence = f"{int(filled.sum()):,} labels by people give {n:,} labelled judgments"
    sentence += f" ({spare:,} of no judged item)" if spare else ""
    persons = [c for c in labelled if str(c).startswith("label_") and not rater]
    return labelled.drop(columns=persons), [f"{sentence}.", *notes]


def _drop_decisions(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Labels without decisions of reviewers, who saw the verdict and chose the items."""
    if not {"blind", "resolution"} <= set(table):
        return table, []
    seen = table["blind"].astype(str).str.casefold().eq("false")
    if not seen.any():
        return table, []
    counts = table["resolution"][seen].value_counts()
    right = [f"{name} right {counts.get(name, 0)}" for name in ("judge", "human")]
    text = (
        f"Reviewed {count_noun(int(seen.sum()), 'verdict', 'verdicts')}: {', '.join(right)}, "
        f"unclear {counts.get('unclear', 0)}. Decisions enter no rate, because the reviewer saw "
        "the verdict and chose the items."
    )
    note = Remark(text, "labels_handpicked", int(seen.sum()))
    return table[~seen].reset_index(drop=True), [note]


def joined_labels(
    source: Path | str,
    out: pd.DataFrame,
    labels: Any,
    kinds: Mapping[str, Kind],
    item: Sequence[str],
    *,
    criterion: str = "",
    names: pd.Series | None = None,
    values: Mapping[str, str] | None = None,
    scores: bool = False,
) -> tuple[pd.DataFrame, list[str]]:
    """Labels of a second table, joined by the items' ids; every mismatch is counted and named.

    Parameters
    ----------
    source : Path or str
        The judgments.
    out : DataFrame
        With ``item_id``.
    labels : path or DataFrame or list of dict
    kinds : mapping of criterion to Kind
        Of the judge's verdicts.
    item : sequence of str
        The columns that name an item among the judgments.
    criterion : str
        The factor of `out` that names the criterion; empty where there is none.
    names : Series, optional
        What a row's item is called in the labels; by default ``item_id``.
    values, scores
        As `coded_labels` takes them.

    Returns
    -------
    tuple of DataFrame and list of str
        The frame with labels, and what did not match.
    """
    where: Path | str = "the labels"
    if isinstance(labels, (str, Path)):
        where = Path(labels)
        table = _table(where)
    else:
        table = clean_cells(pd.DataFrame(clean_json(labels))).rename(columns=str)
    table, notes = _drop_decisions(table.reset_index(drop=True))
    if notes and table.empty:
        return out if "label" in out else out.assign(label=""), notes
    keys = _keys(where, table, item)
    own = out["item_id"] if names is None else names
    ids = joined_ids(table, tuple(keys))
    theirs = _criterion_column(table, keys)
    if theirs and table[theirs].groupby(ids).nunique().max() > 1:
        if not criterion:
            raise InputError(
                f"{where}: the labels are of several criteria ({theirs}), and the verdicts of "
                "one. Give verdicts with a column of that name, or labels of one criterion."
            )
        ids = _criterion_ids(ids, table[theirs])
        own = _criterion_ids(own, out[f"factor_{criterion}"])
        table = table.drop(columns=theirs)
    named = {"score", "pass-fail"}.isdisjoint(kind.name for kind in kinds.values())
    choices = sorted(set(out["choice"]) - {""}) if named else []
    people = _people(where, table, keys, ids, choices=choices)
    joined = people.loc[people.index.isin(set(own))]
    given = list(dict.fromkeys(own))
    if joined.empty:
        raise LabelJoinError(
            f"{where}: no label belongs to an item of {source}. Items there are called "
            f"{', '.join(map(repr, given[:3]))}, here "
            f"{', '.join(map(repr, list(people.index[:3])))}. Give both files the same ids."
        )
    without = [i for i in given if i not in set(people.index)]
    spare = [i for i in people.index if i not in set(given)]
    name = where.name if isinstance(where, Path) else where
    # A label that is lost may be a mistake in the ids; an item without one rarely is.
    if spare:
        what = f"labels belong to no judged item in {name}"
        notes.append(_lost_note(spare, len(people), what, "label_without_item"))
    if without:
        notes.append(unlabelled_note(without, len(given), name))
    chance = column_named(table.columns, "chance")
    if chance:  # with which `judgestats labels plan` drew the item
        drawn = table[chance].set_axis(ids)
        drawn = drawn[~drawn.index.duplicated()]
        out = out.assign(chance=drawn.reindex(own).to_numpy())
    if PART in table.columns:
        part = table[PART].set_axis(ids)
        part = part[~part.index.duplicated()].reindex(own).fillna("")
        out = out.assign(**{PART: part.astype(str).to_numpy(object)})
    labelled, told = with_labels_of(
        where, out, own, people, kinds, values, criterion=criterion, scores=scores
    )
    notes = [*told, *notes]
    if labelled["label"].eq("").all():
        text = f"No label in {name} can be used: none is a verdict, or as many people say another."
        notes.append(Remark(text, "no_label_used", len(people)))
    return labelled, notes


def with_one_label(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Remark]]:
    """The frame without human labels that contradict one another, and what was left out.

    Rows of one item and condition have one label, or none where they differ. Labels that differ
    between conditions stay, since an answer may belong to its condition; a remark counts them.

    Examples
    --------
    >>> rows = {"item_id": ["a", "a", "b"], "condition": ["j"] * 3, "label": ["pass", "fail", ""]}
    >>> out, notes = with_one_label(pd.DataFrame(rows))
    >>> out["label"].tolist(), notes[0].code
    (['', '', ''], 'labels_differ')
    """
    if "label" not in frame or frame["label"].nunique() < 2:
        return frame, []
    labelled = frame[frame["label"] != ""]
    notes = []
    keys = ["item_id", "condition"]
    several = labelled.groupby(keys, sort=False)["label"].nunique()
    if (several := several[several > 1]).size:
        theirs = pd.MultiIndex.from_frame(frame[keys]).isin(several.index)
        frame = frame.assign(label=frame["label"].mask(theirs, ""))
        text = (
            f"{several.size} items have human labels that differ between their rows. They count as "
            "unlabelled. Do rows of an item hold different answers? Then name them: --item."
        )
        notes.append(Remark(text, "labels_differ", several.size))
    between = frame[frame["label"] != ""].groupby("item_id", sort=False)["label"].nunique()
    if count := int((between > 1).sum()):
        text = (
            f"{count} items have human labels that differ between conditions. Panels of judges "
            "leave them out."
        )
        notes.append(Remark(text, "labels_differ_between_conditions", count))
    return frame, notes


def _criterion_ids(ids: pd.Series, criteria: pd.Series) -> pd.Series:
    return ids + " (" + text_column(criteria) + ")"


def _table(path: Path) -> pd.DataFrame:
    path = local_file(path)
    if not path.exists():
        raise InputError(f"--labels: there is no file {str(path)!r}.")
    from judgestats.files.label_state import check_exported

    check_exported(path)
    table = table_of(path, lambda head: [str(c) for c in head.columns])
    return table.rename(columns=str).reset_index(drop=True)


def _keys(where: Path | str, table: pd.DataFrame, item: Sequence[str]) -> list[str]:
    own = [column_named(table.columns, c) for c in item]
    if all(own):
        return own
    hit = next((column_named(table.columns, c) for c in ALIASES["item_id"]
                if column_named(table.columns, c)), "")  # fmt: skip
    if not hit or (len(item) > 1 and "item_id" not in table):  # as `labels plan` names it whole
        raise LabelJoinError(
            f"{where}: the labels need the column{'s' * (len(item) > 1)} that name an item among "
            f"the judgments ({', '.join(item)}). The file has: "
            f"{', '.join(str(c) for c in list(table.columns)[:30])}."
        )
    return [hit]


def _people(
    where: Path | str,
    table: pd.DataFrame,
    keys: list[str],
    ids: pd.Series,
    *,
    choices: Sequence[str] = (),
) -> pd.DataFrame:
    """A row per item with a label, a column per person; `choices` are the words of a label."""
    rest = [str(c) for c in table.columns if c not in keys]
    by_name = {folded(c): c for c in reversed(rest)}
    label = next((by_name[folded(c)] for c in _LABELS if folded(c) in by_name), "")
    person = next((by_name[folded(c)] for c in _PEOPLE
                   if folded(c) in by_name and by_name[folded(c)] != label), "")  # fmt: skip
    others = [c for c in rest if c != person or may_hold_verdicts(table[c])]
    lone = [c for c in others if may_hold_verdicts(table[c]) and folded(c) not in CRITERIA]
    if person and person not in others and len(lone) == 1 and ids.duplicated().any():
        label = label or lone[0]
    columns = [label] if label else _person_columns(table, rest) or lone * (len(lone) == 1)
    if not columns:
        raise InputError(
            f"{where}: no column holds the labels. The file has: {', '.join(rest[:30])}. Call "
            "it label, or one column per person annotator1, annotator2, ..."
        )
    cells = table[columns]
    given = (cells.notna() & cells.astype(str).apply(lambda c: c.str.strip()).ne("")).any(axis=1)
    if not given.any():
        raise InputError(_no_label_yet(where, ids.nunique(), columns, table, choices))
    # a row still to be labelled names nobody
    table, ids = table[given].reset_index(drop=True), ids[given].reset_index(drop=True)
    if not (label and person):
        if (twice := ids.duplicated()).any():
            raise InputError(
                f"{where}: the item {str(ids[twice].iloc[0])!r} has more than one label "
                f"({int(twice.sum())} such rows). Name the person who gave each in a column "
                "annotator."
            )
        return table[columns].set_axis(ids)
    long = pd.DataFrame({"key": ids, "person": table[person].astype(str), "label": table[label]})
    return _pivot_raters(where, long)


def _pivot_raters(where: Path | str, long: pd.DataFrame) -> pd.DataFrame:
    """A row per item, a column per person, from one row per label."""
    twice = long.duplicated(["key", "person"])
    if twice.any():
        row = long[twice].iloc[0]
        raise InputError(
            f"{where}: {row['person']!r} labelled {row['key']!r} more than once "
            f"({int(twice.sum())} such rows). Keep one label per person and item."
        )
    return long.pivot(index="key", columns="person", values="label")


def _no_label_yet(
    where: Path | str,
    n_items: int,
    columns: Sequence[str],
    table: pd.DataFrame,
    choices: Sequence[str],
) -> str:
    """What a table of labels lacks, and how to fill it."""
    if not n_items:
        return f"{where}: the table has no rows. Add one row per labelled item."
    holds = f"{where}: the table holds {count_noun(n_items, 'item', 'items')} and no label yet."
    own = {"item_id", "annotator", "label"} <= set(table.columns)  # as `labels plan` makes it
    usable = own and isinstance(where, Path) and where.suffix.lower() in LABEL_ENDINGS
    if not usable or any("," in word for word in choices):
        return f"{holds} Fill in the column {', '.join(columns)}."
    asked = f" --choices {shlex.quote(','.join(choices))}" if len(choices) > 1 else ""
    return f"{holds} Give labels with: judgestats labels collect {command_word(where)}{asked}"


def _person_columns(table: pd.DataFrame, rest: Sequence[str]) -> list[str]:
    """Columns named after human raters, and those that hold the same labels as one of these."""
    stems = {c: folded(c).rstrip("0123456789") for c in rest}
    named = [c for c, stem in stems.items() if stem == "h" or stem.startswith((*_PEOPLE, "ann"))]
    spellings = {c: set(map(normalize_value, table[c].dropna())) - {""} for c in rest}
    words = set().union(*(spellings[c] for c in named))
    return [c for c in rest if c in named or (spellings[c] and spellings[c] <= words)]
