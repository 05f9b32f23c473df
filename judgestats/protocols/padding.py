"""The same answer, longer: a text that adds words and no content, put after an answer."""

from __future__ import annotations

_PADDING = (
    "\n\nI hope that this answer is of help to you. As always, there are many ways in which a "
    "question like this can be approached, and it is worth taking the time to consider it with "
    "care. What has been said above answers the question as it was asked, and it can be read again "
    "from the beginning whenever that should be useful. Please do not hesitate to come back to it. "
    "Should anything in the answer be of further interest, it is there to be looked at once more, "
    "in the same words and in the same order in which it was given above."
)


def padded(answer: str) -> str:
    """An answer with the padding after it.

    Examples
    --------
    >>> unpadded(padded("It is 4."))
    'It is 4.'
    """
    return answer.rstrip() + _PADDING


def unpadded(answer: str) -> str:
    """An answer without the padding, if it has it."""
    text = answer.rstrip()
    return text.removesuffix(_PADDING.rstrip()) if text.endswith(_PADDING.rstrip()) else answer
