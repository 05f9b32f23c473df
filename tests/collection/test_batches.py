"""Batch mode against the simulated Batch API, in process and over loopback, with the real SDK."""

import asyncio
import signal
import urllib.request
from dataclasses import replace

import pytest

from judgestats import collection
from judgestats.data import setting_sent, validate_raw
from judgestats.errors import BudgetError, InputError, JudgeError
from judgestats.simulated import error, run_server, send_json
from tests.batch_server import BatchFaults as Faults
from tests.batch_server import BatchServer as SimulatedServer
from tests.batch_server import _Batch

TEN = collection.PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": collection.Price(input=10.0, output=10.0)}},
)
SAME = ["item_id", "replicate", "temperature", "raw_text", "finish_reason", "tokens_in"]


async def at_once(seconds):
    """In place of waiting."""
    await asyncio.sleep(0)


def in_batches(tasks, path, **options):
    options = {"sleep": at_once, "simulated_app": SimulatedServer(), **options}
    return asyncio.run(collection.collect_in_batches(tasks, journal=path, **options))


def exact(collected):
    """The account, held against the frame."""
    account, frame = collected.account, validate_raw(collected.read())
    assert account.asked == account.answered + account.failed
    assert len(frame) == account.rows
    assert (frame["transport"] == "failed").sum() == account.failed
    assert (frame["transport"] == "invalid_condition").sum() == account.invalid
    assert frame["cached"].sum() == account.cached
    assert (
        account.failures
        == frame.loc[frame["transport"] == "failed", "failure"].value_counts().to_dict()
    )
    return frame


class NoJsonFiles(SimulatedServer):
    """Gives a file's content only to those who take something else than JSON."""

    async def __call__(self, scope, receive, send):
        wanted = dict(scope["headers"]).get(b"accept")
        if scope["path"].endswith("/content") and wanted == b"application/json":
            await send_json(send, 406, error("Not Acceptable"))
        else:
            await super().__call__(scope, receive, send)


def test_results_are_not_asked_for_as_json(plan, tmp_path):
    tasks = plan(items=2, replicates=1)
    batch = in_batches(tasks, tmp_path / "j.db", simulated_app=NoJsonFiles())
    assert batch.complete
    assert batch.account.answered == len(tasks)


@pytest.mark.parametrize("choices", [1, 3])
def test_batches_give_the_frame_that_asking_one_by_one_gives(plan, tmp_path, choices):
    tasks = plan(
        items=6, replicates=4, temperatures=(0.0, 1.0), judges=("sim-typical", "sim-noisy")
    )
    online = collection.collect_judgments(tasks, choices_per_request=choices, seed=3)
    batch = in_batches(tasks, tmp_path / "j.db", choices_per_request=choices, seed=3)
    frame = exact(batch)
    assert batch.complete
    assert frame[SAME].equals(online.frame[SAME])
    assert frame["latency_s"].isna().all()
    assert batch.account.answered == 96
    assert batch.account.requests == (96 if choices == 1 else 2 * 2 * 6 * 2)
    assert batch.account.tokens_in == online.account.tokens_in


# ------------------------------------------------------------------- what comes back


@pytest.mark.parametrize(
    "faults",
    [
        {"batch_error": 0.4, "batch_expired": 0.4},
        {"batch_missing": 0.2, "batch_malformed": 0.2},
        {"batch_repeated": 0.5, "batch_foreign": 0.4},
    ],
)
def test_what_a_batch_leaves_open_goes_into_a_next_one(plan, tmp_path, faults):
    app = SimulatedServer(Faults(**faults))
    tasks = plan(items=10, replicates=3)
    batch = in_batches(
        tasks, tmp_path / "j.db", simulated_app=app, limits=collection.Limits(rounds=12), prices=TEN
    )
    frame = exact(batch)
    assert batch.complete
    assert batch.account.answered == 30
    assert frame["raw_text"].equals(collection.collect_judgments(tasks).frame["raw_text"])
    assert batch.account.requests == 30 + batch.account.retries
    if set(faults) <= {"batch_repeated", "batch_foreign"}:
        assert len(app.batch_api.batches) == 1
        assert any("lines left out" in note for note in batch.notes)
    else:
        assert len(app.batch_api.batches) > 1
    lost = {"batch_missing", "batch_malformed"} & set(faults)
    assert (batch.account.discarded > 0) == bool(lost)  # run and billed, and nobody knows
    with collection.Journal(tmp_path / "j.db") as journal:
        assert len(journal) == 30
        assert not journal.batches.open_judgments()


