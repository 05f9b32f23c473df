"""The alternative annotator test (arXiv 2501.10970), applied to the annotators themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.coefficients import ranked
from judgestats.analysis.records import NamedResult
from judgestats.errors import InputError
from judgestats.files.text import decode_json
from judgestats.stats.agreement.kappa import krippendorff_alpha
from judgestats.stats.inference.result import Estimate
from judgestats.stats.validity.annotators import AlternativeAnnotator, alternative_annotator_test
from judgestats.studies import claims
from judgestats.studies.claims import Claim


class Kind(NamedTuple):
    """A set as the study tested it: its name, the margin, whether labels are numbers."""

    title: str
    epsilon: float
    numeric: bool


SETS: Mapping[str, Kind] = {
    "summeval": Kind("SummEval", 0.2, True),
    "mtbench": Kind("MT-Bench pairs", 0.2, False),
    "cebab_aspects": Kind("CEBaB aspects", 0.1, False),
    "cebab_stars": Kind("CEBaB stars", 0.1, True),
    "framing": Kind("Narrative framing", 0.15, False),
}
_DRAWN, _DRAWS = 50, 200
Tests = Mapping[tuple[str, str], AlternativeAnnotator]
"""By the set's title and the annotator."""


@dataclass(frozen=True, kw_only=True)
class LabelledSet:
    """Human labels of a set: items x annotators, None where one gave none."""

    key: str
    labels: NDArray[Any]
    annotators: tuple[str, ...]
    group: NDArray[np.int64] | None

    @property
    def kind(self) -> Kind:
        """How the study tested it."""
        return SETS[self.key]

    @property
    def texts(self) -> int:
        """Number of texts that the items belong to; 0 where it is not known."""
        return 0 if self.group is None else len(set(self.group.tolist()))

    def test(
        self, who: int, *, margin: bool = True, cluster: bool = False, rows: Any = slice(None)
    ) -> AlternativeAnnotator:
        """Test an annotator against the others, as if it were the judge."""
        labels = self.labels[rows]
        others = [k for k in range(len(self.annotators)) if k != who]
        return alternative_annotator_test(
            labels[:, who],
            labels[:, others],
            annotators=[self.annotators[k] for k in others],
            scoring="neg_rmse" if self.kind.numeric else "accuracy",
            epsilon=self.kind.epsilon if margin else 0.0,
            cluster=self.group if cluster else None,
            n_resamples=0,
        )

    def alpha(self) -> Estimate:
        """Agreement of the annotators."""
        return krippendorff_alpha(
            self.labels, metric="interval" if self.kind.numeric else "nominal", cluster=self.group
        )


@dataclass(frozen=True, kw_only=True)
class Sets:
    """The sets of a folder, and the tests of all annotators with and without the margin."""

    sets: Sequence[LabelledSet]
    advised: Tests
    bare: Tests


def read_sets(folder: Path, _: claims.Options) -> Sets:
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
        names = (folder / f / "human_annotations.json" for f in (key, f"data/{key}"))
        inside = next((p for p in names if p.is_file()), None)
        if tables:
            human = claims.table_of(tables[0], ("item", "annotator", "label"))
            items = sorted(folder.glob(f"{key}_items.csv*"))
            sets.append(
                _set(key, human, claims.table_of(items[0], ("item", "group")) if items else None)
            )
        elif inside is not None:
            sets.append(_set(key, _authors_labels(inside), None))
    if not sets:
        raise InputError(
            f"replicate: {str(folder)!r} holds none of the sets {', '.join(SETS)}: neither "
            "SET_human.csv.gz nor SET/human_annotations.json."
        )
    return Sets(sets=sets, advised=_tests(sets), bare=_tests(sets, margin=False))


