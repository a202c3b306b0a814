"""Frames of every library through a bank: the same forecasts as from arrays, row by row."""

import datetime

import numpy as np
import pytest

from fullswap import Bank, Forecaster, MulticlassForecaster, Recalibrator
from fullswap.inputs.codes import codes_of, joined_codes
from fullswap.kernels.grouping import group_events, number_values

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

FRAMES = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "pandas, other index": lambda columns: pd.DataFrame(columns, index=np.arange(300)[::-1] * 7),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "arrow": pa.table,
    "arrow, batch": lambda columns: pa.record_batch(columns),
}
every = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
SAID = {"key": "site", "probability": "said", "outcome": "rain"}


def columns_of(events=300, seed=0):
    rng = np.random.default_rng(seed)
    day = datetime.datetime(2026, 3, 1)
    return {
        "site": [f"site {k}" for k in rng.integers(0, 9, events)],
        "said": rng.random(events),
        "rain": rng.integers(0, 2, events),
        "day": [day + datetime.timedelta(hours=int(k)) for k in rng.integers(0, 100, events)],
        "sensor": rng.integers(0, 2, events),
    }


def plain(frame):
    """Columns as lists."""
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return {name: list(column) for name, column in frame.items()}


def ordered_run(columns, bank):
    """By arrays in order of time: issued and mean in the order of the rows."""
    order = np.argsort(np.array(columns["day"]), kind="stable")
    keys = [columns["site"][k] for k in order]
    run = bank.run(keys, columns["said"][order], columns["rain"][order])
    issued, mean = np.zeros(len(order)), np.zeros(len(order))
    issued[order], mean[order] = run.issued, run.mean
    return issued, mean


@every
def test_every_library_gives_what_arrays_give(make):
    columns = columns_of()
    straight, bank = Bank(Recalibrator(seed=3)), Bank(Recalibrator(seed=3))
    issued, mean = ordered_run(columns, straight)
    frame = make(columns)
    answer = bank.run(frame, time="day", **SAID)
    native = {pl.LazyFrame: pl.DataFrame, pa.RecordBatch: pa.Table}.get(type(frame), type(frame))
    assert type(answer) is native
    found = plain(answer)
    assert list(found) == [*columns, "issued", "mean"]
    assert found["site"] == columns["site"] and list(found["said"]) == columns["said"].tolist()
    np.testing.assert_array_equal(found["issued"], issued)
    np.testing.assert_array_equal(found["mean"], mean)
    assert bank.to_json() == straight.to_json()
    if isinstance(frame, pd.DataFrame):
        assert (answer.index == frame.index).all() and "issued" not in frame
    assert bank.run(make(columns), time="day", record=False, **SAID) is None


@every
def test_several_keys_are_tuples(make):
    columns = columns_of()
    bank = Bank(Forecaster(seed=1))
    answer = bank.run(make(columns), key=["site", "sensor"], outcome="rain")
    straight = Bank(Forecaster(seed=1))
    keys = list(zip(columns["site"], columns["sensor"].tolist(), strict=True))
    run = straight.run(keys, columns["rain"])
    np.testing.assert_array_equal(plain(answer)["mean"], run.mean)
    assert bank.to_json() == straight.to_json() and list(bank.keys())[0] == keys[0]


@pytest.mark.parametrize("name", ["pandas", "polars", "arrow", "dict"])
def test_rows_without_an_outcome_wait(name):
    columns = columns_of(40)
    columns["rain"] = [None if k % 9 == 4 else int(y) for k, y in enumerate(columns["rain"])]
    bank, straight = Bank(Recalibrator(seed=1)), Bank(Recalibrator(seed=1))
    answer = plain(bank.run(FRAMES[name](columns), **SAID))
    outcomes = np.array([np.nan if y is None else y for y in columns["rain"]])
    run = straight.run(columns["site"], columns["said"], outcomes, known=np.arange(1, 41))
    np.testing.assert_array_equal(answer["issued"], run.issued)
    assert bank.to_json() == straight.to_json()
    assert len(bank.pending) == sum(y is None for y in columns["rain"]) == 4
    bank.update(bank.pending, [1] * 4)
    assert not bank.pending


