"""Keep the linear algebra library to one thread where the matrices are small.

Thousands of small decompositions lose time when the library hands each to several threads
(twentyfold for 27 x 27 eigenproblems on two busy cores). Results do not depend on it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController


@functools.cache
def _controller() -> ThreadpoolController:
    """The libraries loaded in this process; looking them up takes a millisecond, so once."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block (or the decorated function) BLAS and LAPACK use one thread.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     values = np.linalg.eigvalsh(np.eye(3))
    >>> values.tolist()
    [1.0, 1.0, 1.0]
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield
