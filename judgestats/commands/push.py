"""``judgestats push``: consistency of the judge on each item, sent to an eval platform."""

from __future__ import annotations

import base64
import hashlib
import os
import random
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pandas as pd

from judgestats.collection import Kind, Outcome, RetryPolicy, read_error
from judgestats.collection.retry import one_line
from judgestats.commands.arguments import Args, table_options
from judgestats.commands.options import repeated_options
from judgestats.data.readers.registry import read_judgments
from judgestats.errors import InputError, StoreError
from judgestats.files.remote import local_file
from judgestats.files.shared_state import Layout, transaction
from judgestats.redaction import keep_secret
from judgestats.results.numbers import count_noun
from judgestats.runner import display as console
from judgestats.tracking.store import open_store, store_faults
from judgestats.tracking.traces import is_stored, stored_assessments
from judgestats.version import __version__

SOURCE = f"judgestats/{__version__}"
_STATE = Layout(
    "ledger of sent scores",
    0x4A535031,  # "JSP1"
    ("CREATE TABLE sent (target TEXT, id TEXT, value REAL, PRIMARY KEY (target, id))",),
)
_PER_SECOND = 10
_TIMEOUT_S = 30.0
_MOST_BYTES = 16_384
"""Read of a reply, which is needed for its error only."""


@dataclass(frozen=True, kw_only=True)
class ItemScore:
    """One number on one item, for a platform.

    Attributes
    ----------
    trace_id, span_id : str
        Where the platform keeps the item; `span_id` may be empty.
    name : str
        ``judgestats.vote_share`` or ``judgestats.flip_probability``, and the judge if several.
    judge : str
    value : float
    comment : str
        Counts only: no text of an item or a judge.
    """

    trace_id: str
    span_id: str = ""
    name: str
    judge: str
    value: float
    comment: str

    @property
    def id(self) -> str:
        """The same item, judge, and name have the same id, so that a second push replaces it."""
        words = "\x1f".join((self.trace_id, self.span_id, self.judge, self.name))
        return hashlib.sha256(words.encode()).hexdigest()[:32]


class Target(ABC):
    """A platform that takes scores."""

    name: str
    address: str

    @abstractmethod
    def send(self, score: ItemScore) -> None:
        """Send one score; a second time it replaces the first."""


class _HttpTarget(Target):
    """A platform with an HTTP API: one request per score."""

    variable: str
    path: str

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep, self._draw = sleep, random.Random(0)
        self._retry = RetryPolicy(attempts=4, patience_s=120)
        try:
            parts = urlsplit(self.address)
        except ValueError:  # a bracket that does not close
            parts = urlsplit("")
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise InputError(
                f"push: {self.variable} must be an address such as https://{self.name}.example.org."
            )

    @cached_property
    def _client(self) -> Any:
        """The client, made when it is first used: a dry run needs no keys."""
        import httpx2

        return httpx2.Client(
            base_url=self.address.rstrip("/"), headers=self.headers(), timeout=_TIMEOUT_S
        )

    @abstractmethod
    def headers(self) -> dict[str, str]:
        """Headers that authorise."""

    @abstractmethod
    def body(self, score: ItemScore) -> dict[str, Any]:
        """The request of a score."""

    def send(self, score: ItemScore) -> None:
        """Send one score, with retries.

        Raises
        ------
        StoreError
            The platform refuses it, or is not reached.
        """
        tried, waited = 0, 0.0
        while (outcome := self._try(score)) is not None:
            tried += 1
            wait = self._retry.wait(
                outcome, tried=tried, waited_s=waited, contacted=bool(outcome.status),
                draw=self._draw,
            )  # fmt: skip
            if wait is None:
                where = f"HTTP {outcome.status}: " if outcome.status else ""
                raise StoreError(
                    f"push: {self.address} does not take the score of {score.trace_id[:80]} "
                    f"({where}{outcome.detail}). What was sent is in the ledger; the same command "
                    "sends the rest."
                )
            waited += wait
            self._sleep(wait)

    def _try(self, score: ItemScore) -> Outcome | None:
        import httpx2

        try:
            end = time.monotonic() + _TIMEOUT_S
            content = b""
            with self._client.stream("POST", self.path, json=self.body(score)) as reply:
                for block in reply.iter_bytes(_MOST_BYTES):
                    content += block
                    if len(content) >= _MOST_BYTES or time.monotonic() > end:
                        break
        except httpx2.TimeoutException:
            return Outcome(kind=Kind.TIMED_OUT, detail="no reply within 30 s")
        except httpx2.HTTPError as error:
            return Outcome(kind=Kind.UNREACHABLE, detail=one_line(str(error)))
        if reply.is_success:
            return None
        return read_error(reply.status_code, content, reply.headers, 0.0)


