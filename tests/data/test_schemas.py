"""Nothing is computed on a frame that breaks the schema, and the message stays readable."""

import numpy as np
import pandas as pd
import pytest
from pandera.errors import SchemaError

from judgestats.data import (
    parsed_frame,
    parsed_schema,
    raw_schema,
    validate_parsed,
    validate_raw,
)
from judgestats.errors import InputError


def frame(n=4, **columns):
    base = {
        "judge": "J",
        "temperature": 0.5,
        "item_id": [f"i{k // 2}" for k in range(n)],
        "cluster": [f"i{k // 2}" for k in range(n)],
        "replicate": [k % 2 for k in range(n)],
        "score": [float(3 + k % 5) for k in range(n)],
        "status": "ok",
    }
    return parsed_frame(pd.DataFrame(base | columns))


def test_a_good_frame_passes_with_a_fresh_index():
    given = frame()
    given.index = [9, 9, 9, 9]
    assert validate_parsed(given).index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"status": "great"}, "status"),
        ({"item_id": ""}, "item_id must not be empty"),
        ({"temperature": 7.0}, "temperature must lie in 0-2"),
        ({"replicate": -1, "item_id": list("abcd")}, "replicate"),
        ({"score": np.inf}, "infinite"),
        ({"score": np.nan}, "neither score nor choice"),
        ({"status": "refused"}, "there is a score"),
        ({"replicate": 0}, "more than one row"),
        ({"cost_usd": -1.0}, "cost_usd must not be negative"),
    ],
)
def test_a_violation_is_named(columns, said):
    with pytest.raises(InputError, match=said):
        validate_parsed(frame(**columns))


def test_a_missing_column_is_the_only_thing_said():
    with pytest.raises(InputError, match="lacks the column item_id") as error:
        validate_parsed(frame().drop(columns="item_id"))
    assert "more than one row" not in str(error.value)


def test_a_score_outside_the_scale_names_its_rows():
    with pytest.raises(InputError, match=r"outside the scale 1-5") as error:
        validate_parsed(frame(score=[1.0, 6.0, 2.0, 9.0]), scale=(1, 5))
    assert "row 1" in str(error.value)
    assert "row 3" in str(error.value)


def test_the_list_of_failing_rows_is_capped():
    many = frame(n=50_000, status="great")
    with pytest.raises(InputError) as error:
        validate_parsed(many)
    assert len(str(error.value)) < 2_000


def test_raw_needs_no_verdict():
    assert len(validate_raw(frame().drop(columns=["status", "score"]))) == 4


@pytest.mark.parametrize(
    ("column", "value"), [("replicate", -1), ("temperature", 3.0), ("transport", "lost"),
                          ("item_id", ""), ("tokens_out", -5.0)]
)  # fmt: skip
def test_the_schemas_of_runs_are_pandera_s_and_refuse_what_the_rules_refuse(column, value) -> None:
    good = frame()
    assert len(raw_schema().validate(good)) == len(parsed_schema().validate(good)) == len(good)
    for schema in (raw_schema(), parsed_schema()):
        with pytest.raises(SchemaError):
            schema.validate(good.assign(**{column: value}))
    with pytest.raises(InputError, match=column):
        validate_raw(good.assign(**{column: value}))
