"""Experiments whose items models answer first: price, and the answers of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.collection import Budget, Journal, PriceTable, Stop
from judgestats.collection.answers import Answered, AnswerPlan, collect_answers, price_answers
from judgestats.data.columns import as_text
from judgestats.data.schema import validate_answers
from judgestats.errors import BudgetError, InputError, JudgeError
from judgestats.items.records import Item
from judgestats.protocols import AnswerPrompt, PromptTemplate
from judgestats.results.numbers import count_noun
from judgestats.results.records import plain
from judgestats.runner.common_parameters import AnswerParameters, CommonParameters, settings_of

_FILE = "answers.jsonl"


def answer_plan(
    parameters: CommonParameters,
    given: Mapping[str, str],
    *,
    environ: Mapping[str, str] | None = None,
) -> AnswerPlan | None:
    """Who answers first; None where nobody does.

    Parameters
    ----------
    parameters : CommonParameters
    given : mapping of parameter to text
        What the user wrote: a preset's answerers give way to a file, the user's own do not.
    environ : mapping, optional
        Replaces ``os.environ`` (a dry run needs no key).

    Returns
    -------
    AnswerPlan or None

    Raises
    ------
    InputError
        Both a file and answerers are given; a name, prompt or number cannot be used.
    """
    if not isinstance(parameters, AnswerParameters) or not parameters.answerers:
        return None
    if parameters.answers:
        if given.get("answerers"):
            raise InputError(
                "answers and answerers: the answers come from a file or from models, not from "
                "both. Leave one out."
            )
        return None
    return AnswerPlan.from_names(
        parameters.answerers,
        base_url=parameters.base_url or None,
        environ=environ,
        protocol=AnswerPrompt(
            template=PromptTemplate.load(
                parameters.answer_prompt, append=parameters.reply_instruction != "none"
            )
        ),
        temperatures=parameters.answer_temperatures,
        settings={**settings_of(parameters), "max_tokens": parameters.answer_max_tokens},
        seed=parameters.request_seed,
    )


def answer_lines(plan: AnswerPlan) -> list[str]:
    """Which models answer, and that simulated ones are simulated."""
    lines = ["Answerers:"]
    for name, spec in plan.answerers.items():
        where = "SIMULATED" if spec.simulated else f"at {spec.base_url}"
        lines.append(f"  {name}  ({where})")
    return [*lines, ""]


def priced(
    items: Sequence[Item],
    plan: AnswerPlan,
    parameters: CommonParameters,
    *,
    prices: PriceTable | None = None,
) -> str:
    """What the answers would ask and cost, as a dry run prints it."""
    price = price_answers(
        items, plan, journal=parameters.journal, prices=prices, mode=parameters.mode
    )
    return (
        f"{price}\n\nThen the judgments, an answer that is not there yet counted as "
        f"{plan.foreseen_tokens} tokens:\n"
    )


@dataclass(frozen=True, kw_only=True)
class RunAnswers:
    """The answers of a run.

    Attributes
    ----------
    items : tuple of Item
        Those that every answerer answered.
    budget : Budget
        What is left for the judgments.
    cost_usd : float
    record : mapping
        For results.json: models, settings, prompt, account, notes, items left out.
    params : mapping
        For the run.
    limitations : tuple of str
    """

    items: tuple[Item, ...]
    budget: Budget
    cost_usd: float
    record: Mapping[str, Any]
    params: Mapping[str, str]
    limitations: tuple[str, ...]


def answers_of(
    questions: Sequence[Item],
    plan: AnswerPlan,
    parameters: CommonParameters,
    *,
    folder: Path,
    journal: Journal,
    prices: PriceTable | None = None,
) -> RunAnswers:
    """Have the models answer, keep their answers in the run's files, and say what was left out.

    Parameters
    ----------
    questions : sequence of Item
    plan : AnswerPlan
    parameters : CommonParameters
    folder : Path
        The run's files: ``data/answers.jsonl`` (the value of ``answers=``) and the prompt.
    journal : Journal
    prices : PriceTable, optional

    Returns
    -------
    RunAnswers

    Raises
    ------
    JudgeError
        Fewer than two questions were answered by all.
    BudgetError
        The budget ended before all had answered. What was answered is in the journal.
    KeyboardInterrupt
        After Ctrl-C.
    """
    budget = Budget(max_cost=parameters.max_cost, max_requests=parameters.max_requests)
    answered = collect_answers(
        questions,
        plan,
        journal=journal,
        budget=budget,
        prices=prices,
        concurrency=parameters.concurrency,
        timeout_s=parameters.timeout,
        mode=parameters.mode,
        progress="answering",
    )
    collected = answered.collected
    if collected.stopped_because is Stop.INTERRUPTED:
        raise KeyboardInterrupt(collected.message)
    if not collected.complete:
        error = BudgetError(f"Answers: {collected.message} There are no judgments yet.")
        error.exit_code = 6
        raise error
    without = set(answered.unanswered)
    items = tuple(item for item in answered.items if item.id not in without)
    if len(items) < 2:
        raise JudgeError(
            f"answerers: only {len(items)} of {len(questions)} questions were answered by all "
            f"models; a choice between them needs two. {_why(answered)} Check the models with "
            "`judgestats doctor`."
        )
    _write(folder, answered, plan)
    account = collected.account
    spent = account.cost_usd + account.cost_in_vain_usd
    booked = account.charged_usd + account.earlier_cost_usd
    return RunAnswers(
        items=items,
        budget=budget.less(requests=account.requests, cost=booked),
        cost_usd=spent,
        record=_record(answered, plan, left_out=len(without)),
        params={
            "answers/models": ", ".join(s.model for s in plan.answerers.values()),
            "answers/temperatures": ", ".join(map(as_text, plan.temperatures)),
            "answers/prompt_sha": plan.protocol.template.sha,
        },
        limitations=tuple(_limits(answered, plan, without)),
    )


def _write(folder: Path, answered: Answered, plan: AnswerPlan) -> None:
    data, prompts = folder / "data", folder / "prompts"
    data.mkdir(parents=True, exist_ok=True)
    prompts.mkdir(parents=True, exist_ok=True)
    lines = (
        json.dumps(plain(row), ensure_ascii=False, allow_nan=False)
        for row in validate_answers(answered.table).to_dict("records")
    )
    (data / _FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    template = plan.protocol.template
    (prompts / f"{template.sha}.txt").write_text(template.text, encoding="utf-8")


def _record(answered: Answered, plan: AnswerPlan, *, left_out: int) -> dict[str, Any]:
    table = answered.table
    return {
        "authors": list(plan.authors),
        "answerers": [
            {
                "name": name,
                "model": spec.model,
                "simulated": spec.simulated,
                "endpoint": "in this process" if spec.in_process else spec.base_url,
                "model_reported": sorted(
                    set(table.loc[table["answerer"] == name, "model_reported"]) - {""}
                ),
            }
            for name, spec in plan.answerers.items()
        ],
        "temperatures": list(plan.temperatures),
        "settings": {k: v for k, v in plan.settings.items() if v is not None},
        "prompt_sha": plan.protocol.template.sha,
        "file": f"data/{_FILE}",
        "answers": len(table),
        "status": {str(k): int(v) for k, v in table["status"].value_counts().items()},
        "questions_left_out": left_out,
        "notes": list(answered.collected.notes),
        "account": plain(answered.collected.account.as_dict()),
    }


def _limits(answered: Answered, plan: AnswerPlan, without: set[str]) -> list[str]:
    limits = []
    if without:
        limits.append(
            f"{len(without)} of {len(answered.items)} questions were left out, since not every "
            f"model answered them. {_why(answered)}"
        )
    bad = answered.table[answered.table["status"] != "ok"]
    if len(bad):
        counts = "; ".join(f"{n} {status}" for status, n in bad["status"].value_counts().items())
        limits.append(
            f"{len(bad)} of {len(answered.table)} answers are not whole ({counts}); they are shown "
            "to the judges as they are."
        )
    limits += [f"Answers: {note}." for note in answered.collected.notes]
    simulated = [s.model for s in plan.answerers.values() if s.simulated]
    if simulated:
        limits.append(f"The answers of {', '.join(simulated)} are simulated.")
    return limits


def _why(answered: Answered) -> str:
    """The commonest reasons why answers are missing."""
    frame = answered.collected.read()
    failed = frame[frame["transport"] != "answered"]
    kinds = (failed["judge"] + ": " + failed["failure"]).value_counts().head(3)
    parts = [f"{what} ({count_noun(n, 'time', 'times')})" for what, n in kinds.items()] + list(
        answered.collected.notes
    )
    return f"Reasons: {'; '.join(parts)}." if parts else ""
