"""Checks of the data, warnings, and how far results depend on one decision or one question."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from judgestats.data.parse import status_table
from judgestats.protocols.replies import is_cut
from judgestats.reporting.numbers import address, integer, number, percent, words
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import condition_table
from judgestats.reporting.tables import Column, Markdown, Table
from judgestats.results.numbers import UNREPEATED_CODE, as_sentence
from judgestats.sinks import escape_markdown


def checks(run: Run) -> Table:
    """What was checked, what was found, and what follows from it."""
    rows = tuple(
        {"check": check, "found": checked, "consequence": consequence}
        for check, checked, consequence in _checks(run)
    )
    return Table(
        columns=(
            Column(key="check", label="Check"),
            Column(key="found", label="Found"),
            Column(key="consequence", label="Consequence"),
        ),
        rows=rows,
        caption="Checks of the data, and what follows from each.",
        label="tbl-checks",
    )


def _checks(run: Run) -> Iterator[tuple[str, str, str]]:
    frame, table = run.judgments, run.conditions
    if not frame.empty:
        shares = status_table(frame)
        for key, what, always in (
            ("unread_share", "Unparsed replies", True),
            ("unanswered_share", "Judgments that were not answered, or never asked", False),
        ):
            worst = float(shares[key].max())
            spread = worst - float(shares[key].min())
            if always or worst > 0:
                yield (
                    what,
                    f"at most {percent(worst)} of a condition" if worst > 0 else "none",
                    "no number below leaves any of them out"
                    if worst == 0
                    else "conditions lose unequally: compare them with care"
                    if spread > 0.02
                    else "too few to move the results much; both are counted",
                )
        fingerprints = frame.loc[frame["fingerprint"].ne(""), ["judge", "fingerprint"]]
        most = int(fingerprints.groupby("judge")["fingerprint"].nunique().max() or 0) if len(
            fingerprints
        ) else 0  # fmt: skip
        yield (
            "Did the server's software change while a judge was asked (its system fingerprint)?",
            "no fingerprint was reported" if most == 0 else
            "one fingerprint throughout" if most == 1 else f"up to {most} fingerprints a judge",
            "not known" if most == 0 else "no change seen" if most == 1 else
            "part of the spread may come from the change",
        )  # fmt: skip
        if frame["finish_reason"].ne("").any():
            cut = int(frame["finish_reason"].astype(str).map(is_cut).sum())
            yield (
                "Replies cut off at the token limit",
                integer(cut),
                "none" if cut == 0 else "raise the limit: a cut reply may have lost its verdict",
            )
        for row in run.table("flagged_texts"):
            yield (
                f"Texts that imitate the prompt's frame or address the judge ({row['condition']})",
                "{} and {} of {} items".format(
                    *(integer(row[k]) for k in ("imitates_frame", "addresses_judge", "items"))
                ),
                "read these items: such a text may have moved its verdict",
            )
        ends = _ceiling_share(run)
        if ends is not None:
            name, share = ends
            yield (
                "Scores at an end of the scale",
                f"{percent(share, digits=0)} in {name}",
                "spread cannot show beyond the scale's end: read mean and spread together"
                if share > 0.3
                else "the ends of the scale do not limit the spread much",
            )
    if "constant_share" in table:
        still = table.loc[table["constant_share"] > 0.95, "condition"].astype(str).tolist()
        present = int(table["constant_share"].notna().sum())
        yield (
            "Conditions in which repeating changes nothing",
            f"{len(still)} of {present}" if present else "not known",
            "their reliability near 1 says that sampling was off, not that the judge is correct"
            if still
            else "every condition has some spread"
            if present == len(table)
            else "every condition that could be read twice has some spread"
            if present
            else "nothing was read twice",
        )
    if "mean_spread_correlation" in table:
        related = table["mean_spread_correlation"].to_numpy(dtype=float)
        lowest = float(np.nanmin(related)) if np.isfinite(related).any() else math.nan
        yield (
            "Do items with high means vary less?",
            f"correlation down to {number(lowest, leading_zero=False)}",
            "mean and spread are confounded: a smaller spread may only be a higher mean"
            if lowest < -0.3
            else "no strong relation",
        )
    clusters = int(run.design.get("clusters") or (frame["cluster"].nunique() if len(frame) else 0))
    yield (
        "Questions (the independent units)",
        integer(clusters),
        "few: intervals are wide and may cover less than they say" if clusters < 50 else "enough",
    )
    if run.scale is None and "mean" in table:
        yield (
            "Scores at an end of the scale",
            "the scale is not known",
            "cannot be determined; name it (--scale 1-10) to see whether its ends limit the spread",
        )


def _ceiling_share(run: Run) -> tuple[str, float] | None:
    """The condition with the most scores at an end of the scale, and their share."""
    shares = {str(r["condition"]): number_of(r["share"]) for r in run.table("scale_ends")}
    return max(shares.items(), key=lambda one: one[1]) if shares else None


_WARNINGS = {
    "few_clusters": "Few questions behind an interval",
    "few_effective_clusters": "A variance that comes from few questions",
    "incomplete_blocks": "Items not judged under every condition",
    "no_interval": "No interval can be given",
    "no_within_item_variance": "Scores that never vary within an item",
    "not_estimable": "An interval that would say nothing",
    "published_size": "A published test of the wrong size",
    "singular": "A fit that cannot be tested",
    "ties_ignored": "Tied ranks",
    "unpaired": "A published test that ignores the pairing",
    "zero_differences": "Pairs without a difference",
}
"""What a reader calls a warning of the statistics, by its code."""


def warnings(run: Run) -> Table | Markdown:
    """Each kind of warning once: what its first result says of it, where it stands, how often."""
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for title, code, message in run.warnings():
        by_kind.setdefault(code, []).append((title, message))
    if not by_kind:
        return Markdown("No result carries a warning.")
    rows = []
    for code, warned in by_kind.items():
        titles = list(dict.fromkeys(title for title, _ in warned))
        more = f"; and {len(titles) - 3} more" if len(titles) > 3 else ""
        others = len({message for _, message in warned}) - 1
        beside = f" ({others} more of this kind read otherwise)" if others else ""
        rows.append(
            {
                "where": "; ".join(titles[:3]) + more,
                "text": f"{_kind(code)}: {as_sentence(warned[0][1])}{beside}",
                "n": len(warned),
            }
        )
    return Table(
        columns=(
            Column(key="text", label="Warning"),
            Column(key="where", label="Results"),
            Column(key="n", label="Times", format="integer"),
        ),
        rows=tuple(rows),
        caption=(
            "Kinds of warnings, each as the first of its results says it. All are listed with "
            "their results in `results.json`."
        ),
        label="tbl-warnings",
    )


def _kind(code: str) -> str:
    return _WARNINGS.get(code, code.replace("_", " ").capitalize())


def missing_policies(run: Run) -> Table | Markdown:
    """Results with unparsed judgments left out, and with the other policy for them."""
    rows = run.table("policies.scores")
    if rows:
        return _score_policies(rows)
    frame = run.finals
    if frame.empty:
        return Markdown("")
    of_scores = "score" in frame and bool(frame["score"].notna().any())
    if frame["status"].eq("ok").all() or of_scores:
        return Markdown(
            "Every judgment was parsed, so leaving unparsed ones out and leaving their items out "
            "altogether give the same numbers."
            if of_scores
            else "Every verdict was parsed, so both policies give the same numbers."
        )
    for columns, caption in _POLICIES:
        if set(list(columns)[:2]) <= set(run.conditions):
            return _condition_policies(run, columns, caption)
    return _verdict_policies(run.table("policies.verdicts"))


_POLICIES: tuple[tuple[Mapping[str, str], str], ...] = (
    (
        {
            "least_if_read": "All items, at least",
            "most_if_read": "All items, at most",
            "grade_score": "Complete items",
        },
        (
            "Two policies for unparsed selections: items whose rotations were all read, and bounds "
            "over all items, whatever the unparsed selections were."
        ),
    ),
    (
        {
            "vote_share": "Kappa, unparsed left out",
            "vote_share_unread_a_category": "Kappa, unparsed a category",
            "as_judged": "Judged correct, unparsed left out",
            "as_judged_unread_not_correct": "Judged correct, unparsed as not",
        },
        (
            "Two policies for unparsed verdicts: left out, and as a separate category. A judge "
            "that often gives no verdict on the same items repeats this, but that is not "
            "agreement."
        ),
    ),
)
"""Columns of the table of conditions that hold both policies, the first two always."""
_OF_VERDICTS = {
    "commonest": "Modal verdict, unparsed left out",
    "commonest_unread": "Modal verdict, unparsed a category",
    "same_after_swap": "Order consistency, unparsed left out",
    "same_after_swap_unread": "Order consistency, unparsed a category",
    "same_as_people": "Accuracy, unparsed left out",
    "same_as_people_unread": "Accuracy, unparsed a category",
}


def _coefficients(labels: Mapping[str, str], kept: Container[str]) -> list[Column]:
    return [Column(key=k, label=v, format="coefficient:3") for k, v in labels.items() if k in kept]


def _condition_policies(run: Run, labels: Mapping[str, str], caption: str) -> Table:
    rows = [
        row | {"lost": int(number_of(row.get("n")) - number_of(row.get("n_ok")))}
        for row in run.described
    ]
    lost = Column(key="lost", label="Unparsed", format="integer")
    columns = [lost, *_coefficients(labels, run.conditions)]
    return condition_table(run, columns, rows, caption=caption, label="tbl-missing")


def _score_policies(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = [
        Column(key="condition", label="Condition"),
        Column(key="items", label="Items", format="integer"),
        Column(key="mean", label="Mean", format="number:2"),
        Column(key="variance", label="Variance", format="number:3"),
        Column(key="items_complete", label="Complete items", format="integer"),
        Column(key="mean_complete", label="Mean", format="number:2"),
        Column(key="variance_complete", label="Variance", format="number:3"),
    ]
    if all(math.isnan(number_of(row["variance"])) for row in rows):  # each item judged once
        columns = [c for c in columns if not c.key.startswith("variance")]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=(
            "Two policies for judgments without a score: every score that was read, and only items "
            "of which every judgment was read in every condition."
        ),
        label="tbl-missing",
    )


def _verdict_policies(rows: Sequence[Mapping[str, Any]]) -> Table | Markdown:
    if not rows:
        return Markdown("")
    known = [k for k in _OF_VERDICTS if any(not math.isnan(number_of(row[k])) for row in rows)]
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="unparsed", label="No verdict", format="integer"),
            *_coefficients(_OF_VERDICTS, known),
        ),
        rows=tuple(rows),
        caption=(
            "Two policies for judgments without a verdict (unparsed, or no reply): left out, or a "
            "separate category, which agrees with no label."
        ),
        label="tbl-missing",
    )


def crosscheck(run: Run) -> Table | None:
    """Ours, theirs and the difference; what differs first."""
    rows = run.table("crosscheck")
    if not rows:
        return None
    return Table(
        columns=(
            Column(key="quantity"),
            Column(key="condition"),
            Column(key="ours", format="number:4"),
            Column(key="theirs", format="number:4"),
            Column(key="same"),
            Column(key="package"),
        ),
        rows=tuple(
            row | {"same": row["reason"] or ("yes" if row["agrees"] else "NO")} for row in rows
        ),
        caption="Numbers of this run, recomputed by independent packages.",
        note="Same: within 1e-6, fits that iterate within 1e-3 (tables/crosscheck.csv).",
        label="tbl-crosscheck",
    )


_FEW = 12


def limits(run: Run, *, full: bool = False) -> Markdown:
    """What limits the results, each as its record says it.

    Parameters
    ----------
    run : Run
    full : bool
        All of them, whatever their number.
    """
    n = len(run.records.limitations)
    shown = [
        words(run.records, address("", f"limitations.{i}.message"))
        for i in range(n if full else min(n, _FEW))
    ]
    if not shown:
        return Markdown("The data gave cause for no limitation beyond those of the design.")
    return Markdown("\n".join(f"- {text}" for text in shown))


def not_repeated(run: Run) -> Markdown:
    """That consistency is not known, where no judgment was repeated; else nothing."""
    messages = [n.message for n in run.records.limitations if n.code == UNREPEATED_CODE]
    return Markdown("\n\n".join(f"**{escape_markdown(text)}**" for text in messages))
