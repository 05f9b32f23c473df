"""Independent groups, and R-like formulas that read them from a frame."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, too_large
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Note, Sample

Missing = Literal["drop", "raise"]

_NAME = r"\s*(?:`([^`]+)`|([A-Za-z_.][\w.]*))\s*"
_FORMULA = re.compile(rf"^{_NAME}~{_NAME}(?:\|{_NAME})?$")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Formula:
    """``response ~ factor | block``; `block` is empty where the formula has none."""

    response: str
    factor: str
    block: str = ""


def parse_formula(formula: str, *, where: str = "parse_formula") -> Formula:
    """Read ``response ~ factor`` or ``response ~ factor | block``.

    Parameters
    ----------
    formula : str
        Names with spaces or signs in backticks.
    where : str
        Calling function, for the message.

    Returns
    -------
    Formula

    Raises
    ------
    InputError
        If the text is not such a formula.

    Examples
    --------
    >>> parse_formula("score ~ temperature | item")
    Formula(response='score', factor='temperature', block='item')
    """
    match = _FORMULA.match(formula)
    if match is None:
        raise InputError(
            f"{where}: the formula must read 'response ~ factor' or 'response ~ factor | block', "
            f"got {formula!r}. Put names with spaces or signs in backticks."
        )
    quoted = match.groups()
    names = [quoted[i] or quoted[i + 1] or "" for i in (0, 2, 4)]
    return Formula(response=names[0], factor=names[1], block=names[2])


def level_label(value: Any) -> str:
    """A level as text: 0.5 as ``0.5``, 1.0 as ``1``."""
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def need_columns(data: object, names: Sequence[str], where: str) -> pd.DataFrame:
    """The frame, or an error that names the columns it lacks."""
    if not isinstance(data, pd.DataFrame):
        raise InputError(
            f"{where}: a formula needs a pandas DataFrame as second argument, got "
            f"{type(data).__name__}. Call {where}('score ~ condition | item', frame)."
        )
    lacking = [n for n in names if n not in data.columns]
    if lacking:
        have = ", ".join(map(str, data.columns))
        raise InputError(
            f"{where}: the frame has no column {', '.join(map(repr, lacking))}; it has: {have}. "
            "Correct the formula or the frame."
        )
    return data


def as_numbers(values: object, what: str, where: str) -> Floats:
    """Float array of numbers, NaN for missing; infinite values and text are refused."""
    try:
        out = np.asarray(
            values.to_numpy(dtype=float, na_value=np.nan)
            if isinstance(values, pd.Series)
            else values,
            dtype=float,
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}: {what} must hold numbers, got something else ({error}). Code verdicts as "
            "numbers first, unread ones as NaN."
        ) from error
    if too_large(out).any():
        raise InputError(
            f"{where}: {what} must be finite, got {int(too_large(out).sum())} infinite values (or "
            "beyond 1e50). "
            "Mark values that do not exist as NaN."
        )
    return out


def factor_codes(column: pd.Series[Any]) -> tuple[Ints, tuple[Any, ...]]:
    """Codes and levels: categories in their order, numbers ascending, text as it first appears."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return np.asarray(used.cat.codes, dtype=np.int64), tuple(used.cat.categories)
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    codes, levels = pd.factorize(column, sort=numeric)
    return np.asarray(codes, dtype=np.int64), tuple(levels)


def cluster_column(cluster: object, frame: pd.DataFrame, where: str) -> NDArray[Any] | None:
    """The cluster labels of a frame's rows: a column's name, or labels of the frame's length."""
    if cluster is None:
        return None
    if isinstance(cluster, str):
        need_columns(frame, [cluster], where)
        return frame[cluster].to_numpy()
    labels = np.asarray(cluster)
    if labels.shape != (len(frame),):
        raise InputError(
            f"{where}: cluster must be a column of the frame or one label per row ({len(frame)}), "
            f"got shape {labels.shape}. Name the column, such as cluster='question'."
        )
    return labels


@dataclasses.dataclass(frozen=True, kw_only=True)
class Groups:
    """Independent groups: `values` with the code of each value's group."""

    values: Floats
    codes: Ints
    names: tuple[str, ...]
    levels: tuple[Any, ...]
    cluster: Ints | None
    sample: Sample
    data_name: str
    notes: tuple[Note, ...] = ()

    @property
    def sizes(self) -> Ints:
        """Number of values of each group."""
        result: Ints = np.bincount(self.codes, minlength=len(self.names))
        return result

    def group_values(self) -> list[Floats]:
        """The values of each group, in the order of `names`."""
        return [self.values[self.codes == g] for g in range(len(self.names))]