@pytest.mark.parametrize(
    ("fault", "kind"), [("batch_error", "server_error"), ("batch_missing", "missing_from_batch")]
)
def test_what_is_never_answered_ends_as_a_row_with_its_kind(plan, tmp_path, fault, kind):
    app = SimulatedServer(Faults(**{fault: 1.0}))
    batch = in_batches(plan(items=4, replicates=2), tmp_path / "j.db", simulated_app=app)
    frame = exact(batch)
    assert batch.complete
    assert batch.account.failures == {kind: 8}
    assert set(frame["attempts"]) == {3}
    assert len(app.batch_api.batches) == 3
    app.faults = Faults()  # and the next run asks it again
    again = in_batches(plan(items=4, replicates=2), tmp_path / "j.db", simulated_app=app)
    assert again.account.answered == 8


def test_refusals_in_a_batch_teach_what_refusals_online_teach(plan, tmp_path):
    tasks = plan(items=4, replicates=4, temperatures=(0.5, 1.0))
    app = SimulatedServer(
        Faults(refuse_temperature=True, refuse_seed=True, refuse_schema=True, refuse_n=True)
    )
    batch = in_batches(tasks, tmp_path / "j.db", simulated_app=app, seed=1, choices_per_request=2)
    frame = exact(batch)
    assert batch.complete
    assert (batch.account.answered, batch.account.invalid) == (16, 16)
    answered = frame[frame["transport"] == "answered"]
    assert set(answered["temperature"]) == {1.0}
    assert set(answered["reply_mode"]) == {"tool"}
    assert set(setting_sent(answered["sent"], "seed")) == {None}
    assert set(answered["choices_in_request"]) == {1}


def test_one_choice_where_several_are_asked_for(plan, tmp_path):
    app = SimulatedServer(Faults(ignore_n=True))
    tasks = plan(items=3, replicates=4)
    batch = in_batches(tasks, tmp_path / "j.db", simulated_app=app, choices_per_request=4)
    exact(batch)
    assert batch.account.answered == 12
    assert batch.account.requests == 3 + 9


# ------------------------------------------------------------------- sizes and limits


@pytest.mark.parametrize("limits", [collection.Limits(requests=7), collection.Limits(bytes=6_000)])
def test_files_keep_their_bounds(plan, tmp_path, limits):
    app = SimulatedServer()
    batch = in_batches(plan(), tmp_path / "j.db", simulated_app=app, limits=limits)
    assert batch.account.answered == 20
    assert len(app.batch_api.batches) >= 3
    inputs = [f.content for f in app.batch_api._files.values() if f.purpose == "batch"]
    assert all(len(content) <= limits.bytes for content in inputs)
    assert all(content.count(b"\n") <= limits.requests for content in inputs)


def test_too_many_tokens_make_smaller_batches_one_after_the_other(plan, tmp_path):
    app = SimulatedServer(Faults(batch_token_limit=3))
    batch = in_batches(plan(), tmp_path / "j.db", simulated_app=app)
    exact(batch)
    assert batch.complete
    assert batch.account.answered == 20
    assert batch.account.requests == 20  # what was refused whole was not sent
    assert any("one by one" in note for note in batch.notes)


def test_a_batch_that_fails_validation_is_named_and_not_waited_for_again(plan, tmp_path):
    app = SimulatedServer(Faults(batch_invalid=True))
    with pytest.raises(JudgeError, match=r"failed validation \(The simulated batch is invalid"):
        in_batches(plan(), tmp_path / "j.db", simulated_app=app)
    app.faults = Faults()
    assert in_batches(plan(), tmp_path / "j.db", simulated_app=app).account.answered == 20


