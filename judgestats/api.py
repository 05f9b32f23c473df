"""What ``import judgestats as js`` offers: whatever holds judgments in, one answer out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from judgestats.analysis.audit import audit as audit_frame
from judgestats.analysis.drift import drift as drift_frames
from judgestats.analysis.outcome import Analysis
from judgestats.errors import InputError
from judgestats.judgments.columns import PARSED_COLUMNS
from judgestats.judgments.readers.grades import passes_and_failures
from judgestats.judgments.readers.registry import read_judgments as read_table_or_log

if TYPE_CHECKING:
    from judgestats.judges.endpoint_card import EndpointCard

__all__ = ["audit", "drift", "endpoint", "read_judgments", "run"]

T = TypeVar("T")

_AUDIT_OPTIONS = ("n_resamples", "seed", "level", "labels_drawn")


def read_judgments(data: Any, **options: Any) -> pd.DataFrame:
    """Read judgments from a file, a frame, a list of dicts, or MLflow runs.

    Parameters
    ----------
    data : path, DataFrame, list of dict, or MLflow run id(s)
        A log or table; a pandas or polars frame; one dict a judgment; a run id, or several as
        repetitions of one another.
    **options
        As `judgestats.judgments.readers.read_judgments` takes them: ``mapping``, ``item``,
        ``factors``, ``kind``, ``passes``, ``wide``, ``labels``, ``scale``, ``judge`` ...

    Returns
    -------
    DataFrame
        The validated frame: ``attrs["understood"]`` says what the columns were taken for.

    Raises
    ------
    InputError
        What is missing or cannot be used, and how to name it.

    Examples
    --------
    >>> rows = [{"Item ID": "a", "passed": True}, {"Item ID": "a", "passed": False}]
    >>> read_judgments(rows)["choice"].tolist()
    ['pass', 'fail']
    """
    runs = _runs(data)
    if not runs:
        return read_table_or_log(data, **options)
    further = sorted(set(options) - {"judge"})
    if further:
        raise InputError(f"read_judgments: a run of MLflow takes no {further[0]}. Leave it out.")
    from judgestats.tracking.assessments import run_assessments

    frames = [run_assessments(r, **options) for r in runs]
    return passes_and_failures(frames[0] if len(frames) == 1 else _as_repetitions(frames))


read_judgments.__signature__ = inspect.signature(read_table_or_log)  # type: ignore[attr-defined]


def _runs(data: Any) -> list[str]:
    """The MLflow run ids that some data are; empty where they are something else."""
    from judgestats.tracking.assessments import is_run_id

    listed = [data] if isinstance(data, str) else data
    if not isinstance(listed, (list, tuple)) or not listed:
        return []
    if not all(isinstance(r, str) and is_run_id(r) and not Path(r).exists() for r in listed):
        return []
    return list(listed)


def _as_repetitions(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Several evaluations of the same answers, each repetition of the others."""
    out = pd.concat(frames, ignore_index=True)
    key = ["condition", "item_id", "order", "stage"]
    out["replicate"] = out.groupby(key, sort=False).cumcount()
    notes = list(dict.fromkeys(n for f in frames for n in f.attrs["notes"]))
    notes.append(f"{len(frames)} runs were read as repetitions of one another.")
    out.attrs = {**frames[0].attrs, "notes": notes}
    return out


def audit(data: Any, **options: Any) -> Analysis:
    """Can this judge be trusted? The audit of whatever holds judgments.

    Parameters
    ----------
    data : path, DataFrame, list of dict, or MLflow run id(s)
        As `read_judgments` takes it, or what that returned.
    **options
        ``n_resamples`` (999), ``seed`` (0) and ``level`` (.95) of intervals and tests;
        ``labels_drawn``, how the labelled items were chosen (``random``, ``stratified``,
        ``by-verdict``, ``convenience``); all others as `read_judgments` takes them.

    Returns
    -------
    Analysis
        Prints as a summary: what was understood first, one plain sentence last.

    Examples
    --------
    >>> rows = [{"item": i, "trial": t, "passed": (i + t % 2) % 3 > 0}
    ...         for i in range(12) for t in range(4)]
    >>> print(audit(rows, n_resamples=99).question)  # doctest: +ELLIPSIS
    verdict = `passed`: pass / fail, true = pass. item = item; ...
    """
    chosen = {k: options.pop(k) for k in _AUDIT_OPTIONS if k in options}
    read = isinstance(data, pd.DataFrame) and set(PARSED_COLUMNS) <= set(data.columns)
    frame = data if read and not options else read_judgments(data, **options)
    found = audit_frame(frame, **chosen)
    understood = frame.attrs.get("understood", [])
    return replace(found, question=" ".join([*understood, found.question]))


def drift(first: Any, second: Any, *, baseline: Any = None, **options: Any) -> Analysis:
    """Has a judge changed between two runs, files or frames?

    Parameters
    ----------
    first, second : path, DataFrame, list of dict, or run
        As `read_judgments` takes them, or runs (ids or folders) of judgestats.
    baseline : the same, optional
        The first run done again with nothing changed.
    **options
        As `judgestats.analysis.drift.drift` takes them.

    Returns
    -------
    Analysis
    """
    again = None if baseline is None else _judged(baseline)
    return drift_frames(_judged(first), _judged(second), baseline=again, **options)


def _judged(data: Any) -> pd.DataFrame:
    if isinstance(data, (str, Path)) and (_runs(str(data)) or Path(data).is_dir()):
        from judgestats.tracking.fetch import run_judgments

        return run_judgments(str(data))
    return read_judgments(data)


def endpoint(model: str, *, base_url: str = "", prices: str | Path = "") -> EndpointCard:
    """What an endpoint honours, ignores and refuses, for a cent; also inside an event loop.

    Parameters
    ----------
    model : str
        As ``judges=`` names it: ``"gpt-4o@http://host/v1"``, ``"sim-typical"``.
    base_url : str
        The endpoint, where the model does not name it.
    prices : path, optional
        A table of prices.

    Returns
    -------
    EndpointCard

    Raises
    ------
    InputError, JudgeError
        An unusable name or file; an endpoint that does not answer.
    """
    from judgestats.judges.endpoint_card import examined
    from judgestats.judges.prices import load_prices
    from judgestats.judges.simulated.app import SimulatedServer
    from judgestats.judges.spec import parse_judge

    spec = parse_judge(model, base_url=base_url or None)
    table = load_prices(prices) if prices else None
    app = SimulatedServer() if spec.in_process else None
    return _outside_loops(lambda: asyncio.run(examined(spec, prices=table, app=app)))


def run(experiment: str, **parameters: Any) -> Any:
    """Run an experiment, as ``judgestats run`` does; also inside a running event loop (Jupyter).

    Parameters
    ----------
    experiment : str
        Its name, as ``"temperature"``.
    **parameters
        Its parameters, as ``judges="sim-typical"``; lists are joined by commas.

    Returns
    -------
    object
        What the experiment returns.

    Raises
    ------
    InputError
        There is no such experiment or parameter.
    """
    from judgestats.experiment.design import ReplicationDesign, load_design

    design = load_design(experiment)
    given = {k: _as_word(v) for k, v in parameters.items()}
    if isinstance(design, ReplicationDesign):
        from judgestats.experiment.replication import run_replication

        return _outside_loops(lambda: run_replication(design, given))
    from judgestats.experiment.run import run_experiment

    return _outside_loops(lambda: run_experiment(design, given))


def _as_word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _outside_loops(work: Callable[[], T]) -> T:
    """Do some work where no event loop runs: in a thread of its own under Jupyter."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()
