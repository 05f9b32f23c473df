"""``judgestats endpoint MODEL``: what an endpoint honours, ignores and refuses, for a cent."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from judgestats.api import endpoint
from judgestats.errors import InputError
from judgestats.experiment import console

__all__ = ["endpoint_command"]


def endpoint_command(arguments: argparse.Namespace) -> int:
    """Examine an endpoint; print its card, keep it, compare it with an earlier one.

    Parameters
    ----------
    arguments : Namespace
        ``model``, ``base_url``, ``prices``, ``out`` and ``against``.

    Returns
    -------
    int
        0; 1 where an earlier card said otherwise.

    Raises
    ------
    InputError, JudgeError
        An unusable name or file; an endpoint that does not answer.
    """
    card = endpoint(arguments.model, base_url=arguments.base_url, prices=arguments.prices)
    console.say(str(card))
    if arguments.out:
        text = json.dumps(card.as_dict(), indent=2, allow_nan=False)
        Path(arguments.out).write_text(text + "\n", encoding="utf-8")
    if not arguments.against:
        return 0
    try:
        earlier = json.loads(Path(arguments.against).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"endpoint: {arguments.against} is no card ({error}).") from None
    changes = card.changes(earlier if isinstance(earlier, dict) else {})
    console.say("", *(changes or [f"As on {str(earlier.get('asked_at', ''))[:10]}."]))
    return 1 if changes else 0
