"""Calls of the command in this process: exit code, standard output and standard error."""

import os

import pytest

from fullswap.cli.app import run


@pytest.fixture
def call(capsys, monkeypatch):
    monkeypatch.setattr(os, "environ", os.environ.copy())  # --quiet is kept there

    def called(*arguments):
        with pytest.raises(SystemExit) as stop:
            run([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return stop.value.code, written.out, written.err

    return called
