"""A judge of ours as MLflow's scorer, in an evaluation whose assessments are audited again."""

import subprocess
import sys
import textwrap

import mlflow
import pytest

import judgestats as js
from judgestats.errors import InputError

JUDGE = """
    def length(question, answer):
        return "I will not say." if answer == "silent" else 1 + len(answer)

    def fails(answer):
        raise ValueError("the function is broken")
"""


@pytest.fixture
def mine(workplace, monkeypatch):
    """A module of functions that judge, in the folder one stands in."""
    (workplace / "mine_for_mlflow.py").write_text(textwrap.dedent(JUDGE))
    monkeypatch.chdir(workplace)
    monkeypatch.setattr(sys, "path", [str(workplace), *sys.path])
    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
    # the default pool of SQLite's connections is smaller than MLflow's workers are many
    monkeypatch.setenv("MLFLOW_GENAI_EVAL_MAX_WORKERS", "2")
    yield "mine_for_mlflow"
    sys.modules.pop("mine_for_mlflow", None)


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:.*Any type hint is inferred"
)
def test_a_judge_of_ours_judges_in_an_evaluation(mine):
    """The evaluation's own results hold the verdicts, and the run is audited like any other."""
    answers = ["a", "bb", "ccc", "silent"]
    rows = [{"inputs": {"question": f"Q{a}?"}, "outputs": a} for a in answers]
    length = js.mlflow.scorer(f"{mine}:length", name="length")
    passes = js.mlflow.scorer("sim-stated", protocol="pass_fail")
    done = mlflow.genai.evaluate(data=rows, scorers=[length, passes])
    assert done.metrics["length/mean"] == 3
    frame = js.read_judgments(done.run_id)
    scores = frame[frame["factor_scorer"] == "length"].set_index("status")["score"]
    assert sorted(scores["ok"]) == [2, 3, 4]
    assert list(scores.index).count("unparseable") == 1
    other = frame[frame["factor_scorer"] == "pass_fail"]
    assert set(other["choice"]) <= {"yes", "no"}  # as MLflow says true and false
    assert set(other["judge"]) == {"sim-stated"}
    sha = passes(inputs="?", outputs="!").metadata["judgestats.prompt_sha"]
    assert set(other["prompt_sha"]) == {sha}


def test_a_second_judgment_of_an_answer_is_a_repetition():
    noisy = js.mlflow.scorer("sim-noisy", temperature=1.0)
    said = [noisy(inputs={"question": "2+2?"}, outputs="It is 4.") for _ in range(8)]
    assert [f.metadata["judgestats.replicate"] for f in said] == list("01234567")
    assert len({f.value for f in said}) > 1


def test_what_is_asked_of_it_is_taken_from_inputs_outputs_and_expectations():
    right = js.mlflow.scorer("sim-stated", protocol="correctness", question="ask")
    told = {"expectations": {"expected_facts": ["four"]}}
    said = right(inputs={"ask": "2+2?", "user": "me"}, outputs={"answer": "four"}, **told)
    assert said.value in {True, False}
    with pytest.raises(InputError, match="correctness needs the true answer"):
        right(inputs={"ask": "2+2?"}, outputs="four")
    with pytest.raises(InputError, match="the inputs have no member 'ask'"):
        right(inputs={"question": "2+2?"}, outputs="four", **told)


def test_a_judge_that_fails_is_an_error_with_its_reason(mine):
    said = js.mlflow.scorer(f"{mine}:fails")(inputs="2+2?", outputs="4")
    assert said.value is None
    assert said.error.error_code == "FAILED"


def test_wrong_words_are_named():
    with pytest.raises(InputError, match="protocol: expected pointwise, pass_fail, correctness"):
        js.mlflow.scorer("sim-stated", protocol="pass-fail")
    with pytest.raises(InputError, match=r"no option 'temprature'\. Did you mean temperature"):
        js.mlflow.scorer("sim-stated", temprature=1)


def test_judgestats_alone_loads_no_mlflow():
    code = "import judgestats, sys; assert 'mlflow' not in sys.modules; judgestats.mlflow.scorer"
    subprocess.run([sys.executable, "-c", code], check=True)
