"""Net benefit and what could have been seen, against direct formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.metrics import Cells, smallest_seen
from fullswap.metrics.benefit import net_benefit, treat_all
from fullswap.metrics.seen import MIXTURE_COST
from metrics_check.cases import yes_no
from naive import statistics as slow

TIGHT = {"abs": 1e-12}


@given(yes_no(), st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.55, 0.99]), min_size=1))
def test_net_benefit_is_a_sum_over_rows(drawn, thresholds):
    y, p, w = drawn
    cells, t = Cells.of_events(y, p, w), np.array(thresholds)
    wanted = [slow.net_benefit(y, p, w, k) for k in thresholds]
    assert net_benefit(cells, t) == pytest.approx(wanted, **TIGHT)
    wanted = [slow.net_benefit(y, np.ones(len(p)), w, k) for k in thresholds]
    assert treat_all(cells, t) == pytest.approx(wanted, **TIGHT)


def test_the_smallest_error_that_could_be_seen():
    half = Cells.of_events(np.zeros(400), np.full(400, 0.5))
    seen = smallest_seen(half)
    z = seen / (0.5 / 20)
    assert z * z / 2 - 0.84 * z == pytest.approx(math.log(20) + MIXTURE_COST)
    four = Cells.of_events(np.zeros(1600), np.full(1600, 0.5))
    assert smallest_seen(four) == pytest.approx(seen / 2)
    assert smallest_seen(half, 1000) > seen
    weighted = Cells.of_events(np.zeros(400), np.full(400, 0.5), np.full(400, 7.0))
    assert smallest_seen(weighted) == pytest.approx(seen)
    shared = Cells.of_events(np.zeros(400), np.full(400, 0.5), event=np.arange(400) // 4)
    assert smallest_seen(shared) == pytest.approx(2 * seen)
    assert smallest_seen(Cells.of_events(np.ones(1), np.full(1, 0.5))) == 1
    assert smallest_seen(Cells.of_events(np.ones(3), np.ones(3))) == 0
    with pytest.raises(ValueError, match="threshold must be at least 1"):
        smallest_seen(half, 0.5)
