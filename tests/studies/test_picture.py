"""The first picture: made from data that a package brings, the same each time, and told truly."""

from pathlib import Path

import numpy as np
import pytest

from fullswap.demo.weather import read_rain
from studies import picture
from studies.__main__ import main
from studies.report.page import svg

ROOT = Path(__file__).parents[2]


def test_the_same_bytes_each_time(tmp_path, capsys):
    path = tmp_path / "new" / "picture.svg"
    assert main(["picture", "--out", str(path)]) == 0
    assert path.read_bytes() == svg(picture.draw)
    assert capsys.readouterr().out.strip() == str(path)
    assert "opacity: 0" in path.read_text()  # of what is behind: pages are light or dark


def test_dots_are_means_over_tenths():
    said = np.repeat([0.30, 0.38, 0.7, 1.0], [10, 10, 9, 20])
    rained = np.repeat([0.0, 1.0, 1.0, 1.0], [10, 10, 9, 20])
    means, rates, days = picture.dots(said, rained)
    assert means == pytest.approx([0.34, 1.0])  # nine days are too few to be shown
    assert rates.tolist() == [0.5, 1.0] and days.tolist() == [20.0, 20.0]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_caption_says_what_is_shown(page):
    rain = read_rain()
    means, rates, days = picture.dots(rain.said, rain.happened)
    most = int(days.argmax())
    words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"{100 * means[most]:.0f} %, it rained on {100 * rates[most]:.0f} %" in words
    assert f"on {len(rain.said):,} days" in words
