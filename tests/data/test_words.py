"""Words of verdicts and labels: each cell alone, by one vocabulary, or refused with the option."""

import json
import re
import shlex
from itertools import cycle

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats import data
from judgestats.cli import main
from judgestats.errors import InputError

N = 60
RNG = np.random.default_rng(7)
PEOPLE = RNG.random(N) < 0.6
JUDGE = np.where(RNG.random(N) < 0.8, PEOPLE, ~PEOPLE)

READ = [
    (["PASS"], ["FAILED"], ["pass"], ["fail"]),
    (["PASSED"], ["FAIL"], ["Pass"], ["no"]),
    (["pass"], ["fail"], ["pass"], ["failed"]),
    (["pass"], ["fail"], ["pass", "Passed", "yes"], ["fail", "Failed", "No."]),
    (["Yes."], ["No."], ["1"], ["0"]),
    (["good"], ["poor"], ["pass"], ["fail"]),
    (["correct"], ["wrong"], ["right"], ["incorrect"]),
    (["approved"], ["rejected"], ["pass"], ["fail"]),
    (["true"], ["false"], ["Y"], ["N"]),
    ([1], [0], ["pass"], ["fail"]),
    (["1.0"], ["0.0"], ["pass"], ["fail"]),
    ([True], [False], ["T"], ["F"]),
    (["pass", "PASS", "**Pass**."], ["fail", "'FAIL'", "(Fail)"], ["pass"], ["fail"]),
    (["✅"], ["❌"], ["👍🏽"], ["👎"]),
    (["pass"], ["not pass"], ["meets"], ["does not meet"]),
    (["thumbs_up"], ["thumbs_down"], ["safe"], ["unsafe"]),
    (["compliant"], ["non-compliant"], ["compliant"], ["noncompliant"]),
    (["P"], ["F"], ["pass"], ["fail"]),
]
ASK = [
    (["A"], ["B"], ["pass"], ["fail"], "A=pass,B=fail"),
    (["green"], ["red"], ["pass"], ["fail"], "green=pass,red=fail"),
    (["pass"], ["fail"], ["positive"], ["negative"], "positive=pass,negative=fail"),
    (["pass"], ["fail"], ["green"], ["red"], "label:green=pass,label:red=fail"),
    (["pass"], ["fail", "unsure"], ["pass"], ["fail"], "unsure=fail"),
    (["pass", "1"], ["fail", "0"], ["pass"], ["fail"], "1=pass,0=fail"),
    (["pass"], ["fail"], ["pass", "5"], ["fail", "2"], "5=pass,2=fail"),
    (["Pass"], ["fial"], ["pass"], ["fail"], "fial=fail"),
    (["ok"], ["pas ok"], ["yes"], ["yes, but"], '{"pas ok": "fail", "yes, but": "fail"}'),
    (["right"], ["wrong", "maybe"], ["pass"], ["fail"], "maybe=fail"),
    (["pass"], ["pass (barely)"], ["pass"], ["fail"], "pass (barely)=fail"),
    (["pass", "7"], ["fail"], ["pass"], ["fail"], "7=pass"),
    (["1"], ["0", "maybe"], ["1"], ["0"], "maybe=fail"),
    (["P"], ["F", "maybe"], ["pass"], ["fail"], "maybe=fail"),
]


def table(passes, fails, label_passes, label_fails):
    """The same verdicts and labels, in words drawn in turn."""
    words = ((passes, fails), (label_passes, label_fails))
    verdicts, labels = (
        [own[not good][i % len(own[not good])] for i, good in enumerate(said)]
        for own, said in zip(words, (JUDGE, PEOPLE), strict=True)
    )
    return pd.DataFrame({"item_id": [f"q{i}" for i in range(N)], "verdict": verdicts,
                         "label": [v if i % 3 else "" for i, v in enumerate(labels)]})  # fmt: skip


def held(frame):
    """That verdicts and labels are what was meant; a stream keeps labelled items alone."""
    at = frame["item_id"].str[1:].astype(int).to_numpy()
    assert set(at) >= {i for i in range(N) if i % 3}
    assert frame["choice"].tolist() == np.where(JUDGE, "pass", "fail")[at].tolist()
    said = np.where(PEOPLE, "pass", "fail")
    assert frame["label"].tolist() == [said[i] if i % 3 else "" for i in at]


