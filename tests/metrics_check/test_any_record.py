"""Every statistic of every record is a finite number in its range, without a warning."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fullswap.metrics import Cells, bins_of, chance_of, cox_of, curve_of, decompose, smallest_seen
from metrics_check.cases import yes_no


@given(yes_no(most=30), st.booleans(), st.sampled_from(["pointwise", "simultaneous"]))
def test_any_record(drawn, shared, band):
    y, p, w = drawn
    event = None
    if shared:
        event = np.arange(len(p)) // 2
        y = y[2 * event % len(y)]
    cells = Cells.of_events(y, p, w, event)
    bins = bins_of(cells)
    chance = chance_of(cells, bins, draws=30)
    assert 0 <= chance.median <= chance.high <= 1.5
    assert 1 / 31 <= chance.level <= 1
    curve = curve_of(cells, band=band, draws=30)
    assert np.all((0 <= curve.low) & (curve.low <= curve.forecast))
    assert np.all((curve.forecast <= curve.high) & (curve.high <= 1))
    assert 0 <= curve.chance <= 1
    stretch = curve.stretch
    if stretch is not None:
        assert 0 <= stretch.low <= stretch.says <= stretch.high <= 1
        assert 0 <= stretch.happens <= 1 and 0.01 <= stretch.share <= 1
    # p of 0 and 1 alone: nothing is left to chance
    if set(p[w > 0]) <= {0.0, 1.0}:
        assert chance.high == 0 and np.all(curve.high - curve.low <= 1e-7)
    assert 0 <= smallest_seen(cells) <= 1
    assert np.isfinite([cox_of(cells).bias, decompose(cells).score]).all()
