"""The first screen shows the rows of the declared contrast, the baseline first."""

from judgestats.data import Condition, Contrast
from judgestats.results import Cell, Summary, SummaryRow, plain_text
from judgestats.results.numbers import Column
from judgestats.results.screen import condition_table

STRATEGIES = ("aggregate@4", "cce-criticising-raw@4", "cce-criticising@2", "cce-criticising@16",
              "criteria", "majority@4", "vanilla")  # fmt: skip


def conditions(judges: tuple[str, ...], factor: str, levels: tuple[str, ...]) -> list[Condition]:
    return [
        Condition(judge=j, temperature=0.5, factors={factor: level})
        for j in judges
        for level in levels
    ]


def summary(labels: list[str]) -> Summary:
    """Two numbers per condition."""
    columns = tuple(Column(label=label, name=label) for label in labels)
    lines = tuple(
        SummaryRow(
            key=key, ask=key, short=key, unit="",
            cells=tuple(Cell(column=c, number=f".{i}{k}") for i, c in enumerate(labels)),
        )
        for k, key in enumerate(("First", "Second"))
    )  # fmt: skip
    return Summary(title="", facts=(), shared="", columns=columns, lines=lines)


def test_strategies_of_the_claim_are_chosen_with_the_most_judgments() -> None:
    claimed = Contrast(
        vary="strategy",
        base="vanilla",
        levels=("majority", "aggregate", "criteria", "cce-criticising"),
    )
    asked = conditions(("a", "b"), "strategy", STRATEGIES)
    names = ("vanilla", "majority@4", "aggregate@4", "criteria", "cce-criticising@16")
    assert claimed.groups(asked) == [
        [f"{j}, T=0.5, strategy={name}" for name in names] for j in ("a", "b")
    ]
    assert claimed.groups(conditions(("a",), "strategy", STRATEGIES[:-1])) == []


def test_each_group_has_a_share_of_the_rows_and_its_baseline() -> None:
    labels = [c.label for c in conditions(("a", "b"), "strategy", STRATEGIES)]
    groups = [[labels[6], labels[0], labels[3]], [labels[13], labels[7], labels[10]]]
    rows = plain_text(condition_table(summary(labels), 100, 9, "", groups)).splitlines()
    assert [row.split("strategy=")[1].split()[0] for row in rows[1:-1]] == [
        "vanilla", "aggregate@4", "cce-criticising@16",
    ] * 2  # fmt: skip
    assert rows[-1] == " and 8 more conditions"
    short = plain_text(condition_table(summary(labels), 100, 6, "", groups)).splitlines()
    assert [row.split("strategy=")[1].split()[0] for row in short[1:-1]] == [
        "vanilla", "aggregate@4",
    ] * 2  # fmt: skip


def test_pairs_without_room_stand_in_one_row_each() -> None:
    labels = [c.label for c in conditions(tuple("abcde"), "unrelated", ("no", "yes"))]
    groups = [labels[k : k + 2] for k in range(0, 10, 2)]
    rows = plain_text(condition_table(summary(labels), 100, 8, "", groups)).splitlines()
    assert rows[0].split()[:3] == ["unrelated=no", "→", "yes"]
    assert [row.split(",")[0].strip() for row in rows[1:]] == list("abcde")
    assert ".00 → .10" in rows[1]
    assert ".81 → .91" in rows[5]
