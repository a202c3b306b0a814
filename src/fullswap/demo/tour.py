"""What the demonstration does, step by step, and what comes of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fullswap.base.extras import is_installed
from fullswap.base.files import write_text
from fullswap.base.protocols import Vector
from fullswap.certificates import Certificate
from fullswap.checking.answer import Check
from fullswap.checking.making import check
from fullswap.checking.monitor import Monitor
from fullswap.checking.monitor_alarm import Alarm
from fullswap.demo.weather import EXTRA, Rain, read_rain
from fullswap.forecasting import Forecaster, Recalibrator
from fullswap.games import CorrelatedEquilibrium, solve, zoo

STEP = 0.1
"""Chances of rain are published in multiples of 10 %."""
TEN_YEARS = 3650
"""Days in which a monitor may ring once by mistake, on average."""
ROUNDS = 5_000
"""Forecasts that the adversary sees."""
BIDS, VALUES, GAP = 16, 4, 0.001
"""Of the auction: bids, values, and the gap asked for."""
TITLE = "Rain in Seattle: a model, before and after"


class Tour:
    """Every step is worked out when it is asked for, and once.

    Without the extra that brings data and report, an ImportError says what to install.
    """

    def __init__(self, seed: int = 0) -> None:
        if not all(is_installed(module) for module in ("vega_datasets", "matplotlib", "jinja2")):
            raise ImportError(EXTRA)
        self.seed = seed
        self.rain: Rain = read_rain()

    # --- the weather ------------------------------------------------------------------------------

    @cached_property
    def before(self) -> Check:
        """The model's own probabilities, checked."""
        return _check(self.rain, self.rain.said, None)

    @cached_property
    def _recalibrator(self) -> tuple[Vector, Certificate]:
        recalibrator = Recalibrator(step=STEP, seed=self.seed)
        record = recalibrator.run(self.rain.said, self.rain.happened)
        assert record is not None
        return np.asarray(record.issued), recalibrator.certificate()

    @property
    def issued(self) -> Vector:
        """The recalibrated probabilities, in multiples of 10 %."""
        return self._recalibrator[0]

    @property
    def certificate(self) -> Certificate:
        """What was guaranteed for them, and what was measured."""
        return self._recalibrator[1]

    @cached_property
    def after(self) -> Check:
        """The recalibrated probabilities, checked."""
        return _check(self.rain, self.issued, STEP)

    @cached_property
    def alarm(self) -> Alarm | None:
        """The first of a monitor over the model's own probabilities."""
        return _watch(self.rain.happened, self.rain.said, None)

    @cached_property
    def alarm_after(self) -> Alarm | None:
        """The same over the recalibrated ones."""
        return _watch(self.rain.happened, self.issued, STEP)

    def day(self, alarm: Alarm) -> str:
        """The day on which it rang."""
        return str(self.rain.days[alarm.at - 1])

    # --- the opponent and the game ----------------------------------------------------------------

    @cached_property
    def frequency(self) -> float:
        """How far off the opponent brings somebody who says the frequency so far: a share."""
        ones, error = 0, 0.0
        for t in range(ROUNDS):
            said = (ones + 0.5) / (t + 1)
            happened = said < 0.5
            ones += happened
            error += (said - happened) ** 2  # above and below ½ the same thing happens every time
        return float(np.sqrt(error / ROUNDS))

    @cached_property
    def adversary(self) -> Certificate:
        """Against somebody who sees the whole distribution and lets the unlikelier thing happen."""
        forecaster = Forecaster(ROUNDS, feedback="distribution", seed=self.seed)
        for _ in range(ROUNDS):
            forecaster.update(float(forecaster.predict().mean < 0.5))
        return forecaster.certificate()

    @cached_property
    def equilibrium(self) -> CorrelatedEquilibrium:
        """Of an auction in which a plan says what to bid for every value."""
        return solve(zoo.auction(BIDS, VALUES), GAP, seed=self.seed, progress=False)

    # --- all of it --------------------------------------------------------------------------------

    @property
    def holds(self) -> bool:
        """Whether all that was guaranteed came true, and the gap was reached."""
        return bool(self.certificate.holds and self.adversary.holds and self.equilibrium.reached)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; errors are shares."""
        rain, game = self.rain, self.equilibrium
        return {
            "days": len(rain.days), "from": str(rain.days[0]), "until": str(rain.days[-1]),
            "fitted_on_days": rain.learnt_from,
            "before": _check_dict(self.before), "after": _check_dict(self.after),
            "certificate": self.certificate.to_dict(),
            "alarm": self._alarm_dict(self.alarm),
            "alarm_after": self._alarm_dict(self.alarm_after),
            "adversary": {
                "frequency_points": self.frequency, "certificate": self.adversary.to_dict()
            },
            "equilibrium": {
                "game": game.game.name, "actions": [s.size for s in game.game.actions],
                "gap": game.gap, "reached": game.reached, "payoffs": game.payoffs.tolist(),
            },
            "holds": self.holds,
        }  # fmt: skip

    def _alarm_dict(self, alarm: Alarm | None) -> dict[str, Any] | None:
        if alarm is None:
            return None
        return {"day": self.day(alarm), "events": alarm.at, "direction": alarm.direction}

    def report(self, path: Any) -> None:
        """Write a page about the rain: before and after, certificate, error over time."""
        from fullswap.checking.page_forecast import page_of_forecast
        from fullswap.report.history import history_of

        rain, guarantee = self.rain, self.certificate
        history = history_of(rain.happened, self.issued, guarantee=guarantee, before=rain.said)
        rang = [f"The model itself: {self.alarm}"] if self.alarm is not None else []
        about = (
            "The model is a logistic regression on the weather of the day before, fitted on the "
            f"{rain.learnt_from} days of October to March in 2012."
        )
        page = page_of_forecast(
            self.before, self.after, certificates=[("rain", guarantee)], history=history,
            alarms=rang, notes=[about], rows=len(rain.days), title=TITLE,
        )  # fmt: skip
        write_text(path, page)


def _check(rain: Rain, said: Vector, step: float | None) -> Check:
    answer = check(rain.happened, said, time=rain.days, step=step)
    assert isinstance(answer, Check)
    return answer


def _check_dict(checked: Check) -> dict[str, Any]:
    return {
        "verdict": checked.verdict, "error": checked.error, "chance": checked.chance.median,
        "brier": checked.brier.score,
    }  # fmt: skip


def _watch(happened: Vector, said: Vector, step: float | None) -> Alarm | None:
    """The first alarm."""
    monitor = Monitor(run_length=TEN_YEARS, step=step)
    for y, p in zip(happened.tolist(), said.tolist(), strict=True):
        monitor.update(y, p)
        if monitor.drift_detected:
            return monitor.alarm
    return None
