"""Names of players, actions and information sets, no two of them alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Names that occur again get a number behind them, which makes none of them another's.

    Gambit tells actions of one name apart in the same way.

    Examples
    --------
    >>> told_apart(["up", "down", "up"])
    ('up_1', 'down', 'up_2')
    """
    if len(set(names)) == len(names):
        return tuple(names)
    counts = Counter(names)
    numbers = dict.fromkeys(counts, 0)
    apart = []
    for name in names:
        if counts[name] == 1:
            apart.append(name)
            continue
        numbers[name] += 1
        while f"{name}_{numbers[name]}" in counts:
            numbers[name] += 1
        counts[f"{name}_{numbers[name]}"] = 1
        apart.append(f"{name}_{numbers[name]}")
    return tuple(apart)


def in_words(name: Any) -> str:
    """A name as it stands in a table: numbers to six figures, several parts in brackets."""
    if isinstance(name, list | tuple):
        return "(" + ", ".join(map(in_words, name)) + ")"
    return f"{name:.6g}" if isinstance(name, float) else str(name)
