"""From a run back to its files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.schema import read_artifact, validate_parsed
from judgestats.deadlines import scratch_folder
from judgestats.deprecated import current_parameters
from judgestats.errors import InputError, nearest
from judgestats.files.remote import refuse_remote
from judgestats.files.tables import read_csv
from judgestats.results import Results, read_results
from judgestats.results.files import read_values
from judgestats.tracking.store import Store, open_store, store_faults


def run_folder(run: str, scratch: Path) -> tuple[Path, str]:
    """The files of a run as a local folder, and the document that reports them.

    Parameters
    ----------
    run : str
        An MLflow run id, or a folder with a run's files: the artifacts', or MLflow's of the run.
    scratch : Path
        Where files are put that are not local.

    Returns
    -------
    folder : Path
    document : str
        ``experiment`` or ``audit``.

    Raises
    ------
    InputError
        There is no such run, or it was not made by judgestats.
    """
    run = whole_run(run)
    folder = Path(run)
    if (folder / "artifacts" / "results.json").is_file():
        folder /= "artifacts"
    if not (folder / "results.json").is_file():
        if folder.is_dir():
            raise InputError(f"{run}: the folder holds no results.json of a judgestats run.")
        folder = _download(run, scratch)
    # a run of 0.1.0 is found too: its judgments are read
    values = read_values(folder / "results.json")
    kind = values.get("kind", "experiment") if isinstance(values, dict) else "experiment"
    return folder, str(kind)


@contextmanager
def run_data(run: str) -> Iterator[tuple[Path, Path]]:
    """A run's files, and its data among them, for as long as they are read."""
    with scratch_folder() as scratch:
        folder, _ = run_folder(run, Path(scratch))
        yield folder, folder / "data"


def run_judgments(run: str) -> pd.DataFrame:
    """The parsed judgments of a run.

    Parameters
    ----------
    run : str
        An MLflow run id, or a run's folder.

    Returns
    -------
    DataFrame
    """
    with run_data(run) as (folder, data):
        file = data / "judgments.parquet"
        if not file.is_file():
            raise InputError(f"{run}: the run holds no data/judgments.parquet.")
        return validate_parsed(
            read_artifact(folder, "judgments"), what=f"judgments of run {run}", is_run=True
        )


def facts_of_run(run: str) -> dict[str, Any]:
    """What a run says next to its results, of 0.1.0 too.

    Parameters
    ----------
    run : str
        An MLflow run id, or a run's folder.

    Returns
    -------
    dict
    """
    with run_data(run) as (folder, _):
        values = read_values(folder / "results.json")
    return dict(values.get("facts") or values)  # 0.1.0 kept them at the top


