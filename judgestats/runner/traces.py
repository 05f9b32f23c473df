"""Traces and report of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.collection.ask import CollectionRequest
from judgestats.data.columns import Task
from judgestats.data.parse import read_judgment, reader_of
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError, RenderError
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Unit, prompted_in
from judgestats.runner import display as console
from judgestats.runner.display import announce_progress
from judgestats.tracking.runs import RunWriter, artifact_path
from judgestats.tracking.traces import Call, TraceWriter

if TYPE_CHECKING:
    from judgestats.reporting.renderer import Publish
    from judgestats.tracking.store import Store


class CallTraces:
    """Heeds every call that a collection finishes, and writes it as a trace.

    Parameters
    ----------
    tasks : iterable of Task
        The plan; what follows from answers is learned on the way.
    protocols, units : mapping
        Who reads the replies of a condition, and what is judged; both may grow.
    store : Store
    run_id : str
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        protocols: Mapping[str, JudgingProtocol],
        units: Mapping[tuple[str, str], Unit],
        store: Store,
        run_id: str,
    ) -> None:
        self._tasks = {task.key: task for task in tasks}
        self._protocols, self._units = protocols, units
        self._seen: set[tuple[Any, ...]] = set()
        self._writer = TraceWriter(store, run_id, self._call)

    def heeding(self, ask: CollectionRequest) -> CollectionRequest:
        """The same collection, whose finished calls are heeded."""
        following = ask.follow_up

        def follow_up(row: Mapping[str, Any]) -> Iterable[Task]:
            self.add(row)
            tasks = list(following(row)) if following is not None else []  # type: ignore[arg-type]
            self._tasks.update({task.key: task for task in tasks})
            return tasks

        return replace(ask, follow_up=follow_up)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a call that is done, once."""
        key = _key(row)
        if key in self._tasks and key not in self._seen:
            self._seen.add(key)
            self._writer.add(row)

    def close(self) -> None:
        """Write what waits, and say where it is, or why it is not there."""
        with announce_progress("Writing traces"):
            self._writer.close()
        if self._writer.fault:
            console.print_status(
                f"Traces: {self._writer.written} written, then {self._writer.fault}."
            )
        else:
            console.print_status(
                f"Traces: {self._writer.written}, under Traces on the run's MLflow page."
            )

    def _call(self, row: Mapping[str, Any]) -> Call:
        task = self._tasks[_key(row)]
        verdict = read_judgment(
            reader_of(self._protocols[row["condition"]], row["stage"]),
            self._units[row["item_id"], row["order"]],
            transport=row["transport"],
            mode=row["reply_mode"],
            text=row["raw_text"],
            finish_reason=row["finish_reason"],
            failure=row["failure"],
        )
        value: float | str | None = verdict.choice or None
        if verdict.score is not None and math.isfinite(verdict.score):
            value = float(verdict.score)
        counts = {"input_tokens": row["tokens_in"], "output_tokens": row["tokens_out"]}
        return Call(
            key=tuple(map(str, _key(row))),
            judge=row["judge"],
            condition=row["condition"],
            model=row["model_reported"],
            messages=prompted_in(ReplyMode(row["reply_mode"]), task.build).messages,
            reply=row["raw_text"],
            value=value,
            rationale=verdict.explanation,
            status=verdict.status.value,
            reason=verdict.reason,
            tokens={k: int(v) for k, v in counts.items() if _is_finite(v)},
            asked_at=row["asked_at"],
            latency_s=float(row["latency_s"]) if _is_finite(row["latency_s"]) else 0.0,
        )


def _is_finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["condition"], row["item_id"], row["order"], row["stage"], row["replicate"])


Attach = Callable[[RunWriter], dict[str, Path | str]]
"""Waits for the report, attaches it to a run, and says where it is.

By format: a local path where the artifacts are local, else the artifact's name; empty where no
report could be rendered, which is reported and fails no run: its results are complete.
"""


@contextmanager
def rendering(
    folder: Path, *, formats: Sequence[str], detail: str = "brief", texts: bool = True
) -> Iterator[Attach]:
    """Write the interactive page, run the report's cells; pandoc and typst work on meanwhile.

    Parameters
    ----------
    folder : Path
        The run's files, already complete.
    formats : sequence of str
        Without any, nothing is rendered.
    detail : {"brief", "full"}
    texts : bool
        Whether the interactive page holds texts of items and replies.

    Yields
    ------
    Attach
    """
    if not formats:
        yield _nothing
        return
    write_explorer(folder, texts=texts)
    from judgestats.reporting.renderer import begin_report

    with (
        scratch_folder("report") as scratch,
        ExitStack() as stack,
    ):
        publish: Publish | RenderError | OSError
        try:
            with announce_progress("Rendering the report"):
                publish = stack.enter_context(
                    begin_report(folder, to=formats, out_dir=scratch, detail=detail, figures=True)
                )
        except (RenderError, OSError) as error:
            publish = error
        yield partial(_attach, publish, Path(scratch))


def report_code(formats: Sequence[str], reports: Mapping[str, Path | str]) -> int:
    """5 where a report was asked for and none was made, else 0."""
    return 5 if formats and not reports else 0


def write_explorer(folder: Path, *, texts: bool = True) -> None:
    """Write the interactive page of a run into its folder, where it holds judgments."""
    from judgestats.reporting.explorer import run_page, write_page
    from judgestats.reporting.runs import load_run

    run = load_run(folder)
    if run.finals.empty:
        return
    try:
        write_page(run_page(run, keep_texts=texts), folder / "explore.html")
    except InputError as error:
        console.print_status(f"No interactive page was made: {error}")


def _nothing(run: RunWriter) -> dict[str, Path | str]:
    del run
    return {}


def _attach(
    publish: Publish | RenderError | OSError, scratch: Path, run: RunWriter
) -> dict[str, Path | str]:
    with announce_progress("Rendering the report"):
        try:
            if isinstance(publish, Exception):
                raise publish
            paths = publish()
        except (RenderError, OSError) as error:
            reason = " ".join(str(error).split())
            run.tags({"report": f"failed: {reason}"})
            console.print_status(
                f"The run is complete ({run.run_id}). The report failed: {reason} Retry with "
                f"judgestats report {run.run_id}.",
                "",
            )
            return {}
    run.artifacts(scratch)
    place = artifact_path(run.store, run.run_id)
    return {
        kind: place / path.name if isinstance(place, Path) else f"{place}/{path.name}"
        for kind, path in paths.items()
    }