def test_outcomes_that_are_known_later():
    """Learnt before the first row after that moment; never, where it is missing."""
    columns = columns_of(60, 4)
    hours = np.random.default_rng(5).integers(0, 30, 60)
    columns["told"] = [day + datetime.timedelta(hours=int(h))
                       for day, h in zip(columns["day"], hours, strict=True)]  # fmt: skip
    columns["told"][7] = None
    order = np.argsort(np.array(columns["day"]), kind="stable")
    clock = np.array(columns["day"])[order]
    known = [10**6 if columns["told"][k] is None else
             max(int((clock <= columns["told"][k]).sum()), place + 1)
             for place, k in enumerate(order)]  # fmt: skip
    straight = Bank(Recalibrator(seed=1))
    keys = [columns["site"][k] for k in order]
    run = straight.run(keys, columns["said"][order], columns["rain"][order], known=known)
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        bank = Bank(Recalibrator(seed=1))
        answer = plain(bank.run(make(columns), time="day", known="told", **SAID))
        np.testing.assert_array_equal(np.array(answer["issued"])[order], run.issued)
        assert bank.to_json() == straight.to_json() and bank.pending
    rows = {**columns, "after": np.arange(60) + 3}
    by_rows, other = Bank(Recalibrator(seed=1)), Bank(Recalibrator(seed=1))
    by_rows.run(rows, known="after", **SAID)
    other.run(columns["site"], columns["said"], columns["rain"], known=rows["after"])
    assert by_rows.to_json() == other.to_json()
    with pytest.raises(ValueError, match="known must be moments of the same sort as time"):
        by_rows.run(rows, time="day", known="after", **SAID)


def test_weights_and_events():
    columns = {**columns_of(50), "stake": np.linspace(0, 1, 50)}
    columns["match"] = [f"m{k // 3}" if k % 4 else None for k in range(50)]
    columns["site"] = [f"site {k // 3}" for k in range(50)]
    columns["rain"] = np.arange(50) // 3 % 2
    columns["stake"] = np.arange(50) // 3 / 20
    bank, straight = Bank(Recalibrator(seed=1)), Bank(Recalibrator(seed=1))
    run = straight.run(columns["site"], columns["said"], columns["rain"], event=columns["match"],
                       sample_weight=columns["stake"])  # fmt: skip
    answer = bank.run(pd.DataFrame(columns), weight="stake", event="match", **SAID)
    np.testing.assert_array_equal(answer["issued"], run.issued)
    assert bank.to_json() == straight.to_json()


def test_words_and_classes():
    rng = np.random.default_rng(2)
    names = ["home", "tie", "away"]
    shares = rng.dirichlet(np.ones(3), 80)
    result = [names[k] for k in rng.integers(0, 3, 80)]
    frame = pl.DataFrame({"cup": rng.integers(0, 3, 80), "result": result,
                          **{f"p {n}": shares[:, k] for k, n in enumerate(names)}})  # fmt: skip
    pattern = Recalibrator(classes=names, seed=1)
    straight, bank = Bank(pattern), Bank(pattern)
    run = straight.run(frame["cup"].to_list(), shares, result)
    answer = bank.run(frame, key="cup", probability=[f"p {n}" for n in names], outcome="result")
    assert answer.columns[5:] == [*(f"issued_{n}" for n in names), *(f"mean_{n}" for n in names)]
    np.testing.assert_array_equal(answer[[f"mean_{n}" for n in names]].to_numpy(), run.mean)
    assert bank.to_json() == straight.to_json()
    codes = frame.with_columns(result=pl.Series([names.index(name) for name in result]))
    plain_classes = Bank(MulticlassForecaster(3, seed=1))
    answer = plain_classes.run(codes.head(20), key="cup", outcome="result")
    assert answer.columns[5:] == [f"{what}_{k}" for what in ("issued", "mean") for k in range(3)]
    words = Bank(Forecaster(seed=1))
    wet = {"cup": [1, 1, 2], "wet": ["yes", None, "no"]}
    words.run(wet, key="cup", outcome="wet")
    assert words[1].rounds == 1 and len(words.pending) == 1 and words[2].rounds == 1
    soft = Bank(MulticlassForecaster(3, seed=1))
    soft.run(frame, key="cup", outcome=[f"p {n}" for n in names])
    hard = Bank(MulticlassForecaster(3, seed=1))
    hard.run(frame["cup"].to_list(), shares)
    assert soft.to_json() == hard.to_json()


