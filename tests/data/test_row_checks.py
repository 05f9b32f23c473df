"""Rows that are no repeats of one judge: refused, with commands that read the file right."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.data import kind_of_rater
from judgestats.errors import InputError

QUICK = ("--track", "none", "--report", "none", "--resamples", "99")


def commands_in(said: str) -> list[list[str]]:
    """Every command that a refusal prints, as words."""
    found = re.findall(r"judgestats (.*?)(?:    |$)", said, re.M)
    words = [shlex.split(c) for c in found]
    return [w for w in words if w[0] in {"analyze", "drift", "labels"}]


def read_by(words: list[str]) -> pd.DataFrame:
    """What the options of an analyze command read, in the Python function's words."""
    names = {"--map": "mapping", "--factor": "factors"}
    options: dict[str, object] = {}
    rest = iter(words[2:])
    for flag in rest:
        name = names.get(flag, flag.removeprefix("--").replace("-", "_"))
        if flag == "--as-shown":
            options[name] = True
        elif flag == "--map":
            options[name] = dict(p.split("=", 1) for p in next(rest).split(","))
        else:
            value = next(rest)
            listed = flag in {"--item", "--factor", "--explode"}
            options[name] = value.split(",") if listed else value
    return js.read_judgments(words[1], **options)


def readings(path, capsys) -> list[pd.DataFrame]:
    """The readings of all commands that doctor prints, each of which analyze takes."""
    main(["doctor", str(path)])
    said = capsys.readouterr().out
    commands = commands_in(said)
    assert commands, said
    for words in commands:
        assert main([*words, *QUICK]) == 0, words
    capsys.readouterr()
    return [read_by(words) for words in commands]


def agreement(frame: pd.DataFrame) -> float:
    both = frame[frame["label"] != ""]
    return float((both["choice"] == both["label"]).mean())


# Who gave each row ---------------------------------------------------------------------------

N = 24
JUDGED = [int(i % 3 > 0) for i in range(N)]
HELPFUL = [round(0.07 * (i % 13) + 0.01, 2) for i in range(N)]
PEOPLE = {i: int((i % 3 > 0) != (i == 6)) for i in range(0, N, 2)}


def exported(kinds: tuple[str, str]) -> list[dict[str, object]]:
    """A row for each score: an id of its own, two criteria, people's rows among the judge's."""
    judge, person = kinds
    rows: list[dict[str, object]] = []
    for i in range(N):
        given = [("helpful", judge, HELPFUL[i]), ("correct", judge, JUDGED[i])]
        given += [("correct", person, PEOPLE[i])] if i in PEOPLE else []
        rows += [
            {"id": f"k{len(rows) + n}", "traceId": f"t{i}", "name": c, "value": v, "source": s}
            for n, (c, s, v) in enumerate(given)
        ]
    return rows


def plain(rows, path):
    pd.DataFrame(rows).to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def lines(rows, path):
    records = [
        {"id": r["id"], "call_id": r["traceId"], "key": r["name"], "score": r["value"],
         "feedback_source": {"type": r["source"], "user": None}}
        for r in rows
    ]  # fmt: skip
    path = path.with_suffix(".jsonl")
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def nested(rows, path):
    traces: dict[str, list[dict[str, object]]] = {}
    for r in rows:
        entry = {k: r[k] for k in ("name", "value", "source")}
        traces.setdefault(str(r["traceId"]), []).append(entry)
    path = path.with_suffix(".json")
    path.write_text(json.dumps([{"id": k, "scores": v} for k, v in traces.items()]))
    return path


@pytest.mark.parametrize(
    ("form", "kinds"),
    [
        (plain, ("EVAL", "ANNOTATION")),
        (lines, ("model", "app")),
        (nested, ("gpt-4o", "human")),
    ],
)
def test_rows_of_people_are_labels_or_left_out_by_the_printed_commands(
    tmp_path, capsys, form, kinds
) -> None:
    path = form(exported(kinds), tmp_path / "scores")
    labelled, judged, *_ = readings(path, capsys)
    for frame in (labelled, judged):
        correct, helpful = (
            frame[frame["condition"].str.endswith(f"={c}")] for c in ("correct", "helpful")
        )
        assert correct["choice"].eq("pass").mean() == pytest.approx(np.mean(JUDGED))
        assert helpful["score"].mean() == pytest.approx(np.mean(HELPFUL))
        assert len(frame) == 2 * N
        assert frame["item_id"].nunique() == N
        assert set(frame["replicate"]) == {0}
    assert (labelled["label"] != "").sum() == len(PEOPLE)
    assert agreement(labelled) == pytest.approx(1 - 1 / len(PEOPLE))
    assert "label" not in judged


