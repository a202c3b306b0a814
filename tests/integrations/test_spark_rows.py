"""What workers do with rows, without Spark: equal to a bank, however the rows are cut."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullswap as fs
from fullswap.integrations.spark.state import fingerprint_of, from_bytes, to_bytes
from fullswap.integrations.spark.streams import Streams
from fullswap.integrations.spark.tables import Job
from fullswap.integrations.spark.workers import PAGE, play_pages, whole_frame
from spark_cases import log_of, replayed

ADDED = ("issued", "mean", "forecast_id", "status")
VECTOR = [0.2, 0.3, 0.5], [0.6, 0.4, 0.0]
PATTERNS = {
    "recalibrator": (fs.Recalibrator(seed=1), [0.05, 0.5, 0.9, 1.0], [0.0, 1.0, 0.25]),
    "steps": (fs.Recalibrator(step=0.1, max_weight=2.0, seed=1), [0.05, 0.5, 0.9], [0.0, 1.0]),
    "models": (fs.Recalibrator(models=2, seed=1), [[0.1, 0.4], [0.9, np.nan]], [0.0, 1.0]),
    "classes": (fs.Recalibrator(classes=3, seed=1), VECTOR, [0, 1, 2]),
    "forecaster": (fs.Forecaster(seed=1, feedback="distribution"), [None], [0.0, 1.0]),
    "multiclass": (fs.MulticlassForecaster(3, seed=1), [None], [0, 1, 2]),
}


def job_of(pattern, expire=None, name="id", pages=5):
    probability = "p" if isinstance(pattern, fs.Recalibrator) else None
    skin, text = type(pattern).__name__, pattern.to_json()
    return Job(skin, text, ("key",), ("time",), probability, "y", name, expire, pages)


def table_of(rows, vectors=False):
    """With the page of each key; Spark takes a hash of it instead."""
    key, time, p, y, name = (list(column) for column in zip(*rows, strict=True))
    page = [0 if k is None else len(k) % 5 for k in key]
    kinds = {"y": pa.float64(), "key": pa.string(), "id": pa.string()}
    columns = {"key": key, "time": time, "p": p, "y": y, "id": name, PAGE: page}
    kinds["p"] = pa.list_(pa.float64()) if vectors else pa.float64()
    return pa.table({name: pa.array(column, kinds.get(name)) for name, column in columns.items()})


def shown(table):
    return [tuple(row[name] for name in ADDED) for row in table.to_pylist()]


def order(row):
    """The order in which the rows of a part are played."""
    key, time, p, y, name = row
    said, happened = p if isinstance(p, float) else 0, (y is not None, y or 0)
    return key, time, p is None, name or "", said, happened


@st.composite
def logs(draw, name):
    """Parts of a log: (pattern, parts of rows, expire)."""
    pattern, probabilities, outcomes = PATTERNS[name]
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        rows = draw(
            st.lists(
                st.tuples(
                    st.sampled_from(["a", "bb", "cc"]),
                    st.integers(0, 9),
                    st.sampled_from([*probabilities, None]),
                    st.sampled_from([*outcomes, None, None]),
                    st.sampled_from([None, "x", "y", "z"]),
                ),
                min_size=1,
                max_size=30,
            )
        )
        shift = 6 * len(parts)
        parts.append([(key, time + shift, *rest) for key, time, *rest in rows])
    return pattern, parts, draw(st.sampled_from([None, 3]))


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=25)
@given(data=st.data())
def test_rows_come_out_as_from_a_bank_however_they_are_cut(name, data):
    pattern, parts, expire = data.draw(logs(name))
    vectors = isinstance(PATTERNS[name][1][0], list)
    if vectors:  # arrays are not compared, so there must be no ties
        parts = [_untied(part) for part in parts]
    job, store, found, wanted = job_of(pattern, expire), {}, [], []
    for part in parts:
        table = play_pages(job, table_of(part, vectors), store.get, store.__setitem__)
        rows = table.select(["key", "time", "p", "y", "id"]).to_pylist()
        wanted += [tuple(row.values()) for row in rows]
        found += shown(table)
        if not vectors:
            played = [order(tuple(row.values())) for row in rows]  # keys in any order
            assert sorted(played, key=lambda own: own[0]) == sorted(map(order, part))
    assert found == replayed(pattern, wanted, expire)


def _untied(part):
    """Rows of a key at times of their own."""
    own = sorted(part, key=lambda row: row[:2])
    return [(key, 10 * time + k, *rest) for k, (key, time, *rest) in enumerate(own)]


@settings(max_examples=20)
@given(data=st.data())
def test_a_whole_frame_comes_out_the_same(data):
    pattern, parts, expire = data.draw(logs("recalibrator"))
    rows = sorted((row for part in parts for row in part), key=order)
    table = table_of(rows).drop_columns([PAGE])
    batches = table.to_batches(max_chunksize=data.draw(st.integers(1, 20)))
    found = pa.Table.from_batches(whole_frame(job_of(pattern, expire))(iter(batches)))
    assert shown(found) == replayed(pattern, rows, expire)


def test_refused_rows_change_nothing():
    pattern, log = fs.Recalibrator(seed=3), log_of(200, 3)
    good = list(zip(log["key"], log["time"], log["p"], log["y"], [None] * 200, strict=True))
    bad = [
        (None, 0, 0.5, 1.0, None), ("key 1", None, 0.5, 1.0, None), ("key 1", 7, 1.5, 1.0, None),
        ("key 1", 8, 0.5, 2.0, None), ("key 1", 9, None, None, "x"), ("key 2", 9, -1.0, None, "x"),
    ]  # fmt: skip
    store: dict = {}
    job = job_of(pattern)
    both = play_pages(job, table_of(good + bad), store.get, store.__setitem__)
    alone = play_pages(job, table_of(good), {}.get, lambda page, content: None)
    refused = both.filter(pa.compute.equal(both["status"], "refused"))
    assert len(refused) == len(bad) and refused["issued"].null_count == len(bad)
    assert shown(both.filter(pa.compute.not_equal(both["status"], "refused"))) == shown(alone)


def test_words_are_outcomes_where_the_pattern_names_them():
    pattern = fs.Recalibrator(classes=["no", "yes"], seed=3)
    log = log_of(50, 2)
    words = ["yes" if y else "no" for y in log["y"]]
    table = pa.table({**log, "y": words, PAGE: [0] * 50})
    found = play_pages(job_of(pattern, name=None), table, {}.get, lambda *_: None).sort_by("time")
    run = fs.Bank(pattern).run(log["key"], log["p"], words)
    assert np.array_equal(found["issued"].to_numpy(), run.issued)


def test_several_columns_are_a_key():
    pattern, log = fs.Recalibrator(seed=3), log_of(60, 3)
    second = [k % 2 for k in range(60)]
    job = Job(
        "Recalibrator", pattern.to_json(), ("key", "second"), ("time",), "p", "y", None, None, 5
    )
    table = pa.table({**log, "second": second, PAGE: [0] * 60})
    found = play_pages(job, table, {}.get, lambda *_: None).sort_by("time")
    run = fs.Bank(pattern).run(list(zip(log["key"], second, strict=True)), log["p"], log["y"])
    assert np.array_equal(found["mean"].to_numpy(), run.mean)


class TestPages:
    def page(self, waits=True):
        """A page of two keys, one of which waits."""
        pattern, store = fs.Recalibrator(seed=3), {}
        rows = [("a", 1, 0.3, None if waits else 1.0, "x"), ("b", 1, 0.4, 1.0, None)]
        play_pages(job_of(pattern), table_of(rows), store.get, store.__setitem__)
        return pattern, store[1], fingerprint_of(pattern.to_json(), 5)

    def test_what_is_written_is_read_back(self):
        pattern, page, own = self.page()
        streams, counts = from_bytes(pattern, own, [page])
        assert (streams.keys, counts) == (["a", "b"], [2])
        assert to_bytes(streams, own) == page

    def test_another_pattern_or_number_of_pages_is_refused(self):
        pattern, page, _ = self.page()
        other = fingerprint_of(fs.Recalibrator(seed=4).to_json(), 5)
        for own in (other, fingerprint_of(pattern.to_json(), 6)):
            with pytest.raises(ValueError, match="checkpoint must be of the same pattern, seed"):
                from_bytes(pattern, own, [page])

    @pytest.mark.parametrize("place", [0, 40, 200, -1])
    def test_damage_is_refused(self, place):
        pattern, page, own = self.page()
        damaged = bytearray(page)
        damaged[place] ^= 1
        with pytest.raises(ValueError, match="must"):
            from_bytes(pattern, own, [bytes(damaged)])

    def test_rows_of_another_width_are_refused(self):
        pattern, _, own = self.page()
        wider = Streams(fs.Recalibrator(step=0.01, seed=3), ["a"])
        with pytest.raises(ValueError, match="rows of the pattern"):
            from_bytes(pattern, own, [to_bytes(wider, own)])
