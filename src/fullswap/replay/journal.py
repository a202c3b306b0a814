"""Lines of a followed log that were answered since its state was written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Journal:
    """Lines since the state was written, each with how many came before it."""

    def __init__(self, state: Path) -> None:
        self.path = state.with_name(f"{state.name}.journal")
        self._file: Any = None

    def rows(self, seen: int) -> list[dict[str, Any]]:
        """Lines that the state does not know of."""
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text(encoding="utf-8").split("\n"):
            number, _, content = line.partition(" ")
            try:
                row = json.loads(content)
            except ValueError:  # the last one, cut short: it was never answered
                continue
            if int(number) >= seen:
                found.append(row)
        return found

    def note(self, seen: int, row: dict[str, Any]) -> None:
        """A line, before it is answered."""
        if self._file is None:
            self._file = open(self.path, "a", encoding="utf-8")
            self._file.write("\n")  # the last line may have been cut short
        self._file.write(f"{seen} {json.dumps(row)}\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def clear(self) -> None:
        """The state knows of all of them."""
        self.close()
        self.path.unlink(missing_ok=True)
