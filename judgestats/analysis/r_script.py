"""The primary numbers of a run as an R script: frame, code, and our numbers beside R's.

A reader of R checks a run without judgestats: `recompute.R` reads the judgments, computes each
number with psych, lme4 or base R, and prints ours, theirs and the difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.ratings import passes_of_items
from judgestats.data.matrices import score_array
from judgestats.errors import guard_output
from judgestats.results import Comparison, Estimate, Results, Test

_CLOSED = 1e-6
_FITTED = 1e-3
_COLUMNS = (
    "condition",
    "item_id",
    "cluster",
    "replicate",
    "order",
    "score",
    "choice",
    "label",
    "passed",
)


@dataclass(frozen=True, kw_only=True)
class RNumber:
    """One number of ours, and the R expression that gives it.

    Attributes
    ----------
    result : str
        Id of our record.
    what : str
    ours : float
    code : str
        An expression of R, over the functions at the head of the script.
    tolerance : float
        Of the difference, relative to numbers above 1.
    """

    result: str
    what: str
    ours: float
    code: str
    tolerance: float = _CLOSED


def r_numbers(frame: pd.DataFrame, results: Results) -> tuple[RNumber, ...]:
    """The numbers of a run that R can recompute from its judgments.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    results : Results

    Returns
    -------
    tuple of RNumber
        Of conditions in which every item has equally many scores: ICC(1,1), alpha, within-item
        variance, mean; Friedman's statistic and the blocked F of spread; Fleiss' kappa of
        verdicts; correlations and kappa with labels; Holm's adjustment of every family.
    """
    return (*_scores(frame, results), *_verdicts(frame, results), *_families(results))


def write_r(folder: Path, frame: pd.DataFrame, results: Results) -> tuple[RNumber, ...]:
    """Write ``judgments.csv`` and ``recompute.R`` into a folder that is made.

    Parameters
    ----------
    folder : path
    frame : DataFrame
    results : Results

    Returns
    -------
    tuple of RNumber
        What the script recomputes.
    """
    numbers = r_numbers(frame, results)
    passes = passes_of_items(frame)  # R is given 1 and 0, whatever words people used
    frame = frame if passes is None else frame.assign(passed=passes)
    kept = [c for c in _COLUMNS if c in frame]
    rows = [
        f"row({_text(n.result)}, {_text(n.what)}, {_number(n.ours)}, {n.tolerance:g}, {n.code})"
        for n in numbers
    ]
    text = _HEAD + "\n".join(rows) + "\n" + _TAIL
    with guard_output(folder):
        folder.mkdir(parents=True, exist_ok=True)
        frame[kept].to_csv(folder / "judgments.csv", index=False, encoding="utf-8")
        (folder / "recompute.R").write_text(text, encoding="utf-8")
    return numbers


def _text(value: str) -> str:
    """A string of R: escapes as in JSON, but for what lies outside the basic plane."""
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else repr(float(value))


def _names(values: Sequence[str]) -> str:
    return f"c({', '.join(map(_text, values))})"


def _estimate(results: Results, result_id: str) -> float:
    if result_id not in results:
        return math.nan
    record = results[result_id]
    return float(record.estimate) if isinstance(record, Estimate) else math.nan


def _scores(frame: pd.DataFrame, results: Results) -> Iterator[RNumber]:
    if "score" not in frame or not frame["score"].notna().any():
        return
    array = score_array(frame)
    whole: dict[str, np.ndarray] = {}
    for name in array.conditions:
        x = array.condition(name)
        x = x[:, np.isfinite(x).any(axis=0)]
        if len(x) < 3 or x.shape[1] < 2 or not np.isfinite(x).all() or not x.var(axis=1).any():
            continue
        whole[name] = x
        table = f"scores({_text(name)})"
        between = x.mean(axis=1).var(ddof=1) > x.var(axis=1, ddof=1).mean() / x.shape[1]
        for what, result, code, tolerance in (
            ("ICC(1,1)", "reliability.icc1", f"psych::ICC({table}, lmer = FALSE)$results$ICC[1]",
             _CLOSED),
            ("Cronbach's alpha", "reliability.alpha", f"alpha({table})", _CLOSED),
            ("within-item variance", "condition.pooled_within_variance", f"within({table})",
             _FITTED),
        ):  # fmt: skip
            ours = _estimate(results, f"{result}.{name}")
            if not math.isnan(ours) and (tolerance == _CLOSED or between):
                yield RNumber(
                    result=f"{result}.{name}", what=what, ours=ours, code=code, tolerance=tolerance
                )
    yield from _blocked(whole, results)


def _blocked(whole: Mapping[str, np.ndarray], results: Results) -> Iterator[RNumber]:
    tests = [r for r in results.results if isinstance(r, Test)]
    groups = {r.id.partition(".")[2]: tuple(r.groups) for r in tests if r.id.startswith("spread.")}
    for record in tests:
        names = record.about.conditions or groups.get(record.id.partition(".")[2], ())
        if len(names) < 2 or not set(names) <= set(whole) or math.isnan(record.statistic.value):
            continue
        ours = float(record.statistic.value)
        cells = f"spread({_names(names)})"
        if record.test == "friedman_test" and record.id.startswith("ranks."):
            what, code = "Friedman's chi-squared", f"friedman.test(round({cells}, 12))$statistic"
        elif record.test == "spread_blocked_f" and ours > 0:
            what, code = "F of spread within items", f"blocked_f({cells})"
        elif record.test == "wilcoxon_signed_rank" and record.id.startswith("ranks."):
            what, code = "signed-rank statistic V", f"signed_rank({cells})"
        else:
            continue
        yield RNumber(result=record.id, what=what, ours=ours, code=code)


def _verdicts(frame: pd.DataFrame, results: Results) -> Iterator[RNumber]:
    for condition, own in frame.groupby("condition", sort=False):
        name = str(condition)
        at = _text(name)
        read = own[own["choice"].astype(str) != ""] if "choice" in own else own[:0]
        kappa = _estimate(results, f"reliability.fleiss_kappa.{name}")
        alike = len(set(read.groupby("item_id").size())) == 1 and len(set(own["order"])) == 1
        if not math.isnan(kappa) and len(read) == len(own) and alike:
            yield RNumber(
                result=f"reliability.fleiss_kappa.{name}", what="Fleiss' kappa", ours=kappa,
                code=f"fleiss({at})",
            )  # fmt: skip
        if "label" not in own:
            continue
        with_people = _estimate(results, f"people.kappa.{name}")
        if not math.isnan(with_people) and "score" in own and own["score"].isna().all():
            yield RNumber(
                result=f"people.kappa.{name}", what="Cohen's kappa with labels", ours=with_people,
                code=f"kappa_with_people({at})",
            )  # fmt: skip
        if own["score"].isna().all() if "score" in own else True:
            continue
        for kind in ("pearson", "spearman", "kendall"):
            ours = _estimate(results, f"people.{kind}.{name}")
            if not math.isnan(ours):
                yield RNumber(
                    result=f"people.{kind}.{name}", what=f"{kind.capitalize()}'s correlation",
                    ours=ours, code=f"with_people({at}, {_text(kind)})",
                )  # fmt: skip


def _families(results: Results) -> Iterator[RNumber]:
    """Holm's adjustment; families of one label were adjusted together."""
    pools: dict[tuple[str, bool], list[Test | Comparison]] = {}
    own: dict[str, list[Test | Comparison]] = {}
    for family in results.families:
        if family.method != "holm":
            continue
        members = [
            r
            for r in results.members(family)
            if isinstance(r, Test | Comparison) and not math.isnan(r.p)
        ]
        own[family.id] = members
        pools.setdefault((family.label, family.id.startswith("equivalence.")), []).extend(members)
    for family in results.families:
        members = own.get(family.id, [])
        if len(members) < 2:
            continue
        pool = pools[family.label, family.id.startswith("equivalence.")]
        for among in (members, pool):
            p = [r.p for r in among]
            last = members[-1]
            at = next(i for i, r in enumerate(among) if r is last) + 1
            if abs(_holm(p)[at - 1] - last.p_adjusted) <= _CLOSED or among is pool:
                listed = ", ".join(_number(v) for v in p)
                yield RNumber(
                    result=last.id, what="adjusted p (Holm)", ours=last.p_adjusted,
                    code=f'p.adjust(c({listed}), "holm")[{at}]',
                )  # fmt: skip
                break