@pytest.mark.parametrize(("words", "apart"), [*zip(READ, cycle((True, False)))])
def test_words_of_the_vocabulary_are_read_whatever_the_pair(words, apart, tmp_path):
    rows = table(*words)
    if apart:
        labels = rows[["item_id", "label"]]
        held(js.read_judgments(rows.drop(columns="label"), labels=labels))
    rows.to_csv(tmp_path / "my.csv", index=False)
    held(js.read_judgments(tmp_path / "my.csv"))


@pytest.mark.parametrize(("words", "apart"), [*zip(ASK, cycle((True, False)))])
def test_a_word_that_is_not_understood_is_refused_and_can_be_mapped(words, apart, tmp_path, capsys):
    rows = table(*words[:4])
    file, more = tmp_path / "my.csv", []
    if apart:
        rows[["item_id", "label"]].to_csv(tmp_path / "labels.csv", index=False)
        rows, more = rows.drop(columns="label"), ["--labels", str(tmp_path / "labels.csv")]
    rows.to_csv(file, index=False)
    command = ["doctor", str(file), *more]
    assert main(command) == 1
    said = capsys.readouterr().out
    assert "--values" in said
    option = shlex.split(re.search(r"--values[= ]'[^']*'", said)[0])
    assert main([*command, *(o.replace("WHAT", "skip") for o in option)]) in {0, 1}
    assert "Traceback" not in capsys.readouterr().err
    assert main([*command, "--values", words[4]]) == 0
    from judgestats.commands import word_values

    labels = tmp_path / "labels.csv" if apart else None
    held(js.read_judgments(file, values=word_values([words[4]]), labels=labels))


NO_VERDICT = {
    "not_applicable": ["N/A", "n.a.", "not applicable", "N/A - nothing to check", "skipped"],
    "failed": ["error: timeout", "Error: rate limit exceeded", "RateLimitError", "HTTP 503",
               "timed out", "refused (policy)", "api_error"],
    "unparseable": ["unparseable", "parse_error", "[invalid]", "no verdict"],
    "missing": ["", "null", "-", "?"],
}  # fmt: skip


@pytest.mark.parametrize("status", NO_VERDICT)
@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_words_for_no_verdict_are_statuses_on_both_sides(status, ending, tmp_path):
    rows = table(["pass"], ["fail"], ["pass"], ["fail"])
    words = NO_VERDICT[status]
    for i, word in enumerate(words):
        rows.loc[i, ["verdict"]] = word
        rows.loc[N - 1 - i, ["label"]] = word
    file = tmp_path / f"my.{ending}"
    if ending == "csv":
        rows.to_csv(file, index=False)
    elif ending == "json":
        rows.to_json(file, orient="records")
    else:
        rows.to_parquet(file)
    frame = js.read_judgments(file)
    assert frame["status"].tolist() == [status] * len(words) + ["ok"] * (N - len(words))
    assert frame["label"].iloc[N - len(words) :].eq("").all()
    shares = js.audit(frame, n_resamples=9).conditions.iloc[0]
    assert shares["unread_share"] == pytest.approx(
        len(words) / N if status in {"unparseable", "missing"} else 0
    )
    assert shares["pass_rate"] == pytest.approx(JUDGE[len(words) :].mean())


def test_no_part_of_a_word_decides_and_findings_have_no_direction():
    for word in ("positive", "negative", "toxic", "high", "win", "mostly", "passable", "unknown",
                 "pass fail", "correctish", "no_error", "not positive", "no error"):  # fmt: skip
        assert not data.verdict_word(word), word
        assert not data.status_word(word), word
    assert not data.pass_fail_words({"P": 1, "fail": 1}).verdicts.get("P")
    assert data.pass_fail_words({"1": 2, "-1": 1}).verdicts == {"1": "pass", "-1": "fail"}
    levels = [{"item": i, "verdict": ("none", "some", "severe")[i % 3]} for i in range(9)]
    assert set(js.read_judgments(levels)["choice"]) == {"none", "some", "severe"}
    found = [{"item": i, "verdict": ("error", "no error")[i % 2]} for i in range(8)]
    with pytest.raises(InputError, match="--values 'error=WHAT,no error=WHAT'"):
        js.read_judgments(found)
    told = js.read_judgments(found, values={"error": "fail", "no error": "pass"})
    assert told["choice"].tolist() == ["fail", "pass"] * 4
    with pytest.raises(InputError, match="'-1' \\(3\\)"):
        js.read_judgments([{"item": i, "passed": i % 3 - 1} for i in range(9)])


