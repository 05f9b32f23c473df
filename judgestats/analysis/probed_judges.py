"""What each judge said under every variant of a probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.agreement import own_authors, position_shares, preference_share
from judgestats.analysis.families import AnalysisPlan
from judgestats.analysis.selections import Rotations
from judgestats.arrays import Floats, Objects
from judgestats.data.matrices import both_orders, scores_of
from judgestats.data.request_fields import heat
from judgestats.items.preference_sets import label_table
from judgestats.items.records import Item
from judgestats.protocols import probes
from judgestats.protocols.base import Scale
from judgestats.protocols.probes.base import REVERSED, WORDS
from judgestats.protocols.probes.pointwise import SCALE_WORDS
from judgestats.protocols.template import pair_name


@dataclass(frozen=True, kw_only=True)
class PairedValues:
    """What a probe compares: each thing judged before and after, and its question."""

    names: tuple[str, ...]
    before: Floats
    after: Floats
    cluster: Objects


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """What is known of the pairs next to the judge's verdicts.

    Attributes
    ----------
    human : ndarray, shape (n_pairs,)
        Human share for the earlier answer, a tie counting half; NaN without labels.
    log_length_ratio : ndarray, shape (n_pairs,)
    own : ndarray, shape (n_pairs,)
        1 where the earlier answer is the judge's own, -1 where the later one is, else 0.
    """

    human: Floats
    log_length_ratio: Floats
    own: Floats


@dataclass(frozen=True, kw_only=True)
class ProbedJudge:
    """One judge at one temperature.

    Attributes
    ----------
    where, judge : str
    names : mapping of what is asked to tuple of str
        The things judged as they are.
    cluster : mapping of what is asked to ndarray
        Their questions.
    scores : mapping of variant to ndarray, shape (n_answers, n_replications)
        NaN where not asked or not read.
    verdicts : mapping of variant to (ab, ba)
        Of pairs, in both orders; empty text where not read.
    turned : Rotations or None
        Choices among several, in every rotation.
    labelled : Labelled or None
    conditions : mapping of variant to condition
    counts : mapping of variant to int
        Things that were asked about.
    """

    where: str
    judge: str
    names: Mapping[probes.Asks, tuple[str, ...]]
    cluster: Mapping[probes.Asks, Objects]
    scores: Mapping[str, Floats] = field(default_factory=dict)
    verdicts: Mapping[str, tuple[Objects, Objects]] = field(default_factory=dict)
    turned: Rotations | None = None
    labelled: Labelled | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def probe_count(self, probe: probes.Probe) -> int:
        """Of how many things a probe could be built."""
        if probe.measured == "own answers":
            return 0 if self.labelled is None else int(np.sum(self.labelled.own != 0))
        return self.counts.get(probe.changed.name, 0)

    def paired_values(self, probe: probes.Probe) -> PairedValues | None:
        """What a probe of shifts and places compares; None if nothing was read."""
        if not self.probe_count(probe) or probe.measured == "own answers":
            return None
        if probe.asks == "options":
            return self._option_positions(last=probe.measured == "last place")
        if probe.measured == "first place":
            shares = position_shares(*self.verdicts[probe.baseline])
            return self._paired("pairs", shares[:, :1], shares[:, 1:])
        values = self.scores if probe.asks == "scores" else self.preferences()
        if probe.baseline not in values or probe.changed.name not in values:
            return None
        return self._paired(probe.asks, values[probe.baseline], values[probe.changed.name])

    def _paired(self, asks: probes.Asks, before: Floats, after: Floats) -> PairedValues | None:
        used = np.all([np.any(~np.isnan(x), axis=1) for x in (before, after)], axis=0)
        if used.sum() < 2:
            return None
        return PairedValues(
            names=tuple(np.array(self.names[asks], dtype=object)[used]),
            before=before[used],
            after=after[used],
            cluster=self.cluster[asks][used],
        )

    def preferences(self) -> dict[str, Floats]:
        """The share for the earlier answer over both orders, which weigh alike."""
        return {
            name: ((preference_share(ab) + preference_share(ba)) / 2)[:, None]
            for name, (ab, ba) in self.verdicts.items()
        }

    def _option_positions(self, *, last: bool) -> PairedValues | None:
        """An even share of each position next to the share of the first, or the last."""
        turned = self.turned
        if turned is None:
            return None
        n = turned.n_options
        asked = np.arange(turned.positions.shape[1]) < n[:, None]
        whole = ~(np.isnan(turned.positions) & asked).any(axis=1)
        wanted = (n - 1 if last else np.zeros_like(n))[:, None]
        share = np.sum((turned.positions == wanted) & asked, axis=1) / n
        table = pd.DataFrame({
            "name": turned.items, "cluster": turned.cluster, "even": 1 / n, "share": share,
        })[whole].groupby("name", sort=False).agg(
            cluster=("cluster", "first"), even=("even", "mean"), share=("share", "mean")
        )  # fmt: skip
        if len(table) < 2:
            return None
        return PairedValues(
            names=tuple(map(str, table.index)),
            before=table["even"].to_numpy(float)[:, None],
            after=table["share"].to_numpy(float)[:, None],
            cluster=table["cluster"].to_numpy(object),
        )


def requested_output(variant: str) -> probes.Asks:
    """What is asked under a variant.

    Examples
    --------
    >>> requested_output("padding"), requested_output("pair hint: later"), requested_output(
    ...     "options")
    ('scores', 'pairs', 'options')
    """
    return _ALL[variant].asks


def variant_scale(variant: str) -> str:
    """The scale whose points a variant's scores have, where that is not the run's.

    Examples
    --------
    >>> [variant_scale(v) for v in ("padding", "scale 1-100", "scale of words", "reversed scale")]
    ['', '1-100', '1-5', '']
    """
    asked = _ALL[variant].scale
    if asked == WORDS:
        return str(Scale(1, len(SCALE_WORDS)))
    return "" if asked == REVERSED else asked  # scores of a turned one are turned back


def on_another_scale(variant: str) -> bool:
    """Whether a variant asks on another scale than the run's.

    Examples
    --------
    >>> on_another_scale("padding"), on_another_scale("scale 1-5")
    (False, True)
    """
    return bool(_ALL[variant].scale)


_ALL = probes.variants_of(tuple(probes.PROBES.values()))


def probed_judges(
    frame: pd.DataFrame, items: Sequence[Item], declared: AnalysisPlan
) -> tuple[dict[str, str], list[ProbedJudge]]:
    """Every judge at every temperature with what it said under each variant.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_probe``.
    items : sequence of Item
        What was judged: human labels and authors are theirs.
    declared : AnalysisPlan
        Its options ``own.JUDGE`` name the author whose answers are the judge's own.

    Returns
    -------
    dict of judge to author
    list of ProbedJudge
    """
    given = {k.removeprefix("own."): v for k, v in declared.options.items() if k.startswith("own.")}
    own = own_authors(frame, items, given)
    names: dict[probes.Asks, tuple[str, ...]] = {}
    cluster: dict[probes.Asks, Objects] = {}
    of: tuple[tuple[probes.Asks, str], ...] = (
        ("scores", probes.ORIGINAL), ("pairs", probes.PAIRS), ("options", probes.OPTIONS),
    )  # fmt: skip
    for asks, plain in of:
        wanted = frame["factor_probe"].map(requested_output).eq(asks)
        first = frame["factor_probe"].eq(plain)
        once = frame[first if first.any() else wanted].drop_duplicates("item_id")
        names[asks] = tuple(once["item_id"].astype(str))
        cluster[asks] = once["cluster"].to_numpy(object)
    settings = [c for c in frame if str(c).startswith("factor_") and c != "factor_probe"]
    references = _pair_attributes(items, names["pairs"])
    out = []
    for key, asked in frame.groupby(["judge", "temperature", *settings], sort=False, dropna=False):
        judge, temperature, *levels = key
        parts = {str(k): part for k, part in asked.groupby("factor_probe", sort=False)}
        further = "".join(
            f", {str(c).removeprefix('factor_')}={v}" for c, v in zip(settings, levels, strict=True)
        )
        out.append(
            ProbedJudge(
                where=f"{judge} at {heat(float(str(temperature)))}{further}",
                judge=str(judge),
                names=names,
                cluster=cluster,
                labelled=_labelled(references, own.get(str(judge), "")),
                conditions={k: str(part["condition"].iloc[0]) for k, part in parts.items()},
                counts={k: part["item_id"].nunique() for k, part in parts.items()},
                **_reply_examples(parts, names),
            )
        )
    return own, out


def _reply_examples(
    parts: Mapping[str, pd.DataFrame], names: Mapping[probes.Asks, Sequence[str]]
) -> dict[str, Any]:
    replies: dict[str, Any] = {"scores": {}, "verdicts": {}}
    for variant, part in parts.items():
        asks = requested_output(variant)
        if asks == "scores":
            replies["scores"][variant] = scores_of(part, names[asks])
        elif asks == "pairs":
            replies["verdicts"][variant] = both_orders(part, names[asks])
        else:
            replies["turned"] = Rotations(part)
    return replies


def _pair_attributes(
    items: Sequence[Item], pairs: Sequence[str]
) -> tuple[Floats, Floats, Objects] | None:
    """Human share, log ratio of lengths and the two authors of every pair, in their order."""
    table = label_table(items)
    by_id = {item.id: item for item in items}
    by_item: dict[str, tuple[float, float, tuple[str, str]]] = {}
    shares = preference_share(table.labels) if len(table.items) else np.zeros(0)
    for item_id, pair, share in zip(table.items, table.pairs, shares, strict=True):
        item = by_id[item_id]
        a, b = (item.responses[k] for k in pair)
        ratio = float(np.log(max(len(a.text), 1) / max(len(b.text), 1)))
        by_item[pair_name(item, pair)] = (float(share), ratio, (a.author, b.author))
    if not by_item or not all(name in by_item for name in pairs) or not pairs:
        return None
    listed = [by_item[name] for name in pairs]
    return (
        np.array([share for share, _, _ in listed]),
        np.array([ratio for _, ratio, _ in listed]),
        np.array([authors for _, _, authors in listed], dtype=object),
    )


def _labelled(reference: tuple[Floats, Floats, Objects] | None, author: str) -> Labelled | None:
    if reference is None:
        return None
    human, ratio, authors = reference
    mine = authors == author if author else np.zeros(authors.shape, dtype=bool)
    own = mine[:, 0].astype(float) - mine[:, 1].astype(float)
    return Labelled(human=human, log_length_ratio=ratio, own=own)
