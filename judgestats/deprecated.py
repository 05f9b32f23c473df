"""Names that an earlier version had, and what to use instead; kept for one version."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

REMOVED_STATISTICS: Mapping[str, str] = {
    "bartlett_test": "scipy.stats.bartlett",
    "bowker_test": "statsmodels.stats.contingency_tables.SquareTable(table).symmetry()",
    "brennan_prediger": "irrCAC::bp.coeff.raw in R, or stats.gwet_ac1",
    "cohens_dz": 'pingouin.compute_effsize(x, y, paired=True, eftype="cohen_dz")',
    "cohens_h": "statsmodels.stats.proportion.proportion_effectsize",
    "confidence_sequence": "judgestats.stats.validity.RunningAverage, or confseq",
    "conger_kappa": "irr::kappam.fleiss(exact = TRUE) in R, or stats.fleiss_kappa",
    "cumulative_logit": "ordinal::clm and clmm in R",
    "cronbach_alpha": "stats.omega_total(scores), the same number, or pingouin.cronbach_alpha",
    "d_study": "stats.spearman_brown, or gtheory::dstudy in R",
    "dawid_skene": "crowdkit.aggregation.DawidSkene",
    "disattenuated_correlation": (
        "stats.human_correlation, divided by the root of the product of two stats.icc"
    ),
    "epsilon_squared": "stats.kruskal_test(groups).effects[0]",
    "eta_squared_ranks": "stats.kruskal_test(groups).effects[1]",
    "fligner_test": "scipy.stats.fligner",
    "generalizability": "stats.icc: ICC(2,k) is Phi, ICC(3,k) is E rho squared",
    "glass_delta": "(mean(x) - mean(y)) / numpy.std(y, ddof=1)",
    "graded_response": "girth.grm_mml",
    "greatest_lower_bound": "psych::glb.algebraic in R",
    "guttman_lambda2": "psych::guttman in R, or stats.omega_total",
    "guttman_lambda6": "psych::guttman in R, or stats.omega_total",
    "gwet_ac2": "irrCAC::gwet.ac1.raw in R, or stats.gwet_ac1",
    "hodges_lehmann_paired": "stats.wilcoxon_signed_rank(x, y).effects[1]",
    "hodges_lehmann_shift": "stats.mann_whitney_test(x, y).effects[1]",
    "icc_forms": "stats.icc(scores, form=form) of each form",
    "jonckheere_test": "scipy.stats.kendalltau of the group's rank and the value",
    "kendall_correlation": "scipy.stats.kendalltau, or stats.spearman_correlation",
    "kendalls_w": "stats.friedman_test(scores).effect",
    "labels_by_item": 'frame.pivot(index="item", columns="annotator", values="label")',
    "light_kappa": "the mean of stats.cohen_kappa over pairs of raters",
    "majority_stability": "stats.vote_share_reliability(verdicts, k=...)",
    "many_facet": "TAM::tam.mml.mfr in R, or judgestats analyze: leniency vs. panel",
    "modal_agreement": "the mean over items of the largest share of a verdict",
    "odds_ratio": "scipy.stats.contingency.odds_ratio",
    "omega_hierarchical": "psych::omega in R",
    "omega_ordinal": 'MBESS::ci.reliability(type = "categorical") in R',
    "pairwise_wilcoxon": "stats.wilcoxon_signed_rank of each pair, then stats.p_adjust",
    "panel_votes": "the sign of the votes' sum, or numpy.nanmedian of scores",
    "permutation_null": "scipy.stats.permutation_test",
    "pilot_components": "stats.condition_summary",
    "plan_study": "simr in R, or stats.replications_needed and stats.labels_needed",
    "polychoric": "psych::polychoric in R",
    "pooled_variance": "numpy.var(scores, axis=-1, ddof=1).mean(axis=0)",
    "priced_plan": "stats.replications_needed and stats.labels_needed",
    "quade_test": "stats.friedman_test, or quade.test in R",
    "rank_biserial": "stats.cliffs_delta, the same number",
    "rank_biserial_paired": "stats.wilcoxon_signed_rank(x, y).effect",
    "reliability_of_scores": "stats.icc and stats.repeat_pairs(scores, scale=(1, 10)).sem()",
    "schmid_leiman": "psych::schmid in R",
    "shared_errors": "stats.cohen_kappa of the two judges' errors",
    "skillings_mack_test": "stats.friedman_test, or PMCMRplus::skillingsMackTest in R",
    "smallest_detectable_change": "2.77 * stats.repeat_pairs(scores, scale=(1, 10)).sem().estimate",
    "split_halves": "psych::splitHalf in R",
    "standard_error_of_measurement": "stats.repeat_pairs(scores, scale=(1, 10)).sem()",
    "stuart_maxwell_test": "statsmodels.stats.contingency_tables.SquareTable(table).homogeneity()",
    "ten_berge_mu": "psych::tenberge in R",
    "variance_components": "stats.crossed_components, or lme4::lmer in R",
    "verdict_entropy": "the mean over items of scipy.stats.entropy(shares, base=2)",
    "vargha_delaney_a": "(1 + stats.cliffs_delta(x, y).estimate) / 2",
}
"""What `judgestats.stats` no longer has, with what replaces it."""


def warn_removed_statistic(name: str) -> None:
    """Warn that `judgestats.stats` no longer has a name, and say what to use."""
    advice = REMOVED_STATISTICS[name]
    message = f"judgestats.stats.{name} was removed in 0.3.0. Use {advice}."
    warnings.warn(message, FutureWarning, stacklevel=3)


REPORT_PARTS: Mapping[str, str] = {
    former: part
    for part, names in {
        "data": "advice exclusions",
        "figures": "agreement_figures comparison_figures null_figure",
        "results": "brief findings pairs result_tables systems",
        "people": "calibration disagreements",
        "studies": "claims crowd study_tests",
        "closing": "files methods paragraph",
        "conditions": "measures",
        "checks": "missing opinion selections sensitivity",
        "summary": "page_one summary_page verdicts",
    }.items()
    for former in names.split()
}
"""Former parts of `judgestats.reporting.sections`, with the part that has their functions."""


def warn_renamed_part(name: str) -> None:
    """Warn that a part of `judgestats.reporting.sections` has another name."""
    message = f"judgestats.reporting.sections.{name} is {REPORT_PARTS[name]} since 0.3.0."
    warnings.warn(message, FutureWarning, stacklevel=3)


class RenamedCommand(NamedTuple):
    """What replaces a command.

    Its words are `words` of `program` and what followed the old command: words in `dropped` left
    out, options by their new flags (without one, their value goes by its position), the first word
    by its position put into `argument`, then `appended`. If nothing like `least` (a flag, or a word
    by its position) was given, it is added. What is followed by one of `unless` is not the old
    command.
    """

    spelling: str
    words: tuple[str, ...]
    program: str = "judgestats"
    dropped: tuple[str, ...] = ()
    options: Mapping[str, str] = MappingProxyType({})
    argument: str = "{}"
    appended: tuple[str, ...] = ()
    least: str = ""
    unless: tuple[str, ...] = ()


_TRAINING = "python -m judgestats.training"

RENAMED_COMMANDS: Mapping[str, RenamedCommand] = {
    "coverage": RenamedCommand(f"{_TRAINING} coverage", ("coverage",), _TRAINING),
    "ingest": RenamedCommand("judgestats requests import FILE", ("requests", "import")),
    "journal": RenamedCommand(
        "judgestats doctor JOURNAL",
        ("doctor",),
        dropped=("verify",),
        least=".judgestats/journal.sqlite",
    ),
    "methods": RenamedCommand(
        "judgestats report RUN --methods FILE",
        ("report",),
        options={"--out": "--methods"},
        least="--methods",
    ),
    "requests": RenamedCommand(
        "judgestats requests export",
        ("requests", "export"),
        unless=("export", "import", "-h", "--help"),
    ),
    "reread": RenamedCommand("judgestats reparse RUN", ("reparse",)),
    "second-opinion": RenamedCommand(
        "judgestats show RUN crosscheck", ("show",), appended=("crosscheck",)
    ),
    "template": RenamedCommand(
        "judgestats report RUN --document FILE.qmd",
        ("report",),
        options={"--run": ""},
        argument="--document={}.qmd",
    ),
    "train": RenamedCommand(f"{_TRAINING} train", ("train",), _TRAINING),
}
"""Commands of an earlier version, each with its replacement."""

RENAMED_OPTIONS: Mapping[str, tuple[str, str]] = {
    "--codes": ("--values", ""),
    "--full": ("--all", ""),
    "--max": ("--require", "<="),
    "--min": ("--require", ">="),
    "--template": ("--document", ""),
}
"""Options by their new flag, and the sign that their value has instead of ``=``."""

REMOVED_OPTIONS: Mapping[tuple[str, str], str] = {
    ("export", "--r"): "judgestats show RUN crosscheck, or read data/judgments.parquet of the "
    "run in R (arrow::read_parquet)",
    ("drift", "--anchors"): "judgestats monitor FILE --state STATE --anchors ANCHORS",
    ("drift", "--relabels"): "a column of labels in the second file",
}
"""Options of commands that this version does not have, with what to use instead."""

RENAMED_METRICS: Mapping[str, str] = {
    "answer/agrees with people": "accuracy",
    "answer/asked again it changes": "flip_rate",
    "answer/asked again it moves by": "sem",
    "answer/lenient by": "leniency",
    "answer/lets pass": "proportion",
    "answer/mean score": "mean",
    "answer/one scores reliability": "icc_1_1",
    "answer/repeats for .90": "k_needed",
}
"""MLflow metrics of version 0.2, each with the quantity that has its number; `check` takes both."""

RENAMED_PARAMETERS: Mapping[str, str] = {
    "append": "reply_instruction",
    "choices": "samples_per_request",
    "judge_seed": "request_seed",
    "replicates": "repeats",
    "unrelated": "distractor",
}
"""Parameters of experiments by their new names."""


class Current(NamedTuple):
    """Words of a command as this version takes them, and a note on each old spelling."""

    program: str
    words: list[str]
    notes: list[str]


def current_command(program: str, words: Sequence[str]) -> Current:
    """Translate a command that an earlier version had; others stay as they are.

    Parameters
    ----------
    program : str
    words : sequence of str
        The command and what follows it.

    Examples
    --------
    >>> current_command("judgestats", ["methods", "RUN", "--out", "m.md"]).words
    ['report', 'RUN', '--methods', 'm.md']
    >>> current_command("judgestats", ["template", "brief", "--run", "RUN"]).words
    ['report', '--document=brief.qmd', 'RUN']
    """
    renamed = RENAMED_COMMANDS.get(words[0]) if program == "judgestats" and words else None
    if renamed is None or (renamed.unless and [*words[1:2], "--help"][0] in renamed.unless):
        return Current(program, list(words), [])
    rest, argument, is_value = [], renamed.argument, False
    for word in words[1:]:
        flag, sign, value = word.partition("=")
        if flag in renamed.options:
            flag = renamed.options[flag]
            rest += [f"{flag}{sign}{value}" if flag else value] if flag or value else []
        elif is_value or word.startswith("-"):
            rest.append(word)
        elif word not in renamed.dropped:
            rest.append(argument.format(word))
            argument = "{}"
        is_value = word.startswith("--") and not sign
    flags = [word.partition("=")[0] for word in rest if word.startswith("-")]
    asks = {"-h", "--help"} & set(flags)
    by_flag = renamed.least.startswith("--")
    given = renamed.least in flags if by_flag else any(not w.startswith("-") for w in rest)
    if renamed.least and not given and not asks:
        rest.append(renamed.least)
    appended = () if asks else renamed.appended
    note = _note(words[0], renamed.spelling)
    return Current(renamed.program, [*renamed.words, *rest, *appended], [note])


def current_options(words: Sequence[str], flags: Collection[str]) -> tuple[list[str], list[str]]:
    """Translate options that an earlier version had.

    Parameters
    ----------
    words : sequence of str
    flags : collection of str
        Those that the command takes.

    Returns
    -------
    words : list of str
    notes : list of str

    Examples
    --------
    >>> current_options(["RUN", "--min", "reliability=.8"], {"--require"})[0]
    ['RUN', '--require', 'reliability>=.8']
    """
    out: list[str] = []
    notes: dict[str, None] = {}
    pending = ""
    for word in words:
        flag, equals, value = word.partition("=")
        new, sign = RENAMED_OPTIONS.get(flag, ("", ""))
        if pending:
            out.append(_with_sign(word, pending))
            pending = ""
        elif new in flags and flag not in flags:
            out.append(f"{new}={_with_sign(value, sign)}" if equals else new)
            pending = "" if equals else sign
            notes[_note(flag, f"{new} 'NAME{sign}NUMBER'" if sign else new)] = None
        else:
            out.append(word)
    return out, list(notes)


def removed_option(words: Sequence[str]) -> str:
    """What to use instead of an option that this version does not have; empty where none is given.

    Examples
    --------
    >>> removed_option(["export", "RUN", "--r"])[:36]
    'export: --r was removed in 0.3.0. Us'
    """
    for (command, flag), advice in REMOVED_OPTIONS.items():
        if words[:1] == [command] and flag in words:
            return f"{command}: {flag} was removed in 0.3.0. Use {advice}."
    return ""


def current_parameters(given: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Translate names of parameters that an earlier version had.

    Parameters
    ----------
    given : mapping of name to text

    Returns
    -------
    parameters : dict
        An earlier name stays where its new one is given too.
    notes : list of str

    Examples
    --------
    >>> current_parameters({"replicates": "3"})[0]
    {'repeats': '3'}
    """
    renamed = {n: new for n, new in RENAMED_PARAMETERS.items() if n in given and new not in given}
    notes = [_note(name, new) for name, new in renamed.items()]
    return {renamed.get(name, name): text for name, text in given.items()}, notes


