"""MLflow runs of an experiment: metrics, endpoint reports, and from a run back to its files."""

from __future__ import annotations

import hashlib
import math
import re
import shutil
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from judgestats.data.schema import read_artifact, refuse_edited, validate_parsed
from judgestats.deadlines import make_scratch_folder, scratch_folder, set_environment
from judgestats.deprecated import current_parameters
from judgestats.errors import InputError, StoreError, nearest
from judgestats.files.remote import refuse_remote
from judgestats.files.tables import read_csv
from judgestats.files.text import clean, command_word, decode_json, shorten_text
from judgestats.results import Results, read_results
from judgestats.results.change_screen import outcome_lines
from judgestats.results.metric_names import ALIASES, METRICS, quantity_of_metric
from judgestats.results.purposes import PURPOSES, threshold_text
from judgestats.results.quantities import PUBLIC_NAMES
from judgestats.results.results import read_values
from judgestats.results.screen import reliability_rows
from judgestats.results.verdict import CODES, ORDER, Subject, summary_of
from judgestats.results.verdict_screen import care_of, number_text, status_text, verdict_groups
from judgestats.sinks import escape_note
from judgestats.tracking.store import Store, open_store, redact_uri, store_faults

if TYPE_CHECKING:
    from judgestats.collection.endpoint_card import EndpointCard


WHOLE_RUN = "whole run"
"""What `metrics_of` calls the run above its conditions."""


_NOTE_LINES = 12


def verdict_note(results: Results) -> str:
    """The run's description from its verdicts, in `_NOTE_LINES` lines.

    Every outcome with its reason, what decides (of one judge all requirements), care, and question.
    """
    said = [f"**{word}** {escape_note(text)}" for word, text, _ in verdict_groups(results)]
    verdicts = sorted(results.verdicts, key=lambda v: ORDER.index(v.outcome))
    deciding = [(v, v.decisive) for v in verdicts if v.decisive]
    found = deciding if len(verdicts) > 1 else [(v, r) for v in verdicts for r in v.requirements]
    shown = found[: _NOTE_LINES - 6 - len(said)]
    table = ["| | | estimate | needed | |", "|---|---|---|---|---|"] if shown else []
    for v, r in shown:
        status = f"**{r.status}**" if r.status == "fails" else status_text(r)
        texts = " | ".join(map(escape_note, (v.subject.name, r.label, number_text(r))))
        table.append(f"| {texts} | {threshold_text(r)} | {status} |")
    more = len(found) - len(shown)
    parts = [
        *(["SIMULATED judges: no model was asked."] if results.all_simulated else []),
        *(f"Care: {escape_note(t)}" for severity, t in care_of(results) if severity != "minor"),
    ][:3]
    parts += [f"{more} more in verdict.json"] if more else []
    closing = [" · ".join(parts)] if parts else []
    closing.append(f"Question: {PURPOSES[results.verdicts[0].purpose].question}")
    # Two spaces break a line of a paragraph.
    blocks = ("  \n".join(said), "\n".join(table), "  \n".join(closing))
    return "\n\n".join(block for block in blocks if block)


SHARED = (
    "icc_1_1", "sem", "flip_rate", "tpr", "tnr", "kappa", "pass_rate", "order_consistency",
    "unparsed_share",
)  # fmt: skip
"""Metrics that every run has under one name, where it measures them."""
MOST_JUDGES, MOST_CHILDREN = 10, 20
"""Judges with metrics of the parent, and conditions with a child run; more are in
``conditions.json``."""
_PUBLIC: Mapping[str, str] = {
    **PUBLIC_NAMES, "unread_share": "unparsed_share", "proportion": "pass_rate",
    "poststratified": "pass_rate_corrected", "accuracy_include_ties": "accuracy",
}  # fmt: skip
_NOT_IN_SLUGS = re.compile(r"[^A-Za-z0-9_.\-]+")


