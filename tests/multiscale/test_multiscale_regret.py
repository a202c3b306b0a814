"""Multi-scale binning: regret and guarantees, and what is refused."""

import numpy as np
import pytest

import naive
from fullswap import FullSwapLearner, losses, sets, simulate
from fullswap.adversaries import ADVERSARIES, all_adversaries
from fullswap.learners.multiscale import MOST_CELLS, MultiScale, default_cells
from fullswap.losses import LossClass
from fullswap.template.convex import MultiScaleRule
from fullswap.theorems import CITATIONS, LEDGER, THEOREMS, Constants
from fullswap.theorems.multiscale import CONVEX, Binned, multiscale_cost, multiscale_rates
from multiscale_cases import CONVEX_LOSSES, UNIT, convex_learner

# --- regret ---------------------------------------------------------------------------------


def test_regret_is_below_that_of_the_general_row_where_that_row_is_weak():
    rounds = 1000
    for name in ("boundary", "early_stop"):
        found = []
        for row in ("convex", "lipschitz"):
            learner = FullSwapLearner(UNIT, CONVEX_LOSSES, rounds, row=row)
            simulate(learner, ADVERSARIES[name](UNIT, CONVEX_LOSSES), rounds, progress=False)
            found.append(learner.certificate().measured)
        assert found[0] < 0.6 * found[1]


def bin_regrets(rounds, name, **options):
    """The learner, and of each bin: mass, and regret of its share of the play, by a fine grid."""
    learner = convex_learner(horizon=rounds, **options)
    adversary = ADVERSARIES[name](UNIT, CONVEX_LOSSES, seed=3)
    binning = learner._rule.binning
    grid = np.linspace(0, 1, 8 * binning.cells + 1)[:, None]
    lost, mass = np.zeros((len(binning.scales), len(grid))), np.zeros(len(binning.scales))
    for t in range(rounds):
        loss = adversary.choose(learner.play(), t)
        lost += binning.shares[:, None] * loss.value(grid)
        mass += binning.shares
        learner.observe(loss)
    own = lost[np.arange(len(lost)), 8 * binning.places]
    return learner, mass, own - lost.min(axis=1)


@pytest.mark.parametrize("name", ["midpoint", "greedy", "convex_lipschitz", "one_bin"])
@pytest.mark.parametrize("options", [{}, {"mesh": 1 / 8}, {"rule": "all scales", "mesh": 1 / 16}])
def test_every_step_of_the_proof_holds_in_every_bin(name, options):
    learner, mass, regret = bin_regrets(300, name, **options)
    binning = learner._rule.binning
    gamma, r, b = 1 / binning.cells, binning.scales / binning.cells, binning.places / binning.cells
    total, squares = np.moveaxis(binning.state, 2, 0)
    # rewards are bounded, and no promise fails by more than the potential allows
    assert (squares[:, :2] <= ((0.5 + gamma / (4 * r)) ** 2 * mass)[:, None] + 1e-9).all()
    assert (squares[:, 2:] <= ((0.5 + gamma / (2 * r)) ** 2 * mass)[:, None] + 1e-9).all()
    logarithm = np.log(4 * len(r) * len(binning.rates)) + 1e-6
    for rate in binning.rates:
        assert (total <= logarithm / rate + rate * squares + 1e-9).all()
    # what a bin loses to a point on its right, or on its left
    sides = [
        4 * r * np.maximum(total[:, near], 0)
        + np.maximum(room - 2 * r, 0) * np.maximum(2 * total[:, far] - mass * gamma / (2 * r), 0)
        for near, far, room in ((3, 0, 1 - b), (2, 1, b))
    ]
    assert (regret <= 2 * gamma * mass + np.maximum(*sides) + 1e-6).all()
    assert regret.sum() <= multiscale_cost(
        Constants(1.0, 1.0), binning.cells + 1, 300, len(binning.rates)
    )
    # points gather the bins at one place, so the full swap regret is at most their sum
    assert learner.certificate().measured <= regret.sum() + 300 * gamma / 8


@pytest.mark.theorem("convex")
@pytest.mark.parametrize("low, side, slope", [(0.0, 1.0, 1.0), (-1.0, 1.7, 1.3)])
def test_guarantees_hold_against_every_adversary(low, side, slope):
    line, promised = sets.Interval(low, low + side), LossClass(slope, convex=True)
    for adversary in all_adversaries(line, promised, 5, rounds=400):
        learner = convex_learner(line, promised, 400, mesh=side / 8)
        transcript = simulate(learner, adversary, 400, progress=False)
        certificate = learner.certificate()
        measured = naive.full_swap_regret(transcript)
        assert certificate.holds and certificate.theorem == "HSW26"
        assert measured <= learner.guarantee <= slope * side * 400
        premises = Binned(learner.plan.constants, learner.grid.geometry, 400, multiscale_rates(400))
        assert learner.guarantee == LEDGER["convex"].bound(premises)
        assert certificate.measured <= certificate.after_the_fact <= certificate.guaranteed
        assert certificate.after_the_fact < 400 * slope * side / 2


def test_guarantee_grows_like_the_root_of_the_horizon_up_to_logarithms():
    unit = Constants(1.0, 1.0)

    def best(rounds):
        rates = multiscale_rates(rounds)
        return min(multiscale_cost(unit, 2**k + 1, rounds, rates) for k in range(1, 10))

    assert best(10_000) < 5_000 and best(100_000) < 20_000
    assert best(1_000_000) / best(10_000) < 20
    assert CONVEX.exponent(1) == 0.5 and CONVEX.citation in CITATIONS and "convex" not in THEOREMS


