"""Parameters that only experiments with selections take."""

from __future__ import annotations

from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import OWN_REASONING
from judgestats.experiment.parameters import (
    Parameter,
    read_choice,
    read_choices,
    read_names,
    read_optional_whole,
    read_whole,
)
from judgestats.protocols.selection import READINGS, SELECTION_PROMPTS

__all__ = [
    "BEST_OF_FIVE",
    "ONE_REPLICATE",
    "OPTION_TEMPLATE",
    "PER_CATEGORY",
    "PROMPTS",
    "READING",
    "SELECTION_LEVELS",
    "UNRELATED",
    "options_shown",
]

PER_CATEGORY = Parameter(
    name="per_category",
    default="all",
    read=read_optional_whole(1),
    help="questions drawn from each category (BBH task, SQuAD article, ...), or all",
)
PROMPTS = Parameter(
    name="prompts",
    default=",".join(SELECTION_PROMPTS),
    read=read_names,
    help="judge prompts: 1-4 or text files of your own with {question} and {options}",
)
UNRELATED = Parameter(
    name="unrelated",
    default="no,yes",
    read=read_choices("no", "yes"),
    help="without and with an option that answers another question",
)
ONE_REPLICATE = Parameter(
    name="replicates",
    default="1",
    read=read_whole(1, 100_000),
    help="repetitions of every rotation; 2 or more tell position from noise",
)

OPTION_TEMPLATE = Parameter(
    name="option_template",
    default="",
    read=lambda _, value: value.replace("\\n", "\n"),
    help="how an option is written, with {label} or {n} and {text}, as in [{label}]: {text}; "
    "between the marks of the frame by default",
)

READING = Parameter(
    name="reading",
    default="judgestats",
    read=read_choice(*READINGS),
    help="study: only a letter behind 'Best Response:' is read, as arXiv 2412.12509 does",
)

SELECTION_LEVELS = (
    Levels(
        parameter="prompts",
        count=lambda p: 1 if p["prompt"] else len(p["prompts"]),
        lost="One judge prompt: what the prompt changes is not asked.",
    ),
    Levels(
        parameter="unrelated",
        lost="Not judged both with and without an unrelated option: what it changes is not asked.",
    ),
)


def options_shown(default: str) -> Parameter:
    """How many responses of an item are shown."""
    return Parameter(
        name="options",
        default=default,
        read=read_optional_whole(2),
        help="responses shown of each item (drawn by seed where there are more), or all",
    )


BEST_OF_FIVE = (options_shown("5"), PER_CATEGORY, OWN_REASONING, OPTION_TEMPLATE, READING)
"""What the experiment on the best of several answers takes beyond who answers."""
