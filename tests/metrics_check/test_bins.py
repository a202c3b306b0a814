"""Bins: no row is lost, and errors against loops over rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.metrics import Cells, bins_of
from fullswap.metrics.bins import equal_mass
from metrics_check.cases import yes_no
from naive.statistics import error_of, quantile_bins


@given(yes_no(), st.one_of(st.just("cube_root"), st.integers(1, 30)))
def test_no_row_is_lost_and_equal_forecasts_share_a_bin(drawn, n_bins):
    y, p, w = drawn
    cells = Cells.of_events(y, p, w)
    for strategy in ("quantile", "uniform"):
        bins = bins_of(cells, n_bins, strategy)
        wanted = math.ceil(round(cells.rows ** (1 / 3), 9)) if n_bins == "cube_root" else n_bins
        assert 1 <= len(bins) <= wanted
        assert bins.count.sum() == np.count_nonzero(w) == cells.rows
        assert bins.weight.sum() == pytest.approx(w.sum())
        assert bins.weight @ bins.forecast == pytest.approx(w @ p)
        assert bins.weight @ bins.frequency == pytest.approx(w @ y)
        assert len(bins.place) == len(cells)
        assert set(np.diff(bins.place)) <= {0, 1} and bins.place[0] == 0
        parts = [list(cells.forecast[bins.place == g]) for g in range(len(bins))]
        assert bins.error == pytest.approx(error_of(y, p, w, parts), abs=1e-12)
        if strategy == "uniform":
            homes = [[min(int(q * wanted + 1e-12), wanted - 1) for q in part] for part in parts]
            assert all(len(set(home)) == 1 for home in homes)
            assert len({home[0] for home in homes}) == len(bins)


@given(yes_no(), st.integers(1, 12))
def test_bins_of_equal_mass_against_fractions(drawn, n_bins):
    y, p, w = drawn
    w = np.rint(4 * w) / 4  # fractions of a power of two: cuts fall where exact sums say
    cells = Cells.of_events(y, p, w) if w.any() else Cells.of_events(y, p)
    w = w if w.any() else np.ones(len(p))
    parts = quantile_bins(y, p, w, n_bins)
    place = bins_of(cells, n_bins).place
    ours = [list(cells.forecast[place == g]) for g in range(place[-1] + 1)]
    if n_bins in (1, 2, 4, 8):  # others may round
        assert ours == parts
    assert abs(len(ours) - len(parts)) <= 1
    np.testing.assert_array_equal(equal_mass(cells.weight, n_bins), place)


def test_bins_by_name_and_what_is_refused():
    rng = np.random.default_rng(0)
    cells = Cells.of_events(np.zeros(1000), rng.random(1000))
    assert len(bins_of(cells)) == 10  # the root of 1,000 is 10, not 11
    assert bins_of(cells).count.tolist() == [100] * 10
    assert len(bins_of(cells, 20, "uniform")) == 20
    with pytest.raises(ValueError, match="n_bins must be 'cube_root', got 'sqrt'"):
        bins_of(cells, "sqrt")
    with pytest.raises(ValueError, match="n_bins must be a whole number from 1"):
        bins_of(cells, 0)
    with pytest.raises(ValueError, match="strategy must be 'quantile' or 'uniform'"):
        bins_of(cells, 5, "mass")