def test_an_endpoint_without_a_batch_api_is_named(plan, tmp_path):
    app = SimulatedServer(Faults(no_batches=True))
    with pytest.raises(JudgeError, match="mode=online"):
        in_batches(plan(), tmp_path / "j.db", simulated_app=app)
    with collection.Journal(tmp_path / "j.db") as journal:
        assert not journal.batches.open_judgments()
        assert not journal._lost


@pytest.mark.parametrize("met", [False, True], ids=["at the first call", "in its batch"])
def test_one_judges_refusal_ends_that_judge_alone(plan, server, tmp_path, monkeypatch, met):
    url, _ = server()
    other, strict = server()
    both = [*plan(url=other), *plan(url=url)]
    if met:  # the batch API, not the first call online, is what refuses it
        in_batches(plan(items=1, url=other), tmp_path / "j.db")
        strict.faults = Faults(batch_invalid=True)
    else:
        strict.faults = Faults(require_key="right")
    batch = in_batches(both, tmp_path / "j.db")
    frame = exact(batch)
    assert batch.stopped_because is collection.Stop.REFUSED
    assert ("failed validation" if met else "refuses the key") in batch.message
    assert batch.message.startswith("Stopped: judge ")
    assert batch.account.answered == 20
    assert frame["judge"].str.contains(url, regex=False).sum() == 20
    strict.faults = Faults()
    assert in_batches(both, tmp_path / "j.db").complete


def test_a_refused_key_and_an_unknown_model_are_named(plan, server, tmp_path, monkeypatch):
    url, _ = server(require_key="right-and-secret")
    monkeypatch.setenv("JUDGESTATS_API_KEY", "wrong-and-secret")
    with pytest.raises(JudgeError, match="refuses the key"):
        in_batches(plan(url=url), tmp_path / "j.db")
    monkeypatch.setenv("JUDGESTATS_API_KEY", "right-and-secret")
    with pytest.raises(JudgeError, match="does not know the model"):
        in_batches(plan(url=url, judges=("sim-nobody",)), tmp_path / "j.db")
    assert in_batches(plan(url=url), tmp_path / "j.db").account.answered == 20
    assert b"and-secret" not in (tmp_path / "j.db").read_bytes()


# ------------------------------------------------------------------- money


def test_a_cap_hands_in_what_fits_and_one_can_go_on(plan, tmp_path):
    path, app = tmp_path / "j.db", SimulatedServer()
    first = in_batches(
        plan(),
        path,
        simulated_app=app,
        prices=TEN,
        budget=collection.Budget(max_cost=0.012),
        settings={"max_tokens": 50},
    )
    exact(first)
    assert first.stopped_because is collection.Stop.MAX_COST
    assert 0 < first.account.answered < 20
    assert 0 < first.account.cost_usd <= 0.012
    assert "max_cost" in first.message
    rest = in_batches(plan(), path, simulated_app=app, prices=TEN, settings={"max_tokens": 50})
    assert rest.complete
    assert rest.account.cached == first.account.answered


def test_max_requests_and_an_unknown_price(plan, server, tmp_path):
    stopped = in_batches(plan(), tmp_path / "j.db", budget=collection.Budget(max_requests=5))
    assert stopped.stopped_because is collection.Stop.MAX_REQUESTS
    assert stopped.account.requests == stopped.account.answered == 5
    unknown = collection.PriceTable(as_of="2026-01-01", source="test", endpoints={})
    with pytest.raises(BudgetError, match="unknown"):
        in_batches(
            plan(), tmp_path / "k.db", prices=unknown, budget=collection.Budget(max_cost=1.0)
        )


def test_a_dry_run_tells_half_the_price_and_what_waits(plan, server, tmp_path):
    url, _ = server(batch_looks=10**9)
    online = collection.price_plan(plan(url=url), prices=TEN)
    batch = collection.price_plan(plan(url=url), prices=TEN, mode="batch")
    assert batch.cost_usd == pytest.approx([c / 2 for c in online.cost_usd])
    assert "half the price" in str(batch)
    stopped_after(5, plan(url=url), tmp_path / "j.db")
    left = collection.price_plan(
        plan(items=6, url=url), prices=TEN, mode="batch", journal=tmp_path / "j.db"
    )
    assert left.requests == 4
    assert "19 judgments wait in batches" in str(left)


# ------------------------------------------------------------------- going on