def slug(text: str) -> str:
    """A label as part of a metric's name.

    Examples
    --------
    >>> slug("my-model@http://localhost:8000/v1"), slug("T = 0.3")
    ('my-model-localhost-8000-v1', 'T-0.3')
    """
    flat = _ADDRESS.sub(lambda match: "-" + match[0].split("://", 1)[1], text)
    return re.sub("-{2,}", "-", _NOT_IN_SLUGS.sub("-", flat)).strip("-.") or "-"


def metric_name(name: str) -> str:
    """The name of a metric in MLflow: its quantity, coordinates, and the end of an interval.

    Parameters
    ----------
    name : str
        As results call it, ``group/name/COORDINATE``; other names stay.

    Examples
    --------
    >>> metric_name("reliability/icc1"), metric_name("ci/spread/sem.lo")
    ('icc_1_1', 'sem.lo')
    >>> metric_name("spread/variance/my judge"), metric_name("null/reliability/alpha.q95")
    ('pooled_within_variance/my-judge', 'null_p95/alpha')
    >>> metric_name("claims/stands_in_part")
    'n_claims/stands_in_part'
    """
    bare, end = name, ""
    if name.startswith("ci/"):
        bare, _, end = name.removeprefix("ci/").rpartition(".")
    if name.startswith("null/"):
        return f"null_p95/{metric_name(name.removeprefix('null/').removesuffix('.q95'))}"
    quantity = quantity_of_metric(bare) if "/" in bare else None
    if quantity is None:
        return name
    parts = [_PUBLIC.get(quantity.estimand, quantity.estimand)]
    group, last, *levels = bare.split("/")
    by_name = f"{group}/*" in METRICS  # one quantity, whose levels are the last words
    parts += [slug(part) for part in ([last] if by_name else []) + levels]
    return "/".join(parts) + (f".{end}" if end else "")


def declared_names(metrics: Mapping[str, float | None]) -> dict[str, float | None]:
    """Metrics by the names that MLflow has; of two of one quantity the second keeps its own word.

    Examples
    --------
    >>> declared_names({"reliability/vote_share": 0.9, "reliability/vote_share_all": 0.8})
    {'kappa_repeat': 0.9, 'vote_share_all': 0.8}
    """
    out: dict[str, float | None] = {}
    for name, value in metrics.items():
        new = metric_name(name)
        if new in out and out[new] != value:
            last = name.rpartition("/")[2]
            new = last if last not in out else slug(name.replace("/", "_"))
        out[new] = value
    return out


def verdict_metrics(results: Results) -> dict[str, float]:
    """The worst verdict as a number, and what was measured, by declared keys.

    A bare name where the run has one subject; else every factor that varies is in it:
    ``icc_1_1/JUDGE/temperature-0.7``.

    Examples
    --------
    >>> verdict_metrics(Results(experiment="x", question="?", results=()))
    {}
    """
    judged = [v.subject for v in results.verdicts if v.purpose != "panel"]
    if not judged:
        return {}
    out = {"verdict": min(CODES[v.outcome] for v in results.verdicts)}
    items = (results.facts.get("design") or {}).get("items")
    if isinstance(items, int):
        out["n_items"] = float(items)
    parsed = [m for m in results.measures if m.key == "unparsed_share" and m.n]
    if len(judged) > 1 and parsed:
        n = sum(m.n for m in parsed)
        out["n_judgments"] = float(n)
        out["unparsed_share"] = math.fsum(m.estimate * m.n for m in parsed) / n
    places = _coordinates(judged)
    none = math.nan
    found = [(m.key, m.subject.label, "", m.estimate, m.low, m.high, none)
             for m in results.measures if m.key in SHARED]  # fmt: skip
    for label in places:
        record = results.estimate(f"people.corrected.{label}")
        if record is not None:
            ends = record.interval
            low, high = (ends.low, ends.high) if ends else (math.nan, math.nan)
            found.append(("pass_rate_corrected", label, "", record.estimate, low, high, none))
    rows = {(r.key, r.condition, r.part): r for r in reversed(reliability_rows(results))}
    found += [(*at, r.estimate, r.low, r.high, r.null) for at, r in rows.items()]
    for key_, label, part, estimate, low, high, null in found:
        if label not in places or math.isnan(estimate):
            continue
        name = f"{key_}{places[label]}{part and f'/{slug(part)}'}"
        numbers = {name: estimate, f"{name}.lo": low, f"{name}.hi": high, f"{name}.null95": null}
        out |= {n: value for n, value in numbers.items() if not math.isnan(value)}
    return out


