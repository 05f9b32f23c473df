"""Judges that are functions: named, called with what they take, and never raising."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from judgestats import collection
from judgestats.data import Condition, Task
from judgestats.errors import InputError
from judgestats.items import Item, Response
from judgestats.protocols import Correctness, Pointwise, prompted_in

MODULE = """
    import asyncio
    import sys

    class Feedback:
        value, rationale, error = 3, "short", None

    def score(question, answer, temperature=None):
        assert question == "2+2?" and temperature == 0.5
        return len(answer)

    async def waits(prompt):
        await asyncio.sleep(0)
        return "Score: 7"

    def feedback(inputs, outputs):
        assert inputs == {"question": "2+2?"}
        return Feedback()

    def right(answer, reference):
        return answer == reference

    def raises(prompt):
        raise ValueError("no verdict; temperature unsupported, insufficient_quota")

    def nothing(prompt):
        return None

    def ends(prompt):
        sys.exit("no more")

    async def ends_awaited(prompt):
        sys.exit("no more")

    def strange(prompt, weather):
        return 1

    number = 3
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of functions in the folder one stands in."""
    (tmp_path / "mine_for_tests.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "mine_for_tests"
    sys.modules.pop("mine_for_tests", None)


def judged(judge, protocol=None, answers=("four", "5")):
    """What comes of judging each answer once."""
    protocol = protocol or Pointwise()
    item = Item(
        id="q",
        cluster="q",
        turns=("2+2?",),
        reference=("4",),
        responses=tuple(Response(turns=(a,)) for a in answers),
    )
    tasks = [
        Task(
            condition=Condition(judge=judge, temperature=0.5),
            item_id=unit.item_id,
            cluster="q",
            replicate=0,
            build=lambda mode, unit=unit: prompted_in(mode, lambda m: protocol.prompt(unit, m)),
            unit=unit,
        )
        for unit in protocol.units((item,))
    ]
    collected = collection.collect_judgments(tasks)
    said = [str(t) for t in collected.frame["raw_text"].fillna("")]
    return said, collected


@pytest.mark.parametrize(
    ("function", "said"),
    [("score", ["4", "1"]), ("waits", ["Score: 7"] * 2), ("feedback", ["3", "3"])],
)
def test_a_function_is_called_with_what_it_takes(mine, function, said):
    got, collected = judged(f"{mine}:{function}")
    assert got == said
    assert collected.complete
    assert collected.account.requests == 2


def test_yes_and_no_become_the_words_that_are_asked_for(mine):
    got, _ = judged(f"{mine}:right", Correctness(), answers=("4", "5"))
    assert got == ["correct", "incorrect"]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("raises", "no verdict"),
        ("nothing", "a number"),
        ("ends", "SystemExit: no more"),
        ("ends_awaited", "SystemExit: no more"),
    ],
)
def test_what_a_function_raises_is_that_judgments_failure(mine, function, words):
    _, collected = judged(f"{mine}:{function}")
    assert collected.account.failed == 2
    assert collected.account.requests == 2, "not tried again"
    assert any(words in note for note in collected.notes)
    assert not any("asked without" in note for note in collected.notes), "nothing is learned of it"


HANGS = """
import sys
import threading
from judgestats.collection.single_answers import collect_judgments
from judgestats.collection.retry import RetryPolicy
from judgestats.data.columns import Condition, Task
from judgestats.protocols.base import Prompted

def hangs(prompt):
    threading.Event().wait()

async def blocks(prompt):
    threading.Event().wait()

if __name__ == "__main__":
    task = Task(
        condition=Condition(judge=f"hangs_for_tests:{sys.argv[1]}", temperature=0.5),
        item_id="q", cluster="q", replicate=0,
        build=lambda mode: Prompted(
            messages=({"role": "user", "content": "?"},), mode=mode, prompt_sha="0" * 12
        ),
    )
    once = RetryPolicy(attempts=1, unusable_attempts=1)
    got = collect_judgments([task], timeout_s=0.05, retry=once)
    print(got.account.failures)
