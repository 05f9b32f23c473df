"""The audit from one pass over Parquet gives the numbers of the audit in memory."""

import json

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats import stats
from judgestats.analysis import audit_reduced, column_sums, verdict_counts, with_labelled
from judgestats.analysis.audit import audit
from judgestats.cli import main
from judgestats.data import labelled_judgments, reduce_parquet, score_array
from judgestats.errors import InputError


def _scores(*, clustered: bool, unread: float = 0.04, n: int = 48) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for i in range(n):
        worth = rng.normal(6, 1.5)
        for judge, temperature in (("A", 0.2), ("A", 1.0), ("B", 1.0)):
            for r in range(5):
                score = float(np.clip(round(worth + rng.normal(0, 0.4 + temperature)), 1, 10))
                lost = rng.random() < unread
                rows.append(
                    {
                        "item_id": f"i{i}",
                        "cluster": f"q{i // 3}" if clustered else f"i{i}",
                        "judge": judge,
                        "temperature": temperature,
                        "replicate": r,
                        "score": np.nan if lost else score,
                        "status": "refused" if lost else "ok",
                        "cost_usd": 0.001,
                        "tokens_in": float(rng.integers(50, 90)),
                        "tokens_out": float(rng.integers(5, 50)),
                    }
                )
    return pd.DataFrame(rows)


def _write(frame: pd.DataFrame, folder, *, files: int = 3, shuffle: int | None = 1) -> None:
    folder.mkdir(exist_ok=True)
    if shuffle is not None:
        frame = frame.sample(frac=1, random_state=shuffle)
    for f, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_parquet(folder / f"part-{f}.parquet", index=False)


def _in_memory(folder, tmp_path):
    whole = pd.concat([pd.read_parquet(p) for p in sorted(folder.glob("*.parquet"))])
    whole.to_parquet(tmp_path / "whole.parquet", index=False)
    return js.read_judgments(tmp_path / "whole.parquet")


@pytest.mark.parametrize("clustered", [False, True])
def test_two_way_coefficients_are_those_of_the_public_functions(tmp_path, clustered: bool) -> None:
    folder = tmp_path / "parts"
    _write(_scores(clustered=clustered), folder)
    ours = audit_reduced(reduce_parquet(folder, batch_rows=97), n_resamples=99)
    array = score_array(_in_memory(folder, tmp_path))
    clusters = array.clusters if clustered else None
    for name in array.conditions:
        x = array.condition(name)
        common = {"missing": "listwise", "cluster": clusters, "n_permutations": 0}
        for kind, reference in (
            ("icc2", stats.icc(x, form="ICC(2,1)", **common)),
            ("icc3", stats.icc(x, form="ICC(3,1)", **common)),
            ("alpha", stats.omega_total(x, cluster=clusters)),
        ):
            found = ours[f"reliability.{kind}.{name}"]
            assert found.estimate == pytest.approx(reference.estimate, abs=1e-10)
            if reference.interval is not None:
                assert found.interval.low == pytest.approx(reference.interval.low, abs=1e-10)
                assert found.interval.high == pytest.approx(reference.interval.high, abs=1e-10)
    assert any("null references" in text for text in ours.limitations)


def test_order_of_rows_files_and_batches_change_no_bit(tmp_path) -> None:
    frame = _scores(clustered=True)
    _write(frame, tmp_path / "a", files=1, shuffle=None)
    _write(frame, tmp_path / "b", files=4, shuffle=None)
    one = audit_reduced(reduce_parquet(tmp_path / "a"), n_resamples=99)
    other = audit_reduced(reduce_parquet(tmp_path / "b", batch_rows=31), n_resamples=99)
    # Sums of prices are sums of floats; everything else is counted in whole numbers.
    counted = [c for c in one.conditions if c != "cost_usd"]
    pd.testing.assert_frame_equal(
        one.conditions[counted], other.conditions[counted], check_exact=True
    )
    assert one.conditions["cost_usd"].tolist() == pytest.approx([0.24] * 3)


