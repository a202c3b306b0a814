"""A copy of a folder that is in use goes on as the original did."""

import random
import shutil
import threading

import pytest

from fullswap.service import saving
from fullswap.service.backup import backup
from fullswap.service.messages import ForecastItem, OutcomeItem
from fullswap.service.service import Service
from fullswap.service.tokens import create_token, read_tokens

pytestmark = pytest.mark.timeout(600)
STREAMS = [f"stream {k}" for k in range(12)]


@pytest.fixture
def busy_tables(monkeypatch):
    """Streams are written and the journal is trimmed all the time, not once in a while."""
    monkeypatch.setattr(saving, "LOW", 0)
    monkeypatch.setattr(saving, "ROWS_AT_ONCE", 20)
    monkeypatch.setattr(saving, "STREAMS_AT_ONCE", 4)


def play(service, rounds, done=None):
    """Rounds of all streams: what was forecast, and what became of outcomes.

    Everything has an id, so that the same rounds once more change nothing that is known.
    """
    rng, issued, status = random.Random(7), [], []
    for turn in rounds:
        p = [rng.random() for _ in STREAMS]
        happened = [rng.random() < 0.6 * q for q in p]
        ids = [f"{name}, {turn}" for name in STREAMS]
        items = [
            ForecastItem(name, id=one, p=q) for name, one, q in zip(STREAMS, ids, p, strict=True)
        ]
        issued.append([(one.id, one.issued, one.mean) for one in service.forecasts(items).result()])
        told = [OutcomeItem(y, one) for y, one in zip(happened, ids, strict=True)]
        status.append([one.status for one in service.outcomes(told).result()])
        if done is not None:
            done.append(turn)
    return issued, status


def folder_of(service, name):
    fleet = service.ask(lambda engine: engine.specs_by_name[name]).result()
    return [fleet.rows.row(k).tolist() for k in range(len(fleet))]


def settle_down(service):
    """As after some idle seconds: all is in the tables, and the journal is trimmed."""
    service.ask(lambda engine: engine.saving.save_all()).result()


def test_a_backup_under_load_has_all_promises_and_goes_on_alike(tmp_path, busy_tables):
    done, kept, copies = [], [], [tmp_path / f"copy {k}" for k in range(6)]
    service = Service.open(tmp_path / "data")

    def copy():
        for path in copies:
            kept.append(len(done))
            backup(tmp_path / "data", path)

    def rounds():
        """As many as are played while there are copies to make, and some more."""
        thread = threading.Thread(target=copy)
        thread.start()
        while thread.is_alive():
            yield len(done)
        yield from range(len(done), len(done) + 20)

    issued, status = play(service, rounds(), done)
    rows = folder_of(service, "default")
    service.close()
    assert {one for turn in status for one in turn} == {"learnt"}
    for promised, path in zip(kept, copies, strict=True):
        restored = Service.open(path)
        again, what = play(restored, range(len(done)))
        assert again == issued
        assert {one for turn in what[:promised] for one in turn} <= {"known"}
        assert what[-1] == ["learnt"] * len(STREAMS)
        assert folder_of(restored, "default") == rows
        restored.close()


def test_a_backup_of_a_folder_that_nobody_uses(tmp_path):
    service = Service.open(tmp_path / "data")
    issued, _ = play(service, range(5))
    service.close()
    create_token(tmp_path / "data", "admin", "mine")
    about = backup(tmp_path / "data", tmp_path / "far" / "copy")
    assert about["streams"] == len(STREAMS) and about["bytes"] > 0
    assert [one.name for one in read_tokens(tmp_path / "far" / "copy")] == ["mine"]
    restored = Service.open(tmp_path / "far" / "copy")
    again, what = play(restored, range(5))
    restored.close()
    assert again == issued and {one for turn in what for one in turn} == {"known"}


def test_one_file_after_the_other_loses_what_was_promised(tmp_path):
    """Why there is a command: between the copies the journal is trimmed."""
    service = Service.open(tmp_path / "data")
    play(service, range(3))
    settle_down(service)
    copy = tmp_path / "copy"
    backup(tmp_path / "data", copy)
    play(service, range(6))
    settle_down(service)
    backup(tmp_path / "data", tmp_path / "later")
    shutil.copy(tmp_path / "later" / "journal.db", copy / "journal.db")
    service.close()
    restored = Service.open(copy)
    _, what = play(restored, range(6))
    restored.close()
    assert what[3:] == [["learnt"] * len(STREAMS)] * 3  # known to the one, and lost to the other


def test_what_is_no_folder_of_a_service_is_not_copied(tmp_path):
    with pytest.raises(ValueError, match="folder must be that of a service, got .* without"):
        backup(tmp_path, tmp_path / "copy")
    Service.open(tmp_path / "data").close()
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="target must be a folder that is not there yet"):
        backup(tmp_path / "data", tmp_path / "there")
    (tmp_path / "data" / "streams.db").write_bytes(b"no database" * 1000)
    with pytest.raises(Exception, match="not a database"):
        backup(tmp_path / "data", tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "there"]
