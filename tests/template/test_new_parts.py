"""A sub-learner, a row and a set of one's own: what a new part has to bring, and nothing else."""

import json
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import naive
from fullswap.adversaries import all_adversaries
from fullswap.grids import Choices, Grid, Levels, Nested, grid_of, line
from fullswap.grids.base import GridMaker
from fullswap.grids.net_grids import NetGrids
from fullswap.learners import SUB_LEARNERS, Hedge, SubLearner
from fullswap.losses import LossClass, Quadratic
from fullswap.play import simulate
from fullswap.rounding import Nearest
from fullswap.sets import Ball, Box, ConvexSetBase, Interval, Simplex
from fullswap.template import FullSwapLearner
from fullswap.template.choice import Plan, Row
from fullswap.template.plan import ROWS, plan
from fullswap.template.rules import Stationary
from fullswap.theorems import Geometry, Theorem
from fullswap.theorems.learning import anytime_hedge_cost
from fullswap.theorems.rows import Power

STEEP = LossClass(1.3)


# --- a sub-learner ------------------------------------------------------------------------------


class Doubtful(SubLearner):
    """Anytime weights on at most nine points: the toy has a name, a cost, a limit and a bank."""

    name = "doubtful"
    max_points = 9
    over_grid = True
    on_request = True

    def fits(self, row, loss_class):
        return not row.theorem.needs_convexity

    def theorem(self, theorem, horizon):
        return theorem.with_cost(anytime_hedge_cost, True, "FKO25, Thm 12; CBL06")

    def bank(self, setting, points):
        return Hedge(points, setting.constants.loss_range, None)


@pytest.mark.parametrize("horizon", [500, None])
@pytest.mark.parametrize("action_set", [Interval(-1, 0.7), Box([0.5, 1.0], [1.2, 3.0])], ids=str)
def test_a_sub_learner_of_ones_own_is_planned_and_keeps_its_bound(action_set, horizon):
    assert "doubtful" not in {known.name for known in SUB_LEARNERS}
    for adversary in list(all_adversaries(action_set, STEEP, 1, rounds=500))[::3]:
        learner = FullSwapLearner(action_set, STEEP, horizon, learner=Doubtful())
        assert learner.plan.learner == "doubtful" and "doubtful" in learner.explain()
        transcript = simulate(learner, adversary, 500, progress=False)
        assert len(learner.grid) <= 9
        assert naive.full_swap_regret(transcript, count=40) <= learner.guarantee
        certificate = learner.certificate()
        assert certificate.holds and certificate.theorem == "FKO25, Thm 12; CBL06"
    with pytest.raises(ValueError, match="mesh must be larger: .*9 with doubtful"):
        FullSwapLearner(action_set, STEEP, 500, learner=Doubtful(), mesh=0.01)


# --- a row --------------------------------------------------------------------------------------


def whole_loss(constants, geometry):
    return constants.lipschitz * geometry.covering_radius


def own_cost(constants, n, rounds):
    return anytime_hedge_cost(constants, n, rounds)


@dataclass(frozen=True)
class ThreePoints(Row):
    """Always three points of a line, whatever the losses."""

    theorem: Theorem = Theorem(
        "three points", "FKO25, Thm 12", "L-Lipschitz losses, d = 1",
        whole_loss, own_cost, Power(1, 1), restarts=True,
    )  # fmt: skip
    rounding: str | None = None

    def applies(self, request):
        return request.action_set.dim == 1

    def check(self, request, learner):
        pass

    def plan(self, request, learner):
        low, high = request.action_set.low, request.action_set.high
        coordinates = low + (high - low) * np.array([1, 3, 5]) / 6
        theorem = learner.theorem(self.theorem, request.horizon)
        return Plan(
            self, learner.name, "stationary", theorem, request.constants, request.action_set,
            request.horizon, Choices(request.action_set, (coordinates,)), sub_learner=learner,
        )  # fmt: skip

    def start(self, plan, grid):
        return ROWS[0].start(plan, grid)


@pytest.mark.parametrize("learner", ["hedge", Doubtful()])
def test_a_row_of_ones_own_is_planned_played_and_copied(learner):
    unit = Interval(-1, 0.7)
    chosen = FullSwapLearner(unit, STEEP, 200, row=ThreePoints(), learner=learner)
    assert chosen.row == "three points" and len(chosen.grid) == 3
    for adversary in list(all_adversaries(unit, STEEP, 2, rounds=200))[::4]:
        chosen = FullSwapLearner(unit, STEEP, 200, row=ThreePoints(), learner=learner)
        assert naive.full_swap_regret(simulate(chosen, adversary, 200)) <= chosen.guarantee
    chosen = FullSwapLearner(unit, STEEP, 200, row=ThreePoints(), learner=learner)
    again = pickle.loads(pickle.dumps(chosen))
    assert again.explain() == chosen.explain() and again.guarantee == chosen.guarantee


# --- a set --------------------------------------------------------------------------------------


