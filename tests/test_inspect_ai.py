"""A judge of ours as Inspect's scorer: an evaluation, its log scored again and audited."""

import subprocess
import sys
import textwrap

import pytest

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed: pip install 'judgestats[inspect]' (make live)"
)

from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import write_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import model_graded_qa  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

import judgestats as js  # noqa: E402
from judgestats.inspect_ai import ScorerError, scorer  # noqa: E402

N = 6


def model(name, texts):
    """A model of Inspect that says these texts."""
    outputs = [ModelOutput.from_content(name, text) for text in texts]
    for output in outputs:  # Inspect would count tokens with a file from the network
        output.usage = ModelUsage(input_tokens=3, output_tokens=4, total_tokens=7)
    return get_model(name, custom_outputs=outputs)


def evaluated(folder, scorers, *, answers=("I think it is 4.",) * N, epochs=1):
    samples = [Sample(id=f"q{i}", input=f"What is {i}+{i}?", target=f"{2 * i}") for i in range(N)]
    [log] = inspect_ai.eval(
        inspect_ai.Task(dataset=samples, solver=generate(), scorer=scorers, epochs=epochs),
        model=model("mockllm/answerer", answers),
        log_dir=str(folder),
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    return log


def test_a_log_scored_again_holds_repeated_judgments(tmp_path):
    grades = [f"GRADE: {g}" for g in "CICIIC"]
    grader = model_graded_qa(model=model("mockllm/grader", [*grades, *reversed(grades)]))
    noisy = {"judge": "sim-noisy", "scale": "1-5", "temperature": 1.0}
    log = evaluated(tmp_path, [scorer(**noisy), grader])
    correct = scorer("sim-stated", protocol="correctness")
    log = inspect_ai.score(log, [scorer(**noisy), grader, correct], action="append", display="none")
    write_eval_log(log, str(tmp_path / "again.eval"))
    frame = js.read_judgments(tmp_path / "again.eval")
    by_scorer = dict(list(frame.groupby("factor_scorer")))
    assert set(by_scorer) == {"pointwise", "model_graded_qa", "correctness"}
    noisy_rows = by_scorer["pointwise"]
    assert set(noisy_rows["judge"]) == {"sim-noisy"}
    assert set(noisy_rows["temperature"]) == {1.0}
    assert sorted(noisy_rows["replicate"]) == [0] * N + [1] * N
    first, second = (noisy_rows[noisy_rows["replicate"] == r]["score"].tolist() for r in (0, 1))
    assert first != second  # asked again, not copied
    assert set(by_scorer["model_graded_qa"]["judge"]) == {"mockllm/grader"}
    assert sorted(by_scorer["model_graded_qa"]["replicate"]) == [0] * N + [1] * N
    assert set(by_scorer["correctness"]["choice"]) <= {"correct", "incorrect"}
    assert js.audit(tmp_path / "again.eval", n_resamples=99).results["id"].is_unique


def test_an_unread_reply_is_unscored_with_its_reason(tmp_path, monkeypatch):
    judge = """
        def length(answer):
            if answer == "broken":
                raise ValueError("the function is broken")
            return "I will not say." if answer == "silent" else 1 + len(answer)
    """
    (tmp_path / "mine_for_inspect.py").write_text(textwrap.dedent(judge))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    answers = ("a", "bb", "silent", "broken", "ccc", "dddd")
    log = evaluated(tmp_path, scorer("mine_for_inspect:length"), answers=answers)
    [scores] = log.results.scores
    assert (scores.name, scores.unscored_samples) == ("judged", 2)
    frame = js.read_judgments(log.location)
    assert sorted(frame["status"]) == ["failed", *["ok"] * 4, "unparseable"]
    assert sorted(frame["score"].dropna()) == [2, 3, 4, 5]


def test_answers_that_vary_between_epochs_are_items_of_their_own(tmp_path):
    answers = ["It is 4."] * N + ["It is 4."] * (N - 2) + ["It is 5.", "It is 6."]
    log = evaluated(tmp_path, scorer("sim-typical"), answers=answers, epochs=2)
    frame = js.read_judgments(log.location)
    assert len(frame) == 2 * N
    assert frame["cluster"].nunique() == N
    assert frame["item_id"].nunique() > N
    assert "each is a separate item" in frame.attrs["notes"][0]


def test_the_command_line_of_inspect_lists_it(tmp_path):
    log = evaluated(tmp_path, scorer("sim-typical"))
    command = "from inspect_ai._cli.main import main; main()"
    words = ["score", log.location, "--scorer", "judgestats/judged", "-S", "judge=sim-noisy"]
    again = ["--action", "append", "--output-file", str(tmp_path / "again.eval")]
    subprocess.run([sys.executable, "-c", command, *words, *again], check=True, cwd=tmp_path)
    assert set(js.read_judgments(tmp_path / "again.eval")["judge"]) == {"sim-typical", "sim-noisy"}


def test_wrong_words_are_named(tmp_path, monkeypatch):
    with pytest.raises(ScorerError, match="protocol: expected pointwise, pass_fail, corr"):
        scorer("sim-typical", protocol="pairwise")
    with pytest.raises(ScorerError, match="judge: say which"):
        scorer()
    (tmp_path / "wants_too_much.py").write_text("def length(text, more): return 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ScorerError, match="wants text, more, which no judge is given"):
        scorer("wants_too_much:length")