def _coordinates(subjects: Sequence[Subject]) -> dict[str, str]:
    """What tells each subject from the others, as the end of its metrics' names."""
    if len(subjects) == 1:
        return {subjects[0].label: ""}
    judges = list(dict.fromkeys(s.judge for s in subjects))[:MOST_JUDGES]
    factors = dict.fromkeys(f for s in subjects for f in s.condition)
    varying = [f for f in factors if len({str(s.condition.get(f)) for s in subjects}) > 1]
    out: dict[str, str] = {}
    for s in subjects:
        if s.judge not in judges:
            continue
        parts = [slug(s.judge or s.label)] if len(judges) > 1 or not varying else []
        parts += [f"{slug(f)}-{slug(str(s.condition.get(f)))}" for f in varying]
        parts += [slug(part) for part in (s.criterion, s.system) if part]
        name = f"/{'/'.join(parts)}"
        out[s.label] = f"{name}-{len(out) + 1}" if name in out.values() else name
    return out


def answer_note(results: Results) -> str:
    r"""The run's description: outcomes, finding, whether judges were simulated, question.

    Examples
    --------
    >>> print(answer_note(Results(experiment="x", question="Is it?", results=(), finding="Yes.")))
    **Yes\.**
    <BLANKLINE>
    Is it?
    """
    lines = [f"**{escape_note(line)}**" for line in outcome_lines(results)]
    finding = results.finding if results.verdicts else ""
    names = ", ".join(results.simulated_judges)
    simulated = f"SIMULATED: {escape_note(names)}. No model was asked for these." if names else ""
    if results.all_simulated:
        simulated = "SIMULATED judges: no model was asked."
    parts = ("\n".join(lines), escape_note(finding), simulated, escape_note(results.question))
    return "\n\n".join(part for part in parts if part)


def metrics_of(results: Results) -> dict[str, dict[str, float]]:
    """The metrics of a run and of its conditions, as MLflow shows them and as `check` takes them.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict
        `WHOLE_RUN` and every condition, in order, with name and number; a condition made of others
        (a mean of them) only where it has metrics.

    Examples
    --------
    >>> metrics_of(Results(experiment="x", question="?", results=(), metrics={"cost/usd": 0.5}))
    {'whole run': {'cost/usd': 0.5}}
    """
    out, own = {WHOLE_RUN: dict(results.metrics)}, results.condition_metrics
    limits = {
        (m.subject.label, f"{m.key}.{end}"): limit
        for m in results.measures
        for end, limit in (("lo", m.low), ("hi", m.high)) if math.isfinite(limit)
    }  # fmt: skip
    for condition in results.conditions:
        label = condition.label
        if label in own or not condition.derived:
            # One quantity has one interval: that by which the verdict decides.
            out[label] = {
                name: limits.get((label, metric_name(name)), value)
                for name, value in own.get(label, {}).items()
            }
    return out


INCOMPLETE = "judgestats.incomplete"
"""Tag of a run whose collection stopped early."""
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_\-. :/]")
_ADDRESS = re.compile(r"https?://\S*")
_MAX_PARAM = 5900  # MLflow refuses more than 6,000 characters
_MOST_LINKS = 100
"""Traces that MLflow links in one call."""
_MAX_TAG = 7900
_SILENT = "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"
_MOST_PARAMS, _MOST_METRICS = 100, 800
"""Of one call: MLflow takes 100 parameters, and 1,000 entries in all."""


