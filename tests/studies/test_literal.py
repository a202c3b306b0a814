"""The paper's own learning rates: the study plays them, and the errata say what it found."""

import numpy as np
import pytest

from docs.blocks import ROOT
from studies import literal


def slow_ratio(gap, rounds):
    """Algorithm 5 on [0, 1], losses (x − z)² linearised, z always far from x; from x = 0."""
    alpha, lipschitz, x, mass, largest = 2.0, 2.0, 0.0, 0.0, 0.0
    c = 2**0.5 * gap / lipschitz
    grid = [k * gap for k in range(round(1 / gap) + 1)]
    played, centres = [], []
    for _ in range(rounds):
        played.append(x)
        centres.append(1.0 if x < 0.5 else 0.0)
        loss = [(s - centres[-1]) ** 2 for s in grid]
        cell = max(k for k in range(len(grid) - 1) if grid[k] <= x)
        mass += 1
        rate = 2 / (alpha * mass) if mass < (2 / (alpha * c)) ** 2 else c / mass**0.5
        x = min(1.0, max(0.0, x - rate * (loss[cell + 1] - loss[cell]) / gap))
        paid = sum(
            float(np.interp(p, grid, [(s - z) ** 2 for s in grid]))
            for p, z in zip(played, centres, strict=True)
        )
        regret = paid - min(sum((s - z) ** 2 for z in centres) for s in grid)
        bound = 2 * 2**0.5 * gap * lipschitz * mass**0.5
        largest = max(largest, regret / (bound + lipschitz**2 / alpha * (np.log(mass + 1) + 1)))
    return largest


@pytest.mark.parametrize("gap", literal.GAPS)
def test_the_study_plays_what_is_printed(gap, monkeypatch):
    monkeypatch.setattr(literal, "SEEDS", 1)
    monkeypatch.setattr(literal, "ROUNDS", 40)
    monkeypatch.setattr(literal, "_runs", lambda dim, rng: np.full((1, dim), -0.5))

    def away(x, mean, t, rng):
        return np.where(x < 0, 1.0, -1.0)

    rng = np.random.default_rng(0)
    found = literal._nearly_strongly_convex_run(gap, 0.0, away, literal.SCALES[0], rng)
    assert found == pytest.approx(slow_ratio(gap, 40))


def test_the_errata_print_what_the_study_finds(capsys):
    assert literal.main([]) == 0
    page = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    for line in capsys.readouterr().out.splitlines():
        assert line in page
