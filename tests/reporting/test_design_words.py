"""What the design section says of a run whose temperature is the server's."""

from types import SimpleNamespace

from judgestats.reporting.sections import design


def test_answers_at_the_servers_temperature_are_said_to_be_so():
    answers = {"temperatures": [None, 0.75], "settings": {"top_k": 50}, "answers": 4}
    run = SimpleNamespace(facts={"answers": answers})
    said = design._answered_by(run)
    assert "temperature default" in said
    assert "k 50" in said
