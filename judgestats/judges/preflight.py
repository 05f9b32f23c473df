"""Is every judge there, before a run is opened and a first judgment is paid for?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from judgestats.errors import JudgeError
from judgestats.judges.spec import JudgeSpec, key_hint


def check_judges(judges: Mapping[str, JudgeSpec], *, timeout_s: float = 20.0) -> dict[str, str]:
    """Ask every endpoint for its list of models, which costs nothing.

    An endpoint without such a list passes: many servers have none. A list that does not name the
    model passes too, since servers list aliases differently; the first judgment will tell.

    Parameters
    ----------
    judges : mapping of name to JudgeSpec
    timeout_s : float
        Limit for one endpoint, in seconds.

    Returns
    -------
    dict
        What each endpoint said, by base URL, in a few words.

    Raises
    ------
    JudgeError
        An endpoint cannot be reached, or refuses the key.
    InputError
        A function cannot be loaded.

    Examples
    --------
    >>> from judgestats.judges.spec import parse_judge
    >>> check_judges({"sim-typical": parse_judge("sim-typical")})
    {}
    """
    endpoints: dict[str, JudgeSpec] = {}
    for spec in judges.values():
        if spec.function is not None:
            spec.function.load()
        elif not spec.in_process:
            endpoints.setdefault(spec.base_url, spec)
    return asyncio.run(_ask_all(endpoints, timeout_s)) if endpoints else {}


async def _ask_all(endpoints: Mapping[str, JudgeSpec], timeout_s: float) -> dict[str, str]:
    answers = await asyncio.gather(*(_ask(s, timeout_s) for s in endpoints.values()))
    return dict(zip(endpoints, answers, strict=True))


async def _ask(spec: JudgeSpec, timeout_s: float) -> str:
    import openai

    from judgestats.judges.client import JudgeClient

    # The judges' own client: bounded in time and size, and no redirect carries the key elsewhere.
    async with JudgeClient(spec, connections=1, timeout_s=timeout_s) as client:
        try:
            reply = await client.models()
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            # The server's own words are left out: some repeat the key in them.
            raise JudgeError(
                f"{spec.base_url} refuses the key. Set {key_hint(spec.base_url)} to one that it "
                "accepts."
            ) from None
        except openai.APITimeoutError:
            raise JudgeError(
                f"{spec.base_url} gave no answer within {timeout_s:g} s. Check base_url, and that "
                "the server is running."
            ) from None
        except openai.APIConnectionError as error:
            why = client.connection_failure(error.__cause__, 0.0).detail
            raise JudgeError(
                f"{spec.base_url} cannot be reached ({why}). Check base_url, and that the server "
                "is running."
            ) from None
        except openai.APIStatusError as error:
            return f"answers (no list of models: HTTP {error.status_code})"
        return f"answers ({len(reply.content)} bytes of models)"