def read_groups(
    values: object,
    groups: object = None,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
    missing: Missing = "drop",
) -> Groups:
    """Independent groups from arrays, a mapping, a list of samples, or a formula and a frame.

    Parameters
    ----------
    values : array-like of shape (n,), mapping, sequence of arrays, or str
        Values with their labels in `groups`; or name -> sample; or one sample per group; or
        ``"score ~ group"``.
    groups : array-like of shape (n,) or DataFrame, optional
        Group labels, or the frame of the formula.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Names of the samples of a list.
    cluster : array-like of shape (n,) or str, optional
        Cluster of each value; with a formula a column's name.
    missing : {"drop", "raise"}
        Missing values are left out and counted, as in R, or refused.

    Returns
    -------
    Groups

    Raises
    ------
    InputError
        If the data cannot be read so.

    Examples
    --------
    >>> g = read_groups([[1.0, 2.0], [3.0]], where="f", names=["a", "b"])
    >>> g.names, g.sizes.tolist()
    (('a', 'b'), [2, 1])
    """
    labels: NDArray[Any] | None
    if isinstance(values, str):
        terms = parse_formula(values, where=where)
        if terms.block:
            raise InputError(
                f"{where}: this test is for independent groups and takes no block, got {values!r}. "
                "Use a blocked test (friedman_test, wilcoxon_signed_rank), or drop the bar."
            )
        frame = need_columns(groups, [terms.response, terms.factor], where)
        x = as_numbers(frame[terms.response], f"column {terms.response!r}", where)
        codes, levels = factor_codes(frame[terms.factor])
        labels = cluster_column(cluster, frame, where)
        data_name = f"{terms.response} by {terms.factor}"
    else:
        x, codes, levels, data_name = _groups_from_arrays(values, groups, names, where)
        labels = None if cluster is None else np.asarray(cluster)
    keep = ~np.isnan(x) & (codes >= 0)
    n_lost = int(x.size - keep.sum())
    if n_lost and missing == "raise":
        raise InputError(
            f"{where}: {n_lost} of {x.size} values are missing. Leave them out with "
            "missing='drop', which records the loss."
        )
    in_cluster = None if labels is None else cluster_codes(labels, x.size, where=where)[keep]
    if in_cluster is not None:
        in_cluster = np.unique(in_cluster, return_inverse=True)[1].astype(np.int64)
    # A level whose values are all missing is gone, as in R after na.omit and factor().
    used, packed = np.unique(codes[keep], return_inverse=True)
    kept_levels = tuple(levels[int(u)] for u in used)
    sample = Sample(
        n_items=int(keep.sum()),
        n_clusters=None if in_cluster is None else int(np.unique(in_cluster).size),
        excluded={"missing value": n_lost},
    )
    notes: tuple[Note, ...] = ()
    if n_lost:
        message = (
            f"{n_lost} of {x.size} values {'is' if n_lost == 1 else 'are'} missing and left out."
        )
        notes = (Note(code="missing_values", message=message),)
    return Groups(
        values=x[keep],
        codes=packed.astype(np.int64),
        names=tuple(level_label(v) for v in kept_levels),
        levels=kept_levels,
        cluster=in_cluster,
        sample=sample,
        data_name=data_name,
        notes=notes,
    )


def _groups_from_arrays(
    values: object, groups: object, names: Sequence[Any] | None, where: str
) -> tuple[Floats, Ints, tuple[Any, ...], str]:
    """Values, codes, levels and name of the data, from what is not a formula."""
    if groups is not None:
        x = as_numbers(values, "values", where)
        column = groups if isinstance(groups, pd.Series) else pd.Series(_flat(groups, where))
        if x.ndim != 1 or len(column) != x.size:
            raise InputError(
                f"{where}: values and groups must be one-dimensional and equally long, got shapes "
                f"{x.shape} and {(len(column),)}. Give one group label per value."
            )
        codes, levels = factor_codes(column)
        return x, codes, levels, "values by groups"
    samples: list[Floats]
    if isinstance(values, Mapping):
        levels = tuple(values)
        samples = [as_numbers(v, f"group {k!r}", where) for k, v in values.items()]
    elif isinstance(values, (list, tuple)) and all(np.ndim(v) == 1 for v in values) and values:
        samples = [as_numbers(v, f"group {i + 1}", where) for i, v in enumerate(values)]
        levels = tuple(names or range(1, len(samples) + 1))
    else:
        raise InputError(
            f"{where}: give values with group labels, a mapping from name to sample, a list of "
            f"samples, or a formula with a frame; got {type(values).__name__} alone. "
            f"Call {where}(values, groups)."
        )
    if len(levels) != len(samples) or any(s.ndim != 1 for s in samples):
        raise InputError(
            f"{where}: one name and one one-dimensional sample per group are required, got "
            f"{len(levels)} names for {len(samples)} samples. Check names and shapes."
        )
    codes = np.repeat(np.arange(len(samples)), [s.size for s in samples])
    return np.concatenate(samples), codes.astype(np.int64), levels, "samples"


def _flat(groups: object, where: str) -> NDArray[Any]:
    labels = np.asarray(groups)
    if labels.ndim != 1:
        raise InputError(
            f"{where}: groups must be one-dimensional, got shape {labels.shape}. Give one group "
            "label per value."
        )
    return labels


def read_two_samples(
    x: ArrayLike | str,
    y: object,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
    missing: Missing = "drop",
) -> Groups:
    """Two groups from two arrays, or from a formula and a frame."""
    if isinstance(x, str):
        data = read_groups(x, y, where=where, cluster=cluster, missing=missing)
    else:
        try:
            parts = [np.asarray(x, dtype=float), np.asarray(y, dtype=float)]
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{where}: x and y must hold numbers, got something else ({error}). Give two "
                "samples, or a formula and a frame."
            ) from error
        if any(part.ndim != 1 for part in parts):
            raise InputError(
                f"{where}: x and y must be one-dimensional, got shapes {parts[0].shape} and "
                f"{parts[1].shape}. Give two samples, or a formula and a frame."
            )
        data = read_groups(
            parts, where=where, names=names or ("x", "y"), cluster=cluster, missing=missing
        )
    if len(data.names) != 2:
        raise InputError(
            f"{where}: exactly 2 samples with values are required, got {len(data.names)}"
            f"{' (' + ', '.join(data.names) + ')' if data.names else ''}. Choose two groups, or "
            "use kruskal_test."
        )
    return data
