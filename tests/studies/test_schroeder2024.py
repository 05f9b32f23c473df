"""arXiv 2412.12509: both layouts are read, Table 2 is reproduced, and its null stands beside it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.results import to_plain
from judgestats.stats import published_omega_2412_12509
from judgestats.studies import Options, load_study
from judgestats.studies.schroeder2024_data import answers, authors_verdict, read_verdicts

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "schroeder2024"
JUDGES = (
    "Nexusflow/Starling-LM-7B-beta",
    "meta-llama/Meta-Llama-3-8B-Instruct",
    "google/gemma-1.1-7b-it",
)
SIZES = {"bbh": 9, "squad": 7, "mtb": 6}


def authors_json(folder, *, judges, temperatures=(0.25, 0.75, 1.0), replications=24, seed=0):
    """The authors' layout; judges prefer one letter of each question, less so when warm."""
    rng = np.random.default_rng(seed)
    document = {}
    for judge in judges:
        levels = {}
        for t in temperatures:
            items = {}
            for benchmark, count in SIZES.items():
                for i in range(count):
                    favourite = i % 5
                    own = np.full(5, t / 5)
                    own[favourite] += 1 - t
                    drawn = rng.choice(5, size=replications, p=own / own.sum())
                    items[f"{benchmark}:q{i}"] = [
                        f"Best Response: [[{'ABCDE'[k]}]] It is right." for k in drawn
                    ]
            levels[f"temperature: {t}"] = items
        levels["temperature: 2.220446049250313e-16"] = {
            f"{b}:q{i}": ["Best Response: [[B]]"] * replications
            for b, n in SIZES.items()
            for i in range(n)
        }
        document[judge] = levels
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(json.dumps(document))
    return folder


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = authors_json(tmp_path_factory.mktemp("authors"), judges=JUDGES)
    return load_study("schroeder2024").examine(folder, Options(n_resamples=19))


def test_the_authors_layout_is_read_by_their_rule(tmp_path):
    frame, source = read_verdicts(authors_json(tmp_path / "a", judges=JUDGES[:1]))
    assert source == "the authors' JSON"
    assert sorted(set(frame["temperature"])) == [0.0, 0.25, 0.75, 1.0]
    assert set(frame["benchmark"]) == {"BBH", "SQuAD", "MT-Bench"}
    assert len(frame) == 4 * 24 * sum(SIZES.values())
    assert set(frame.loc[frame["temperature"] == 0, "verdict"]) == {"B"}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Best Response: [[c]]", "C"),
        ("Best Response:A", "A"),
        ("Best Response: [[A]] or Best Response: [[B]]", "multiple"),
        ("Best Response: [[A]]\nBest Response: a", "A"),
        ("best response: [[A]]", "no_answer"),
        ("The best is [[A]]", "no_answer"),
        ("", "no_answer"),
    ],
)
def test_the_authors_rule(text, verdict):
    assert authors_verdict(text) == verdict


def test_with_three_judges_table_1_is_examined(three):
    claims = {c.id: c for c in three.claims}
    assert claims["table1"].verdict != "not examined"
    assert claims["table1"].reproduced.count("/") >= 8
    assert claims["head_to_tail"].verdict == "not examined"


def test_independent_replications_make_the_published_omega_its_null(three):
    """Every question's verdicts are drawn independently: nothing is there to be found."""
    claim = next(c for c in three.claims if c.id == "table2")
    assert claim.verdict == "does not stand"
    warm = three.conditions[three.conditions["temperature"] > 0]
    apart = (warm["published_omega"] - warm["published_omega_null_mean"]).abs()
    assert apart.mean() < 0.08
    assert warm["published_omega"].mean() > 0.5
    # The label-free reliability sees what was put in: 1 - T at each temperature.
    by_temperature = warm.groupby("temperature")["vote_share"].mean()
    assert by_temperature.is_monotonic_decreasing
    assert by_temperature[1.0] == pytest.approx(0, abs=0.05)
    assert by_temperature[0.25] > 0.4


