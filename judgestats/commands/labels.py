"""Label plans, pilots, files of labels, and the local page that collects them."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.commands.arguments import Args, check_new, named_numbers, table_options, word_values
from judgestats.data.readers import row_checks
from judgestats.data.readers.columns import ALIASES, folded, resolve_columns, text_columns
from judgestats.data.readers.labels import LABEL_ENDINGS, PART
from judgestats.data.readers.layout import with_paths
from judgestats.data.readers.logs import table_of
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.registry import read_judgments
from judgestats.data.vocabulary import PASS, not_understood, pass_fail_words, stated_words
from judgestats.errors import InputError, guard_output
from judgestats.files.guarded import plain_file
from judgestats.files.label_state import GivenLabel, LabelState, changed_labels
from judgestats.files.remote import local_file
from judgestats.files.text import command_word, short
from judgestats.reporting.explorer.labels_page import Answer, blind_payload, label_server
from judgestats.reporting.explorer.page import html_page, packed, write_page
from judgestats.runner import display as console
from judgestats.stats.validity import label_plan

OWN_COLUMNS = ("item_id", "chance", "annotator", "label", "note")
"""Columns of a file of labels next to the texts."""
_OTHER_STARTS = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b")
"""First bytes of a database, a workbook and a gzip file."""


def check_writable(path: Path) -> None:
    """Refuse a file that `write_table` would turn into another format.

    Parameters
    ----------
    path : Path
        It need not exist.

    Raises
    ------
    InputError
        Its name, or what it holds, is of a format in which labels are not written.
    """
    suffix = path.suffix.lower()
    if suffix not in LABEL_ENDINGS:
        raise InputError(
            f"{path}: labels are kept in CSV, TSV, JSON lines, JSON or Parquet. Name such a file, "
            f"e.g. {path.name.partition('.')[0] or 'labels'}.csv."
        )
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(_OTHER_STARTS) or (start[:4] == b"PAR1" and suffix != ".parquet"):
        raise InputError(
            f"{path}: the file is not in the format of its name, in which labels would be written. "
            "Save its table as CSV under another name."
        )


def read_table(path: Path) -> pd.DataFrame:
    """A table with every value as text, empty where there is none.

    Parameters
    ----------
    path : Path
        As `judgestats.data.readers.logs.table_of` reads it.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        The file is not there, or is not a table.
    """
    path = local_file(path)
    if not path.is_file():
        if path.exists():
            plain_file(path)
        raise InputError(f"{path}: there is no such file.")
    frame = table_of(path, lambda header: list(header.columns))
    filled = frame.astype(object).where(frame.notna(), "")
    return filled.map(lambda v: json.dumps(v) if isinstance(v, (dict, list)) else str(v))


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, in the format of its name, whole or not at all."""
    check_writable(path)
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        write = partial(frame.to_json, orient="records", lines=True, force_ascii=False)
    elif suffix == ".json":
        write = partial(frame.to_json, orient="records", force_ascii=False)
    elif suffix == ".parquet":
        write = partial(frame.to_parquet, index=False)
    else:
        write = partial(frame.to_csv, index=False, sep="\t" if suffix == ".tsv" else ",")
    replace_file(path, write)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all, with the mode that it had; it is on the disk on return.

    Parameters
    ----------
    path : Path
    write : function of a path
        Writes the contents to the path that it is given.
    """
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.{os.getpid()}")
    with guard_output(path):
        try:
            if real.exists():
                beside.touch(mode=0o600)
            write(beside)
            _flush(beside, os.O_RDWR)
            if real.exists():
                shutil.copymode(real, beside)
            beside.replace(real)
        finally:
            beside.unlink(missing_ok=True)
    if sys.platform != "win32":  # where a folder cannot be opened
        _flush(real.parent, os.O_RDONLY)


def _flush(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class LabelFile:
    """A file of items to label, and the store of the labels given.

    Parameters
    ----------
    path : Path
        Items, texts next to them, and the available labels: the exchange format.
    annotator : str
        Pseudonym under which labels are given.
    choices : sequence of str
        The words of a label.
    """

    def __init__(self, path: Path, *, annotator: str, choices: Sequence[str]) -> None:
        self.path, self.annotator, self.choices = path, annotator, list(choices)
        frame = read_table(path)
        check_writable(path)
        missing = [c for c in ("item_id", "annotator", "label") if c not in frame]
        if missing:
            raise InputError(
                f"{path}: there is no column {', '.join(missing)}. Make the file by "
                "judgestats labels plan FILE --labels N --text COLUMN."
            )
        if len(self.choices) < 2 or len(set(self.choices)) < len(self.choices):
            raise InputError("labels collect: --choices needs at least two different words.")
        if not annotator:
            raise InputError("labels collect: --annotator needs a pseudonym.")
        items = frame.drop_duplicates("item_id").set_index("item_id")
        items = items.assign(item=items.index) if {*items} <= {*OWN_COLUMNS} else items
        texts = [c for c in items if c not in OWN_COLUMNS]
        self._texts = {
            str(item): [(str(c), str(v)) for c, v in zip(texts, row, strict=True)]
            for item, row in zip(items.index, items[texts].to_numpy(object), strict=True)
        }
        with changed_labels(path) as state:
            state.read_file(_stored_labels(path, frame), self._texts)

    def payload(self) -> dict[str, Any]:
        """The data of the page: items, choices, and the answers of this annotator."""
        with changed_labels(self.path) as store:
            given = store.answers()
        own = {
            g.item_id: Answer(label, note, unsure=not label)
            for g, (label, note) in given.items()
            if g.annotator == self.annotator and (not label or label in self.choices)
        }
        return blind_payload(
            self._texts, choices=self.choices, annotator=self.annotator, answers=own
        )

    def save(self, item: str, answer: Answer) -> None:
        """Store one answer; on return it is on the disk."""
        known = answer.label == "" if answer.unsure else answer.label in self.choices
        if not known or item not in self._texts:
            raise InputError("labels collect: no such item or label.")
        with changed_labels(self.path) as state:
            given = GivenLabel(item, self.annotator)
            state.give(given, answer.label, note=answer.note, unsure=answer.unsure)


def _stored_labels(path: Path, frame: pd.DataFrame) -> dict[GivenLabel, str]:
    """The labels in a file."""
    rows = frame[(frame["annotator"] != "") & (frame["label"] != "")]
    held: dict[GivenLabel, str] = {}
    for item, annotator, label in zip(
        rows["item_id"], rows["annotator"], rows["label"], strict=True
    ):
        given = GivenLabel(item, annotator)
        if held.setdefault(given, label) != label:
            raise InputError(
                f"{path}: item {short(item)} has the labels {short(held[given])} and "
                f"{short(label)} of {short(annotator)}. Keep one."
            )
    return held


def export_labels(path: Path) -> int:
    """Write the labels given on pages into their file, whole or not at all.

    Parameters
    ----------
    path : Path

    Returns
    -------
    int
        Labels in the file.
    """
    frame = read_table(path)
    check_writable(path)
    with changed_labels(path) as state:
        if state.unexported():
            state.read_file(_stored_labels(path, frame), frame["item_id"])
            write_table(_filled(frame, state), path)
            state.mark_exchanged()
        return len(state.labels())


def _filled(frame: pd.DataFrame, state: LabelState) -> pd.DataFrame:
    """The rows of a file, each label in its annotator's row, else a free one, else a new one."""
    rows: list[dict[str, Any]] = [
        {str(column): value for column, value in row.items()} for row in frame.to_dict("records")
    ]
    place: dict[GivenLabel, dict[str, Any]] = {}
    free: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["annotator"] != "":
            place.setdefault(GivenLabel(row["item_id"], row["annotator"]), row)
        elif row["label"] == "":
            free.setdefault(row["item_id"], []).append(row)
    first = {row["item_id"]: dict(row) for row in reversed(rows)}
    answers = state.answers()
    noted = "note" in frame or any(note for _, note in answers.values())
    for given, label in state.labels().items():
        if given not in place:
            if open_rows := free.get(given.item_id):
                place[given] = open_rows.pop(0)
            else:
                rows.append(dict(first[given.item_id]))
                place[given] = rows[-1]
        place[given] |= {"annotator": given.annotator, "label": label}
        if noted and answers[given][1]:
            place[given]["note"] = answers[given][1]
    columns = [*frame.columns, *(["note"] if noted and "note" not in frame else [])]
    return pd.DataFrame(rows, columns=columns).fillna("")


