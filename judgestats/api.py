"""What ``import judgestats as js`` offers: whatever holds judgments in, one answer out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pandas as pd

from judgestats.analysis import join_copies, supplemented
from judgestats.analysis.audit import audit as audit_frame
from judgestats.analysis.audit import audit_read
from judgestats.analysis.drift import drift as drift_frames
from judgestats.analysis.drift_tests import with_parameters
from judgestats.analysis.measures import measured_results, with_measures
from judgestats.data.columns import PARSED_COLUMNS
from judgestats.data.readers.frame import passes_and_failures
from judgestats.data.readers.labels import with_stated_words
from judgestats.data.readers.registry import read_judgments as read_table_or_log
from judgestats.errors import InputError, one_of
from judgestats.results import DecisionOptions, Gate, Results, plain, verdicts_of

if TYPE_CHECKING:
    from judgestats.analysis.records import Analysis
    from judgestats.collection.endpoint_card import EndpointCard
    from judgestats.collection.spec import JudgeSpec
    from judgestats.reporting.notebook import Compared, Findings
    from judgestats.reporting.runs import Run

T = TypeVar("T")

_AUDIT_OPTIONS = (
    "duplicates",
    "n_resamples",
    "seed",
    "level",
    "labels_drawn",
    "mix",
    "omega_model",
    "sensitivity",
    "specificity",
    "specs",
)


def read_judgments(data: Any, **options: Any) -> pd.DataFrame:
    """Read judgments from a file, a frame, a list of dicts, or MLflow runs.

    Parameters
    ----------
    data : path, DataFrame, list of dict, or MLflow run id(s)
        A log or table, a pandas or polars frame, or one dict per judgment. Also a run id, several
        run ids as repeats of one another, or an experiment of them (``"experiments:/NAME"``).
    **options
        The options of `judgestats.data.readers.read_judgments`, for example ``mapping``,
        ``item``, ``values``, ``wide``, ``labels``, ``scale``, and ``judge``.

    Returns
    -------
    DataFrame
        The validated frame: ``attrs["understood"]`` says what the columns were interpreted as.

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
    values = options.pop("values", None)
    further = sorted(set(options) - {"judge"})
    if further:
        raise InputError(f"read_judgments: a run of MLflow takes no {further[0]}. Leave it out.")
    from judgestats.tracking.traces import stored_assessments

    frame = passes_and_failures(stored_assessments(runs, **options))
    return with_stated_words(frame, values) if values else frame


read_judgments.__signature__ = inspect.signature(read_table_or_log)  # type: ignore[attr-defined]


def _runs(data: Any) -> list[str]:
    """The runs and experiments of MLflow that some data name; empty where it is something else."""
    from judgestats.tracking.traces import is_stored

    listed = [data] if isinstance(data, str) else data
    if not isinstance(listed, (list, tuple)) or not all(isinstance(r, str) for r in listed):
        return []
    return list(listed) if all(is_stored(r) and not Path(r).exists() for r in listed) else []


def audit(data: Any, **options: Any) -> Findings:
    """Audit the judge of a data set.

    Parameters
    ----------
    data : path, DataFrame, list of dict, or MLflow run id(s)
        As `read_judgments` takes it, or what that returned.
    **options
        The options of `read_judgments`, and the following.

        - ``n_resamples`` (999), ``seed`` (0), and ``level`` (.95) of intervals and tests.
        - ``labels_drawn``, how the labelled items were chosen (``random``, ``stratified``,
          ``by-verdict``, ``convenience``).
        - ``mix``, the categories' shares in the traffic that corrected rates are for
          (``chat=.8,code=.2``).
        - ``omega_model``, whose omega is reported next to the parallel one (``tau-equivalent``,
          ``congeneric``).
        - ``sensitivity`` and ``specificity``, the judge's rates in another study (``137/149``),
          which correct the pass rate where there are no labels.
        - ``duplicates``, the handling of items that repeat another one (``cluster``, ``drop``,
          ``keep``, ``refuse``).
        - ``specs`` (``yes``, ``joint``), each comparison under every declared choice.

    Returns
    -------
    Findings
        Prints as a summary. ``.results`` is a tidy frame, and ``.figures`` draw themselves.

    Examples
    --------
    >>> rows = [{"item": i, "trial": t, "passed": (i + t % 2) % 3 > 0}
    ...         for i in range(12) for t in range(4)]
    >>> found = audit(rows, n_resamples=99)
    >>> found.question  # doctest: +ELLIPSIS
    'verdict = `passed`: pass / fail, true = pass. item = item; ...
    >>> print(found.results["label"][0], found.results["n_items"][0])
    share 12
    """
    from judgestats.reporting.notebook import Findings, MemoryRun

    analysis, frame, records_of = _audited(data, options)
    run = partial(MemoryRun, held=frame, at_level=float(options.get("level", 0.95)))
    return Findings(analysis, lambda: run(records=records_of(None)))