def _holm(p: Sequence[float]) -> list[float]:
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    out = np.empty(len(p))
    out[order] = stepped
    return [float(v) for v in out]


_HEAD = """# Recomputes the numbers of a judgestats run from its judgments: Rscript recompute.R
# Needs psych and lme4. Ours, R's, and the difference are printed and written to compared.csv.
frame <- read.csv("judgments.csv", na.strings = "", encoding = "UTF-8", check.names = FALSE,
                  colClasses = "character")
frame$score <- suppressWarnings(as.numeric(frame$score))
frame$replicate <- as.integer(frame$replicate)
compared <- data.frame()

# items x replications of a condition, in the order of the file
scores <- function(name) {
  own <- frame[frame$condition == name & !is.na(frame$score), ]
  items <- factor(own$item_id, levels = unique(own$item_id))
  matrix(tapply(own$score, list(items, own$replicate), mean), nrow = nlevels(items))
}
alpha <- function(x) {
  invisible(capture.output(
    found <- suppressMessages(suppressWarnings(psych::alpha(x, check.keys = FALSE)))
  ))
  found$total$raw_alpha
}
within <- function(x) {
  long <- data.frame(score = as.vector(x), item = factor(rep(seq_len(nrow(x)), ncol(x))))
  sigma(suppressMessages(lme4::lmer(score ~ 1 + (1 | item), long)))^2
}
# mean distance of an item's scores from their mean, items x conditions
spread <- function(names) {
  first <- unique(frame$item_id[frame$condition == names[1] & !is.na(frame$score)])
  cells <- sapply(names, function(name) {
    own <- unique(frame$item_id[frame$condition == name & !is.na(frame$score)])
    x <- scores(name)
    rowMeans(abs(x - rowMeans(x)))[match(first, own)]
  })
  question <- frame$cluster[match(first, frame$item_id)]
  structure(cells, question = question)
}
blocked_f <- function(cells) {
  question <- attr(cells, "question")
  means <- apply(cells, 2, function(v) tapply(v, factor(question, unique(question)), mean))
  long <- data.frame(value = as.vector(means), question = factor(rep(rownames(means), ncol(means))),
                     condition = factor(rep(seq_len(ncol(means)), each = nrow(means))))
  fit <- summary(aov(value ~ condition + Error(question / condition), long))
  fit[["Error: question:condition"]][[1]]["condition", "F value"]
}
# sum of positive ranks; zeros are ranked and left out (Pratt)
signed_rank <- function(cells) {
  gap <- round(cells[, 2] - cells[, 1], 12)
  sum(rank(abs(gap))[gap > 0])
}
fleiss <- function(name) {
  own <- frame[frame$condition == name, ]
  counts <- table(own$item_id, own$choice)
  n <- nrow(counts); m <- sum(counts[1, ])
  agreed <- mean((rowSums(counts^2) - m) / (m * (m - 1)))
  chance <- sum((colSums(counts) / (n * m))^2)
  (agreed - chance) / (1 - chance)
}
kappa_with_people <- function(name) {
  own <- frame[frame$condition == name & !is.na(frame$choice) & !is.na(frame$label), ]
  said <- sort(unique(c(own$choice, own$label)))
  square <- table(factor(own$choice, said), factor(own$label, said))
  psych::cohen.kappa(unclass(square))$kappa
}
with_people <- function(name, method) {
  own <- frame[frame$condition == name & !is.na(frame$score), ]
  numbers <- suppressWarnings(as.numeric(own$label))
  own$rating <- if ("passed" %in% names(own)) as.numeric(own$passed) else numbers
  own <- own[!is.na(own$rating), ]
  cor(tapply(own$score, own$item_id, mean), tapply(own$rating, own$item_id, mean), method = method)
}
row <- function(result, what, ours, tolerance, theirs) {
  theirs <- as.numeric(theirs)
  same <- abs(theirs - ours) <= tolerance * max(1, abs(ours))
  compared <<- rbind(compared, data.frame(result, what, ours, theirs, difference = theirs - ours,
                                          same = isTRUE(same)))
}

"""
_TAIL = """
print(compared, digits = 6, row.names = FALSE, right = FALSE)
write.csv(compared, "compared.csv", row.names = FALSE)
cat(sum(compared$same), "of", nrow(compared), "numbers are the same.\\n")
quit(status = as.integer(!all(compared$same)))
"""
