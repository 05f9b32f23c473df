"""``judgestats simulate``: the simulated judges behind a port, for other tools and rehearsals."""

from __future__ import annotations

from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.terminal import emit


def simulate_command(arguments: Given) -> int:
    """Serve until stopped.

    Parameters
    ----------
    arguments : Given
        ``host`` and ``port``.

    Returns
    -------
    int
        0.
    """
    from judgestats.judges.simulated.faults import Faults
    from judgestats.judges.simulated.server import serve

    if not 0 <= arguments.port <= 65535:
        raise InputError(f"simulate: --port must lie in 0-65535, got {arguments.port}.")
    if arguments.host not in {"127.0.0.1", "localhost", "::1"}:
        emit(
            f"judgestats: serving on {arguments.host}: everyone who reaches this machine can use "
            "the simulated judges.\n",
            error=True,
        )
    serve(port=arguments.port, host=arguments.host, faults=Faults.parse(arguments.faults))
    return 0
