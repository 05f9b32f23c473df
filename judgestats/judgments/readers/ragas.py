"""ragas' results as a table: a row a question, a column a metric."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from judgestats.judgments.numerals import numbers_of
from judgestats.judgments.readers.options import TableOptions

_TEXTS = frozenset(
    {"user_input", "response", "reference", "retrieved_contexts", "reference_contexts", "rubric",
     "reference_tool_calls", "multi_responses"}
)  # fmt: skip


def ragas_options(table: pd.DataFrame, options: TableOptions) -> TableOptions:
    """How ragas' results are read: each metric a criterion, the question and response an item.

    Parameters
    ----------
    table : DataFrame
    options : TableOptions
        Returned as they are where they say something of the kind, or the table is no such thing.

    Returns
    -------
    TableOptions

    Examples
    --------
    >>> rows = pd.DataFrame({"user_input": ["?"], "response": ["!"], "faithfulness": [0.5]})
    >>> ragas_options(rows, TableOptions()).wide
    ('criterion=faithfulness',)
    """
    if not {"user_input", "response"} <= set(table.columns) or options.of_table:
        return options
    metrics = [
        str(c)
        for c in table.columns
        if c not in _TEXTS and (pd.notna(numbers_of(table[c])) == table[c].notna()).all()
    ]
    if not metrics:
        return options
    return replace(
        options,
        item=("user_input", "response"),
        wide=(f"criterion={','.join(metrics)}",),
    )