def stopped_after(looks, tasks, path, **options):
    """A collection that is interrupted at its so-manyth look."""
    waits = []

    async def sleep(seconds):
        waits.append(seconds)
        if len(waits) > looks:
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0)

    stopped = in_batches(tasks, path, sleep=sleep, handle_signals=True, **options)
    assert stopped.stopped_because is collection.Stop.INTERRUPTED
    assert max(waits) <= 60.0
    assert waits == sorted(waits)
    return stopped, waits


def test_an_interrupt_leaves_the_batch_on_the_server_and_the_same_command_fetches_it(
    plan, server, tmp_path
):
    url, app = server(batch_looks=20)
    stopped, waits = stopped_after(14, plan(url=url), tmp_path / "j.db")
    assert (waits[0], waits[-1]) == (2.0, 60.0)  # looked at ever more seldom
    exact(stopped)
    assert "1 batch goes on on the server (batch_000001)" in stopped.message
    assert "same command" in stopped.message
    rest = in_batches(plan(url=url), tmp_path / "j.db")
    exact(rest)
    assert (rest.account.cached, rest.account.answered) == (1, 19)
    assert len(app.batch_api.batches) == 1
    assert app.batch_api.billed == 19


def test_asked_online_while_it_waits_in_a_batch_it_is_paid_for_twice_and_the_first_answer_stays(
    plan, server, tmp_path
):
    url, _ = server(batch_looks=20)
    path = tmp_path / "j.db"
    stopped_after(2, plan(url=url), path, prices=TEN)
    online = collection.collect_judgments(plan(url=url), journal=path, prices=TEN)
    assert online.account.possibly_billed_twice == 19
    more = in_batches(plan(items=6, url=url), path, prices=TEN)
    assert (more.account.cached, more.account.answered) == (20, 4)
    assert more.frame["asked_at"][:20].tolist() == online.frame["asked_at"].tolist()


def test_a_batch_that_is_gone_from_the_server_is_asked_again(plan, tmp_path):
    url_app = SimulatedServer(Faults(batch_looks=20))
    stopped_after(2, plan(), tmp_path / "j.db", simulated_app=url_app)
    again = in_batches(plan(), tmp_path / "j.db", simulated_app=SimulatedServer())
    exact(again)
    assert again.account.answered == 20
    assert any("is gone from the server" in note for note in again.notes)


def test_a_cancelled_batch_keeps_what_it_answered_and_is_not_handed_in_again(
    plan, server, tmp_path
):
    url, app = server(batch_looks=20)
    stopped_after(2, plan(url=url), tmp_path / "j.db")
    urllib.request.urlopen(
        urllib.request.Request(f"{url}/batches/batch_000001/cancel", method="POST")
    ).close()
    cancelled = in_batches(plan(url=url), tmp_path / "j.db")
    exact(cancelled)
    assert cancelled.stopped_because is collection.Stop.CANCELLED
    assert "was cancelled" in cancelled.message
    assert (cancelled.account.cached, cancelled.account.answered) == (1, 10)
    assert len(app.batch_api.batches) == 1
    rest = in_batches(plan(url=url), tmp_path / "j.db")
    assert (rest.account.cached, rest.account.answered) == (11, 9)


@pytest.mark.parametrize("loss", ["unnamed", "deleted"])
def test_a_completed_batch_without_its_results_is_an_error_and_not_asked_again(
    plan, tmp_path, monkeypatch, loss
):
    app, about = SimulatedServer(), _Batch.about

    def loses(batch):
        told = about(batch)
        if loss == "unnamed":
            return told | {"output_file_id": None}
        app.batch_api._files.pop(str(batch.output_file_id), None)
        return told

    with monkeypatch.context() as losing:
        losing.setattr(_Batch, "about", loses)
        with pytest.raises(JudgeError, match="no file of its results") as failure:
            in_batches(plan(), tmp_path / "j.db", simulated_app=app, prices=TEN)
    assert "20 of 20 requests are without an answer and were probably billed" in str(failure.value)
    assert ("names no output file" if loss == "unnamed" else "HTTP 404") in str(failure.value)
    assert len(app.batch_api.batches) == 1
    again = in_batches(plan(), tmp_path / "j.db", simulated_app=app, prices=TEN)
    assert again.account.answered == 20
    assert again.account.earlier_cost_usd > 0, "what was lost is booked"