def serve_page(path: Path, *, annotator: str, choices: Sequence[str], port: int) -> int:
    """Serve the page until stopped; each label is stored at once, and in the file at the end."""
    file = LabelFile(path, annotator=annotator, choices=choices)
    server, address = label_server(file.payload, file.save, port=port)
    made = file.payload()
    labelled = sum(bool(a["label"]) for _, a in made["given"])
    console.print_result(
        f"READY  {labelled} of {len(made['items']['id'])} items labelled by {annotator}. "
        "Open on this machine:",
        f"  {address}",
        "Next  Ctrl-C ends; the same command goes on where it stopped.",
    )
    try:
        server.serve_forever()
    finally:
        server.server_close()
        export_labels(path)
    return 0


def send_page(path: Path, out: Path, *, annotator: str, choices: Sequence[str]) -> int:
    """Write the page as a file to send; its labels are saved from the browser."""
    made = LabelFile(path, annotator=annotator, choices=choices).payload()
    write_page(html_page(packed(made)), out)
    console.print_outcome(
        "READY",
        f"{len(made['items']['id'])} items to label: {out}. "
        "Its button Save file writes the labels.",
        following=[f"judgestats analyze my.csv --labels {command_word(path)}"],
    )
    return 0


@dataclass(frozen=True, kw_only=True)
class VerdictClass:
    """One verdict of the judge: its share of the items, and how often people pass such items."""

    share: float
    labels: int
    passed: int
    says_pass: bool | None
    """None: unparsed."""

    @property
    def rate(self) -> float:
        """Human pass rate; half a label either way keeps it inside 0-1."""
        return (self.passed + 0.5) / (self.labels + 1)

    @property
    def sd(self) -> float:
        """Of a label in this class."""
        return math.sqrt(self.rate * (1 - self.rate))