def test_a_known_effect_of_temperature_is_called_so(three):
    claim = next(c for c in three.claims if c.id == "temperature")
    assert claim.verdict == "does not stand"
    assert "9 of 9" in claim.because


def test_a_judge_that_varies_at_zero_is_not_called_still(tmp_path):
    folder = authors_json(tmp_path / "a", judges=JUDGES[:1], temperatures=(1.0,))
    document = json.loads((folder / "results.json").read_text())
    levels = document[JUDGES[0]]
    levels["temperature: 2.220446049250313e-16"] = levels["temperature: 1.0"]
    (folder / "results.json").write_text(json.dumps(document))
    found = load_study("schroeder2024").examine(folder, Options(n_resamples=19))
    cold = next(c for c in found.claims if c.id == "at_zero")
    assert cold.verdict == "does not stand"
    assert "hardly vary" not in cold.because
    benchmarks = next(c for c in found.claims if c.id == "benchmarks")
    assert "SQuAD has 7 questions, BBH 9" in benchmarks.because


def test_the_replication_is_an_analysis_with_unique_ids(three):
    analysis = three.analysis()
    ids = [r.id for r in analysis.results]
    assert len(set(ids)) == len(ids)
    assert {"primary", "replicated"} <= {r.role for r in analysis.results}
    json.dumps(to_plain(analysis.records()), allow_nan=False)
    assert len(three.conditions) == 3 * 4 * 3


def test_what_is_said_of_cells_follows_from_the_folder(three, tmp_path):
    """Other verdicts than the paper's are called so; a judge it never printed is not compared."""
    table2 = next(c for c in three.claims if c.id == "table2")
    assert "other verdicts" in table2.reproduced
    assert "misprint" not in table2.reproduced
    assert any("The folder has 36" in text for text in three.limitations)
    own = load_study("schroeder2024").examine(
        authors_json(tmp_path / "own", judges=("mine",), temperatures=(1.0,)),
        Options(n_resamples=19),
    )
    claims = {c.id: c for c in own.claims}
    assert "no cell of the folder is one of Table 2" in claims["table2"].reproduced
    assert claims["judges"].verdict == "not examined"
    assert "0 of the three judges" in claims["table1"].because
    assert any("mine: not judges of the paper" in text for text in own.limitations)
    assert own.conditions["matches"].isna().all()


def test_table_1_is_called_by_what_the_judges_share(tmp_path):
    """Three judges that never agree, and three that always do: neither is moderate agreement."""
    said = {}
    for name, shift in (("apart", 1), ("alike", 0)):
        document = {
            judge: {
                "temperature: 0.25": {
                    f"bbh:q{i}": [f"Best Response: [[{'ABCDE'[(i + shift * j) % 5]}]]"] * 4
                    for i in range(10)
                }
            }
            for j, judge in enumerate(JUDGES)
        }
        (tmp_path / name).mkdir()
        (tmp_path / name / "r.json").write_text(json.dumps(document))
        found = load_study("schroeder2024").examine(tmp_path / name, Options(n_resamples=19))
        said[name] = next(c for c in found.claims if c.id == "table1")
    assert said["apart"].verdict == said["alike"].verdict == "does not stand"
    assert "outside the interval" in said["alike"].because
    assert (
        "Unrelated judges with the same shares of letters would agree as often"
        in said["apart"].because
    )


