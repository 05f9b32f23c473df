"""reply=logprobs, from the request to the weighted score: simulated judges tell theirs."""

import pytest

from judgestats.collection import collect_judgments, price_plan
from judgestats.data import parse_judgments
from judgestats.protocols import Pointwise, ReplyMode
from judgestats.simulated import SimulatedServer
from judgestats.simulated.judges import truth
from tests.collection.conftest import make_items

PROTOCOL = Pointwise()


def parsed(tasks, **options):
    collected = collect_judgments(tasks, reply_mode=ReplyMode.LOGPROBS, **options)
    raw = collected.read()
    units = {(u.item_id, u.order): u for u in PROTOCOL.units(make_items(9))}
    return parse_judgments(
        raw, protocols=dict.fromkeys(raw["condition"], PROTOCOL), units=units
    ), collected


def test_the_weighted_score_is_the_exact_mean_before_temperature(plan, tmp_path):
    tasks = plan(items=3, replicates=2, temperatures=(0.2, 1.0), judges=("sim-noisy",))
    frame, first = parsed(tasks, journal=tmp_path / "j")
    assert set(first.reply_modes.values()) == {"logprobs"}
    for item in make_items(3):
        chances = truth("sim-noisy").score_probabilities(
            item.question, item.responses[0].text, temperature=1.0
        )
        mean = sum(score * p for score, p in chances.items())
        own = frame[frame["item_id"] == item.id]
        assert own["weighted_score"].to_numpy() == pytest.approx(mean, abs=1e-3)
        assert (own["scale_mass"] > 0.999).all()
    assert (frame["score"] % 1 == 0).all()
    assert price_plan(tasks, journal=tmp_path / "j", reply_mode=ReplyMode.LOGPROBS).requests == 0
    again, second = parsed(tasks, journal=tmp_path / "j")
    assert second.account.cached == len(tasks)
    assert again["weighted_score"].equals(frame["weighted_score"])


class Mute(SimulatedServer):
    """A server that takes the field and tells nothing."""

    async def __call__(self, scope, receive, send):
        async def silent(message):
            if message["type"] == "http.response.body" and b'"logprobs"' in message["body"]:
                body = message["body"].replace(b'"logprobs"', b'"nologpro"')
                message = {**message, "body": body}
            await send(message)

        await super().__call__(scope, receive, silent)


def test_a_server_that_tells_none_is_named_and_its_scores_are_read(plan):
    tasks = plan(items=2, replicates=2)
    frame, collected = parsed(tasks, simulated_app=Mute())
    assert (frame["status"] == "ok").all()
    assert "weighted_score" not in frame
    assert any("gives no log-probabilities" in note for note in collected.notes)


def test_sampled_scores_are_those_of_plain_text(plan):
    tasks = plan(items=4, replicates=3)
    frame, _ = parsed(tasks)
    plain = collect_judgments(tasks, reply_mode=ReplyMode.TEXT).read()
    assert [t.partition('"reply":"')[2].partition('"')[0] for t in frame["raw_text"]] == list(
        plain["raw_text"]
    )
