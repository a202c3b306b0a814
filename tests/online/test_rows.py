"""Rows: refined as a plain loop would, many of them in one array, and checked on entry."""

import numpy as np
import pytest

from contract.makers import MAKERS, kind_behind, row_of
from fullswap.base.draws import stream_of
from fullswap.forecasting import Forecaster, Recalibrator
from fullswap.kernels import events
from fullswap.kernels.columns import HEAD, HINT, LEVEL, MASS, NEXT_ID
from fullswap.online.kinds import kind_of
from fullswap.online.loop import run_events
from fullswap.online.rows import Rows
from fullswap.online.spec import LATER, Spec
from naive.line import refined

GROWING = {
    "line": Forecaster(seed=1),
    "experts": Recalibrator(None, models=2, seed=1),
}


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_refining_is_a_plain_loop_over_points(name, level):
    kind = kind_of(GROWING[name].spec)
    kind.reach(level + 1)
    rng = np.random.default_rng(level)
    coarse, fine = np.atleast_2d(kind.points(level).T).T, np.atleast_2d(kind.points(level + 1).T).T
    old = np.concatenate((kind.blank[: kind.base], rng.random(kind.columns * len(coarse))))
    old[:HEAD] = rng.integers(1, 9, HEAD)
    old[LEVEL], old[HINT] = level, len(coarse) - 2
    new = np.full(kind.row_width(level + 1), np.nan)
    events.refine(kind.kernel, old, new)
    blank = kind._blank_points(level + 1).tolist()
    expected = refined(coarse, fine, kind.point_columns(old).tolist(), blank)
    assert kind.point_columns(new).tolist() == expected
    same = [k for k in range(kind.base) if k not in (LEVEL, HINT)]
    assert new[LEVEL] == level + 1
    assert np.array_equal(new[same], old[same])
    if kind.spec.models == 0:
        assert kind.points(level + 1)[int(new[HINT])] == kind.points(level)[int(old[HINT])]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("together", [True, False], ids=["in one call", "in stretches"])
def test_many_streams_in_one_array_are_streams_of_their_own(name, together, monkeypatch):
    """Events of three streams, mixed; each row ends as if its stream had been alone."""
    if not together:
        monkeypatch.setattr("fullswap.online.loop.STRETCH", 37)
    maker = MAKERS[name]
    kind, log = kind_of(maker(feedback="distribution").spec), maker.log(240, 4)
    if name == "binary":
        kind = kind_of(maker().spec)
    keys = [stream_of(key) for key in ("a", "b", "c")]
    rng = np.random.default_rng(1)
    streams = np.repeat(rng.choice(3, 80, p=[0.6, 0.3, 0.1]), 3)
    scales = rng.choice([0.0, 0.5, 1.0], 240)
    contexts = log.contexts
    if maker.models == 1:
        contexts = np.ascontiguousarray(contexts[:, None])
    contexts, _ = maker()._with_groups(contexts, len(log), log.groups)
    rows = Rows(kind, 77, keys)
    record = run_events(rows, streams, contexts, log.outcomes, scales, True, False)
    for k, key in enumerate(keys):
        alone, own = Rows(kind, 77, [key]), streams == k
        part = None if contexts is None else np.ascontiguousarray(contexts[own])
        nobody = np.zeros(0, np.int64)
        single = run_events(alone, nobody, part, log.outcomes[own], scales[own], True, False)
        assert np.array_equal(rows.row(k), alone.arena)
        for mine, theirs in zip(record, single, strict=True):
            width = min(mine[own].shape[-1], theirs.shape[-1]) if theirs.ndim > 1 else None
            assert np.array_equal(mine[own][..., :width], theirs[..., :width])
        assert rows.row(k)[NEXT_ID] == own.sum()
    assert rows.nbytes >= sum(8 * len(rows.row(k)) for k in range(3))


def test_places_that_rows_have_left_are_used_again():
    kind = kind_of(Forecaster(seed=1).spec)
    rows = Rows(kind, 1, list(range(40)))
    outcomes = np.tile([1.0, 0.0], 200)
    for k in range(40):
        streams = np.full(400, k)
        run_events(rows, streams, None, outcomes, np.zeros(0), False, False)
    used = sum(len(rows.row(k)) for k in range(40))
    assert all(rows.row(k)[LEVEL] == 2 for k in range(40))
    # blank rows (18 columns), then widths 21 and 27; without re-use 40·(18 + 21 + 27)
    assert len(rows.arena) < 1.25 * (used + 40 * 18 + 2 * 27)
    starts = sorted(rows.start.tolist())
    assert all(b - a >= len(rows.row(0)) for a, b in zip(starts, starts[1:], strict=False))


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_every_row_of_a_stream_passes_the_check_and_spoilt_ones_do_not(name):
    maker = MAKERS[name]
    forecaster, log = maker(seed=2), maker.log(150, 3)
    for start in range(0, 150, 30):
        log.run(forecaster, slice(start, start + 30))
        kind_behind(forecaster).check(row_of(forecaster))
    row = row_of(forecaster)
    for place in range(len(row)):
        for value in (np.nan, np.inf):
            spoilt = row.copy()
            spoilt[place] = value
            with pytest.raises(ValueError, match="row must"):
                kind_behind(forecaster).check(spoilt)
    for place, value in ((LEVEL, -1), (LEVEL, 99), (LEVEL, 0.5), (HINT, -1), (HINT, 10**9),
                         (MASS, -1), (MASS, 1e9), (NEXT_ID, 0), (HEAD - 3, -1)):  # fmt: skip
        spoilt = row.copy()
        spoilt[place] = value
        with pytest.raises(ValueError, match="row must"):
            kind_behind(forecaster).check(spoilt)
    for other in (row[:-1], np.append(row, 0.0)):
        with pytest.raises(ValueError, match="row must"):
            kind_behind(forecaster).check(other)


@pytest.mark.parametrize("name", MAKERS)
def test_specs_come_back_from_plain_data(name):
    spec = MAKERS[name]().spec
    stored = spec.to_dict()
    assert Spec.from_dict(stored) == spec and hash(Spec.from_dict(stored)) == hash(spec)
    for field in stored.keys() - LATER:
        with pytest.raises(ValueError):
            Spec.from_dict({key: value for key, value in stored.items() if key != field})
    wrong = {"kind": "x", "levels": [], "starts": [1.0], "classes": 1, "models": -1,
             "feedback": 1, "max_weight": 0, "horizon": 0, "steps": 0}  # fmt: skip
    for field, value in wrong.items():
        with pytest.raises(ValueError):
            Spec.from_dict({**stored, field: value})
    for other in (None, [], {**stored, "more": 1}):
        with pytest.raises(ValueError, match="spec must"):
            Spec.from_dict(other)
