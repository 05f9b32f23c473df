"""Each result is shown with its own symbol, df, p and adjusted p, whatever values collide."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.analysis import Analysis, NamedResult
from judgestats.reporting import Run, Table
from judgestats.reporting.sections import results
from judgestats.results import apa_p
from judgestats.stats import adjust_family, p_adjust
from judgestats.stats.inference import Sample, TestResult

LIMITS = {"F": 2, "t": 1, "V": 0, "z": 0}
"""Symbols and how many degrees of freedom each has here."""


@st.composite
def colliding(draw: st.DrawFn) -> list[TestResult]:
    """Tests whose statistics and p-values are drawn from very few numbers."""
    made = []
    for i in range(draw(st.integers(2, 7))):
        symbol = draw(st.sampled_from(sorted(LIMITS)))
        names = ("df", "df_residual")[: LIMITS[symbol]]
        made.append(
            TestResult(
                name="blocked_f_test",
                method=f"Method {i}",
                statistic=draw(st.sampled_from([1.0, 1.25])),
                statistic_name=symbol,
                df={name: draw(st.sampled_from([3.0, 4.0])) for name in names},
                p_value=draw(st.sampled_from([0.0067, 0.0067, 0.04, 0.388, 1.0])),
                null_hypothesis="nothing differs",
                sample=Sample(n_items=14),
            )
        )
    return made


def analysis_of(tests: list[TestResult], *, in_family: int) -> Analysis:
    named = [
        NamedResult(id=f"place.j{i}", title=f"Judge {i}", role="primary", result=t)
        for i, t in enumerate(tests)
    ]
    family = adjust_family({f"j{i}": t for i, t in enumerate(tests[:in_family])}, family="place")
    named.append(NamedResult(id="place.family", title="All", role="primary", result=family))
    return Analysis(experiment="x", question="?", results=tuple(named), conditions=pd.DataFrame())


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_each_test_bears_its_own_numbers(data: st.DataObject) -> None:
    tests = data.draw(colliding())
    held = data.draw(st.integers(1, len(tests)))
    analysis = analysis_of(tests, in_family=held)
    adjusted = p_adjust([t.p_value for t in tests[:held]])
    run = Run(Path("x"), analysis.records())
    terminal = " ".join(str(analysis).split())
    [table] = [t for t in results.results(run, full=True) if isinstance(t, Table)]
    assert isinstance(table, Table)
    for i, test in enumerate(tests):
        inside = ", ".join(f"{v:g}" for v in test.df.values())
        whole = not test.df and test.statistic == 1.0
        value = "1" if whole else f"{test.statistic:.2f}"
        shown = f"{test.statistic_name}({inside})" if inside else test.statistic_name
        p = apa_p(test.p_value)
        if i < held and held > 1:
            p += f" (Holm-adjusted over {held} tests, {apa_p(adjusted[i])})"
        expected = f"Method {i}: {shown} = {value}, {p} (14 items)."
        assert expected in terminal
        row = next(r for r in table.rows if r["what"] == f"Judge {i}")
        assert row["statistic"] == f"{shown} = {value}"
        assert str(row["plain_p"]) == apa_p(test.p_value).removeprefix("p ").removeprefix("= ")
        decides = adjusted[i] if i < held else test.p_value
        assert str(row["p"]) == apa_p(decides).removeprefix("p ").removeprefix("= ")


def test_the_adjusted_p_is_that_of_the_record_and_not_of_one_with_the_same_statistic() -> None:
    """The case that was printed wrongly: .388 with .775 of its own family, not .047."""
    one = TestResult(name="blocked_f_test", method="Sign test", statistic=9.0,
                     statistic_name="V", p_value=0.3877, sample=Sample(n_items=14))  # fmt: skip
    two = one.replace(p_value=0.0067)
    own = adjust_family({"a": one, "b": one.replace(p_value=0.5)}, family="own")
    other = adjust_family({f"{i}": two.replace(method=f"m{i}") for i in range(7)}, family="other")
    analysis = Analysis(
        experiment="x", question="?", conditions=pd.DataFrame(),
        results=(
            NamedResult(id="own.a", title="One", role="primary", result=one),
            NamedResult(id="own.family", title="Own", role="primary", result=own),
            NamedResult(id="other.family", title="Other", role="primary", result=other),
        ),
    )  # fmt: skip
    expected = "V = 9, p = .388 (Holm-adjusted over 2 tests, p = .775)"
    assert expected in " ".join(str(analysis).split())
    tables = results.results(Run(Path("x"), analysis.records()), full=True)
    [table] = [t for t in tables if isinstance(t, Table)]
    row = next(r for r in table.rows if r["what"] == "One")
    assert [row["statistic"], str(row["plain_p"]), str(row["p"])] == ["V = 9", ".388", ".775"]