def key(text: str) -> str:
    """A name MLflow accepts: alphanumerics and ``_-. :/``, and a path that names one place only.

    A judge's address keeps its text without slashes, since MLflow groups charts by the text before
    the last slash. MLflow refuses empty parts, and parts that are dots.

    Examples
    --------
    >>> key("judge/omega(total)")
    'judge/omega_total_'
    >>> key("spread/p_value/my-model@http://localhost:8000/v1")
    'spread/p_value/my-model_localhost:8000_v1'
    """
    flat = _ADDRESS.sub(
        lambda match: match[0].split("://", 1)[1].strip("/").replace("/", "_"), text
    )
    parts = _NOT_ALLOWED.sub("_", flat)[:250].split("/")
    return "/".join(p for p in parts if p.strip(".")) or "_"


def _curve_name(name: str) -> str:
    """A quantity against another, such as the temperature: ``curve/variance/JUDGE``."""
    quantity, *judge = name.split("/")[1:]
    return "/".join(["curve", ALIASES.get(quantity, quantity), *map(slug, judge)])


def _texts(params: Mapping[str, Any] | None) -> dict[str, str]:
    """Parameters as MLflow takes them, without those that say nothing."""
    return {
        key(k): shorten_text(str(v), _MAX_PARAM)
        for k, v in (params or {}).items()
        if v not in (None, "")
    }