def test_unusable_folders(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        read_verdicts(tmp_path / "absent")
    with pytest.raises(InputError, match="holds neither"):
        read_verdicts(tmp_path)
    (tmp_path / "x.json").write_text('{"j": {"temperature: 1": {"other:q": ["t"]}}}')
    with pytest.raises(InputError, match="expected 'bbh:item'"):
        read_verdicts(tmp_path)
    (tmp_path / "verdicts.csv").write_text("judge,temperature\nx,1\n")
    with pytest.raises(InputError, match="lacks the column"):
        read_verdicts(tmp_path)
    rows = "judge,temperature,benchmark,item,replicate,verdict\nj,1,other,q,0,A\n"
    (tmp_path / "verdicts.csv").write_text(rows)
    with pytest.raises(InputError, match="'other' is no benchmark"):
        read_verdicts(tmp_path)
    rows = "judge,temperature,benchmark,item,replicate,verdict\nj,1,BBH,q,0,Z\n"
    (tmp_path / "verdicts.csv").write_text(rows)
    with pytest.raises(InputError, match="'Z' is no verdict"):
        read_verdicts(tmp_path)


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/schroeder2024 is not there")
def test_table_2_of_the_paper_cell_by_cell():
    found = load_study("schroeder2024").examine(DATA, Options(n_resamples=19))
    table = found.conditions
    assert len(table) == 30
    wrong = table[~table["matches"]]
    assert wrong["condition"].tolist() == ["gemma-1.1-7b-it, T=1, SQuAD"]
    claims = {c.id: c for c in found.claims}
    assert "29 of 30" in claims["table2"].reproduced
    assert "misprint" in claims["table2"].reproduced
    assert claims["table2"].verdict == "does not stand"
    assert claims["table1"].verdict == "not examined"
    assert any("Meta-Llama-3" in text for text in found.limitations)
    cells = next(r for r in claims["table2"].results if r.id == "table2.then.cells").result
    assert isinstance(cells.tidy(), pd.DataFrame)
    assert len(cells.tidy()) == 30


def test_questions_that_move_in_step_leave_the_published_omega_undefined():
    rng = np.random.default_rng(0)
    noise = rng.integers(1, 6, size=(5, 40))
    found = published_omega_2412_12509(np.vstack([noise, noise[:2]]), n_permutations=9)
    assert np.isnan(found.estimate)
    assert "singular" in found.reason


def public_answers(folder, *, first_letter):
    """Three questions a set; SQuAD's counts are of answers with its first letter, or of right."""
    said = {"a": "It is Paris.", "b": "Perhaps.", "c": "no"}
    squad = [{"id": i, "question": "?", "answers": [{"text": "Paris"}]} for i in "xyz"]
    bbh = [{"category": i, "input": "?", "target": "(B)"} for i in "uvw"]
    entries = {f"squad:{q['id']}": {"model_responses": said} for q in squad}
    entries |= {f"bbh:{q['category']}": {"model_responses": said} for q in bbh}
    documents = {"prompt_responses": entries, "squad_sampled_q": squad, "bbh_sampled_q": bbh}
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    counts = {"squad": 2 if first_letter else 1, "bbh": 0}
    for name, count in counts.items():
        own = [q for q in entries if q.startswith(name)]
        rows = [",".join(["", *own]), ",".join(["prompt_accuracy", *([str(count)] * len(own))])]
        (folder / f"accuracy_resp_{name}.csv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize("first_letter", [True, False])
def test_right_answers_are_counted_again(tmp_path, first_letter):
    claim = answers(public_answers(tmp_path, first_letter=first_letter), Options(n_resamples=9))
    assert ("first character" in claim.because) is first_letter
    shares = {r.id: r.result.estimate for r in claim.results}
    assert shares["now.SQuAD"] == pytest.approx(1 / 3)
    assert shares["now.BBH"] == 0
    assert shares["then.SQuAD"] == pytest.approx((2 if first_letter else 1) / 3)
    assert "0 of 2 as printed" in claim.reproduced
    (tmp_path / "accuracy_resp_bbh.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="the last row must count"):
        answers(tmp_path, Options())
    (tmp_path / "accuracy_resp_bbh.csv").unlink()
    missing = answers(tmp_path, Options())
    assert missing == "the folder lacks accuracy_resp_bbh.csv of the authors' repository"
