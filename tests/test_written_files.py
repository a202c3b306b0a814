"""Files that are written whole or not at all."""

import os

import pytest

from fullswap.base.files import write_text


def test_a_file_is_replaced_whole(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        write_text(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_links_stay_links_and_devices_devices(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "through")
    assert os.read(reader, 100) == b"through" and not pipe.is_file()
    with pytest.raises(ValueError, match="path must be a file, not a folder"):
        write_text(tmp_path, "x")
