"""Sums by forecast against dictionaries of fractions, and cells of streams against exact ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.metrics import Cells, CellTally, bins_of, decompose
from metrics_check.cases import logistic, yes_no
from naive.statistics import sums_by_forecast

FIELDS = ("forecast", "weight", "yes", "count", "squares")


def table(cells):
    return np.array([getattr(cells, name) for name in FIELDS])


@given(yes_no(), st.booleans())
def test_cells_are_sums_by_forecast(drawn, plain):
    y, p, w = drawn
    w = np.ones(len(p)) if plain else w
    cells = Cells.of_events(y, p, None if plain else w)
    slow = sums_by_forecast(y, p, w)
    wanted = [(q, float(a), float(b), c, float(d)) for q, (a, b, c, d) in slow.items()]
    np.testing.assert_allclose(table(cells).T, wanted, rtol=1e-12, atol=0)
    assert list(cells.forecast) == list(slow)  # not moved by a bit
    assert cells.rows == np.count_nonzero(w)
    np.testing.assert_allclose(cells.trials, cells.weight**2 / cells.squares)


def test_soft_outcomes_negative_zeros_and_tiny_forecasts_stay_apart():
    p = np.array([-0.0, 0.0, 5e-324, 1e-300, 1 - 2**-53, 1.0])
    cells = Cells.of_events(np.array([0.0, 1, 1, 0, 0, 1]), p)
    np.testing.assert_array_equal(cells.forecast, p[1:])
    np.testing.assert_array_equal(cells.yes, [1, 1, 0, 0, 1])
    assert not np.signbit(cells.forecast).any()
    soft = Cells.of_events(np.array([0.25, 0.5, 1.0]), np.array([0.3, 0.3, 0.1]))
    np.testing.assert_array_equal(soft.yes, [1.0, 0.75])


@given(yes_no(most=120), st.integers(1, 60), st.booleans())
def test_folding_keeps_sums_and_order(drawn, most, fine_ends):
    y, p, w = drawn
    event = np.arange(len(p)) // 3
    cells = Cells.of_events(y, p, w, event)
    folded = cells.folded(most, fine_ends)
    assert len(folded) <= most or len(folded) == len(cells)
    assert np.all(np.diff(folded.forecast) > 0)
    for name in FIELDS[1:]:
        assert getattr(folded, name).sum() == pytest.approx(getattr(cells, name).sum())
    assert folded.weight @ folded.forecast == pytest.approx(cells.weight @ cells.forecast)
    for part in (cells, folded):
        if part.shared is not None:
            residuals = np.bincount(part.shared.cell, part.shared.residual, len(part))
            if part is cells:
                wanted = part.yes - part.weight * part.forecast
                np.testing.assert_allclose(residuals, wanted, atol=1e-12)
            assert residuals.sum() == pytest.approx(w @ (y - p), abs=1e-9)


def test_no_rows_are_refused():
    for weight in (None, np.zeros(0)):
        with pytest.raises(ValueError, match="at least one row of positive weight"):
            Cells.of_events(np.zeros(0), np.zeros(0), weight)
    with pytest.raises(ValueError, match="at least one row of positive weight"):
        Cells.of_events(np.zeros(2), np.ones(2), np.zeros(2))


def test_events_that_share_outcomes():
    y, p = np.array([1.0, 1, 0, 0, 0]), np.array([0.5, 0.7, 0.2, 0.1, 0.5])
    for codes in ([0, 0, 1, 1, 2], [-7, -7, 10**15, 10**15, 3]):
        cells = Cells.of_events(y, p, event=np.array(codes))
        assert cells.events == 3 and cells.rows == 5
        wanted = (0.5 + 0.3) ** 2 + (0.2 + 0.1) ** 2 + 0.5**2
        assert cells.shared_variance == pytest.approx(wanted)
        independent = (p * (1 - p)).sum()
        assert cells.inflation == pytest.approx(wanted / independent)
    alone = Cells.of_events(y, p, event=np.arange(5))
    assert alone.shared is None and alone.events == 5 and alone.inflation == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_a_tally_is_close_to_exact_cells(weighted):
    y, p = logistic(100_000, 3, slope=0.8)
    p[:40], p[40:60] = 0.0, 1.0
    w = np.random.default_rng(4).exponential(size=len(p)) if weighted else None
    exact, tally = Cells.of_events(y, p, w), CellTally()
    for part in np.array_split(np.arange(len(p)), 7):
        tally.add(y[part], p[part], None if w is None else w[part])
    cells = tally.cells()
    assert len(cells) < 3000 and np.all(np.diff(cells.forecast) > 0)
    assert cells.forecast[0] == 0 and cells.forecast[-1] == 1
    assert cells.count[0] == 40 and cells.count[-1] == 20
    assert cells.rows == len(p) and cells.total == pytest.approx(exact.total)
    # a cell at the edge of two bins goes to one of them
    assert bins_of(cells).error == pytest.approx(bins_of(exact).error, abs=2e-4)
    near, true = decompose(cells), decompose(exact)
    assert near.miscalibration == pytest.approx(true.miscalibration, abs=1e-4)
    assert near.score == pytest.approx(true.score, abs=1e-5)


@given(yes_no(most=60), st.integers(0, 2**32))
def test_tallies_merge_in_any_order(drawn, seed):
    y, p, w = drawn
    rng = np.random.default_rng(seed)
    at_once = CellTally()
    at_once.add(y, p, w)
    parts = [CellTally() for _ in range(3)]
    for part, rows in zip(parts, np.array_split(rng.permutation(len(p)), 3), strict=True):
        part.add(y[rows], p[rows], w[rows])
    joined = CellTally()
    for part in rng.permutation(3):
        joined.merge(parts[part])
    np.testing.assert_allclose(table(joined.cells()), table(at_once.cells()), rtol=1e-12)
    # forecasts that stand alone in their cell are kept to the bit
    tied = Cells.of_events(y, p, w)
    if len(tied) == len(joined):
        np.testing.assert_array_equal(joined.cells().forecast, tied.forecast)


def test_a_tally_forgets_nothing_and_refuses_other_widths():
    with pytest.raises(ValueError, match="at least one row"):
        CellTally().cells()
    with pytest.raises(ValueError, match="other must have cells of width 0.005, got 0.01"):
        CellTally().merge(CellTally(0.01))
    tally = CellTally()
    tally.add(np.zeros(4), np.array([1e-300, 1e-200, 0.0, 1 - 2**-53]))
    assert tally.cells().count.tolist() == [1, 2, 1]
