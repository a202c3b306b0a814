"""Many classes by one binary forecaster each: any number of classes, a weaker guarantee."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.checks import checked_classes, class_row, class_rows, row_sums
from fullswap.forecasting.forecast import Forecast
from fullswap.forecasting.state import Draws, pack, unpack

MAX_CLASSES = 1000
NOT_GUARANTEED = (
    "each class's own forecasts are calibrated before they are normalised (certificates()), "
    "which bounds nothing for the normalised vectors"
)


class OneVsRestForecast:
    """One forecast: K binary forecasts, and the vectors that they make when normalised.

    Attributes
    ----------
    parts : tuple of Forecast
        The binary forecast of each class; these are what is calibrated.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Forecast, ...]) -> None:
        self.parts = parts

    @property
    def id(self) -> int:
        """Names the forecast when its outcome arrives late."""
        return self.parts[0].id

    @property
    def unnormalised(self) -> Vector:
        """What each class issued, shape (K,)."""
        return np.array([part.issued for part in self.parts])

    @property
    def issued(self) -> Vector:
        """The issued vector, shape (K,): sums to 1."""
        return normalised(self.unnormalised)

    @property
    def mean(self) -> Vector:
        """The means of the classes, normalised, shape (K,)."""
        return normalised(np.array([part.mean for part in self.parts]))

    def __repr__(self) -> str:
        return f"OneVsRestForecast(id={self.id}, issued={self.issued!r})"


