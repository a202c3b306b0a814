"""The comparison of solvers: rivals find equilibria, and gaps are those of ``verify``."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games import solve, verify
from studies import rivals, solvers
from studies.posed import all_pay, blotto, posed, traveller


@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)), seed=st.integers(0, 999),
    high=st.sampled_from([2, 9]),
)  # fmt: skip
def test_the_textbook_s_lemke_howson(shape, seed, high):
    first, second = np.random.default_rng(seed).integers(0, high, (2, *shape)) * 1.0
    found = rivals.lemke_howson(first, second, 5.0)
    assert found.joint.sum() == pytest.approx(1)
    assert rivals.matrix_gap(first, second, found.joint) <= 1e-9


@pytest.mark.parametrize("tables", [all_pay(30), blotto(4, 3), traveller(20)])
def test_rivals_agree_on_hard_games(tables):
    for run in (rivals.linear_programme, rivals.lemke_howson):
        assert rivals.matrix_gap(*tables, run(*tables, 20.0).joint) <= 1e-6


def test_gambit_where_it_is_installed():
    tables = np.random.default_rng(0).random((2, 12, 9))
    found = rivals.gambit_lcp(*tables, 20.0)
    if found.note == "not installed":
        pytest.skip("needs pygambit")
    assert rivals.matrix_gap(*tables, found.joint) <= 1e-9
    assert found.seconds > 0


def test_rivals_that_know_no_gap_are_exact():
    game = next(iter(posed(quick=True)))
    small = replace(game, matrices=tuple(t[:5, :5] for t in game.matrices))
    told = [
        solvers._told(small, run) for runs in solvers.exact_runs(small).values() for run in runs
    ]
    assert [gap <= 1e-6 for gap, _ in told][:3] == [True, True, True]
    assert not solvers.exact_runs(replace(game, matrices=None))


def test_games_too_large_are_not_tried():
    large = np.zeros((6_000, 6_000))
    assert rivals.lemke_howson(large, large, 1.0).note == "too large"
    assert rivals.linear_programme(large, large, 1.0).note == "too large"


def test_gaps_by_other_code_agree_with_verify():
    for game in posed(quick=True):
        rng = np.random.default_rng(0)
        found = solve(game.game, 0.01 * game.scale)
        assert game.gap(found.support, found.weights) == pytest.approx(
            found.gap, abs=1e-9 * game.scale
        )
        sizes = [s.size for s in game.game.actions]
        if None in sizes:
            support = rng.random((6, len(sizes)))
        else:
            support = np.column_stack([rng.integers(k, size=6) for k in sizes])
        weights = rng.dirichlet(np.ones(6))
        expected = verify(game.game, (support, weights)).gap
        assert game.gap(support, weights) == pytest.approx(expected, rel=1e-9)


def test_a_line_says_what_is_late():
    line = solvers.Line("chess", [0.5, None], ["pure", "pure"], [0.0, 0.1], {"LP": [0.1, None]})
    assert line.late(0) and not line.late(1) and line.unreached
    assert "no method: chess." in solvers.as_table([line])
    line.others["Lemke–Howson"] = [0.2, 3.0]
    assert line.late(1) and not line.unreached
    shown = solvers.as_table([line])
    assert "| chess | 0.5 / – | pure | 0.1 / – | 0.2 / 3 | 0 |" in shown
    assert "chess (at 0.001); chess (at 1e-06). The smaller gap" in shown
    assert shown.endswith("was reached by no method: none.")
