"""Forecasters that know nothing but the outcomes so far."""

from __future__ import annotations

from typing import Any, ClassVar

from fullswap.base.keys import event_name
from fullswap.base.protocols import Mixture
from fullswap.base.records import Record
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.running import Answers
from fullswap.online.tickets import Forecast


class WithoutModels(OnlineForecaster):
    """Forecasters to which nothing is given but outcomes."""

    _takes_models: ClassVar[bool] = False

    def predict(self, *, groups: Any = None, event: Any = None) -> Forecast:
        """Forecast the next event, or one more time the ``event`` of this name.

        Forecasts of one event wait for one outcome: ``resolve`` teaches all of them. ``groups``:
        names of those to which the event belongs, for forecasters with groups.
        """
        name = None if event is None else event_name(event)
        if groups is None and self._groups is None:
            return self._stream.predict(None, name)
        context, names = self._with_group(None, groups)
        self._take_names(names)
        return self._stream.predict(context, name)

    def peek(self, *, groups: Any = None) -> Mixture:
        """The distribution of the next forecast; nothing is drawn and nothing changes."""
        context, names = self._with_group(None, groups)
        return self._with_names(names)._stream.peek(context)

    def run(
        self,
        outcomes: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        event: Any = None,
        known: Any = None,
        answers: Answers | None = None,
        record: bool = True,
        progress: bool | None = None,
    ) -> Record | None:
        """Forecast and learn a whole array of outcomes (rows are events), in compiled code.

        The same numbers as the loop of ``predict`` and ``update``. ``record=False`` keeps no
        forecasts; ``progress`` shows a bar (None: for long runs on a terminal).

        ``event`` names the event of each row, if several forecasts wait for one outcome: all are
        learnt at the last row of the event, whose rows have one outcome and one weight. The same
        numbers as the loop of ``predict(event=…)`` and ``resolve``. A row whose name is None, NaN
        or "" is an event of its own.

        ``known`` says when outcomes came, if they came late: that of row i was known as soon as
        ``known[i]`` rows had been forecast, so it is learnt just before row ``known[i]`` is
        forecast; ``i + 1`` is at once. Of several at one moment the earlier row comes first, and
        all rows of an event come at once. A row stays pending if its outcome is absent (NaN, None,
        for classes also -1) or known after the last row only, ``known[i] > T``. The same numbers
        as the loop of ``predict``, ``update`` and ``resolve``. ``answers``: outcomes of events that
        wait already and become known in the course of this run.

        ``groups`` says to which groups events belong, for forecasters with groups: names, or a list
        of names, for each event; a table of 0 and 1 with a column for each of ``groups``, also a
        sparse one; or a frame of columns, of which each row is in the groups "column=value".
        """
        return self._run(
            (outcomes,), sample_weight, record, progress, event, known, answers, groups
        )

    def _contexts(self) -> None:
        return None

    def _read(self, outcomes: Any, *, absent: bool = False) -> tuple[None, Any]:
        return None, self._outcomes(outcomes, absent)
