"""Table 3 of arXiv 2502.12501, as printed."""

from __future__ import annotations

from judgestats.studies.paper_tables import PaperTable, read_printed


def rejection_table() -> PaperTable:
    """Table 3 of arXiv 2502.12501: models trained on responses chosen at random or by a judge.

    Returns
    -------
    PaperTable

    Examples
    --------
    >>> len(rejection_table().table)
    12
    """
    rows = read_printed("arxiv_2502_12501_tables_1_4.csv")
    wide = (
        rows[rows["table"].eq(3)]
        .pivot(index=["judge_or_base", "set"], columns="method", values="value")
        .reset_index()
    )
    wide.columns.name = None
    names = [f"{how} Sampling" for how in ("Random", "Vanilla Rejection", "Crowd Rejection")]
    wide = wide[["judge_or_base", "set", *names]]
    chance, vanilla, crowd = (wide[name] for name in names)
    return PaperTable(
        source="arXiv 2502.12501, Table 3",
        table=wide,
        caption="The paper trains two base models on responses chosen in three ways and prints "
        "scores of the trained models: crowd rejection sampling stands above vanilla in "
        f"{int((crowd > vanilla).sum())} and vanilla above random in "
        f"{int((vanilla > chance).sum())} of {len(wide)} cells. It prints neither intervals "
        "nor how often the chosen response was the better one, which is what is measured here.",
    )
