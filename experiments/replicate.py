"""Re-examine a published study, claim by claim, on its own data: no judge is asked."""

from __future__ import annotations

from judgestats.experiment.design import ReplicationDesign
from judgestats.experiment.parameters import Parameter, read_choice, read_text
from judgestats.studies import study_names

DESIGN = ReplicationDesign(
    name="replicate",
    title="A published study, re-examined",
    question=(
        "Which claims of a published study stand when the test is the one that the question calls "
        "for, and what did its own test say?"
    ),
    parameters=(
        Parameter(
            name="study",
            default="llmasjudge",
            read=read_choice(*study_names()),
            help=f"one of {', '.join(study_names())}",
        ),
        Parameter(
            name="data",
            default="",
            read=read_text,
            help="the authors' folder or zip as it is; by default the records that judgestats "
            "computed from it are shown",
        ),
    ),
)
