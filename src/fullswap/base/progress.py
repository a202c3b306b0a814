"""The one progress bar: on standard error, drawn by ``rich``, and never in the way."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Any

from fullswap.base import checks

PATIENCE = 1.0
"""Seconds after which long work shows a bar on a terminal."""
BETWEEN_DRAWINGS = 0.1
"""Seconds from one drawing of the bar to the next."""


class Progress:
    """A bar on standard error: True, False, or None for work that proves long on a terminal.

    Needs ``rich``; without it there is none. A standard error that breaks ends the bar, not the
    work: nothing that the bar does reaches another stream or raises.
    """

    def __init__(self, total: int, wanted: bool | None, what: str = "rounds") -> None:
        wanted = checks.flag("progress", wanted)
        self._total, self._what = total, what
        self._bar: Any = self._open() if wanted else None
        self._may_open = wanted is None and sys.stderr is not None and sys.stderr.isatty()
        self._started = self._drawn = time.monotonic()

    def update(self, done: int, what: str | None = None) -> None:
        """Say how much is done, and of what if that has changed."""
        if self._bar is not None:
            now = time.monotonic()
            if now - self._drawn > BETWEEN_DRAWINGS or done >= self._total:
                self._drawn = now
                fields = {"completed": done, "description": what, "refresh": True}
                self._try(lambda bar: bar.update(bar.task_ids[0], **fields))
        elif self._may_open and time.monotonic() - self._started > PATIENCE:
            self._bar, self._may_open = self._open(), False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._try(lambda bar: bar.stop())

    def _try(self, act: Any) -> None:
        try:
            act(self._bar)
        except (OSError, ValueError):  # closed, full, or gone
            bar, self._bar = self._bar, None
            with suppress(OSError, ValueError):
                bar.live.auto_refresh = False

    def _open(self) -> Any:
        """A started bar, or None without ``rich`` or without a standard error to write to."""
        try:
            from rich.console import Console
            from rich.progress import Progress as Bar
        except ImportError:
            return None
        if sys.stderr is None:
            return None

        class Quiet(Console):
            """rich would point file descriptor 1 at the null device; a broken bar just ends."""

            def on_broken_pipe(self) -> None:
                raise OSError("standard error is gone")

        # a refresh thread would meet the broken stream where nobody catches what it raises
        bar = Bar(console=Quiet(stderr=True), auto_refresh=False)
        try:
            bar.add_task(self._what, total=self._total)
            bar.start()
        except (OSError, ValueError):
            return None
        return bar
