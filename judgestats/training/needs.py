"""Optional packages: imported when they are used, with a clear word where they are missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from judgestats.errors import InputError


def need(extra: str, *modules: str) -> tuple[ModuleType, ...]:
    """Import modules of an extra.

    Parameters
    ----------
    extra : str
        The extra that installs them.
    *modules : str

    Returns
    -------
    tuple of module

    Raises
    ------
    InputError
        If one is not installed; the message names the extra.

    Examples
    --------
    >>> need("train", "no_such_module")
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: this needs no_such_module, which is not installed. Install the
    extra: pip install 'judgestats[train]'
    """
    missing = []
    for name in modules:
        try:
            missing.append(importlib.import_module(name))
        except ImportError as error:
            raise InputError(
                f"this needs {name}, which is not installed"
                + ("" if getattr(error, "name", "") == name else f" completely ({error})")
                + f". Install the extra: pip install 'judgestats[{extra}]'"
            ) from error
    return tuple(missing)