def _authors_labels(path: Path) -> pd.DataFrame:
    try:
        document = decode_json(path.read_text(encoding="utf-8"))
        rows = [
            (str(item), str(who), str(label))
            for who, labels in document.items()
            for item, label in labels.items()
        ]
    except (ValueError, AttributeError) as error:
        raise InputError(f"replicate: {path}: expected {{annotator: {{item: label}}}}.") from error
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def _set(key: str, human: pd.DataFrame, about: pd.DataFrame | None) -> LabelledSet:
    numeric = SETS[key].numeric
    if human.duplicated(["item", "annotator"]).any():
        raise InputError(f"replicate: {key}: an annotator labels an item twice.")
    if numeric and pd.to_numeric(human["label"], errors="coerce").isna().any():
        raise InputError(f"replicate: {key}: a label is no number.")
    order = human["item"].unique() if about is None else about["item"]
    wide = human.pivot(index="item", columns="annotator", values="label").reindex(order)
    labels = wide.astype(object).where(wide.notna(), None).to_numpy(dtype=object)
    return LabelledSet(
        key=key,
        labels=labels.astype(float) if numeric else labels,
        annotators=tuple(map(str, wide.columns)),
        group=None if about is None else pd.factorize(about["group"])[0],
    )


def _tests(sets: Sequence[LabelledSet], *, margin: bool = True, cluster: bool = False) -> Tests:
    """Every annotator who can be tested against at least two others."""
    tests = {
        (own.kind.title, who): own.test(k, margin=margin, cluster=cluster)
        for own in sets
        for k, who in enumerate(own.annotators)
    }
    return {key: out for key, out in tests.items() if len(out.annotators) > 1}


def _passing(tests: Tests) -> dict[str, tuple[int, int]]:
    """Passed and tested annotators per set."""
    tested = Counter(title for title, _ in tests)
    passed = Counter(title for (title, _), out in tests.items() if out.passed)
    return {title: (passed[title], n) for title, n in tested.items()}


def _results(title: str, tests: Tests, *, primary: bool = False) -> list[NamedResult]:
    found = {".".join(key): out for key, out in tests.items()}
    return claims.now(title, found, primary=primary)


def _people(data: Sets, _: claims.Options) -> claims.Finding:
    counts = _passing(data.advised)
    passed, n = (sum(c[i] for c in counts.values()) for i in (0, 1))
    worst = min(counts, key=lambda t: counts[t][0] / counts[t][1])
    return claims.Finding(
        verdict="stands" if passed == n else "stands in part" if passed else "does not stand",
        because=f"{passed} of {n} annotators pass the test that a judge has to pass: "
        + ", ".join(f"{title} {a} of {m}" for title, (a, m) in counts.items())
        + f". The set {worst} requires more of a judge than of its annotators, who fail "
        "most often.",
        results=_results("Annotator as judge", data.advised, primary=True),
    )


def _margin(data: Sets, _: claims.Options) -> claims.Finding:
    a, b = (sum(bool(t.passed) for t in of.values()) for of in (data.advised, data.bare))
    return claims.Finding(
        verdict="stands in part" if b < a else "stands",
        because=f"With the recommended margins {a} of {len(data.advised)} annotators pass, without "
        f"a margin {b}. So the margin decides most verdicts. Report the winning rate at several "
        "margins, as judgestats does.",
        results=_results("Margin 0", data.bare),
    )


def _clusters(data: Sets, _: claims.Options) -> claims.Finding | str:
    grouped = [s for s in data.sets if 0 < s.texts < len(s.labels)]
    again = _tests(grouped, cluster=True)
    if not again:
        return "which items share a text is not in the folder"
    changed = sum(bool(t.passed) != bool(data.advised[k].passed) for k, t in again.items())
    sizes = ", ".join(f"{s.kind.title} {len(s.labels)} in {s.texts}" for s in grouped)
    return claims.Finding(
        verdict="stands in part" if changed else "stands",
        because=f"With texts as clusters, {changed} of {len(again)} verdicts on annotators change. "
        f"Items share texts ({sizes}). The margin is wider than what clustering adds to the error.",
        results=_results("Over texts", again),
    )


