"""Half a character in a reply: the run ends well, and its journal can be used again."""

import sqlite3

import mlflow
import pytest

from judgestats.cli import main
from judgestats.simulated import SimulatedServer, run_server

HALF = '{"score": %d, "explanation": "good \\ud83d"}'  # the second JSON layer makes the surrogate


class HalfCharacters(SimulatedServer):
    """Ends every explanation with half an emoji."""

    def __init__(self):
        super().__init__()
        inner = self._completions.reply

        def reply(*arguments, **options):
            made = inner(*arguments, **options)
            for number, choice in enumerate(made["choices"]):
                choice["message"] = {"role": "assistant", "content": HALF % (self.received % 9 + 1)}
                choice["index"] = number
            return made

        self._completions.reply = reply


@pytest.fixture
def url():
    with run_server(HalfCharacters()) as address:
        yield address


def test_half_an_emoji_ends_no_run_and_the_journal_is_read_again(url, workplace, capsys):
    words = ["run", "temperature", "--judges", f"sim-typical@{url}", "--temperatures", "0.5,1"]
    words += ["--limit", "4", "--repeats", "2", "--responses", "1", "--journal", "j.db"]
    words += ["--report", "none", "--resamples", "99"]
    assert main(words) == 0
    db = sqlite3.connect("j.db")
    texts = [text for (text,) in db.execute("SELECT text FROM answers")]
    db.close()
    # version 0.2 kept such an answer in the same way
    assert texts
    assert all(text.endswith('"good \\ud83d"}') for text in texts)
    capsys.readouterr()
    assert main(words) == 0
    assert "0 failed · 16 from the journal" in capsys.readouterr().err
    assert [r.info.status for r in _runs()] == ["FINISHED", "FINISHED"]


def _runs():
    client = mlflow.MlflowClient()
    found = [e.experiment_id for e in client.search_experiments()]
    return [r for r in client.search_runs(found) if "mlflow.parentRunId" not in r.data.tags]
