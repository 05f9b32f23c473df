"""The alternative annotator test (arXiv 2501.10970): who of the people themselves would pass?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.summary_rows import ranked
from judgestats.errors import InputError
from judgestats.files.text import decode_json
from judgestats.stats.agreement.kappa import krippendorff_alpha
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.validity.annotators import (
    AlternativeAnnotator,
    alternative_annotator_test,
)
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    now,
    table_of,
)

SETS: Mapping[str, tuple[str, float, bool]] = {
    "summeval": ("SummEval", 0.2, True),
    "mtbench": ("MT-Bench pairs", 0.2, False),
    "cebab_aspects": ("CEBaB aspects", 0.1, False),
    "cebab_stars": ("CEBaB stars", 0.1, True),
    "framing": ("Narrative framing", 0.15, False),
}
"""Name, the margin that the study used, whether labels are numbers."""
_DRAWN, _DRAWS = 50, 200


@dataclass(frozen=True, kw_only=True)
class LabelledSet:
    """People's labels of a set: items x annotators, None where one gave none."""

    key: str
    labels: NDArray[np.object_]
    annotators: tuple[str, ...]
    group: NDArray[np.int64] | None

    @property
    def title(self) -> str:
        """What the set is called."""
        return SETS[self.key][0]

    @property
    def texts(self) -> int:
        """How many texts the items are of; 0 where it is not known."""
        return 0 if self.group is None else len(set(self.group.tolist()))

    @property
    def epsilon(self) -> float:
        """The margin that the study used for it."""
        return SETS[self.key][1]

    def test(
        self,
        who: int,
        *,
        epsilon: float,
        cluster: bool = False,
        rows: NDArray[np.int64] | None = None,
    ) -> AlternativeAnnotator:
        """An annotator in the judge's place, against the others."""
        labels = self.labels if rows is None else self.labels[rows]
        group = self.group if cluster and rows is None else None
        others = [k for k in range(len(self.annotators)) if k != who]
        numeric = SETS[self.key][2]
        table = labels.astype(float) if numeric else labels
        return alternative_annotator_test(
            table[:, who],
            table[:, others],
            annotators=[self.annotators[k] for k in others],
            scoring="neg_rmse" if numeric else "accuracy",
            epsilon=epsilon,
            cluster=group,
            n_resamples=0,
        )


def read_sets(folder: Path) -> list[LabelledSet]:
    """The sets of a folder: tables of labels, or the authors' folders.

    Raises
    ------
    InputError
        If it holds none of them, or a file is damaged.
    """
    if not folder.is_dir():
        raise InputError(f"replicate: there is no folder {str(folder)!r} for the alt-test sets.")
    sets = []
    for key in SETS:
        tables = sorted(folder.glob(f"{key}_human.csv*"))
        inside = next((p for p in (folder / key, folder / "data" / key) if p.is_dir()), None)
        if tables:
            sets.append(_from_tables(key, tables[0], folder))
        elif inside is not None and (inside / "human_annotations.json").is_file():
            sets.append(_from_authors(key, inside / "human_annotations.json"))
    if not sets:
        raise InputError(
            f"replicate: {str(folder)!r} holds none of the sets {', '.join(SETS)}: neither "
            "SET_human.csv.gz nor SET/human_annotations.json."
        )
    return sets


def _from_tables(key: str, path: Path, folder: Path) -> LabelledSet:
    human = table_of(path, ("item", "annotator", "label"))
    items = sorted(folder.glob(f"{key}_items.csv*"))
    about = table_of(items[0], ("item", "group")) if items else None
    order = about["item"] if about is not None else pd.Series(human["item"].unique())
    group = pd.factorize(about["group"])[0] if about is not None else None
    return _set(key, human, order, group)


def _from_authors(key: str, path: Path) -> LabelledSet:
    try:
        document = decode_json(path.read_text(encoding="utf-8"))
        rows = [
            {"item": str(item), "annotator": str(who), "label": str(label)}
            for who, labels in document.items()
            for item, label in labels.items()
        ]
    except (ValueError, AttributeError) as error:
        raise InputError(f"replicate: {path}: expected {{annotator: {{item: label}}}}.") from error
    human = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    return _set(key, human, pd.Series(human["item"].unique()), None)