class OneVsRestRun:
    """Forecasts of a run of T events; ``parts`` are the runs of the classes."""

    def __init__(self, parts: tuple[Record, ...]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def unnormalised(self) -> Points:
        """What each class issued, shape (T, K)."""
        return np.column_stack([part.issued for part in self.parts])

    @property
    def issued(self) -> Points:
        """The issued vectors, shape (T, K)."""
        return normalised(self.unnormalised)

    @property
    def mean(self) -> Points:
        """The means of the classes, normalised, shape (T, K)."""
        return normalised(np.column_stack([part.mean for part in self.parts]))


class OneVsRest:
    """What ``MulticlassForecaster(method="one_vs_rest")`` is: a ``Forecaster`` for each class.

    Class k is a yes-or-no event with outcome y_k. Its issued forecasts are calibrated with the
    binary guarantee, and draw from a stream of their own. A vector is the K forecasts divided by
    their sum; uniform where all of them are 0.

    Guarantee: none for the normalised vectors; ``certificates()`` has one for each class.

    Examples
    --------
    >>> forecaster = OneVsRest(20, horizon=100, seed=1)
    >>> run = forecaster.run(np.arange(100) % 20)
    >>> run.issued.shape, forecaster.guarantee
    ((100, 20), nan)
    >>> forecaster.certificates()[7].holds
    True
    """

    method = "one_vs_rest"

    def __init__(
        self,
        classes: int,
        horizon: int | None = None,
        feedback: str = "realised",
        seed: Any = 0,
        *,
        max_weight: float = 1.0,
    ) -> None:
        self.classes = checked_classes(classes, MAX_CLASSES)
        seeds = (Draws(seed).some(self.classes) * 2**53).astype(np.int64)
        self._parts = tuple(
            Forecaster(horizon, feedback=feedback, seed=own, max_weight=max_weight)
            for own in seeds.tolist()
        )
        self.horizon, self.feedback = horizon, feedback
        self.max_weight = self._parts[0].max_weight

    # --- the verbs --------------------------------------------------------------------------

    def predict(self) -> OneVsRestForecast:
        """Forecast the next event."""
        return OneVsRestForecast(tuple(part.predict() for part in self._parts))

    def update(self, outcome: Any, forecast: Any = None, weight: float = 1.0) -> None:
        """Learn the outcome of a forecast: a class, or K probabilities."""
        row = class_row(outcome, self.classes)
        number = self._number(forecast)
        # All classes are in the same state: if one refuses, the first does, and none has changed.
        for part, value in zip(self._parts, row.tolist(), strict=True):
            part.update(value, number, weight)

    def drop(self, forecast: Any) -> None:
        """The outcome of this forecast will never come: forget it, and learn nothing."""
        number = self._number(forecast)
        for part in self._parts:
            part.drop(number)

    @property
    def pending(self) -> tuple[OneVsRestForecast, ...]:
        """Forecasts that wait for their outcome, oldest first."""
        waiting = zip(*(part.pending for part in self._parts), strict=True)
        return tuple(OneVsRestForecast(parts) for parts in waiting)

    def run(
        self,
        outcomes: Any,
        sample_weight: Any = None,
        *,
        record: bool = True,
        progress: bool | None = None,
    ) -> OneVsRestRun | None:
        """Forecast and learn classes (T,) or probabilities (T, K), in compiled code.

        The same numbers as the loop of ``predict`` and ``update``.
        """
        checked = class_rows(outcomes, self.classes)
        runs = []
        for k, part in enumerate(self._parts):
            column = checked[:, k] if checked.ndim == 2 else (checked == k).astype(float)
            runs.append(part.run(column, sample_weight, record=record, progress=progress))
        return OneVsRestRun(tuple(run for run in runs if run is not None)) if record else None

    @property
    def rounds(self) -> int:
        """Events with an outcome so far."""
        return self._parts[0].rounds

    # --- measured against guaranteed ---------------------------------------------------------

    @property
    def guarantee(self) -> float:
        """NaN: nothing is guaranteed for the normalised vectors."""
        return math.nan

    def certificate(self) -> Certificate:
        """Errors of the classes before they are normalised, summed; no guarantee for vectors."""
        parts = self.certificates()
        return Certificate(
            f"sum over the classes of their own {parts[0].quantity}",
            self.rounds,
            math.fsum(part.measured for part in parts),
            None,
            None,
            parts[0].theorem,
            (NOT_GUARANTEED,),
        )

    def certificates(self) -> tuple[Certificate, ...]:
        """For each class, the error of its own forecasts beside its guarantee."""
        return tuple(part.certificate() for part in self._parts)

    def explain(self) -> str:
        """What was chosen, and what is not guaranteed."""
        return (
            f"one binary forecaster for each of {self.classes} classes, divided by their sum\n"
            f"not guaranteed: {NOT_GUARANTEED}\neach class:\n{self._parts[0].explain()}"
        )

    # --- saved state ----------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state, pending forecasts and random generators included, as JSON."""
        settings = {"classes": self.classes, "method": self.method}
        return pack(
            "MulticlassForecaster",
            {"settings": settings, "parts": [part.to_json() for part in self._parts]},
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The forecaster that ``to_json`` wrote: it goes on with the same forecasts and draws."""
        stored = unpack("MulticlassForecaster", text)
        try:
            if stored["settings"]["method"] != cls.method:
                raise ValueError("text is the state of a grid: read it with MulticlassForecaster")
            self = cls(stored["settings"]["classes"])
            self._parts = tuple(Forecaster.from_json(part) for part in stored["parts"])
            first = self._parts[0]
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"text is damaged: {type(error).__name__} {error}") from None
        self.horizon, self.feedback = first.horizon, first.feedback
        self.max_weight = first.max_weight
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def _number(self, forecast: Any) -> Any:
        """The id of a forecast of this forecaster; anything else is for the classes to refuse."""
        if not isinstance(forecast, OneVsRestForecast):
            return forecast
        for part, mine in zip(forecast.parts, self._parts, strict=False):
            mine._found(part)
        return forecast.id


def normalised(rows: Any) -> Any:
    """Rows (…, K) of numbers >= 0 divided by their sums; uniform where all are 0.

    Examples
    --------
    >>> normalised(np.array([[0.5, 0.5, 1.0], [0.0, 0.0, 0.0]])).round(2)
    array([[0.25, 0.25, 0.5 ],
           [0.33, 0.33, 0.33]])
    """
    sums = row_sums(rows)
    safe = np.where(sums > 0, sums, 1.0)[..., None]
    return np.where(sums[..., None] > 0, rows / safe, 1.0 / rows.shape[-1])
