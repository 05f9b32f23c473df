"""Tables as people keep them: read right, or asked about with the right reading on offer."""

import json
import random
import shlex

import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.data import reading_of
from judgestats.errors import InputError

QUIET = ("--track", "none", "--report", "none", "--json")


def table(header, rows, *, above="", below=""):
    """A text of comma-separated cells; rows are made by a function of the generator."""
    rng = random.Random(7)
    lines = [",".join(map(str, row)) for row in rows(rng)]
    return "\n".join([*filter(None, [above]), header, *lines, *filter(None, [below]), ""])


def word(rng, words="pass fail"):
    return rng.choice(words.split())


def written(folder, header, rows):
    """A file of comma-separated cells; of JSON where no header is given."""
    path = folder / ("t.csv" if header else "t.json")
    path.write_text(table(header, rows) if header else json.dumps(rows(random.Random(7))))
    return path


def frame(rng):
    """A table by columns, then as lists of rows."""
    rows = [(f"i{i}", "gpt", rng.randint(1, 5)) for i in range(30)]
    return pd.DataFrame(rows, columns=["item", "judge", "score"])


READ = {
    "names of verdict and label say who": (
        "item_id,llm_verdict,human_verdict",
        lambda r: [(i, word(r, "Yes No"), word(r, "Yes No")) for i in range(40)],
        {"items": 40, "judgments": 40, "labels": 40, "human_raters": 1},
    ),
    "scores beside an index column": (
        ",question,answer,judge_score,human_score",
        lambda r: [(i, f"q{i}", f"a {i}", r.randint(1, 5), r.randint(1, 5)) for i in range(30)],
        {"items": 30, "judgments": 30, "labels": 30},
    ),
    "choices of a judge and of humans": (
        "id,response_a,response_b,judge_choice,human_choice",
        lambda r: [(i, f"t{i}", f"u{i}", word(r, "A B"), word(r, "A B tie")) for i in range(40)],
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "questions as items": (
        "input,prediction,reasoning,value,score",
        lambda r: [
            (f"q{i}", f"a{i}", "so", *(("Y", 1), ("N", 0))[r.randint(0, 1)]) for i in range(40)
        ],
        {"items": 40, "judgments": 40},
    ),
    "several people beside one judge": (
        "doc_id,score,expert_1,expert_2,annotator",
        lambda r: [(i, *(r.randint(1, 3) for _ in range(3)), "ab"[i % 2]) for i in range(30)],
        {"items": 30, "judgments": 30, "labels": 60, "human_raters": 2},
    ),
    "a judge column of verdicts": (
        "item,judge,label",
        lambda r: [(i, word(r, "PASS FAIL"), r.randint(0, 1)) for i in range(40)],
        {"items": 40, "judges": 1, "judgments": 40, "labels": 40},
    ),
    "runs by name": (
        "item,score_run1,score_run2,score_run3",
        lambda r: [(i, *(r.randint(1, 9) for _ in range(3))) for i in range(30)],
        {"items": 30, "repeats": 3, "judgments": 90},
    ),
    "remarks in the header": (
        "Item ID,Judge Model,Score (1-5)",
        lambda r: [(i, "gpt", r.randint(1, 5)) for i in range(30)],
        {"items": 30, "judgments": 30, "judges": 1},
    ),
    "every metric between 0 and 1": (
        "input,output,faithfulness,answer_relevancy,context_precision",
        lambda r: [
            (f"q {i}", f"a {i}", *(round(r.random(), 2) for _ in range(3))) for i in range(40)
        ],
        {"items": 40, "criteria": 3, "judgments": 120},
    ),
    "responses by letter": (
        "id,choice",
        lambda r: [(i, r.choice(["Response A", "Response B", "Tie"])) for i in range(40)],
        {"items": 40, "judgments": 40},
    ),
    "both orders of pairs of assistants": (
        "question_id,assistant_a,assistant_b,verdict",
        lambda r: [
            (q, *pair, word(r, "A B tie")) for q in range(30) for pair in (("x", "y"), ("y", "x"))
        ],
        {"items": 30, "orders": 2, "judgments": 60},
    ),
    "a score and another scale of it": (
        "id,score,score_10",
        lambda r: [(i, r.randint(1, 5), r.randint(0, 10)) for i in range(40)],
        {"items": 40, "repeats": 1, "judgments": 40},
    ),
    "means of human ratings": (
        "id,rating,n_raters,mean_human_rating",
        lambda r: [(i, 1 + i % 5, 5, round(r.uniform(1, 5), 2)) for i in range(40)],
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "decimals that are no labels": (
        "id,score,human_mean,human_std,user_session_minutes,label_length",
        lambda r: [
            (i, 1 + i % 5, *(round(r.uniform(1, 5), 2) for _ in range(4))) for i in range(40)
        ],
        {"items": 40, "judgments": 40, "labels": 40, "human_raters": 1},
    ),
    "ids beside words that repeat": (
        "ticket_id,agent,llm_score,human_score",
        lambda r: [(i, f"agent{i % 8}", r.randint(1, 5), r.randint(1, 5)) for i in range(48)],
        {"items": 48, "judgments": 48, "labels": 48},
    ),
    "ids of answers to questions that repeat": (
        "ticket_id,question,answer,verdict",
        lambda r: [
            (i, f"What is number {i // 2}?", f"It is the answer {i}.", word(r)) for i in range(40)
        ],
        {"items": 40, "judgments": 40, "repeats": 1},
    ),
    "ids of jobs beside repeats": (
        "item_id,judge,verdict,job_id",
        lambda r: [(i // 2, "g", word(r), f"job-{i}x") for i in range(40)],
        {"items": 20, "judgments": 40, "repeats": 2},
    ),
    "answers of models": (
        "id,model,answer,rating",
        lambda r: [
            (i, m, f"{m} says number {i}", r.randint(1, 5)) for i in range(30) for m in "xy"
        ],
        {"items": 60, "systems": 2, "judgments": 60},
    ),
    "models that judge one answer": (
        "id,model,output,rating",
        lambda r: [(i, m, f"It is number {i}", r.randint(1, 5)) for i in range(30) for m in "xy"],
        {"items": 30, "judges": 2, "judgments": 60},
    ),
    "a rating by a model beside people": (
        "item,gpt4_rating,human1,human2,human3",
        lambda r: [(i, *(r.randint(1, 5) for _ in range(4))) for i in range(40)],
        {"items": 40, "judgments": 40, "labels": 120, "human_raters": 3},
    ),
    "a status in another tool's words": (
        "item,judge,status,score",
        lambda r: [
            (i, "gpt", "success", r.randint(1, 5)) if i % 10 else (i, "gpt", "error", "")
            for i in range(40)
        ],
        {"items": 40, "judgments": 36, "error": 4},
    ),
    "repeats by seed": (
        "essay_id,seed,grade",
        lambda r: [(i, s, r.randint(0, 99)) for i in range(30) for s in (1, 2, 3)],
        {"items": 30, "judgments": 90, "repeats": 3},
    ),
    "categories of a judge beside gold ones": (
        "ticket,llm_label,gold_label",
        lambda r: [(i, *(word(r, "refund billing tech") for _ in range(2))) for i in range(40)],
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "names that end with who gave it": (
        "essay,teacher,stars_llm",
        lambda r: [(i, r.randint(1, 5), r.randint(1, 5)) for i in range(40)],
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "replies with a rating": (
        "question_id,judge,judgment",
        lambda r: [(i, "g", f"Good. Rating: [[{r.randint(1, 10)}]]") for i in range(40)],
        {"items": 40, "judgments": 40, "unparsed": 0},
    ),
    "points of rubrics, of which each answer has its own": (
        "prompt_id,completion_id,criterion,points,criteria_met",
        lambda r: [
            (f"p{i}", f"c{i}", f"States fact {k} of {i}", 5 - k, word(r, "True False"))
            for i in range(15)
            for k in range(4)
        ],
        {"items": 60, "clusters": 15, "criteria": 1, "judgments": 60},
    ),
    "runs of a judge by number": (
        "Q#,Judge run 1,Judge run 2,Judge run 3,Gold",
        lambda r: [(i, *(word(r, "yes no") for _ in range(4))) for i in range(30)],
        {"items": 30, "repeats": 3, "judgments": 90, "labels": 30},
    ),
    "criteria beside their calls": (
        "app_id,record_id,input,Answer Relevance,Groundedness,Answer Relevance_calls",
        lambda r: [
            ("app", f"r{i}", f"q {i}", round(r.random(), 1), round(r.random(), 1), "[]")
            for i in range(30)
        ],
        {"items": 30, "criteria": 2, "judgments": 60},
    ),
    "answers of agents with reasons": (
        "id,question,agent_answer,correctness,correctness_reason",
        lambda r: [(i, f"q {i}", f"a {i}", word(r, "True False"), "") for i in range(30)],
        {"items": 30, "criteria": 1, "judgments": 30},
    ),
    "criteria in an object": (
        "",
        lambda r: [
            {
                "question_id": i,
                "text": f"answer {i}",
                "metadata": {},
                "score": {"logical correctness": r.randint(1, 5), "completeness": r.randint(1, 5)},
            }
            for i in range(30)
        ],
        {"items": 30, "criteria": 2, "judgments": 60},
    ),
    "suggestions and responses by question": (
        "",
        lambda r: [
            {
                "id": f"r{i}",
                "fields": {"text": f"text {i}"},
                "status": "completed",
                "suggestions": {
                    "tone": {"value": word(r, "good bad"), "score": 0.9, "agent": "gpt"}
                },
                "responses": {
                    "tone": [
                        {"value": word(r, "good bad"), "user_id": u} for u in "ab"[: 1 + i % 2]
                    ]
                },
            }
            for i in range(30)
        ],
        {"items": 30, "judgments": 30, "labels": 45, "human_raters": 2},
    ),
    "raters in an object that is text": (
        "run_id,key,score,value,feedback_source",
        lambda r: [
            (f"r{i}", "correct", r.randint(0, 1), "", f'"{{""type"": ""{who}""}}"')
            for i in range(30)
            for who in ("model", "app")
        ],
        {"items": 30, "judgments": 30, "labels": 30},
    ),
    "a frame by columns": (
        "",
        lambda r: json.loads(frame(r).to_json()),
        {"items": 30, "judgments": 30},
    ),
    "columns and rows": (
        "",
        lambda r: {"_type": "table", **json.loads(frame(r).to_json(orient="split"))},
        {"items": 30, "judgments": 30},
    ),
    "rows below a row of names": (
        "",
        lambda r: [["item", "judge", "score"], *frame(r).to_numpy().tolist()],
        {"items": 30, "judgments": 30},
    ),
    "one list with words beside it": (
        "",
        lambda r: {
            "judge": "gpt",
            "score": 0.8,
            "run": {"seed": 1},
            "tags": [],
            "results": frame(r).drop(columns="judge").to_dict("records"),
        },
        {"items": 30, "judges": 1, "judgments": 30},
    ),
    "words for missing": (
        "item,judge,score",
        lambda r: [(i, "gpt", [1, 2, 3, "NaN", "null"][i % 5]) for i in range(30)],
        {"items": 30, "judgments": 18, "missing": 12},
    ),
}


@pytest.mark.parametrize("case", READ)
def test_a_table_is_read_right(case, tmp_path):
    header, rows, counts = READ[case]
    found = reading_of(read_judgments(written(tmp_path, header, rows)))["counts"]
    assert {key: found[key] for key in counts} == counts


def test_responses_by_letter_are_preferences(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,choice\n" + "".join(f"{i},Response {'AB'[i % 2]}\n" for i in range(20)))
    assert set(read_judgments(path)["choice"]) == {"a", "b"}


def test_a_preference_on_many_points_is_a_score(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,preference\n" + "".join(f"{i},{1 + i % 7}\n" for i in range(28)))
    assert set(read_judgments(path)["score"]) == {*range(1, 8)}


ASKED = {
    "a verdict whose name ends as ids do": (
        "id,is_valid,human_valid",
        lambda r: [(i, word(r, "yes no"), word(r, "yes no")) for i in range(40)],
        "verdict = is_valid; label = human_valid",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "essays of a prompt": (
        "essay_id,prompt_id,score",
        lambda r: [(i, i % 4, r.randint(1, 6)) for i in range(40)],
        "item = prompt_id + essay_id",
        {"items": 40, "repeats": 1, "judgments": 40},
    ),
    "ids of nobody knows what": (
        "id,question_id,score",
        lambda r: [(i, i % 8, r.randint(1, 6)) for i in range(40)],
        "item = question_id + id",
        {"items": 40, "repeats": 1, "judgments": 40},
    ),
    "a score, and two more of its name": (
        "id,score,score2,score3",
        lambda r: [(i, *(r.randint(1, 10) for _ in range(3))) for i in range(40)],
        "repeats",
        {"items": 40, "repeats": 3, "judgments": 120},
    ),
    "words of a level, and those of a human": (
        "line,severity,human_severity",
        lambda r: [(i, word(r, "low high medium"), word(r, "low high medium")) for i in range(40)],
        "item = line; verdict = severity; label = human_severity",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "a judge called llm that gives points": (
        "essay_id,prompt_id,trait,llm,rater1,rater2",
        lambda r: [
            (i, i % 4, trait, *(r.randint(1, 6) for _ in range(3)))
            for i in range(30)
            for trait in ("content", "style")
        ],
        "item = prompt_id + essay_id; condition = trait; verdict = llm",
        {"items": 30, "judgments": 60, "human_raters": 2},
    ),
    "an id named after what is judged, and a finding": (
        "comment_id,llm_toxic,annotator_1,annotator_2",
        lambda r: [(i, *(word(r, "Yes No") for _ in range(3))) for i in range(40)],
        "yes = fail; no = pass",
        {"items": 40, "judgments": 40, "labels": 80, "human_raters": 2},
    ),
    "columns with a number each": (
        "id,score_1,score_2,score_3,gold",
        lambda r: [(i, *(r.randint(1, 5) for _ in range(4))) for i in range(30)],
        "repeat=score_1,score_2,score_3",
        {"items": 30, "repeats": 3, "judgments": 90, "labels": 30},
    ),
    "ids of runs": (
        "case,run_id,passed",
        lambda r: [(i, f"run{k}", r.randint(0, 1)) for i in range(30) for k in range(3)],
        "repeat = run_id",
        {"items": 30, "repeats": 3, "judgments": 90},
    ),
    "turns of a conversation": (
        "conversation,turn,speaker,rating",
        lambda r: [(c, t, "ab"[t % 2], r.randint(1, 5)) for c in range(20) for t in range(4)],
        "item = conversation + turn",
        {"items": 80, "repeats": 1, "judgments": 80},
    ),
    "pairs without ids": (
        "model_1,model_2,winner",
        lambda r: [(*r.sample("abcd", 2), word(r, "model_1 model_2 tie")) for _ in range(40)],
        "item = #",
        {"items": 40, "judgments": 40},
    ),
    "a finding, and a label of it": (
        "id,hallucinated,human_hallucinated",
        lambda r: [(i, word(r, "yes no"), word(r, "yes no")) for i in range(40)],
        "verdict = hallucinated; label = human_hallucinated; yes = fail; no = pass",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "a finding in words, and a label in numbers": (
        "id,is_toxic,human_toxic",
        lambda r: [(i, word(r, "yes no"), r.randint(0, 1)) for i in range(40)],
        (
            "verdict = is_toxic; label = human_toxic; yes = fail; no = pass; label:1 = fail;"
            " label:0 = pass"
        ),
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "models that judge or answer": (
        "id,model,rating",
        lambda r: [(i, m, r.randint(1, 5)) for i in range(30) for m in ("gpt-4o", "claude")],
        "they are judges",
        {"items": 30, "judges": 2, "judgments": 60},
    ),
    "models with a text that may be the judge's": (
        "id,model,response,rating",
        lambda r: [
            (i, m, f"{m} says number {i}", r.randint(1, 5)) for i in range(30) for m in "xy"
        ],
        "they wrote the answers",
        {"items": 60, "systems": 2, "judgments": 60},
    ),
    "no column names items": (
        "y_true,y_pred",
        lambda r: [(r.randint(0, 1), r.randint(0, 1)) for _ in range(40)],
        "item = #",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "probabilities beside human verdicts": (
        "example,p_pass,human_pass",
        lambda r: [(i, round(r.random(), 3), r.random() < 0.5) for i in range(40)],
        "verdict = p_pass; label = human_pass",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "replies that prefer a side": (
        "id,judgment",
        lambda r: [
            (i, word(r, "Fine.[[A]] Better.[[B]] Even.[[C]]").replace(".", ". ")) for i in range(40)
        ],
        "raw_text = judgment; replies are pairwise",
        {"items": 40, "judgments": 40, "unparsed": 0},
    ),
    "a verdict in replies of JSON": (
        "id,label,response",
        lambda r: [(i, word(r), f'"{{""verdict"": ""{word(r)}""}}"') for i in range(40)],
        "verdict = response.verdict",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "fractions under names of another language": (
        "frage,punkte,mensch",
        lambda r: [(i, *(round(r.uniform(1, 5), 1) for _ in range(2))) for i in range(40)],
        "item = frage; verdict = punkte; label = mensch",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "conversations and turns": (
        "timestamp,conversation_id,turn,evaluator,result",
        lambda r: [
            (f"2026-01-0{1 + i % 9}T10:00:00Z", f"c{i}", t, "llm", word(r))
            for i in range(20)
            for t in (1, 2)
        ],
        "item = conversation_id + turn",
        {"items": 40, "judgments": 40},
    ),
    "a row per rater of one verdict": (
        "item,llm_verdict,worker_id,human_label",
        lambda r: [
            *((i, ["pass", "fail"][i % 2], w, word(r)) for i in range(20) for w in "xyz"),
            *((i, "pass", "", "") for i in range(20, 30)),
        ],
        "rater = worker_id",
        {"items": 30, "judgments": 30, "labels": 60, "human_raters": 3},
    ),
    "a row per annotator, which may name judges": (
        "item,score,annotator,human_score",
        lambda r: [(i, 1 + i % 5, w, r.randint(1, 5)) for i in range(20) for w in "xyz"],
        "they gave the labels",
        {"items": 20, "judgments": 20, "labels": 60, "human_raters": 3},
    ),
    "names of people and a model": (
        "item,annotator,score",
        lambda r: [(i, a, r.randint(1, 5)) for i in range(30) for a in ("gpt-4o", "ann", "bo")],
        "people, next to gpt-4o",
        {"items": 30, "judgments": 30, "labels": 60, "human_raters": 2},
    ),
    "rows of several people": (
        "item,rater,score",
        lambda r: [
            (i, a, r.randint(1, 5)) for i in range(30) for a in ("gpt-4o", "human_1", "human_2")
        ],
        "human rows are labels",
        {"items": 30, "judgments": 30, "labels": 60, "human_raters": 2},
    ),
    "rows of documents without their ids": (
        "query_id,judge,score,human_label",
        lambda r: [(i // 5, "gpt", r.randint(0, 3), r.randint(0, 3)) for i in range(60)],
        "each row is an item",
        {"items": 60, "clusters": 12, "judgments": 60, "labels": 60},
    ),
    "ids of rows beside those of traces by metric": (
        "id,traceId,name,value",
        lambda r: [
            (i, f"t{i // 3}", ["tone", "depth", "tone"][i % 3], r.randint(1, 5)) for i in range(60)
        ],
        "not used = id; criterion = name; item = traceId",
        {"items": 20, "criteria": 2, "judgments": 60},
    ),
    "labels of humans by criterion": (
        "id,llm_tone,llm_depth,human_tone,human_depth",
        lambda r: [(i, *(r.randint(1, 5) for _ in range(4))) for i in range(30)],
        "criterion=llm_tone,llm_depth; person=human_tone,human_depth",
        {"items": 30, "criteria": 2, "judgments": 60, "labels": 60, "human_raters": 1},
    ),
    "models by criterion": (
        "id,gpt4_tone,gpt4_depth,claude_tone,claude_depth",
        lambda r: [(i, *(r.randint(1, 5) for _ in range(4))) for i in range(30)],
        "judge+criterion=gpt4_tone,gpt4_depth,claude_tone,claude_depth",
        {"items": 30, "criteria": 2, "judges": 2, "judgments": 120},
    ),
    "winners by name in both orders": (
        "prompt_id,response_a_model,response_b_model,winner_model",
        lambda r: [(i, *p, word(r, "x y")) for i in range(30) for p in (("x", "y"), ("y", "x"))],
        "verdict = winner_model",
        {"items": 30, "orders": 2, "judgments": 60, "systems": 2},
    ),
    "documents by query": (
        "qid,docid,grade",
        lambda r: [(i // 5, f"d{i % 7}x{i // 5}", r.randint(0, 3)) for i in range(60)],
        "item = qid + docid",
        {"items": 60, "clusters": 12, "judgments": 60},
    ),
    "ids of rows beside a text that repeats": (
        "entry_id,text,judge,score",
        lambda r: [
            (f"r{3 * i + k}", f"text {i} is here", "g", r.randint(1, 5))
            for i in range(20)
            for k in range(3)
        ],
        "item = text; not used = entry_id",
        {"items": 20, "judgments": 60, "repeats": 3},
    ),
    "verdicts by numbers beside an unknown id": (
        "trace,judge_pass,human_pass",
        lambda r: [(f"t{i}", r.randint(0, 1), r.randint(0, 1)) for i in range(40)],
        "item = trace",
        {"items": 40, "judgments": 40, "labels": 40},
    ),
    "a session per annotator, and constant ids": (
        "text,label,_session_id,_view_id,answer,meta.model_verdict",
        lambda r: [
            (
                f"Text {i} is here",
                "GOOD",
                s,
                "classification",
                word(r, "accept reject"),
                ("accept", "reject")[i % 2],
            )
            for i in range(30)
            for s in ("db-ann", "db-bob")
        ],
        "item = text; verdict = meta.model_verdict; label = answer; rater = _session_id",
        {"items": 30, "judgments": 30, "labels": 60, "human_raters": 2},
    ),
    "a form that people filled in": (
        "Timestamp,Your name,Item ID,Judge verdict,Your verdict",
        lambda r: [
            (f"1/{1 + i}/2026 10:00:00", who, i, ("Pass", "Fail")[i % 2], word(r, "Pass Fail"))
            for i in range(20)
            for who in ("Ann", "Bob")
        ],
        "rater = Your name",
        {"items": 20, "judgments": 20, "labels": 40, "human_raters": 2},
    ),
    "annotations beside a prediction": (
        "annotation_id,annotator,id,lead_time,sentiment,text,model_prediction",
        lambda r: [
            (
                1000 + 2 * i + k,
                k,
                i,
                round(r.random(), 3),
                word(r, "correct incorrect"),
                f"Text {i} is here",
                ("correct", "incorrect")[i % 2],
            )
            for i in range(20)
            for k in (1, 2)
        ],
        "verdict = model_prediction; label = sentiment; rater = annotator",
        {"items": 20, "judgments": 20, "labels": 40, "human_raters": 2},
    ),
    "assignments of workers": (
        "HITId,AssignmentId,WorkerId,WorkTimeInSeconds,Input.judge_score,Answer.rating",
        lambda r: [
            (f"H{i}", f"A{i}x{k}", f"W{(i + k) % 7}", 20 + i, 1 + i % 5, r.randint(1, 5))
            for i in range(20)
            for k in range(3)
        ],
        "verdict = Input.judge_score; label = Answer.rating; rater = WorkerId",
        {"items": 20, "judgments": 20, "labels": 60, "human_raters": 7},
    ),
    "a lone finding": (
        "id,text,has_error",
        lambda r: [(i, f"text {i}", word(r, "True False")) for i in range(40)],
        "verdict = has_error; true = fail; false = pass",
        {"items": 40, "judgments": 40},
    ),
    "a judge among people by their initials": (
        "id,LLM,JD,MK",
        lambda r: [(i, *(r.randint(1, 5) for _ in range(3))) for i in range(30)],
        "verdict = LLM; person=JD,MK",
        {"items": 30, "judgments": 30, "labels": 60, "human_raters": 2},
    ),
    "a relevance, and that of a model": (
        "query_id,doc_id,relevance,llm_relevance",
        lambda r: [(f"q{i // 5}", i, r.randint(0, 3), r.randint(0, 3)) for i in range(50)],
        "verdict = llm_relevance; person=relevance",
        {"items": 50, "clusters": 10, "judgments": 50, "labels": 50},
    ),
    "a success beside criteria": (
        "input,actual_output,Answer Relevancy,Answer Relevancy_reason,Faithfulness,success",
        lambda r: [
            (
                f"q {i}",
                f"a {i}",
                round(r.random(), 2),
                "so",
                round(r.random(), 2),
                word(r, "True False"),
            )
            for i in range(30)
        ],
        "item = input; criterion=Answer Relevancy,Faithfulness",
        {"items": 30, "criteria": 2, "judgments": 60},
    ),
    "points before a remark": (
        "item,judge,output",
        lambda r: [(i, "gpt", f"{r.randint(1, 5)} - as in number {i}") for i in range(30)],
        r"raw_text = output; replies are \A\s*(\d{1,3}(?:\.\d+)?)(?=\s*(?:[-:(]|$))",
        {"items": 30, "judgments": 30, "unparsed": 0},
    ),
    "lists by model": (
        "",
        lambda r: {
            m: [{"id": i, "score": r.randint(1, 5)} for i in range(20)] for m in ("base", "tuned")
        },
        "system = @block",
        {"items": 40, "systems": 2, "judgments": 40},
    ),
    "replies in a list beside scores": (
        "",
        lambda r: [
            {
                "doc_id": f"d{i}",
                "system_output": f"output {i} is here",
                "scores": {"coherence": r.randint(1, 5), "fluency": r.randint(1, 5)},
                "all_responses": [str(r.randint(1, 5)) for _ in range(10)],
            }
            for i in range(30)
        ],
        "verdict = all_responses[]",
        {"items": 30, "repeats": 10, "judgments": 300},
    ),
    "a model among people in an object": (
        "",
        lambda r: [
            {"id": i, "ratings": {n: r.randint(1, 5) for n in ("ann", "bob", "gpt-4")}}
            for i in range(30)
        ],
        "verdict = ratings.gpt-4; person=ratings.ann,ratings.bob",
        {"items": 30, "judges": 1, "judgments": 30, "labels": 60},
    ),
    "rubrics in a list": (
        "",
        lambda r: [
            {
                "task_id": f"t{i}",
                "rubrics": [
                    {"title": f"Item {i} states {k}", "weight": k, "verdict": word(r)}
                    for k in range(3)
                ],
            }
            for i in range(15)
        ],
        "item = task_id + place; verdict = rubrics[].verdict",
        {"items": 45, "clusters": 15, "judgments": 45, "repeats": 1},
    ),
    "completions of models beside a list of their names": (
        "",
        lambda r: [
            {
                "instruction": f"Do {i} now",
                "models": ["a", "b"],
                "completions": [
                    {
                        "model": m,
                        "response": f"{m} says {i} here",
                        "overall_score": r.randint(1, 10),
                    }
                    for m in "ab"
                ],
            }
            for i in range(20)
        ],
        "item = instruction; verdict = completions[].overall_score; system = completions[].model",
        {"items": 40, "systems": 2, "judgments": 40},
    ),
    "lists in records by id": (
        "",
        lambda r: {
            f"q{i}": {"model": "x", "answers": [{"score": r.randint(1, 5)} for _ in range(3)]}
            for i in range(20)
        },
        "verdict = answers[].score",
        {"items": 20, "repeats": 3, "judgments": 60},
    ),
    "ranks beside a relevance": (
        "query,doc,rank,relevance",
        lambda r: [
            (f"q{q}", f"d{q}_{d}", d, r.randint(0, 3)) for q in range(10) for d in range(1, 5)
        ],
        "verdict = relevance",
        {"items": 40, "judgments": 40, "repeats": 1},
    ),
}


@pytest.mark.parametrize("case", ASKED)
def test_the_right_reading_is_among_the_answers(case, workplace, capsys):
    header, rows, meaning, counts = ASKED[case]
    assert main(["analyze", written(workplace, header, rows).name, *QUIET]) == 2
    options = json.loads(capsys.readouterr().out)["reading"]["options"]
    commands = {option["meaning"]: option["command"] for option in options}
    assert main(["doctor", *commands.pop(meaning)[2:], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["reading"]["counts"]
    assert {key: found[key] for key in counts} == counts
    for command in commands.values() if len(case) % 3 == 0 else ():  # of a third of the files
        assert main(["doctor", *command[2:], "--json"]) == 0


@pytest.mark.parametrize(
    ("typed", "file"),
    [
        (["compare", "t.csv", "t.csv"], "t.csv"),
        (["analyze", "--", "t.csv"], "t.csv"),
        (["analyze", "--", "-x.csv"], "./-x.csv"),
        (["analyze", "./-x.csv"], "./-x.csv"),
        (["drift", "--", "-x.csv", "-x.csv"], "./-x.csv ./-x.csv"),
    ],
)
def test_a_question_prints_a_command_that_runs_however_the_file_is_named(
    typed, file, workplace, capsys
):
    header, rows, *_ = ASKED["ids of runs"]
    for name in ("t.csv", "-x.csv"):
        (workplace / name).write_text(table(header, rows))
    assert main(typed) == 2
    asked = capsys.readouterr().err
    command = f"{typed[0].replace('compare', 'analyze')} {file} --map replicate=run_id"
    assert f"  judgestats {command}\n" in asked
    assert main([*command.split(), *(QUIET if "analyze" in command else ())]) == 0


@pytest.mark.parametrize("name", ["-x.csv", "a 'b' $(c).csv"])
def test_commands_of_the_screens_name_any_file_as_a_word(name, workplace, capsys):
    header, rows, *_ = ASKED["ids of runs"]
    (workplace / name).write_text(table(header, rows))
    reading = ["--map", "replicate=run_id"]
    assert main(["doctor", *reading, "--", name]) == 0
    assert (
        main(["labels", "plan", *reading, "--labels", "5", "--out", f"{name}.csv", "--", name]) == 0
    )
    shown = [line for line in capsys.readouterr().out.splitlines() if " judgestats " in line]
    words = [shlex.split(line.partition("judgestats ")[2]) for line in shown]
    places = {word for command in words for word in command if word.endswith(".csv")}
    place = name if name.startswith("a") else f"./{name}"
    assert places == {place, f"{place}.csv"}


def test_verdicts_in_cells_of_json_are_offered(workplace, capsys):
    rows = [{"item_id": i, "judge_output": json.dumps({"score": 1 + i % 5})} for i in range(30)]
    pd.DataFrame(rows).to_csv("t.csv", index=False)
    assert main(["analyze", "t.csv", *QUIET]) == 2
    [option] = json.loads(capsys.readouterr().out)["reading"]["options"]
    assert main([*option["command"][1:], *QUIET]) == 0
    assert json.loads(capsys.readouterr().out)["reading"]["counts"]["judgments"] == 30


def test_a_judge_and_a_human_in_objects_are_verdict_and_label(workplace, capsys):
    rows = [
        {
            "id": i,
            "judge": {"model": "gpt", "verdict": ["pass", "fail"][i % 2], "confidence": i / 40},
            "human": {"verdict": ["pass", "fail"][i % 3 % 2]},
        }
        for i in range(40)
    ]
    (workplace / "t.json").write_text(json.dumps(rows))
    assert main(["analyze", "t.json", *QUIET]) == 2
    [option] = json.loads(capsys.readouterr().out)["reading"]["options"]
    assert main([*option["command"][1:], *QUIET]) == 0
    counts = json.loads(capsys.readouterr().out)["reading"]["counts"]
    assert (counts["judges"], counts["judgments"], counts["labels"]) == (1, 40, 40)


def test_replies_in_lists_are_parsed(tmp_path):
    rows = [
        {"custom_id": i, "body": {"choices": [{"message": {"content": f"Score: {s}"}}] * 2}}
        for i, s in enumerate([1, 3, 5] * 4)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = read_judgments(
        tmp_path / "t.jsonl",
        mapping={"raw_text": "body.choices[].message.content"},
        item=["custom_id"],
        parse="pointwise",
    )
    assert frame["score"].mean() == 3


def test_rankings_are_no_repeats(workplace, capsys):
    rng = random.Random(5)
    rows = [{"question": i, "ranking": rng.sample(["a1", "b2", "c3"], 3)} for i in range(30)]
    (workplace / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["analyze", "t.jsonl", *QUIET]) == 2
    assert "explode" not in capsys.readouterr().err


REFUSED = {
    "words of another language": (
        table("item,judge,urteil", lambda r: [(i, "gpt", word(r, "ja nein")) for i in range(30)]),
        ["ja=WHAT,nein=WHAT", "--map verdict=urteil"],
        ["--values", "ja=pass,nein=fail", "--map", "verdict=urteil"],
        {"judgments": 30},
    ),
    "words for a finding": (
        table(
            "text_id,model_label,human_label",
            lambda r: [(i, word(r, "toxic clean"), word(r, "toxic clean")) for i in range(30)],
        ),
        ["toxic=WHAT", "clean=WHAT"],
        ["--values", "toxic=fail,clean=pass"],
        {"judgments": 30, "labels": 30},
    ),
    "feelings about a text": (
        table(
            "text,sentiment,gold",
            lambda r: [(f"text {i}", word(r, "good-ish bad-ish"), word(r)) for i in range(30)],
        ),
        ["good-ish=WHAT", "--map verdict=sentiment --item text"],
        [
            *("--values", "good-ish=pass,bad-ish=fail"),
            *("--map", "verdict=sentiment", "--item", "text"),
        ],
        {"judgments": 30, "labels": 30},
    ),
    "-1 among scores": (
        table("item,judge,score", lambda r: [(i, "gpt", [1, 3, 5, -1][i % 4]) for i in range(40)]),
        ["'-1' (10)", "--values='-1=WHAT'"],
        ["--values=-1=unparsed"],
        {"judgments": 30, "unparsed": 10},
    ),
    "99 among scores": (
        table("item,judge,score", lambda r: [(i, "gpt", [1, 3, 5, 99][i % 4]) for i in range(40)]),
        ["'99' (10)", "--values '99=WHAT'"],
        ["--values", "99=missing"],
        {"judgments": 30, "missing": 10},
    ),
    "two codes among scores": (
        table(
            "item,judge,score", lambda r: [(i, "gpt", [1, 3, 5, -1, -9][i % 5]) for i in range(40)]
        ),
        ["'-1' (8), '-9' (8)", "--values='-1=WHAT,-9=WHAT'"],
        ["--values=-1=unparsed,-9=missing"],
        {"judgments": 24, "unparsed": 8, "missing": 8},
    ),
    "letters as grades": (
        table("item,judge,grade", lambda r: [(i, "gpt", "ABCDF"[i % 5]) for i in range(40)]),
        ["--kind category"],
        ["--kind", "category"],
        {"judgments": 40},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_refused_with_what_to_type(case, workplace, capsys):
    text, said, options, counts = REFUSED[case]
    (workplace / "t.csv").write_text(text)
    assert main(["analyze", "t.csv", *QUIET]) == 2
    refusal = capsys.readouterr().err
    assert all(part in refusal for part in said)
    assert main(["analyze", "t.csv", *options, *QUIET]) == 0
    found = json.loads(capsys.readouterr().out)["reading"]["counts"]
    assert {key: found[key] for key in counts} == counts


def test_scores_without_the_code_for_no_verdict(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(REFUSED["-1 among scores"][0])
    frame = read_judgments(path, values={"-1": "unparsed"})
    assert frame["score"].min() == 1


@pytest.mark.parametrize(
    ("above", "below", "message"),
    [
        ("Evaluation of March", "", "Delete the rows above the header: tail -n \\+2 "),
        ("", "Total,,90", "the last row names 'Total' as its item"),
    ],
)
def test_titles_and_totals_are_no_rows(above, below, message, tmp_path):
    rows = table(
        "item,judge,score",
        lambda r: [(i, "gpt", r.randint(1, 5)) for i in range(30)],
        above=above,
        below=below,
    )
    path = tmp_path / "t.csv"
    path.write_text(rows)
    with pytest.raises(InputError, match=message):
        read_judgments(path)


@pytest.mark.parametrize(
    ("names", "more", "way"),
    [
        ("item,judge_score,Q1", ["item,judge_score,How good?", "ID_1,ID_2,ID_3"], "2,3d"),
        ("item,LLM,,Human", [",tone,depth,tone"], "Write one row of names"),
    ],
)
def test_a_header_of_several_rows_is_refused_with_what_to_do(names, more, way, tmp_path):
    rows = [(f"i{i}", *([1 + i % 5] * names.count(","))) for i in range(20)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([names, *more, *(",".join(map(str, row)) for row in rows)]))
    with pytest.raises(InputError, match=f"the header has {1 + len(more)} rows.*{way}"):
        read_judgments(path)
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [*(line.split(",") for line in (names, *more)), *rows]:
        book.active.append([cell or None for cell in row])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match=f"the header has {1 + len(more)} rows"):
        read_judgments(tmp_path / "t.xlsx")


def test_rows_that_a_spreadsheet_left_empty_are_none(tmp_path):
    rows = table("item,judge,score", lambda r: [(i, "gpt", i % 5) for i in range(9)], below=",,")
    (tmp_path / "t.csv").write_text(rows)
    assert len(read_judgments(tmp_path / "t.csv")) == 9


def test_a_title_above_a_sheet_is_no_header(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["Evaluation"], [], ["item", "judge", "score"], ["a", "gpt", 3], ["b", "gpt", 4]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="Delete the rows above the header"):
        read_judgments(tmp_path / "t.xlsx")


def test_words_for_a_finding_are_asked_for_with_all_that_is_to_be_typed(tmp_path):
    words = ["toxic", "non-toxic", "toxic"]
    rows = [(f"Comment {i} is here", words[i % 3], words[i % 2]) for i in range(40)]
    table = pd.DataFrame(rows, columns=["comment", "toxicity_llm", "toxicity_human"])
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError) as refused:
        read_judgments(tmp_path / "t.csv")
    assert "--values 'toxic=WHAT,non-toxic=WHAT'" in str(refused.value)
    way = "--map verdict=toxicity_llm,label=toxicity_human --item comment"
    assert f"Say what they mean: judgestats analyze {tmp_path / 't.csv'} {way} --values" in str(
        refused.value
    )
    assert f"{way} --values toxic=fail,non-toxic=pass" in str(refused.value)
    frame = read_judgments(
        tmp_path / "t.csv", values={"toxic": "fail", "non-toxic": "pass"}, item=("comment",),
        mapping={"verdict": "toxicity_llm", "label": "toxicity_human"},
    )  # fmt: skip
    assert frame["choice"].value_counts().to_dict() == {"fail": 27, "pass": 13}
    assert frame["label"].ne("").all()


OFFERED = {
    "runs by letter": (
        "item,Judge run A,Judge run B",
        lambda r: [(i, word(r), word(r)) for i in range(30)],
        ["--wide", "repeat=Judge run A,Judge run B"],
        {"items": 30, "repeats": 2},
    ),
    "a second order by name": (
        "item,winner,swapped winner",
        lambda r: [(i, word(r, "A B"), word(r, "A B")) for i in range(30)],
        ["--wide", "order=winner,swapped winner"],
        {"items": 30, "orders": 2, "judgments": 60},
    ),
    "orders by exchanged names": (
        "id,x_vs_y,y_vs_x",
        lambda r: [(i, word(r, "A B"), word(r, "A B")) for i in range(30)],
        ["--wide", "order=x_vs_y,y_vs_x"],
        {"items": 30, "orders": 2},
    ),
    "names of people next to a judge": (
        "item,scored_by,score",
        lambda r: [(i, w, r.randint(1, 5)) for i in range(30) for w in ("eve", "kim", "llm")],
        ["--human", "scored_by=eve,kim"],
        {"items": 30, "judgments": 30, "labels": 60},
    ),
    "words of another language on both sides": (
        "Fall,Urteil Eva,Urteil KI",
        lambda r: [(i, r.choice(["gut", "nicht gut"]), r.choice(["gut", "nicht gut"]))
                   for i in range(30)],
        ["--map", "verdict=Urteil KI", "--item", "Fall", "--values", "gut=pass,nicht gut=fail",
         "--wide", "person=Urteil Eva"],
        {"items": 30, "judgments": 30, "labels": 30},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OFFERED)
def test_a_command_that_reads_the_file_is_offered(case, workplace, capsys):
    header, rows, options, counts = OFFERED[case]
    assert main(["doctor", written(workplace, header, rows).name, "--json"]) == 2
    offered = json.loads(capsys.readouterr().out)["reading"]["options"]
    (option,) = [o for o in offered if o["command"][3:] == options]
    assert main(["doctor", *option["command"][2:], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["reading"]
    assert {key: found["counts"][key] for key in counts} == counts
    assert option["preview"][-1] == " | ".join(found["first_judgments"])
