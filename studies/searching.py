"""A search for the adversary that comes nearest to a guarantee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fullswap.adversaries import kinds, meet
from fullswap.adversaries.catalogue import Learning
from fullswap.certificates import Certificate
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase
from studies.adversaries import ADVERSARIES


class CertifiedLearner(Learning, Protocol):
    """What the search needs of a learner."""

    def certificate(self) -> Certificate:
        """Measured beside guaranteed."""


@dataclass(frozen=True)
class SearchResult:
    """The worst run found; ``ADVERSARIES[adversary](set, class, **parameters)`` repeats it."""

    ratio: float
    """Measured / guaranteed of that run."""
    adversary: str
    parameters: dict[str, Any]
    """Its seed, kind and settings."""
    measured: float
    guaranteed: float


def search(
    make_learner: Callable[[], CertifiedLearner],
    action_set: ConvexSetBase,
    loss_class: LossClass,
    rounds: int,
    budget: int,
    seed: int = 0,
) -> SearchResult:
    """Look for the run with the largest measured / guaranteed, in ``budget`` runs.

    The first half meets each adversary with its defaults, in random order, then random ones with
    random settings; the second half climbs from the worst run so far, changing one setting, the
    seed or the kind of losses at a time.

    Examples
    --------
    >>> from fullswap import FullSwapLearner, sets
    >>> squared, line = LossClass.squared(1.0), sets.Interval(0, 1)
    >>> worst = search(lambda: FullSwapLearner(line, squared, 50), line, squared, 50, budget=4)
    >>> worst.measured == worst.ratio * worst.guaranteed, worst.ratio <= 1
    (True, True)
    """
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(list(ADVERSARIES))]
    allowed = kinds(loss_class)
    best: SearchResult | None = None
    for tried in range(1, budget + 1):
        if best is not None and tried > (budget + 1) // 2:
            name, parameters = best.adversary, _neighbour(best, allowed, rng)
        elif tried <= len(names):
            name, parameters = names[tried - 1], {"seed": 0, "kind": allowed[0]}
        else:
            name = names[int(rng.integers(len(names)))]
            parameters = _random(name, allowed, rng)
        adversary = ADVERSARIES[name](action_set, loss_class, **parameters)
        parameters = {**parameters, **adversary.settings}
        measured, guaranteed = _run(make_learner(), adversary, rounds)
        ratio = measured / guaranteed
        if best is None or ratio > best.ratio:
            best = SearchResult(ratio, name, parameters, measured, guaranteed)
    assert best is not None
    return best


def _run(learner: CertifiedLearner, adversary: Any, rounds: int) -> tuple[float, float]:
    meet(learner, adversary, rounds)
    certificate = learner.certificate()
    if certificate.guaranteed is None:
        raise ValueError(
            f"make_learner must promise the same loss_class as the search, got one whose promise "
            f"{adversary!r} broke: {'; '.join(certificate.broken)}"
        )
    return certificate.measured, certificate.guaranteed


def _random(name: str, allowed: tuple[str, ...], rng: np.random.Generator) -> dict[str, Any]:
    drawn = {key: parameter.draw(rng) for key, parameter in ADVERSARIES[name].parameters.items()}
    kind = allowed[int(rng.integers(len(allowed)))]
    return {"seed": int(rng.integers(2**31)), "kind": kind, **drawn}


def _neighbour(best: SearchResult, allowed: tuple[str, ...], rng: Any) -> dict[str, Any]:
    table = ADVERSARIES[best.adversary].parameters
    key = str(rng.choice([*table, "seed"] + ["kind"] * (len(allowed) > 1)))
    if key == "seed":
        value: Any = int(rng.integers(2**31))
    elif key == "kind":
        value = allowed[int(rng.integers(len(allowed)))]
    else:
        value = table[key].nudge(best.parameters[key], rng)
    return {**best.parameters, key: value}
