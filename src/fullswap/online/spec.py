"""A kind of forecaster as frozen plain data, shared by all of its streams."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fullswap.base import checks
from fullswap.online.lattices import MOST_POINTS, Lattice

KINDS = ("line", "chain", "simplex", "experts", "mesh")
"""Yes-or-no events by a crossing, by a stationary distribution; several classes; the same two with
experts that know models' probabilities."""
FEEDBACK = ("realised", "distribution")
MOST_CLASSES = 5
"""On a grid: more classes would need grids of more points than there are events."""
MOST_MODELS = 1000
MOST_LEVELS = 64


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
    loss : str
        "squared" or "log".
    max_weight : float
        Largest weight of an event; scales are weights divided by it.
    horizon : int or None
        Events for which the grid was chosen.
    steps : int or None
        Swaps are counted among multiples of 1/steps only.
    ratio : float or None
        τ of the schedule of [FKO25, Thm GDK]; None: running means.
    """

    kind: str
    levels: tuple[Lattice, ...]
    starts: tuple[float, ...] = (0.0,)
    classes: int = 2
    models: int = 0
    feedback: str = "realised"
    loss: str = "squared"
    max_weight: float = 1.0
    horizon: int | None = None
    steps: int | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        """Check everything: specs come out of files too."""
        checks.one_of("kind", self.kind, KINDS)
        checks.one_of("feedback", self.feedback, FEEDBACK)
        checks.one_of("loss", self.loss, ("squared", "log"))
        checks.number("max_weight", self.max_weight, above=0)
        checks.horizon(self.horizon)
        gridded = self.kind in ("simplex", "mesh")
        checks.whole("classes", self.classes, 2, MOST_CLASSES if gridded else 2)
        with_models = self.kind in ("experts", "mesh")
        least = 1 if with_models else 0
        checks.whole("models", self.models, least, MOST_MODELS if with_models else 0)
        if self.steps is not None:
            checks.whole("steps", self.steps, 1, MOST_POINTS)
        self._check_levels(gridded)
        if self.loss == "log" and self.kind != "line":
            checks.refuse("loss", f"be 'squared' for kind {self.kind!r}", self.loss)
        if self.ratio is not None:
            checks.number("ratio", self.ratio, above=1)
            if self.kind not in ("line", "chain") or self.loss == "log" or len(self.levels) > 1:
                checks.refuse("ratio", "be None but for one grid on a line", self.ratio)

    def _check_levels(self, gridded: bool) -> None:
        if not 1 <= len(self.levels) <= MOST_LEVELS or len(self.levels) != len(self.starts):
            raise ValueError(
                f"levels and starts must be equally many, from 1 to {MOST_LEVELS}, got "
                f"{len(self.levels)} and {len(self.starts)}"
            )
        shape = "simplex" if gridded else "sines" if self.loss == "log" else None
        for lattice in self.levels:
            wrong = lattice.shape != shape if shape else lattice.shape in ("simplex", "sines")
            if wrong:
                checks.refuse(
                    "levels", f"fit kind {self.kind!r}, loss {self.loss!r}", lattice.shape
                )
            if lattice.size(self.classes) > MOST_POINTS:
                checks.refuse(
                    "step", f"give at most {MOST_POINTS} grid points", lattice.size(self.classes)
                )
        sizes = [lattice.size(self.classes) for lattice in self.levels]
        if any(a >= b for a, b in zip(sizes, sizes[1:], strict=False)):
            checks.refuse("levels", "grow", sizes)
        for start in self.starts:
            checks.number("starts", start, least=0)
        if self.starts[0] != 0 or any(
            a >= b for a, b in zip(self.starts, self.starts[1:], strict=False)
        ):
            checks.refuse("starts", "rise from 0", self.starts)

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
        return {
            "kind": self.kind,
            "levels": [lattice.to_list() for lattice in self.levels],
            "starts": list(self.starts),
            "classes": self.classes,
            "models": self.models,
            "feedback": self.feedback,
            "loss": self.loss,
            "max_weight": self.max_weight,
            "horizon": self.horizon,
            "steps": self.steps,
            "ratio": self.ratio,
        }

    @classmethod
    def from_dict(cls, stored: Any) -> Spec:
        """What ``to_dict`` gave, checked; ValueError for anything else."""
        if not isinstance(stored, dict):
            checks.refuse("spec", "be a mapping", stored)
        names = {name for name in cls.__dataclass_fields__}
        if set(stored) != names:
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