def test_people_who_disagree_give_the_majority_and_ties_are_counted() -> None:
    rows = [{"item": f"i{i}", "passed": i % 2, "annotator_kind": "LLM"} for i in range(8)]
    votes = {0: [1, 1, 0], 1: [1, 0], 2: [0], 99: [1]}
    rows += [
        {"item": f"i{i}", "passed": v, "annotator_kind": "HUMAN"}
        for i, s in votes.items()
        for v in s
    ]
    found = js.read_judgments(rows, human="annotator_kind=HUMAN")
    assert found.set_index("item_id")["label"].to_dict() == {
        f"i{i}": {0: "pass", 2: "fail"}.get(i, "") for i in range(8)
    }
    assert found.attrs["notes"] == [
        "7 labels by people give 2 labelled judgments (1 of no judged item).",
        (
            "1 item has no majority label, so rates rest on items on which raters agree. Let a "
            "further rater decide."
        ),
    ]
    with pytest.raises(InputError, match="leaves no judge's rows"):
        js.read_judgments([r for r in rows if r["annotator_kind"] == "HUMAN"],
                          human="annotator_kind=HUMAN")  # fmt: skip
    with pytest.raises(InputError, match="no judge's rows"):
        js.read_judgments([r for r in rows if r["annotator_kind"] == "HUMAN"])
    apart = [{**r, "item": f"p{r['item']}"} if r["annotator_kind"] == "HUMAN" else r for r in rows]
    with pytest.raises(InputError, match="belongs to a judged item"):
        js.read_judgments(apart, human="annotator_kind=HUMAN")


def test_every_entrance_asks_whose_rows_are_judged(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame(exported(("EVAL", "ANNOTATION"))).query("name == 'correct'")
    rows = rows.rename(columns={"value": "passed", "traceId": "item"})[["item", "source", "passed"]]
    rows.to_csv("scores.csv", index=False)
    (tmp_path / "parts").mkdir()
    again = rows[rows["source"] == "EVAL"].assign(run=2)
    pd.concat([rows.assign(run=1), again]).to_parquet("parts/a.parquet", index=False)
    entrances = {
        "analyze": ["analyze", "scores.csv"],
        "stream": ["analyze", "parts"],
        "drift": ["drift", "scores.csv", "scores.csv"],
        "plan": ["labels", "plan", "scores.csv", "--labels", "5"],
    }
    for name, words in entrances.items():
        assert main(words) == 2, name
        said = capsys.readouterr()
        assert said.out == ""
        commands = commands_in(said.err)
        assert len(commands) == 2, said.err
        for command in commands:
            assert {"--human", "--judge-rows"} & set(command)
            further = QUICK if name in {"analyze", "stream"} else ()
            assert main([*command, *further]) == 0, command
            (tmp_path / "labels.csv").unlink(missing_ok=True)
        out = capsys.readouterr().out
        assert f"{N + len(PEOPLE)} judgments" not in out
        if name == "stream":
            assert f"1 judge × {N} items × 2 repeats" in out
            assert f"{len(PEOPLE)} labels" in out
            assert re.search(r"^Pass rate +\.\d\d", out, re.M)
    with pytest.raises(InputError, match=r"js\.audit\(data, human='source=ANNOTATION'\)"):
        js.audit(rows)
    for call in (js.audit, lambda data, **o: js.drift(data, data, **o)):
        with pytest.raises(InputError, match="Whose is judged"):
            call(rows)
        assert len(call(rows, judge_rows="source=EVAL").conditions) > 0


@pytest.mark.parametrize(
    "levels",
    [("medicine", "law"), ("squad", "truthfulqa"), ("gpt-4o", "claude-3"), ("web", "human rights")],
)
def test_other_words_do_not_ask(levels) -> None:
    rows = pd.DataFrame(
        [{"item": f"i{i}", "judge": j, "score": (i * 3) % 7} for i in range(20) for j in "xy"]
    )
    plain_reading = js.read_judgments(rows)
    rows["source"] = [levels[i % 2] for i in rows["item"].str[1:].astype(int)]
    assert len(js.read_judgments(rows)) == len(plain_reading) == 40


def test_two_columns_that_say_who_gave_a_row_are_both_named() -> None:
    rows = pd.DataFrame(
        [
            {
                "id": f"q{i}",
                "source": source,
                "annotator": who,
                "value": "pass" if i % 3 else "fail",
            }
            for i in range(20)
            for source, who in (("EVAL", "gpt-4o"), ("EVAL", "human"), ("ANNOTATION", "human"))
        ]
    )
    with pytest.raises(InputError, match=r"'source' says who.*--rows annotator=gpt-4o"):
        js.read_judgments(rows)
    one = js.read_judgments(rows, judge_rows="source=EVAL", rows=["annotator=gpt-4o"])
    assert len(one) == 20
    with pytest.raises(InputError, match=r"'annotator' says who.*, too\.") as refused:
        js.read_judgments(rows, judge_rows="source=EVAL")
    [answer] = refused.value.answers
    assert len(js.read_judgments(rows, **answer.options.set_options())) == 20


def test_words_of_raters() -> None:
    words = {"human": ["Human", "annotators", "human_expert_2", "APP"], "judge": ["LLM-as-a-judge"]}
    assert all(kind_of_rater(w) == kind for kind, listed in words.items() for w in listed)
    assert kind_of_rater("humanities") == kind_of_rater("modelling") == ""


def test_labels_by_person_and_criterion_join_on_both(tmp_path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, (30, 2))
    judged = pd.DataFrame({"item": range(30), "tone": truth[:, 0], "depth": truth[:, 1]})
    labels = pd.DataFrame(
        [
            {"item": i, "annotator": a, "criterion": c, "label": truth[i, k]}
            for i in range(30)
            for k, c in enumerate(("tone", "depth"))
            for a in "uv"
        ]
    )
    found = js.read_judgments(judged, wide="criterion=tone,depth", labels=labels)
    assert found["label"].astype(float).tolist() == found["score"].tolist()
    labels.to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(InputError, match="seems to hold human labels"):
        js.read_judgments(tmp_path / "labels.csv")


# What varies within a list's record ----------------------------------------------------------


def written(path, document):
    as_lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, document)) if as_lines else json.dumps(document))
    return path


