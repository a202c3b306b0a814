"""Detectors of change on the same streams: their situations, and the page of the comparison."""

from __future__ import annotations

import math

import numpy as np
import pytest
from whole import DOCS

from studies import detection
from studies.__main__ import main


def beyond(y, p, tilt=1.0):
    """Mean residual in standard errors, each residual weighted by its ``tilt``."""
    return float((tilt * (y - p)).sum() / math.sqrt((tilt**2 * p * (1 - p)).sum()))


def test_forecasts_stay_right_when_only_inputs_shift():
    y, p = detection.inputs_shift(40_000, 20_000, np.random.default_rng(0))
    for half in (slice(0, 20_000), slice(20_000, None)):
        assert abs(beyond(y[half], p[half])) < 4
    scores = detection.brier(y, p)
    assert scores[20_000:].mean() > 1.2 * scores[:20_000].mean()  # and yet it looks worse


@pytest.mark.parametrize("situation", ["shift", "slope"])
def test_changes_begin_where_they_should(situation):
    y, p = detection.SITUATIONS[situation](40_000, 20_000, np.random.default_rng(1))
    tilt = 1 - 2 * p if situation == "slope" else np.ones(len(p))
    assert abs(beyond(y[:20_000], p[:20_000], tilt[:20_000])) < 4
    assert beyond(y[20_000:], p[20_000:], tilt[20_000:]) > 12


def test_alarms_come_in_order():
    y, p = detection.SITUATIONS["shift"](2_500, 300, np.random.default_rng(2))
    for name, alarms in detection.detectors().items():
        at = alarms(y, p)
        assert at == sorted(set(at)) and all(0 <= t < 2_500 for t in at), name


def test_what_rivers_detectors_watch():
    y, p = np.array([1.0, 0.0, 1.0]), np.array([0.7, 0.6, 0.2])
    assert detection.residual(y, p) == pytest.approx([0.3, -0.6, 0.8])
    assert detection.brier(y, p) == pytest.approx([0.09, 0.36, 0.64])
    assert detection.failed(y, p).tolist() == [0, 1, 1]


def test_the_command_fills_the_page_of_the_documentation(tmp_path, capsys):
    own = tmp_path / "page.md"
    own.write_text((DOCS / "detection.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["detection", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and "2 runs; detectors of river" in once and "nan" not in once
    assert once.count("| Monitor(100,000) |") == 1 and "inf |" not in once
    assert (
        (tmp_path / "detection.csv")
        .read_text(encoding="utf-8")
        .startswith("situation,detector,runs,")
    )
    assert main(asked) == 0 and own.read_text(encoding="utf-8") == once
    assert "'situation': 'slope'" in capsys.readouterr().err
