"""Original requests of the studies through runs: to the byte on the wire, and named everywhere."""

import asyncio
import hashlib
import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from judgestats.analysis import Analysis
from judgestats.cli import main
from judgestats.collection import (
    Abilities,
    Encoded,
    Sampling,
    collect,
    parse_judge,
    request_body,
    sent_of,
)
from judgestats.data import Condition, Task
from judgestats.errors import InputError, JudgeError
from judgestats.protocols import UNRELATED, Prompted, ReplyMode, Status, prompted_in
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.simulated import SimulatedServer
from judgestats.studies.rewording import VERDICTS

COUNTED = ("equivalent", "same_direction", "opposite", "not_estimable")
STANDINS = Path(__file__).parents[1] / "studies" / "standins"
EXPECTED = {
    (row["method"], row["item"]): row
    for row in json.loads((STANDINS / "expected.json").read_text("utf-8"))
}


def prepared(experiment: str, **given: str):
    asked = {"preset": "paper", "judges": "sim-typical", "dry_run": "true", **given}
    return prepare(load_design(experiment), asked)


def original(experiment: str, **given: str):
    study = load_design(experiment).study
    return prepared(experiment, study_files=str(STANDINS / study), **given)


def pointwise(experiment: str, **given: str):
    return original(experiment, items=str(STANDINS / "pointwise.jsonl"), **given)


