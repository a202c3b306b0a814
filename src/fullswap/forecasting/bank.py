"""Many streams of one kind over one array: one row a stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.files import write_text
from fullswap.base.keys import event_name, event_names
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.bank_frames import Roles, frame_of, read_frame
from fullswap.forecasting.bank_rows import BankRows, RowKeys, listed
from fullswap.forecasting.bank_state import Entry, bank_of, text_of
from fullswap.forecasting.contexts import event_of
from fullswap.forecasting.events import refuse_sibling, values_of
from fullswap.forecasting.inputs import scales_of
from fullswap.forecasting.running import Answered, Answers, Home, Log, run_log
from fullswap.online.loop import record_of
from fullswap.online.pending import NAMES
from fullswap.online.stream import Stream
from fullswap.online.tickets import Forecast

Found = tuple[Stream, list[Forecast]]
"""Forecasts of one event that wait, and their stream."""


class Bank(BankRows):
    """A forecaster for each of many keys: a station, a market, a customer.

    Every stream learns from its own events alone, and draws numbers of its own, which follow from
    the bank's seed and its key. ``bank[key]`` is the forecaster that these events alone would have
    made.

    Parameters
    ----------
    pattern : Forecaster, MulticlassForecaster or Recalibrator
        One without events: what every stream begins as.

    Examples
    --------
    >>> from fullswap import Forecaster
    >>> bank = Bank(Forecaster(seed=7))
    >>> record = bank.run(["north", "south", "north"], [1, 0, 1])
    >>> len(bank), bank["north"].rounds, len(record)
    (2, 2, 3)
    """

    @staticmethod
    def _columns(read: Any, columns: tuple[Any, ...], **how: Any) -> Any:
        """What the pattern reads from these columns."""
        names = [name for name in signature(read).parameters if name != "absent"]
        if len(columns) != len(names):
            wanted = " and ".join(names) or "nothing"
            raise ValueError(f"{wanted} must be given beside keys, got {len(columns)} arrays")
        return read(*columns, **how)

    # --- the verbs --------------------------------------------------------------------------------

    def run(
        self,
        keys: Any,
        *columns: Any,
        key: Any = None,
        time: Any = None,
        probability: Any = None,
        outcome: Any = None,
        weight: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        event: Any = None,
        known: Any = None,
        answers: Answers | None = None,
        threads: int | None = None,
        record: bool = True,
        progress: bool | None = None,
    ) -> Any:
        """Events of all streams, from arrays or from a frame: the pattern's ``run`` with keys.

        The same numbers as if every stream were run alone; groups that come as they come have one
        numbering for all of them.

        Parameters
        ----------
        keys : sequence, or frame
            Whose event each row is. Or a frame: pandas, polars (also lazy), Arrow, or a dict of
            columns. What it holds is then said by ``key`` and the other names of columns.
        *columns : arrays
            Those of the pattern's ``run``: outcomes, or probabilities and outcomes. Rows are taken
            in the given order. None with a frame.
        key : name or list of names
            The column of keys; of several columns keys are tuples.
        time : name
            Rows are taken oldest first, those of one moment as they come; else as they come.
        probability : name or list
            What the model says. A list has a name for each model; for K > 2 classes one for each
            class, or for several models a list of K for each.
        outcome : name or list of names
            Rows without an outcome (null, NaN) are forecast and stay pending. A list of K names:
            probabilities of classes.
        weight : name
            Of the weights; ``sample_weight`` has them for arrays.
        groups : as for the pattern's ``run``, or name or list of names
            To which groups events belong, for patterns with groups: the same ones in all streams.
            In a frame columns, of which each row is in the groups "column=value".
        event : array, or name
            Names the event of each row; the same name in two streams is two events.
        known : array, or name
            When outcomes came, if they came late, in rows of all streams: that of row i is learnt
            just before row ``known[i]``. In a frame with ``time`` a column of moments: learnt
            before the first row after that moment; never, where it is missing.
        answers : Answers
            Outcomes of events that wait already and become known in the course of this run.
        threads : int or None
            Streams are shared between so many threads, with the same result to the last bit; None:
            all cores for many events, one for few. Runs with late outcomes, or with events that
            return, take one. A stream is never divided.
        record : bool
            False keeps no forecasts, and returns None.
        progress : bool or None
            Shows a bar; None: for long runs on a terminal.

        Returns
        -------
        Record or frame
            The forecasts in the order of the rows. Of a frame: the same with the columns
            ``issued`` and ``mean`` behind its own, of the same library (a lazy one is collected);
            for classes a column each, ``mean_home`` or ``mean_0``.

        Examples
        --------
        >>> from fullswap import Recalibrator
        >>> bank = Bank(Recalibrator(step=0.1, seed=1))
        >>> frame = {"site": ["n", "s", "n"], "said": [0.9, 0.2, 0.8], "rain": [1, 0, None]}
        >>> answer = bank.run(frame, key="site", probability="said", outcome="rain")
        >>> list(answer), len(bank.pending)
        (['site', 'said', 'rain', 'issued', 'mean'], 1)
        """
        roles = Roles(key, time, probability, outcome, weight, event, known, groups)
        held = frame_of(keys)
        if held is None:
            for name in ("key", "time", "probability", "outcome", "weight"):
                if getattr(roles, name) is not None:
                    rule = "be left out where keys are given row by row (it names columns)"
                    checks.refuse(name, rule, getattr(roles, name))
            given = columns, sample_weight, event, known, groups
            return self._run(keys, *given, answers, threads, record, progress)
        if columns or sample_weight is not None:
            rule = "be given by the names of columns: probability, outcome, weight"
            checks.refuse("columns", rule, "arrays beside a frame")
        labels = self._pattern.labels
        rows = read_frame(*held, roles, self.spec, labels, record)
        own = rows.columns, rows.weight, rows.event, rows.known, rows.groups
        made = self._run(rows.keys, *own, answers, threads, record, progress)
        return None if made is None else rows.answer(made, labels)

    def _run(
        self, keys: Any, columns: tuple[Any, ...], sample_weight: Any, event: Any, known: Any,
        groups: Any, answers: Answers | None, threads: int | None, record: bool,
        progress: bool | None,
    ) -> Record | None:  # fmt: skip
        said, outcomes = self._columns(self._pattern._read, columns, absent=known is not None)
        contexts, joined = self._pattern._with_groups(said, len(outcomes), groups)
        own = keys if isinstance(keys, RowKeys) else RowKeys.of(keys)
        progress = checks.flag("progress", progress)
        threads = None if threads is None else checks.whole("threads", threads, 1)
        checks.same_length("keys", own, "outcomes", len(outcomes))
        most = self.spec.max_weight
        answered = Answered.of(
            answers, len(outcomes), self._stream, self._pattern._outcomes, most, keyed=True
        )
        each = None if event is None else own.listed()
        log = Log.of(contexts, outcomes, sample_weight, most, event, known, each, answered)
        moments = log.moments_if_events_return(
            [(stream.key[0], stream.pending) for stream in self._waiting.values()]
        )
        places = own.places(self._streams(own.distinct))  # keys are checked before names are taken
        self._take_names(joined)
        home = Home(self._rows, places, self._waiting, lambda t: self._open(own[t]))
        try:
            recorded = run_log(log, home, moments, record, progress, threads)
        finally:
            self._forget_idle()
        if recorded is None:
            return None
        kind = self._rows.kind
        return record_of(kind, kind.level_in_view(recorded[2]), recorded)

    def predict(
        self, keys: Sequence[Any], *columns: Any, groups: Any = None, event: Any = None
    ) -> list[Forecast]:
        """Forecast one event of each of these streams; ``columns`` as for ``run``, no outcomes.

        ``groups`` as for ``run``; ``event`` has a name for each forecast, None where it is an event
        of its own.
        """
        said = self._columns(self._pattern._contexts, columns)
        own = listed(keys)
        if said is not None:
            checks.same_length("keys", own, "p", len(said))
        contexts, joined = self._pattern._with_groups(said, len(own), groups)
        names = event_names(event, len(own)) or [None] * len(own)
        self._streams(own)  # keys are checked before names are taken
        self._take_names(joined)
        return [
            self._open(key).predict(event_of(contexts, k), name)
            for k, (key, name) in enumerate(zip(own, names, strict=True))
        ]

    def update(self, forecasts: Sequence[Any], outcomes: Any, sample_weight: Any = None) -> None:
        """Learn the outcomes of forecasts that this bank made, in the given order.

        In place of a forecast, the name of its event, a text or a tuple, if no other forecast of
        the bank waits under this name. All are checked before any is learnt.
        """
        if isinstance(forecasts, str | Forecast):
            checks.refuse("forecasts", "be a list of forecasts, or of names of events", forecasts)
        own = list(forecasts)
        found = self._find(own)
        for stream, (ticket,) in found:
            refuse_sibling(ticket, stream.pending)
        self._learn("forecasts", own, found, outcomes, sample_weight)

    def resolve(
        self, keys: Sequence[Any], events: Sequence[Any], outcomes: Any, sample_weight: Any = None
    ) -> None:
        """Learn the outcomes of events of these streams, in the given order.

        Each event counts once, however often it was forecast. All are checked before any is learnt.
        """
        own = listed(keys)
        names = event_names(events, len(own)) or [None] * len(own)
        streams = [self._stream(key) for key in own]
        pairs = zip(streams, names, strict=True)
        found = [(stream, stream.pending.of_event(event_name(name))) for stream, name in pairs]
        self._learn("events", events, found, outcomes, sample_weight)

    def _learn(
        self, name: str, given: Any, found: list[Found], outcomes: Any, sample_weight: Any
    ) -> None:
        """Outcomes of forecasts, or of events, that were found to wait."""
        array = self._pattern._outcomes(outcomes)
        checks.same_length(name, given, "outcomes", len(array))
        scales = scales_of(sample_weight, len(array), self.spec.max_weight)
        if len({(stream.index, tickets[0].id) for stream, tickets in found}) < len(found):
            checks.refuse(name, "be distinct", given)
        values = values_of(array)
        for k, (stream, tickets) in enumerate(found):
            stream.resolve(tickets, values[k], float(scales[k]) if len(scales) else 1.0)
            self._forget_idle(stream)

    def is_pending(self, key: Any, event: Any) -> bool:
        """Whether forecasts of this event wait in the stream of this key."""
        name = event_name(event)
        return key in self._places and name in self._stream(key).pending.known_events()

    def drop(self, forecast: Any = None, *, key: Any = None, event: Any = None) -> None:
        """The outcome of this forecast, or event of a key, will never come: learn nothing.

        ``forecast`` may be the name of an event, as for ``update``.
        """
        if event is not None and forecast is not None:
            checks.refuse("forecast", "be left out where event is given", forecast)
        if event is None:
            ((stream, tickets),) = self._find([forecast])
        else:
            if key is None:
                checks.refuse("key", "be given where event is", key)
            stream = self._stream(key)
            tickets = stream.pending.of_event(event_name(event))
        stream.pending.drop(tickets)
        self._forget_idle(stream)

    def _find(self, forecasts: list[Any]) -> list[Found]:
        """What is meant by these forecasts, or names of events with one forecast each."""
        named: dict[Any, list[Stream]] = {}
        if any(isinstance(forecast, NAMES) for forecast in forecasts):
            for stream in self._waiting.values():
                for name in stream.pending.known_events():
                    named.setdefault(name, []).append(stream)
        found = []
        for forecast in forecasts:
            if isinstance(forecast, NAMES):
                own = named.get(event_name(forecast), [])
                if len(own) != 1:
                    where = "waits under no key" if not own else f"waits under {len(own)} keys"
                    rule = "be a name that waits under one key (else: resolve)"
                    raise ValueError(f"forecast must {rule}, got {forecast!r}, which {where}")
                found.append((own[0], [own[0].find(forecast)]))
                continue
            if not isinstance(forecast, Forecast) or forecast.key is None:
                rule = "be a forecast of this bank, or the name of its event"
                checks.refuse("forecast", rule, forecast)
            stream = self._stream(forecast.key[0])
            found.append((stream, [stream.find(forecast)]))
        return found

    def certificates(self, *, group: Any = None) -> dict[Any, Certificate]:
        """Measured calibration error of every stream beside its guarantee.

        ``group``: of the events of this group alone, by its name.
        """
        kind, own = self._rows.kind, self._pattern
        return {
            key: own._certificate_of(kind, self._rows.row(place), group)
            for key, place in self._places.items()
        }

    # --- saved state -----------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state, pending forecasts and seed of the draws included, as JSON."""
        return text_of(self._pattern, self._seed, [self._stream(key) for key in self._places])

    @classmethod
    def from_json(cls, text: str | bytes) -> Bank:
        """The bank that ``to_json`` wrote: every stream goes on with the same forecasts."""
        pattern, entries = bank_of(text)
        self = cls(pattern)
        self._restore(entries)
        return self

    def _restore(self, entries: list[Entry]) -> None:
        """Take over streams that have been checked, where there are none yet."""
        places = self._streams([key for key, _, _ in entries])
        for place, (key, row, tickets) in zip(places.tolist(), entries, strict=True):
            self._rows.put(place, row)
            if tickets:
                self._open(key).pending.restore(*tickets)
        self._rows.compact()

    def save(self, where: str | os.PathLike[str]) -> None:
        """Write the state to a file, as JSON; a crash in the middle leaves the old one.

        The file is for its owner alone: whoever knows the seed in it can foretell every draw.
        """
        _refuse_no_path(where)
        write_text(where, self.to_json(), private=True)

    @classmethod
    def load(cls, where: str | os.PathLike[str]) -> Bank:
        """The bank that ``save`` wrote."""
        _refuse_no_path(where)
        return cls.from_json(Path(where).read_text(encoding="utf-8"))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Bank({self._pattern!r}; {counted(len(self), 'stream')})"


def _refuse_no_path(where: Any) -> None:
    if not isinstance(where, str | os.PathLike):
        checks.refuse("where", "be a path", where)
