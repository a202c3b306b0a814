"""Raise an exception between any two bytecodes of the package, where a signal would arrive."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import fullswap

HOME = fullswap.__path__[0]


class Stop:
    """Raises when so many bytecodes of the package have been reached; with None it only counts."""

    def __init__(self, after: int | None, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.after, self.error = after, error
        self.count = 0

    def __call__(self, act: Callable[[], Any]) -> bool:
        """Whether the work was interrupted."""
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            act()
        except self.error as error:
            if error.args != ("stopped here",):
                raise
            return True
        finally:
            sys.settrace(before)
        return False

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "opcode":
            self.count += 1
            if self.count == self.after:
                raise self.error("stopped here")
        return self._step


def length_of(act: Callable[[], Any]) -> int:
    """Bytecodes of the package that some work takes."""
    counter = Stop(None)
    counter(act)
    return counter.count