class HexagonGrids(GridMaker):
    """Two nets and no more: what a set with grids of its own has to say."""

    longest_side = 2.0

    def __init__(self, action_set):
        self.rest = NetGrids(action_set)

    def at_mesh(self, kind, mesh):
        return self.grid(2.0 / mesh) if kind == "net" else self.rest.at_mesh(kind, mesh)

    def grid(self, cells):
        angles = np.arange(6) * math.pi / 3
        rim = np.column_stack((np.cos(angles), np.sin(angles)))
        points = rim if cells <= 1 else np.vstack((rim, np.zeros((1, 2))))
        return Grid(points, 2.0 / cells, 1.0 if cells <= 1 else 0.6, 0.2)

    def nested(self, kind, level):
        return self.rest.nested(kind, level)

    def geometry(self, kind, level, max_points):
        if kind != "net":
            return self.rest.geometry(kind, level, max_points)
        return self.grid(level).geometry if level <= 2 else None

    def nested_geometry(self, kind, level, max_points):
        return self.rest.nested_geometry(kind, level, max_points)


class RoundTable(ConvexSetBase):
    """The unit disc as a set of one's own: one file, its operations and its grids."""

    def __init__(self):
        self._store(dim=2, ambient_dim=2, diameter=2.0, center=np.zeros(2))

    vertices = None

    def _parameters(self):
        return {}

    def moved(self, scale=1.0, shift=0.0):
        return Ball(np.broadcast_to(shift, 2), scale)

    def _project(self, points):
        return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0)

    def _contains(self, points, slack):
        return np.linalg.norm(points, axis=1) - 1 <= slack

    def _minimize_linear(self, directions):
        return Ball([0.0, 0.0], 1.0).minimize_linear(directions)

    def _minimize_concave(self, curvature, slope):
        return self._minimize_linear(slope)

    def _grids(self):
        return HexagonGrids(self)


def test_a_set_of_ones_own_says_which_grids_it_has():
    table = RoundTable()
    learner = FullSwapLearner(table, STEEP, 300, row="lipschitz")
    assert len(learner.grid) == 7 and learner.plan.to_dict()["set"] == {"kind": "RoundTable"}
    for adversary in list(all_adversaries(table, STEEP, 3, rounds=300))[::4]:
        learner = FullSwapLearner(table, STEEP, 300, row="lipschitz")
        transcript = simulate(learner, adversary, 300, progress=False)
        assert naive.full_swap_regret(transcript, count=40) <= learner.guarantee
    smooth = FullSwapLearner(table, LossClass.squared(2.0), 300)
    smooth.observe(Quadratic([0.3, 0.1]))
    assert smooth.row == "strongly convex and smooth" and isinstance(smooth._rule, Stationary)


# --- plans as data ------------------------------------------------------------------------------

REQUESTS = {
    "line": (Interval(0, 3), LossClass.squared(3.0), {}),
    "actions": (Interval(0, 1), LossClass.squared(1.0), {"actions": np.linspace(0, 1, 9)}),
    "discretised": (
        Interval(0, 1),
        LossClass.squared(1.0),
        {"actions": np.linspace(0, 1, 9), "row": "discretised"},
    ),
    "box": (Box([0, 0], [1, 2]), STEEP, {"learner": "matching"}),
    "simplex": (Simplex(2), LossClass.squared(2**0.5), {}),
    "disc": (Ball([0.0, 0.0], 1.0), LossClass(1.0, concave=True), {}),
}


@pytest.mark.parametrize("horizon", [400, None])
@pytest.mark.parametrize("name", REQUESTS)
def test_plans_are_data(name, horizon, monkeypatch):
    action_set, promised, options = REQUESTS[name]
    chosen = plan(action_set, promised, horizon, **options)
    described = json.loads(json.dumps(chosen.to_dict()))
    assert described["row"] == chosen.row and described["learner"] == chosen.learner
    assert described["guaranteed"] == chosen.bound(horizon or 100_000)
    assert described["set"]["kind"] == type(chosen.action_set).__name__
    text = pickle.dumps(chosen)

    def never(*arguments, **more):
        raise AssertionError("a plan that is read is not made again")

    monkeypatch.setattr(Theorem, "tune", never)
    again = pickle.loads(text)
    assert again.to_dict() == chosen.to_dict() and again.explain() == chosen.explain()
    for rounds in (0, 1, 100, 3000):
        assert again.bound(rounds) == chosen.bound(rounds)
        assert np.array_equal(again.grid_at(rounds).points, chosen.grid_at(rounds).points)


def test_grids_are_asked_for_by_value_and_built_once():
    one, other = Box([0.0, 1.0], [1.0, 3.0]), Box([0.0, 1.0], [1.0, 3.0])
    assert one is not other and grid_of("net", one, 5) is grid_of("net", other, 5)
    family = Nested("net", Ball([0.0, 0.0], 1.0), 500)
    assert family.grid(2) is pickle.loads(pickle.dumps(family)).grid(2)
    assert Levels("net", one) == Levels("net", other)
    actions = Choices(Interval(0, 1), (np.array([0.0, 1.0]), np.array([0.0, 0.5, 1.0])))
    assert actions.geometry(1) == line(Interval(0, 1), [0.0, 0.5, 1.0]).geometry
    assert actions.geometry(2) is None and actions.grid(0) is actions.grid(0)
    assert isinstance(actions.geometry(0), Geometry) and Nearest(actions.grid(1))