class RunWriter:
    """One run being written.

    Use as a context manager: an exception marks the run FAILED (a Ctrl-C KILLED), so that none is
    ever left RUNNING, and is raised on. A run that has ended before keeps its status.

    Parameters
    ----------
    store : Store
        Where.
    name : str
        The run's name.
    tags : mapping
        Plain text.
    parent : RunWriter, optional
        Makes this a child run.
    run_id : str
        Write into this run, already created (by ``mlflow run``), instead of a new one.
    started : float, optional
        When a new run began, in seconds since 1970; now by default.

    Attributes
    ----------
    children : list of str
        Ids of the child runs made so far.
    """

    run_id: str
    children: list[str]

    def __init__(
        self,
        store: Store,
        *,
        name: str,
        tags: Mapping[str, str] | None = None,
        parent: RunWriter | None = None,
        run_id: str = "",
        started: float | None = None,
    ) -> None:
        self.store = store
        self._client = store.client
        self.name = name = clean(name)
        self.children = []
        self._ended = False
        # of a run that another made (``mlflow run``) they are looked up
        self._param_keys: set[str] | None = None if run_id else set()
        all_tags = {"mlflow.runName": name, **{k: str(v) for k, v in (tags or {}).items()}}
        if parent is not None:
            all_tags["mlflow.parentRunId"] = parent.run_id
        with store_faults("a run was started"):
            if run_id:
                self.run_id = run_id
                self.tags(all_tags)
            else:
                run = store.client.create_run(
                    store.experiment_id,
                    start_time=None if started is None else round(1000 * started),
                    tags={k: shorten_text(v, _MAX_TAG) for k, v in all_tags.items()},
                    run_name=name,
                )
                self.run_id = run.info.run_id
        if parent is not None:
            parent.children.append(self.run_id)

    def child(self, *, name: str, tags: Mapping[str, str]) -> RunWriter:
        """A run below this one."""
        return RunWriter(self.store, name=name, tags=tags, parent=self)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._ended:
            return
        if kind is None:
            self.finish("FINISHED")
            return
        with suppress(StoreError):  # what ended the run is the error to report
            self.finish("KILLED" if issubclass(kind, KeyboardInterrupt) else "FAILED")

    def finish(self, status: str) -> None:
        """End the run as FINISHED, FAILED or KILLED; what follows does not change that."""
        # MLflow prints a run's address where a server ends it: during the document of --json
        with store_faults("a run was ended"), set_environment(**{_SILENT: "true"}):
            self._client.set_terminated(self.run_id, status=status)
        self._ended = True

    def tags(self, tags: Mapping[str, str]) -> None:
        """Set tags in one call."""
        from mlflow.entities import RunTag

        entities = [RunTag(k, shorten_text(str(v), _MAX_TAG)) for k, v in tags.items()]
        with store_faults("tags were written"):
            self._client.log_batch(self.run_id, tags=entities)

    def numbers(
        self,
        values: Mapping[str, float | None],
        *,
        params: Mapping[str, Any] | None = None,
        curves: Mapping[str, list[tuple[int, float]]] | None = None,
    ) -> None:
        """Log numbers and parameters in few calls, since each is a transaction of the store.

        Parameters
        ----------
        values : mapping of name to number
            Bars in the UI; what is undefined (NaN) is left out rather than stored as 0.
        params : mapping of name to value
            Those the run has already stay.
        curves : mapping of name to list of (step, number)
            Lines in the UI.
        """
        from mlflow.entities import Metric, Param

        now = int(time.time() * 1000)
        points = [(k, 0, v) for k, v in declared_names(values).items()]
        points += [
            (_curve_name(k), step, v) for k, curve in (curves or {}).items() for step, v in curve
        ]
        metrics = [
            Metric(key(k), float(v), now, step)
            for k, step, v in points
            if v is not None and math.isfinite(v)
        ]
        with store_faults("parameters and metrics were written"):
            texts = _texts(params)
            present = self._present() if texts else set()
            fresh = [Param(k, text) for k, text in texts.items() if k not in present]
            present.update(texts)
            while fresh or metrics:
                self._client.log_batch(
                    self.run_id, params=fresh[:_MOST_PARAMS], metrics=metrics[:_MOST_METRICS]
                )
                del fresh[:_MOST_PARAMS], metrics[:_MOST_METRICS]

    def _present(self) -> set[str]:
        """The parameters that the run has."""
        if self._param_keys is None:
            self._param_keys = set(self._client.get_run(self.run_id).data.params)
        return self._param_keys

    def answered(self, results: Results) -> None:
        """What is read first: the answer as the description."""
        if not results.verdicts:
            self.tags({"mlflow.note.content": answer_note(results)})
            return
        worst = str(summary_of(results.verdicts)["outcome"])
        self.tags({"mlflow.note.content": verdict_note(results), "verdict": worst})
        self.numbers(verdict_metrics(results))

    def conditions(self, results: Results) -> None:
        """The numbers of every condition as a table, which MLflow shows and compares."""
        numbers = {n: declared_names(own) for n, own in metrics_of(results).items()}
        numbers.pop(WHOLE_RUN)
        names = list(dict.fromkeys(name for own in numbers.values() for name in own))
        rows = [[label, *map(own.get, names)] for label, own in numbers.items()]
        table = {"columns": ["condition", *names], "data": rows}
        self.tags({"mlflow.loggedArtifacts": '[{"path": "conditions.json", "type": "table"}]'})
        with store_faults("the table of conditions was written"):
            self._client.log_dict(self.run_id, table, "conditions.json")

    def artifacts(self, folder: Path) -> None:
        """Log everything below a folder."""
        with store_faults("files were written"):
            self._client.log_artifacts(self.run_id, str(folder))

    def link(self, traces: Sequence[str]) -> str:
        """Link traces to the run, so that its page lists them; gives why that cannot be, if so."""
        from mlflow.exceptions import MlflowException

        self.tags({"judgestats.traces": str(len(traces))})
        with store_faults("traces were linked"):
            try:
                for start in range(0, len(traces), _MOST_LINKS):
                    chunk = list(traces[start : start + _MOST_LINKS])
                    self._client.link_traces_to_run(chunk, self.run_id)
            except MlflowException as error:
                if "not supported" not in str(error):
                    raise
                return (
                    "The traces are not linked to the run: MLflow keeps links in a database only, "
                    "such as MLFLOW_TRACKING_URI=sqlite:///mlflow.db."
                )
        return ""

    def dataset(self, frame: Any, *, name: str, digest: str, source: str, context: str) -> None:
        """Log the head of a table as the run's dataset, with the digest of the whole."""
        from mlflow.data.code_dataset_source import CodeDatasetSource
        from mlflow.data.pandas_dataset import from_pandas
        from mlflow.entities import DatasetInput, InputTag

        with store_faults("the dataset was written"), warnings.catch_warnings():
            # MLflow's advice on models to be served, which this table is not for.
            warnings.filterwarnings("ignore", message="Hint: Inferred schema", category=UserWarning)
            dataset = from_pandas(
                frame.head(100),
                source=CodeDatasetSource(tags={"source": source}),
                name=name,
                digest=digest[:32],
            )
            entry = DatasetInput(
                dataset=dataset._to_mlflow_entity(),
                tags=[InputTag("mlflow.data.context", context)],
            )
            self._input(entry)

    def _input(self, entry: Any) -> None:
        """Name a dataset as the run's input.

        Where several runs name the same one at the same moment, each sees none and makes it, and
        the database lets the first one through: the second try of the others finds it there.
        """
        from mlflow.exceptions import MlflowException

        try:
            self._client.log_inputs(self.run_id, [entry])
        except MlflowException as error:
            # PostgreSQL and SQLite speak of a unique constraint, MySQL of a duplicate entry.
            if not any(word in str(error).lower() for word in ("unique", "duplicate")):
                raise
            self._client.log_inputs(self.run_id, [entry])


