"""The greedy adversary, parameters, and what is refused."""

import math

import numpy as np
import pytest

from adversary_cases import _DISC, LINE, SETS, SQUARED, loss_classes, members
from fullswap.adversaries import (
    ADVERSARIES,
    Drift,
    Greedy,
    Losses,
    Midpoint,
    OneBin,
    Scripted,
    Switching,
    kinds,
)
from fullswap.base.protocols import Mixture
from fullswap.losses import LossClass, QuadraticFamily
from fullswap.metrics.regret import report
from fullswap.metrics.tally import Tally

# --- greedy -----------------------------------------------------------------------------------


def regret_after(rounds, action_set, loss, mixture):
    tally = Tally(action_set.ambient_dim)
    for played, met in [*rounds, (mixture, loss)]:
        tally.add(tally.indices_of(played.points), played.weights, met)
    return report(tally, action_set, None).value


@pytest.mark.parametrize("class_name", ["squared", "concave", "convex smooth", "linear"])
@pytest.mark.parametrize("set_name", [name for name in SETS if name != "functions"])
def test_greedy_takes_the_worst_of_its_pool(set_name, class_name):
    action_set = SETS[set_name]
    promised = loss_classes(action_set)[class_name]
    adversary = Greedy(action_set, promised, kind=kinds(promised)[-1])
    rng = np.random.default_rng(14)
    shared = members(action_set, 4, rng)[:4]
    rounds = []
    for t in range(12):
        chosen = rng.choice(4, size=2, replace=False)
        mixture = Mixture(shared[chosen], rng.dirichlet([1.0, 1.0]))
        offers = [regret_after(rounds, action_set, loss, mixture) for loss in adversary.pool]
        loss = adversary.choose(mixture, t)
        assert regret_after(rounds, action_set, loss, mixture) >= max(offers) - 1e-9
        rounds.append((mixture, loss))
    assert max(offers) > 0 and np.ptp(offers) > 0  # there was something to choose


@pytest.mark.parametrize("class_name", ["lipschitz", "smooth", "strongly convex"])
def test_greedy_with_functions_is_right_up_to_its_probes(class_name):
    action_set = SETS["interval"]
    promised = loss_classes(action_set)[class_name]
    adversary = Greedy(action_set, promised)
    assert not any(isinstance(loss, QuadraticFamily) for loss in adversary.pool)
    line = np.linspace(action_set.low, action_set.high, 2001)[:, None]
    rng = np.random.default_rng(15)
    shared = members(action_set, 4, rng)[:4]
    held = np.zeros((4, len(adversary.pool)))
    everywhere = np.array([loss.value(line) for loss in adversary.pool])
    here = np.array([loss.value(shared) for loss in adversary.pool]).T
    for t in range(12):
        weights = rng.dirichlet(np.ones(4))
        offers = []
        for j in range(len(adversary.pool)):
            after = held.copy()
            after[:, j] += weights
            offers.append(((after * here).sum(axis=1) - (after @ everywhere).min(axis=1)).sum())
        # the best of the probes is at most a spacing of 1/64 from the best of the line
        scores = adversary.scores(Mixture(shared, weights))
        slack = promised.lipschitz * action_set.diameter / 128 * (t + 1)
        assert (scores <= np.array(offers) + 1e-9).all()
        assert (scores >= np.array(offers) - slack).all()
        loss = adversary.choose(Mixture(shared, weights), t)
        chosen = next(j for j, known in enumerate(adversary.pool) if known is loss)
        assert offers[chosen] >= max(offers) - slack
        held[:, chosen] += weights


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ADVERSARIES)
def test_drawn_and_nudged_parameters_are_allowed(name):
    rng = np.random.default_rng(16)
    for key, parameter in ADVERSARIES[name].parameters.items():
        values = [parameter.default]
        for _ in range(50):
            values += [parameter.draw(rng), parameter.nudge(values[-1], rng)]
        assert [parameter.check(key, value) for value in values] == values
        assert len(set(values)) > 1


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "parameters", "message"),
    [
        (Midpoint, {"mesh": 0.0}, r"mesh must lie in \[0.001, 1\], got 0.0"),
        (Midpoint, {"mesh": math.nan}, "mesh must be a finite number, got nan"),
        (Midpoint, {"mesh": "fine"}, "mesh must be a finite number, got 'fine'"),
        (Midpoint, {"level": 2}, r"level must lie in \[0, 1\], got 2"),
        (Midpoint, {"speed": 1}, "of midpoint must be among: mesh, level, got 'speed'"),
        (Switching, {"length": 2.5}, "length must be a whole number, got 2.5"),
        (Switching, {"length": 0}, r"length must lie in \[1, .*, got 0"),
        (Switching, {"length": True}, "length must be a number, got True"),
        (Drift, {"path": "zigzag"}, "path must be .*'walk'.*, got 'zigzag'"),
        (Scripted, {"chances": ()}, r"chances must have shape .*, got \(0,\)"),
        (Scripted, {"chances": (0.5, 1.5)}, r"chances must lie in \[0, 1\], got 1.5"),
        (Scripted, {"chances": (0.5, math.nan)}, "chances must be finite, got nan"),
        (OneBin, {"seed": -1}, "seed must be a whole number >= 0, got -1"),
        (OneBin, {"seed": 1.5}, "seed must be a whole number >= 0, got 1.5"),
        (OneBin, {"kind": "linear"}, "kind must be 'auto' or 'quadratic', got 'linear'"),
    ],
)
def test_bad_parameters(made, parameters, message):
    with pytest.raises(ValueError, match=message):
        made(LINE, SQUARED, **parameters)


def test_bad_sets_classes_and_centres():
    with pytest.raises(ValueError, match="action_set must be a set"):
        Losses([0, 1], SQUARED)
    with pytest.raises(ValueError, match="loss_class must be a LossClass"):
        Losses(LINE, "squared")
    with pytest.raises(ValueError, match=r"center must have shape \(1,\), got \(2,\)"):
        Losses(LINE, SQUARED).towards([0.0, 1.0])
    with pytest.raises(ValueError, match="nan"):
        Losses(LINE, SQUARED).towards([math.nan])
    for direction in ([math.inf], [1.0, 2.0]):
        with pytest.raises(ValueError, match="direction must (be finite|have shape)"):
            Losses(LINE, SQUARED).along(direction)
    with pytest.raises(ValueError, match="lipschitz must .* 1.2 with strong_convexity 2"):
        Losses(SETS["ball"], LossClass(1.1, 2.0))
    with pytest.raises(ValueError, match="lipschitz must .* with strong_convexity 1"):
        Losses(SETS["functions"], LossClass(0.65 * _DISC.diameter, 1.0))


def test_descriptions_name_what_was_set():
    shown = repr(Midpoint(LINE, SQUARED, seed=4, mesh=0.2))
    assert shown == "Midpoint(kind='quadratic', seed=4, mesh=0.2, level=0.5)"
