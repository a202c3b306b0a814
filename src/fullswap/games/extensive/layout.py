"""The sequences of one player, checked and ordered by the number of own moves before them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Indices


@dataclass(frozen=True)
class Level:
    """Information sets with equally many own moves before them; none leads to another.

    Symbols: h information sets with k sequences in all. ``sets``, ``starts``, ``parents`` (h,);
    ``members``, ``owners`` (k,): sequences set by set, and the place of their set in the level.
    """

    sets: Indices
    starts: Indices
    parents: Indices
    members: Indices
    owners: Indices


def as_sequences(parents: ArrayLike, information_sets: ArrayLike) -> tuple[Indices, Indices]:
    """Both checked: perfect recall, parents before their children, sets numbered without gaps."""
    above = _from_minus_one("parents", parents)
    sets = _from_minus_one("information_sets", information_sets)
    checks.same_length("information_sets", sets, "parents", len(above))
    late = (above < 0) | (above >= np.arange(len(above)))
    late[0] = False  # the empty sequence extends none
    checks.refuse_at("parents", "come before their sequences", above, late)
    used, first = np.unique(sets[1:], return_index=True)
    if not np.array_equal(used, np.arange(len(used))):
        checks.refuse("information_sets", "be numbered 0, 1, 2, … without gaps", used.tolist())
    expected = np.append(-1, above[1:][first])[sets + 1]
    rule = "be the same in all of an information set (perfect recall)"
    checks.refuse_at("parents", rule, above, above != expected)
    return above, sets


def _from_minus_one(name: str, values: ArrayLike) -> Indices:
    """Whole numbers of shape (s,), of which the first, that of the empty sequence, is −1."""
    array = checks.numbers(name, values)
    if array.ndim != 1 or not array.size:
        checks.refuse_shape(name, "(s,) with s >= 1", array)
    if array.dtype.kind not in "iu" or array[0] != -1:
        checks.refuse(name, "be whole numbers, the first of them -1", array.tolist())
    return array.astype(np.int64)


def levels_of(parents: Indices, information_sets: Indices) -> list[Level]:
    """All information sets, those with fewer own moves before them first."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for k in range(1, len(parents)):
        depth[k] = depth[parents[k]] + 1
    order = np.lexsort((information_sets, depth))
    cuts = np.flatnonzero(np.diff(depth[order])) + 1
    levels = []
    for members in np.split(order, cuts)[1:]:
        sets, starts, owners = np.unique(
            information_sets[members], return_index=True, return_inverse=True
        )
        levels.append(Level(sets, starts, parents[members[starts]], members, owners.ravel()))
    return levels
