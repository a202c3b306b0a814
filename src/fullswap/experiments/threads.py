"""One thread for linear algebra: on small matrices more of them mostly wait, and it counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_THREADS = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that are started meanwhile, other than by a fork, keep to one thread.

    Examples
    --------
    >>> with one_thread():
    ...     os.environ["OMP_NUM_THREADS"]
    '1'
    """
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