def _modest(data: Sets, options: claims.Options) -> claims.Finding | str:
    """Share of draws of fifty items that give the verdict of all items."""
    rng = np.random.default_rng(options.seed)
    draws = min(_DRAWS, options.n_resamples)
    shares: dict[str, list[float]] = {}
    for own in data.sets:
        whole = np.flatnonzero(pd.DataFrame(own.labels).notna().all(axis=1))
        if len(whole) < 4 * _DRAWN:
            continue
        for k, who in enumerate(own.annotators):
            if (own.kind.title, who) in data.advised:
                verdict = bool(data.advised[own.kind.title, who].passed)
                rows = (rng.choice(whole, _DRAWN, replace=False) for _ in range(draws))
                again = [bool(own.test(k, rows=r).passed) for r in rows]
                share = float(np.mean(np.equal(again, verdict)))
                shares.setdefault(own.kind.title, []).append(share)
    if not shares:
        return "no set has enough items that every annotator labelled"
    least = min(map(min, shares.values()))
    found = "stands in part" if least >= 0.5 else "does not stand"
    each_set = claims.listed(
        {title: ", ".join(f"{100 * x:.0f}%" for x in of) for title, of in shares.items()}
    )
    return claims.Finding(
        test_now=f"{draws} draws of {_DRAWN} items that all annotators labelled: share of draws "
        "with the verdict of all items",
        verdict="stands" if least >= 0.8 else found,
        because=f"Draws with the verdict of all items: {each_set}. In the worst case fifty items "
        f"give that verdict in {100 * least:.0f}% of the draws, so a failure is weak evidence.",
    )


def _conditions(data: Sets, _: claims.Options) -> pd.DataFrame:
    advised, bare = _passing(data.advised), _passing(data.bare)
    return pd.DataFrame(
        {
            "condition": own.kind.title,
            "factor_set": own.key,
            "n_items": len(own.labels),
            "annotators": len(own.annotators),
            "epsilon": own.kind.epsilon,
            "people_who_pass": _passing_share(advised, own.kind.title),
            "pass_without_margin": _passing_share(bare, own.kind.title),
        }
        | claims.interval_cells("krippendorff_alpha", own.alpha())
        for own in data.sets
    )


def _passing_share(counts: Mapping[str, tuple[int, int]], title: str) -> float:
    passed, n = counts.get(title, (0, 0))
    return passed / n if n else np.nan


ALT_TEST = claims.Study(
    name="alt_test",
    title="Do human annotators pass the alternative annotator test",
    source="arXiv 2501.10970; github.com/nitaytech/AltTest",
    layout="`SET_human.csv.gz` and `SET_items.csv.gz`, or the authors' "
    "`SET/human_annotations.json`",
    heading="The alternative annotator test (arXiv 2501.10970) on human annotators",
    question="Do human annotators pass the test that a judge has to pass?",
    read=read_sets,
    claims=(
        Claim("people",
            "A judge that passes is as good as a human annotator; one that fails is not.",
            published="winning rate of at least .5 against the annotators",
            test_then="alternative annotator test of a model's labels",
            test_now="the same test of each annotator's labels against the other annotators'",
            evaluate=_people),
        Claim("margin", "The margin epsilon accounts for a judge being cheaper.",
            published="epsilon .2 for experts, .15 for trained, .1 for crowd annotators",
            test_then="the margin is subtracted from every annotator's score",
            test_now="number of annotators who pass with and without it", evaluate=_margin),
        Claim("clusters", "Items count as independent in the paired t test.",
            published="one-sided paired t test over items",
            test_then="alternative annotator test, items independent",
            test_now="paired t test with texts as clusters", evaluate=_clusters),
        Claim("modest", "A modest number of annotated items suffices.", published="50 to 100 items",
            test_then="simulation",
            test_now="draws of items that all annotators labelled: share of draws with the verdict "
                "of all items", evaluate=_modest),
    ),
    conditions=_conditions,
    drawing=ranked(
        "people_who_pass",
        "pass_without_margin",
        "krippendorff_alpha",
        caption="Share of annotators who pass the test, with the recommended margin and without; "
        "agreement of the annotators.",
    ),
    data_source="labels of the study's annotators",
    limitations=lambda data: (
        "No model's labels are examined: only human labels are available under a licence.",
        *(
            f"{s.kind.title}: too few items have three labels, so no annotator can be tested."
            for s in data.sets
            if s.kind.title not in _passing(data.advised)
        ),
    ),
)  # fmt: skip