def test_systems_in_a_list_are_no_repeats(tmp_path, capsys) -> None:
    rng = np.random.default_rng(1)
    grades = {"Alpha": 1, "Beta": 2, "Gamma": 4}
    path = written(tmp_path / "a.json", [
        {"id": f"q{i}", "answers": [{"bot": b, "grade": int(g + rng.integers(0, 2))}
                                    for b, g in grades.items()]}
        for i in range(12)
    ])  # fmt: skip
    by_system, by_condition, by_criterion = readings(path, capsys)
    means = by_condition.groupby("condition")["score"].mean()
    assert means.index.str.extract(r"=(\w+)$")[0].tolist() == ["Alpha", "Beta", "Gamma"]
    assert ((means > [1, 2, 4]) & (means < [2, 3, 5])).all()
    assert by_system.groupby("author")["score"].mean().tolist() == means.tolist()
    assert (by_system["item_id"].nunique(), by_system["cluster"].nunique()) == (36, 12)
    assert by_criterion["criterion"].unique().tolist() == ["Alpha", "Beta", "Gamma"]
    for frame in (by_condition, by_system, by_criterion):
        assert set(frame["replicate"]) == {0}
    with pytest.raises(InputError, match=r"'bot' .* within one id"):
        js.read_judgments(path, explode="answers", mapping={"score": "grade"})


def test_names_in_a_list_of_their_own_are_no_repeats(tmp_path) -> None:
    rows = [{"id": i, "models": ["x", "y", "z"], "scores": [1 + i % 3, 2, 5]} for i in range(9)]
    path = written(tmp_path / "a.json", rows)
    for options in ({"mapping": {"score": "scores[]"}}, {"explode": "scores"}):
        with pytest.raises(InputError, match=r"'models(\[\])?' \(x, y, z"):
            js.read_judgments(path, **options)


