"""The names that a demand of ``judgestats check`` may use: a run's metrics, and its screen's rows.

`results.thresholds` reads the same names for the marks of a screen: a row's key (``reliability``),
its estimand (``icc_1_1``), or what the run's metrics call it (``reliability/icc1``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from judgestats.errors import InputError, nearest, printable
from judgestats.results import Results, Row
from judgestats.results.answers import number_of
from judgestats.results.numbers import bounds_of
from judgestats.results.quantities import ALIASES, is_called, metric_called

_OF_REPETITION = (
    "reliability/", "spread/", "agreement/fleiss_kappa", "agreement/ac1", "agreement/flip_rate",
)  # fmt: skip
_ROWS_OF_REPETITION = frozenset({"sem", "reliability", "repeats", "flips"})


def of_repetition(name: str, rows: Sequence[Row]) -> bool:
    """Whether a number says nothing where sampling is off: the same reply again is no agreement."""
    keys = {row.key for row in rows if is_called(row, name)}
    return name.startswith(_OF_REPETITION) or bool(keys & _ROWS_OF_REPETITION)


def with_row(
    runs: Mapping[str, Mapping[str, float]], name: str, results: Results
) -> dict[str, dict[str, float]]:
    """The conditions with a row's number and its bounds under this name, as metrics have them.

    A condition of which other rows tell something and this one does not cannot have the number
    (scores have no sensitivity) and falls out; one of which none tells anything stays, without it.

    Parameters
    ----------
    runs : mapping of name to metrics
    name : str
    results : Results

    Returns
    -------
    dict
        `runs` as they are where a metric has this name; with a metric under it that it stands for
        (``unread``) where no row has it.
    """
    same = {run: dict(metrics) for run, metrics in runs.items()}
    rows = [row for row in results.rows if is_called(row, name)]
    if any(name in metrics for metrics in runs.values()):
        return same
    if not rows:
        if metric := metric_called(name, {key for own in runs.values() for key in own}):
            for own in same.values():
                copied = {f"ci/{metric}.{end}": f"ci/{name}.{end}" for end in ("lo", "hi")}
                copied[metric] = name
                own |= {to: own[key] for key, to in copied.items() if key in own}
        return same
    in_rows = {
        label for row in results.rows for label, record in row.cells.items() if record in results
    }
    cells = {k: record for row in reversed(rows) for k, record in row.cells.items()}
    out: dict[str, dict[str, float]] = {}
    of_conditions = bool(
        set(cells) & {c.label for c in results.conditions} or set(cells) & set(runs)
    )
    for run in same if of_conditions else cells:  # a row may be of judges, say
        metrics = same.get(run, {})
        if cells.get(run, "") in results:
            record = number_of(results, cells[run])
            metrics[name] = record.estimate
            low, high = bounds_of(record.interval)
            ends = {f"ci/{name}.lo": low, f"ci/{name}.hi": high}
            metrics |= {key: end for key, end in ends.items() if not math.isnan(end)}
        elif run in in_rows:
            continue
        out[run] = metrics
    return out


def unknown_name(name: str, metrics: Iterable[str], rows: Sequence[Row]) -> InputError:
    """The fault of a name that neither a row nor a metric has."""
    named = [row.key for row in rows]
    names = sorted({m for m in metrics if not m.startswith(("ci/", "null/"))})
    named += [n for n in ("unread", "unanswered") if named and metric_called(n, names)]
    listed = ", ".join(dict.fromkeys(named)) or ", ".join(names)
    whole = "; by their whole names: judgestats show RUN --json" if named else ""
    return InputError(
        f"check: no number is called {printable(name, one_line=True)!r} in this run."
        f"{nearest(name, [*named, *names, *ALIASES])} There are: {listed}{whole}."
    )
