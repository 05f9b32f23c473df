"""Models' answers, through the client that asks for judgments: journal, budget, turns, authors."""

import json
from dataclasses import replace

import numpy as np
import pytest

from judgestats.collection import (
    Abilities,
    AnswerPlan,
    Budget,
    Journal,
    Stop,
    collect_answers,
    foreseen_answers,
    parse_judge,
    price_answers,
)
from judgestats.errors import InputError
from judgestats.items import Item, load_bank, with_answers
from judgestats.protocols import AnswerPrompt, PromptTemplate, ReplyMode
from judgestats.simulated import (
    Faults,
    SimulatedServer,
    quality_of,
    read_body,
    run_server,
    simulated_answerer,
    simulated_answerers,
)


def questions(count, turns=1):
    return tuple(
        Item(
            id=f"q{i}",
            cluster=f"q{i}",
            turns=tuple(f"What is {i} plus {t}?" for t in range(turns)),
            responses=(),
        )
        for i in range(count)
    )


def test_every_author_answers_every_item_once_and_is_named():
    plan = AnswerPlan.from_names(
        ["sim-answerer-1", "sim-answerer-9"], temperatures=(0.2, 1.0), samples=2
    )
    answered = collect_answers(questions(3), plan)
    assert answered.complete
    assert not answered.unanswered
    assert len(plan.authors) == 8
    for item in answered.items:
        assert tuple(r.author for r in item.responses) == plan.authors
    assert answered.collected.account.answered == 24
    texts = [r.text for r in answered.items[0].responses]
    assert len(set(texts)) > 4  # temperatures and samples are different draws


def test_a_second_collection_asks_for_nothing_and_gives_the_same(tmp_path):
    plan = AnswerPlan.from_names(["sim-answerer-3", "sim-answerer-4"], temperatures=(0.75,))
    items = questions(4, turns=2)
    journal = tmp_path / "journal.sqlite"
    first = collect_answers(items, plan, journal=journal)
    second = collect_answers(items, plan, journal=journal)
    assert first.items == second.items
    assert (second.collected.account.asked, second.collected.account.cached) == (0, 16)
    more = AnswerPlan.from_names(["sim-answerer-3", "sim-answerer-5"], temperatures=(0.75,))
    third = collect_answers(items, more, journal=journal)
    assert (third.collected.account.answered, third.collected.account.cached) == (8, 8)


def test_a_second_turn_is_asked_after_the_models_own_first_answer():
    seen = []

    class Watching(SimulatedServer):
        async def __call__(self, scope, receive, send):
            body = await read_body(receive)
            seen.append(json.loads(body)["messages"])

            async def again():
                return {"type": "http.request", "body": body, "more_body": False}

            await super().__call__(scope, again, send)

    plan = AnswerPlan.from_names(["sim-answerer-6"], temperatures=(0.5,))
    [item] = collect_answers(questions(1, turns=2), plan, simulated_app=Watching()).items
    assert [m["role"] for m in seen[1]] == ["user", "assistant", "user"]
    assert seen[1][1]["content"] == item.responses[0].turns[0]
    assert "What is 0 plus 1?" in seen[1][2]["content"]
    assert len(item.responses[0].turns) == 2


def test_a_budget_stops_answers_and_says_what_is_missing():
    plan = AnswerPlan.from_names(["sim-answerer-1", "sim-answerer-2"], temperatures=(0.5,))
    answered = collect_answers(questions(4), plan, budget=Budget(max_requests=5))
    assert answered.collected.stopped_because is Stop.MAX_REQUESTS
    assert (len(answered.table), answered.planned, answered.complete) == (5, 8, False)
    assert answered.unanswered
    left = Budget(max_requests=9, max_cost=1.0).less(requests=5, cost=1.5)
    assert (left.max_requests, left.max_cost) == (4, 0.0)


def test_an_answer_cut_off_or_refused_stays_with_its_status():
    plan = AnswerPlan.from_names(["sim-answerer-1"], temperatures=(0.5,))
    for fault, status in (("cut_off", "truncated"), ("filtered", "refused")):
        app = SimulatedServer(Faults(**{fault: 1.0}))
        answered = collect_answers(questions(2), plan, simulated_app=app)
        assert set(answered.table["status"]) == {status}
        assert answered.complete
    assert [r.text for i in answered.items for r in i.responses] == ["", ""]