def test_a_dry_run_prints_the_request_of_the_first_item_to_the_byte(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["run", "temperature", "--preset", "paper", "--dry-run", "true", "--json"]
    files = ["--study_files", str(STANDINS / "llmasjudge")]
    items = ["--items", str(STANDINS / "pointwise.jsonl")]
    assert main([*arguments, *files, *items]) == 0
    document = json.loads(capsys.readouterr().out)
    [asked] = [r for r in document["requests"] if r["condition"] == "gpt-4o-mini, T=0.5"]
    row = EXPECTED["pointwise/none/none", "s1"]
    assert {name: asked[name] for name in row} == row
    assert json.dumps(asked["tool"]) == json.dumps(row["tool"])  # the order of keys too
    assert document["wording"].startswith("Prompts: the study's text, read from core.py lines")


def test_the_bytes_on_the_wire_are_those_of_the_study() -> None:
    run = pointwise("temperature", temperatures="0,0.5")
    [_, condition] = run.conditions
    task = next(t for t in run.tasks if t.condition == condition)
    prompted = prompted_in(ReplyMode(run.parameters.reply), task.build)
    spec = run.judges["sim-typical"]
    sent = sent_of(spec, condition, prompted.mode, Sampling(choices=10), Abilities(), choices=10,
                   draw=0)  # fmt: skip
    body = json.loads(request_body(spec, Encoded(prompted), sent))
    row = EXPECTED["pointwise/none/none", "s1"]
    assert body == {
        "model": "sim-typical",
        "temperature": 0.5,
        "n": 10,
        "messages": row["messages"],
        "functions": row["tool"],
        "function_call": row["tool_choice"],
    }
    assert list(body["functions"][0]) == list(row["tool"][0])


def test_ten_choices_share_one_request(capsys: pytest.CaptureFixture[str]) -> None:
    run = pointwise("temperature")
    assert run.parameters.samples_per_request == 10
    arguments = ["run", "temperature", "--preset", "paper", "--judges", "sim-typical"]
    arguments += ["--items", str(STANDINS / "pointwise.jsonl"), "--temperatures", "0.5,1"]
    assert main([*arguments, "--dry-run", "true"]) == 0
    assert "4 requests" in capsys.readouterr().out  # 2 items x 2 temperatures, 10 judgments each


def test_raw_text_goes_to_the_path_of_completions() -> None:
    run = original(
        "head_to_tail",
        items=str(head_to_tail_file()),
        map="",
    )
    spec = run.judges["sim-typical"]
    assert (spec.wire, spec.path) == ("completions", "/completions")
    prompted = prompted_in(ReplyMode.TEXT, run.tasks[0].build)
    sent = sent_of(spec, run.conditions[0], prompted.mode, Sampling(), Abilities(), choices=1,
                   draw=0)  # fmt: skip
    body = json.loads(request_body(spec, Encoded(prompted), sent))
    assert "messages" not in body
    assert body["prompt"] == EXPECTED["head_to_tail", "h1"]["messages"]


def head_to_tail_file() -> Path:
    return STANDINS / "head_to_tail.json"


def ask_once(wire: str, prompted: Prompted, mode: ReplyMode, app: object = None) -> str:
    """The text of one reply of a simulated judge."""
    spec = replace(parse_judge("sim-typical"), wire=wire)
    task = Task(condition=Condition(judge="sim-typical", temperature=0.5), item_id="q", cluster="q",
                category="", replicate=0, order="", build=lambda _: prompted)  # fmt: skip
    asked = {"judges": {"sim-typical": spec}, "reply_mode": mode, "simulated_app": app}
    frame = asyncio.run(collect([task], journal=None, **asked)).read()
    return str(frame["raw_text"].iloc[0])


def test_the_simulated_server_answers_both_wires_and_legacy_functions() -> None:
    text = "Rate from 1 to 10.\n[The Start of Answer]\n42\n[The End of Answer]\nScore: [[number]]"
    raw = Prompted(
        messages=({"role": "user", "content": text},), mode=ReplyMode.TEXT, prompt_sha=""
    )
    assert "Score: [[" in ask_once("completions", raw, ReplyMode.TEXT)
    run = pointwise("temperature")
    called = prompted_in(ReplyMode.FUNCTION, run.tasks[0].build)
    assert 1 <= json.loads(ask_once("chat", called, ReplyMode.FUNCTION))["score"] <= 10


def test_a_server_without_completions_is_named() -> None:
    async def app(scope, receive, send):  # type: ignore[no-untyped-def]
        if scope["type"] == "http":
            paths.append(scope["path"])
            await send({"type": "http.response.start", "status": 405, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})
            return
        await SimulatedServer()(scope, receive, send)

    paths: list[str] = []
    raw = Prompted(messages=({"role": "user", "content": "x"},), mode=ReplyMode.TEXT, prompt_sha="")
    with pytest.raises(JudgeError, match=r"raw text; sim-typical at .* has no /completions"):
        ask_once("completions", raw, ReplyMode.TEXT, app)
    assert paths == ["/v1/completions"]


def test_paraphrases_say_so_and_original_needs_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = prepared("temperature", items="bank")
    assert run.wording.kind == "paraphrase"
    assert run.wording_statement.startswith(
        "Prompts: paraphrases written for judgestats, not the study's text (wording=paraphrase)."
    )
    assert any(note.startswith("Prompts: paraphrases") for note in run.notices)
    with pytest.raises(InputError, match="Run judgestats items fetch llmasjudge, or give"):
        prepared("temperature", items="bank", wording="original")
    with pytest.raises(InputError, match="Add preset=paper"):
        prepare(load_design("temperature"), {"wording": "original"})
    assert main(["run", "temperature", "--help", "--all"]) == 0
    assert "paraphrases unless study_files" in " ".join(capsys.readouterr().out.split())


def test_fetched_files_make_the_original_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "llmasjudge").symlink_to(STANDINS / "llmasjudge")
    monkeypatch.chdir(tmp_path)
    items = str(STANDINS / "pointwise.jsonl")
    assert prepared("temperature", items=items).wording.kind == "original"
    assert prepared("temperature", items=items, wording="paraphrase").wording.kind == "paraphrase"
    with pytest.raises(InputError, match="has a context"):
        prepared("temperature", items="bank")
    own = tmp_path / "mine.txt"
    own.write_text("{context} {question} {response}")
    assert prepared("temperature", items="bank", prompt=str(own)).wording.kind == ""
    with pytest.raises(InputError, match="a custom prompt"):
        prepared("temperature", items="bank", prompt=str(own), wording="original")


def test_sub_scores_are_added_as_the_study_adds_them() -> None:
    run = pointwise("guidelines", guidelines="none,subscores", temperatures="1")
    condition = next(c for c in run.conditions if c.factors["guideline"] == "subscores")
    protocol, unit = run.protocols[condition], run.units[condition][0]

    def read(text: str) -> tuple[Status, float | None]:
        verdict = protocol.read(unit, ReplyMode.FUNCTION, text)
        return verdict.status, verdict.score

    assert read('{"colour": 2, "shape": 1, "explanation": "x"}') == (Status.OK, 3.0)
    assert read('{"colour": 2, "explanation": "x"}')[0] is Status.UNPARSEABLE
    assert read('{"colour": 2, "shape": 9, "explanation": "x"}')[0] is Status.OUT_OF_SCALE
    assert read("no JSON")[0] is Status.UNPARSEABLE


