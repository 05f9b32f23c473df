"""One pass over large files gives the frame, and so the audit, of the same file in memory."""

import json

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.data import read_large, reading_of
from judgestats.data.readers.large.reduce import condition_frames
from judgestats.data.readers.options import TableOptions
from judgestats.errors import InputError

KEY = ["condition", "item_id", "order", "replicate"]
WORDS = ["judge", "cluster", "status", "verdict_kind", "choice", "label", "criterion", "stage"]


def _scores(*, clustered: bool, unread: float = 0.04, n: int = 48) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for i in range(n):
        worth = rng.normal(6, 1.5)
        for judge, temperature in (("A", 0.2), ("A", 1.0), ("B", 1.0)):
            for r in range(5):
                score = float(np.clip(round(worth + rng.normal(0, 0.4 + temperature)), 1, 10))
                lost = rng.random() < unread
                rows.append({
                    "item_id": f"i{i}", "cluster": f"q{i // 3}" if clustered else f"i{i}",
                    "judge": judge, "temperature": temperature, "replicate": r,
                    "score": np.nan if lost else score, "status": "refused" if lost else "ok",
                    "cost_usd": 0.001, "tokens_in": float(rng.integers(50, 90)),
                    "tokens_out": float(rng.integers(5, 50)),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _write(frame: pd.DataFrame, folder, *, files: int = 3, shuffle: int | None = 1) -> None:
    folder.mkdir(exist_ok=True)
    if shuffle is not None:
        frame = frame.sample(frac=1, random_state=shuffle)
    for f, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_parquet(folder / f"part-{f}.parquet", index=False)


def _verdicts() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = []
    for i in range(40):
        lean = rng.dirichlet([0.5, 0.5, 0.2])
        for judge in ("A", "B"):
            for order in ("ab", "ba"):
                for r in range(4):
                    said = rng.choice(["model_a", "model_b", "tie"], p=lean)
                    winner = "" if rng.random() < 0.05 else str(said)
                    rows.append((f"i{i}", f"q{i // 2}", judge, order, r, winner))
    names = ["item_id", "question", "judge", "order", "replicate", "winner"]
    return pd.DataFrame(rows, columns=names)


def _passes() -> pd.DataFrame:
    frame = _verdicts().query("order == 'ab'")
    return frame.assign(passed=frame["winner"] == "model_a").drop(columns=["order", "winner"])


def _repeated_by_accident() -> pd.DataFrame:
    """One row an item, but for three: one says the same, one something else, one nothing."""
    scores = [float(i % 5 + 1) for i in range(40)]
    items, said = [*range(40), 3, 5, 7], [*scores, scores[3], 10.0, None]
    return pd.DataFrame({"item_id": [f"i{i}" for i in items], "judge": "J", "score": said})


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.assign(**{c: frame[c].astype(object) for c in (*KEY, *WORDS) if c in frame})
    return frame.sort_values(KEY, ignore_index=True)


def same(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Whether two frames hold the same judgments, read alike."""
    one, other = _sorted(ours), _sorted(theirs)
    assert set(one) <= set(other)
    assert {*WORDS} & {*other} == {*WORDS} & {*one}
    for column in (*KEY, *WORDS, "score", *(c for c in one if str(c).startswith("factor_"))):
        if column in one:
            pd.testing.assert_series_equal(one[column], other[column], check_dtype=False)
    for cost in ("cost_usd", "tokens_in", "tokens_out", "latency_s"):
        means = [f.groupby("condition")[cost].mean() for f in (one, other)]
        pd.testing.assert_series_equal(*means, check_dtype=False, rtol=1e-9)
    one, other = reading_of(ours), reading_of(theirs)
    for part in ("counts", "roles", "status"):
        assert one[part] == other[part]
    words = [{w["code"]: w["count"] for w in r["warnings"]} for r in (one, other)]
    assert words[0] == words[1]


FRAMES = {
    "scores": _scores(clustered=False),
    "scores in clusters": _scores(clustered=True),
    "verdicts": _verdicts(),
    "pass and fail": _passes(),
    "one row an item, but for three": _repeated_by_accident(),
    "items of one order each": _scores(clustered=False).assign(
        order=lambda f: np.where(f["item_id"].str[1:].astype(int) % 2 == 0, "ab", "ba")
    ),
    **{
        f"pass is {passed!r}": _passes().assign(
            passed=lambda f, p=passed, q=failed: f["passed"].map({True: p, False: q})
        )
        for passed, failed in [(1.0, 0.0), ("yes", "no")]
    },
}


@pytest.mark.parametrize("name", FRAMES)
def test_one_pass_gives_the_frame_of_memory(name, tmp_path) -> None:
    """Whatever the files, their order, and the size of a batch."""
    _write(FRAMES[name], tmp_path / "parts")
    parts = sorted((tmp_path / "parts").glob("*.parquet"))
    whole = pd.concat([pd.read_parquet(part) for part in parts])
    whole.to_parquet(tmp_path / "whole.parquet", index=False)
    memory = js.read_judgments(tmp_path / "whole.parquet", stream="no")
    same(read_large(tmp_path / "parts", TableOptions(), batch_rows=31), memory)
    same(js.read_judgments(tmp_path / "whole.parquet", stream="yes"), memory)


def audited(file, capsys, *words: str) -> list[dict]:
    """The documents of one pass, and of memory."""
    common = ["analyze", str(file), "--track", "none", "--report", "none", "--json",
              "--resamples", "99"]  # fmt: skip
    return [
        json.loads(capsys.readouterr().out)
        for stream in ("yes", "no")
        if main([*common, *words, "--stream", stream]) == 0
    ]


def near(one: object, other: object, where: str = "") -> None:
    """Whether two values of JSON are the same to rounding."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            near(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        if where.endswith(".about.conditions"):
            one, other = sorted(one), sorted(other)
        for i, pair in enumerate(zip(one, other, strict=True)):
            near(*pair, f"{where}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), where
    else:
        assert one == other, where


def equal(one: dict, other: dict) -> None:
    """Whether two documents hold the same records, statistics, and verdicts, read alike."""
    for part in ("counts", "roles", "values", "reasons"):
        near(one["reading"][part], other["reading"][part], part)
    rows = ("name", "criterion", "condition", "system")
    near(*({"/".join(map(str, (s[k] for k in rows))): s for s in d["statistics"]}
           for d in (one, other)))  # fmt: skip
    near(one["verdicts"], other["verdicts"], "verdicts")
    for key in ("results", "described"):
        found = [{r["id"]: r for r in d["results"].get(key, [])} for d in (one, other)]
        near(*({k: v for k, v in part.items() if k != "conditions"} for part in found), key)
    line = [d["results"]["facts"]["design"]["line"] for d in (one, other)]
    assert line[0] == line[1]


@pytest.mark.parametrize(
    ("kind", "ending", "labelled"),
    [("scores", "csv", False), ("out of 10", "csv", False), ("1 and 2", "parquet", True),
     ("mixed", "parquet", True), ("one has no name", "csv", False)],
)  # fmt: skip
def test_criteria_are_audited_apart_as_in_memory(kind, ending, labelled, tmp_path, capsys):
    """Records of each criterion are equal, also where kinds differ, and with labels."""
    rng = np.random.default_rng(1)
    rows = [
        {"item_id": f"i{i}", "cluster": f"q{i // 2}", "judge": j, "criterion": c, "replicate": r,
         "verdict": str(np.clip(round(5 + 2 * np.sin(i) + rng.normal(0, 1 + (j == "b"))), 1, 10))}
        for i in range(40) for j in "ab" for c in ("tone", "facts") for r in range(3)
        if c == "tone" or i < 30
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    if kind == "mixed":
        passed = table["verdict"].astype(int).gt(5).map({True: "pass", False: "fail"})
        table["verdict"] = table["verdict"].mask(table["criterion"] == "facts", passed)
    if kind == "one has no name":
        table["criterion"] = table["criterion"].replace("facts", "")
    if kind == "1 and 2":  # points of a scale next to another criterion's
        few = table["verdict"].astype(int).gt(5).map({True: "1", False: "2"})
        table["verdict"] = table["verdict"].mask(table["criterion"] == "facts", few)
    if kind == "out of 10":
        table["verdict"] += "/10"
    file = tmp_path / f"rows.{ending}"
    (table.to_csv if ending == "csv" else table.to_parquet)(file, index=False)
    if labelled:
        first = table.groupby(["item_id", "criterion"])["verdict"].transform("first")
        table["label"] = first.where(table["item_id"].str[1:].astype(int) < 25, "")
        table.to_parquet(file, index=False)
    one, other = audited(file, capsys)
    assert one["reading"]["counts"]["criteria"] == 2
    equal(one, other)


@pytest.mark.parametrize(
    ("kind", "labels"),
    [("scores", "a column"), ("passes", "a second file"), ("verdicts", "rows of people"),
     ("scores", "kinds"), ("verdicts", "a second file")],
)  # fmt: skip
def test_labels_are_those_of_memory(kind, labels, tmp_path, capsys) -> None:
    """Labels of some items, wherever they stand."""
    rng = np.random.default_rng(4)
    frame = {"scores": _scores(clustered=True), "passes": _passes(), "verdicts": _verdicts()}[kind]
    column = {"scores": "score", "passes": "passed", "verdicts": "winner"}[kind]
    items = rng.permutation(frame["item_id"].unique())[:25]
    words = {"scores": range(1, 11), "passes": [True, False], "verdicts": ["model_a", "tie"]}
    people = pd.DataFrame({"item_id": items, "label": rng.choice([*words[kind]], len(items))})
    options = []
    if labels == "a column":
        frame = frame.merge(people, how="left", on="item_id")
    elif labels == "a second file":
        people.to_csv(tmp_path / "people.csv", index=False)
        options = ["--labels", str(tmp_path / "people.csv")]
    else:
        rows = people.rename(columns={"label": column}).assign(source="person", replicate=0)
        if "cluster" in frame:
            rows["cluster"] = rows["item_id"].map(
                frame.drop_duplicates("item_id").set_index("item_id")["cluster"]
            )
        frame = pd.concat([frame.assign(source="judge"), rows.assign(judge="person", status="ok")])
        frame = frame.drop(columns=["status", "question"], errors="ignore")
        options = ["--human", "source=person"]
        options = ["--map", "rater_kind=source"] if labels == "kinds" else options
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    one, other = audited(tmp_path / "rows.parquet", capsys, *options)
    assert one["reading"]["counts"]["labels"] == 25
    equal(one, other)


def _long(**levels: list) -> pd.DataFrame:
    """A row for each combination of levels, with scores from 1 to 7."""
    frame = pd.MultiIndex.from_product(levels.values(), names=[*levels]).to_frame(index=False)
    rng = np.random.default_rng(6)
    worth = pd.factorize(frame.iloc[:, 0])[0] % 5
    return frame.assign(score=np.clip(worth + rng.integers(0, 4, len(frame)), 1, 7))


QUESTIONS = [f"q{i}" for i in range(30)]


def _wide(column: str, **levels: list) -> pd.DataFrame:
    """A column of scores for each level of a column."""
    frame = _long(**levels)
    rows = [c for c in levels if c != column]
    return frame.pivot(index=rows, columns=column, values="score").reset_index()


def _people(frame: pd.DataFrame, n: int = 2) -> pd.DataFrame:
    """The same with columns of labels of some items."""
    rng = np.random.default_rng(9)
    item = pd.factorize(frame.iloc[:, 0])[0]
    for k in range(n):
        labels = rng.integers(1, 8, item.max() + 1).astype(float)
        frame[f"human_{k + 1}"] = np.where(labels[item] > 1 + k, labels[item], np.nan)
    return frame


SHAPES = {
    "an item of two columns": (
        _long(question=QUESTIONS, turn=[1, 2], judge=["a", "b"], replicate=[0, 1, 2]),
        ["--map", "item=question+turn"],
    ),
    "a question for each system": (
        _long(question_id=range(30), model=["x", "y", "z"], judge=["a", "b"], replicate=[0, 1]),
        [],
    ),
    "columns of runs and people": (
        _people(_wide("k", item=QUESTIONS, judge=["a", "b"], k=["run1", "run2"])),
        ["--wide", "label=human_*", "--wide", "run=run*"],
    ),
    "columns of judges": (
        _wide("j", item=QUESTIONS, replicate=[0, 1, 2], j=["gpt_score", "claude_score"]),
        ["--wide", "judge=gpt*,claude*"],
    ),
    "columns of systems by criterion": (
        _wide("s", item=QUESTIONS, replicate=[0, 1], s=["x_tone", "y_tone", "x_clarity",
                                                      "y_clarity"]),
        [],
    ),
    "columns of two orders": (
        _wide("o", item=QUESTIONS, replicate=[0, 1], o=["winner_orig", "winner_swap"]).assign(
            winner_orig=lambda f: f["winner_orig"].map(dict(enumerate("baababab"))),
            winner_swap=lambda f: f["winner_swap"].map(dict(enumerate("baabbaab"))),
        ),
        ["--wide", "order=winner_*"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_files_of_every_shape_are_audited_as_in_memory(name, tmp_path, capsys) -> None:
    frame, options = SHAPES[name]
    is_csv = len(name) % 2 == 0  # either format
    file = tmp_path / ("rows.csv" if is_csv else "rows.parquet")
    (frame.to_csv if is_csv else frame.to_parquet)(file, index=False)
    one, other = audited(file, capsys, *options)
    assert one["reading"]["counts"]["judgments"] >= 60
    equal(one, other)


def test_null_references_stop_where_they_cannot_be_drawn(tmp_path) -> None:
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(11_000), 5)
    scores = rng.integers(1, 6, items.size)
    rows = pd.DataFrame({"item": items, "trial": np.tile(range(5), 11_000), "score": scores})
    found = js.audit(rows, n_resamples=199).analysis
    assert all(getattr(r.result, "null", None) is None for r in found.results)
    assert any("null references" in str(text) for text in found.limitations)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [{"item": i, "judge": "j", "score": 1 + i % 5} for i in [*range(40), *range(10, 30)]],
            "20 rows judge an item again and say the same",
        ),
        (
            [{"item": i, "judge_score": 1 + i % 5, "human_ann": 1 + i % 4, "human_bob": 2 + i % 3}
             for i in range(40)],
            "human_a",
        ),
        (
            [{"item": i, "model_a": "x", "model_b": "y", "winner": "model_a"} for i in range(40)],
            "no system from model_a, model_b",
        ),
        ([{"item": i, "verdict": "pass", "weight": 2} for i in range(40)], "no weight from weight"),
    ],
    ids=["copies", "labels in columns", "systems", "points of rubrics"],
)  # fmt: skip
def test_what_one_pass_would_lose_is_refused(rows, said, tmp_path) -> None:
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet", index=False)
    with pytest.raises(InputError, match=said):
        js.read_judgments(tmp_path / "rows.parquet", stream="yes")
    assert len(js.read_judgments(tmp_path / "rows.parquet")) == 40


def test_very_many_judgments_are_audited_in_parts(tmp_path, capsys, monkeypatch) -> None:
    """Each condition has the numbers that it has in one frame; those of two parts stay apart."""
    frame = _scores(clustered=True)
    for column in ("item_id", "cluster"):  # items of one condition alone
        frame[column] = frame[column].mask(frame["judge"] == "B", "b" + frame[column])
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    whole, _ = audited(tmp_path / "rows.parquet", capsys)
    monkeypatch.setitem(condition_frames.__kwdefaults__, "most_rows", 500)
    parts, _ = audited(tmp_path / "rows.parquet", capsys)
    for name in ("rows_in", "items", "clusters", "judgments", "unparsed", "repeats", "judges"):
        assert parts["reading"]["counts"][name] == whole["reading"]["counts"][name], name
    said = " ".join(limit["message"] for limit in parts["results"]["limitations"])
    assert "in 2 parts" in said
    rows = ("name", "condition")
    one, other = ({tuple(s[k] for k in rows): s["value"] for s in d["statistics"]}
                  for d in (whole, parts))  # fmt: skip
    assert len(other) > 20
    near({"/".join(k): one[k] for k in other}, {"/".join(k): v for k, v in other.items()})


@pytest.mark.parametrize("order", ["interleaved", "by repeat", None])
def test_one_row_in_another_order_is_enough_not_to_be_interleaved(order, tmp_path, capsys):
    frame = _scores(clustered=True).assign(request_order="interleaved", prompt="x")
    frame["request_order"] = frame["request_order"].mask(frame.index == 7, order)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    one, other = audited(tmp_path / "rows.parquet", capsys, "--factor", "prompt")
    line = one["results"]["facts"]["design"]["line"]
    assert ("(interleaved)" in line) == (order == "interleaved")
    equal(one, other)


def test_labels_that_differ_between_rows_are_left_out(tmp_path, capsys):
    rng = np.random.default_rng(5)
    rows = [
        {"item_id": f"i{i}", "repeat": r, "score": int(rng.integers(1, 11)),
         "label": i % 9 + 1 + r * (i < 28)}
        for i in range(40) for r in range(2)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    one, other = audited(tmp_path / "rows.csv", capsys)
    counts = one["reading"]["counts"]
    assert (counts["labels"], counts["label_missing"]) == (12, 28)
    said = [limit["message"] for limit in one["results"]["limitations"]]
    assert any("28 items have human labels that differ" in text for text in said)
    equal(one, other)


def _labelled_passes() -> pd.DataFrame:
    """Pass and fail with the labels of 25 of 40 items."""
    rng = np.random.default_rng(7)
    frame, people = _passes().drop(columns="question"), rng.choice(["pass", "fail"], 25)
    item = frame["item_id"].str[1:].astype(int)
    frame["passed"] = frame["passed"].map({True: "pass", False: "fail"})
    return frame.assign(label=item.map(dict(enumerate(people))))


@pytest.mark.parametrize(
    "changed",
    [
        lambda f: f.assign(label=f["label"].where(f["judge"] == "A")),
        lambda f: f.assign(label=f["label"].where(f["replicate"] == 0)),
        lambda f: f.assign(chance=np.where(f["item_id"].str.len() == 2, 0.9, 0.3)),
        lambda f: f.assign(confidence=np.random.default_rng(1).random(len(f)).round(2)),
        lambda f: f.assign(category=[f"c{int(item[1:]) % 5}" for item in f["item_id"]]),
        lambda f: f.assign(judge=f["judge"].mask(f.index == 7)),
        lambda f: f.assign(replicate=f["replicate"] * 10**12),
    ],
    ids=["of one judge's rows", "of one repeat", "drawn by chance", "a confidence", "a category",
         "a row without a judge", "repeats named by times"],
)  # fmt: skip
def test_further_columns_and_lone_labels_lose_no_judgment(changed, tmp_path, capsys) -> None:
    file = tmp_path / "rows.csv"
    changed(_labelled_passes()).to_csv(file, index=False)
    one, other = audited(file, capsys)
    assert sum(one["reading"]["counts"][n] for n in ("judgments", "missing")) == 320
    for document in (one, other):  # rows of a judge without a name come later: so do its draws
        for result in document["results"]["results"]:
            result.pop("null", None)
    equal(one, other)


def test_labels_of_a_second_file_are_joined_by_criterion_and_the_others_named(tmp_path, capsys):
    rng = np.random.default_rng(8)
    rows = [
        {"item_id": f"i{i}", "criterion": c, "replicate": r, "score": rng.integers(1, 11)}
        for i in range(30) for c in ("tone", "facts") for r in range(3)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table.to_csv(tmp_path / "rows.csv", index=False)
    people = table.query("replicate == 0").drop(columns="replicate").head(40)
    people = people.assign(label=rng.integers(1, 11, 40)).drop(columns="score")
    for labels in (people, people.query("criterion == 'tone'").drop(columns="criterion")):
        labels.to_csv(tmp_path / "people.csv", index=False)
        one, other = audited(
            tmp_path / "rows.csv", capsys, "--labels", str(tmp_path / "people.csv")
        )
        assert one["reading"]["counts"]["judgments"] == 180
        equal(one, other)
        codes = {w["code"] for w in one["reading"]["warnings"]}
        assert "item_without_label" in codes


def test_every_entrance_reads_a_large_file_alike(tmp_path, capsys, monkeypatch) -> None:
    """Size decides in `read_judgments`, under `doctor`, `check`, and `drift` too."""
    file = tmp_path / "rows.parquet"
    _passes().to_parquet(file, index=False)
    found = []
    for rows in (5_000_000, 100):
        monkeypatch.setattr("judgestats.data.readers.registry.STREAM_ROWS", rows)
        assert ("files" in js.read_judgments(file).attrs) == (rows == 100)
        assert main(["doctor", str(file), "--json"]) == 0
        counts = json.loads(capsys.readouterr().out)["reading"]["counts"]
        code = main(["check", str(file), "--require", "flip_rate<=.9", "--json"])
        gate = json.loads(capsys.readouterr().out)["verdicts"]
        assert main(["drift", str(file), str(file), "--json"]) in {0, 1, 3}
        change = json.loads(capsys.readouterr().out)["results"]["results"]
        found.append((counts, code, gate, change))
    assert found[0] == found[1]
    _write(_passes(), tmp_path / "parts", shuffle=None)
    assert main(["doctor", str(tmp_path / "parts")]) == 0
    assert capsys.readouterr().out.startswith("READY")
    main(["drift", str(tmp_path / "parts"), str(tmp_path / "parts"), "--json"])
    assert json.loads(capsys.readouterr().out)["results"]["results"] == found[1][3]


def test_an_item_scored_in_several_orders_is_refused(tmp_path) -> None:
    frame = _scores(clustered=False)
    both = pd.concat([frame.assign(order="ab"), frame.assign(order="ba")])
    both.to_parquet(tmp_path / "rows.parquet", index=False)
    said = r"48 items of 'A, T=[0-9.]+' were scored in several orders of presentation"
    for stream in ("yes", "no"):
        read = js.read_judgments(tmp_path / "rows.parquet", stream=stream)
        with pytest.raises(InputError, match=said):
            js.audit(read, n_resamples=99)


def test_a_stream_refuses_what_memory_refuses(tmp_path) -> None:
    """Codes of two responses are asked about."""
    rows = [{"item": i, "winner": int((i + r) % 3 > 0)} for i in range(30) for r in range(2)]
    pd.DataFrame(rows).to_parquet(tmp_path / "codes.parquet", index=False)
    with pytest.raises(InputError, match="--values '0=a,1=b'"):
        js.read_judgments(tmp_path / "codes.parquet", stream="yes")
    words = {"values": {"0": "a", "1": "b"}, "stream": "yes"}
    assert set(js.read_judgments(tmp_path / "codes.parquet", **words)["choice"]) == {"a", "b"}