"""


@pytest.mark.parametrize("function", ["hangs", "blocks"])
def test_a_function_that_hangs_does_not_keep_the_process_from_ending(tmp_path, function):
    (tmp_path / "hangs_for_tests.py").write_text(HANGS)
    done = subprocess.run(
        [sys.executable, "hangs_for_tests.py", function],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "{'timed_out': 1}\n"), done.stderr


def test_a_coroutine_that_blocks_fails_alone():
    async def judge(blocks):
        if blocks:
            free.wait()
        return 7

    async def ask_both():
        loop = collection.OwnLoop()
        try:
            with pytest.raises(TimeoutError):
                await loop.run(judge(True), 0.05)
            return await loop.run(judge(False), 60.0)
        finally:
            free.set()
            loop.close()

    free = threading.Event()
    assert asyncio.run(ask_both()) == 7


def test_two_functions_of_one_file_are_two_judges(mine):
    one, other = (collection.parse_judge(f"{mine}:{f}", environ={}) for f in ("score", "waits"))
    assert one.client_key != other.client_key
    assert one.capability_key != other.capability_key


def test_what_the_file_imports_from_beside_it_is_part_of_the_judge(mine, tmp_path):
    def address():
        return collection.parse_judge(f"{mine}:score", environ={}).address

    file, helper = tmp_path / f"{mine}.py", tmp_path / "own" / "rubric.py"
    helper.parent.mkdir()
    helper.write_text("from . import scale\n")
    (helper.parent / "scale.py").write_text("TOP = 10\n")
    (tmp_path / "unused_here.py").write_text("x = 1\n")
    alone = address()
    file.write_text("from own.rubric import scale\nimport json\n" + file.read_text())
    before = address()
    assert before != alone
    (tmp_path / "unused_here.py").write_text("x = 2\n")
    assert address() == before, "not imported"
    (helper.parent / "scale.py").write_text("TOP = 5\n")
    assert address() != before


def test_names_that_are_no_function_are_told(mine):
    for name, words in [
        (f"{mine}:scor", "Did you mean score?"),
        (f"{mine}:number", "no function 'number'"),
        (f"{mine}:strange", "wants weather"),
    ]:
        with pytest.raises(InputError, match=words):
            collection.function_named(name, served=False).load()
    with pytest.raises(InputError, match="no module 'mine_for_test'"):
        collection.parse_judge("mine_for_test:score", environ={})
    with pytest.raises(InputError, match=f"write {mine}:score"):
        collection.parse_judge(f"{mine}.py:score", environ={})
    with pytest.raises(InputError, match="a function"):
        collection.CollectionRequest.from_options(mode="batch").judge(f"{mine}:score")


def test_a_models_name_with_a_colon_stays_a_models_name():
    environ = {"OPENAI_BASE_URL": "http://localhost:11434/v1"}
    assert collection.parse_judge("llama3:instruct", environ=environ).function is None
    assert (
        collection.parse_judge("llama3:8b@http://localhost:1/v1", environ={}).model == "llama3:8b"
    )


def test_keywords_take_all_that_is_offered():
    assert collection.accepted_by(lambda **all_of_it: 1, "f")["answer"] is True


def test_a_registered_judge_of_mlflow_is_asked(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    from mlflow.genai.judges import make_judge
    from mlflow.genai.judges.instructions_judge import InstructionsJudge

    uri = f"sqlite:///{tmp_path}/m.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    try:
        experiment = mlflow.create_experiment("of mine")
        stored = make_judge(
            name="quality",
            instructions="Rate {{ outputs }} as an answer to {{ inputs }} from 1 to 10.",
            model="openai:/gpt-4o-mini",
            feedback_value_type=int,
        )
        stored.register(name="quality", experiment_id=experiment)
        monkeypatch.setattr(
            InstructionsJudge, "__call__", lambda self, *, inputs, outputs: len(outputs)
        )
        said, _ = judged("mlflow:quality")
        assert said == ["4", "1"]
        assert judged("mlflow:of mine/quality")[0] == said
        with pytest.raises(InputError, match="Did you mean quality"):
            collection.parse_judge("mlflow:qualty", environ={})
    finally:
        mlflow.set_tracking_uri(before)


def test_a_changed_file_is_another_judge(mine, tmp_path):
    before = collection.parse_judge(f"{mine}:score", environ={})
    file = tmp_path / f"{mine}.py"
    file.write_text(file.read_text() + "# changed\n")
    after = collection.parse_judge(f"{mine}:score", environ={})
    assert before.address != after.address
    assert not before.simulated