def _audited(
    data: Any, options: Mapping[str, Any]
) -> tuple[Analysis, pd.DataFrame, Callable[[DecisionOptions | None], Results]]:
    """The analysis of data, the frame read, and a function that makes its records."""
    options = dict(options)
    chosen = {k: options.pop(k) for k in _AUDIT_OPTIONS if k in options}
    read = isinstance(data, pd.DataFrame) and set(PARSED_COLUMNS) <= set(data.columns)
    if read and not options:
        frame, analysis = data, audit_frame(data, **chosen)
    else:
        frame = read_judgments(data, **options)
        frame, copies = join_copies(frame, chosen.pop("duplicates", "cluster"))
        analysis = audit_read(frame, notes=frame.attrs["notes"], limits=copies.limits, **chosen)
    understood = frame.attrs.get("understood", [])
    analysis = replace(analysis, question=" ".join([*understood, analysis.question]))

    def records_of(decision: DecisionOptions | None) -> Results:
        level, scale = float(chosen.get("level", 0.95)), frame.attrs.get("scale")
        full = supplemented(analysis, frame, level=level, scale=scale)
        return with_measures(full, frame, decision).records(_facts(data, frame))

    return analysis, frame, records_of


def check(
    data: Any,
    *,
    for_: str = "",
    require: Mapping[str, float | str] | Sequence[str] | str = (),
    judge: str = "",
    at: str | Sequence[str] = (),
    criterion: str = "",
    strict: bool = False,
    allow: str | Sequence[str] = (),
    looks: int = 1,
    tail: Literal["plain", "strict"] = "plain",
    **options: Any,
) -> Gate:
    """May this judge be used? The gate for CI, decided on confidence limits.

    Parameters
    ----------
    data : path, DataFrame, list of dict, run, Findings, or MLflow run id
        A file or frame is read and analysed as `audit` does.
    for_ : {"", "gate", "estimate", "compare", "rank", "score"}
        Purpose, which has default requirements; empty: from the data.
    require : mapping, sequence of str, or str
        Requirements: ``{"tpr": .9}`` or ``"tpr=.9,tnr=.8"``. Without `for_` they are the whole set.
    judge : str
        Decide on this judge alone, as one verdict.
    at : str or sequence of str
        Only these conditions: ``temperature=0.7``, a judge, or a whole condition.
    criterion : str
        Only this criterion.
    strict : bool
        Whether USE WITH CARE fails.
    allow : str or sequence of str
        ``"cannot-tell"``: what cannot be determined passes.
    looks : int
        Planned looks at growing data, over which error rates are shared.
    tail : {"plain", "strict"}
        ``strict`` decides the SEM and ICC(1,1) by limits that allow for far replies not seen.
    **options
        As `audit` takes them, ``labels`` among them.

    Returns
    -------
    Gate
        With ``verdicts``, ``exit_code`` (0 pass, 1 fail, 3 cannot tell) and ``passed``.

    Raises
    ------
    InputError
        A requirement or a name is wrong, or the data cannot be read.

    Examples
    --------
    >>> rows = [{"item": i, "repeat": r, "score": 2 + i % 7 + (i % 5 == r)}
    ...         for i in range(35) for r in (0, 1)]
    >>> check(rows, require={"icc_1_1": .8}, n_resamples=99).passed
    True
    """
    if isinstance(require, Mapping):
        require = [k if v is None else f"{k}={v}" for k, v in require.items()]
    decision = DecisionOptions(
        purpose=for_,
        required=(require,) if isinstance(require, str) else tuple(require),
        looks=looks,
        judge=judge,
        conditions=(at,) if isinstance(at, str) else tuple(at),
        criterion=criterion,
        labels_drawn=str(options.get("labels_drawn", "")),
        tail=tail,
    )
    one_of("check", "tail", tail, ("plain", "strict"))
    results = _results_to_check(data, options, decision)
    results = replace(results, verdicts=verdicts_of(results, decision))
    allowed = (allow,) if isinstance(allow, str) else tuple(allow)
    if unknown := [word for word in allowed if word and word != "cannot-tell"]:
        raise InputError(f"check: allow takes cannot-tell, got {unknown[0]!r}.")
    return Gate(results=results, strict=strict, allow_cannot_tell="cannot-tell" in allowed)