def current_record(recorded: Mapping[str, str]) -> dict[str, str]:
    """The parameters that an earlier version recorded of a run, as this version would.

    Examples
    --------
    >>> current_record({"full": "false", "min": "a=.8", "max": "default", "replicates": "3"})
    {'all': 'false', 'require': 'a>=.8', 'repeats': '3'}
    """
    out: dict[str, str] = {}
    for name, text in current_parameters(recorded)[0].items():
        flag, sign = RENAMED_OPTIONS.get(f"--{name}", (f"--{name}", ""))
        parts = [_with_sign(part, sign) for part in text.split(", ")] if sign else [text]
        held = out.setdefault(flag[2:].replace("-", "_"), "default")
        given = [part for part in (held, *parts) if part != "default"]
        out[flag[2:].replace("-", "_")] = ", ".join(given) or "default"
    return out


def _with_sign(text: str, sign: str) -> str:
    name, equals, number = text.rpartition("=")
    return f"{name}{sign}{number}" if equals and sign else text


def _note(old: str, new: str) -> str:
    return f"{old} is deprecated and will be removed in 0.4.0. Use {new}."


def warn_bounds(
    least: Mapping[str, float], most: Mapping[str, float], require: Sequence[str] | str
) -> list[str]:
    """Bounds of 0.2 (``min``, ``max``) as requirements."""
    warnings.warn("use require={name: value} for min= and max=", DeprecationWarning, stacklevel=3)
    stated = [require] if isinstance(require, str) else list(require)
    return [
        *stated,
        *(f"{k}>={v}" for k, v in least.items()),
        *(f"{k}<={v}" for k, v in most.items()),
    ]
