"""The zoo in one line a game and one an argument, for the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

WORDS: dict[str, tuple[str, dict[str, str]]] = {
    "auction": (
        "first-price auction of two bidders who know only their own value",
        {
            "bids": "how many bids there are, or a list of them",
            "values": "how many values a thing may have, or a list of them",
            "chances": "a list of the probabilities of the values; null: equal",
        },
    ),
    "bayesian_cournot": (
        "two firms choose outputs, each knows only its own cost",
        {
            "outputs": "how many outputs there are, evenly spaced",
            "demand": "price when nothing is sold",
            "slope": "fall of the price for each unit sold",
            "costs": "list of costs a unit that a firm may have",
            "chances": "a list of the probabilities of the costs; null: equal",
        },
    ),
    "calibration_game": (
        "forecast an event: an equilibrium is a calibrated forecast",
        {"points": "how many forecasts there are; null: all from 0 to 1"},
    ),
    "chicken": ("dare or yield: two drivers head for each other", {}),
    "cournot": (
        "firms choose outputs, the price falls with what all of them sell",
        {
            "players": "how many firms",
            "demand": "price when nothing is sold",
            "slope": "fall of the price for each unit sold",
            "cost": "cost of a unit, or a list with one for each firm",
            "grid": "how many outputs there are, evenly spaced; null: all of them",
        },
    ),
    "kuhn_poker": ("poker with three cards and one bet", {}),
    "quadratic_2d": (
        "two players choose points of a disc, payoffs are quadratic",
        {
            "target": "the two points that the players like best",
            "coupling": "matrix by which the other's point moves that",
            "radius": "radius of the disc",
        },
    ),
    "ring": (
        "points on a circle that chase one another",
        {
            "n": "points of the first player",
            "others": "points of the second; null: as many",
            "shift": "angle by which each wants to be ahead",
        },
    ),
    "routing": (
        "players split their traffic over two links that slow down with the load",
        {
            "players": "how many",
            "traffic": "traffic of each",
            "delays": "delays of the two links when empty",
            "slopes": "growth of the delays with the load",
        },
    ),
    "shapley": ("three actions: a game in which simple learning goes round for ever", {}),
    "von_stengel_forges": ("a student sends a signal, a professor accepts or refuses", {}),
}
"""Name of a game ↦ what it is, and what its arguments are."""


class Argument(NamedTuple):
    """An argument of a game: name, default and what it means."""

    name: str
    default: Any
    about: str


def arguments(name: str, make: Callable[..., Any]) -> list[Argument]:
    """Arguments of the function that makes a game.

    Examples
    --------
    >>> from fullswap.games import zoo
    >>> [(a.name, a.default) for a in arguments("ring", zoo.ring)]
    [('n', 100), ('others', None), ('shift', 1.0)]
    """
    words = WORDS[name][1]
    found = inspect.signature(make).parameters.values()
    return [Argument(p.name, p.default, words[p.name]) for p in found]
