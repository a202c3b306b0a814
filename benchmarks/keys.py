"""Keys: what ``make against`` measures, and how a key of each sort is written.

A key is a function under a name. What it does itself is not measured; what it returns is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CALL, PROCESS, COLD, NUMBER, MEMORY = "call", "process", "cold", "number", "memory"
"""What the function of a key returns:

call     something to call, in a process that stays: processor time, or the clock on the wall
process  arguments of Python: processor time of a new process, machine code kept
cold     the same, with no machine code kept
memory   the same: peak memory of the process, machine code kept
number   something to call that returns the number itself: bytes or milliseconds
"""
PAIRS, FEW = 9, 3
"""Pairs of a key; of one that takes long."""


class Missing(Exception):
    """The feature, or what it needs, does not exist here."""


@dataclass(frozen=True)
class Key:
    """How a key is measured."""

    prepare: Callable[[], Any]
    kind: str = CALL
    wall: bool = False
    """Whether a call is timed by the clock on the wall: where threads or disks matter."""
    pairs: int = PAIRS
    named: bool = False
    """Whether it runs only where it is asked for by name."""
    unit: str = "ms"


class Keys(dict[str, Key]):
    """Keys by name, filled by decorators."""

    def add(self, name: str, kind: str = CALL, **how: Any) -> Callable[[Any], Any]:
        """Decorator: the function below is this key."""

        def enter(prepare: Any) -> Any:
            if name in self:
                raise ValueError(f"two keys are called {name}")
            self[name] = Key(prepare, kind, **how)
            return prepare

        return enter

    def first(self, name: str, code: str | Callable[[], list[str]], **how: Any) -> None:
        """Two keys, ``name.cold`` and ``name.warm``: a process that runs this."""

        def arguments() -> list[str]:
            return ["-c", code] if isinstance(code, str) else code()

        self.add(f"{name}.cold", COLD, pairs=FEW, **how)(arguments)
        self.add(f"{name}.warm", PROCESS, **how)(arguments)
