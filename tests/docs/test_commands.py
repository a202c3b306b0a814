"""Every command that a page shows is run, and shows what the page says."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import PAGES, ROOT, blocks_of, name_of
from docs.files import write_files

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WITH_COMMANDS = [page for page in PAGES if any(any(block.commands()) for block in blocks_of(page))]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # as a user has it: the environment's own programs first, plain output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ, "PATH": path, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "NO_COLOR": "1", "COLUMNS": "100",
    }  # fmt: skip
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_run_and_show_what_is_shown(page, tmp_path, written):
    for name, content in written.items():
        (tmp_path / name).write_bytes(content)
    for block in blocks_of(page):
        for command, shown in block.commands():
            done = run(command, tmp_path)
            assert done.returncode == 0, f"{block.where}: {command}\n{done.stderr}{done.stdout}"
            if shown is not None:
                checker, example = doctest.OutputChecker(), doctest.Example(command, shown)
                as_shown = checker.check_output(shown, done.stdout, FLAGS)
                difference = checker.output_difference(example, done.stdout, FLAGS)
                assert as_shown, f"{block.where}: {command}\n{difference}"


def test_there_are_commands_to_run():
    assert "README.md" in map(name_of, WITH_COMMANDS) and len(WITH_COMMANDS) > 5


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_examples_commands_output_or_excused(page):
    for block in blocks_of(page):
        if block.language == "python":
            assert block.excused or ">>>" in block.text, f"{block.where}: Python that nothing runs"
        elif not block.excused:
            assert block.language in ("sh", "console", "text", "", "{eval-rst}"), (
                f"{block.where}: say above it why it is not run"
            )
