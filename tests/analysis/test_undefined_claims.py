"""What cannot be computed is said once, for every condition by its own name."""

import pandas as pd
import pytest

import judgestats as js


@pytest.mark.parametrize("judges", [12, 13])
def test_that_many_conditions_are_not_compared_is_said_in_memory_and_in_a_stream(judges, tmp_path):
    """40 judges were told apart by nothing, without a word."""
    frame = pd.DataFrame(
        {"item_id": f"i{i}", "cluster": f"i{i}", "judge": f"j{j:02d}", "temperature": 1.0,
         "replicate": r, "score": float(5 + (i * j + r) % 3), "status": "ok"}
        for j in range(judges) for i in range(6) for r in range(2)
    )  # fmt: skip
    frame.to_parquet(tmp_path / "part.parquet", index=False)
    for stream in ("yes", "no"):
        read = js.read_judgments(tmp_path / "part.parquet", stream=stream)
        found = js.audit(read, n_resamples=19).analysis
        compared = {h.id for h in found.headlines} >= {"headline.gmd.all"}
        said = "not_compared" in {n.code for n in found.records().limitations}
        assert (compared, said) == (judges == 12, judges == 13)