def test_the_price_counts_what_the_journal_holds_and_judges_can_be_priced_before(tmp_path):
    plan = AnswerPlan.from_names(
        ["gpt-4o-mini"], environ={"OPENAI_API_KEY": "x"}, settings={"top_k": 50}
    )
    items = questions(3, turns=2)
    price = price_answers(items, plan, journal=tmp_path / "none.sqlite")
    assert (price.requests, price.judges[0].cached) == (6, 0)
    assert 0 < price.cost_usd[0] < price.cost_usd[1]
    assert not (tmp_path / "none.sqlite").exists()
    foreseen = foreseen_answers(items, plan)
    assert all(len(i.responses[0].turns) == 2 for i in foreseen)

    simulated = AnswerPlan.from_names(["sim-answerer-4"])
    journal = tmp_path / "journal.sqlite"
    answered = collect_answers(items, simulated, journal=journal)
    assert foreseen_answers(items, simulated, journal=journal) == answered.items
    assert price_answers(items, simulated, journal=journal).requests == 0


def test_the_table_as_a_file_gives_the_same_items(tmp_path):
    items = questions(3, turns=2)
    answered = collect_answers(items, AnswerPlan.from_names(simulated_answerers()[:3]))
    path = tmp_path / "answers.jsonl"
    answered.table.to_json(path, orient="records", lines=True)
    assert with_answers(items, path) == answered.items


def test_top_k_goes_out_where_it_is_taken_and_a_refusal_is_remembered(tmp_path):
    journal = tmp_path / "journal.sqlite"
    with run_server(SimulatedServer(Faults(refuse_field="top_k"))) as url:
        plan = AnswerPlan.from_names([f"sim-answerer-1@{url}"], settings={"top_k": 50})
        answered = collect_answers(questions(2), plan, journal=journal)
        assert answered.complete
        assert any("asked without top_k" in note for note in answered.collected.notes)
        with Journal(journal) as book:
            known = book.abilities(url, "sim-answerer-1")
        assert "top_k" in known.left_out
        # Answers are asked for as text; that says nothing about how verdicts can be had.
        assert known.mode is Abilities().mode is ReplyMode.JSON_SCHEMA


def test_a_bank_question_is_answered_from_the_bank():
    item = replace(load_bank()[0], responses=(), labels=())
    answered = collect_answers([item], AnswerPlan.from_names(simulated_answerers()))
    bodies = {r.text.split("\n\n(A simulated")[0] for r in answered.items[0].responses}
    assert bodies <= {r.text for r in load_bank()[0].responses}
    assert np.std([quality_of(r.text) for r in answered.items[0].responses]) > 0.1


def test_what_cannot_answer_is_refused_in_words():
    with pytest.raises(InputError, match="no simulated answerer 'sim-typical'"):
        AnswerPlan.from_names(["sim-typical"])
    with pytest.raises(InputError, match="no simulated judge 'sim-answerer-1'"):
        parse_judge("sim-answerer-1")
    with pytest.raises(InputError, match="at least one model"):
        AnswerPlan.from_names([])
    with pytest.raises(InputError, match="so a judge would not see"):
        AnswerPrompt(template=PromptTemplate(text="Answer!", name="mine"))


def test_a_stronger_model_answers_better_and_heat_spreads_its_answers():
    names = ("sim-answerer-2", "sim-answerer-10")
    plan = AnswerPlan.from_names(names, temperatures=(0.0, 1.0), samples=10)
    table = collect_answers(questions(20), plan).table
    quality = table["answer"].map(quality_of)
    weak, strong = (quality[table["model"] == n].mean() for n in names)
    expected = simulated_answerer(names[1]).skill - simulated_answerer(names[0]).skill
    assert strong - weak == pytest.approx(expected, abs=0.1)
    spread = quality.groupby([table["temperature"], table["model"], table["item_id"]]).std()
    assert spread.loc[0.0].max() == 0
    heat = simulated_answerer(names[0]).heat
    assert spread.loc[(1.0, names[0])].mean() == pytest.approx(heat, rel=0.25)


def test_top_k_makes_another_answer_and_none_leaves_earlier_keys_alone(tmp_path):
    journal = tmp_path / "journal.sqlite"
    for top_k, cached in ((None, 0), (50, 0), (None, 2), (50, 2)):
        plan = AnswerPlan.from_names(["sim-answerer-1"], settings={"top_k": top_k})
        account = collect_answers(questions(2), plan, journal=journal).collected.account
        assert account.cached == cached


def test_two_endpoints_of_one_model_are_two_authors():
    key = {"OPENAI_API_KEY": "x"}
    names = ["m@http://localhost:1/v1", "m@http://localhost:2/v1", "other@http://localhost:1/v1"]
    assert AnswerPlan.from_names(names, environ=key).authors == (names[0], names[1], "other")


def test_answers_by_the_draw_header_do_not_depend_on_the_process(tmp_path):
    plan = AnswerPlan.from_names(["sim-answerer-7"], temperatures=(1.0,), samples=3)
    tables = [collect_answers(questions(2), plan).table for _ in range(2)]
    assert json.dumps(list(tables[0]["answer"])) == json.dumps(list(tables[1]["answer"]))