@pytest.mark.parametrize("model", ["tau-equivalent", "congeneric"])
def test_the_declared_omega_as_in_memory(tmp_path, model) -> None:
    folder = tmp_path / "parts"
    _write(_scores(clustered=False), folder)
    ours = audit_reduced(reduce_parquet(folder), n_resamples=19, omega_model=model)
    theirs = audit(_in_memory(folder, tmp_path), n_resamples=19, omega_model=model)
    for name in ours.conditions["condition"]:
        told = f"reliability.omega_{model}.{name}"
        assert ours[told].estimate == pytest.approx(theirs[told].estimate, abs=1e-5)
        assert "fit_of_equal_spread" in [n.code for n in ours[told].notes]


def test_without_the_board_columns_are_left_out_with_the_reason(tmp_path) -> None:
    _write(_scores(clustered=True), tmp_path / "a")
    reduced = reduce_parquet(tmp_path / "a", board_bytes=100)
    assert reduced.board is None
    assert column_sums(reduced, 0) is None
    found = audit_reduced(reduced, n_resamples=99)
    assert found.conditions["icc1"].notna().all()
    assert found.conditions["alpha"].isna().all()
    assert "not assigned to runs" in found.conditions["alpha_reason"][0]
    assert any("two-way ICCs" in text for text in found.limitations)


def _verdicts() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = []
    for i in range(40):
        lean = rng.dirichlet([0.5, 0.5, 0.2])
        for judge in ("A", "B"):
            for order in ("ab", "ba"):
                for r in range(4):
                    said = rng.choice(["model_a", "model_b", "tie"], p=lean)
                    rows.append(
                        {
                            "item_id": f"i{i}",
                            "question": f"q{i // 2}",
                            "judge": judge,
                            "order": order,
                            "replicate": r,
                            "winner": "" if rng.random() < 0.05 else str(said),
                        }
                    )
    return pd.DataFrame(rows)


def test_scores_of_few_values_have_agreement_too(tmp_path) -> None:
    _write(_scores(clustered=False, unread=0.0), tmp_path / "a")
    reduced = reduce_parquet(tmp_path / "a")
    frame = _in_memory(tmp_path / "a", tmp_path)
    name = reduced.columns[0].label
    x = score_array(frame).condition(name)
    table, _, _ = verdict_counts(reduced, 0)
    assert stats.fleiss_kappa(table).estimate == pytest.approx(
        stats.fleiss_kappa(x).estimate, abs=1e-10
    )


def test_an_item_scored_in_several_orders_is_refused_here_and_in_memory(tmp_path) -> None:
    frame = _scores(clustered=False)
    _write(pd.concat([frame.assign(order="ab"), frame.assign(order="ba")]), tmp_path / "a")
    said = r"48 items of 'A, T=[0-9.]+' were scored in several orders of presentation"
    with pytest.raises(InputError, match=said):
        reduce_parquet(tmp_path / "a")
    with pytest.raises(InputError, match=said):
        js.audit(_in_memory(tmp_path / "a", tmp_path), n_resamples=99)
    # The next step that both name.
    there = audit_reduced(reduce_parquet(tmp_path / "a", factors=("order",)), n_resamples=99)
    read = js.read_judgments(tmp_path / "whole.parquet", factors=("order",))
    here = js.audit(read, n_resamples=99)
    assert len(here.conditions) == len(there.conditions) == 6
    assert set(here.conditions["condition"]) == set(there.conditions["condition"])


def test_items_that_differ_in_their_one_order_are_one_condition_as_in_memory(tmp_path) -> None:
    frame = _scores(clustered=False)
    even = frame["item_id"].str[1:].astype(int) % 2 == 0
    _write(frame.assign(order=np.where(even, "ab", "ba")), tmp_path / "a")
    there = audit_reduced(reduce_parquet(tmp_path / "a"), n_resamples=99).conditions
    here = js.audit(_in_memory(tmp_path / "a", tmp_path), n_resamples=99).conditions
    columns = ["condition", "n", "n_items", "unread_share", "mean_score", "within_variance"]
    columns = [c for c in columns if c in here and c in there]
    assert len(columns) >= 5
    pd.testing.assert_frame_equal(
        here[columns].sort_values("condition", ignore_index=True),
        there[columns].sort_values("condition", ignore_index=True),
    )


