"""Re-examine a published study, claim by claim, on its own data: no judge is asked."""

from __future__ import annotations

from typing import Annotated

from judgestats.runner.design import ReplicationDesign, ReplicationParameters
from judgestats.runner.parameter_types import ChoiceParam, data_option
from judgestats.studies import study_names


class Parameters(ReplicationParameters):
    """Which study, and its data."""

    study: Annotated[str, ChoiceParam(*study_names())] = data_option(
        "llmasjudge", f"Study: {', '.join(study_names())}"
    )
    data: str = data_option(
        "",
        "The authors' folder or zip, e.g. data/llmasjudge; by default the bundled records "
        "are shown",
    )


DESIGN = ReplicationDesign(
    name="replicate",
    title="A published study, re-examined",
    question=(
        "Which claims of a published study hold under the test that the question requires, and "
        "what was the result of the study's test?"
    ),
    parameters=Parameters,
)
