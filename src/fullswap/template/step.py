"""The step of the template, as readable as it gets. Slow; the fast rules are tested against it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fullswap.base.protocols import Learner, Loss, Points, Rounding, State, Vector


def reference_step(
    points: Points,
    learner: Learner[State],
    state: State,
    rounding: Rounding | None,
    loss_for: Callable[[Vector], Loss],
    rule: str = "stationary",
) -> tuple[State, Vector, Loss]:
    """One round: propose, round, mix, play, learn. [FKO25, Algorithm 1].

    [FKO25, Algorithm 2] is the same with distributions in place of points.
    ``loss_for`` maps the mixture x (n,) over ``points`` (n, A) to the loss that answers it.
    Without a rounding the learners propose distributions over the points themselves.
    """
    targets = learner.propose(state)
    if rule == "crossing":
        mixture = crossing_mixture(points[:, 0], targets[:, 0])
    else:
        transition = targets if rounding is None else rounding(targets).toarray(len(points))
        mixture = stationary_mixture(transition)
    loss = loss_for(mixture)
    return learner.update(state, loss, mixture), mixture, loss


def crossing_mixture(points: Vector, targets: Vector) -> Vector:
    """Neighbours i, i + 1 with q_i ≥ s_i and q_{i+1} ≤ s_{i+1}, mixed so that Σλq = Σλs."""
    mixture = np.zeros(len(points))
    if targets[0] < points[0] or len(points) == 1:
        mixture[0] = 1.0
    elif targets[-1] > points[-1]:
        mixture[-1] = 1.0
    else:
        i = int(((targets >= points)[:-1] & (targets <= points)[1:]).argmax())
        up, down = targets[i] - points[i], points[i + 1] - targets[i + 1]
        mixture[i] = down / (up + down) if up + down > 0 else 1.0
        mixture[i + 1] = 1 - mixture[i]
    return mixture


def stationary_mixture(transition: Points) -> Vector:
    """Some x ≥ 0 with Σx = 1 and xQ = x: least squares on xQ − x = 0, Σx = 1, over x ≥ 0."""
    from scipy.optimize import nnls

    n = len(transition)
    system = np.vstack((transition.T - np.eye(n), np.ones(n)))
    mixture = nnls(system, np.append(np.zeros(n), 1.0))[0]
    return np.asarray(mixture / mixture.sum())