def _set(
    key: str, human: pd.DataFrame, order: pd.Series, group: NDArray[np.int64] | None
) -> LabelledSet:
    if human.duplicated(["item", "annotator"]).any():
        raise InputError(f"replicate: {key}: an annotator labels an item twice.")
    if SETS[key][2] and pd.to_numeric(human["label"], errors="coerce").isna().any():
        raise InputError(f"replicate: {key}: a label is no number.")
    wide = human.pivot(index="item", columns="annotator", values="label").reindex(order)
    table = wide.astype(object).where(wide.notna(), None)
    return LabelledSet(
        key=key,
        labels=table.to_numpy(dtype=object),
        annotators=tuple(map(str, table.columns)),
        group=group,
    )


Tests = Mapping[tuple[str, str], AlternativeAnnotator]


def _tests(sets: list[LabelledSet], *, margin: bool, cluster: bool = False) -> Tests:
    """Every annotator who can be tested against at least two others."""
    tests = {}
    for own in sets:
        for k, who in enumerate(own.annotators):
            out = own.test(k, epsilon=own.epsilon if margin else 0.0, cluster=cluster)
            if len(out.annotators) > 1:
                tests[own.title, who] = out
    return tests


def _passing(tests: Tests) -> dict[str, tuple[int, int]]:
    """Passed and tested, a set."""
    counts: dict[str, tuple[int, int]] = {}
    for (title, _), out in tests.items():
        passed, n = counts.get(title, (0, 0))
        counts[title] = (passed + bool(out.passed), n + 1)
    return counts


