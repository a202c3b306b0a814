"""Pages are run in an empty folder: some of them write files."""

import pytest

collect_ignore = ["conftest.py"]  # two of one name cannot both be read for examples


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
