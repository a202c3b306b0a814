"""Objectives with bounds, coarse equilibria, and gaps in trees."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.base.progress import Progress
from fullswap.games import (
    columns,
    from_matrices,
    from_tensor,
    objectives,
    portfolio,
    read,
    solve,
    verify,
    zoo,
)
from fullswap.games.best_so_far import table_gap
from fullswap.games.coarse import by_play
from fullswap.games.lp import best_equilibrium, incentive_rows, optimise
from fullswap.games.profiles import Optimum
from fullswap.games.record import Record
from small_games import SMALL, as_table, random_game, ring, slow_gap, whole

OBJECTIVES = ("welfare", "fair", [1.0, -0.5])


def value_of(tables, joint, objective):
    paid = [float((joint * t).sum()) for t in tables]
    if isinstance(objective, str):
        return min(paid) if objective == "fair" else sum(paid)
    return float(np.dot(objective, paid))


def slow_coarse_gap(tables, joint):
    worst = 0.0
    for p, table in enumerate(tables):
        for b in range(table.shape[p]):
            always = np.moveaxis(table, p, 0)[b]
            worst = max(worst, float((joint * (np.expand_dims(always, p) - table)).sum()))
    return worst


@given(
    shape=st.sampled_from([(2, 3), (4, 3), (2, 2, 3)]), seed=st.integers(0, 999),
    which=st.sampled_from(["welfare", "fair", "weights"]),
)  # fmt: skip
def test_bounds_of_programmes_hold_for_every_equilibrium(shape, seed, which):
    rng = np.random.default_rng(seed)
    tables = list(rng.integers(-3, 4, (len(shape), *shape)) * 1.0)
    objective = rng.standard_normal(len(shape)) if which == "weights" else which
    programme = optimise(tables, objective)
    assert programme.bound == pytest.approx(programme.value, abs=1e-6)
    assert value_of(tables, programme.joint, objective) == pytest.approx(programme.value, abs=1e-9)
    for weights in rng.standard_normal((3, len(shape))):
        other = best_equilibrium(tables, weights)
        assert value_of(tables, other, objective) <= programme.bound + 1e-6


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("shape", [(12, 9), (3, 4, 5)])
@pytest.mark.parametrize("all_columns", [0, 10**6])
def test_growing_programmes_agree_with_one(objective, shape, all_columns, monkeypatch):
    monkeypatch.setattr(objectives, "ONE_PROGRAMME", 0)
    monkeypatch.setattr(objectives, "_FAIR_PROGRAMME", 0)
    monkeypatch.setattr(columns, "_ALL_COLUMNS", all_columns)
    monkeypatch.setattr(columns, "_ADDED", 20)
    if not isinstance(objective, str):
        objective = [*objective, 0.3][: len(shape)]
    tables = np.random.default_rng(5).standard_normal((len(shape), *shape))
    best = optimise(list(tables), objective if isinstance(objective, str) else np.array(objective))
    found = solve(from_tensor(tables), 1e-7, objective=objective)
    assert found.reached and found.optimum.proved
    assert found.optimum.value == pytest.approx(best.value, abs=1e-5)
    assert found.optimum.bound >= best.value - 1e-9


def test_a_run_without_time_says_how_far_it_may_be_from_the_best(monkeypatch):
    monkeypatch.setattr(objectives, "ONE_PROGRAMME", 0)
    monkeypatch.setattr(columns, "_STEPS", 2)
    game = random_game((30, 28), 6)
    found = solve(game, 0.01, objective=[1.0, -1.0])
    best = optimise(whole(game), np.array([1.0, -1.0]))
    assert found.reached and not found.optimum.proved
    assert found.optimum.value <= best.value + 0.03 and found.optimum.bound >= best.value - 1e-9
    assert "not proved best: no equilibrium has more than" in str(found)


def test_objectives_of_a_continuum_have_no_bound():
    found = solve(zoo.cournot(2), objective="fair")
    assert found.reached and found.optimum.bound is None and not found.optimum.proved
    assert found.optimum.value == pytest.approx(found.payoffs.min()) and "no bound" in str(found)
    with pytest.raises(ValueError, match="objective must be 'welfare', 'fair' or weights"):
        solve(zoo.cournot(2), objective="entropy")


def test_no_objective_no_optimum():
    assert solve(ring(300), 1e-3).optimum is None
    assert str(Optimum("welfare", 3.0, 3.0)) == "welfare 3 (proved best)"
    assert not Optimum("welfare", 3.0, 3.1).proved and not Optimum("fair", 3.0, None).proved


@pytest.mark.parametrize("name", SMALL)
def test_no_equilibrium_has_more_entropy(name):
    game = SMALL[name]
    tables = whole(game)
    found = solve(game, 1e-4, objective="entropy")
    assert found.reached and slow_gap(tables, as_table(game, found)) <= 1e-4
    weights = found.weights
    assert found.optimum.value == pytest.approx(-(weights * np.log(weights)).sum(), abs=1e-6)
    rng = np.random.default_rng(0)
    corners = [best_equilibrium(tables, w) for w in rng.standard_normal((4, len(tables)))]
    for shares in rng.dirichlet(np.ones(4), 10):
        other = sum(s * c for s, c in zip(shares, corners, strict=True))
        played = other[other > 0]
        assert -(played * np.log(played)).sum() <= found.optimum.bound + 1e-6


def test_entropy_of_a_game_that_allows_everything():
    found = solve(SMALL["constant"], 1e-3, objective="entropy")
    assert found.optimum.value == pytest.approx(np.log(6)) and found.optimum.proved


def test_memory_is_known_before_it_is_taken():
    with pytest.raises(ValueError, match="entries of a programme"):
        solve(random_game((300, 300)), objective="entropy")
    rng = np.random.default_rng(1)
    found = solve(from_matrices(*rng.random((2, 300, 300))), 1e-3, objective="welfare")
    assert found.reached and found.optimum.bound is not None


@given(shape=st.sampled_from([(2, 3), (3, 2, 2), (5, 4)]), seed=st.integers(0, 500))
def test_coarse_programmes(shape, seed):
    tables = list(np.random.default_rng(seed).standard_normal((len(shape), *shape)))
    coarse = optimise(tables, "welfare", notion="coarse")
    assert slow_coarse_gap(tables, coarse.joint) <= 1e-7
    assert coarse.value >= optimise(tables, "welfare").value - 1e-7  # fewer deviations to deter
    assert incentive_rows(tables, "coarse").shape[0] == sum(shape)
    for notion, slow in (("coarse", slow_coarse_gap), ("correlated", slow_gap)):
        joint = np.random.default_rng(seed).dirichlet(np.ones(coarse.joint.size)).reshape(shape)
        assert table_gap(tables, joint, notion) == pytest.approx(slow(tables, joint))


@pytest.mark.parametrize("shape", [(3, 3), (25, 30), (9, 8, 7), (2,) * 10])
def test_coarse_equilibria(shape):
    game = random_game(shape, 11)
    found = solve(game, 1e-3, notion="coarse")
    assert found.reached and found.coarse_gap <= 1e-3 and found.notion == "coarse"
    assert slow_coarse_gap(whole(game), as_table(game, found)) <= 1e-3 + 1e-9
    assert "coarse" in str(found)


def test_coarse_play_takes_up_new_actions():
    for game in (ring(2_000), zoo.cournot(3), random_game((12, 11, 10), 2)):
        record = Record(game, 1e-3, None, Progress(100, False), "coarse")
        steps = by_play(game, record, np.random.default_rng(0), 20_000)
        portfolio.run([portfolio.Member("play", steps)], record)
        assert record.done() and record.best().coarse_gap <= 1e-3


def test_a_notion_is_one_of_two():
    with pytest.raises(ValueError, match="notion must be 'correlated' or 'coarse'"):
        solve(SMALL["2x3"], notion="Nash")


SIGNALS = """EFG 2 R "signals" { "student" "professor" } ""
c "" 1 "type" { "good" 1/2 "bad" 1/2 } 0
p "" 1 1 "good" { "X" "Y" } 0
p "" 2 1 "saw X" { "l" "r" } 0
t "" 1 "" { 4 10 }
t "" 2 "" { 0 6 }
p "" 2 2 "saw Y" { "l" "r" } 0
t "" 3 "" { 4 10 }
t "" 4 "" { 0 6 }
p "" 1 2 "bad" { "X" "Y" } 0
p "" 2 1 "saw X" { "l" "r" } 0
t "" 5 "" { 6 0 }
t "" 6 "" { 0 6 }
p "" 2 2 "saw Y" { "l" "r" } 0
t "" 7 "" { 6 0 }
t "" 8 "" { 0 6 }
"""


def signals(tmp_path):
    file = tmp_path / "signals.efg"
    file.write_text(SIGNALS)
    return read(file)


def test_the_known_equilibrium_of_a_tree_is_none_of_its_strategies(tmp_path):
    """Von Stengel and Forges: told move by move the student can be paid 3.5, told at once 0."""
    game = signals(tmp_path)
    # the good student's signal is X or Y at random, the bad one's independent of it; the
    # professor accepts the good one's
    student, professor = game.actions

    def numbered(actions, *words):
        (number,) = [k for k in range(4) if all(w in actions.describe(k) for w in words)]
        return number

    support = [
        [
            numbered(student, f"{good} at good", f"{bad} at bad"),
            numbered(professor, f"l at saw {good}", f"r at saw {'YX'['XY'.index(good)]}"),
        ]
        for good in "XY"
        for bad in "XY"
    ]
    profile = verify(game, (np.array(support), np.full(4, 0.25)))
    assert profile.payoffs == pytest.approx([3.5, 6.5])
    assert profile.tree_gap == pytest.approx(0, abs=1e-12) and profile.gap > 0.5


@given(seed=st.integers(0, 10_000))
def test_gaps_of_a_tree_are_in_order(seed):
    rng = np.random.default_rng(seed)
    game = zoo.kuhn_poker()
    rows = np.column_stack([rng.integers(s.size, size=5) for s in game.actions])
    profile = verify(game, (rows, rng.dirichlet(np.ones(5))))
    assert profile.coarse_gap <= profile.tree_gap + 1e-12
    assert profile.tree_gap <= profile.gap + 1e-12


def test_only_trees_have_a_gap_of_trees():
    assert solve(SMALL["2x3"]).tree_gap is None
    found = solve(zoo.kuhn_poker(), 1e-6)
    assert found.tree_gap <= 1e-6 and found.to_dict()["tree_gap"] == found.tree_gap


@pytest.mark.parametrize("objective", ["welfare", "fair", [1.0, -1.0]])
def test_nothing_is_proved_of_payoffs_that_are_only_approximated(objective):
    first, second = np.random.default_rng(1).normal(size=(2, 6, 6))
    rough = from_matrices(first, second, rank=3)
    found = solve(rough, gap=3 * max(rough.errors), objective=objective)
    assert found.optimum.bound is None and not found.optimum.proved


def test_entropy_is_not_lost_for_a_small_gap():
    """The dual leaves a gap; the nearest equilibrium has nearly the same entropy."""
    rng = np.random.default_rng(0)
    for shape in ((5, 5), (8, 8), (4, 2, 2)):
        game = from_tensor(rng.normal(size=(len(shape), *shape)))
        rough, fine = (solve(game, gap=gap, objective="entropy").optimum for gap in (1e-3, 1e-8))
        assert fine.value <= rough.bound + 1e-6
        assert fine.value >= 0.9 * fine.bound - 0.05


def test_an_interrupt_before_the_first_step_returns_a_profile(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    game = from_tensor(np.random.default_rng(0).normal(size=(2, 30, 30)))
    monkeypatch.setattr(sys.modules["fullswap.games.run"], "initial_actions", stopped)
    found = solve(game, method="oracle")
    assert not found.reached and found.gap > 0


def test_what_an_earlier_result_was_asked_for_is_forgotten():
    game = zoo.chicken()
    fair = solve(game, 1e-6, objective="fair")
    assert solve(game, 1e-3, start=fair).optimum is None
    coarse = solve(game, 1e-3, start=fair, notion="coarse")
    assert coarse.notion == "coarse" and coarse.reached


def test_the_best_equilibrium_is_sought_from_an_earlier_one(monkeypatch):
    game = random_game((30, 20), 1)
    earlier = solve(game, 1e-6)
    monkeypatch.setattr(portfolio, "members_of", None)  # nobody looks for another one
    best = solve(game, 1e-6, objective="welfare", start=earlier)
    assert best.reached and best.optimum.value >= earlier.payoffs.sum() - 1e-9


def test_an_interrupt_before_an_objective_ends_all(monkeypatch):
    def members(*_):
        def steps():
            yield 1.0
            raise KeyboardInterrupt

        return [portfolio.Member("stopped", steps())]

    monkeypatch.setattr(portfolio, "members_of", members)
    monkeypatch.setattr(objectives, "optimise", None)
    assert not solve(random_game((30, 30), 1), 1e-9, objective="welfare").reached


@pytest.mark.parametrize(
    ("objective", "method"),
    [("welfare", "lp"), ("fair", "lp"), ("entropy", "entropy")],
)
def test_results_say_what_found_them(objective, method):
    assert solve(zoo.chicken(), 1e-4, objective=objective).method == method


def test_coarse_play_counts_the_rounds_that_it_plays():
    game = random_game((60, 50), 3)
    record = Record(game, 1e-9, None, Progress(100, False), "coarse")
    for _ in by_play(game, record, np.random.default_rng(0), 5):
        pass
    assert record.rounds == 5
