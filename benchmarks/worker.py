"""One side of ``make against``, in a process of its own: ``python worker.py MODULE SOURCE``.

Reads lines of JSON and answers each with one: ``["keys"]``, ``["prepare", name]``,
``["run", calls]``. Only the standard library is imported before the keys.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any


def main(module: str, source: str) -> None:
    """Answer until there is nothing more to read."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what keys print is no answer
    home = import_module("fullswap").__file__
    if not home or not Path(home).is_relative_to(source):
        sys.exit(f"fullswap must come from {source}, got {home}")
    side = Side(import_module(module).KEYS)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            said = getattr(side, name)(*arguments)
        except Exception as error:
            sort = "missing" if type(error).__name__ == "Missing" else "error"
            said = {sort: f"{type(error).__name__}: {error}"}
            if sort == "error":
                traceback.print_exc()
        print(json.dumps(said), file=answers, flush=True)


class Side:
    """The keys of one tree, and what was prepared last."""

    def __init__(self, keys: dict[str, Any]) -> None:
        self._keys = keys

    def keys(self) -> dict[str, Any]:
        """How each key is measured."""
        fields = ("kind", "wall", "pairs", "named", "unit")
        return {
            name: {field: getattr(key, field) for field in fields}
            for name, key in self._keys.items()
        }

    def prepare(self, name: str) -> dict[str, Any]:
        """Get ready, unmeasured: the arguments of a process, or nothing."""
        if name not in self._keys:
            return {"missing": "no such key"}
        self._key = self._keys[name]
        self._run = self._key.prepare()
        return {"arguments": None if callable(self._run) else self._run}

    def run(self, calls: int) -> dict[str, Any]:
        """So many calls: milliseconds of each, or the number that it gives."""
        run = self._run
        if self._key.kind == "number":
            return {"value": float(run())}
        clock = time.perf_counter_ns if self._key.wall else time.process_time_ns
        begun = clock()
        for _ in range(calls):
            run()
        return {"value": (clock() - begun) / calls / 1e6}


if __name__ == "__main__":
    main(*sys.argv[1:])