def _setting(variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise InputError(f"push: set {variable}.")
    return value


class Langfuse(_HttpTarget):
    """Langfuse: ``POST /api/public/scores``, where the same id replaces a score."""

    name, variable, path = "langfuse", "LANGFUSE_HOST", "/api/public/scores"

    def __init__(self, **options: Any) -> None:
        self.address = os.environ.get(self.variable, "") or "https://cloud.langfuse.com"
        super().__init__(**options)

    def headers(self) -> dict[str, str]:
        """Basic authorisation by the project's two keys."""
        public, secret = _setting("LANGFUSE_PUBLIC_KEY"), _setting("LANGFUSE_SECRET_KEY")
        token = base64.b64encode(f"{public}:{secret}".encode()).decode()
        keep_secret(secret)
        keep_secret(token)
        return {"Authorization": f"Basic {token}"}

    def body(self, score: ItemScore) -> dict[str, Any]:
        """A numeric score."""
        return {
            "id": score.id, "traceId": score.trace_id, "name": score.name, "value": score.value,
            "dataType": "NUMERIC", "comment": score.comment,
            "metadata": {"source": SOURCE, "judge": score.judge},
            **({"observationId": score.span_id} if score.span_id else {}),
        }  # fmt: skip


class Phoenix(_HttpTarget):
    """Phoenix: ``POST /v1/span_annotations``, where the same identifier replaces one."""

    name, variable = "phoenix", "PHOENIX_COLLECTOR_ENDPOINT"
    path = "/v1/span_annotations?sync=true"

    def __init__(self, **options: Any) -> None:
        self.address = _setting(self.variable)
        super().__init__(**options)

    def headers(self) -> dict[str, str]:
        """A bearer key, where one is set."""
        key = os.environ.get("PHOENIX_API_KEY", "")
        keep_secret(key)
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, score: ItemScore) -> dict[str, Any]:
        """An annotation by code."""
        return {
            "data": [
                {
                    "span_id": score.span_id or score.trace_id, "name": score.name,
                    "annotator_kind": "CODE", "identifier": f"judgestats:{score.id}",
                    "result": {"score": score.value, "explanation": score.comment},
                    "metadata": {"source": SOURCE, "judge": score.judge},
                }
            ]
        }  # fmt: skip


class MLflow(Target):
    """Feedback on the traces of the MLflow store that ``MLFLOW_TRACKING_URI`` names."""

    name = "mlflow"

    def __init__(self, **_: Any) -> None:
        self.address = open_store(existing=True).uri

    def send(self, score: ItemScore) -> None:
        """Log a feedback by code; one with our id that is there already stays as it is."""
        import mlflow
        from mlflow.entities import AssessmentSource

        with store_faults("a score was sent"):
            trace = mlflow.get_trace(score.trace_id)
            if trace is None:
                raise InputError(f"push: {self.address} has no trace {score.trace_id[:80]}.")
            known = {(a.metadata or {}).get("judgestats.id") for a in trace.info.assessments}
            if score.id in known:
                return
            mlflow.log_feedback(
                trace_id=score.trace_id, name=score.name, value=score.value,
                source=AssessmentSource(source_type="CODE", source_id=SOURCE),
                rationale=score.comment,
                metadata={"judgestats.id": score.id, "judge": score.judge},
            )  # fmt: skip


