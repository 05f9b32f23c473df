"""Demonstration, runs, and items."""

from __future__ import annotations

import textwrap
from pathlib import Path

from judgestats.analysis.audit import audit
from judgestats.analysis.measures import with_measures
from judgestats.analysis.supplements import supplemented
from judgestats.commands.arguments import Args
from judgestats.data.demo import demo_file, demo_judgments
from judgestats.errors import InputError
from judgestats.files.text import command_word
from judgestats.items import item_sets
from judgestats.items.records import Item, short_repr
from judgestats.runner import display as console
from judgestats.runner.display import announce_progress, finish, show


def demo_command(arguments: Args) -> int:
    """Audit the recorded judgments and print the answer; nothing is written, no judge is asked.

    Parameters
    ----------
    arguments : Args
        ``all``, ``json`` and ``require``.

    Returns
    -------
    int
        0.
    """
    with console.use_output(console.parse_output_options(arguments)):
        frame = demo_judgments()
        with announce_progress("Analysing the recorded judgments"):
            scale = frame.attrs["scale"]
            audited = supplemented(audit(frame, n_resamples=99), frame, level=0.95, scale=scale)
            findings = with_measures(audited, frame)
        results = findings.records(
            {
                "kind": "audit",
                "title": "RewardBench 2, recorded (Composo, MIT)",
                "design": {
                    "items": int(frame["item_id"].nunique()),
                    "clusters": int(frame["cluster"].nunique()),
                    "replicates": int(frame["replicate"].nunique()),
                    "scale": list(scale),
                },
            }
        )
        show(results, first=(_ABOUT, *frame.attrs["understood"]))
        finish(
            results,
            following=(
                "judgestats doctor my.csv",
                "judgestats analyze my.csv",
                "judgestats run temperature",
            ),
        )
    return 0


_ABOUT = (
    "Three GPT-5.4 judges scored four responses to each of 100 questions of RewardBench 2, eight "
    f"times\n(recorded by Composo, MIT; {demo_file().name}). No judge is asked.\n"
)


_KNOWN = {**item_sets.PUBLISHED, **item_sets.STUDY_DATA}
_WITHOUT_RESPONSES = {"bbh", "squad"}


def list_command(arguments: Args) -> int:
    """List the published sets, or the files of one.

    Parameters
    ----------
    arguments : Args
        ``name``, or empty.

    Returns
    -------
    int
        0.
    """
    console.print_result(*(_files_of(arguments.name) if arguments.name else _sets()))
    return 0


def show_command(arguments: Args) -> int:
    """Describe the items of a set or a file.

    Parameters
    ----------
    arguments : Args
        ``name``, ``map`` and ``options``.

    Returns
    -------
    int
        0.
    """
    options = {
        **({"mapping": ",".join(arguments.map)} if arguments.map else {}),
        **item_sets.parse_options(arguments.options),
    }
    console.print_result(*_about(item_sets.load_items(arguments.name, **options)))
    return 0


def _sets() -> list[str]:
    lines = ["Published sets (judgestats items fetch NAME; none comes with judgestats):", ""]
    for name, published in item_sets.PUBLISHED.items():
        files = f"{len(published.files)} file" + "s" * (len(published.files) > 1)
        with_digest = sum(file.sha256 is not None for file in published.files)
        digests = (
            f"{with_digest} with a known digest"
            if with_digest
            else "digest as the server announces it"
        )
        there = f"here: {item_sets.fetch_path(name)}" if item_sets.fetch_path(name).exists() else ""
        lines += [
            f"  {name:<16}{published.about()}; {files}, {digests}",
            f"  {'':<16}{published.page}" + (f"; {there}" if there else ""),
        ]
    lines += ["", "Data of re-examined studies (replicate -P study=NAME -P data=data/NAME):", ""]
    for name, data in item_sets.STUDY_DATA.items():
        lines += [f"  {name:<16}{data.about()}", f"  {'':<16}{data.page}"]
    lines += ["", "Sets of studies that are given, not fetched:", ""]
    for name, entry in item_sets.GIVEN.items():
        lines += textwrap.wrap(
            entry + ".", 96, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18
        )
    lines += ["", "Layouts that a file may have (found out, or -P items=LAYOUT:PATH):", ""]
    lines += [f"  {name:<16}{about}" for name, about in item_sets.sets().items()]
    return lines


def _check_name(name: str) -> None:
    if name in item_sets.GIVEN:
        raise InputError(f"items: {name} cannot be fetched: {item_sets.GIVEN[name]}.")
    if name not in _KNOWN:
        raise InputError(
            f"items: there is no published set {short_repr(name)}. Choose one of "
            f"{', '.join(_KNOWN)}; any other file can be read by its path."
        )


def _files_of(name: str) -> list[str]:
    _check_name(name)
    published = _KNOWN[name]
    lines = [f"{name}: {published.about()}; {published.page}", ""]
    for file in published.files:
        lines += [f"  {file.name}", f"    from    {file.url}"]
        lines += [f"    sha256  {file.sha256 or 'not known; the server announces it, or not'}"]
    if name in item_sets.STUDY_DATA:
        use = f"replicate -P study={name} -P data=PATH"
        use = "study_files=PATH" if item_sets.STUDY_DATA[name].use else use
        return [*lines, "", f"Put by hand: {use}."]
    return [*lines, "", f"Read files put by hand with items={published.layout}:PATH."]


def fetch_command(arguments: Args) -> int:
    """Download a published set and verify it.

    Parameters
    ----------
    arguments : Args
        ``name``, ``out`` and ``overwrite``.

    Returns
    -------
    int
        0.
    """
    console.print_result(*_fetch(arguments))
    return 0


def _fetch(arguments: Args) -> list[str]:
    name = arguments.name
    _check_name(name)
    folder = Path(arguments.out) if arguments.out else Path("data") / name
    got = item_sets.fetch(name, folder, overwrite=arguments.overwrite)
    how = sorted(set(got.verified_by.values()) - {"nothing"})
    by = [f"Verified by: {', '.join(how)}."] if how else []
    if name in item_sets.STUDY_DATA:
        use = (
            item_sets.STUDY_DATA[name].use
            or f"judgestats run replicate --study {name} --data {command_word(got.path)}"
        )
        return [str(got), *by, "", f"Use it:  {use}"]
    usual = item_sets.fetch_path(name)
    word = name if got.path == usual else f"{item_sets.PUBLISHED[name].layout}:{got.path}"
    lines = [str(got), *by, ""]
    if name in _WITHOUT_RESPONSES:
        return [*lines, f"These are questions without responses. Use it:  items={word}"]
    return [*lines, *_about(item_sets.load_items(word)), "", f"Use it:  -P items={word}"]


def _about(items: tuple[Item, ...]) -> list[str]:
    about = item_sets.describe_items(items)
    first = items[0]
    lines = [str(about)]
    winners = [label.winner for item in items for label in item.labels]
    if winners:
        text = ", ".join(f"{w} {winners.count(w)}" for w in ("a", "b", "tie"))
        lines.append(f"Labels by winner: {text}.")
    lines += ["", f"First item, {_short(first.id)}:"]
    lines += [f"  question  {_short(first.question)}"]
    lines += [f"  response  {_short(r.text)}" for r in first.responses[:4]]
    return lines


def _short(text: str) -> str:
    # A file is untrusted: control characters must not reach the terminal.
    plain = "".join(c if c.isprintable() else " " for c in text[:400])
    return textwrap.shorten(plain, width=88, placeholder=" ...") or "(empty)"