def test_one_word_named_as_a_pass_or_a_fail_settles_two_and_no_more():
    rows = [{"item": i, "verdict": ("ship", "hold")[i % 2]} for i in range(8)]
    assert js.read_judgments(rows, passes="ship")["choice"].tolist() == ["pass", "fail"] * 4
    assert js.read_judgments(rows, fails="hold")["choice"].tolist() == ["pass", "fail"] * 4
    rows += [{"item": 8, "verdict": "block"}, {"item": 9, "verdict": "error: timeout"}]
    with pytest.raises(InputError, match=r"'hold' \(4\), 'block' \(1\).*--fail rest"):
        js.read_judgments(rows, passes="ship")
    for fails in ("rest", ("hold", "block")):
        found = js.read_judgments(rows, passes="ship", fails=fails)
        assert found["choice"].tolist() == ["pass", "fail"] * 4 + ["fail", ""]
        assert found["status"].iloc[-1] == "failed"
    labelled = [row | {"label": "ship" if row["item"] % 3 else "hold"} for row in rows[:8]]
    found = js.read_judgments(labelled, passes="ship")
    assert found["label"].tolist() == ["pass" if i % 3 else "fail" for i in range(8)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"P": "passs"}, "Did you mean pass"),
        ({"P": "pass", "F": "b"}, "either pass and fail, a, b and tie, or numbers"),
        ({"P": "maybe"}, "cannot mean 'maybe'"),
    ],
)
def test_a_meaning_that_no_word_has_is_refused(values, said):
    with pytest.raises(InputError, match=said):
        js.read_judgments("there-is-no-such-file.csv", values=values)


def test_words_may_stand_for_points_and_sides():
    rows = [{"item": i, "grade": ("good", "fair", "bad")[i % 3]} for i in range(9)]
    points = js.read_judgments(rows, values={"good": "3", "fair": "2", "bad": "1"})
    assert points["score"].tolist() == [3, 2, 1] * 3
    pairs = [{"item": i, "winner": ("ours", "theirs", "even")[i % 3]} for i in range(9)]
    sides = {"ours": "a", "theirs": "b", "even": "tie"}
    assert js.read_judgments(pairs, values=sides)["choice"].tolist() == ["a", "b", "tie"] * 3


def stream(tmp_path, words, **more):
    rows = table(*words)
    folder = tmp_path / "large"
    folder.mkdir(exist_ok=True)
    rows = pd.concat([rows.assign(trial=t) for t in (1, 2)])
    rows.drop(columns="label").to_parquet(folder / "part-0.parquet")
    rows[rows["trial"] == 1][["item_id", "label"]].to_csv(tmp_path / "labels.csv", index=False)
    return js.read_judgments(folder, labels=tmp_path / "labels.csv", stream="yes", **more)


@pytest.mark.parametrize("words", [READ[3], READ[12], READ[17]])
def test_a_stream_reads_the_same_words(words, tmp_path):
    labelled = stream(tmp_path, words)
    assert set(labelled["choice"]) - {""} == {"pass", "fail"}
    held(labelled[labelled["replicate"] == 1])


@pytest.mark.parametrize("words", ASK[::3], ids=lambda w: w[4])
def test_a_stream_refuses_the_same_words(words, tmp_path):
    from judgestats.commands import word_values

    with pytest.raises(InputError, match="--values"):
        stream(tmp_path, words[:4])
    labelled = stream(tmp_path, words[:4], values=word_values([words[4]]))
    held(labelled[labelled["replicate"] == 1])


def test_a_stream_counts_the_same_statuses(tmp_path):
    rows = table(["pass"], ["fail"], ["pass"], ["fail"]).drop(columns="label")
    rows.loc[[0, 1, 2, 3], "verdict"] = ["N/A", "error: timeout", "unparsed", "TimeoutError"]
    rows.to_parquet(tmp_path / "one.parquet")
    counted, in_memory = (
        js.read_judgments(tmp_path / "one.parquet", stream=stream)["status"]
        .value_counts()
        .to_dict()
        for stream in ("yes", "no")
    )
    assert {k: n for k, n in counted.items() if n} == in_memory
    assert counted["failed"] == 2


