"""The abstract of an analysis: its numbers are records' fields, its screen stays within bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgestats.results import (
    HEIGHT,
    About,
    Answer,
    Cell,
    Comparison,
    Condition,
    Estimate,
    Headline,
    Interval,
    Note,
    Recommendation,
    Reference,
    Results,
    ResultSet,
    Row,
    Statistic,
    Summary,
    SummaryRow,
    brief_of,
    distinguishable,
    format_record,
    next_line,
    plain_text,
    screen_of,
)
from judgestats.results.numbers import Column


def estimate(name: str, value: float, low: float, high: float, estimand: str) -> Estimate:
    return Estimate(
        id=name,
        hypothesis="reliability",
        role="primary",
        title=name,
        estimand=estimand,
        estimate=value,
        interval=Interval(low=low, high=high),
    )


def results_of(n: int) -> Results:
    """So many judges, each a little less reliable than the one before."""
    labels = [f"judge-{k}, T=1" for k in range(n)]
    icc = [
        estimate(f"icc.{c}", 0.95 - k / 50, 0.9 - k / 50, 0.97 - k / 50, "icc_1_1")
        for k, c in enumerate(labels)
    ]
    sem = [estimate(f"sem.{c}", 0.5, 0.412, 0.613, "sem") for c in labels]
    return Results(
        experiment="audit",
        title="my.csv",
        question="?",
        results=(*icc, *sem),
        conditions=tuple(
            Condition(label=c, judge=c.partition(",")[0], factors={"temperature": 1.0})
            for c in labels
        ),
        rows=(
            Row(
                key="reliability",
                ask="one score's reliability",
                short="reliability",
                estimand="icc_1_1",
                cells={c: f"icc.{c}" for c in labels},
            ),
            Row(
                key="sem",
                ask="SEM (SD of repeated scores)",
                short="SEM",
                estimand="sem",
                cells={c: f"sem.{c}" for c in labels},
            ),
        ),
    )


def test_every_cell_is_a_record_to_its_digits() -> None:
    found = results_of(3)
    brief = brief_of(found)
    for line in brief.lines:
        for cell in line.cells:
            assert (cell.number, cell.bounds) == format_record(found.get(cell.record, Estimate))
    text = plain_text(screen_of(brief))
    assert "judge-0             judge-1" in text
    assert "0.50 [0.41, 0.61]" in text
    assert "T=1" in text.splitlines()[2]  # what all have in common is said once


@pytest.mark.parametrize("n", [1, 2, 4, 15, 40])
@pytest.mark.parametrize("width", [60, 80, 100])
def test_any_number_of_judges_fits(n: int, width: int) -> None:
    brief = brief_of(results_of(n))
    text = plain_text(screen_of(brief, width=width, more="judgestats show RUN"))
    lines = text.splitlines()
    assert len(lines) < HEIGHT
    assert max(map(len, lines)) <= width
    if n == 40:
        assert "more conditions: judgestats show RUN" in text
    elif n == 15 and width == 100:
        assert "more" not in text


def test_only_names_are_cut_and_what_is_left_out_is_said() -> None:
    found = results_of(2)
    brief = brief_of(
        replace(
            found,
            title="x" * 300,
            limitations=tuple(Note(code="l", message=f"{k} " + "word " * 300) for k in range(2)),
            recommendation=Recommendation(text="word " * 200),
        )
    )
    lines = plain_text(screen_of(brief)).splitlines()
    assert len(lines) < HEIGHT
    assert max(map(len, lines)) <= 100
    assert "xxx...xxx" in lines[0]
    assert not any(line.endswith("...") for line in lines)
    assert "USE    in 200 words: --all" in lines
    assert any(line.startswith("MIND   in 60") for line in lines)


def test_notes_of_rows_stand_whole_or_not_at_all() -> None:
    brief = brief_of(results_of(2))
    [first, *rest] = brief.lines
    noted = replace(
        first,
        beside=(
            Reference(words="95 % of what chance alone gives: below", record="r", number=".11"),
            Reference(words="people among themselves, of all pairs", record="r", number=".81"),
        ),
    )
    brief = replace(brief, lines=(noted, *rest))
    said = " ".join(plain_text(screen_of(brief, width=60)).split())
    assert "below .11, people among themselves, of all pairs .81" in said
    small = plain_text(screen_of(brief, width=60, height=6))
    assert "chance alone" not in small


def test_an_answer_breaks_between_subjects_not_within_brackets() -> None:
    text = "It moves: a (2.0 [1.0, 3.0]; 2 effective clusters); " + "; ".join(
        f"judge {k} (2.0 [1.0, 3.0]; 3 effective clusters)" for k in range(12)
    )
    brief = replace(brief_of(results_of(2)), answers=(Answer(claim="differs", text=text),))
    said = plain_text(screen_of(brief, height=14))
    assert said.count("(2.0 [1.0, 3.0];") == said.count("effective clusters)")
    assert "more: --all)" in said


def test_headlines_alike_are_one_sentence() -> None:
    found = results_of(5)
    headlines = tuple(
        Headline(
            id=f"h{k}",
            hypothesis="shift",
            claim="open",
            about=About(stratum=f"j{k}"),
            estimand="sem",
            rests_on=(f"sem.judge-{k}, T=1",),
            p_adjusted=0.5 + k / 10,
            says="no change is shown: mean score",
        )
        for k in range(5)
    )
    [answer] = brief_of(replace(found, headlines=headlines)).answers
    assert answer.text.startswith("No change is shown: mean score, for 5 of 5 - j0 (0.50 [0.41,")
    assert answer.text.endswith("; and 2 more")
    assert answer.records == tuple(f"sem.judge-{k}, T=1" for k in range(3))


def test_headlines_that_name_their_subject_are_one_sentence_that_names_it_once() -> None:
    found = results_of(2)
    headlines = tuple(
        Headline(
            id=f"h{k}",
            hypothesis="place",
            claim="open",
            about=About(judge=f"j{k}", conditions=(f"j{k}, T=1",)),
            estimand="sem",
            rests_on=(f"sem.judge-{k}, T=1",),
            p_adjusted=0.5 + k / 10,
            says=f"neither shown nor ruled out: a preference for a place, j{k}, T=1",
        )
        for k in range(2)
    )
    [answer] = brief_of(replace(found, headlines=headlines)).answers
    start = "Neither shown nor ruled out: a preference for a place - j0, T=1 (0.50 ["
    assert answer.text.startswith(start)
    assert answer.text.count("j0") == answer.text.count("j1") == 1


def test_use_names_the_chosen_and_its_ties() -> None:
    found = replace(
        results_of(2),
        recommendation=Recommendation(
            text="", chosen="a", tied=("a", "b"), replicates=3, reason="the cheapest"
        ),
    )
    assert brief_of(found).use == (
        "a, average 3 judgments: the cheapest",
        "not told from it: b",
    )


def test_what_finds_no_room_is_left_out_whole_and_commands_are_never_cut() -> None:
    use = ("Ask one judge.", f"Show {'both orders and average them ' * 4}.", "Ask again later.")
    mind = ("few questions", "a limit " * 30, "another")
    brief = Summary(
        title="x", facts=(), shared="", columns=(), lines=(), answers=(), use=use, mind=mind
    )
    said = plain_text(screen_of(brief, width=60, height=6))
    assert "..." not in said
    assert "Ask one judge. (2 more: --all)" in said
    assert "few questions (2 more: --all)" in said
    command = "judgestats analyze my-judgments-of-last-week.csv --labels people.csv"
    told = plain_text(next_line(["judgestats show 0", command, "mlflow ui"], 60))
    assert told == "Next  judgestats show 0 · mlflow ui"
    assert plain_text(next_line([command], 60)) == f"Next  {command}"
    page = f"http://host/#/runs/{'0' * 60}"  # a terminal wraps it
    assert page in plain_text(next_line(["judgestats show 0", page], 60))


def test_rows_that_are_called_alike_are_told_apart_by_their_coefficients() -> None:
    rows = [
        Row(key=key, ask="agrees", short="people", estimand=estimand, cells={})
        for key, estimand in (("people", "pearson_with_human"), ("accuracy", "accuracy"))
    ]
    assert [row.short for row in distinguishable(rows)] == ["Pearson's r", "accuracy"]
    assert [row.short for row in distinguishable(rows[:1])] == ["people"]


def test_conditions_that_find_no_room_are_left_out_of_every_judge_alike() -> None:
    levels = [(judge, t) for judge in "abc" for t in (0.0, 0.3, 0.5, 0.7, 1.0)]
    columns = tuple(
        Column(label=f"{judge}, T={t:g}", name=f"{judge}, T={t:g}", group=judge)
        for judge, t in levels
    )
    line = SummaryRow(
        key="sem", ask="SEM", short="SEM", unit="",
        cells=tuple(Cell(column=c.label, number="0.123", bounds="[0.1, 0.2]") for c in columns),
    )  # fmt: skip
    brief = Summary(
        title="x", facts=(), shared="", columns=columns, lines=(line,), answers=(), use=(), mind=()
    )
    said = plain_text(screen_of(brief, height=14, more="judgestats show 0"))
    for judge in "abc":
        assert [f"{judge}, T={t}" in said for t in ("0 ", "0.3", "0.5", "0.7", "1 ")] == [
            True, False, True, False, True,
        ]  # fmt: skip
    assert said.endswith("and 6 more conditions: judgestats show 0")
    # What is advised and what the answers tell stand among them, on a narrow screen too.
    told = replace(brief, told=("b, T=0.3", "c, T=1", "c, T=0.7", "a, T=0.7"))
    for height, kept in ((14, told.told), (8, ("b, T=0.3", "c, T=1", "a, T=0.7"))):
        said = plain_text(screen_of(told, height=height))
        assert all(f"{label} " in said for label in kept)


def test_nothing_was_asked_only_where_every_judge_is_simulated() -> None:
    def only(*simulated: bool, stage: tuple[bool, ...] = ()) -> bool:
        facts = {
            "simulated": any((*simulated, *stage)),
            "judges": [{"name": str(i), "simulated": s} for i, s in enumerate(simulated)],
            "stage_judges": [{"name": str(i), "simulated": s} for i, s in enumerate(stage)],
        }
        return Results(experiment="x", question="?", results=(), facts=facts).all_simulated

    assert only(True, True)
    assert not only(True, False)
    assert not only(True, stage=(False,))
    assert not only(False)
    assert not Results(experiment="x", question="?", results=()).all_simulated


def test_a_condition_has_one_name() -> None:
    found = results_of(2)
    headline = Headline(
        id="h", hypothesis="x", claim="open", about=About(stratum="judge-1, T=1"),
        estimand="sem", rests_on=("sem.judge-1, T=1",), says="no change",
    )  # fmt: skip
    brief = brief_of(replace(found, headlines=(headline,)))
    assert [c.name for c in brief.columns] == ["judge-0", "judge-1"]
    assert brief.answers[0].text.startswith("No change: judge-1 (0.50 [")


def test_a_claim_of_a_study_is_told_without_a_number_of_one_cell() -> None:
    found = results_of(2)
    claim = Headline(
        id="h", hypothesis="benchmarks", claim="open", about=About(varied="Judged less reliably."),
        rests_on=("icc.judge-0, T=1",), says="open: Judged less reliably.",
        reason="in 2 of 8 cells",
    )  # fmt: skip
    [answer] = brief_of(replace(found, headlines=(claim,))).answers
    assert answer.text == "Open: Judged less reliably"


def pair(a: str, value: float, p: float, adjusted: float) -> Comparison:
    return Comparison(
        id=f"pairs/{a}", hypothesis="spread", role="primary", title=a, part_of="pairs",
        a=a, b="none", estimand="gmd_ratio", estimate=value, method="t",
        statistic=Statistic(symbol="t", value=2.0), p=p, p_adjusted=adjusted,
        interval=Interval(low=0.8 * value, high=1.25 * value),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "p", "pairs", "told"),
    [
        (
            "differs", 0.015, [pair("before", 1.28, 0.029, 0.059), pair("after", 1.1, 0.2, 0.2)],
            ("Scatter differs, p = .015; farthest apart: two repeats of before differ "
            "1.28 [1.02, 1.60] times as much as those of none, p = .059, interval not "
            "adjusted"),
        ),
        (
            "differs", 0.015, [pair("before", 1.28, 0.005, 0.015), pair("after", 1.1, 0.2, 0.2)],
            ("Scatter differs: two repeats of before differ "
            "1.28 [1.02, 1.60] times as much as those of none, p = .015"),
        ),
        (
            "differs", 0.015, [pair("before", 1.28, 0.059, 0.059)],
            ("Scatter differs, p = .015; the pair: two repeats of before differ "
            "1.28 [1.02, 1.60] times as much as those of none, p = .059"),
        ),
        (
            "open", 0.384, [pair("before", 1.28, 0.029, 0.384), pair("after", 1.1, 0.2, 0.4)],
            ("Scatter differs: two repeats of before differ "
            "1.28 [1.02, 1.60] times as much as those of none, p = .384, interval not adjusted"),
        ),
    ],
)  # fmt: skip
def test_the_pair_that_tells_the_size_of_a_claim_has_its_own_p(claim, p, pairs, told) -> None:
    whole = ResultSet(
        id="pairs", hypothesis="spread", role="primary", title="pairs", name="pairs", method="t",
        members=tuple(r.id for r in pairs),
    )  # fmt: skip
    headline = Headline(
        id="h", hypothesis="spread", claim=claim, about=About(varied="x"), rests_on=("pairs",),
        estimand="gmd_ratio", p_adjusted=p, says="scatter differs",
    )  # fmt: skip
    found = results_of(2)
    found = replace(found, results=(*found.results, whole, *pairs), headlines=(headline,))
    assert [answer.text for answer in brief_of(found).answers] == [told]


def test_the_effect_of_a_test_is_called_by_its_name() -> None:
    found = results_of(1)
    effect = estimate("w", 0.046, 0.005, 0.082, "kendalls_w")
    trend = estimate("trend", 0.34, 0.06, 0.54, "mean_rank_trend")
    found = replace(found, results=(*found.results, effect, trend))
    headlines = tuple(
        Headline(
            id=f"h.{r.id}", hypothesis=r.id, claim="open", about=About(judge="j"),
            estimand="accuracy", rests_on=(r.id,), says=f"open {r.id}",
        )
        for r in (effect, trend)
    )  # fmt: skip
    first, second = brief_of(replace(found, headlines=headlines)).answers
    assert first.text == "Open w: j (W = .046 [.005, .082])"
    assert second.text == "Open trend: j (rank correlation with the order .34 [.06, .54])"


def test_what_could_not_be_computed_is_told_apart_by_its_question() -> None:
    def undefined(hypothesis: str, subject: str, estimand: str) -> Headline:
        return Headline(
            id=f"h.{subject}", hypothesis=hypothesis, claim="undefined",
            about=About(stratum=subject), estimand=estimand, reason="one side does not vary",
        )  # fmt: skip

    headlines = (
        undefined("judges", "a and b", "pearson_of_judges"),
        undefined("people", "b", "pearson_with_human"),
    )
    answers = brief_of(replace(results_of(2), headlines=headlines)).answers
    assert answers[0].text.startswith("One score's reliability: from judge-1 (.93")
    assert [answer.text for answer in answers[1:]] == [
        f"Could not be computed: Pearson's r - {subject} (one side does not vary)"
        for subject in ("a and b", "b")
    ]


def test_a_description_names_numbers_in_place_each_a_records() -> None:
    found = results_of(2)
    told = Headline(
        id="h", hypothesis="x", claim="described", about=About(),
        rests_on=("icc.judge-1, T=1", "sem.judge-0, T=1"),
        says="reliability: judge-1, T=1 {0}; SEM {1} points",
    )  # fmt: skip
    [answer] = brief_of(replace(found, headlines=(told,))).answers
    assert answer.text == ("Reliability: judge-1 .930 [.880, .950]; SEM 0.50 [0.41, 0.61] points")
    assert answer.records == told.rests_on


def test_what_was_asked_first_is_answered_first_then_differences() -> None:
    def claimed(name: str, claim: str, says: str) -> Headline:
        return Headline(
            id=f"h.{name}", hypothesis=name, claim=claim, about=About(judge="j"),  # type: ignore[arg-type]
            p_adjusted=0.3, says=says,
        )  # fmt: skip

    headlines = (
        claimed("first", "open", "first"),
        claimed("later", "open", "later"),
        claimed("other", "differs", "other"),
    )
    for kind, order in (("experiment", "first other later"), ("drift", "other first later")):
        found = replace(results_of(1), kind=kind, headlines=headlines)  # type: ignore[arg-type]
        assert [a.text.split(":")[0].lower() for a in brief_of(found).answers] == order.split()


def test_alike_p_names_each_judge_before_a_second_finding_of_any() -> None:
    headlines = tuple(
        Headline(
            id=f"h.{name}", hypothesis="moved", claim="differs",
            about=About(judge=name[0], stratum=name), p_adjusted=0.002, says="moves the judge",
        )
        for name in ("a tone", "a length", "a place", "b length", "c tone")
    )  # fmt: skip
    [answer] = brief_of(replace(results_of(1), headlines=headlines)).answers
    assert answer.text == (
        "Moves the judge, for 5 of 5: a tone (p = .002); b length (p = .002); c tone (p = .002); "
        "and 2 more"
    )
    [four] = brief_of(replace(results_of(1), headlines=headlines[1:])).answers
    assert "more" not in four.text  # a single one is named rather than counted


def test_claims_of_a_study_are_named_under_their_verdict() -> None:
    headlines = tuple(
        Headline(
            id=f"h.{k}", hypothesis=f"c{k}", claim="described", says=f"stands: Claim {k} holds.",
            about=About(varied=f"Claim {k} holds."),
        )
        for k in range(6)
    )  # fmt: skip
    found = replace(results_of(1), kind="replication", headlines=headlines)
    [answer] = brief_of(found).answers
    assert answer.text == "Stands: " + "; ".join(f"Claim {k} holds" for k in range(6))
    counted, after = brief_of(replace(found, answer="Of 6 claims: 6 stand.")).answers
    assert (counted.text, after) == ("Of 6 claims: 6 stand.", answer)


def test_choices_are_counted_where_scores_are_averaged() -> None:
    advice = Recommendation(text="", chosen="a", reason="the best", replicates=3)
    for counted, said in (
        ("", "average 3 judgments"),
        ("choices", "ask 3 times and count the choices"),
    ):
        brief = brief_of(replace(results_of(1), recommendation=replace(advice, counted=counted)))
        assert brief.use == (f"a, {said}: the best",)


def test_rows_give_way_to_answers_where_not_all_of_them_find_room() -> None:
    brief = brief_of(results_of(30))
    told = "; ".join(f"sentence {k} of the answer with its numbers and words" for k in range(6))
    crowded = replace(brief, answers=(Answer(claim="differs", text=told),), use=("ask",))
    text = plain_text(screen_of(crowded, width=100, closing=2))
    assert "sentence 5" in text
    assert "more conditions" in text
    assert len(text.splitlines()) <= HEIGHT - 2


def test_the_conditions_advised_and_those_of_numbers_in_the_answers_are_told() -> None:
    found = results_of(4)
    labels = [c.label for c in found.conditions]
    one = replace(found.results[0], id="far", about=About(conditions=(labels[2], "elsewhere")))
    claim = Headline(
        id="h", hypothesis="reliability", claim="differs", says="they differ", size="far",
        rests_on=("far",), about=About(),
    )  # fmt: skip
    advice = Recommendation(text="", chosen=labels[3])
    brief = brief_of(
        replace(found, results=(*found.results, one), headlines=(claim,), recommendation=advice)
    )
    assert "far" in brief.answers[0].records
    assert brief.told == (labels[3], labels[2])


def test_mind_takes_lines_that_are_to_spare() -> None:
    mind = tuple(f"limit {k} of these data, in a few words" for k in range(9))
    columns = tuple(Column(label=f"c{k}", name=f"c{k}") for k in range(30))
    line = SummaryRow(key="sem", ask="SEM", short="SEM", unit="",
                cells=tuple(Cell(column=c.label, number="0.123") for c in columns))  # fmt: skip
    brief = Summary(
        title="x", facts=(), shared="", columns=columns, lines=(line,), answers=(), use=(),
        mind=mind[:3],
    )  # fmt: skip
    assert "limit 2" in plain_text(screen_of(brief))
    few = replace(brief, columns=columns[:2], lines=(replace(line, cells=line.cells[:2]),))
    said = plain_text(screen_of(replace(few, mind=mind)))
    assert "limit 8" in said
    assert len(said.splitlines()) < HEIGHT


def test_a_simulated_judge_is_the_first_to_mind() -> None:
    notes = (
        Note(code="few_questions", message="few", values={"short": "few"}),
        Note(code="simulated", message="SIMULATED", values={"short": "SIMULATED"}),
    )
    assert brief_of(replace(results_of(1), limitations=notes)).mind[0] == "SIMULATED"
