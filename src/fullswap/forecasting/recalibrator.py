"""Recalibration: keep a model's skill, and be calibrated whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name, event_names
from fullswap.base.protocols import Mixture
from fullswap.base.records import Record
from fullswap.forecasting.class_specs import classwise_spec
from fullswap.forecasting.classes import OfClasses
from fullswap.forecasting.contexts import are_many, context_of, contexts_of, event_of
from fullswap.forecasting.expert_specs import experts_spec, groups_spec
from fullswap.forecasting.groups import GroupNames
from fullswap.forecasting.inputs import (
    binary_outcome,
    binary_outcomes,
    class_row,
    class_rows,
    labels_of,
)
from fullswap.forecasting.running import Answers
from fullswap.grids.steps import steps_of
from fullswap.kernels.columns import LEVEL
from fullswap.online.loop import peek_events, record_of
from fullswap.online.spec import MOST_CLASSES, MOST_MODELS
from fullswap.online.tickets import Forecast


class Recalibrator(OfClasses):
    """Turn probabilities of given models into calibrated ones, event by event.

    Guarantee: at once, on average over our own draws and against any outcomes that come before the
    next forecast and do not depend on the draw made for them, the l2 calibration error of what is
    issued is at most ``guarantee``, and its total Brier score exceeds that of every model, and of
    simple recalibrations of it, by at most a number of the order of its logarithm plus the rounding
    to the grid; ``certificates()`` gives all of these beside what was measured.

    Parameters
    ----------
    step : float, str or None
        Issue only multiples of it: 0.05, 1/20 or "5%". None: a grid of 64 cells or more, finer
        towards 0 and 1, which are themselves never issued. Yes-or-no events only: vectors of more
        classes are on no grid.
    classes : int or sequence
        2 for yes-or-no events, up to 1000; or the names of the classes, which outcomes then have,
        in the order of the probabilities: ``["home", "tie", "away"]``, ``["lost", "won"]``. Of
        three or more each class is calibrated, and the declared label: a forecast is one vector of
        sum 1, in soft bins.
    models : int
        How many models' probabilities come with each event. Of several, some may be absent
        (NaN); their experts then sleep.
    horizon : int or None
        Number of events, for ``guarantee``; without a step, the grid is the best one for it.
    seed : int, Generator or None
        Of the draws; None: fresh entropy of the system, so that nobody can foresee them.
    max_weight : float
        Largest weight of an event in ``update``.
    groups : sequence of names, "open" or None
        Groups of events, in each of which forecasts are to be calibrated: every event may belong to
        several. ``"open"``: any name becomes a group when it is first met. Yes-or-no events only.

    Examples
    --------
    >>> recalibrator = Recalibrator(step=0.1, seed=1)
    >>> claimed = [0.9, 0.1] * 500        # overconfident: the events have odds 3 : 1
    >>> happened = [1, 0, 1, 0, 1, 0, 0, 1] * 125
    >>> run = recalibrator.run(claimed, happened)
    >>> [bool(abs(run.issued[k::2].mean() - odds) < 0.1) for k, odds in ((0, 0.75), (1, 0.25))]
    [True, True]
    """

    _kinds = ("experts", "groups", "classwise")
    _settings = ("step", "classes", "models", "horizon", "max_weight")

    def __init__(
        self,
        step: float | str | None = None,
        *,
        classes: int | Sequence[Any] = 2,
        models: int = 1,
        horizon: int | None = None,
        seed: Any = None,
        max_weight: float = 1.0,
        groups: Any = None,
    ) -> None:
        count, labels = labels_of(classes, 2, MOST_CLASSES)
        names = GroupNames.of(groups)
        many = checks.whole("models", models, 1, MOST_MODELS)
        events, most = checks.horizon(horizon), checks.number("max_weight", max_weight, above=0)
        steps = None if step is None else steps_of(step)
        if names is not None and count != 2:
            checks.refuse("groups", "be None for more than two classes", groups)
        if count > 2:
            if steps is not None:
                rule = "be None for more than two classes: their vectors are on no grid"
                checks.refuse("step", rule, step)
            spec = classwise_spec(count, many, events, most)
        elif names is not None:
            spec = groups_spec(steps, many, events, "realised", most, names.room, names.open)
        else:
            spec = experts_spec(steps, many, events, most)
        self._start(spec, seed, labels, names)

    @property
    def step(self) -> float | None:
        """Forecasts are multiples of it; None if none was given."""
        lattice = self.spec.levels[0]
        return None if lattice.shape in ("tapered", "classes") else 1 / lattice.cells

    @property
    def models(self) -> int:
        """Models whose probabilities come with an event."""
        return self.spec.models

    @overload
    def predict(self, p: float, *, groups: Any = None, event: Any = None) -> Forecast: ...

    @overload
    def predict(self, p: Any, *, groups: Any = None, event: Any = None) -> Any: ...

    def predict(
        self, p: Any, *, groups: Any = None, event: Any = None
    ) -> Forecast | list[Forecast]:
        """Forecast the event for which the models say p, or many events from the present state.

        Parameters
        ----------
        p : float or array
            One probability, or ``models`` of them; with K > 2 classes of shape (K,) or
            (models, K). For many events one more axis, before these: a list, array or Series of
            probabilities gives a list of forecasts, which ``update`` takes back.
        groups : sequence of names, or dict
            Groups to which the event belongs, for a recalibrator with groups; None, NaN and "" are
            none. ``{"region": "north"}`` is the group "region=north". For many events as in
            ``run``.
        event : text, number or tuple
            Its name, if it is forecast again before its outcome is known: forecasts of one event
            are learnt together, by ``resolve``, and count as one. For many events a name for each.

        Examples
        --------
        >>> recalibrator = Recalibrator(seed=1)
        >>> forecasts = recalibrator.predict([0.2, 0.9, 0.4])
        >>> recalibrator.update([0, 1, 1], forecasts)
        >>> recalibrator.rounds
        3
        """
        if type(p) is not float and are_many(p, self.models, self.classes > 2):
            said = self._contexts(p)
            contexts, joined = self._with_groups(said, len(said), groups)
            names = event_names(event, len(contexts)) or [None] * len(contexts)
            self._take_names(joined)
            own = enumerate(names)
            return [self._stream.predict(event_of(contexts, k), name) for k, name in own]
        context = context_of(p, self._spec.models, self._spec.classes)
        name = None if event is None else event_name(event)
        if groups is not None or self._groups is not None:
            context, joined = self._with_group(context, groups)
            self._take_names(joined)
        return self._stream.predict(context, name)

    def peek(self, p: Any, *, groups: Any = None) -> Mixture:
        """The distribution that would be forecast; nothing is drawn and nothing changes."""
        context = context_of(p, self._spec.models, self._spec.classes)
        context, names = self._with_group(context, groups)
        return self._with_names(names)._stream.peek(context)

    def peek_many(self, p: Any, *, groups: Any = None) -> Record:
        """What would be forecast in each of many events if it came next, in compiled code.

        ``p`` and ``groups`` as for ``run``. Nothing is drawn and nothing changes.
        """
        said = self._contexts(p)
        contexts, names = self._with_groups(said, len(said), groups)
        stream = self._with_names(names)._stream
        recorded = peek_events(stream.rows, np.zeros(0, np.int64), contexts)
        level = int(stream.row[LEVEL])
        return replace(record_of(stream.kind, level, recorded), issued_indices=None)

    def run(
        self,
        p: Any,
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
        """Forecast and learn a whole log, oldest event first, in compiled code.

        The same numbers as the loop of ``predict`` and ``update``. ``p`` has shape (T,) or
        (T, models); with K > 2 classes (T, K) or (T, models, K). ``record=False`` keeps no
        forecasts; ``progress`` shows a bar (None: for long runs on a terminal).

        ``event`` names the event of each row, if several forecasts wait for one outcome: all are
        learnt at the last row of the event, whose rows have one outcome and one weight. The same
        numbers as the loop of ``predict(p, event=…)`` and ``resolve``. A row whose name is None,
        NaN or "" is an event of its own.

        ``known`` says when outcomes came, if they came late: that of row i was known as soon as
        ``known[i]`` rows had been forecast, so it is learnt just before row ``known[i]`` is
        forecast; ``i + 1`` is at once. Of several at one moment the earlier row comes first, and
        all rows of an event come at once. A row stays pending if its outcome is absent (NaN, None,
        for classes also -1) or known after the last row only, ``known[i] > T``. The same numbers
        as the loop of ``predict``, ``update`` and ``resolve``. ``answers``: outcomes of events that
        wait already and become known in the course of this run.

        ``groups`` says to which groups events belong, for a recalibrator with groups: a name, or a
        list of names, for each event; a table of 0 and 1 with a column for each of ``groups``, also
        a sparse one; or a frame of columns, of which each row is in the groups "column=value".
        """
        return self._run(
            (p, outcomes), sample_weight, record, progress, event, known, answers, groups
        )

    def _contexts(self, p: Any) -> Any:
        return contexts_of(p, self.models, self.classes, labels=self._labels)

    def _read(self, p: Any, outcomes: Any, *, absent: bool = False) -> tuple[Any, Any]:
        results, contexts = self._outcomes(outcomes, absent), self._contexts(p)
        if len(contexts) != len(results):
            raise ValueError(
                "p and outcomes must be equally long, "
                f"got {len(contexts)} and {len(results)} events"
            )
        return contexts, results

    def _outcome(self, outcome: Any) -> Any:
        if self._spec.classes == 2:
            return binary_outcome(outcome, self._labels)
        return class_row(outcome, self.classes, self._labels)

    def _outcomes(self, outcomes: Any, absent: bool = False) -> Any:
        if self._spec.classes == 2:
            return binary_outcomes(outcomes, absent, self._labels)
        return class_rows(outcomes, self.classes, absent, self._labels)
