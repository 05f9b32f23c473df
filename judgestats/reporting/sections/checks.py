"""Checks of the data, warnings, and how far results depend on one decision or one question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from judgestats.protocols.replies import is_cut
from judgestats.reporting.numbers import address, integer, number, percent, words
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import any_of, condition_table
from judgestats.reporting.tables import Column, Markdown, Table
from judgestats.results.numbers import as_sentence


def checks(run: Run) -> Table | Markdown:
    """What was checked, what was found, and what follows; the limitations state the rest."""
    rows = tuple(
        {"check": check, "found": checked, "consequence": consequence}
        for check, checked, consequence in _checks(run)
    )
    if not rows:
        return Markdown("Nothing was found that the limitations do not say.")
    return Table(
        columns=tuple(
            Column(key=k, label=k.capitalize()) for k in ("check", "found", "consequence")
        ),
        rows=rows,
        caption="Checks of the data, and what follows from each.",
        label="tbl-checks",
    )


_LOST_SHARES = {"unread_share": "Unparsed replies", "unanswered_share": "Failed or missing calls"}


def _checks(run: Run) -> Iterator[tuple[str, str, str]]:
    frame, table = run.judgments, run.conditions
    for key, what in _LOST_SHARES.items():
        if key in table and any_of(run, key):
            worst, least = table[key].max(), table[key].min()
            yield (
                what,
                f"at most {percent(worst)} of a condition",
                "conditions lose unequally: compare them with care"
                if worst - least > 0.02
                else "too few to move the results much; both are counted",
            )
    if not frame.empty:
        prints = frame.loc[frame["fingerprint"].ne("")].groupby("judge")["fingerprint"].nunique()
        if len(prints):
            changed = prints.max() > 1
            yield (
                "Did the server change while a judge was asked (its system fingerprint)?",
                f"up to {prints.max()} fingerprints per judge" if changed else "one fingerprint",
                "part of the spread may come from the change" if changed else "no change seen",
            )
        cut = int(frame["finish_reason"].astype(str).map(is_cut).sum())
        if cut:
            yield (
                "Replies cut off at the token limit",
                integer(cut),
                "raise the limit: a cut reply may have lost its verdict",
            )
    for row in run.table("flagged_texts"):
        yield (
            f"Texts that imitate the prompt's frame or address the judge ({row['condition']})",
            "{} and {} of {} items".format(
                *(integer(row[k]) for k in ("imitates_frame", "addresses_judge", "items"))
            ),
            "read these items: such a text may have moved its verdict",
        )
    if ends := run.table("scale_ends"):
        worst_end = max(ends, key=lambda row: number_of(row["share"]))
        yield (
            "Scores at an end of the scale",
            f"{percent(worst_end['share'], digits=0)} in {worst_end['condition']}",
            "spread cannot show beyond the scale's end: read mean and spread together"
            if worst_end["share"] > 0.3
            else "the ends of the scale do not limit the spread much",
        )
    elif run.scale is None and "mean" in table:
        yield (
            "Scores at an end of the scale",
            "the scale is not known",
            "name it (--scale 1-10) to see whether its ends limit the spread",
        )
    if "mean_spread_correlation" in table and table["mean_spread_correlation"].notna().any():
        lowest = float(table["mean_spread_correlation"].min())
        yield (
            "Do items with high means vary less?",
            f"correlation down to {number(lowest, leading_zero=False)}",
            "mean and spread are confounded: a smaller spread may only be a higher mean"
            if lowest < -0.3
            else "no strong relation",
        )


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
    for record, note in run.records.notes():
        by_kind.setdefault(note.code, []).append((record.title, note.message))
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
                "text": f"{_WARNINGS.get(code, code.replace('_', ' ').capitalize())}: "
                f"{as_sentence(warned[0][1])}{beside}",
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
            "Kinds of warnings, each as its first result states it. "
            "results.json lists all with their results."
        ),
        label="tbl-warnings",
    )


def missing_policies(run: Run) -> Table | Markdown:
    """Results with unparsed judgments left out, and with the other policy for them."""
    rows: list[dict[str, Any]] = [
        row | {"lost": number_of(row.get("n")) - number_of(row.get("n_ok"))}
        for row in run.described
    ]
    for source, labels in _POLICIES:
        policies = {str(row["condition"]): row for row in run.table(source)} if source else {}
        both = [
            row | policies.get(str(row["condition"]), {})
            for row in rows if not policies or str(row["condition"]) in policies
        ]  # fmt: skip
        known = [k for k in labels if any(not math.isnan(number_of(r.get(k))) for r in both)]
        are_both = bool(policies and known) or set([*labels][:2]) <= set(known)
        if are_both and any(r["lost"] > 0 for r in both):
            columns = [Column(key="lost", label="Without verdict", format="integer")]
            columns += [_policy_column(k, labels[k]) for k in known]
            made = condition_table(run, columns, both, caption=_TWO_POLICIES, label="tbl-missing")
            return made or Markdown("")
    if run.finals.empty or run.finals["status"].ne("ok").any():
        return Markdown("")
    return Markdown("Every judgment was parsed, so both policies give the same numbers.")


_TWO_POLICIES = (
    "Two policies for judgments without a score or verdict: left out, or as the columns say. "
    "Complete items are those of which every judgment was read. A category of unparsed verdicts "
    "agrees with no label; repeats of it are not agreement."
)


def _policy_column(key: str, name: str) -> Column:
    of_scores = {"items": "integer", "mean": "number:2", "variance": "number:3"}
    return Column(key=key, label=name, format=of_scores.get(key.partition("_")[0], "coefficient:3"))


_POLICIES: tuple[tuple[str, Mapping[str, str]], ...] = (
    (
        "policies.scores",
        {
            "items": "Items",
            "mean": "Mean",
            "variance": "Variance",
            "items_complete": "Complete items",
            "mean_complete": "Mean, complete items",
            "variance_complete": "Variance, complete items",
        },
    ),
    (
        "",
        {
            "least_if_read": "All items, at least",
            "most_if_read": "All items, at most",
            "grade_score": "Complete items",
        },
    ),
    (
        "",
        {
            "vote_share": "Kappa, unparsed left out",
            "vote_share_unread_a_category": "Kappa, unparsed a category",
            "as_judged": "Judged correct, unparsed left out",
            "as_judged_unread_not_correct": "Judged correct, unparsed as not",
        },
    ),
    (
        "policies.verdicts",
        {
            "commonest": "Modal verdict, unparsed left out",
            "commonest_unread": "Modal verdict, unparsed a category",
            "same_after_swap": "Order consistency, unparsed left out",
            "same_after_swap_unread": "Order consistency, unparsed a category",
            "same_as_people": "Accuracy, unparsed left out",
            "same_as_people_unread": "Accuracy, unparsed a category",
        },
    ),
)
"""Table of the policies, or none where the conditions' own holds them; its columns."""


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
