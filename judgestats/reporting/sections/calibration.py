"""Confidences held to labels: the reliability diagram."""

from __future__ import annotations

from judgestats.reporting import plots
from judgestats.reporting.runs import Run
from judgestats.reporting.show import Captioned, Showable
from judgestats.results import Table

__all__ = ["confidences"]

_MOST = 6


def confidences(run: Run) -> list[Showable]:
    """How often each judge was right by its stated confidence, and the calibration error in words.

    Parameters
    ----------
    run : Run
        Its tables ``people.reliability_diagram.CONDITION`` hold the bins.
    """
    diagrams = [
        r for r in run.records.select(Table) if r.id.startswith("people.reliability_diagram.")
    ]
    curves = tuple(_curve(r) for r in diagrams[:_MOST] if r.rows)
    if not curves:
        return []
    text = " ".join(f"{c.name}: {r.text}" for c, r in zip(curves, diagrams, strict=False))
    return [
        Captioned(
            figure=plots.ReliabilityDiagram(curves=curves),
            label="fig-confidences",
            caption="Share that was right by stated confidence, in bins with intervals; on the "
            "dashed line a confidence is the chance of being right.",
        ),
        text,
    ]


def _curve(record: Table) -> plots.CalibrationCurve:
    keys = [c.key for c in record.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in record.rows]

    def column(key: str) -> tuple[float, ...]:
        return tuple(float(r[key]) for r in rows)

    return plots.CalibrationCurve(
        name=", ".join(record.about.conditions),
        confidence=column("confidence"),
        share=column("share"),
        low=column("conf_low"),
        high=column("conf_high"),
        n=tuple(int(r["n"]) for r in rows),
    )
