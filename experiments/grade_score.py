"""Does a judge select an option for what it says or for where it stands?

The options of every item are shown in every cyclic rotation of one order, drawn by seed. An
unrelated option answers another question; it is drawn once for an item and rotates with the rest.
"""

from __future__ import annotations

from judgestats.data.columns import Condition, Contrast
from judgestats.protocols.selection import SELECTION_PROMPTS, Selection
from judgestats.runner.common_parameters import own_reasoning, prompt_of
from judgestats.runner.design import Design, crossed
from judgestats.runner.sources import SELECTION_LEVELS, SelectionParameters


def conditions(parameters: SelectionParameters) -> tuple[Condition, ...]:
    prompts = [parameters.prompt] if parameters.prompt else parameters.prompts
    return crossed(parameters, prompt=prompts, unrelated=parameters.distractor)


def protocol(parameters: SelectionParameters, condition: Condition) -> Selection:
    level = condition.factors["prompt"]
    name, usual = SELECTION_PROMPTS.get(level, (level, "after"))
    template = prompt_of(parameters.changed(prompt=""), name, level=level)
    return Selection(
        template=template,
        labels="numbers",
        reasoning=usual if template.ours else own_reasoning(parameters, template, usual),
        option_template=parameters.option_template,
        rotations=True,
        options=parameters.options,
        unrelated=condition.factors["unrelated"] == "yes",
        seed=parameters.seed,
    )


_STUDY = {"items": "oasst", "reply": "text", "judges": "grade_score_judges.yaml",
          "temperatures": "0.3", "limit": ""}  # fmt: skip

DESIGN = Design(
    name="grade_score",
    title="Position bias among several options (Grade Score)",
    question=(
        "Does a judge select an option by its content or by its position, and do the judge prompt "
        "and an unrelated option change that?"
    ),
    conditions=conditions,
    protocol=protocol,
    analysis="grade_score",
    parameters=SelectionParameters,
    defaults={"judges": "sim-typical,sim-positional", "temperatures": "0.3", "limit": "16"},
    compares=SELECTION_LEVELS,
    study="gradelab",
    contrasts=(
        Contrast(vary="unrelated", base="no", levels=("yes",), margin=0.05),
        Contrast(vary="prompt", base="4", levels=("1", "2"), margin=0.05),
    ),
    study_items="OASST's first-turn prompts with their replies, 3,482 in all",
    presets={"paper": {**_STUDY, "repeats": "1"},
             "repeats": {**_STUDY, "prompts": "1", "distractor": "no", "repeats": "5"}},
)  # fmt: skip
