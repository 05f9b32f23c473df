"""How results reach the terminal: a screen, all of it (``--full``), or JSON for programs."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.errors import printable
from judgestats.experiment import console
from judgestats.results import Results, to_plain
from judgestats.results.brief import Brief, brief_of
from judgestats.results.full_text import full_text
from judgestats.results.screen import HEIGHT, WIDTH, Lines, framed, next_line, screen_of
from judgestats.results.thresholds import read_thresholds
from judgestats.results.values import plain
from judgestats.spelling import as_typed
from judgestats.terminal import can_show, emit, is_terminal

if TYPE_CHECKING:
    from judgestats.tracking.store import Place

_STYLES = {"bold": "1", "dim": "2", "good": "32", "bad": "31"}
_LATE_S = 2.0
"""Seconds after which one is told what is being done."""


class Links:
    """Where a run's things are, for what is printed last.

    Parameters
    ----------
    run_id : str
    store : Place
    conditions : sequence of str
        Ids of the child runs.
    reports : mapping of format to path
    files : sequence of str
        Further files, as they are to be named.
    """

    def __init__(
        self,
        run_id: str,
        store: Place,
        *,
        conditions: Sequence[str] = (),
        reports: Mapping[str, Path | str] | None = None,
        files: Sequence[str] = (),
    ) -> None:
        self.run_id, self.store = run_id, store
        self.conditions, self.reports = tuple(conditions), dict(reports or {})
        self.files = tuple(files)

    def full(self) -> list[str]:
        """All of them, one a line."""
        return [
            *console.store_lines(
                run_id=self.run_id,
                experiment_id=self.store.experiment_id,
                experiment_name=self.store.experiment_name,
                uri=self.store.uri,
                conditions=self.conditions,
                reported=bool(self.reports),
            ),
            *(f"Report ({kind}): {path}" for kind, path in self.reports.items()),
            *(["Files:", *(f"  {name}" for name in self.files)] if self.files else []),
        ]

    def short(self) -> list[str]:
        """The commands and the page that come next."""
        command = console.show_command(self.run_id)
        if self.store.uri.startswith("http"):  # reports and files are on the run's page
            base, experiment = self.store.uri.rstrip("/"), self.store.experiment_id
            return [command, console.run_page(base, experiment, self.run_id)]
        beside = [*_paths(self.reports), *map(_from_here, self.files[:1])]
        return [command, console.ui_command(self.store.uri), *beside]


def _from_here(path: Path | str) -> str:
    """A path, relative where it lies below the current folder."""
    whole = Path(path).resolve() if "://" not in str(path) else None
    if whole is not None and whole.is_relative_to(Path.cwd()):
        return str(whole.relative_to(Path.cwd()))
    return str(path)


def _paths(reports: Mapping[str, Path | str]) -> list[str]:
    """The first report, seen from here, and which others lie beside it."""
    if not reports:
        return []
    first, *others = reports.values()
    shown = _from_here(first)
    beside = [Path(str(path)).suffix for path in others]
    return [f"{shown} (and {', '.join(beside)})" if beside else shown]


def show(
    results: Results,
    *,
    first: Sequence[str] = (),
    more: str = "",
    following: Sequence[str] = (),
) -> None:
    """Print what was found, once it is recorded.

    Parameters
    ----------
    results : Results
    first : sequence of str
        Lines that go before everything where everything is shown.
    more : str
        The command that shows what a screen cuts.
    following : sequence of str
        What `finish` will be given, where that is known and all: the screen leaves room for it.
    """
    chosen = console.shown_as()
    thresholds = read_thresholds(chosen.least, chosen.most, [results])
    if chosen.form == "full":
        console.say(*first, full_text(results))
    elif chosen.form == "screen":
        closing = len(next_line(following, _size()[0])) if following else 2
        brief = brief_of(results, thresholds=thresholds)
        show_brief(brief, more=more or "--full shows all", closing=closing)


def show_brief(brief: Brief, *, more: str, closing: int = 2) -> None:
    """Print an abstract as a screen."""
    width, height = _size()
    _write(screen_of(brief, width=width, height=height, more=more, closing=closing))


def show_framed(brief: Brief, body: Lines, *, following: Sequence[str]) -> None:
    """Print lines in the frame of a screen: what was judged above, MIND and NEXT below.

    Parameters
    ----------
    brief : Brief
    body : list of list of Span
        Printed whole.
    following : sequence of str
        Commands that come next.
    """
    width = _size()[0]
    _write([*framed(brief, body, width=width), *next_line(following, width)])


def finish(
    results: Results | None, links: Links | None = None, *, following: Sequence[str] = ()
) -> None:
    """Print where things are and what comes next; or, for programs, the one JSON document.

    Parameters
    ----------
    results : Results or None
    links : Links, optional
        Where nothing was logged there are none.
    following : sequence of str
        Commands that come next.
    """
    chosen = console.shown_as()
    if chosen.form == "json":
        if results is not None:
            _json(results, links)
        return
    if chosen.form == "full":
        after = links.full() if links else ["Next:", *(f"  {part}" for part in following)]
        console.say(*(after if links or following else ()))
        return
    parts = [*(links.short() if links else ()), *following]
    if links is not None and results is not None and results.all_simulated:
        parts.append(as_typed("judges=gpt-4o-mini asks a real judge"))
    if parts:
        _write(next_line(parts, _size()[0]))


def _json(results: Results, links: Links | None) -> None:
    chosen = console.shown_as()
    thresholds = read_thresholds(chosen.least, chosen.most, [results])
    document: dict[str, Any] = {
        "brief": plain(brief_of(results, thresholds=thresholds)),
        "results": to_plain(results),
    }
    if links is not None:
        document["run_id"] = links.run_id
        document["reports"] = {kind: str(path) for kind, path in links.reports.items()}
    write_json(document)


def write_json(document: Mapping[str, Any]) -> None:
    """The one document of ``--json``; NaN is null."""
    values = plain(document)
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    if not can_show(text):
        text = json.dumps(values, indent=1, allow_nan=False)
    emit(text + "\n")


def _size() -> tuple[int, int]:
    """Columns and lines of the screen; what is piped is as wide as COLUMNS says, or may be."""
    if not is_terminal() and not os.environ.get("COLUMNS"):
        return WIDTH, HEIGHT
    return min(WIDTH, shutil.get_terminal_size((WIDTH, HEIGHT)).columns), HEIGHT


def _write(lines: Lines) -> None:
    colour = (
        is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )
    out = []
    for line in lines:
        text = ""
        for span in line:
            own = printable(span.text)
            styled = colour and span.style and own.strip()
            text += f"\x1b[{_STYLES[span.style]}m{own}\x1b[0m" if styled else own
        out.append(text if colour else text.rstrip())
    emit("\n".join(out) + "\n")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what is being done, where it takes more than two seconds.

    Parameters
    ----------
    what : str
        ``Analysing 4,800 judgments``.
    """

    def say() -> None:
        emit(f"{printable(what, one_line=True)} ...\n", error=True)

    timer = threading.Timer(_LATE_S, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