def pair_classes(
    verdicts: Mapping[str, str],
    labels: Sequence[tuple[str, str]],
    *,
    where: str,
    values: Mapping[str, str] | None = None,
) -> dict[str, VerdictClass]:
    """Each of the judge's verdicts with the available labels.

    Parameters
    ----------
    verdicts : mapping of item to the judge's verdict
    labels : sequence of (item, label)
    where : str
        The labels' file, for messages.
    values : mapping of word to meaning, optional
        As ``--values`` says.

    Returns
    -------
    dict of verdict to VerdictClass

    Raises
    ------
    InputError
        A word of the verdicts or labels is not understood as pass or fail, or no label belongs to
        an item.

    Examples
    --------
    >>> found = pair_classes({"x": "yes", "y": "no"}, [("x", "pass"), ("y", "fail")],
    ...     where="a file")
    >>> found["yes"].share, found["yes"].rate
    (0.5, 0.75)
    """
    own = _looked_up("verdict", verdicts.values(), values, where)
    codes = _looked_up("label", [word for _, word in labels], values, where)
    labelled = [(item, codes[w]) for item, w in labels if item in verdicts and w in codes]
    if not labelled:
        raise InputError(f"{where}: no label belongs to an item judged.")
    out = {}
    for verdict in dict.fromkeys(verdicts.values()):
        word = [label for item, label in labelled if verdicts[item] == verdict]
        out[verdict] = VerdictClass(
            share=sum(v == verdict for v in verdicts.values()) / len(verdicts),
            labels=len(word),
            passed=word.count(PASS),
            says_pass=own[verdict] == PASS if verdict in own else None,
        )
    return out


def _looked_up(
    side: str, words: Iterable[str], values: Mapping[str, str] | None, where: str
) -> dict[str, str]:
    """The words of one side that are a verdict, as pass or fail."""
    counts = Counter(w for w in words if w.strip())
    found = pass_fail_words(counts, stated_words(values or {}, side))
    if found.unknown:
        raise InputError(f"{where}: {not_understood(side, found.unknown)}")
    return found.verdicts