def test_every_door_takes_the_mapping(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = table(["go"], ["stop"], ["go"], ["stop"])
    judged = pd.concat([rows.assign(trial=t) for t in (1, 2)]).drop(columns="label")
    judged.to_csv("a.csv", index=False)
    rows[["item_id", "label"]].to_csv("labels.csv", index=False)
    said = ["--values", "go=pass,stop=fail"]
    words = ["--track", "none", "--report", "none", "--resamples", "99", "--json"]
    assert main(["analyze", "a.csv", "--labels", "labels.csv", *said, *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "--values go=pass,stop=fail" in json.dumps(found)
    assert main(["drift", "a.csv", "a.csv", "--labels", "labels.csv", *said]) == 0
    rows.assign(label=["passed", "mostly"] * (N // 2)).to_csv("odd.csv", index=False)
    assert main(["drift", "a.csv", "a.csv", "--labels", "odd.csv", *said]) == 2
    assert "'mostly' (30)" in capsys.readouterr().err
    plan = ["labels", "plan", "a.csv", "--by", "verdict", "--pilot", "labels.csv"]
    capsys.readouterr()
    assert main([*plan, "--half-width", ".05"]) == 2
    assert "--values 'go=WHAT,stop=WHAT'" in capsys.readouterr().err
    assert main([*plan, "--half-width", ".05", *said]) == 0


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["pass", "fail", "mostly"], ["mostly=pass", "mostly=fail", "mostly=unparsed"]),
        (["pass", "fail", "fial"], ["fial=fail", "category"]),
        (["ja", "nein"], ["ja=pass,nein=fail", "ja=fail,nein=pass", "category"]),
        ([3, 4, 5, -1], ["--values=-1=unparsed", "--values=-1=missing", "--values=-1=skip"]),
        (["A", "B", "C", "D"], ["category"]),
        (["A", "C", "none"], ["choice", "none=unparsed", "none=skip"]),
    ],
)
@pytest.mark.parametrize("command", ["analyze", "doctor"])
def test_commands_for_unknown_words_read_the_file_as_they_show(
    words, values, command, workplace, capsys
):
    column = "grade" if len(words) == 4 else "verdict"
    cells = [words[i % len(words)] for i in range(40)]
    pd.DataFrame({"item": [f"q{i}" for i in range(40)], column: cells}).to_csv("w.csv")
    quiet = ("--track", "none", "--report", "none") if command == "analyze" else ()
    assert main([command, "w.csv", *quiet, "--json"]) == 2
    reading = json.loads(capsys.readouterr().out)["reading"]
    assert reading["status"] == "ask"
    assert [option["command"][-1] for option in reading["options"]] == values
    main(["analyze", "w.csv", "--track", "none", "--report", "none"])
    screen = capsys.readouterr().err
    for option in reading["options"]:
        assert shlex.join(option["command"][3:]) in screen
        assert main(["doctor", *option["command"][2:], "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["reading"]
        assert option["preview"][-1] == " | ".join(found["first_judgments"])


def test_a_refusal_without_an_answer_is_a_document_too(workplace, capsys):
    words = ["gut", "mittel", "schlecht", "pass"]
    rows = [(f"q{i}", words[i % 4]) for i in range(40)]
    pd.DataFrame(rows, columns=["item", "verdict"]).to_csv("w.csv", index=False)
    pd.DataFrame({"item": ["a", "b"], "note": ["x", "y"]}).to_csv("n.csv", index=False)
    for file in ("w.csv", "n.csv", "absent.csv"):
        for words in (
            ("analyze", file, "--track", "none"),
            ("doctor", file),
            ("drift", file, file),
        ):
            assert main([*words, "--json"]) == 2
            reading = json.loads(capsys.readouterr().out)["reading"]
            assert (reading["status"], bool(reading["question"])) == ("ask", True)
            assert [o for o in reading["options"] if "category" not in o["command"]] == []
    main(["analyze", "w.csv", "--values", "gut=pass"])
    way = "judgestats analyze w.csv --values gut=pass --values 'mittel=WHAT,schlecht=WHAT'"
    assert f"Say what they mean: {way}" in capsys.readouterr().err
