"""A kind of forecaster as frozen plain data, shared by all of its streams."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fullswap.base import checks
from fullswap.online.lattices import MOST_POINTS, Lattice

KINDS = ("line", "experts", "groups", "classwise")
"""Yes-or-no events; with experts that know models' probabilities; the same in groups; several
classes, with models or without, class by class."""
FEEDBACK = ("realised", "distribution")
MOST_CLASSES = 1000
MOST_MODELS = 1000
MOST_GROUPS = 1000
MOST_LEVELS = 64
MOST_WEIGHT = 1e100
"""Times the number of events it is far from the largest float, and so are all guarantees."""

LATER = ("groups", "open_groups")
"""Fields that are left out of a stored spec where they are 0 or False. In order: specs are compared
as text."""


@dataclass(frozen=True)
class Spec:
    """What is the same for all streams of a kind.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    levels : tuple of Lattice
        The grids, coarse to fine, each contained in the next; one if it never changes.
    starts : tuple of float
        Mass of outcomes from which on each grid is in play; the first is 0.
    classes, models : int
        Classes of an outcome; models whose probabilities come with an event (0: none).
    feedback : str
        "realised": the drawn point learns; "distribution": every point by its share.
    max_weight : float
        Largest weight of an event; scales are weights divided by it.
    horizon : int or None
        Events for which the grid was chosen.
    steps : int or None
        Swaps are counted among multiples of 1/steps only.
    groups : int
        Room for groups in each of which forecasts are calibrated (0: everybody alone).
    open_groups : bool
        Whether groups come as they come; else as many as there is room for are named in advance.
    """

    kind: str
    levels: tuple[Lattice, ...]
    starts: tuple[float, ...] = (0.0,)
    classes: int = 2
    models: int = 0
    feedback: str = "realised"
    max_weight: float = 1.0
    horizon: int | None = None
    steps: int | None = None
    groups: int = 0
    open_groups: bool = False

    def __post_init__(self) -> None:
        """Check everything: specs come out of files too."""
        checks.one_of("kind", self.kind, KINDS)
        checks.one_of("feedback", self.feedback, FEEDBACK)
        if self.models and self.kind != "classwise" and not self.realised:
            checks.refuse("feedback", "be 'realised' where there are models", self.feedback)
        checks.number("max_weight", self.max_weight, above=0, most=MOST_WEIGHT)
        checks.horizon(self.horizon)
        classwise = self.kind == "classwise"
        checks.whole("classes", self.classes, *((3, MOST_CLASSES) if classwise else (2, 2)))
        grouped = self.kind == "groups"
        least = 1 if self.kind == "experts" else 0
        with_models = bool(least) or grouped or classwise
        checks.whole("models", self.models, least, MOST_MODELS if with_models else 0)
        checks.whole("groups", self.groups, int(grouped), MOST_GROUPS if grouped else 0)
        checks.flag("open_groups", self.open_groups)
        if self.open_groups and not grouped:
            checks.refuse("open_groups", "be False without groups", self.open_groups)
        if classwise and self.realised:
            checks.refuse("feedback", "be 'distribution' for kind 'classwise'", self.feedback)
        self._check_levels()
        self._check_steps()
        if len(self.levels) > 1 and (self.horizon is not None or classwise):
            rule = "be one for a known horizon, and for 'classwise'"
            checks.refuse("levels", rule, len(self.levels))

    def _check_steps(self) -> None:
        """Swaps among multiples of a step are measured, and bounded, on grids of such multiples."""
        if self.steps is not None:
            checks.whole("steps", self.steps, 1, MOST_POINTS)
            if self.kind != "line" or any(lattice.cells != self.steps for lattice in self.levels):
                checks.refuse("steps", "be the cells of grids on a line, or None", self.steps)

    def _check_levels(self) -> None:
        if not (isinstance(self.levels, tuple) and isinstance(self.starts, tuple)):
            checks.refuse("levels and starts", "be tuples", (self.levels, self.starts))
        if not 1 <= len(self.levels) <= MOST_LEVELS or len(self.levels) != len(self.starts):
            raise ValueError(
                f"levels and starts must be equally many, from 1 to {MOST_LEVELS}, got "
                f"{len(self.levels)} and {len(self.starts)}"
            )
        for lattice in self.levels:
            checks.instance("levels", lattice, Lattice, "grids")
            lattice.check()
            if (lattice.shape == "classes") != (self.kind == "classwise"):
                checks.refuse("levels", f"fit kind {self.kind!r}", lattice.shape)
            if lattice.size(self.classes) > MOST_POINTS:
                checks.refuse(
                    "step", f"give at most {MOST_POINTS} grid points", lattice.size(self.classes)
                )
        for coarse, fine in pairwise(self.levels):
            if not fine.refines(coarse) or fine.size(self.classes) <= coarse.size(self.classes):
                checks.refuse("levels", "each halve gaps of the one before", (coarse, fine))
        for start in self.starts:
            checks.number("starts", start, least=0)
        if self.starts[0] != 0 or any(a >= b for a, b in pairwise(self.starts)):
            checks.refuse("starts", "rise from 0", self.starts)

    @property
    def hears(self) -> bool:
        """Whether anything comes with an event before its outcome."""
        return self.models > 0 or self.groups > 0

    @property
    def realised(self) -> bool:
        """Whether the drawn point alone learns."""
        return self.feedback == "realised"

    def end(self, level: int) -> float:
        """Mass at which the next grid takes over."""
        return self.starts[level + 1] if level + 1 < len(self.starts) else math.inf

    def level_at(self, mass: float) -> int:
        """The grid in play at this mass."""
        level = 0
        while mass >= self.end(level):
            level += 1
        return level

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = {
            "kind": self.kind,
            "levels": [lattice.to_list() for lattice in self.levels],
            "starts": list(self.starts),
            "classes": self.classes,
            "models": self.models,
            "feedback": self.feedback,
            "max_weight": self.max_weight,
            "horizon": self.horizon,
            "steps": self.steps,
        }
        return plain | {name: getattr(self, name) for name in LATER if getattr(self, name)}

    @classmethod
    def from_dict(cls, stored: Any) -> Spec:
        """What ``to_dict`` gave, checked; ValueError for anything else."""
        if not isinstance(stored, dict):
            checks.refuse("spec", "be a mapping", stored)
        names = {name for name in cls.__dataclass_fields__}
        if not names - set(LATER) <= set(stored) <= names:
            checks.refuse(
                "spec", f"have exactly the fields {sorted(names)}", sorted(map(str, stored))
            )
        levels, starts = stored["levels"], stored["starts"]
        if not isinstance(levels, list) or not isinstance(starts, list):
            checks.refuse("levels and starts", "be lists", (levels, starts))
        if len(levels) > MOST_LEVELS:
            checks.refuse("levels", f"be at most {MOST_LEVELS}", len(levels))
        own = {**stored, "levels": tuple(Lattice.from_list(entry) for entry in levels)}
        own["starts"] = tuple(checks.number("starts", entry, least=0) for entry in starts)
        own["max_weight"] = checks.number("max_weight", stored["max_weight"], above=0)
        return cls(**own)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)
