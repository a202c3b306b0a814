"""The driver: a learner against an adversary, round by round, and what happened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from fullswap.adversaries.catalogue import Learning
from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.base.protocols import Loss, Mixture
from fullswap.base.records import Record
from fullswap.sets import ConvexSetBase
from fullswap.template.batch import as_rows

_ROUNDS_BETWEEN_LOOKS = 32  # the bar costs less than a hundredth of a round


class Player(Learning, Protocol):
    """A learner as the driver sees it."""

    @property
    def action_set(self) -> ConvexSetBase:
        """Where it plays."""


class Opponent(Protocol):
    """An adversary as the driver sees it."""

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """The loss that answers this mixture; rounds count from 0."""


def simulate(
    learner: Player, adversary: Opponent, rounds: int, progress: bool | None = None
) -> Record:
    """Play ``rounds`` rounds: mixture, then a loss that may depend on it, then learning.

    ``learner`` is anything with play(), observe(loss) and action_set. Where its mixtures carry
    indices and it has ``points``, these number the points; ``context`` goes into the record.
    ``adversary`` is anything with choose(mixture, round_index). ``progress`` is a bar on standard
    error, drawn by ``rich``: True, False, or None for runs of more than two seconds on a terminal.

    Examples
    --------
    >>> from fullswap import FullSwapLearner, LossClass, adversaries, sets
    >>> line, squared = sets.Interval(0, 1), LossClass.squared(1.0)
    >>> learner = FullSwapLearner(line, squared, horizon=100)
    >>> len(simulate(learner, adversaries.OneBin(line, squared), 100))
    100
    """
    rounds = checks.whole("rounds", rounds, 1)
    if not all(hasattr(learner, verb) for verb in ("play", "observe", "action_set")):
        checks.refuse("learner", "have play, observe, action_set", learner)
    if not hasattr(adversary, "choose"):
        checks.refuse("adversary", "have choose", adversary)
    history: list[tuple[Mixture, Loss]] = []
    with Progress(rounds, progress) as bar:
        for t in range(rounds):
            if t % _ROUNDS_BETWEEN_LOOKS == 0:
                bar.update(t)
            mixture = learner.play()
            loss = adversary.choose(mixture, t)
            # learners may reuse their arrays in the next round
            numbers = None if mixture.indices is None else np.array(mixture.indices)
            played = Mixture(np.array(mixture.points), np.array(mixture.weights), numbers)
            learner.observe(loss)
            history.append((played, loss))
        bar.update(rounds)
    context: dict[str, Any] = getattr(learner, "context", {})
    points = getattr(learner, "points", None)
    losses = [loss for _, loss in history]
    if points is None or any(mixture.indices is None for mixture, _ in history):
        record = Record.of_rounds(learner.action_set, history, **context)
    else:
        indices: list[Any] = [mixture.indices for mixture, _ in history]
        weights = [mixture.weights for mixture, _ in history]
        record = Record.of_rows(
            points, indices, weights, action_set=learner.action_set, losses=losses, **context
        )
    rows = as_rows(losses, learner.action_set.ambient_dim + 2)
    return record if rows is None else replace(record, losses=rows)
