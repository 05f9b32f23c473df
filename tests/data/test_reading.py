"""The reading and the statistics that ``--json`` prints, next to values by two other codes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.data import reading_of
from judgestats.errors import InputError

FOLDER = Path(__file__).parent / "fixtures" / "exports"
EXPECTED = {
    f["file"]: f
    for f in json.loads((FOLDER / "expected.json").read_text())["files"]
    if (FOLDER / f["file"]).exists()
}
QUIET = ("--track", "none", "--report", "none", "--json")
CALLED = {"icc1": "icc_1_1"}


def document(capsys, *words):
    code = main(list(map(str, words)))
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_roles_and_statistics_of_an_export(name, workplace, capsys):
    code, found = document(capsys, "analyze", FOLDER / name, *QUIET)
    expected, reading = EXPECTED[name], found["reading"]
    assert (code, reading["status"], reading["version"]) == (0, "ok", 1)
    assert reading["layout"] == expected["layout"]
    assert {k: reading["counts"][k] for k in expected["counts"]} == expected["counts"]
    for role, columns in expected["roles"].items():
        assert set(reading["roles"][role]) & set(columns), role
    for one in expected["statistics"]:
        places = {k: one[k] for k in ("criterion", "system", "judge") if k in one}
        named = CALLED.get(one["name"], one["name"])
        hits = [
            s for s in found["statistics"]
            if s["name"] == named and all(s[k] == v for k, v in places.items())
        ]  # fmt: skip
        assert hits[0]["value"] == pytest.approx(one["value"], abs=6e-5), one
        assert not any(hits[0]["value"] == pytest.approx(v, abs=1e-4) for v in expected["never"])


def test_doctor_prints_the_reading_of_analyze(workplace, capsys):
    path = FOLDER / "langfuse_scores.csv"
    _, analysed = document(capsys, "analyze", path, *QUIET)
    code, looked_at = document(capsys, "doctor", path, "--json")
    assert code == 0
    assert looked_at["reading"] == analysed["reading"]
    assert len(looked_at["reading"]["sentence"]) <= 220


def test_a_question_is_one_document_whose_commands_give_their_preview(workplace, capsys):
    rows = [
        {"task_id": f"t{i}", "trial": k, "success": (i + k) % 2}
        for i in range(12)
        for k in range(3)
    ]
    pd.DataFrame(rows).to_csv("trials.csv", index=False)
    code, asked = document(capsys, "analyze", "trials.csv", *QUIET)
    assert (code, asked["reading"]["status"], list(asked)) == (2, "ask", ["reading"])
    for option in asked["reading"]["options"]:
        code, found = document(capsys, *option["command"][1:], *QUIET)
        counts = found["reading"]["counts"]
        assert code == 0
        assert option["preview"][0] == f"{counts['items']:,} items"
        assert option["preview"][-1] == " | ".join(found["reading"]["first_judgments"])
        assert found["reading"]["options"] == option["command"][3:]


def write_criteria(path):
    """Two judges, two criteria on scales of their own, two runs."""
    rows = [
        {"item_id": f"i{i}", "judge": judge, "run": run,
         "tone": (i + run) % 3, "clarity": 2 + (i * 7 + run) % 4}
        for i in range(24) for judge in ("x", "y") for run in (1, 2)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)


def test_judges_are_compared_within_a_criterion(workplace, capsys):
    write_criteria("criteria.csv")
    _, found = document(capsys, "analyze", "criteria.csv", *QUIET)
    assert found["reading"]["counts"]["criteria"] == 2
    assert found["reading"]["roles"]["criterion"] == ["tone", "clarity"]
    compared = [
        (r["a"].rpartition("=")[2], r["b"].rpartition("=")[2])
        for r in found["results"]["results"] if r["kind"] == "comparison"
    ]  # fmt: skip
    assert {one for one, _ in compared} == {"tone", "clarity"}
    assert all(one == other for one, other in compared)
    assert {s["criterion"] for s in found["statistics"] if s["name"] == "mean"} == {
        "tone", "clarity"
    }  # fmt: skip


def test_columns_by_system_and_criterion(workplace, capsys):
    rows = [
        {"query": f"what is {i}?", "dense_tone": 1 + i % 3, "dense_safety": 1 + i % 4,
         "sparse_tone": 2 + i % 3, "sparse_safety": 1 + (i + 1) % 4}
        for i in range(24)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table.to_csv("wide.csv", index=False)
    _, found = document(capsys, "analyze", "wide.csv", *QUIET)
    counts = found["reading"]["counts"]
    assert (counts["systems"], counts["criteria"], counts["judges"]) == (2, 2, 1)
    means = {
        (s["system"], s["criterion"]): s["value"]
        for s in found["statistics"] if s["name"] == "mean" and s["system"]
    }  # fmt: skip
    assert means == {
        (system, criterion): pytest.approx(table[f"{system}_{criterion}"].mean())
        for system in ("dense", "sparse") for criterion in ("tone", "safety")
    }  # fmt: skip
    set_of_tone = "systems_judged.judge, criterion=tone/"
    (pair,) = [
        r for r in found["results"]["results"]
        if r["kind"] == "comparison" and r["id"].startswith(set_of_tone)
    ]  # fmt: skip
    difference = (table["sparse_tone"] - table["dense_tone"]).mean()
    assert (pair["a"], pair["b"]) == ("sparse", "dense")
    assert pair["estimate"] == pytest.approx(difference)


def test_items_of_one_question_are_a_cluster():
    rows = pd.DataFrame({
        "query_id": [f"q{i // 8}" for i in range(96)], "doc_id": [f"d{i}" for i in range(96)],
        "score": [i * 5 % 4 for i in range(96)],
    })  # fmt: skip
    reading = reading_of(read_judgments(rows))
    assert reading["roles"]["cluster"] == ["query_id"]
    assert (reading["counts"]["items"], reading["counts"]["clusters"]) == (96, 12)


def test_a_status_of_done_is_no_status_of_a_judgment():
    rows = pd.DataFrame({"item_id": list("abcd"), "status": "success", "score": [1, 2, 3, 5]})
    reading = reading_of(read_judgments(rows))
    assert reading["counts"]["judgments"] == 4
    assert "status" in reading["unused"]


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        (["pass", "fail", "n/a", ""], (2, 1, 0, 0, 1)),
        (["pass", "fail", "unparsed", "error: timeout"], (2, 0, 1, 1, 0)),
    ],
)
def test_four_statuses_are_four_counts(cells, counts):
    rows = pd.DataFrame({"item": range(4), "verdict": cells})
    found = reading_of(read_judgments(rows))["counts"]
    names = ("judgments", "not_applicable", "unparsed", "error", "missing")
    assert tuple(found[n] for n in names) == counts


def test_a_rubric_is_scored_by_its_points(workplace, capsys):
    _, found = (
        document(capsys, "analyze", FOLDER / "healthbench_allresults.json", *QUIET)
        if (FOLDER / "healthbench_allresults.json").exists()
        else pytest.skip("the export is not among the fixtures")
    )
    (score,) = [s for s in found["statistics"] if s["name"] == "rubric_score"]
    assert 0 <= score["low"] < score["value"] < score["high"] <= 1


def test_labels_among_columns_of_criteria_are_asked_about():
    rows = pd.DataFrame({
        "id": range(30), "quality": [1 + i % 5 for i in range(30)],
        "relevance": [1 + i % 4 for i in range(30)],
        "human_quality": [2 + i % 4 for i in range(30)],
    })  # fmt: skip
    for named in ("human_quality", "rating_user", "quality_expert"):
        with pytest.raises(InputError):
            read_judgments(rows.rename(columns={"human_quality": named}))


def test_systems_in_a_list_are_no_criteria(workplace):
    names = list(enumerate("xyz"))
    rows = [
        {"id": f"q{i}", "answers": [{"bot": b, "grade": 1 + (i + k) % 4} for k, b in names]}
        for i in range(12)
    ]
    Path("a.json").write_text(json.dumps(rows))
    frame = read_judgments(
        "a.json", mapping={"item_id": "id", "score": "answers[].grade"}, factors=["answers[].bot"]
    )
    assert reading_of(frame)["counts"]["criteria"] == 1


def test_a_criterion_without_a_verdict_is_named(workplace, capsys):
    rows = [
        {"item": f"i{i}", "criterion": c, "score": 1 + i % 5 if c == "tone" else None}
        for i in range(24) for c in ("tone", "facts")
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("half.csv", index=False)
    _, found = document(capsys, "analyze", "half.csv", *QUIET)
    assert found["reading"]["counts"]["missing"] == 24
    assert any("Criterion facts" in str(n) for n in found["results"]["limitations"])


def test_scores_and_words_within_criteria_have_ids_of_their_own(workplace, capsys):
    rows = [
        {"item": f"i{i}", "criterion": c, "judge": j,
         "score": 1 + (i * k) % 5 if j in "ab" else ("pass" if (i * k) % 3 else "fail")}
        for i in range(24) for c in ("tone", "facts") for k, j in enumerate("abcd", start=1)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table["choice"] = table["score"].where(table["judge"].isin(["c", "d"]))
    table["score"] = pd.to_numeric(table["score"], errors="coerce")
    table.to_csv("mixed.csv", index=False)
    code, found = document(capsys, "analyze", "mixed.csv", *QUIET)
    ids = [r["id"] for r in found["results"]["results"]]
    assert code == 0
    assert len(set(ids)) == len(ids)


def test_a_report_of_criteria_is_written_and_claims_are_adjusted_for_all(workplace):
    rng = np.random.default_rng(1)
    rows = [
        {"item": f"i{i}", "judge": j, "run": r, "tone": int(t), "clarity": int(c)}
        for i in range(40) for j in "ab" for r in (1, 2, 3)
        for t, c in [rng.integers(1, 6, 2)]
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("j.csv", index=False)
    assert main(["analyze", "j.csv", "--track", "none", "--report", "md", "--run-name", "r"]) == 0
    (path,) = Path("judgestats-reports").glob("*/results.json")
    found = json.loads(path.read_text())
    claims = {h["id"]: h for h in found["headlines"] if h["p_adjusted"] is not None}
    tests = {r["id"]: r for r in found["results"]}
    both = [c for i, c in claims.items() if i.startswith("headline.gmd")]
    assert len(both) == 2
    for claim in both:
        p = min(tests[m]["p"] for m in tests[claim["rests_on"][0]]["members"])
        assert claim["p_adjusted"] == pytest.approx(min(1.0, 2 * p), abs=1e-9) or (
            claim["p_adjusted"] >= 2 * p
        )
    assert {h["claim"] for h in found["headlines"]} <= {"open", "described"}


def judged(columns=None):
    """Two systems, two criteria, two sessions of two trials, by a judge and (once) two people."""
    rows = [
        {"q": f"q{i}", "bot": bot, "asked": what, "session": s, "n": n, "by": "gpt", "who": "j",
         "points": 1 + (i * 3 + s + n + len(bot)) % (5 if what == "w" else 3)}
        for i in range(15) for bot in ("x", "yy") for what in "wv" for s in (1, 2) for n in (1, 2)
    ]  # fmt: skip
    rows += [
        {"q": f"q{i}", "bot": bot, "asked": what, "by": "human", "who": who,
         "points": 1 + (i * k) % 3}
        for i in range(15) for bot in ("x", "yy") for what in "wv"
        for k, who in enumerate(["ann", "bo"], start=1)
    ]  # fmt: skip
    rows += [{"q": f"q{i}", "by": "regex", "points": 1, "asked": "w", "bot": "x"} for i in range(5)]
    return pd.DataFrame(rows)


ROLES = "item=q,system=bot,criterion=asked,run=session,repeat=n,verdict=points"


def test_every_role_is_mapped_by_its_name(workplace, capsys):
    judged().to_csv("j.csv", index=False)
    given = ("--map", f"{ROLES},rater_kind=by,rater=who")
    code, found = document(capsys, "analyze", "j.csv", *given, *QUIET)
    assert code == 0
    reading = found["reading"]
    held = ("items", "clusters", "systems", "criteria", "repeats", "human_raters", "judgments")
    assert [reading["counts"][k] for k in held] == [30, 5, 2, 2, 4, 2, 240]
    assert reading["counts"]["labels"] == 120
    assert reading["counts"]["rows_filtered"] == 5
    roles = {"item": ["q"], "system": ["bot"], "criterion": ["asked"], "run": ["session"],
             "repeat": ["n"], "verdict": ["points"], "rater": ["who"]}  # fmt: skip
    assert {k: reading["roles"][k] for k in roles} == roles
    _, long = document(
        capsys, "analyze", "j.csv", "--map", ROLES.removeprefix("item=q,") + ",rater=who",
        "--item", "q", "--human", "by=human", "--judge-rows", "by=gpt", *QUIET,
    )  # fmt: skip
    assert long["reading"]["counts"] == reading["counts"]
    assert long["statistics"] == found["statistics"]


def test_rows_are_chosen_before_anything_else(workplace, capsys):
    judged().to_csv("j.csv", index=False)
    table = judged().query("by == 'gpt' and asked == 'w'")
    table.to_csv("part.csv", index=False)
    words = ("--map", ROLES)
    code, whole = document(
        capsys, "analyze", "j.csv", *words, "--rows", "by=gpt", "--rows", "asked=w", *QUIET
    )
    assert code == 0
    _, part = document(capsys, "analyze", "part.csv", *words, *QUIET)
    assert whole["statistics"] == part["statistics"]
    assert whole["reading"]["counts"]["rows_filtered"] == len(judged()) - len(table)
    assert main(["analyze", "j.csv", *words, "--rows", "by=nobody", *QUIET]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--map", "rater_kind=by", "--human", "by=human"), "both state the rater kind"),
        (("--map", "raw_reply=by,raw_text=q"), "are one role"),
        (("--rows", "by"), "COLUMN=VALUE"),
        (("--map", "rater_kind=asked"), "names a judge"),
        (("--map", "speaker=bot"), "not a role"),
    ],
)
def test_roles_that_cannot_be_are_refused(workplace, capsys, words, said):
    judged().to_csv("j.csv", index=False)
    assert main(["analyze", "j.csv", *words, *QUIET]) == 2
    assert said in capsys.readouterr().err


def test_a_condition_by_a_name_of_criteria_is_a_condition_unless_kinds_differ(workplace, capsys):
    rows = [
        {"id": f"i{i}", "name": p, "score": 1 + (i * k) % 5}
        for i in range(24) for k, p in enumerate(["p1", "p2"], start=2)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    frame = read_judgments(table, factors=["name"])
    assert reading_of(frame)["roles"]["condition"] == ["name"]
    assert "criterion" not in frame
    words = table["score"].gt(2).map({True: "pass", False: "fail"})
    table["score"] = table["score"].astype(object).where(table["name"] == "p1", words)
    table.to_csv("t.csv", index=False)
    code, asked = document(capsys, "analyze", "t.csv", "--factor", "name", *QUIET)
    assert (code, asked["reading"]["status"]) == (2, "ask")
    assert asked["reading"]["options"][0]["command"][3:] == ["--map", "criterion=name"]


def test_the_only_further_column_of_a_file_of_labels_holds_them(tmp_path):
    rows = [{"item": f"t{i}", "run": r, "verdict": "pass"} for i in range(9) for r in (1, 2)]
    given = ["Acceptable" if i % 2 else "Not acceptable" for i in range(9)]
    people = pd.DataFrame({"item": [f"t{i}" for i in range(9)], "reviewer_decision": given})
    people.to_csv(tmp_path / "people.csv", index=False)
    frame = read_judgments(pd.DataFrame(rows), labels=tmp_path / "people.csv")
    assert frame.groupby("item_id", sort=False)["label"].first().tolist() == [
        "pass" if i % 2 else "fail" for i in range(9)
    ]
    people.assign(second=given[::-1]).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(InputError, match="Call it label"):
        read_judgments(pd.DataFrame(rows), labels=tmp_path / "people.csv")


def test_labels_in_rows_have_their_rater_next_to_them_and_ties_are_counted(tmp_path):
    rows = [{"item": f"t{i}", "verdict": "pass"} for i in range(9)]
    given = [
        {"item": f"t{i}", "annotator": who, "is_good": int(who == "anna" or i > 2)}
        for i in range(9)
        for who in ("anna", "ben")
    ]
    pd.DataFrame(given).to_csv(tmp_path / "people.csv", index=False)
    frame = read_judgments(pd.DataFrame(rows), labels=tmp_path / "people.csv")
    assert frame["label"].tolist() == [""] * 3 + ["pass"] * 6
    assert {"label_anna", "label_ben"} <= set(frame)
    assert [n.n for n in frame.attrs["notes"] if n.code == "labels_differ"] == [3]