@contextmanager
def run_files() -> Iterator[Path]:
    """A folder for a run's files until they are in the store.

    It is kept where the store fails, and where a run with a plan is interrupted before it is there.
    """
    folder = make_scratch_folder("files")
    kept = folder.with_name(f"judgestats-kept-{folder.name[-8:]}")
    try:
        yield folder
    except StoreError as error:
        if (folder / "results.json").is_file():
            error.exit_code = 5
            folder.rename(kept)
            error.add_note(
                f"The run's files are kept in {kept} (report: `judgestats report "
                f"{command_word(kept)}`). With a store, the same command records the run and "
                "sends no request again."
            )
        raise
    except KeyboardInterrupt as stop:
        session = folder / "session.json"
        if session.is_file() and "run_id" not in decode_json(session.read_text("utf-8")):
            folder.rename(kept)
            stop.add_note(f"The plan is kept in {kept}.")
        raise
    finally:
        if folder.is_dir():
            shutil.rmtree(folder)


def artifact_path(store: Store, run_id: str) -> Path | str:
    """The run's artifacts as a local folder, or their URI where they are kept elsewhere."""
    from urllib.parse import unquote, urlsplit

    with store_faults("a run was looked up"):
        uri = store.client.get_run(run_id).info.artifact_uri
        parts = urlsplit(uri)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    return redact_uri(uri) if parts.scheme else Path(uri)


LOOK, LOOK_OF = "judgestats.look", "judgestats.look_of"
"""Tags: labels that a verdict rests on, and the judges and requirements that it is about."""


def earlier_looks(store: Store, look: Mapping[str, str]) -> int:
    """Verdicts of the same requirements that earlier runs reached on fewer labels.

    Parameters
    ----------
    store : Store
    look : mapping
        The tags `LOOK` and `LOOK_OF` of the verdict to come.

    Returns
    -------
    int
        Distinct numbers of labels below the present one.
    """
    with store_faults("earlier verdicts were looked up"):
        runs = store.client.search_runs(
            [store.experiment_id],
            filter_string=(
                f"tags.`{LOOK_OF}` = '{look[LOOK_OF]}' and attributes.status = 'FINISHED' and "
                "tags.`judgestats.kind` = 'audit'"
            ),
            max_results=1_000,
        )
    counts = {int(run.data.tags[LOOK]) for run in runs if run.data.tags[LOOK].isdecimal()}
    return sum(count < int(look[LOOK]) for count in counts)