def pilot_rates(classes: Mapping[str, VerdictClass]) -> dict[str, float]:
    """Prevalence, sensitivity and specificity over the items read, by the verdicts' shares.

    Examples
    --------
    >>> one = VerdictClass(share=0.5, labels=9, passed=8, says_pass=True)
    >>> two = VerdictClass(share=0.5, labels=9, passed=1, says_pass=False)
    >>> {k: round(v, 3) for k, v in pilot_rates({"pass": one, "fail": two}).items()}
    {'prevalence': 0.5, 'sensitivity': 0.85, 'specificity': 0.85}
    """
    read = [c for c in classes.values() if c.says_pass is not None]
    whole = sum(c.share for c in read)
    prevalence = sum(c.share * c.rate for c in read) / whole
    passing = sum(c.share * c.rate for c in read if c.says_pass) / whole
    failing = sum(c.share * (1 - c.rate) for c in read if not c.says_pass) / whole
    return {
        "prevalence": prevalence,
        "sensitivity": passing / prevalence,
        "specificity": failing / (1 - prevalence),
    }


_IDS = ("item_id", "item", "id")
_QUESTIONS = frozenset(map(folded, (*ALIASES["cluster"], "question_id", "prompt_id", "prompt")))
"""Columns that show which items belong together, where they are not the items' ids."""


def collect_command(arguments: Args) -> int:
    """Collect labels on a local page.

    Parameters
    ----------
    arguments : Args
        ``file``, ``annotator``, ``choices``, ``out`` and ``port``.

    Returns
    -------
    int
        0.
    """
    path, choices = Path(arguments.file), [c.strip() for c in arguments.choices.split(",")]
    whose = {"annotator": arguments.annotator, "choices": [c for c in choices if c]}
    if arguments.out:
        return send_page(path, Path(arguments.out), **whose)
    return serve_page(path, port=arguments.port, **whose)


def export_command(arguments: Args) -> int:
    """Write the labels given on a page into their file.

    Parameters
    ----------
    arguments : Args
        ``file``.

    Returns
    -------
    int
        0.
    """
    count = export_labels(Path(arguments.file))
    console.print_result(f"{arguments.file}: {count:,} labels")
    return 0


def _column(frame: pd.DataFrame, name: str, option: str) -> pd.Series:
    if name not in frame:
        raise InputError(
            f"labels: there is no column {name!r}; there are {', '.join(map(str, frame.columns))}. "
            f"Name it by --{option}."
        )
    return frame[name]


def _item_column(frame: pd.DataFrame, name: str = "") -> pd.Series:
    """The column that names the items."""
    usual = next((c for c in _IDS if c in frame), "item_id")
    return _column(frame, name or usual, "item")


def _read_rows(frame: pd.DataFrame, options: TableOptions, file: Path) -> pd.DataFrame:
    """The rows with items as `judgestats analyze` reads them; of nested or wide files all it reads.

    Raises
    ------
    InputError
        The file cannot be read, or in several ways.
    """
    read = read_judgments(file, **options.set_options())
    named = read.attrs.get("roles", {}).get("item", ["item_id"])
    console.print_status(f"item = {' + '.join(named)}")
    if len(read) != len(frame):
        return read
    return frame.assign(item_id=read["item_id"].to_numpy())


def _options_of(arguments: Args) -> TableOptions:
    """How the judged file is read; ``--labels`` of a plan is a number, not a file."""
    return TableOptions(**table_options(Args(**vars(arguments) | {"labels": ""})))


def _judge_rows(arguments: Args) -> tuple[pd.DataFrame, pd.Series]:
    """The judge's rows of the file, and their items.

    Raises
    ------
    InputError
        Nobody said which rows are the judge's, and people gave some.
    """
    path = local_file(arguments.file)
    options = _options_of(arguments)

    def read(one: TableOptions) -> pd.DataFrame:
        table = with_paths(path, read_table(path), one.stated_columns)
        table, humans, _ = row_checks.stated_rows(path, table, one)
        return table[~humans].reset_index(drop=True)

    def previewed(one: TableOptions) -> pd.DataFrame:
        ids = _item_column(read(one), one.item[0] if one.item else "")
        return pd.DataFrame({"item_id": ids.unique(), "condition": "", "order": ""})

    frame = read(options)
    trees = frame.map(lambda cell: cell.startswith(("[", "{"))).mean()
    nested = bool((trees >= 0.9).any())
    further = replace(options, item=(), human="", judge_rows="", rows=(), values={})
    usual = next((c for c in (*options.item, *_IDS) if c in frame), "")
    if not usual or nested or len(options.item) > 1 or further.set_options():
        frame = _read_rows(frame, options, path)
        items = frame["item_id"]
    else:
        items = _item_column(frame, *options.item)
        names = {"item_id": str(items.name)}
        rows = row_checks.Rows(
            source=path, table=frame, names=names, options=options, read=previewed
        )
        row_checks.check_raters(rows)
        row_checks.check_row_ids(rows)
    return frame, items


