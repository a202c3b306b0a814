"""Times, due dates and events of a log."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullswap.inputs import log_of

NAN = float("nan")


class TestTime:
    @pytest.mark.parametrize(
        "times",
        [
            [3, 1, 2],
            [3.5, 1.5, 2.0],
            ["3", "1", "2"],
            ["2026-03-03", "2026-03-01", "2026-03-02"],
            ["2026-03-03", "2026-03-01T12:00", "2026-03-01 13:00:00"],
            ["2026/3/3", "2026/3/1", "2026/3/2"],
            ["2026-03-01T01:00:00+00:00", "2026-03-01T01:30:00+02:00", "2026-03-01T00:00:00Z"],
            [datetime.date(2026, 3, 3), datetime.date(2026, 3, 1), datetime.date(2026, 3, 2)],
            np.array(["2026-03-03", "2026-03-01", "2026-03-02"], dtype="datetime64[D]"),
            pd.to_datetime(["2026-03-03", "2026-03-01", "2026-03-02"]).tz_localize("Asia/Tokyo"),
            pl.Series([datetime.datetime(2026, 3, k, tzinfo=datetime.UTC) for k in (3, 1, 2)]),
            pa.array([datetime.date(2026, 3, k) for k in (3, 1, 2)]),
            np.array([3, 1, 2], dtype="timedelta64[s]"),
        ],
    )
    def test_sorted_by_time(self, times: Any) -> None:
        log = log_of([1, 0, 1], [0.7, 0.2, 0.5], time=times)
        assert log.order.tolist() == [1, 2, 0]
        assert "rows are not in order of time: sorted by it" in log.notes

    def test_zones_are_told_apart(self) -> None:
        eastern = datetime.timezone(datetime.timedelta(hours=-5))
        times = [datetime.datetime(2026, 3, 1, 8, tzinfo=eastern),
                 datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)]  # fmt: skip
        assert log_of([1, 0], [0.7, 0.2], time=times).order.tolist() == [1, 0]

    def test_days_among_times_with_a_zone_begin_at_midnight(self) -> None:
        times = ["2026-03-02", "2026-03-01T23:00:00-05:00", "2026-03-01T23:00:00Z"]
        log = log_of([1, 0, 1], [0.7, 0.2, 0.5], time=times)
        assert log.order.tolist() == [2, 0, 1]

    def test_ties_stay_in_order_and_newest_first_is_said(self) -> None:
        log = log_of([1, 0, 1, 0], [0.7, 0.2, 0.5, 0.4], time=[9, 9, 1, 0])
        assert log.order.tolist() == [3, 2, 0, 1]
        assert log.notes == ["rows are newest first: read in time order"]
        assert not log_of([1, 0], [0.7, 0.2], time=[1, 1]).notes

    @pytest.mark.parametrize(
        ("times", "message"),
        [
            (["2026-03-01", "soon"], "got 'soon' at position 1"),
            (["2026-03-01", "2026-02-30"], "got '2026-02-30' at position 1"),
            (["03/01/2026", "03/02/2026"], "got '03/01/2026' at position 0"),
            (["2026-03-01", None], "for every row, got 1 row without .first at position 1"),
            ([1.0, NAN], "for every row, got 1 row without"),
            ([1.0, np.inf], "be finite, got inf at position 1"),
            ([1], "as long as y_true .2., got 1"),
            ([True, False], "be dates, times or numbers"),
            (["2026-03-01T10:00", "2026-03-01T10:00Z"], "a time zone in every row or in none"),
            ("date", "names of columns need the frame"),
        ],
    )
    def test_what_is_refused(self, times: Any, message: str) -> None:
        with pytest.raises(ValueError, match=f"time must .*{message}"):
            log_of([1, 0], [0.7, 0.2], time=times)


class TestDue:
    TABLE = {
        "won": [1, 0, 1, None, 1, None],
        "prob": [0.7, 0.2, 0.6, 0.5, 0.4, 0.3],
        "day": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-06"],
        "due": ["2026-01-08", "2026-01-09", "2026-01-10", "2026-01-11", "2026-01-12", None],
    }

    def test_rows_not_yet_due_are_left_out_also_when_known(self) -> None:
        log = log_of(self.TABLE, y="won", p="prob", time="day", due="due", as_of="2026-01-10")
        np.testing.assert_array_equal(log.y, [1, 0, 1, NAN])
        assert log.order.tolist() == [0, 1, 2, 5]
        assert log.notes[0] == (
            "2 rows due after 2026-01-10 left out (1 with an outcome already: early outcomes are "
            "mostly yes)"
        )
        assert log.notes[1] == "1 of 4 rows pending (25.0 %)"

    def test_now_is_the_limit_for_dates(self) -> None:
        far = {**self.TABLE, "due": ["2026-01-08", "2026-01-09"] + ["2999-01-01"] * 4}
        assert len(log_of(far, y="won", p="prob", due="due")) == 2

    def test_the_last_forecast_is_the_limit_for_numbers(self) -> None:
        log = log_of([1, 0, 1, 1], [0.5] * 4, time=[1, 2, 3, 4], due=[3, 4, 5, 6])
        assert log.order.tolist() == [0, 1]
        assert len(log_of([1, 0, 1, 1], [0.5] * 4, due=[3, 4, 5, 6])) == 4
        assert len(log_of([1, 0, 1, 1], [0.5] * 4, due=[3, 4, 5, 6], as_of=5)) == 3
        assert len(log_of([1, 0], [0.5] * 2, due=[NAN, NAN])) == 2

    def test_kinds_must_agree(self) -> None:
        with pytest.raises(ValueError, match="as_of must be a date or time, as due is, got 3"):
            log_of(self.TABLE, y="won", p="prob", due="due", as_of=3)
        with pytest.raises(ValueError, match="as_of must be a finite number"):
            log_of([1, 0], [0.5] * 2, due=[3, 4], as_of="2026-01-01")


class TestEvents:
    def test_codes_and_names(self) -> None:
        table = {"y": [1, 1, 0, 1, None], "p": [0.5] * 5, "season": [1, 1, 1, 2, 1],
                 "team": ["a", "a", "b", "a", "b"]}  # fmt: skip
        log = log_of(table, y="y", p="p", event=["season", "team"])
        assert log.event is not None
        assert log.event.tolist() == [0, 0, 1, 2, 1]
        assert log.event_names == ["1 / a", "1 / b", "2 / a"]
        assert log_of([1, 1, 0], [0.5] * 3, event=["x", "x", "z"]).event_names == ["x", "z"]

    def test_numbers_too_long_for_floats_stay_apart(self) -> None:
        log = log_of([1, 0], [0.5] * 2, event=[2**60, 2**60 + 1])
        assert log.event_names == [str(2**60), str(2**60 + 1)]

    def test_codes_count_up_as_events_come(self) -> None:
        log = log_of([1, 0, 1, 0, 1], [0.5] * 5, event=[5, 3, None, 9, 5])
        assert log.event is not None
        assert log.event.tolist() == [0, 1, 2, 3, 0]
        assert log.event_names == ["5", "3", "(missing)", "9"]

    def test_a_day_is_an_event(self) -> None:
        days = [datetime.date(2026, 3, 1), datetime.date(2026, 3, 1), datetime.date(2026, 3, 2)]
        log = log_of([1, 1, 0], [0.5] * 3, event=days)
        assert [name[:10] for name in log.event_names] == ["2026-03-01", "2026-03-02"]

    def test_rows_without_a_name_stand_alone(self) -> None:
        log = log_of([1, 0, 1, 1], [0.5] * 4, event=["a", None, None, "a"])
        assert log.event is not None
        assert log.event.tolist() == [0, 1, 2, 0]
        assert log.notes == ["2 rows without an event: each taken as its own"]

    def test_codes_follow_time(self) -> None:
        log = log_of([1, 0, 1], [0.5] * 3, event=["a", "b", "a"], time=[3, 1, 2])
        assert log.event is not None
        assert (log.event.tolist(), log.event_names) == ([0, 1, 1], ["b", "a"])

    def test_contradictions(self) -> None:
        table = {"y": ["no", "yes", "yes", "no"], "p": [0.5] * 4, "g": ["a", "b", "b", "b"]}
        message = r"got no and yes for b \(positions 3 and 1\); 1 of 2 events are like that"
        with pytest.raises(ValueError, match=message):
            log_of(table, y="y", p="p", event="g")
