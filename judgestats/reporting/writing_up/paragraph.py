"""The methods of a run in the words of a paper: design, judges, prompts, tests, software."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.data.request_fields import as_text
from judgestats.data.schema import read_frame
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.design import margin_of
from judgestats.reporting.sections.methods import methods as measures
from judgestats.results.numbers import count_noun

Write = Callable[[str], str]


def methods_text(run: Run, write: Write = str) -> str:
    """The methods of a run, with citations of `references.bib`.

    Everything is read from the run: what it does not say is left out, and the checklist names it.

    Parameters
    ----------
    run : Run
    write : function
        Writes what others wrote (names, plans) in the form wanted, as `escape_markdown` does.

    Returns
    -------
    str
    """
    parts = [_design(run, write), _judges(run, write), _prompts(run), _judging(run, write)]
    told = measures(run, advised=False, roles=_TOLD, write=write)
    parts += [_tests(run, write), told.text, _software(run)]
    return "\n\n".join(filter(None, parts)) + "\n"


def judgments_of(run: Run) -> pd.DataFrame | None:
    """The judgments that are kept with the run, if they are."""
    file = run.folder / "data" / "judgments.parquet"
    return read_frame(file) if file.is_file() else None


def dates_of(frame: pd.DataFrame | None) -> str:
    """The days on which judgments were asked for; empty where no row says."""
    if frame is None or "asked_at" not in frame:
        return ""
    asked = pd.to_datetime(frame["asked_at"], utc=True, errors="coerce", format="ISO8601").dropna()
    if asked.empty:
        return ""
    first, last = (f"{d.date():%Y-%m-%d}" for d in (asked.min(), asked.max()))
    return first if first == last else f"{first} to {last}"


def _design(run: Run, write: Write) -> str:
    design = run.facts.get("design") or {}
    asked = write(run.records.question)
    sentences = [f"**Design.** {asked}" if asked else "**Design.**"]
    if n_items := design.get("items"):
        what = f"{count_noun(int(n_items), 'answer', 'answers')} to {_questions(design)}"
        if source := design.get("item_source"):
            what += f" ({write(str(source))})"
        sentences.append(f"{what} were judged.")
    conditions = [write(str(c)) for c in design.get("conditions") or ()]
    if conditions:
        listed = f": {'; '.join(conditions)}" if len(conditions) <= 12 else ""
        sentences.append(
            f"There were {count_noun(len(conditions), 'condition', 'conditions')}{listed}."
        )
    if (times := design.get("replicates")) and int(times) > 1:
        sentences.append(
            f"Every answer was judged {int(times)} times in each condition"
            + (", each time anew." if run.records.kind == "experiment" else ".")
        )
    if scale := design.get("scale"):
        sentences.append(f"The scale ran from {scale[0]:g} to {scale[1]:g}.")
    return " ".join(sentences)


def _questions(design: Mapping[str, Any]) -> str:
    clusters = int(design.get("clusters") or 0)
    return count_noun(clusters, "question", "questions") if clusters else "questions"


def _judges(run: Run, write: Write) -> str:
    listed = []
    for judge in run.facts.get("judges") or ():
        name, model = str(judge.get("name", "")), str(judge.get("model", ""))
        notes = [f"model `{_plain(model)}`"] if model and model != name else []
        if judge.get("simulated"):
            notes.append("simulated: no model was asked")
        reported = [str(r) for r in judge.get("model_reported") or () if str(r) not in {"", model}]
        if reported:
            notes.append(f"answering as {', '.join(f'`{_plain(r)}`' for r in reported)}")
        if endpoint := judge.get("endpoint"):
            notes.append(f"at {write(str(endpoint))}" if "://" in endpoint else endpoint)
        modes = [
            str(m).replace("json_schema", "JSON schema") for m in judge.get("reply_mode") or ()
        ]
        if modes:
            notes.append(f"replies asked for as {', '.join(modes).replace('_', ' ')}")
        inside = f" ({'; '.join(notes)})" if notes else ""
        listed.append(f"`{_plain(name)}`{inside}")
    if not listed:
        return ""
    design = run.facts.get("design") or {}
    heats = [t for t in design.get("temperatures") or () if t is not None]
    sentences = [f"**Judges.** {'; '.join(listed)}."]
    if heats:
        sentences.append(f"Sampling temperature: {_joined([f'{t:g}' for t in heats])}.")
    if settings := design.get("settings"):
        sentences.append(
            "Further settings: "
            + ", ".join(f"{write(k)} = {as_text(v)}" for k, v in settings.items())
            + "."
        )
    if days := dates_of(judgments_of(run)):
        sentences.append(f"They were asked on {days} (UTC).")
    return " ".join(sentences)


def _prompts(run: Run) -> str:
    shas = list(
        dict.fromkeys(s for j in run.facts.get("judges") or () for s in j.get("prompt_sha") or ())
    )
    if not shas:
        return ""
    named = _joined([f"`{s}`" for s in shas])
    noun = "template" if len(shas) == 1 else "templates"
    return (
        f"**Prompts.** The prompt {noun} (SHA-256 beginning with {named}) "
        f"{'is' if len(shas) == 1 else 'are'} given whole in the supplement."
    )


def _judging(run: Run, write: Write) -> str:
    """How many judgments there are, what became of them, how unread ones are treated."""
    account, frame = run.facts.get("account") or {}, judgments_of(run)
    sentences = []
    if frame is not None:
        n, unread = len(frame), int((frame["status"] != "ok").sum())
        sentences.append(
            f"Of {n:,} judgments {n - unread:,} gave a verdict that could be read"
            + (f"; {unread:,} ({100 * unread / n:.1f} %) did not." if unread else ".")
        )
    if (left := run.plan.get("missing")) and sentences:
        sentences.append(write(str(left)))
    if account.get("cached"):
        sentences.append(
            f"{int(account['cached']):,} answers came from the journal of an earlier run."
        )
    return f"**Judgments.** {' '.join(sentences)}" if sentences else ""


_TOLD = ("primary", "secondary", "descriptive")
_ROLES = {"primary": "Primary", "secondary": "Secondary", "descriptive": "Described"}


def _tests(run: Run, write: Write) -> str:
    plan = run.plan
    sentences = []
    for role, word in _ROLES.items():
        tests = [_test(h, write) for h in plan.get("hypotheses") or () if h.get("role") == role]
        if tests:
            sentences.append(f"{word}: {'; '.join(dict.fromkeys(tests))}.")
    if margins := plan.get("margins"):
        sentences.append(
            "Margins declared beforehand: "
            + ", ".join(f"{write(margin_of(k))} {v:g}" for k, v in margins.items())
            + "."
        )
    if blocks := plan.get("blocks"):
        sentences.append(write(str(blocks)))
    if not sentences:
        return ""
    level = float(plan.get("level") or math.nan)
    if not math.isnan(level):
        sentences.append(f"Intervals are {100 * level:g} % intervals.")
    asked = run.records.kind == "experiment"
    first = (
        "The plan was written down before the first call."
        if asked
        else "The tests follow from the kind of data; none was chosen by its outcome."
    )
    return f"**Tests.** {first} {' '.join(sentences)}"


def _test(hypothesis: Mapping[str, Any], write: Write) -> str:
    adjusted = str(hypothesis.get("adjustment") or "none")
    family = str(hypothesis.get("family") or "")
    text = write(str(hypothesis.get("test", "")))
    if adjusted == "none" or not family:
        return text
    if adjusted == "simultaneous":
        return f"{text} (simultaneous over: {write(family)})"
    how = {
        "holm": "Holm's method [@holm1979]",
        "Westfall-Young": "Westfall and Young's step-down procedure [@westfall1993], Holm's method "
        "where it does not apply, each at half of the level,",
    }.get(adjusted, adjusted)
    return f"{text} (adjusted by {how} over: {write(family)})"


def _software(run: Run) -> str:
    session = run.session or {}
    design = run.facts.get("design") or {}
    packages = session.get("packages") or {}
    with_what = _joined([f"{n} {v}" for n, v in packages.items()])
    version = session.get("judgestats")
    sentences = [
        f"**Software.** judgestats {version} on Python {session.get('python', '?')}, with "
        f"{with_what}."
        if version
        else ""
    ]
    plan = run.plan
    resamples, seed = plan.get("n_resamples"), design.get("seed", plan.get("seed"))
    if resamples:
        sentences.append(f"Permutations and bootstraps: at least {int(resamples):,}, seed {seed}.")
    if command := run.facts.get("command") or session.get("command"):
        sentences.append(f"Command: `{_plain(str(command))}`.")
    return " ".join(filter(None, sentences))


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _plain(text: str) -> str:
    """Fit to stand between backticks."""
    return " ".join(text.replace("`", "'").split())
