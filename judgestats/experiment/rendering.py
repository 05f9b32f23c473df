"""A run's report: rendered beside what MLflow is told, attached when both are done."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from judgestats import warm_kernel
from judgestats.errors import RenderError
from judgestats.experiment import console
from judgestats.experiment.showing import working
from judgestats.tracking.apart import asked
from judgestats.tracking.runs import RunWriter, artifact_place


@contextmanager
def cells_warmed(*, formats: Sequence[str], detail: str = "brief") -> Iterator[Callable[[], None]]:
    """Gives what begins to import what the report's cells need, where there will be a report."""

    def begin() -> None:
        if formats and detail == "brief":
            warm_kernel.warm_up("brief")

    with warm_kernel.warmed():
        yield begin


Attach = Callable[[RunWriter], dict[str, Path | str]]
"""Waits for the report, attaches it to a run, and says where it is.

By format: a local path where the artifacts are local, else the artifact's name; empty where no
report could be rendered, which is said and fails no run: its results are complete.
"""


@contextmanager
def rendering(folder: Path, *, formats: Sequence[str], detail: str = "brief") -> Iterator[Attach]:
    """Begin to render report and figures, most of which other processes do.

    Parameters
    ----------
    folder : Path
        The run's files, already complete.
    formats : sequence of str
        Without any, nothing is rendered.
    detail : {"brief", "full"}

    Yields
    ------
    Attach
    """
    if not formats:
        yield _nothing
        return
    with (
        tempfile.TemporaryDirectory(prefix="judgestats-report-") as scratch,
        ThreadPoolExecutor(1) as beside,
    ):
        made = beside.submit(_render, folder, tuple(formats), Path(scratch), detail)
        yield partial(_attach, made, Path(scratch))


def _nothing(run: RunWriter) -> dict[str, Path | str]:
    del run
    return {}


def _render(
    folder: Path, formats: tuple[str, ...], scratch: Path, detail: str
) -> Mapping[str, Path]:
    from judgestats.reporting.report import render_report

    asyncio.set_event_loop(own := asyncio.new_event_loop())
    try:
        return render_report(folder, to=formats, out_dir=scratch, detail=detail, figures=True)
    finally:
        asyncio.get_event_loop().close()  # Jupyter sets one of its own, and leaves it open
        own.close()


def _attach(
    made: Future[Mapping[str, Path]], scratch: Path, run: RunWriter
) -> dict[str, Path | str]:
    with working("Rendering the report"):
        try:
            paths = made.result()
        except RenderError as error:
            console.tell(
                f"No report was made: {error} The run is complete without it; "
                f"`judgestats report {run.run_id}` tries again.",
                "",
            )
            return {}
    run.artifacts(scratch)
    place = asked(run.store, artifact_place, run.run_id)
    return {
        kind: place / path.name if isinstance(place, Path) else f"{place}/{path.name}"
        for kind, path in paths.items()
    }
