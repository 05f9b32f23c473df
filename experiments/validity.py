"""Is the judge accurate, and what would human raters say of everything it judged?

The judge is asked for a verdict of pass or fail and for a score of every answer; some answers have
human labels. Without a file the bundled answers' designed quality stands for the human score.
"""

from __future__ import annotations

from judgestats.data.columns import Condition
from judgestats.protocols.base import JudgingProtocol
from judgestats.protocols.pointwise import PassFail, Pointwise
from judgestats.runner.common_parameters import OwnReasoning, own_reasoning, prompt_of
from judgestats.runner.design import Design, Levels, crossed
from judgestats.runner.sources import LabelParameters, with_known_labels


class Parameters(LabelParameters, OwnReasoning):
    """The judge is held to labels."""


def conditions(parameters: Parameters) -> tuple[Condition, ...]:
    return crossed(parameters, verdict=parameters.verdicts)


def protocol(parameters: Parameters, condition: Condition) -> JudgingProtocol:
    verdict = condition.factors["verdict"]
    passes = verdict == "pass_fail"
    template = prompt_of(parameters, "pass_fail" if passes else "pointwise", level=verdict)
    reasoning = own_reasoning(parameters, template, "none")
    if passes:
        return PassFail(template=template, reasoning=reasoning)
    return Pointwise(template=template, scale=parameters.scale, reasoning=reasoning)


DESIGN = Design(
    name="validity",
    title="Validity against human labels, and corrected rates",
    question=(
        "How often do the judge's verdicts and scores equal those of human raters? Where does it "
        "err, and what is the human pass rate or mean of all judged items?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="validity_run",
    items=with_known_labels,
    uses_items=True,
    parameters=Parameters,
    defaults={
        "judges": "sim-stated,sim-lenient",
        "temperatures": "0.5",
        "repeats": "3",
        "responses": "all",
    },
    compares=(
        Levels(parameter="judges", lost="One judge: none is compared with another."),
        Levels(
            parameter="repeats",
            lost="One judgment of each answer: what repetition would correct is not known.",
            count=lambda p: p.repeats,
        ),
    ),
)