def test_row_is_never_chosen_by_default():
    learner = FullSwapLearner(UNIT, CONVEX_LOSSES, 1000)
    assert learner.row == "lipschitz" and "convex" not in dict(
        (row, bound) for row, _, bound in learner.plan.considered
    )
    text = convex_learner(horizon=1000).explain()
    assert "row: convex" in text and "[HSW26]" in text and "not for the bound" in text


@pytest.mark.parametrize("name", ["midpoint", "convex_lipschitz"])
def test_published_algorithm_by_highs_finds_games_of_the_same_value_in_every_round(name):
    learner = convex_learner(horizon=60, rule="highs")
    adversary = ADVERSARIES[name](UNIT, CONVEX_LOSSES, seed=2)
    fast = MultiScale(learner._rule.binning.cells, 60, coarsest_first=False)
    for t in range(60):
        loss = adversary.choose(learner.play(), t)
        binning = learner._rule.binning
        fast.logs[:], fast._solved = binning.logs, False
        fast.mix()
        assert fast.value == pytest.approx(binning.value, abs=1e-7)
        assert binning.value <= 1e-7 and binning.finest == 1 / binning.cells
        learner.observe(loss)
    assert learner.certificate().holds


def test_rule_serves_the_template():
    rule = MultiScaleRule(np.linspace(0, 2, 9)[:, None], 1.0, 100, "coarsest")
    indices, weights = rule.mix()
    lost = rule.learn(losses.Linear([1.0]), indices, weights)
    np.testing.assert_allclose(lost, rule.points[indices, 0])
    assert rule.residual == 0.0 and rule.points.shape == (9, 1)
    with pytest.raises(NotImplementedError, match="horizon"):
        rule.carried_into(rule)


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, named",
    [
        ({"action_set": sets.Box([0, 0], [1, 1])}, "action_set"),
        ({"promised": LossClass(1.0)}, "loss_class"),
        ({"horizon": None}, "horizon"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2.5}, "horizon"),
        ({"mesh": 0.0}, "mesh"),
        ({"mesh": 1 / 1024}, "mesh"),
        ({"mesh": 1.5}, "mesh"),
        ({"mesh": float("nan")}, "mesh"),
        ({"mesh": "small"}, "mesh"),
        ({"rule": "crossing"}, "rule"),
        ({"learner": "hedge"}, "learner"),
        ({"actions": [0.0, 0.5, 1.0]}, "actions"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        convex_learner(**arguments)


def test_rules_of_this_row_are_refused_by_others():
    with pytest.raises(ValueError, match="rule"):
        FullSwapLearner(UNIT, CONVEX_LOSSES, 100, rule="coarsest")


def test_solver_must_be_known_and_fit():
    for solver, coarsest_first in (("glpk", False), ("highs", True)):
        with pytest.raises(ValueError, match="solver"):
            MultiScale(8, 100, coarsest_first, solver)


def test_a_game_that_cannot_be_won_is_an_error(monkeypatch):
    binning = MultiScale(8, 100, coarsest_first=False, solver="highs")
    monkeypatch.setattr(
        "fullswap.learners.multiscale.solve_by_highs", lambda game: (binning.shares, 0.1)
    )
    with pytest.raises(RuntimeError, match="value 0.1"):
        binning.mix()


@pytest.mark.parametrize("cells", [1, 3, 2 * MOST_CELLS, 8.0, True])
def test_cells_must_be_a_power_of_two(cells):
    with pytest.raises(ValueError, match="cells"):
        MultiScale(cells, 10)


@pytest.mark.parametrize(
    "loss",
    [
        "loss",
        losses.Linear([1.0, 0.0]),
        losses.Custom(lambda x: np.full(len(x), np.nan)),
        losses.Custom(lambda x: x[:, 0], lambda x: np.full_like(x, np.inf)),
    ],
)
def test_bad_losses_change_nothing(loss):
    learner = convex_learner(horizon=10)
    before = learner.play()
    with pytest.raises(ValueError, match="loss"):
        learner.observe(loss)
    assert learner.rounds == 0 and not learner._rule.binning.state.any()
    np.testing.assert_array_equal(learner.play().weights, before.weights)


@pytest.mark.parametrize("law", [[0, 0.5], [0, 0.6, 0.5], [0, np.nan, 1], [0, 0.5, 1.5]])
def test_bad_laws_change_nothing(law):
    binning = MultiScale(2, 10)
    for arguments in ((law, [0, 0.5, 1]), ([0, 0.5, 1], law)):
        with pytest.raises(ValueError, match="below|up_to"):
            binning.learn(*arguments)
    assert not binning.state.any()


def test_default_mesh_falls_like_one_over_the_root_of_the_horizon():
    assert convex_learner(horizon=1000).mesh == 1 / 64
    assert convex_learner(horizon=1000, mesh=0.1).mesh == 1 / 16  # at most what was asked for
    assert convex_learner(sets.Interval(-1, 3), horizon=1000, mesh=4.0).mesh == 2.0
    assert default_cells(10**9) == MOST_CELLS
    assert [default_cells(4**k // 2) for k in range(3, 9)] == [2**k for k in range(4, 10)]
