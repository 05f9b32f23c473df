"""Draw one example of each figure into docs/gallery/ and show them in docs/reports.md.

The examples are drawn from random numbers with a fixed seed; they show the figures, not results.
Run from the project's root: python docs/build_gallery.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from judgestats.reporting import plots

JUDGES = ("sim-strict", "sim-typical", "sim-lenient")
BEGIN, END = "<!-- figures: written by docs/build_gallery.py -->", "<!-- end -->"
TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def examples() -> dict[str, tuple[str, plots.Figure]]:
    """Name, what it is for, and the figure."""
    rng = np.random.default_rng(1)
    ratios = ((1.55, 1.1, 2.2), (3.4, 2.4, 4.8), (0.9, 0.7, 1.2), (math.nan, math.nan, math.nan))
    effect_names = (
        "reasoning after / none",
        "reasoning before / none",
        "anchors / none",
        "at T = 0",
    )
    scores = tuple(np.clip(np.round(rng.normal(m, s, 400)), 1, 10) for m, s in
                   ((8.2, 0.4), (7.9, 0.9), (7.4, 1.5), (6.1, 2.0)))  # fmt: skip
    return {
        "forest": (
            "Effects with intervals and their numbers; filled squares exclude the reference.",
            plots.Forest(
                rows=tuple(
                    plots.EffectRow(label=n, estimate=e, low=a, high=b)
                    for n, (e, a, b) in zip(effect_names, ratios, strict=True)
                ),
                x_label="Ratio of within-item variances", reference=1.0, log=True,
            ),
        ),
        "score-distribution": (
            "Which scores a judge uses at all, by condition.",
            plots.ScoreDistribution(labels=("T=0", "T=0.3", "T=0.7", "T=1"), scores=scores,
                                    scale=(1, 10)),
        ),
        "requirements": (
            "Estimates against their thresholds; the failing side is shaded.",
            plots.RequirementPlot(
                rows=tuple(
                    plots.RequirementRow(
                        name=n, value=v, low=v - 0.06, high=v + 0.05, threshold=0.8, top=math.nan,
                        direction="min", status=s, text=f"{v:.2f}"[1:],
                    )
                    for n, v, s in zip(
                        JUDGES, (0.92, 0.83, 0.66), ("holds", "open", "fails"), strict=True
                    )
                ),
                x_label="TNR, needed ≥ .80", bounds=(0.0, 1.0),
            ),
        ),
        "null-strip": (
            "Coefficients next to their permutation nulls.",
            plots.Forest(
                rows=(
                    plots.EffectRow(label="ICC(1,1)", estimate=0.62, low=0.5, high=0.73,
                                    null_mean=0.0, null_q95=0.06),
                    plots.EffectRow(label="omega total, congeneric", estimate=0.38, low=0.1,
                                    high=0.6, null_mean=0.13, null_q95=0.41),
                    plots.EffectRow(label="Fleiss' kappa", estimate=math.nan),
                ),
                x_label="Coefficient", reference=math.nan, bounded=True,
            ),
        ),
        "equivalence": (
            "Is a difference small enough to ignore? Only an interval inside the margin says so.",
            plots.Forest(
                rows=(
                    plots.EffectRow(
                        label="T=0.2 against T=0", estimate=1.05, low=0.92, high=1.18,
                        verdict="equivalent",
                    ),
                    plots.EffectRow(
                        label="T=0.6 against T=0", estimate=1.3, low=1.05, high=1.6,
                        verdict="undecided",
                    ),
                    plots.EffectRow(
                        label="T=1 against T=0", estimate=2.6, low=2.1, high=3.3,
                        verdict="different",
                    ),
                ),
                margin=(0.8, 1.25), log=True, reference=1.0, level=0.9,
                x_label="Ratio of within-item variances",
            ),
        ),
        "curves": (
            "First page of a run over temperatures or k: one line per judge, with intervals.",
            plots.Curves(
                panels=(
                    plots.CurvePanel(
                        y_label="SEM, points",
                        curves=tuple(
                            plots.Curve(
                                name=n,
                                points=tuple(
                                    plots.Point(x=t, value=s * t, low=s * t * 0.8, high=s * t * 1.2)
                                    for t in TEMPERATURES
                                ),
                            )
                            for n, s in zip(JUDGES, (0.4, 0.6, 0.9), strict=True)
                        ),
                    ),
                ),
                x_label="Sampling temperature",
                caption="SEM of three judges, which grows with temperature.",
            ),
        ),
        "dots": (
            "First page of other runs: one panel per quantity; bars join rows that do not differ.",
            plots.Dots(
                labels=(*JUDGES, "human raters with each other"),
                panels=(
                    plots.DotPanel(
                        x_label="Agreement with human labels",
                        points=tuple(
                            plots.Point(value=v, low=v - 0.06, high=v + 0.05)
                            for v in (0.84, 0.81, 0.66, 0.88)
                        ),
                        chance=(0.56, 0.56, 0.57, math.nan),
                    ),
                ),
                brackets=((0, 1),),
                quiet=(3,),
                caption="Agreement of three judges with people, and of human raters with each "
                        "other.",
            ),
        ),
    }  # fmt: skip


def main() -> None:
    """Write the pictures and the page."""
    drawn = {type(figure) for _, figure in examples().values()}
    missing = [
        name for name in plots.__all__
        if isinstance(getattr(plots, name), type) and issubclass(getattr(plots, name), plots.Figure)
        and getattr(plots, name) not in {*drawn, plots.Figure}
    ]  # fmt: skip
    if missing:
        sys.exit(f"the gallery has no example of {', '.join(missing)}")
    docs = Path(__file__).resolve().parent
    folder = docs / "gallery"
    folder.mkdir(exist_ok=True)
    lines = [BEGIN, ""]
    for name, (purpose, figure) in examples().items():
        figure.save(folder / f"{name}.png", dpi=85)
        lines += [f"### {type(figure).__name__}", "", purpose, ""]
        lines += [f"![{figure.alt}](gallery/{name}.png)", ""]
    page = docs / "reports.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    shown = "\n".join([*lines, END])
    page.write_text(f"{before}{shown}{rest.partition(END)[2]}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
