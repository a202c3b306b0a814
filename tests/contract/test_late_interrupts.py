"""A late run that is stopped anywhere leaves what the loop leaves when it is stopped there."""

from __future__ import annotations

import numpy as np
import pytest

from contract.makers import MAKERS, column
from fullswap import Bank
from fullswap.kernels.columns import NEXT_ID
from fullswap.online import late
from safety.interrupts import Stop, length_of

ROWS = 60
FEW = ["binary, anytime", "3 classes, anytime", "recalibrator"]


def log_of(maker):
    rng = np.random.default_rng(3)
    log, known = maker.log(ROWS, 6), np.arange(1, ROWS + 1) + rng.integers(0, 12, ROWS)
    known[7] = 9**9
    return log, known


def up_to(forecaster, log, known, rows, learnt):
    """The loop of single events until so many rows were forecast and so many outcomes learnt."""
    order = np.argsort(known, kind="stable").tolist()
    for now in range(rows + 1):
        while learnt and order and known[order[0]] <= now:
            t = order.pop(0)
            forecaster.update(log.outcomes[t], t)
            learnt -= 1
        if now < rows:
            log.predict(forecaster, now)
    assert not learnt
    return forecaster


@pytest.mark.parametrize("name", FEW)
def test_a_late_run_that_is_stopped_leaves_what_the_loop_leaves(name, monkeypatch):
    monkeypatch.setattr(late, "STRETCH", 7)
    maker = MAKERS[name]
    log, known = log_of(maker)
    log.run(maker(), known=known)  # compiled, and all grids laid out
    length, seen = length_of(lambda: log.run(maker(), known=known)), set()
    for after in np.random.default_rng(4).integers(1, length, 60).tolist():
        forecaster = maker()
        Stop(after)(lambda: log.run(forecaster, known=known))  # noqa: B023
        rows, learnt = int(column(forecaster, NEXT_ID)), forecaster.rounds
        seen.add((rows, learnt))
        assert forecaster.to_json() == up_to(maker(), log, known, rows, learnt).to_json()
    assert len(seen) > 3


def test_a_late_run_of_a_bank_that_is_stopped_loses_no_forecast(monkeypatch):
    monkeypatch.setattr(late, "STRETCH", 7)
    maker = MAKERS["binary, anytime"]
    log, known = log_of(maker)
    keys = np.arange(ROWS) % 3

    def run(bank):
        bank.run(keys, log.outcomes, known=known)

    length = length_of(lambda: run(Bank(maker())))
    for after in np.random.default_rng(5).integers(1, length, 60).tolist():
        bank = Bank(maker())
        Stop(after)(lambda: run(bank))  # noqa: B023
        again = Bank.from_json(bank.to_json())
        assert again.to_json() == bank.to_json()
        for key in bank:
            made = int(column(bank[key], NEXT_ID))
            assert len(bank[key].pending) + bank[key].rounds == made
