"""Lines of a growing file, or of standard input, as they come."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from fullswap.inputs.csv_files import separator_of

PAUSE = 0.02
"""Seconds between two looks at a file that has not grown."""


class Lines:
    """Rows of CSV, with a line of names first, or of JSON objects; one a line."""

    def __init__(self, path: Any, refuse: Callable[[int, str], None], forever: bool) -> None:
        self._path, self._refuse, self._forever = path, refuse, forever
        self.names: list[str] | None = None
        self.separator = ","
        self._begun, self._skip, self._number = False, 0, 0
        self.waiting = False
        """Whether nothing is being done but to wait for the next line."""

    @property
    def kind(self) -> str:
        """What the lines are, once there was one."""
        return "jsonl" if self.names is None else "csv"

    def behind(self, content: bytes) -> None:
        """Go on behind what a file is known to hold."""
        self._skip, self._number = len(content), content.count(b"\n")
        self._begin(content.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n")[0].decode())

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and fields of every line that can be read."""
        for number, line in enumerate(self._lines(), 1 + self._number):
            text = line.strip("\r\n")
            if not text.strip():
                continue
            if not self._begun and self._begin(text):
                continue
            row = self._json(text) if self.names is None else self._csv(text, self.names)
            if isinstance(row, str):
                self._refuse(number, row)
            else:
                yield number, row

    def _begin(self, text: str) -> bool:
        """Whether the first line is one of names."""
        self._begun = True
        if text.lstrip().startswith("{"):
            return False
        self.separator = separator_of(text.encode())
        names = [name.strip() for name in next(csv.reader([text], delimiter=self.separator))]
        if len(set(names)) < len(names):
            raise ValueError(f"column names must differ, got {text!r}")
        self.names = names
        return True

    def _csv(self, text: str, names: list[str]) -> dict[str, Any] | str:
        if text.count('"') % 2:
            raise ValueError(
                f"a log that is followed must have one row a line, got a line break in a field: "
                f"{text[:80]!r}"
            )
        fields = next(csv.reader([text], delimiter=self.separator))
        if len(fields) != len(names):
            return f"must have {len(names)} fields, got {len(fields)}: {text[:80]!r}"
        return dict(zip(names, fields, strict=True))

    def _json(self, text: str) -> dict[str, Any] | str:
        try:
            row = json.loads(text)
        except ValueError:
            row = None
        return row if isinstance(row, dict) else f"must be a JSON object, got {text[:80]!r}"

    def _lines(self) -> Iterator[str]:
        first = True
        for line in self._bytes():
            yield line.decode("utf-8-sig" if first else "utf-8", "replace")
            first = False

    def _bytes(self) -> Iterator[bytes]:
        if self._path == "-":
            stream = getattr(sys.stdin, "buffer", sys.stdin)
            while line := self._waited(stream.readline):
                yield line
            return
        with open(self._path, "rb") as file:
            file.seek(self._skip)
            part = b""
            while True:
                part += file.readline()
                if part.endswith(b"\n") or (part and not self._forever):
                    yield part
                    part = b""
                elif not self._forever:
                    return
                else:
                    self._waited(lambda: time.sleep(PAUSE))

    def _waited(self, act: Callable[[], Any]) -> Any:
        self.waiting = True
        try:
            return act()
        finally:
            self.waiting = False