def plan_command(arguments: Args) -> int:
    """Plan how many items to label, or draw them.

    Parameters
    ----------
    arguments : Args
        Of the command line.

    Returns
    -------
    int
        0.
    """
    if arguments.half_width is not None:
        frame, items = _judge_rows(arguments) if arguments.file else (pd.DataFrame(), pd.Series())
        rates = _rates(arguments.rates)
        pilot = []
        if arguments.pilot:
            rates = pilot_rates(_pilot(arguments, frame))
            pilot = [f"By the pilot: {', '.join(f'{k} {v:.3g}' for k, v in rates.items())}."]
        n_items = arguments.items or items.nunique()
        if not n_items:
            raise InputError("labels plan: say how many items are judged by --items, or a file.")
        plan = label_plan.labels_needed(
            arguments.half_width, n_items=n_items, price=arguments.price, **rates
        )
        judged = command_word(arguments.file or "my.csv")
        drawn = int(min(plan.labels, n_items))
        console.print_outcome(
            "READY", plan.sentence(), *pilot, *map(str, plan.notes),
            following=[f"judgestats labels plan {judged} --labels {drawn}"],
        )  # fmt: skip
        return 0
    if not arguments.file or not arguments.labels:
        raise InputError(
            "labels plan: say --half-width and --rates for how many labels are needed, or a file "
            "and --labels for which items to label."
        )
    path = Path(arguments.out or "labels.csv")
    check_writable(path)
    check_new(path)
    frame, items = _judge_rows(arguments)
    named, note = _text_names(arguments, frame, items)
    first = ~items.duplicated()
    frame, items = frame[first.to_numpy()], items[first]
    classes = ["all"] * len(items)
    counts = {"all": arguments.labels}
    if arguments.by:
        verdict = _column(frame, arguments.by, "by").replace("", "unread")
        classes = verdict.tolist()
        names, sizes = np.unique(verdict.to_numpy(str), return_counts=True)
        # Without a pilot every class is taken to vary alike: numbers go with the classes' sizes.
        sds = [0.5] * len(names)
        if arguments.pilot:
            seen = _pilot(arguments, frame)
            sds = [seen[n].sd if n in seen else 0.5 for n in names.tolist()]
        spread = label_plan.allocate_labels(
            arguments.labels,
            (sizes / sizes.sum()).tolist(),
            sds,
            available=sizes.tolist(),
            least=label_plan.LEAST_PER_CLASS,
        )
        counts = dict(zip(names.tolist(), spread.tolist(), strict=True))
    elif arguments.labels > len(items):
        raise InputError(f"labels plan: {arguments.labels} labels of {len(items)} items.")
    chosen, chance = label_plan.draw_labels(classes, counts, seed=arguments.seed)
    texts = {c: frame[c].to_numpy()[chosen] for c in named}
    clash = set(texts) & set(OWN_COLUMNS)
    if clash:
        raise InputError(f"labels plan: {', '.join(sorted(clash))} is a column of the labels' own.")
    out = pd.DataFrame(
        {"item_id": items.to_numpy()[chosen], "chance": chance[chosen], **texts}
    ).assign(annotator="", label="")
    write_table(out, path)
    way = "by-verdict" if arguments.by else "random"
    console.print_outcome(
        "READY",
        f"{len(out)} items to label: {path} (drawn {way}; the judge's verdicts are not in it)",
        f"Texts: {', '.join(texts) or 'none'}.",
        *filter(None, [note]),
        following=[f"judgestats labels collect {command_word(path)}"],
    )
    return 0


