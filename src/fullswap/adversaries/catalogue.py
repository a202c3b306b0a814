"""All adversaries of the package, and what a run needs of a learner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from fullswap.adversaries import outcomes
from fullswap.adversaries.base import Adversary
from fullswap.adversaries.greedy import Greedy
from fullswap.adversaries.parameters import Choice
from fullswap.base.protocols import Loss, Mixture
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase

ADVERSARIES: dict[str, type[Adversary]] = {
    kind.name: kind
    for kind in (
        outcomes.Midpoint, Greedy, outcomes.Drift, outcomes.Switching, outcomes.EarlyStop,
        outcomes.SignPreservation, outcomes.OneBin, outcomes.Boundary, outcomes.Scripted,
    )
}  # fmt: skip
"""Name ↦ class."""


def all_adversaries(
    action_set: ConvexSetBase,
    loss_class: LossClass,
    seed: int = 0,
    *,
    kind: str = "auto",
    rounds: int | None = None,
) -> Iterator[Adversary]:
    """One of each; those that come in several styles take turns with the seed.

    ``rounds`` stretches whatever is periodic over the run.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> len(list(all_adversaries(Interval(0, 1), LossClass.squared(1.0))))
    9
    """
    return one_of_each(ADVERSARIES, action_set, loss_class, seed, kind=kind, rounds=rounds)


def one_of_each(
    adversaries: Mapping[str, type[Adversary]],
    action_set: ConvexSetBase,
    loss_class: LossClass,
    seed: int,
    *,
    kind: str,
    rounds: int | None,
) -> Iterator[Adversary]:
    """``all_adversaries`` of another list."""
    for adversary in adversaries.values():
        settings: dict[str, Any] = {
            name: parameter.options[seed % len(parameter.options)]
            for name, parameter in adversary.parameters.items()
            if isinstance(parameter, Choice)
        }
        if rounds is not None and "period" in adversary.parameters:
            settings["period"] = max(rounds, 2)
        yield adversary(action_set, loss_class, seed, kind=kind, **settings)


class Learning(Protocol):
    """What a run needs of a learner."""

    def play(self) -> Mixture:
        """The mixture of this round."""

    def observe(self, loss: Loss) -> None:
        """Learn from the loss."""


def meet(learner: Learning, adversary: Any, rounds: int) -> None:
    """All rounds of a run of which nothing is kept but what the learner knows.

    ``fullswap.play.simulate`` plays the same and gives the record.
    """
    for t in range(rounds):
        learner.observe(adversary.choose(learner.play(), t))