def _format_counts(counts: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{title} {a} of {n}" for title, (a, n) in counts.items())


def _people(advised: Tests) -> Claim:
    counts = _passing(advised)
    passed, n = (sum(c[i] for c in counts.values()) for i in (0, 1))
    worst = min(counts, key=lambda t: counts[t][0] / counts[t][1])
    return Claim(
        id="people",
        claim="A judge that passes is as good as a human annotator; one that fails is not.",
        published="winning rate of at least .5 against the annotators",
        test_then="alternative annotator test of a model's labels",
        test_now="the same test of each person's labels against the other people's",
        verdict="stands" if passed == n else "stands in part" if passed else "does not stand",
        because=f"Of {n} people in a judge's place {passed} pass: {_format_counts(counts)}. A set "
        f"that its own annotators do not pass ({worst}) asks more of a judge than of a person.",
        results=tuple(
            now(f"people.now.{t}.{who}", f"{t}: {who} in the judge's place", out, primary=True)
            for (t, who), out in advised.items()
        ),
    )


def _margin(advised: Tests, bare: Tests) -> Claim:
    with_, without = _passing(advised), _passing(bare)
    a, b = (sum(c[0] for c in counts.values()) for counts in (with_, without))
    n = sum(c[1] for c in with_.values())
    return Claim(
        id="margin",
        claim="The margin epsilon accounts for a judge being cheaper.",
        published="epsilon .2 for experts, .15 for trained, .1 for crowd annotators",
        test_then="the margin is taken off every person's score",
        test_now="how many people pass with the margin, and with none",
        verdict="stands in part" if b < a else "stands",
        because=f"With the advised margins {a} of {n} people pass, with none {b}: the margin "
        "decides most verdicts. Report the winning rate at several margins; judgestats does.",
        results=tuple(
            now(f"margin.now.{t}.{who}", f"{t}: {who}, margin 0", out)
            for (t, who), out in bare.items()
        ),
    )


def _clusters(sets: list[LabelledSet], advised: Tests) -> Claim:
    grouped = [s for s in sets if 0 < s.texts < len(s.labels)]
    again = _tests(grouped, margin=True, cluster=True)
    changed = [key for key, out in again.items() if bool(out.passed) != bool(advised[key].passed)]
    sizes = ", ".join(f"{s.title} {len(s.labels)} in {s.texts}" for s in grouped)
    about = Claim(
        id="clusters",
        claim="Items count as independent in the paired t test.",
        published="one-sided paired t test over items",
        test_then="alternative annotator test, items independent",
        test_now="t over texts instead of items",
    )
    if not again:
        return about.not_examined("which items share a text is not in the folder")
    return about.examined(
        verdict="stands" if not changed else "stands in part",
        because=f"Items share texts ({sizes}); over texts {len(changed)} of {len(again)} verdicts "
        "on people change. The margin is wider than what clustering adds to the error.",
        results=tuple(
            now(f"clusters.now.{t}.{who}", f"{t}: {who}, over texts", out)
            for (t, who), out in again.items()
        ),
    )


def _modest(sets: list[LabelledSet], advised: Tests, options: Options) -> Claim:
    """How often fifty items give the verdict that all items give."""
    rng = np.random.default_rng(options.seed)
    shares: dict[str, list[float]] = {}
    draws = min(_DRAWS, options.n_resamples)
    for own in sets:
        whole = np.flatnonzero((own.labels != None).sum(axis=1) == len(own.annotators))  # noqa: E711
        if len(whole) < 4 * _DRAWN:
            continue
        for k, who in enumerate(own.annotators):
            if (own.title, who) not in advised:
                continue
            verdict = bool(advised[own.title, who].passed)
            same = [
                bool(own.test(k, epsilon=own.epsilon, rows=rng.choice(whole, _DRAWN, replace=False))
                     .passed) == verdict
                for _ in range(draws)
            ]  # fmt: skip
            shares.setdefault(own.title, []).append(float(np.mean(same)))
    about = Claim(
        id="modest",
        claim="A modest number of annotated items suffices.",
        published="50 to 100 items",
        test_then="simulation",
        test_now=f"{draws} draws of {_DRAWN} items that everybody labelled: how often the "
        "verdict on a person is that of all items",
    )
    if not shares:
        return about.not_examined("no set has enough items that every annotator labelled")
    least = min(min(v) for v in shares.values())
    return about.examined(
        verdict="stands"
        if least >= 0.8
        else "stands in part"
        if least >= 0.5
        else "does not stand",
        because="The same verdict as all items: "
        + "; ".join(
            f"{t} {', '.join(f'{100 * x:.0f} %' for x in v)} of the draws"
            for t, v in shares.items()
        )
        + f". Fifty items have a power of {100 * least:.0f} % in the worst case: with so few, a "
        "failure is not a finding.",
        results=(),
    )


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study that people's labels can answer.

    Parameters
    ----------
    folder : Path
        With ``SET_human.csv`` (item, annotator, label) and ``SET_items.csv`` (item, group), packed
        or not; or the authors' folders with ``human_annotations.json``.
    options : Options

    Returns
    -------
    Replication
    """
    sets = read_sets(folder)
    advised, bare = _tests(sets, margin=True), _tests(sets, margin=False)
    return Replication(
        study="alt_test",
        title="The alternative annotator test (arXiv 2501.10970) on people themselves",
        question="Would a person pass the test that a judge has to pass?",
        claims=(
            _people(advised),
            _margin(advised, bare),
            _clusters(sets, advised),
            _modest(sets, advised, options),
        ),
        conditions=pd.DataFrame([_row(s, advised, bare, options) for s in sets]),
        drawing=ranked(
            "people_who_pass",
            "pass_without_margin",
            "krippendorff_alpha",
            caption="Share of the annotators who pass the test in a judge's place, with the "
            "advised margin and with none; agreement of the annotators.",
        ),
        data_source="labels of the study's annotators",
        limitations=(
            "No model's label is examined: only people's are at hand under a licence.",
            *(
                f"{s.title}: too few items have three labels, nobody can be tested."
                for s in sets
                if s.title not in _passing(advised)
            ),
        ),
    )


def _alpha(own: LabelledSet, options: Options) -> Estimate:
    numeric = SETS[own.key][2]
    return krippendorff_alpha(
        own.labels.astype(float) if numeric else own.labels,
        metric="interval" if numeric else "nominal",
        cluster=own.group,
        level=options.level,
    )


def _row(own: LabelledSet, advised: Tests, bare: Tests, options: Options) -> dict[str, object]:
    alpha = _alpha(own, options)
    shares = []
    for tests in (advised, bare):
        passed, n = _passing(tests).get(own.title, (0, 0))
        shares.append(passed / n if n else np.nan)
    return {
        "condition": own.title,
        "factor_set": own.key,
        "n_items": len(own.labels),
        "annotators": len(own.annotators),
        "epsilon": own.epsilon,
        "people_who_pass": shares[0],
        "pass_without_margin": shares[1],
        "krippendorff_alpha": alpha.estimate,
        "krippendorff_alpha_low": alpha.interval.low if alpha.interval else np.nan,
        "krippendorff_alpha_high": alpha.interval.high if alpha.interval else np.nan,
    }


STUDY = Study(
    name="alt_test",
    title="Would a person pass the alternative annotator test",
    source="arXiv 2501.10970; github.com/nitaytech/AltTest",
    layout="`SET_human.csv.gz` and `SET_items.csv.gz`, or the authors' "
    "`SET/human_annotations.json`",
    examine=examine,
)