def test_pairs_of_the_crowd_are_asked_with_the_study_s_text(tmp_path: Path) -> None:
    run = original("crowd", items="bank", strategies="vanilla,cce@2", pairs="4", key_points="0",
                   scaling="none", selections="none")  # fmt: skip
    statement = run.wording_statement
    assert "src/prompt.py lines" in statement
    assert "are paraphrases" in statement
    first = run.conditions[0]
    [call, *_] = run.protocols[first].calls(run.units[first][0], {})  # type: ignore[attr-defined]
    system, user = call.build(ReplyMode.TEXT).messages
    assert system["content"] == 'Stand-in: choose A or B. Write "[[A]]" or "[[B]]".'
    assert user["content"].startswith("[Task]\n")


def test_a_run_logs_whose_words_it_sent(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "temperature", "--preset", "paper", "--judges", "sim-typical"]
    arguments += ["--items", str(STANDINS / "pointwise.jsonl"), "--temperatures", "0.5,1"]
    arguments += ["--study_files", str(STANDINS / "llmasjudge"), "--report", "md"]
    assert main([*arguments, "--resamples", "99", "--crosscheck", "no", "--detail", "full"]) == 0
    assert "Prompts: the study's text" in capsys.readouterr().err
    [report] = workplace.glob("mlruns/*/*/artifacts/report.md")
    assert "read from core.py lines" in report.read_text("utf-8")
    [kept] = workplace.glob("mlruns/*/*/artifacts/prompts/rendered.json")
    assert "Stand-in text. Give 1-10." in kept.read_text("utf-8")


def test_options_are_sent_in_the_rotations_of_the_study(tmp_path: Path) -> None:
    source = json.loads((STANDINS / "items.json").read_text("utf-8"))["options"]
    items = tmp_path / "options.jsonl"
    lines = [
        {"id": i["id"], "turns": [i["question"]], "cluster": i["id"],
         "responses": [{"turns": [o], "author": str(n)} for n, o in enumerate(i["options"])]}
        for i in source
    ]  # fmt: skip
    items.write_text("\n".join(map(json.dumps, lines)))
    run = original("grade_score", items=str(items))
    for condition, asked in run.requests.items():  # the random option is drawn, not in the file
        rows = [(run.protocols[condition].request(u), u.item_id) for u in run.units[condition]]
        if condition.factors["unrelated"] == "no":
            assert all(
                sent.messages == EXPECTED[sent.method, item]["messages"] for sent, item in rows
            )
            assert len({(sent.method, item) for sent, item in rows}) == 5
        assert asked.method.endswith("/rotation_1")
    [unit] = [u for u in run.units[condition] if (u.item_id, u.order) == ("o1", "2/4")]
    assert unit.item.responses[unit.shown[0]].author == UNRELATED
    assert unit.shown[1:] == (0, 1, 2)  # the random option first, then the options as given


@pytest.mark.parametrize(
    ("experiment", "tree", "message"),
    [
        ("temperature", "no_core", r"core\.py is not in"),
        ("grade_score", "renamed", "llm_eval.py: no assignment of eval_input in evaluate"),
        ("crowd", "notebook", "MAIN.ipynb: no cell assigns mtbench_template"),
    ],
)
def test_files_that_cannot_be_read_are_refused_before_any_item(
    experiment: str, tree: str, message: str
) -> None:
    files = STANDINS / "broken" / tree / load_design(experiment).study
    with pytest.raises(InputError, match=message):
        prepared(experiment, study_files=str(files), items="bank")