def test_several_models_some_absent():
    rng = np.random.default_rng(2)
    said = rng.random((50, 2))
    said[::3, 1] = np.nan
    frame = pd.DataFrame({"k": rng.integers(0, 3, 50), "a": said[:, 0], "b": said[:, 1],
                          "y": rng.integers(0, 2, 50)})  # fmt: skip
    bank, straight = (Bank(Recalibrator(models=2, seed=1)) for _ in range(2))
    bank.run(frame, key="k", probability=["a", "b"], outcome="y")
    straight.run(frame["k"].to_numpy(), said, frame["y"].to_numpy())
    assert bank.to_json() == straight.to_json()
    with pytest.raises(ValueError, match="probability must be 2 names of columns, got 'a'"):
        bank.run(frame, key="k", probability="a", outcome="y")
    of_classes = Bank(Recalibrator(models=2, classes=3, seed=1))
    with pytest.raises(ValueError, match="probability must be 2 lists of 3 names of columns"):
        of_classes.run(frame, key="k", probability=["a", "b"], outcome="y")


@every
def test_what_is_refused_changes_nothing(make):
    if make is FRAMES["pandas, other index"]:
        pytest.skip("the same frame as without")
    columns = columns_of(300)
    bank = Bank(Recalibrator(seed=1))
    bank.run(make(columns), **SAID)
    before = bank.to_json()
    listed = r"\(site, said, rain, day, sensor\)"
    gap = {**columns, "site": ["n", None] * 150, "blank": [0.5, None] * 150}
    refusals = [
        (dict(SAID, key="sites"), columns, rf"key must name a column {listed}, got 'sites'"),
        (dict(SAID, probability="sai"), columns, "probability must name .*did you mean 'said'"),
        (dict(SAID, outcome="snow"), columns, "outcome must name a column"),
        (dict(SAID, time="hour"), columns, "time must name a column"),
        (dict(SAID, weight="mass"), columns, "weight must name a column"),
        (dict(SAID, event="match"), columns, "event must name a column"),
        (dict(SAID, known="then"), columns, "known must name a column"),
        (dict(SAID, key=["site", "x"]), columns, "key must name a column"),
        (dict(SAID, key=[]), columns, "key must be the name of a column, or several"),
        (dict(SAID, key=None), columns, "key must be named where a frame is given"),
        (dict(SAID, outcome=None), columns, "outcome must be named where a frame is given"),
        (dict(SAID, probability=None), columns, "probability must be named"),
        (SAID, {**columns, "mean": columns["said"]}, "frame must have no column named 'mean'"),
        (SAID, {**columns, "said": columns["said"] + 1}, r"p must lie in \[0, 1\]"),
        (dict(SAID, key="sensor", probability="blank"), gap, "150 rows without in column 'blank'"),
        (dict(SAID, weight="said", sample_weight=[1] * 300), columns, "columns must be given by"),
    ]
    if make is not dict:
        refusals.append((SAID, gap, "key .*must be given for every row, got 150 rows without"))
    for arguments, own, match in refusals:
        with pytest.raises(ValueError, match=match):
            bank.run(make(own), **arguments)
        assert bank.to_json() == before
    with pytest.raises(ValueError, match="columns must be given by the names of columns"):
        bank.run(make(columns), columns["said"], columns["rain"], **SAID)


def test_names_of_columns_need_a_frame():
    bank = Bank(Forecaster(seed=1))
    with pytest.raises(ValueError, match="outcome must be left out where keys are given row by"):
        bank.run(["a"], [1], outcome="won")
    with pytest.raises(ValueError, match="probability must be left out: this forecaster takes"):
        bank.run({"k": ["a"], "y": [1]}, key="k", outcome="y", probability="k")
    with pytest.raises(ValueError, match="column names must differ, got 'y' 2 times"):
        bank.run(pd.DataFrame([[1, 1]], columns=["y", "y"]), key="y", outcome="y")


@every
def test_a_frame_without_rows(make):
    if make is FRAMES["pandas, other index"]:
        pytest.skip("an index has no rows either")
    columns = {name: np.asarray(values)[:0] for name, values in columns_of(5).items()}
    columns["site"] = columns["site"].astype(object)
    if make in (pa.table, FRAMES["arrow, batch"]):
        columns["site"] = pa.array([], pa.string())
    bank = Bank(Recalibrator(seed=1))
    answer = plain(bank.run(make(columns), time="day", **SAID))
    assert list(answer)[-2:] == ["issued", "mean"] and len(answer["mean"]) == 0 == len(bank)


