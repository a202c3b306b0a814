"""The driver: a learner against an adversary, round by round, and what happened."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from fullswap.protocols import Loss, Mixture
from fullswap.sets import ConvexSetBase
from fullswap.transcripts import Transcript

PATIENCE = 2.0
"""Seconds after which a run shows a progress bar on a terminal."""
_ROUNDS_BETWEEN_LOOKS = 32


class Player(Protocol):
    """A learner as the driver sees it."""

    @property
    def action_set(self) -> ConvexSetBase:
        """Where it plays."""

    def play(self) -> Mixture:
        """The mixture of this round."""

    def observe(self, loss: Loss) -> None:
        """Learn from the loss of this round."""


class Opponent(Protocol):
    """An adversary as the driver sees it."""

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """The loss that answers this mixture; rounds count from 0."""


def simulate(
    learner: Player, adversary: Opponent, rounds: int, progress: bool | None = None
) -> Transcript:
    """Play ``rounds`` rounds: mixture, then a loss that may depend on it, then learning.

    Parameters
    ----------
    learner : anything with play(), observe(loss) and action_set. Where its mixtures carry labels
        and it has ``points``, these number the points; ``context`` goes into the transcript.
    adversary : anything with choose(mixture, round_index).
    progress : a bar on standard error: True, False, or None for runs that last longer than two
        seconds on a terminal. Needs ``rich``; without it there is none.

    Examples
    --------
    >>> from fullswap import FullSwapLearner, LossClass, adversaries, sets
    >>> line, squared = sets.Interval(0, 1), LossClass.squared(1.0)
    >>> learner = FullSwapLearner(line, squared, horizon=100)
    >>> len(simulate(learner, adversaries.OneBin(line, squared), 100))
    100
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 1:
        raise ValueError(f"rounds must be a whole number >= 1, got {rounds!r}")
    for name, thing, verbs in (
        ("learner", learner, ("play", "observe", "action_set")),
        ("adversary", adversary, ("choose",)),
    ):
        missing = [verb for verb in verbs if not hasattr(thing, verb)]
        if missing:
            raise ValueError(f"{name} must have {', '.join(verbs)}, got {thing!r}")
    if progress not in (None, True, False):
        raise ValueError(f"progress must be None, True or False, got {progress!r}")
    history: list[tuple[Mixture, Loss]] = []
    for t in _with_progress(int(rounds), progress):
        mixture = learner.play()
        loss = adversary.choose(mixture, t)
        # learners may reuse their arrays in the next round
        labels = None if mixture.labels is None else np.array(mixture.labels)
        played = Mixture(np.array(mixture.points), np.array(mixture.weights), labels)
        learner.observe(loss)
        history.append((played, loss))
    context: dict[str, Any] = getattr(learner, "context", {})
    points = getattr(learner, "points", None)
    if points is None or any(mixture.labels is None for mixture, _ in history):
        return Transcript.from_rounds(learner.action_set, history, **context)
    return Transcript.from_rows(
        learner.action_set,
        points,
        [mixture.labels for mixture, _ in history],
        [mixture.weights for mixture, _ in history],
        [loss for _, loss in history],
        **context,
    )


def _with_progress(rounds: int, progress: bool | None) -> Iterator[int]:
    """Count the rounds, with a bar if wanted, or once the run proves long enough for one."""
    bar = _open_bar(rounds) if progress else None
    wanted = progress is None and sys.stderr is not None and sys.stderr.isatty()
    started = time.monotonic()
    try:
        for t in range(rounds):
            if t % _ROUNDS_BETWEEN_LOOKS == 0:
                if bar is not None:
                    bar.update(bar.task_ids[0], completed=t)
                elif wanted and time.monotonic() - started > PATIENCE:
                    bar, wanted = _open_bar(rounds), False
            yield t
        if bar is not None:
            bar.update(bar.task_ids[0], completed=rounds)
    finally:
        if bar is not None:
            bar.stop()


def _open_bar(rounds: int) -> Any:
    """A started bar of the rich library, or None without it."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    bar = Progress(console=Console(stderr=True))
    bar.add_task("rounds", total=rounds)
    bar.start()
    return bar