def test_the_rehearsal_needs_no_items_that_a_study_can_ask(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command of the hint works where the study's files were fetched too."""
    shutil.copytree(STANDINS / "llmasjudge", workplace / "data" / "llmasjudge")
    assert main(["run", "temperature", "--preset", "paper", "--dry-run", "true"]) == 2
    hint = capsys.readouterr().err.split("Rehearse without them: judgestats ")[1]
    assert main(shlex.split(" ".join(hint.split()).removesuffix("."))) == 0


def test_both_wordings_are_conditions_and_the_claim_is_compared(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each arm is sent as the study wrote it and as a paraphrase; a table compares the claim."""
    run = pointwise("reasoning", wording="both", temperatures="1")
    levels = ["original", "paraphrase", *(f"pointwise_{k}" for k in range(2, 9))]
    assert [c.factors["wording"] for c in run.conditions] == [w for w in levels for _ in range(3)]
    texts = {c.factors["wording"]: run.protocols[c].template.name for c in run.conditions[3:]}
    assert texts == {"paraphrase": "pointwise"} | {w: w for w in levels[2:]}
    assert {c.factors["wording"] for c in run.requests} == {"original"}
    assert "Conditions of another wording have paraphrases" in run.wording_statement
    items = [
        {"id": f"q{i}", "question": f"What is {i} + {i}?", "response": f"It is {2 * i}."}
        for i in range(12)
    ]
    (workplace / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    arguments = ["--preset", "paper", "--judges", "sim-typical", "--items", "items.jsonl"]
    files = ["--study_files", str(STANDINS / "llmasjudge"), "--wording", "both"]
    few = ["--temperatures", "1", "--repeats", "4", "--report", "none"]
    assert main(["run", "reasoning", *arguments, *files, *few]) == 0
    assert "other wordings, 16 comparisons:" in " ".join(capsys.readouterr().out.split())
    [path] = workplace.glob("mlruns/*/*/artifacts/results.json")
    [table] = [r for r in json.loads(path.read_text())["results"] if r["id"] == "rewording"]
    assert [row[:2] for row in table["rows"]] == [
        [f"{level} over none, sim-typical at T=1", w]
        for level in ("before", "after")
        for w in levels[1:]
    ]
    assert {row[-1] for row in table["rows"]} <= set(VERDICTS)
    metrics = json.loads(path.read_text())["metrics"]
    assert sum(metrics[f"rewording/{v}"] for v in COUNTED) == 16


def both_wordings(experiment: str, items: str, **given: str) -> Analysis:
    """A run with simulated judges under both wordings."""
    files = STANDINS / load_design(experiment).study
    asked = {"preset": "paper", "wording": "both", "study_files": str(files), "items": items}
    asked |= {"repeats": "2", "resamples": "99", "report": "none", "judges": "sim-typical"}
    return run_experiment(load_design(experiment), asked | given).analysis


def test_the_random_option_is_compared_under_both_wordings(workplace: Path) -> None:
    (workplace / "options.jsonl").write_text("\n".join(map(json.dumps, option_rows(4))))
    found = both_wordings("grade_score", "options.jsonl", prompts="1,4", distractor="no,yes")
    [table] = [r.result.tidy() for r in found.results if r.id == "rewording"]
    where = [f"sim-typical at T=0.3 and prompt={p}" for p in (1, 4)]
    assert table["contrast"].to_list() == [
        *(f"yes minus no, {w}" for w in where),
        *(f"prompt=1 minus prompt=4, sim-typical at T=0.3 and {o}" for o in ("no", "yes")),
    ]
    assert set(table["verdict"]) <= set(VERDICTS)
    assert sum(found.metrics[f"rewording/{v}"] for v in COUNTED) == len(table) == 4


def test_instructions_of_the_paper_are_sent_and_shown(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(STANDINS / "cce", Path("data") / "cce")
    paper = STANDINS / "paper" / "crowd.txt"
    arguments = ["run", "crowd", "--preset", "paper", "--study-files", str(paper)]
    arguments += ["--items", "bank", "--judges", "sim-crowd", "--strategies", "vanilla,cce@2"]
    arguments += ["--pairs", "4", "--key-points", "1", "--selections", "none", "--scaling", "none"]
    instructions = [
        "Stand-in removal text. Delete the verdict, keep the reasons.",
        "Stand-in key points text. List aspects and sub-points.",
    ]
    assert main([*arguments, "--dry-run", "true"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "crowd.txt (sha256 " in shown
    assert "does not publish (long, criteria, plan, aggregate) are paraphrases" in shown
    assert all(f"[user] {text}" in shown for text in instructions)
    assert main([*arguments, "--repeats", "1", "--report", "md", "--resamples", "99"]) == 0
    [folder] = workplace.glob("mlruns/*/*/artifacts/prompts")
    raw = pd.read_parquet(folder.parent / "data" / "raw.parquet")
    for stage, text in zip(("removal", "points"), instructions, strict=True):
        template = f"{text}\n\n{{judgments}}"
        sent = {hashlib.sha256(template.encode()).hexdigest()[:12]}
        assert set(raw.loc[raw["stage"].str.startswith(stage), "prompt_sha"]) == sent
    assert all(text in (folder / "rendered.json").read_text() for text in instructions)
    stored = [f for f in folder.parent.rglob("*") if f.suffix in {".txt", ".md", ".json"}]
    for text in instructions:
        holders = {f.name for f in stored if text in f.read_text(encoding="utf-8")}
        assert holders == {"rendered.json"}


def test_strategies_have_rows_under_both_wordings(workplace: Path) -> None:
    found = both_wordings("crowd", "bank", judges="sim-crowd", strategies="vanilla,cce@2",
                          pairs="4", key_points="0", scaling="none", selections="none")  # fmt: skip
    asked = {f"wording={w}" for w in ("original", "paraphrase")}
    [accuracy] = [row for row in found.records().rows if row.key == "accuracy"]
    assert {label.rpartition(", ")[2] for label in accuracy.cells} == asked


def option_rows(n: int) -> list[dict[str, object]]:
    """Items with three options each."""
    return [
        {"id": f"o{i}", "turns": [f"Question {i}?"], "cluster": f"o{i}",
         "responses": [{"turns": [f"option {k} of {i}"], "author": str(k)} for k in range(3)]}
        for i in range(n)
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["pairwise", "pairwise-before"])
def test_a_comparison_is_read_from_the_fields_of_the_study(tmp_path: Path, method: str) -> None:
    pairs = [
        {"question": f"Q{i}?", "response_a": "x", "response_b": "y", "author_a": "m",
         "author_b": "k", "winner": "a"}
        for i in range(4)
    ]  # fmt: skip
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    run = original("alignment", items=str(file), item_options="", methods=f"{method},pointwise")
    condition = next(c for c in run.conditions if c.factors["method"] == method)
    protocol, unit = run.protocols[condition], run.units[condition][0]
    tool = EXPECTED[f"pairwise/{'before' if 'before' in method else 'none'}", "p1"]["tool"]
    [name] = [k for k, v in tool[0]["parameters"]["properties"].items() if "enum" in v]
    words = {"model_a": "first", "model_b": "second", "tie": "tie"}
    for word, position in words.items():
        reply = json.dumps({"explanation": f'The "{name}": none', name: word})
        verdict = protocol.read(unit, ReplyMode.FUNCTION, reply)
        assert (verdict.status, verdict.extra["position"]) == (Status.OK, position)


def test_a_raw_verdict_is_read_as_the_study_counts() -> None:
    run = original("head_to_tail", items=str(head_to_tail_file()), map="")
    [condition] = run.conditions
    protocol, unit = run.protocols[condition], run.units[condition][0]
    read = {
        text: protocol.read(unit, ReplyMode.TEXT, text).choice
        for text in ("correct\nQuestion: Two?", "It is incorrect.", "I do not know", " ")
    }
    assert list(read.values()) == ["correct", "incorrect", "incorrect", None]
    assert any("correct and not incorrect" in note for note in run.notices)
    assert not any("five systems" in note for note in run.notices)


def test_a_selection_is_read_as_the_study_reads_it(tmp_path: Path) -> None:
    items = [{"question": f"Q{i}?", "responses": ["x", "y", "z"]} for i in range(2)]
    file = tmp_path / "options.jsonl"
    file.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    run = original("grade_score", items=str(file), prompts="1", distractor="no")
    protocol, unit = run.protocols[run.conditions[0]], run.units[run.conditions[0]][0]
    read = {
        text: protocol.read(unit, ReplyMode.TEXT, text).extra.get("position", "")
        for text in (
            "Option 3 is nice. Selection: I choose Option 2, not Option 1",
            "I think Option 2",
            "Selection: Option 0",
            "Selection: Option 9",
            "Selection: none",
        )
    }
    assert list(read.values()) == ["2", "2", "", "", ""]