@pytest.mark.parametrize("word", ["COMPLETED", "Completed"])
def test_the_end_of_a_batch_is_seen_in_any_case(plan, tmp_path, monkeypatch, word):
    about = _Batch.about

    def shouts(batch):
        told = about(batch)
        return told | {"status": word if told["status"] == "completed" else told["status"].upper()}

    monkeypatch.setattr(_Batch, "about", shouts)
    assert in_batches(plan(), tmp_path / "j.db").account.answered == 20


def test_an_output_file_may_be_named_late(plan, tmp_path, monkeypatch):
    about, looks = _Batch.about, []

    def late(batch):
        told = about(batch)
        looks.append(told["status"])
        few = looks.count("completed") < 4
        return told | ({"output_file_id": None} if few else {})

    monkeypatch.setattr(_Batch, "about", late)
    batch = in_batches(plan(), tmp_path / "j.db")
    assert (batch.account.answered, batch.account.requests) == (20, 20)


def test_what_follows_from_answers_goes_into_batches_of_its_own(plan, tmp_path):
    def follow_up(row):
        if row["stage"] == "final" and row["replicate"] == 0:
            task = next(t for t in tasks if t.item_id == row["item_id"])
            return [replace(task, stage="again")]
        return []

    tasks = plan(items=3, replicates=2)
    app = SimulatedServer()
    batch = in_batches(tasks, tmp_path / "j.db", follow_up=follow_up, simulated_app=app)
    frame = exact(batch)
    assert len(app.batch_api.batches) == 2
    assert frame["stage"].tolist() == ["final", "again", "final"] * 3
    online = collection.collect_judgments(tasks, follow_up=follow_up)
    assert frame[SAME].equals(online.frame[SAME])


class CutsOff:
    """A server that does what it is asked, and whose reply to some calls never arrives."""

    def __init__(self, app, method, ending, times=1):
        self.app, self.method, self.ending, self.left = app, method, ending, times

    async def __call__(self, scope, receive, send):
        cut = self.left and scope["method"] == self.method and scope["path"].endswith(self.ending)
        if not cut:
            await self.app(scope, receive, send)
            return
        self.left -= 1

        async def nowhere(message):
            pass

        await self.app(scope, receive, nowhere)
        raise ConnectionResetError


@pytest.mark.parametrize(
    ("method", "ending"),
    [("POST", "/files"), ("POST", "/batches"), ("GET", "/batch_000001"), ("GET", "/content")],
)
def test_a_reply_that_never_arrives_makes_no_second_batch(plan, tmp_path, quick, method, ending):
    app = SimulatedServer()
    cut = CutsOff(app, method, ending, times=2)
    batch = in_batches(plan(), tmp_path / "j.db", simulated_app=cut, retry=quick)
    assert cut.left == (1 if ending == "/batches" else 0)  # found, not created again
    assert batch.account.answered == 20
    assert len(app.batch_api.batches) == 1
    assert app.batch_api.billed == 20


@pytest.mark.parametrize("ending", ["/files", "/batch_000001", "/content"])
def test_an_endpoint_that_stays_silent_is_named_and_the_same_command_goes_on(
    plan, tmp_path, ending
):
    app = SimulatedServer()
    method = "POST" if ending == "/files" else "GET"
    silent = CutsOff(app, method, ending, times=10**6)
    brief = collection.RetryPolicy(attempts=2, first_s=0.0)
    with pytest.raises(JudgeError, match=r"batch mode: .* the same command goes on"):
        in_batches(plan(), tmp_path / "j.db", simulated_app=silent, retry=brief)
    batch = in_batches(plan(), tmp_path / "j.db", simulated_app=app)
    assert batch.account.answered == 20
    assert app.batch_api.billed == 20
    assert len(app.batch_api.batches) == 1


def test_wrong_parameters_are_named(plan, tmp_path):
    with pytest.raises(InputError, match="name a journal"):
        in_batches(plan(), None)
    with pytest.raises(InputError, match="same judgment twice"):
        in_batches([*plan(), *plan()], tmp_path / "j.db")
    with pytest.raises(InputError, match="online, batch or offline"):
        collection.collect_judgments(plan(), mode="post")