def _pilot(arguments: Args, frame: pd.DataFrame) -> dict[str, VerdictClass]:
    """What the available labels say of each of the judge's verdicts."""
    if not arguments.by or frame.empty:
        raise InputError(
            "labels plan: --pilot needs the judged file, and --by its column of verdicts."
        )
    items = frame["item_id"] if "item_id" in frame else _item_column(frame, *arguments.item)
    first = ~items.duplicated().to_numpy()
    verdicts = _column(frame, arguments.by, "by")[first].replace("", "unread")
    labels = read_table(Path(arguments.pilot))
    if "label" not in labels:
        raise InputError(f"{arguments.pilot}: the labels need a column label.")
    return pair_classes(
        dict(zip(items[first], verdicts, strict=True)),
        list(zip(_item_column(labels), labels["label"], strict=True)),
        where=arguments.pilot,
        values=word_values(arguments.values),
    )


def _text_names(arguments: Args, frame: pd.DataFrame, items: pd.Series) -> tuple[list[str], str]:
    """The columns of the texts to label, as stated or by their names, and a note on others.

    Raises
    ------
    InputError
        Stated texts differ between the rows of an item: which one is labelled is not known.
    """
    is_ordered = any(folded(c) in ALIASES["order"] for c in frame)
    stated = _options_of(arguments).mapping.items()
    known = {role: c for role, c in stated if role in ALIASES and c in frame}
    names = resolve_columns(arguments.file, frame, known, needs_item=False, needs_verdict=False)
    others = {c for role, c in names.items() if role not in {"item_id", "cluster"}}
    kept, differing = [], []
    for name in arguments.text or text_columns(frame, others):
        several = _column(frame, name, "text").groupby(items.to_numpy(), sort=False).nunique()
        if is_ordered or not (several > 1).any():
            kept.append(name)
        elif arguments.text:
            raise InputError(
                f"labels plan: {int((several > 1).sum())} items have several texts in {name!r} "
                f"(the first: {short(several.index[several > 1][0])}). Name both as the item: "
                f"--item {items.name},{name}."
            )
        else:
            differing.append(name)
    if differing:
        return kept, f"Left out, since an item has several texts: {', '.join(differing)}."
    return kept, "" if kept else "Only ids will be shown. State the texts: --text COLUMN."


def _rates(text: str) -> dict[str, float]:
    known = ("prevalence", "sensitivity", "specificity", "sd", "correlation")
    rates = named_numbers("labels plan: --rates", text, "prevalence=.7,sensitivity=.9")
    if strange := next((name for name in rates if name not in known), ""):
        raise InputError(
            f"labels plan: --rates knows prevalence, sensitivity and specificity, or sd and "
            f"correlation, got {strange!r}."
        )
    return rates


def digest_of(items: Sequence[str]) -> str:
    """Digest of a set of items: a run on the tuning part is known by it."""
    return hashlib.sha256("\n".join(sorted(items)).encode()).hexdigest()[:16]


def split_command(arguments: Args) -> int:
    """Split labels into a part to tune on and one to validate on.

    Parameters
    ----------
    arguments : Args
        ``file``, ``item``, ``cluster``, ``validation`` and ``seed``.

    Returns
    -------
    int
        0.
    """
    path = Path(arguments.file)
    frame = read_table(path)
    items = _item_column(frame, arguments.item)
    question = arguments.cluster or next(
        (str(c) for c in frame if folded(c) in _QUESTIONS and c != items.name), ""
    )
    cluster = _column(frame, question, "cluster") if question else items
    part = label_plan.split_labels(
        len(frame), cluster=cluster.to_numpy(object), validation=arguments.validation,
        seed=arguments.seed,
    )  # fmt: skip
    parts = []
    for name, rows in (("tuning", ~part), ("validation", part)):
        out = path.with_name(f"{path.stem}.{name}.csv")
        if out.exists():
            raise InputError(f"{out} is there already. Move it away first.")
        held = items[rows].unique().tolist()
        write_table(frame[rows].assign(**{PART: f"{name}:{digest_of(held)}"}), out)
        parts.append(f"{name}: {len(held)} items, digest {digest_of(held)}: {out}")
    console.print_outcome(
        "READY",
        *parts,
        f"Kept together: all items of one {question} ({cluster.nunique()})." if question
        else "Split item by item: no column names the question. If items share one, add --cluster.",
        following=[f"judgestats analyze my.csv --labels {command_word(out)}"],
    )  # fmt: skip
    return 0