@pytest.mark.parametrize("place", ["record", "object"])
def test_a_condition_next_to_a_list_is_not_pooled(tmp_path, capsys, place) -> None:
    rows = []
    for i in range(12):
        for p in ("p1", "p2"):
            own = {"prompt_template": p} if place == "record" else {"config": {"prompt": p}}
            said = ["A" if p == "p2" or r else "B" for r in range(4)]
            votes = [{"winner": w, "run_index": r} for r, w in enumerate(said)]
            rows.append({"sample_id": f"s{i}", "judge_model": "g", **own, "votes": votes})
    path = written(tmp_path / "a.json", rows)
    conditions, items, *_ = readings(path, capsys)
    assert conditions["condition"].nunique() == 2
    assert set(conditions["replicate"]) == {0, 1, 2, 3}
    changed = conditions.groupby(["condition", "item_id"])["choice"].nunique().gt(1)
    assert changed.groupby("condition").mean().tolist() == [1.0, 0.0]
    assert items["item_id"].nunique() == 24


def test_a_mapped_path_does_not_hide_what_stands_next_to_it() -> None:
    rows = [
        {"id": i, "out": {"prompt": p, "score": (i + len(p)) % 5}}
        for i in range(9)
        for p in ("short", "longer")
    ]
    with pytest.raises(InputError, match=r"'out\.prompt' \(short, longer"):
        js.read_judgments(rows, mapping={"score": "out.score"})


def test_two_games_of_a_pair_are_two_orders(tmp_path, capsys) -> None:
    def games(i):
        wins = i % 5 > 1
        return [{"score": "B>A" if wins else "A>>B"}, {"score": "A>B" if wins else "B>A"}]

    rows = [{"uid": f"u{i}", "grader": "j", "model": "m", "games": games(i)} for i in range(30)]
    path = written(tmp_path / "a.jsonl", rows)
    (frame,) = readings(path, capsys)
    by_order = frame.pivot(index="item_id", columns="order", values="choice")
    assert (by_order["0"] == by_order["1"]).all()
    assert frame["choice"].eq("b").mean() == pytest.approx(0.6)
    with pytest.raises(InputError, match="two orders"):
        js.read_judgments(path, explode="games", mapping={"item_id": "uid"}, kind="preference")


def test_scores_in_a_list_are_repeats_by_the_printed_command(tmp_path, capsys) -> None:
    scores = np.random.default_rng(2).integers(1, 6, (20, 3)).tolist()
    path = written(tmp_path / "a.json", [
        {"idx": i, "instruction": f"a longer text of task {i} of this set of tasks",
         "llm_score": s, "feedback": ["some text", "more text", "other text"]}
        for i, s in enumerate(scores)
    ])  # fmt: skip
    frame, *_ = readings(path, capsys)
    wide = frame.pivot(index="item_id", columns="replicate", values="score")
    assert wide.loc[[str(i) for i in range(20)]].to_numpy().tolist() == scores
    exploded = js.read_judgments(path, explode="llm_score")
    assert exploded["score"].tolist() == frame["score"].tolist()


def test_an_object_of_records_by_id_is_a_table(tmp_path) -> None:
    rows = {f"task_{i}": {"judge": "g", "score": i % 5, "feedback": "text"} for i in range(24)}
    frame = js.read_judgments(written(tmp_path / "a.json", rows))
    assert frame["item_id"].tolist() == list(rows)
    assert frame["score"].mean() == pytest.approx(np.mean([i % 5 for i in range(24)]))


def test_copies_of_a_cache_are_no_repeats(tmp_path, capsys) -> None:
    rows = [{"item_id": f"i{i}", "run": r, "score": 1 + (i * 7) % 10, "cached": r > 0}
            for i in range(24) for r in range(4)]  # fmt: skip
    path = plain(rows, tmp_path / "a")
    (frame,) = readings(path, capsys)
    assert len(frame) == frame["item_id"].nunique() == 24
    with pytest.raises(InputError, match="copied from a cache"):
        js.read_judgments(path, ignore="cached")


def test_trials_of_a_task_are_asked_about(tmp_path, capsys) -> None:
    rows = [{"task_id": f"t{i}", "trial": r, "success": (i + r) % 3 > 0}
            for i in range(24) for r in range(4)]  # fmt: skip
    trials, repeats = readings(plain(rows, tmp_path / "a"), capsys)
    assert (trials["item_id"].nunique(), trials["cluster"].nunique()) == (96, 24)
    assert set(trials["replicate"]) == {0}
    assert (repeats["item_id"].nunique(), repeats["replicate"].nunique()) == (24, 4)


