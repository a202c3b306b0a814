"""``@kernel``: compile a function on its first call, and keep the machine code on disk.

The first call of a kernel from a cold cache takes a second or so to compile; later processes load
what was kept (see ``fullswap.kernels.keeping`` for where). A line on standard error says so, once a
process, when something really is compiled; ``FULLSWAP_QUIET=1`` silences it. numba's own
``cache=True`` would do most of this, but it refuses to run where nothing can be written, does not
read what it cannot write, and does not notice a change in another file that a kernel inlines.
"""

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from fullswap.kernels import keeping, parts

CURE = (
    "  To keep it, set NUMBA_CACHE_DIR to a folder that can be written, or run `fullswap warm-up`\n"
    "  as a user who can write where fullswap is installed (for example when an image is built)."
)
KEPT = (
    "fullswap: compiling for this machine, once (some seconds); later starts are fast.\n"
    "  Compiled code is kept in {folder}"
)
KEPT_FOR_NOW = (
    "fullswap: compiling for this machine (some seconds).\n"
    "  Compiled code is kept in {folder}, which may not last.\n" + CURE
)
NOT_KEPT = (
    "fullswap: compiling (some seconds), at every start: "
    "compiled code cannot be kept{why}.\n" + CURE
)


def kernel(function: Callable | None = None, short: bool = False, **options: Any) -> Any:
    """Decorator: compile by numba with these options of ``njit``, and keep the result.

    ``short``: loops have a few steps, so that optimising them further only takes time.

    Examples
    --------
    >>> @kernel(error_model="numpy")
    ... def halved(x):
    ...     return x / 2.0
    """
    if function is None:
        return lambda function: kernel(function, short, **options)
    options["no_cfunc_wrapper"] = True  # only functions that are passed around need it
    dispatcher: Any = numba.njit(**options)(function)
    if dispatcher is not function:  # it is under NUMBA_DISABLE_JIT
        dispatcher._cache = KernelCache(function)
        own = parts.SHORT if short else parts.OPTIONS
        part: Any = numba.njit(**{**options, **own})(function)
        # what other kernels ask for when they call this one
        dispatcher.get_call_template = part.get_call_template
        dispatcher.get_overload = part.get_overload
    return dispatcher


class KernelCache(NullCache):
    """Finds and keeps the compiled forms of one kernel, one for each signature.

    It never raises for want of a folder: what cannot be kept is compiled again.
    """

    def __init__(self, function: Callable) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"

    @property
    def cache_path(self) -> str | None:
        """Where compiled code goes, if anywhere."""
        folder = keeping.writable_folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for this signature on this processor, or None."""
        target_context.refresh()
        key = (sig, target_context.codegen().magic_tuple())
        for content in keeping.found(self._name, key):
            try:
                stored, reduced = pickle.loads(content)
                if stored == key:
                    return CompileResult._rebuild(target_context, *pickle.loads(reduced))
            except Exception:  # from another world than ours: any error means it is of no use
                continue
        progress.started()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is a folder for it."""
        progress.compiled += 1
        if data.library.has_dynamic_globals:  # addresses of this process
            return
        key = (sig, data.codegen.magic_tuple())
        trouble = keeping.keep(self._name, key, dumps((key, dumps(data._reduce()))))
        if trouble:
            progress.lost(trouble)


class Progress:
    """What is said about compiling, once a process.

    Attributes
    ----------
    compiled : int
        Kernels compiled by this process, not loaded.
    """

    def __init__(self) -> None:
        self.compiled = 0
        self._said = self._said_lost = False

    def started(self) -> None:
        """A kernel was not found and will be compiled."""
        if self._said:
            return
        self._said = True
        folder = keeping.writable_folder()
        if folder is None:
            self.lost("")
        else:
            text = KEPT_FOR_NOW if keeping.is_temporary(folder) else KEPT
            _say(text.format(folder=folder))

    def lost(self, trouble: str) -> None:
        """What is compiled is not kept, perhaps because of a trouble with a folder."""
        if not self._said_lost:
            self._said_lost = True
            _say(NOT_KEPT.format(why=f" ({trouble})" if trouble else ""))

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Say nothing meanwhile: for who says it otherwise."""
        before = self._said, self._said_lost
        self._said = self._said_lost = True
        try:
            yield
        finally:
            self._said, self._said_lost = before


def _say(text: str) -> None:
    """Print to standard error; threads that others run are left alone, and so is who asked."""
    wanted = os.environ.get("FULLSWAP_QUIET", "") in ("", "0")
    if wanted and sys.stderr is not None and threading.current_thread() is threading.main_thread():
        try:
            print(text, file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass  # closed or full: nobody reads it, and the answer matters more


progress = Progress()