FILE = "endpoint.json"
_TAG = "judgestats.endpoint"


def keep_card(store: Store, card: EndpointCard) -> str:
    """Keep a card as a separate run: its file, its features as tags, latency and cost as metrics.

    Returns
    -------
    str
        The run's id.
    """
    tags = {
        "judgestats.kind": "endpoint",
        f"{_TAG}.address": _address(card.base_url, card.model),
        f"{_TAG}.model": card.model,
        f"{_TAG}.url": card.base_url,
        f"{_TAG}.asked_at": card.asked_at,
        f"{_TAG}.repeats_at_0": str(card.repeats_at_0),
        **{f"{_TAG}.{name}": value for name, value in card.features.items()},
    }
    cost = {} if card.cost_usd is None else {"cost/usd": card.cost_usd}
    with run_files() as folder, RunWriter(store, name=f"endpoint {card.model}", tags=tags) as run:
        (folder / FILE).write_text(card.to_json(), encoding="utf-8")
        run.numbers({"latency/seconds": card.latency_s, **cost})
        run.artifacts(folder)
    return run.run_id


def last_card(store: Store, base_url: str, model: str) -> dict[str, Any] | None:
    """The newest card of a model at an address that the experiment's runs hold, if any does."""
    with store_faults("endpoint cards were looked up"):
        runs = store.client.search_runs(
            [store.experiment_id],
            filter_string=(
                f"tags.`judgestats.kind` = 'endpoint' and attributes.status = 'FINISHED' and "
                f"tags.`{_TAG}.address` = '{_address(base_url, model)}'"
            ),
            order_by=["attributes.start_time DESC"],
            max_results=1,
        )
        if not runs:
            return None
        with scratch_folder() as scratch:
            file = Path(store.client.download_artifacts(runs[0].info.run_id, FILE, scratch))
            card = decode_json(file.read_text(encoding="utf-8"))
    return card if isinstance(card, dict) else None


def _address(base_url: str, model: str) -> str:
    """An address as a tag that can be searched for whatever is in it."""
    return hashlib.sha256(f"{base_url}\0{model}".encode()).hexdigest()[:16]


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
        An MLflow run id, the beginning of one, or a folder, which is returned unchanged. A
        results.json means its folder.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If no run or several runs begin with the name, if the path does not exist, or if the file
        is not a results.json.
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
        last = store.client.search_runs(experiments, max_results=50)
        own = [r for r in last if "mlflow.parentRunId" not in r.data.tags]
        recent = [r.info.run_id for r in own[:3]]
        recent_runs = f" The last ones: {', '.join(recent)}." if recent else ""
        raise InputError(
            f"no run begins with {run!r} in {store.uri}.{nearest(run, recent)}{recent_runs}"
        )
    if len(ids) > 1:
        raise InputError(f"{len(ids)} runs begin with {run!r}: {', '.join(ids)}. Name one.")
    return str(ids[0])


_BEGINNING = re.compile(r"[0-9a-f]{4,31}")


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

    Raises
    ------
    InputError
        There is no such run, or its results or judgments, where they are local, were edited.
    """
    with scratch_folder() as scratch:
        run = whole_run(run)
        if Path(run).is_dir():
            home: Path | str = run_folder(run, Path(scratch))[0]
            results = read_results(Path(home) / "results.json")
        else:
            copy = _download(run, Path(scratch), "results.json")
            home = artifact_path(open_store(existing=True), run)
            is_here = isinstance(home, Path) and (home / copy.name).is_file()
            results = read_results(Path(home) / copy.name if is_here else copy)
        if isinstance(home, Path):  # elsewhere the numbers alone are fetched
            refuse_edited(home / "data" / "judgments.parquet")
        return results


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