TARGETS: dict[str, type[Target]] = {c.name: c for c in (MLflow, Langfuse, Phoenix)}


def unsent(target: Target, scores: Sequence[ItemScore], ledger: Path) -> list[ItemScore]:
    """The scores that the ledger does not hold with this value.

    Parameters
    ----------
    target : Target
    scores : sequence of ItemScore
    ledger : Path
        An SQLite file; it need not be there.

    Returns
    -------
    list of ItemScore
    """
    if not ledger.exists():
        return list(scores)
    with transaction(ledger, _STATE, create=False) as state:
        rows = state.execute("SELECT id, value FROM sent WHERE target = ?", (_key(target),))
        sent = dict(rows.fetchall())
    return [s for s in scores if sent.get(s.id) != s.value]


def push(target: Target, scores: Sequence[ItemScore], ledger: Path) -> Iterator[ItemScore]:
    """Send scores, ten per second; each is in the ledger before the next one is sent.

    Parameters
    ----------
    target : Target
    scores : sequence of ItemScore
    ledger : Path

    Yields
    ------
    ItemScore
        What was sent.

    Raises
    ------
    StoreError
        The platform refuses a score.
    """
    begun = time.monotonic()
    for count, score in enumerate(scores):
        if count >= _PER_SECOND and (ahead := count / _PER_SECOND - time.monotonic() + begun) > 0:
            time.sleep(ahead)
        target.send(score)
        with transaction(ledger, _STATE) as state:
            row = (_key(target), score.id, score.value)
            state.execute("INSERT OR REPLACE INTO sent VALUES (?, ?, ?)", row)
        yield score


def _key(target: Target) -> str:
    return f"{target.name} {target.address}"


_NAMED = {"langfuse-scores", "phoenix-annotations", "phoenix-evals"}
"""Exports whose items are the platform's own ids."""


def push_command(arguments: Args) -> int:
    """Send the vote share and the flip probability of each item.

    Parameters
    ----------
    arguments : Args
        ``file`` (a file or MLflow runs), ``to``, ``yes``, ``ledger``, and how a table is read.

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        No item has an id of the platform, or none was judged twice.
    """
    form: Literal["screen", "json"] = "json" if arguments.json else "screen"
    with console.use_output(console.OutputOptions(form=form)):
        scores = list(item_scores(_judgments(arguments)))
        target, ledger = TARGETS[arguments.to](), Path(arguments.ledger)
        left = unsent(target, scores, ledger)
        if arguments.yes:
            for _ in push(target, left, ledger):
                pass
        if arguments.json:
            console.write_json(
                {
                    "schema": "judgestats.push/1", "to": arguments.to, "address": target.address,
                    "scores": len(scores), "unsent": 0 if arguments.yes else len(left),
                    "sent": len(left) if arguments.yes else 0,
                    "example": {"id": scores[0].id, **asdict(scores[0])} if scores else None,
                }
            )  # fmt: skip
        else:
            console.print_result(*_lines(arguments, scores, left, target.address))
    return 0


def _lines(
    arguments: Args, scores: list[ItemScore], left: list[ItemScore], address: str
) -> list[str]:
    where = f"{arguments.to} at {address}"
    if arguments.yes:
        known = f" {len(scores) - len(left):,} were there." if len(left) < len(scores) else ""
        sent = count_noun(len(left), "score", "scores")
        return [
            f"READY  Sent {sent} to {where}.{known}", f"Ledger: {arguments.ledger}",
            f"Next  {_again(arguments)}",
        ]  # fmt: skip
    every = count_noun(len(scores), "score", "scores")
    traces = count_noun(len({(s.trace_id, s.span_id) for s in scores}), "trace", "traces")
    lines = [f"READY  Dry run: {len(left):,} of {every} on {traces} would go to {where}."]
    if left:
        lines.append(f"Example: {left[0].name} {left[0].value:.3g} ({left[0].comment})")
    return [*lines, f"Next  {_again(arguments)} --yes"]


