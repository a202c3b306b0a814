"""Saved banks come back to the last bit, lose nothing to crashes, and are refused if damaged."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.makers import MAKERS
from contract.test_banks import KEYS, columns_of, keys_for
from forecasting import save_killed
from fullswap import Bank, Forecaster, Monitor, MonitorBank
from fullswap.forecasting.state import pack, pack_row, unpack_row
from fullswap.kernels.columns import LEVEL


def a_bank(seed=1):
    bank = Bank(Forecaster(seed=seed))
    bank.run(list(KEYS) * 20, np.arange(100) % 2)
    return bank


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_every_kind_comes_back_to_the_last_bit(maker, tmp_path):
    log, path = maker.log(200, 4), tmp_path / "bank.json"
    keys, _ = keys_for(len(log))
    bank = Bank(maker(seed=6))
    bank.run(keys, *columns_of(log), **log.more())
    contexts = () if log.contexts is None else (log.contexts[:5],)
    tickets = bank.predict(keys[:5], *contexts, **log.more(slice(5)))
    bank.save(path)
    again = Bank.load(path)
    assert again.to_json() == bank.to_json() and list(again.keys()) == list(bank.keys())
    for own in (bank, again):
        own.update(tickets, log.outcomes[:5])
        own.run(keys, *columns_of(log), **log.more())
    assert again.to_json() == bank.to_json()
    bank.save(str(path))
    assert Bank.load(str(path)).to_json() == bank.to_json()


@given(st.lists(st.one_of(
    st.text(max_size=5), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(), st.binary(max_size=4), st.tuples(st.text(max_size=3), st.integers()),
), min_size=1, max_size=12))  # fmt: skip
def test_any_key_is_found_again(keys):
    bank = Bank(Forecaster(seed=1))
    bank.run(keys, [1] * len(keys))
    again = Bank.from_json(bank.to_json())
    assert list(again.keys()) == list(bank.keys())
    assert all(again[key].to_json() == bank[key].to_json() for key in keys)


def test_a_process_that_is_killed_loses_nothing_that_it_saved(tmp_path):
    report, path = tmp_path / "saved", tmp_path / "bank"
    script = Path(save_killed.__file__)
    rng = np.random.default_rng(1)
    for _ in range(3):
        for file in tmp_path.iterdir():
            file.unlink()
        child = subprocess.Popen([sys.executable, script, path, report])
        while not report.exists() or not report.stat().st_size:
            assert child.poll() is None
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0.0, 0.15)))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        saved = report.stat().st_size
        bank = Bank.load(path)
        turns = bank[0].rounds
        assert saved <= turns <= saved + 1  # the last one may be saved and not yet reported
        straight = Bank(Forecaster(seed=1))
        for turn in range(turns):
            straight.run(save_killed.KEYS, (save_killed.KEYS + turn) % 2, record=False)
        assert bank.to_json() == straight.to_json()


def test_another_process_reads_what_was_saved(tmp_path):
    bank = a_bank()
    bank.save(tmp_path / "bank.json")
    code = "import sys, fullswap; print(fullswap.Bank.load(sys.argv[1]).to_json(), end='')"
    command = [sys.executable, "-c", code, tmp_path / "bank.json"]
    assert subprocess.run(command, check=True, capture_output=True).stdout.decode() == (
        bank.to_json()
    )


def test_every_damaged_or_missing_byte_of_a_file_is_found(tmp_path):
    path = tmp_path / "bank.json"
    bank = a_bank()
    bank.predict(["north"])
    bank.save(path)
    content = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(content), 60).tolist():
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(ValueError, match="text must"):
            Bank.load(path)
        path.write_bytes(content[:place])
        with pytest.raises(ValueError, match="text must be JSON"):
            Bank.load(path)


def test_content_that_no_bank_wrote_is_refused_even_if_its_checksum_fits():
    body = json.loads(a_bank().to_json())
    content = {name: body[name] for name in ("forecaster", "spec", "seed", "streams")}
    assert Bank.from_json(pack("Bank", content)).to_json() == a_bank().to_json()
    key, row, _ = content["streams"][0]
    wrong = unpack_row(row).copy()
    wrong[-1] = 9.0
    for made in (
        [key, pack_row(wrong), []],
        [key, row[:-4], []],
        [key, "", []],
        [key, row, [[0, 0, 0, [1]]]],
        [key, row, "nonsense"],
        [key, row],
        [[1], row, []],
        content["streams"][1],  # a key that is there already
        None,
    ):
        streams = [made, *content["streams"][1:]]
        with pytest.raises(ValueError, match="must"):
            Bank.from_json(pack("Bank", {**content, "streams": streams}))
    for more in ({"seed": 5}, {"seed": "-5"}, {"forecaster": "Bank"}, {"streams": {}}):
        with pytest.raises(ValueError, match="must"):
            Bank.from_json(pack("Bank", {**content, **more}))


def test_a_bank_is_saved_to_a_path():
    bank = a_bank()
    for wrong in (3, None, object()):
        with pytest.raises(ValueError, match="where must be a path"):
            bank.save(wrong)
        with pytest.raises(ValueError, match="where must be a path"):
            Bank.load(wrong)


def test_files_of_others_are_refused(tmp_path):
    path = tmp_path / "monitors.json"
    path.write_text(MonitorBank(Monitor()).to_json())
    with pytest.raises(ValueError, match="text must be"):
        Bank.load(path)
    path.write_text(Forecaster(seed=1).to_json())
    with pytest.raises(ValueError, match="state of a Bank, got that of a Forecaster"):
        Bank.load(path)


def test_an_empty_bank_is_a_bank(tmp_path):
    Bank(Forecaster(seed=1)).save(tmp_path / "bank.json")
    assert len(Bank.load(tmp_path / "bank.json")) == 0


def test_streams_that_are_due_are_refined_before_they_are_saved():
    """An interrupt may come behind an event and before the finer grid."""
    bank = a_bank()
    level = int(bank._rows.row(0)[LEVEL])
    left = int(bank.spec.end(level)) - bank["north"].rounds - 1
    bank.run(["north"] * left, np.zeros(left))
    straight = Bank.from_json(bank.to_json())
    straight.run(["north"], [1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bank._rows), "refine", lambda *given: 1 / 0)
        (ticket,) = bank.predict(["north"])
        with pytest.raises(ZeroDivisionError):
            bank.update([ticket], [1])
    loaded = Bank.from_json(bank.to_json())
    assert loaded["north"].rounds == straight["north"].rounds
    row = straight["north"]._stream.row
    assert len(loaded["north"]._stream.row) == len(row) and row[LEVEL] == level + 1