def simulated_in(runs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Facts of what compares some runs: that judges were simulated, and who judged.

    Examples
    --------
    >>> asked = [{"name": "sim-typical", "model": "sim-typical", "simulated": True}]
    >>> simulated_in([{"simulated": True, "judges": asked}] * 2)["judges"] == asked
    True
    >>> simulated_in([{"simulated": False}])
    {}
    """
    runs = list(runs)
    if not any(facts.get("simulated") for facts in runs):
        return {}
    judges: dict[tuple[str, bool], dict[str, Any]] = {}
    for facts in runs:
        for judge in [*(facts.get("judges") or []), *(facts.get("stage_judges") or [])]:
            name, simulated = str(judge.get("name", "")), bool(judge.get("simulated"))
            told = {"name": name, "model": judge.get("model"), "simulated": simulated}
            judges.setdefault((name, simulated), told)
    return {"simulated": True, "judges": list(judges.values())}


def run_standings(run: str) -> pd.DataFrame | None:
    """Every candidate of a run that chooses answers; None where it chooses none.

    Parameters
    ----------
    run : str
        An MLflow run id, or a run's folder.

    Returns
    -------
    DataFrame or None
    """
    with run_data(run) as (folder, _):
        file = folder / "chosen" / "standings.csv"
        return read_csv(file) if file.is_file() else None


def whole_run(run: str) -> str:
    """A run's whole id, from how it begins.

    Parameters
    ----------
    run : str
        An MLflow run id, the beginning of one, a folder, which is given back as it is, or the
        results.json in one, which stands for its folder.

    Returns
    -------
    str

    Raises
    ------
    InputError
        No run begins so, several do, or a path is named where nothing exists, or a file that is not
        a results.json.
    """
    if (file := Path(run)).is_file():
        if file.name != "results.json":
            raise InputError(
                f"{run} is a file, and no run. Give a run id as `judgestats run` prints it, or a "
                "run's folder, which holds its results.json."
            )
        return str(file.parent)
    if not file.exists() and (file.suffix or file.name != run):
        refuse_remote(run)
        raise InputError(
            f"there is no file or folder {run!r} (looked in {Path.cwd()}). Check the name, or give "
            "a run id as `judgestats run` prints it."
        )
    if file.exists() or not _BEGINNING.fullmatch(run):
        return run
    store = open_store(existing=True)
    with store_faults("a run was looked up"):
        experiments = [e.experiment_id for e in store.client.search_experiments()]
        runs = store.client.search_runs(
            experiments, filter_string=f"attributes.run_id LIKE '{run}%'", max_results=20
        )
    ids = [r.info.run_id for r in runs]
    if not ids:
        recent = [r.info.run_id for r in _recent(store, experiments)]
        recent_runs = f" The last ones: {', '.join(recent)}." if recent else ""
        raise InputError(
            f"no run begins with {run!r} in {store.uri}.{nearest(run, recent)}{recent_runs}"
        )
    if len(ids) > 1:
        raise InputError(f"{len(ids)} runs begin with {run!r}: {', '.join(ids)}. Name one.")
    return str(ids[0])


_BEGINNING = re.compile(r"[0-9a-f]{4,31}")


def _recent(store: Store, experiments: list[str]) -> list[Any]:
    """The last runs that judgestats made, conditions left out."""
    runs = store.client.search_runs(experiments, max_results=50)
    return [r for r in runs if "mlflow.parentRunId" not in r.data.tags][:3]


def _download(run: str, scratch: Path, artifact: str = "") -> Path:
    """One artifact of a run that judgestats finished, or all of them."""
    store = open_store(existing=True)
    from mlflow.exceptions import MlflowException

    with store_faults("a run was looked up"):
        try:
            stored_run = store.client.get_run(run)
        except MlflowException as error:
            raise InputError(
                f"there is no run {run!r} in {store.uri}. Give a run id as `judgestats run` prints "
                "it or a run's folder, or set MLFLOW_TRACKING_URI to the store that has it."
            ) from error
        names = {f.path for f in store.client.list_artifacts(stored_run.info.run_id)}
        if "results.json" not in names:
            raise InputError(
                f"run {run} has no results.json: it was not made by judgestats, it is a condition "
                "of a larger run, or it did not finish."
            )
        return Path(store.client.download_artifacts(stored_run.info.run_id, artifact, str(scratch)))


def results_of_run(run: str) -> Results:
    """The records of a run.

    Parameters
    ----------
    run : str
        An MLflow run id, or a run's folder.

    Returns
    -------
    Results
    """
    with scratch_folder() as scratch:
        run = whole_run(run)
        if Path(run).is_dir():
            return read_results(run_folder(run, Path(scratch))[0] / "results.json")
        return read_results(_download(run, Path(scratch), "results.json"))


def parameters_of_run(run: str) -> tuple[str, dict[str, str]]:
    """The experiment of a run, and the parameters that it was given.

    Parameters
    ----------
    run : str
        An MLflow run id, the beginning of one, or a run's folder.

    Returns
    -------
    experiment : str
    given : dict of parameter to text

    Raises
    ------
    InputError
        There is no such run, or it is not a run of an experiment.
    """
    with run_data(run) as (folder, _):
        values = read_values(folder / "session.json") if (folder / "session.json").exists() else {}
    if not isinstance(values, dict) or not isinstance(values.get("parameters"), dict):
        raise InputError(
            f"{run}: the run does not say with which parameters it was made (an audit, or a run "
            "of an earlier version). Name the experiment and its parameters instead."
        )
    given = {k: str(v) for k, v in values["parameters"].items()}
    return str(values["experiment"]), current_parameters(given)[0]