def _results_to_check(data: Any, options: dict[str, Any], decision: DecisionOptions) -> Results:
    """Results of a run, or of the audit of a file or frame."""
    if hasattr(data, "run") and hasattr(data.run, "records"):
        return data.run.records  # type: ignore[no-any-return]
    if not isinstance(data, (str, Path)) or not is_run(str(data)):
        return _audited(data, options)[2](decision)
    from judgestats.tracking.runs import results_of_run, run_judgments

    results = results_of_run(str(data))
    if not results.facts.get("complete", True):
        raise InputError(
            f"check: run {data} stopped early: it holds no complete set of judgments. Repeat its "
            "command to complete it, and give the new run."
        )
    if results.measures or results.kind != "audit":
        return results
    try:
        frame = run_judgments(str(data))
    except InputError:  # an audit of a stream keeps none
        return measured_results(results, None)
    return measured_results(results, frame)


def is_run(named: str) -> bool:
    """Whether a folder or file of a run, or the id of one, is named rather than judgments."""
    path = Path(named)
    if path.exists():
        return path.name == "results.json" or (path / "results.json").is_file()
    return not path.suffix and ":" not in named and len(path.parts) == 1


def _facts(data: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """What a run says next to its results: who judged, what, on which scale."""
    judges = list(frame["judge"].unique())
    return {
        "kind": "audit",
        "title": f"Audit of {_name(data, 'a frame')}",
        "simulated": False,
        "judges": [{"name": j, "model": j, "simulated": False} for j in judges],
        "design": {
            "experiment": "audit",
            "conditions": list(frame["condition"].unique()),
            "items": int(frame["item_id"].nunique()),
            "clusters": int(frame["cluster"].nunique()),
            "replicates": int(frame["replicate"].nunique()),
            "scale": plain(frame.attrs.get("scale")),
        },
    }


def _name(data: Any, otherwise: str) -> str:
    if run_id := getattr(data, "run_id", ""):
        return str(run_id)[:8]
    if isinstance(data, (list, tuple)) and _runs(data):
        return ", ".join(r[:8] for r in data)
    return Path(data).name if isinstance(data, (str, Path)) else otherwise


def compare(*data: Any, n_resamples: int = 999, seed: int = 0, **options: Any) -> Compared:
    """What differs between several runs, files or frames, each compared with the first?

    Parameters
    ----------
    *data : path, DataFrame, list of dict, run, or what `run` and `audit` returned
        At least two; runs (ids or folders) of judgestats, or as `read_judgments` takes them.
    n_resamples, seed : int
        Of permutations and bootstraps.
    **options
        As `read_judgments` takes them, for everything that is read.

    Returns
    -------
    Compared
        Runs are tested on the items that they share, where scales and texts agree.

    Raises
    ------
    InputError
        There is only one; or one cannot be read.

    Examples
    --------
    >>> rows = [{"item": i, "trial": t, "score": 1 + (i + t * (i % 3)) % 7}
    ...         for i in range(12) for t in range(3)]
    >>> compare(rows, rows, n_resamples=99).results["run"].unique().tolist()
    ['data 2']
    """
    from judgestats.reporting.notebook import Compared
    from judgestats.reporting.sections.compare import pairs

    if len(data) < 2:
        raise InputError("compare: give at least two runs, files or frames to compare.")
    runs = [_as_run(one, n_resamples=n_resamples, seed=seed, options=options) for one in data]
    names = [_name(one, f"data {i}") for i, one in enumerate(data, start=1)]
    if len(set(names)) < len(names):
        names = [f"{name} ({i})" for i, name in enumerate(names, start=1)]
    return Compared(names, runs, pairs(runs, n_resamples=n_resamples, seed=seed))


def _as_run(data: Any, *, n_resamples: int, seed: int, options: dict[str, Any]) -> Run:
    from judgestats.reporting.notebook import Findings

    if isinstance(data, Findings):
        return data.run
    if is_own_run(data):
        from judgestats.reporting.runs import load_run

        return load_run(data)
    return audit(data, n_resamples=n_resamples, seed=seed, **options).run


def drift(
    first: Any,
    second: Any,
    *,
    baseline: Any = None,
    values: Mapping[str, str] | None = None,
    **options: Any,
) -> Findings:
    """Has a judge changed between two runs, files or frames?

    Parameters
    ----------
    first, second : path, DataFrame, list of dict, or run
        As `read_judgments` takes them, or runs (ids or folders) of judgestats.
    baseline : the same, optional
        The first run done again with nothing changed.
    values : mapping of word to meaning, optional
        As `read_judgments` takes them, for everything that is read.
    **options
        As `judgestats.analysis.drift.drift` takes them, or `read_judgments` for all files and
        frames.

    Returns
    -------
    Findings
    """
    from judgestats.reporting.notebook import Findings, MemoryRun

    known = inspect.signature(read_table_or_log).parameters
    words = {k: options.pop(k) for k in list(options) if k in known}
    words |= {"values": values} if values else {}
    again = None if baseline is None else _load_judgments(baseline, words)
    before, after = _load_judgments(first, words), _load_judgments(second, words)
    analysis = drift_frames(before, after, baseline=again, **options)
    analysis = with_parameters(analysis, _recorded(first), _recorded(second))
    records = analysis.records({"kind": "drift", **_simulated(first, second, baseline)})
    level = float(options.get("level", 0.95))
    return Findings(analysis, MemoryRun(records=records, held=after.iloc[:0], at_level=level))


def _load_judgments(data: Any, words: dict[str, Any]) -> pd.DataFrame:
    from judgestats.reporting.notebook import Findings

    if isinstance(data, Findings):
        return data.run.judgments
    if is_own_run(data):
        from judgestats.tracking.runs import run_judgments

        return run_judgments(str(data))
    return read_judgments(data, **words)


def _simulated(*given: Any) -> dict[str, Any]:
    """Facts of what compares runs of which one was simulated; files and frames do not say."""
    from judgestats.tracking.runs import simulated_in

    return simulated_in(facts for facts in map(_recorded, given) if facts)


def _recorded(data: Any) -> Mapping[str, Any]:
    """What a run says next to its results; nothing of a file or frame."""
    from judgestats.reporting.notebook import Findings
    from judgestats.tracking.runs import facts_of_run

    if isinstance(data, Findings):
        return data.run.facts
    return facts_of_run(str(data)) if is_own_run(data) else {}


def is_own_run(data: Any) -> bool:
    """Whether a run of judgestats is named: an id, or a folder with a run's files."""
    if not isinstance(data, (str, Path)):
        return False
    from judgestats.tracking.traces import is_run_id

    folder = Path(data)
    inside = ("results.json", "artifacts/results.json")
    return is_run_id(str(data)) or any((folder / name).is_file() for name in inside)


def endpoint(
    model: str | JudgeSpec, *, base_url: str = "", prices: str | Path = "", timeout: float = 60.0
) -> EndpointCard:
    """What an endpoint honours, ignores and refuses, for a cent; also inside an event loop.

    Parameters
    ----------
    model : str or JudgeSpec
        As ``judges=`` names it: ``"gpt-4o@http://host/v1"``, ``"sim-typical"``; or one of
        `judgestats.collection.spec.read_judges`.
    base_url : str
        The endpoint, where the model does not name it.
    prices : path, optional
        A table of prices.
    timeout : float
        Seconds for one call.

    Returns
    -------
    EndpointCard

    Raises
    ------
    InputError, JudgeError
        An unusable name or file; an endpoint that does not answer.
    """
    from judgestats.collection.endpoint_card import examined
    from judgestats.collection.prices import load_prices
    from judgestats.collection.spec import parse_judge
    from judgestats.simulated.app import SimulatedServer

    spec = parse_judge(model, base_url=base_url or None) if isinstance(model, str) else model
    if spec.function is not None:
        raise InputError(f"endpoint: {spec.name} is a function, and has no endpoint to examine.")
    table = load_prices(prices) if prices else None
    spec = spec.launch()
    app = SimulatedServer() if spec.in_process else None
    return _outside_loops(
        lambda: asyncio.run(examined(spec, prices=table, timeout_s=timeout, app=app))
    )


def run(experiment: str, **parameters: Any) -> Findings | None:
    """Run an experiment, as ``judgestats run`` does; also inside a running event loop (Jupyter).

    Parameters
    ----------
    experiment : str
        Its name, as ``"temperature"``.
    **parameters
        Its parameters, as ``judges="sim-typical"``; lists are joined by commas.

    Returns
    -------
    Findings or None
        None after a dry run, which prints the plan and the price.

    Raises
    ------
    InputError
        There is no such experiment or parameter.
    """
    from judgestats.reporting.notebook import Findings
    from judgestats.reporting.runs import load_run
    from judgestats.runner.design import ReplicationDesign, load_design

    design = load_design(experiment)
    given = {k: _as_word(v) for k, v in parameters.items()}
    if isinstance(design, ReplicationDesign):
        from judgestats.runner.run import run_replication

        shown = _outside_loops(lambda: run_replication(design, given))
        place = shown.run_id
        return Findings(
            shown.analysis, lambda: load_run(place), run_id=place, reports=shown.reports
        )
    from judgestats.runner.run import run_experiment

    made = _outside_loops(lambda: run_experiment(design, given))
    if made is None:
        return None
    run_id = made.run_id
    return Findings(made.analysis, lambda: load_run(run_id), run_id=run_id, reports=made.reports)


def _as_word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _outside_loops(work: Callable[[], T]) -> T:
    """Do some work where no event loop runs: in a separate thread under Jupyter."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()