def _again(arguments: Args) -> str:
    words = [arguments.file, *arguments.further, "--to", arguments.to]
    words += ["--ledger", arguments.ledger] if arguments.ledger != "judgestats-push.db" else []
    return " ".join(["judgestats push", shlex.join(words), *repeated_options(arguments)])


def _judgments(arguments: Args) -> pd.DataFrame:
    """The judgments with the columns ``trace_id`` and ``span_id``."""
    words = [arguments.file, *arguments.further]
    if all(is_stored(w) and not Path(w).exists() for w in words):
        return stored_assessments(words, judge=arguments.judge).assign(span_id="")
    if arguments.further:
        raise InputError("push: name one file, or MLflow runs.")
    mapped = [part for text in arguments.map for part in text.split(",")]
    traced = [p.partition("=")[2].strip() for p in mapped if p.strip().startswith("trace_id=")]
    others = [p for p in mapped if not p.strip().startswith("trace_id=")]
    own = Args(**vars(arguments) | {"map": others, **({"item": traced} if traced else {})})
    frame = read_judgments(
        local_file(arguments.file), reader=arguments.reader, **table_options(own)
    )
    console.print_status(*frame.attrs["understood"])
    if "trace_id" in frame:
        return frame.assign(span_id="")
    if not traced and frame.attrs["reader"] not in _NAMED:
        count = frame["item_id"].nunique()
        raise InputError(
            f"push: 0 of {count:,} items have a trace id. Name its column: --map trace_id=COLUMN"
        )
    ids = frame["item_id"].str.partition("/") if not traced else None
    return frame.assign(
        trace_id=frame["item_id"] if ids is None else ids[0], span_id="" if ids is None else ids[2]
    )


def item_scores(frame: pd.DataFrame) -> Iterator[ItemScore]:
    """The vote share and the flip probability of each item and judge.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``trace_id`` and ``span_id``.

    Yields
    ------
    ItemScore
        Vote share: share of the most frequent verdict among the repeats. Flip probability: share
        of the pairs of repeats with different verdicts, an unbiased estimate of the probability
        that two judgments differ.

    Raises
    ------
    InputError
        No item has a trace id, or none was judged twice.

    Examples
    --------
    >>> rows = [{"item": "t1", "trial": t, "passed": t > 0} for t in range(4)]
    >>> frame = read_judgments(rows).assign(trace_id="t1", span_id="")
    >>> [(s.name, s.value, s.comment) for s in item_scores(frame)]
    [('judgestats.vote_share', 0.75, '3 of 4 repeats agree'),
     ('judgestats.flip_probability', 0.5, '3 of 4 repeats agree')]
    """
    read = frame[frame["status"].eq("ok") & frame["stage"].eq("final")]
    verdict = read["choice"].astype(str).where(read["choice"].ne(""), read["score"].astype(str))
    read = read.assign(verdict=verdict)
    several = len(read["condition"].unique()) > 1
    repeated = False
    for (condition, _, order), own in read.groupby(["condition", "item_id", "order"], sort=False):
        counts = own["verdict"].value_counts()
        n = int(counts.sum())
        if n < 2:
            continue
        repeated = True
        share = float(counts.iloc[0]) / n
        flips = 1 - float((counts * (counts - 1)).sum()) / (n * (n - 1))
        tail = "".join(f".{part}" for part in ([condition] if several else []) + [order] if part)
        comment = f"{counts.iloc[0]} of {n} repeats agree"
        places = own[["trace_id", "span_id"]].drop_duplicates()
        for trace, span in places.itertuples(index=False):
            if not trace:
                continue
            for name, value in (("vote_share", share), ("flip_probability", flips)):
                yield ItemScore(
                    trace_id=str(trace), span_id=str(span), name=f"judgestats.{name}{tail}",
                    judge=str(own["judge"].iloc[0]), value=value, comment=comment,
                )  # fmt: skip
    if not repeated:
        raise InputError(
            "push: no item was judged twice, so no flip probability is known. Give a file with at "
            "least two judgments per item."
        )
