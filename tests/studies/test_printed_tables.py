"""Studies C and D, whose printed tables are all that is public: examined, planted and damaged."""

import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.studies import Options, load_study
from judgestats.studies.paper_tables import read_printed

GRADES, CROWD = "arxiv_2406_12043_tables_1_3.csv", "arxiv_2502_12501_tables_1_4.csv"


def claims(folder, study, file, frame):
    frame.to_csv(folder / file, index=False)
    return {c.id: c for c in load_study(study).examine(folder, Options()).claims}


def test_grade_scores_as_printed(tmp_path):
    found = claims(tmp_path, "grade_score", GRADES, read_printed(GRADES))
    assert found["option"].reproduced == "higher in 29 of 40 cells"
    assert "+0.050 [0.017, 0.083], p = .007" in found["option"].because
    assert found["bound"].reproduced == "possible in 71 of 80 cells"
    assert found["prompts"].verdict == found["best"].verdict == "open"
    assert "at most 768 to 133 rows" in found["repeats"].because


def test_crowd_tables_as_printed(tmp_path):
    found = claims(tmp_path, "crowd_comparative", CROWD, read_printed(CROWD))
    assert "GPT-4o +6.6" in found["gain"].reproduced
    assert "in 23 of 25 cells" in found["gain"].reproduced
    assert "14.8 points on EvalBias and 3.6 on average" in found["gain"].because
    assert found["averages"].reproduced == "40 of 42 rows"
    assert "82.7 printed, 82.5 computed" in found["averages"].because
    assert found["rejection"].reproduced.startswith("crowd above vanilla in 11 of 12 cells")
    assert found["points"].verdict == "not examined"


@pytest.mark.parametrize(
    ("study", "file", "break_it", "said"),
    [
        ("grade_score", GRADES, lambda f: f.iloc[:-1], "lacks cells"),
        ("grade_score", GRADES, lambda f: f.assign(value=f["value"] * 100), "from 0 to 1"),
        ("grade_score", GRADES, lambda f: f.drop(columns="prompt"), "lacks prompt"),
        ("crowd_comparative", CROWD, lambda f: pd.concat([f, f]), "one number for every"),
        ("crowd_comparative", CROWD, lambda f: f[f["table"] != 3], "must hold Tables 1 to 4"),
    ],
)
def test_damaged_tables_are_one_sentence(tmp_path, study, file, break_it, said):
    with pytest.raises(InputError, match=said):
        claims(tmp_path, study, file, break_it(read_printed(file)))
    with pytest.raises(InputError, match="holds no"):
        load_study(study).examine(tmp_path / "..", Options())


def test_an_option_that_always_helps_and_possible_cells_stand(tmp_path):
    frame = read_printed(GRADES)
    value = frame["judge"].map({j: i / 100 for i, j in enumerate(frame["judge"].unique())})
    value += 0.1 * frame["random_option"] + 0.3 * frame["judge"].str.contains("opus")
    value += 0.1 * frame["prompt"].isin([1, 2]) + 0.2 + 0.03 * frame["metric"].ne("grade_score")
    value += np.random.default_rng(0).uniform(0, 0.02, len(frame))  # nothing is exactly alike
    found = claims(tmp_path, "grade_score", GRADES, frame.assign(value=value))
    assert {found[c].verdict for c in ("option", "prompts", "best", "bound")} == {"stands"}


def test_a_crowd_that_helps_alike_on_every_set_stands(tmp_path):
    frame = read_printed(CROWD)
    told = frame["method"].str.contains("CCE@16|Outcome-Removal Crit", regex=True)
    base = frame["set"].map({s: 60.0 + 2 * i for i, s in enumerate(frame["set"].unique())})
    small = np.random.default_rng(0).uniform(0, 0.5, len(frame))
    found = claims(
        tmp_path, "crowd_comparative", CROWD, frame.assign(value=base + 9.0 * told + small)
    )
    assert found["gain"].verdict == found["price"].verdict == "stands"
    assert found["selection"].verdict == "stands in part"  # removal and criticism apart do nothing