def test_columns_of_a_system_and_a_criterion_are_read_from_the_names() -> None:
    rows = [
        {"query": f"query text {i}", "dense_correctness": 1 + i % 3, "dense_safety": 2 + i % 2,
         "sparse_correctness": 2 + i % 3, "sparse_safety": 4}
        for i in range(18)
    ]  # fmt: skip
    frame = js.read_judgments(rows)
    means = frame.groupby(["criterion", "author"])["score"].mean()
    assert means.to_dict() == {
        ("correctness", "dense"): 2.0, ("correctness", "sparse"): 3.0,
        ("safety", "dense"): 2.5, ("safety", "sparse"): 4.0,
    }  # fmt: skip
    assert frame["cluster"].nunique() == 18
    assert set(frame["judge"]) == {"judge"}


def test_labels_that_contradict_one_another_are_in_no_number_whatever_the_order_of_rows():
    rng = np.random.default_rng(4)
    rows = []
    for i in range(60):
        truth = int(rng.random() < 0.6)
        rows += [
            {"item": f"q{i}", "judge": judge, "run": run, "verdict": ("fail", "pass")[right],
             "human_label": ("fail", "pass")[truth if i >= 10 or judge == "a" else 1 - truth]}
            for judge in "ab" for run in range(2) for right in [int(rng.random() < 0.8) == truth]
        ]  # fmt: skip
    rows[-1]["human_label"] = "pass" if rows[-1]["human_label"] == "fail" else "fail"
    frames = [pd.DataFrame(rows), pd.DataFrame(rows).sample(frac=1, random_state=1)]
    found = [js.audit(frame, n_resamples=99) for frame in frames]
    codes = {note.code: note.n for note in js.read_judgments(frames[0]).attrs["notes"]}
    assert codes["labels_differ"] == 1
    assert codes["labels_differ_between_conditions"] == 10
    gains = [f.run.records["panel.gain"] for f in found]
    assert gains[0].sample.n_items == 50
    assert gains[0].estimate == gains[1].estimate


def test_groups_of_other_items_are_asked_about(tmp_path, capsys) -> None:
    scores = {"u": 1, "v": 3}
    path = written(tmp_path / "g.json", {
        m: [{"id": f"{m}{i}", "score": s + i % 3} for i in range(9)] for m, s in scores.items()
    })  # fmt: skip
    by_system, together, by_condition = readings(path, capsys)
    assert by_system.groupby("author")["score"].mean().tolist() == [2, 4]
    assert together.groupby("condition")["score"].mean().tolist() == [3]
    assert by_condition.groupby("condition")["score"].mean().tolist() == [2, 4]
    with pytest.raises(InputError, match=r"'@block' \(u, v \.\.\.\) names groups of id"):
        js.read_judgments(path, item="id")


@pytest.mark.parametrize("stream", ["yes", "no"])
def test_criteria_of_other_items_are_not_pooled(tmp_path, capsys, stream) -> None:
    path = tmp_path / "c.csv"
    pd.DataFrame([
        {"id": f"{c}{i}", "metric": c, "score": s + i % 3}
        for c, s in (("tone", 1), ("depth", 3)) for i in range(9)
    ]).to_csv(path, index=False)  # fmt: skip
    assert main(["analyze", str(path), "--stream", stream, "--json", *QUICK]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reading"]["roles"]["criterion"] == ["metric"]
    means = {s["criterion"]: s["value"] for s in found["statistics"] if s["name"] == "mean"}
    assert means == {"tone": 2, "depth": 4}


@pytest.mark.parametrize("stream", ["yes", "no"])
def test_rows_that_are_there_twice_are_refused_in_any_order(tmp_path, capsys, stream) -> None:
    path = tmp_path / "t.csv"
    rows = pd.DataFrame({"item": range(30), "score": [1 + i % 4 for i in range(30)]})
    twice = pd.concat([rows, rows]).sample(frac=1, random_state=1)
    twice.to_csv(path, index=False)
    assert main(["analyze", str(path), "--stream", stream, *QUICK]) == 2
    assert "30 rows" in capsys.readouterr().err
    twice.assign(replicate=twice.groupby("item").cumcount()).to_csv(path, index=False)
    assert main(["analyze", str(path), "--stream", stream, *QUICK]) == 0