@pytest.mark.parametrize("kind", ["passed", "score"])
def test_labelled_single_judgments_decide_as_in_memory(kind, tmp_path, capsys) -> None:
    rng = np.random.default_rng(4)
    human = rng.integers(0, 2, 900) if kind == "passed" else rng.integers(1, 6, 900)
    said = np.where(rng.random(900) < 0.85, human, rng.permutation(human))
    label = pd.Series(human.astype(float)).where(rng.random(900) < 0.4)
    table = pd.DataFrame({"id": range(900), kind: said, "label": label})
    table.to_parquet(tmp_path / "once.parquet", index=False)
    quiet = ["--json", "--track", "none", "--report", "none", "--scale", "1-5"]
    quiet = quiet if kind == "score" else quiet[:-2]
    found = {}
    for how in ("yes", "no"):
        assert main(["analyze", str(tmp_path / "once.parquet"), "--stream", how, *quiet]) == 0
        [verdict] = json.loads(capsys.readouterr().out)["verdicts"]
        found[how] = {
            r["key"]: (r["status"], r["estimate"], r["low"], r["high"])
            for r in verdict["requirements"]
        }
        found[how]["outcome"] = verdict["outcome"]
    assert found["yes"] == found["no"]
    assert sum(r[0] == "not_measured" for r in found["no"].values() if len(r) == 4) == 1


def test_a_stream_refuses_what_memory_refuses(tmp_path) -> None:
    """A column that may be part of an item's key, and codes of two responses, are asked about."""
    rows = [
        {"question_id": q, "model_a": a, "judge": "J", "winner": "model_a"}
        for q in range(30) for a in ("x", "y", "z")
    ]  # fmt: skip
    pd.DataFrame(rows).to_parquet(tmp_path / "pairs.parquet", index=False)
    with pytest.raises(InputError, match="question_id \\+ model_a name an item together"):
        reduce_parquet(tmp_path / "pairs.parquet")
    rows = [{"item": i, "winner": int((i + r) % 3 > 0)} for i in range(30) for r in range(2)]
    pd.DataFrame(rows).to_parquet(tmp_path / "codes.parquet", index=False)
    with pytest.raises(InputError, match="--values '0=a,1=b'"):
        reduce_parquet(tmp_path / "codes.parquet")
    coded = reduce_parquet(tmp_path / "codes.parquet", values={"0": "a", "1": "b"})
    assert coded.values == ("a", "b")


def _passes(word: str = "") -> pd.DataFrame:
    frame = _verdicts().query("order == 'ab'")
    passed = frame["winner"] == "model_a"
    if word:
        passed = passed.map({True: word, False: "no"}).mask(frame.index < 6, "")
    return frame.assign(passed=passed).drop(columns=["order", "winner"])


# Counts give these for nothing; memory computes them where they are asked for.
COUNTED = {"icc2", "icc3", "percent_agreement"}
# What a stream says that it leaves out: what reads judgments many times, pairs them, or needs
# each of them, and parts of alpha's result.
NOT_COUNTED = {"instrument", "order", "alpha", "fleiss_kappa_unread"}
SAME = ("title", "about", "estimand", "hypothesis", "role", "estimate", "std_error", "symbol", "p",
        "p_adjusted", "family", "a", "b", "reason")  # fmt: skip


def _repeated_by_accident() -> pd.DataFrame:
    """One row an item, but for three: one says the same, one something else, one nothing."""
    scores = [float(i % 5 + 1) for i in range(40)]
    items, said = [*range(40), 3, 5, 7], [*scores, scores[3], 10.0, None]
    return pd.DataFrame({"item_id": [f"i{i}" for i in items], "judge": "J", "score": said})