def test_it_can_be_asked_for_where_judgments_are_collected(plan, tmp_path, capsys):
    options = {"journal": tmp_path / "j.db", "progress": True, "simulated_app": SimulatedServer()}
    done = collection.collect_judgments(plan(), mode="batch", **options)
    assert done.account.answered == 20
    said = capsys.readouterr().err
    assert "sim-typical: batch batch_000001 handed in with 20 requests" in said
    assert "completed: 20 of 20 requests answered" in said


class Broke(SimulatedServer):
    """Answers once; then the money is gone."""

    async def __call__(self, scope, receive, send):
        if self.received and scope.get("path", "").endswith("/chat/completions"):
            error = {"message": "You exceeded your quota", "code": "insufficient_quota"}
            await send_json(send, 429, {"error": error})
            return
        await super().__call__(scope, receive, send)


def test_a_quota_that_ends_in_the_first_calls_is_told_once(plan, tmp_path):
    with run_server(app=Broke()) as url:
        tasks = plan(items=2, replicates=1, temperatures=(0.5, 1.0), url=url)
        done = in_batches(tasks, tmp_path / "j.db")
    assert done.stopped_because is collection.Stop.NO_QUOTA
    assert done.message.startswith("Stopped: the quota is used up (")
    assert done.message.count("Stopped:") == 1


def test_over_loopback(plan, server, tmp_path):
    url, app = server(batch_looks=3)
    batch = in_batches(plan(url=url), tmp_path / "j.db", prices=TEN)
    exact(batch)
    assert len(app.batch_api.batches) == 1
    assert (app.received, app.batch_api.billed) == (1, 19)  # one online, to see what is supported
    assert batch.account.answered == 20
    online = collection.collect_judgments(plan(url=url), prices=TEN)
    dear = online.account.cost_usd / 20
    assert batch.account.cost_usd == pytest.approx(dear + 19 * dear / 2, rel=0.05)


def test_online_and_batch_go_on_from_each_other(plan, tmp_path):
    path = tmp_path / "j.db"
    collection.collect_judgments(plan(items=2), journal=path)
    batch = in_batches(plan(items=4), path)
    assert (batch.account.cached, batch.account.answered) == (8, 8)
    online = collection.collect_judgments(plan(items=5), journal=path)
    assert (online.account.cached, online.account.answered) == (16, 4)
    more = in_batches(plan(items=5, replicates=6), path)
    assert (more.account.cached, more.account.answered) == (20, 10)
    assert more.frame["raw_text"].equals(
        collection.collect_judgments(plan(items=5, replicates=6)).frame["raw_text"]
    )


class Telling(SimulatedServer):
    """Repeats the key in every file and batch."""

    async def __call__(self, scope, receive, send):
        key = dict(scope["headers"]).get(b"authorization", b"")

        async def telling(message):
            body = message.get("body", b"")
            told = body.replace(b'"object": "batch"', b'"object": "' + key + b'"')
            told = told.replace(b"fp_simulated_1", key)
            if message["type"] == "http.response.start":
                kept = [h for h in message["headers"] if h[0] != b"content-length"]
                message = {**message, "headers": kept}
            await send({**message, "body": told} if body else message)

        await super().__call__(scope, receive, telling)


def test_a_planted_key_is_found_nowhere(plan, tmp_path, monkeypatch, caplog, capsys):
    planted = "sk-planted-0815-never-to-be-seen"
    monkeypatch.setenv("JUDGESTATS_API_KEY", planted)
    caplog.set_level("DEBUG")
    path = tmp_path / "j.db"
    with run_server(Telling()) as url:
        batch = in_batches(plan(url=url), path, progress=True)
    assert batch.account.answered == 20
    assert set(batch.frame["fingerprint"]) == {"Bearer ***"}
    said = capsys.readouterr()
    for text in (batch.frame.to_csv(), str(batch), caplog.text, said.out, said.err):
        assert planted not in text
    assert all(planted.encode() not in f.read_bytes() for f in tmp_path.iterdir())
