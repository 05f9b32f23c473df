"""Checks of the data, and results under both policies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from judgestats.data.matrices import status_table
from judgestats.protocols.replies import is_cut
from judgestats.reporting.display import Markdown
from judgestats.reporting.numbers import integer, number, percent
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import condition_table
from judgestats.reporting.tables import Column, Table
from judgestats.results.numbers import as_sentence
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
            ("unread_share", "Replies that could not be read", True),
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
        for row in run.table("flagged_claims"):
            yield (
                "Claims that are others without these texts",
                "{} of {}".format(*(integer(row[k]) for k in ("changed", "claims"))),
                "tables/flagged_without.csv has the estimates with and without them",
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
            "their reliability near 1 says that sampling was off, not that the judge is right"
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
            "cannot be told; name it (--scale 1-10) to see whether its ends limit the spread",
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
            "Kinds of warnings, each as the first of its results says it. All stand with their "
            "results in `results.json`."
        ),
        label="tbl-warnings",
    )


def warnings_note(run: Run) -> Markdown:
    """What kinds of warning the results carry, and where they stand in full."""
    kinds = list(dict.fromkeys(_kind(code) for _, code, _ in run.warnings()))
    if not kinds:
        return Markdown("No result carries a warning.")
    named = "; ".join(k[:1].lower() + k[1:] for k in kinds)
    return Markdown(
        f"Results carry warnings of these kinds: {escape_markdown(named)}. They "
        "stand in full in @sec-warnings."
    )


def _kind(code: str) -> str:
    return _WARNINGS.get(code, code.replace("_", " ").capitalize())


def missing_policies(run: Run) -> Table | Markdown:
    """Means and spreads with all readable scores, and with completely read items only."""
    rows = run.table("policies.scores")
    if rows:
        return _score_policies(rows)
    frame = run.finals
    if frame.empty:
        return Markdown("")
    of_scores = "score" in frame and bool(frame["score"].notna().any())
    if frame["status"].eq("ok").all() or of_scores:
        return Markdown(
            "Every judgment was read, so leaving unread judgments out and leaving their items out "
            "altogether give the same numbers."
            if of_scores
            else "Every verdict was read, so both policies for unread ones give the same numbers."
        )
    for needed, made in (
        ({"least_if_read", "most_if_read"}, _bounds_if_read),
        ({"vote_share", "vote_share_unread_a_category"}, _reliability_policies),
    ):
        if needed <= set(run.conditions):
            return made(run)
    return _verdict_policies(run.table("policies.verdicts"))


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
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="unread", label="No verdict", format="integer"),
            *(
                Column(key=key, label=label, format="coefficient:3")
                for key, label in (
                    ("commonest", "Modal verdict, unparsed left out"),
                    ("commonest_unread", "Modal verdict, unparsed a category"),
                    ("same_after_swap", "Order consistency, unparsed left out"),
                    ("same_after_swap_unread", "Order consistency, unparsed a category"),
                    ("same_as_people", "Accuracy, unparsed left out"),
                    ("same_as_people_unread", "Accuracy, unparsed a category"),
                )
                if any(not math.isnan(number_of(row[key])) for row in rows)
            ),
        ),
        rows=tuple(rows),
        caption=(
            "Two policies for judgments without a verdict (not read, or not answered): left out, "
            "and as a category of their own (which agrees with nothing that people said)."
        ),
        label="tbl-missing",
    )


def _bounds_if_read(run: Run) -> Table:
    """The Grade Score of complete items, and what it can be over all items, however they chose."""
    columns = (
        Column(key="lost", label="Not read", format="integer"),
        Column(key="grade_score", label="Complete items", format="coefficient:3"),
        Column(key="least_if_read", label="All items, at least", format="coefficient:3"),
        Column(key="most_if_read", label="All items, at most", format="coefficient:3"),
    )
    return _policy_table(
        run,
        columns,
        "Two policies for unread selections: items whose rotations were all read, and bounds over "
        "all items, whatever the unread selections were.",
    )


def _reliability_policies(run: Run) -> Table:
    """Reliability of one verdict with unread ones left out, and as a category."""
    columns = (
        Column(key="lost", label="Not read", format="integer"),
        Column(key="vote_share", label="Kappa, unparsed left out", format="coefficient:3"),
        Column(
            key="vote_share_unread_a_category",
            label="Kappa, unparsed a category",
            format="coefficient:3",
        ),
        *(
            Column(key=key, label=label, format="coefficient:3")
            for key, label in (
                ("as_judged", "Judged correct, unparsed left out"),
                ("as_judged_unread_not_correct", "Judged correct, unparsed as not"),
            )
            if key in run.conditions
        ),
    )
    return _policy_table(
        run,
        columns,
        "Two policies for unread verdicts: left out, and as a category of their own. A judge that "
        "often gives no verdict on the same items is repeatable in that, which is no agreement.",
    )


def _policy_table(run: Run, columns: Sequence[Column], caption: str) -> Table:
    rows = [
        row | {"lost": int(number_of(row.get("n")) - number_of(row.get("n_ok")))}
        for row in run.described
    ]
    return condition_table(run, columns, rows, caption=caption, label="tbl-missing")