def test_duplicates_are_no_repetitions_in_a_stream_either(tmp_path) -> None:
    file = tmp_path / "j.parquet"
    _repeated_by_accident().to_parquet(file, index=False)
    reduced, memory = reduce_parquet(file), js.read_judgments(file)
    [column] = reduced.columns
    assert (
        column.statuses == memory["status"].value_counts().to_dict() == {"ok": 39, "ambiguous": 1}
    )
    assert reduced.asked.max() == 1
    assert reduced.n_replicates == 1
    same = "; 1 item whose rows contradict each other is unparsed"
    assert same in reduced.understood[-1]
    assert same in memory.attrs["notes"][-1]


@pytest.mark.parametrize(
    "frame",
    [_scores(clustered=False), _scores(clustered=True), _verdicts(), _passes(), _passes("yes")],
    ids=["scores", "scores in clusters", "verdicts", "pass and fail", "yes and no"],
)
def test_the_records_of_a_stream_are_those_of_memory(tmp_path, frame) -> None:
    file = tmp_path / "j.parquet"
    frame.to_parquet(file, index=False)
    one = audit_reduced(reduce_parquet(file, batch_rows=97), n_resamples=99)
    other = audit(js.read_judgments(file), n_resamples=99)
    # Alpha over clusters has a jackknife here and a bootstrap in memory.
    own = {"alpha_low", "alpha_high"}
    kept = [c for c in other.conditions if c in one.conditions and "_null_" not in c]
    kept = [c for c in kept if c not in own]
    assert len(kept) >= 15
    pd.testing.assert_frame_equal(
        one.conditions[kept], other.conditions[kept], rtol=1e-10, atol=1e-10, check_dtype=False
    )
    streamed, memory = one.records({}), other.records({})
    ours, theirs = ({r.id: r for r in found.results} for found in (streamed, memory))
    assert {i.split(".")[1] for i in ours.keys() - theirs.keys()} <= COUNTED
    left_out = theirs.keys() - ours.keys()
    assert all(NOT_COUNTED & set(i.split("/")[0].split(".")[:2]) for i in left_out)
    shared = [i for i in theirs if i in ours and i != "conditions"]
    assert len(shared) >= 9
    for identity in shared:
        one, other = ours[identity], theirs[identity]
        assert type(one) is type(other)
        # Clusters are numbers in a stream and names in memory: their permutations are others.
        drawn = "permutation_pairs" in identity
        for field in SAME:
            a, b = getattr(one, field, None), getattr(other, field, None)
            if isinstance(b, float):
                near = 0.15 if drawn and field.startswith("p") else 1e-10
                assert a == pytest.approx(b, rel=1e-10, abs=near, nan_ok=True), (identity, field)
            else:
                assert a == b, (identity, field)
        if statistic := getattr(other, "statistic", None):
            assert one.statistic.symbol == statistic.symbol
            assert one.statistic.value == pytest.approx(statistic.value, rel=1e-8, nan_ok=True)
        for bound in ("low", "high"):
            a, b = (getattr(r.interval, bound, None) if hasattr(r, "interval") else None
                    for r in (one, other))  # fmt: skip
            # Alpha over clusters has a jackknife here and a bootstrap in memory.
            assert a == pytest.approx(b, abs=0.05 if ".alpha." in identity else 1e-8), identity
    claims = {h.id: (h.claim, h.about, h.estimand) for h in memory.headlines}
    for headline in streamed.headlines:
        assert claims[headline.id] == (headline.claim, headline.about, headline.estimand)
    missing = claims.keys() - {h.id for h in streamed.headlines}
    assert all(NOT_COUNTED & set(i.split(".")[1:3]) for i in missing)


