"""Files whose meaning is easy to misread: read right, or asked about with working commands."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.data import reading_of
from judgestats.errors import InputError

FOLDER = Path(__file__).parent / "fixtures" / "misread"
QUIET = ("--track", "none", "--report", "none", "--json")
READ = {
    "04_games.jsonl": (
        (),
        {"items": 36, "orders": 2, "repeats": 1},
        [("order_consistency", "", "", 0.944), ("win_rate", "", "m", 0.41)],
    ),
    "05_unread.csv": (
        (),
        {"judgments": 163, "missing": 77, "labels": 240},
        [("agreement", "", "", 0.865), ("tpr", "", "", 0.825), ("tnr", "", "", 0.924)],
    ),
    "06_query_documents.csv": ((), {"items": 192, "clusters": 24}, [("mean", "", "", 1.531)]),
    "07_criteria.csv": ((), {"items": 24, "judges": 2, "criteria": 2, "repeats": 2}, []),
    "08_scores.csv": (
        ("--labels", str(FOLDER / "08_labels.csv")),
        {"items": 36, "criteria": 2, "repeats": 2, "human_raters": 3},
        [
            ("pearson_r", "tone", "", 0.871),
            ("pearson_r", "accuracy", "", 0.888),
        ],
    ),
    "09_before.csv": ((), {"items": 80, "repeats": 3}, [("pass_rate", "", "", 0.5)]),
    "09_after.csv": ((), {"items": 80, "repeats": 3}, [("pass_rate", "", "", 0.287)]),
    "10_scores_in_list.json": (
        (),
        {"items": 24, "repeats": 3},
        [("sem", "", "", 0.667), ("icc_1_1", "", "", 0.759)],
    ),
    "11_records_by_id.json": ((), {"items": 24, "judgments": 24}, [("mean", "", "", 3.125)]),
    "12_status.csv": (
        (),
        {"items": 12, "repeats": 2},
        [("sem", "", "", 1.291), ("icc_1_1", "", "", 0.197)],
    ),
    "15_events.jsonl": ((), {"items": 36, "judgments": 36, "rows_filtered": 36}, []),
    "17_systems_criteria.csv": (
        (),
        {"systems": 2, "criteria": 2, "judges": 1, "repeats": 1, "clusters": 36},
        [("mean", "correctness", "dense", 1.861), ("mean", "correctness", "sparse", 3.167)],
    ),
    "18_judges_missing.csv": ((), {"items": 120, "judges": 6, "missing": 176}, []),
    "19_not_applicable.csv": ((), {"not_applicable": 15, "unparsed": 0, "judgments": 57}, []),
    "20_scale.csv": ((), {"items": 48, "labels": 48}, []),
}
ASKED = {
    "01_candidates_in_list.json": (
        "--map verdict=answers[].grade,system=answers[].bot",
        {"items": 36, "systems": 3, "repeats": 1},
        [("mean", "", s, m) for s, m in (("Alpha", 1.25), ("Beta", 2.75), ("Gamma", 3.75))],
    ),
    "02_condition_beside_list.json": (
        "--map verdict=votes[].winner --factor prompt_template",
        {"items": 12, "repeats": 6},
        [("flip_rate", "p1", "", 0.217), ("flip_rate", "p2", "", 0.0)],
    ),
    "03_row_id.csv": (
        "--map criterion=name --item traceId --human source=ANNOTATION",
        {"items": 36, "criteria": 2, "labels": 18},
        [("agreement", "correct", "", 0.833), ("mean", "helpfulness", "", 0.497)],
    ),
    "13_cache.csv": ("--judge-rows cached=false", {"items": 24, "repeats": 1}, []),
    "16_trials.csv": ("--item task_id,trial", {"items": 192, "clusters": 48, "repeats": 1}, []),
}
REPLIES = {
    "21_replies_pairs.csv": ("pairwise", ["b", "b", "a"]),
    "21_replies_scores.csv": ("pointwise", [4.0, 8.0, 4.5]),
}


def document(capsys, *words):
    """The exit code and the JSON that a command prints."""
    code = main(list(map(str, words)))
    return code, json.loads(capsys.readouterr().out)


def check(found, counts, statistics):
    """Compare counts, and statistics to the digits that are known."""
    got = found["reading"]["counts"]
    assert {k: got[k] for k in counts} == counts
    for name, place, system, value in statistics:
        hits = [
            s["value"]
            for s in found["statistics"]
            if s["name"] == name
            and s["system"] == system
            and place in s["criterion"] + s["condition"]
        ]
        assert any(v == pytest.approx(value, abs=6e-4) for v in hits), (name, place, system, hits)


@pytest.mark.parametrize("name", READ)
def test_a_file_easy_to_misread_is_read_right(name, workplace, capsys):
    further, counts, statistics = READ[name]
    code, found = document(capsys, "analyze", FOLDER / name, *further, *QUIET)
    assert code == 0
    check(found, counts, statistics)


@pytest.mark.parametrize("name", ASKED)
def test_a_question_holds_the_right_reading_and_each_of_its_commands_works(name, workplace, capsys):
    right, counts, statistics = ASKED[name]
    code, asked = document(capsys, "analyze", FOLDER / name, *QUIET)
    assert (code, asked["reading"]["status"]) == (2, "ask")
    options = [o["command"][3:] for o in asked["reading"]["options"]]
    assert shlex.split(right) in options
    for option in asked["reading"]["options"]:
        check_preview(capsys, FOLDER / name, option)
        if option["command"][3:] == shlex.split(right):
            _, found = document(capsys, *option["command"][1:], *QUIET)
            check(found, counts, statistics)


@pytest.mark.parametrize("name", [n for n in ASKED if n.endswith(".json")])
def test_nested_records_are_asked_about_as_parquet_and_as_a_list_too(name, workplace, capsys):
    right, counts, statistics = ASKED[name]
    records = json.loads((FOLDER / name).read_text())
    with pytest.raises(InputError, match=r"mapping={'verdict': '\w+\[\]\.\w+'"):
        read_judgments(records)
    pd.DataFrame(records).to_parquet("records.parquet")
    _, asked = document(capsys, "analyze", "records.parquet", *QUIET)
    commands = [o["command"] for o in asked["reading"]["options"]]
    command = next(c for c in commands if c[3:] == shlex.split(right))
    _, found = document(capsys, *command[1:], *QUIET)
    check(found, counts, statistics)


@pytest.mark.parametrize("name", ["07_criteria.csv", "08_scores.csv"])
def test_an_id_of_each_row_says_nothing_where_columns_are_criteria(name):
    table = pd.read_csv(FOLDER / name)
    found = read_judgments(table.assign(key=[f"u{7919 * i % 100003}" for i in range(len(table))]))
    assert found.attrs["unused"]["key"] == "row id"
    counts = reading_of(found)["counts"]
    assert counts == reading_of(read_judgments(FOLDER / name))["counts"]


@pytest.mark.parametrize("deep", [False, True])
def test_events_without_a_verdict_are_asked_about_as_such(deep, workplace, capsys):
    records = []
    for i in range(20):
        for event, held in (("request", {"tokens": 7 * i}), ("grade", {"score": i % 6})):
            records.append(
                {"event": event, "item": f"s{i}", **({"payload": held} if deep else held)}
            )
    Path("events.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    _, asked = document(capsys, "analyze", "events.jsonl", *QUIET)
    option, other = asked["reading"]["options"]
    assert other["command"][-2:] == ["--factor", "event"]
    assert option["command"][-2:] == ["--rows", "event=grade"]
    _, found = document(capsys, *option["command"][1:], *QUIET)
    check(found, {"rows_filtered": 20, "judgments": 20}, [("mean", "", "", 2.3)])


def test_rows_of_an_export_that_options_leave_out_are_counted():
    export = FOLDER.parent / "exports" / "langfuse_scores.csv"
    counts = reading_of(read_judgments(export, judge_rows="source=EVAL"))["counts"]
    assert (counts["rows_in"], counts["rows_filtered"], counts["judgments"]) == (105, 25, 80)


@pytest.mark.parametrize("name", REPLIES)
def test_replies_that_state_a_verdict_plainly_are_read(name):
    from judgestats import read_judgments

    protocol, right = REPLIES[name]
    frame = read_judgments(FOLDER / name, parse=protocol).sort_values("item_id")
    column = "score" if protocol == "pointwise" else "choice"
    assert frame[column].tolist() == right


def printed_commands(capsys, *words):
    """The commands that a screen shows, and the exit code."""
    code = main(list(map(str, words)))
    screen = "\n".join(capsys.readouterr())
    found = re.findall(r"judgestats (?:analyze|doctor|drift|check|monitor|labels) [^`\n]*", screen)
    return code, list(dict.fromkeys(re.split(r"\s{2,}", c)[0].rstrip(".") for c in found))


def check_preview(capsys, path, option):
    """Run the command of an answer: its counts and first judgments are those of the preview."""
    _, found = document(capsys, *option["command"][1:], *QUIET)
    items, shown = found["reading"]["counts"]["items"], found["reading"]["first_judgments"]
    assert (option["preview"][0], option["preview"][-1]) == (f"{items:,} items", " | ".join(shown))
    main(["analyze", str(path), *QUIET[:4]])
    screen = capsys.readouterr().err
    assert shlex.join(option["command"][3:]) in screen
    assert f"\n      {' | '.join(shown)}"[:101] in screen


def check_printed_commands(capsys, name):
    """Run every command that the screens on a file show: none may be refused."""
    path, further = FOLDER / name, READ.get(name, ((),))[0]
    if name in REPLIES:
        further = ("--parse", REPLIES[name][0])
    verdicts = ("--state", "s.db", "--rate", "high=verdict:5", *further)
    screens = {
        "analyze": (path, *further, *QUIET[:4]),
        "doctor": (path, *further),
        "drift": (path, path, *further),
        "check": (path, *further),
        "monitor": (path, *verdicts),
    }
    shown = {}
    for command, words in screens.items():
        code, commands = printed_commands(capsys, command, *words)
        assert code in {0, 1, 3} or commands, (command, name)
        shown |= dict.fromkeys(commands, command)
    for command, screen in shown.items():
        words = shlex.split(command)[1:]
        if words[:2] == ["labels", "collect"] or "--help" in words:
            continue
        for made in (Path("labels.csv"), Path("more-labels.csv"), Path("s.db")):
            made.unlink(missing_ok=True)
        code = main([*words, *(QUIET[:4] if words[0] == "analyze" else ())])
        assert code in {0, 1, 3}, (screen, command, capsys.readouterr().err)


EVERY = [*READ, *ASKED, *REPLIES]
SOME = ["03_row_id.csv", "05_unread.csv", "17_systems_criteria.csv", "21_replies_scores.csv"]


@pytest.mark.parametrize("name", SOME)
def test_every_printed_command_works(name, workplace, capsys):
    check_printed_commands(capsys, name)


@pytest.mark.study
@pytest.mark.parametrize("name", [n for n in EVERY if n not in SOME])
def test_every_printed_command_works_on_all_files(name, workplace, capsys):
    check_printed_commands(capsys, name)
