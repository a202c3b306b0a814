"""Jobs for workers in other processes, which import them from here."""

from __future__ import annotations

import os
import time
from pathlib import Path


def square(side: int, seed: int) -> list[dict]:
    if side < 0:
        raise RuntimeError("no such square")
    return [{"area": side**2, "process": os.getpid()}]


def noted(folder: str, side: int) -> list[dict]:
    """Leaves a file for every attempt; the first one at side 0 lasts until somebody ends it."""
    place = Path(folder)
    first = not list(place.glob(f"{side}.*"))
    (place / f"{side}.{os.getpid()}").touch()
    if side == 0 and first:
        time.sleep(60)
    return [{"area": side**2}]


def after(folder: str, fails: bool) -> list[dict]:
    """One that fails once another has begun, and one that goes on for a while after that."""
    begun = Path(folder) / "begun"
    if not fails:
        begun.touch()
        time.sleep(1.0)
        return [{"done": True}]
    while not begun.exists():
        time.sleep(0.01)
    raise RuntimeError("first")


def fatal(side: int) -> list[dict]:
    os._exit(1)


def surroundings() -> dict[str, str]:
    return dict(os.environ)
