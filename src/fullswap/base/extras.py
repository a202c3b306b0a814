"""Optional packages: are they there?"""

from __future__ import annotations

from importlib.util import find_spec


def is_installed(module: str) -> bool:
    """Whether a package could be imported, without importing it.

    Examples
    --------
    >>> is_installed("numpy"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return find_spec(module) is not None
    except ValueError:  # it was put away on purpose
        return False