def test_named_fields_of_arrays():
    table = np.array([(1, 0.5, 1), (2, 0.25, 0)], [("k", int), ("p", float), ("y", int)])
    bank = Bank(Recalibrator(seed=1))
    answer = bank.run(table, key="k", probability="p", outcome="y")
    assert list(answer) == ["k", "p", "y", "issued", "mean"] and list(bank.keys()) == [1, 2]


# --- keys as numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [
    np.array([3, 1, 3, -7, 2**62, -7]), np.array([5, 2**64 - 1, 5], np.uint64),
    np.array([True, False, True]), np.array([0.5, -0.0, 0.0, 1e300]), np.array(["b", "a", "b"]),
    np.arange(5000)[::-1] * 2**40, np.array([], int), [("a", 1), "b", ("a", 1)],
    pd.Series(["b", "a", "b"]), pd.Series(["b", "a", "b"], dtype="category"), pd.Series([3, 1, 3]),
    pl.Series(["b", "a", "b"]), pl.Series(["b", "a", "b"], dtype=pl.Categorical),
    pl.Series([3, 1, 3]), pl.Series([True, False]), pl.Series([1.5, 1.5]),
    pa.array(["b", "a", "b"]), pa.array(["b", "a", "b"]).dictionary_encode(), pa.array([3, 1, 3]),
    pa.chunked_array([["b", "a"], ["c", "b"]]), pd.Index(["b", "a", "b"]),
])  # fmt: skip
def test_codes_are_numbered_as_values_come(values):
    codes, distinct = codes_of("key", values)
    listed = values.to_list() if hasattr(values, "to_list") else list(values)
    listed = [value.as_py() if hasattr(value, "as_py") else value for value in listed]
    assert [distinct[code] for code in codes.tolist()] == listed
    assert codes.dtype == np.int64
    firsts = [codes.tolist().index(code) for code in range(len(distinct))]
    assert firsts == sorted(firsts)
    assert all(type(value) in (int, float, bool, str, tuple) for value in distinct)


def test_many_values_are_numbered_as_a_dictionary_would():
    rng = np.random.default_rng(0)
    for values in (rng.integers(0, 5000, 40_000), rng.integers(-(2**60), 2**60, 20_000),
                   rng.integers(0, 3000, 40_000) << 48):  # fmt: skip
        codes, first = number_values(values)
        seen = {}
        expected = [seen.setdefault(value, len(seen)) for value in values.tolist()]
        assert codes.tolist() == expected and values[first].tolist() == list(seen)


def test_several_columns_of_codes_are_tuples():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 7, 500) for _ in range(3)]
    codes, distinct = joined_codes([codes_of("key", column) for column in columns])
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [distinct[code] for code in codes.tolist()] == rows and len(set(distinct)) == len(
        distinct
    )


def test_events_are_grouped_in_their_order():
    streams = np.random.default_rng(1).integers(0, 50, 3000)
    bounds, order = np.zeros(61, np.int64), np.zeros(3000, np.int32)
    group_events(streams, bounds, order)
    np.testing.assert_array_equal(order, np.argsort(streams, kind="stable"))
    np.testing.assert_array_equal(np.diff(bounds), np.bincount(streams, minlength=60))


@pytest.mark.parametrize("first", [[], [3, 5], ["a"], [2**70], [1.5], [True, 0]], ids=str)
def test_many_numbers_are_found_as_few_are(first, monkeypatch):
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, 40, 60), rng.integers(-5, 60, 80) * 2**40, rng.integers(0, 90, 70)]
    banks = []
    for many in (1, 10**9):
        monkeypatch.setattr("fullswap.forecasting.bank_rows.MANY", many)
        bank = Bank(Forecaster(seed=1))
        bank.run(first, [1] * len(first))
        for keys in batches:
            bank.run(keys, keys % 2)
        bank.run([*first, 7.0, 8], [0] * (len(first) + 2))
        banks.append(bank)
    assert banks[0].to_json() == banks[1].to_json()
    assert list(banks[0]._places.values()) == list(range(len(banks[0])))