@pytest.mark.parametrize("kind", ["scores", "passes"])
@pytest.mark.parametrize("drawn", ["", "by-verdict"])
def test_averages_corrected_by_labels_as_in_memory(tmp_path, kind, drawn) -> None:
    """Labels of some items correct what the judge says of all, streamed or not."""
    rng = np.random.default_rng(4)
    frame = (
        _scores(clustered=True, n=48).rename(columns={"cluster": "question"})
        if kind == "scores"
        else _passes()
    )
    items = list(dict.fromkeys(frame["item_id"]))
    people = pd.DataFrame({"item_id": rng.permutation(items)[: 2 * len(items) // 3]})
    people["label"] = (
        rng.integers(1, 11, len(people)) if kind == "scores" else rng.random(len(people)) < 0.6
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    file = tmp_path / "j.parquet"
    frame.to_parquet(file, index=False)
    labels = tmp_path / "people.csv"
    memory = audit(js.read_judgments(file, labels=labels), n_resamples=19, labels_drawn=drawn)
    reduced = reduce_parquet(file, batch_rows=57)
    labelled = labelled_judgments(file, reduced, labels=labels)
    streamed = audit_reduced(reduced, n_resamples=19)
    streamed = with_labelled(streamed, reduced, labelled, n_resamples=19, labels_drawn=drawn)
    ours, theirs = (
        {r.id: r for r in found.results if r.id.startswith("people.")}
        for found in (streamed, memory)
    )
    assert ours.keys() == theirs.keys()
    corrected = [i for i in theirs if i.startswith("people.corrected.")]
    assert len(corrected) == len(memory.conditions)
    for identity, other in theirs.items():
        assert ours[identity].title == other.title
        # Agreement is that of the labelled items: a stream does not count the others as left out.
        one, two = (r.result.tidy() for r in (ours[identity], other))
        kept = [c for c in two if c != "n_excluded"]
        pd.testing.assert_frame_equal(one[kept], two[kept], rtol=1e-10, atol=1e-10)
    if kind == "passes":
        told = [c for c in memory.conditions if c.startswith(("true_score", "sensitivity"))]
        pd.testing.assert_frame_equal(
            streamed.conditions[told], memory.conditions[told], rtol=1e-10
        )
    for name, values in memory.condition_metrics.items():
        known = {k: v for k, v in values.items() if "validity/" in k}
        assert {k: streamed.condition_metrics[name][k] for k in known} == pytest.approx(known)


@pytest.mark.parametrize(
    ("order", "labelled"), [("interleaved", True), ("by repeat", False), (None, True)]
)
def test_one_pass_and_memory_give_one_reading_and_the_same_statistics(
    labelled, order, tmp_path, capsys
):
    """One row in another order, or none, is enough for the requests not to be interleaved."""
    rng = np.random.default_rng(5)
    rows = [
        {"item_id": f"i{i}", "cluster": f"q{i // 2}", "judge": j, "repeat": r, "prompt": "x",
         "score": float(rng.integers(1, 11)), "request_order": "interleaved", "tokens_in": 9,
         "status": "ok"}
        for i in range(40) for j in "ab" for r in range(3)
    ]  # fmt: skip
    rows[7]["request_order"] = order
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet", index=False)
    words = ["analyze", str(tmp_path / "rows.parquet"), "--track", "none", "--report", "none",
             "--scale", "1-10", "--json", "--resamples", "99", "--factor", "prompt"]  # fmt: skip
    if labelled:
        labels = pd.DataFrame({"item_id": [f"i{i}" for i in range(25)], "label": 5})
        labels["label"] += rng.integers(-3, 4, 25)
        labels.to_csv(tmp_path / "labels.csv", index=False)
        words += ["--labels", str(tmp_path / "labels.csv")]
    found = []
    for stream in ("yes", "no"):
        assert main([*words, "--stream", stream]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["reading"]["counts"] == found[1]["reading"]["counts"]
    assert found[0]["reading"]["roles"] == found[1]["reading"]["roles"]
    designs = [d["results"]["facts"]["design"] for d in found]
    assert designs[0]["line"] == designs[1]["line"]
    assert ("(interleaved)" in designs[0]["line"]) == (order == "interleaved")
    here, there = (d["understood"][1] for d in designs)
    assert there.startswith(here.rstrip("."))  # memory adds where the labels are
    values = [
        {(s["name"], s["judge"], s["condition"]): s["value"] for s in d["statistics"]}
        for d in found
    ]
    shared = values[0].keys() & values[1].keys()
    assert {"mean", "sem", "icc_1_1"} <= {name for name, *_ in shared}
    for key in shared:
        expected, value = (float(v[key]) for v in values)  # an endless number is the text "inf"
        assert value == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_labels_that_differ_between_rows_are_left_out_of_a_stream_too(tmp_path, capsys):
    rng = np.random.default_rng(5)
    rows = [
        {"item_id": f"i{i}", "repeat": r, "score": int(rng.integers(1, 11)),
         "label": i % 9 + 1 + r * (i < 28)}
        for i in range(40) for r in range(2)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    words = ["analyze", str(tmp_path / "rows.csv"), "--track", "none", "--report", "none", "--json"]
    one, other = (
        json.loads(capsys.readouterr().out)
        for stream in ("yes", "no")
        if main([*words, "--stream", stream]) == 0
    )
    assert one["reading"]["counts"] == other["reading"]["counts"]
    assert (one["reading"]["counts"]["labels"], one["reading"]["counts"]["label_missing"]) == (
        12,
        28,
    )
    for document in (one, other):
        said = [limit["message"] for limit in document["results"]["limitations"]]
        assert any("28 items have human labels that differ" in text for text in said)


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("scores", "parquet"), ("out of 10", "csv"), ("1 and 2", "parquet"), ("mixed", "csv")],
)
def test_criteria_are_audited_apart_as_in_memory(kind, ending, tmp_path, capsys):
    """Verdicts, estimates and bounds of each criterion are equal, also where kinds differ."""
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
    if kind == "1 and 2":  # points of a scale next to another criterion's
        few = table["verdict"].astype(int).gt(5).map({True: "1", False: "2"})
        table["verdict"] = table["verdict"].mask(table["criterion"] == "facts", few)
    if kind == "out of 10":
        table["verdict"] += "/10"
    file = tmp_path / f"rows.{ending}"
    (table.to_csv if ending == "csv" else table.to_parquet)(file, index=False)
    words = ["analyze", str(file), "--track", "none", "--report", "none", "--json",
             "--resamples", "99"]  # fmt: skip
    one, other = (
        json.loads(capsys.readouterr().out)
        for stream in ("yes", "no")
        if main([*words, "--stream", stream]) == 0
    )
    assert one["reading"]["counts"] == other["reading"]["counts"]
    assert one["reading"]["counts"]["criteria"] == 2
    assert one["reading"]["roles"] == other["reading"]["roles"]
    here, there = ("; ".join(d["results"]["facts"]["design"]["understood"]) for d in (one, other))
    assert {p.rstrip(".") for p in here.split("; ")} == {p.rstrip(".") for p in there.split("; ")}
    assert (
        one["results"]["facts"]["design"]["scale"] == other["results"]["facts"]["design"]["scale"]
    )
    told = [[(v["subject"], v["outcome"]) for v in d["verdicts"]] for d in (one, other)]
    assert told[0] == told[1]
    found = [
        {(s["name"], s["criterion"], s["condition"]): [s["value"], s["low"], s["high"]]
         for s in d["statistics"]}
        for d in (one, other)
    ]  # fmt: skip
    shared = found[0].keys() & found[1].keys()
    # Memory gives no interval of ICC(3,1) next to random runs.
    shared = {key for key in shared if key[0] != "icc_3_1"}
    assert {c for _, c, _ in shared} == {"tone", "facts"}
    assert {"icc_1_1", "mean", "sem"} <= {name for name, *_ in shared}
    for key in shared:
        for value, expected in zip(found[0][key], found[1][key], strict=True):
            assert (value is None) == (expected is None), key
            assert value is None or float(value) == pytest.approx(float(expected), rel=1e-9)


def test_labels_of_several_criteria_are_refused_with_the_way_on(tmp_path, capsys):
    rows = [
        {"item_id": f"i{i}", "criterion": c, "verdict": "pass",
         "label": "fail" if i % 3 else "pass"}
        for i in range(30) for c in ("tone", "facts")
    ]  # fmt: skip
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet", index=False)
    words = ["analyze", str(tmp_path / "rows.parquet"), "--stream", "yes", "--track", "none"]
    assert main(words) == 2
    assert "--rows COLUMN=VALUE" in capsys.readouterr().err
    assert main([*words, "--rows", "criterion=tone"]) == 0
    with pytest.raises(InputError, match="2 criteria"):
        reduce_parquet(tmp_path / "rows.parquet")
