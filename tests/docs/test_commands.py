"""Every command that a page shows is run, and shows what the page says."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import PAGES, SHELL, blocks_of, name_of
from docs.files import write_files

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUN = [page for page in PAGES if any(block.runs and not block.excused for block in blocks_of(page))]


def run(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # as a user has it: the environment's own programs first, plain output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PATH": path, "PYTHONPATH": source, "NO_COLOR": "1",
                   "COLUMNS": "100", "FULLSWAP_QUIET": "1"}  # fmt: skip
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_commands_run_and_show_what_is_shown(page, tmp_path):
    write_files(tmp_path)
    for block in blocks_of(page):
        if not block.runs or block.excused:
            continue
        done = run(block.text, tmp_path)
        where = f"{name_of(page)}, line {block.line}"
        assert done.returncode == 0, f"{where}: exit {done.returncode}\n{done.stderr}{done.stdout}"
        if block.shown is not None:
            checker = doctest.OutputChecker()
            example = doctest.Example(block.text, block.shown)
            as_shown = checker.check_output(block.shown, done.stdout, FLAGS)
            difference = checker.output_difference(example, done.stdout, FLAGS)
            assert as_shown, f"{where}\n{difference}"


def test_there_are_commands_to_run():
    assert "README.md" in map(name_of, RUN) and len(RUN) > 5


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_examples_commands_output_or_excused(page):
    for block in blocks_of(page):
        where = f"{name_of(page)}, line {block.line}"
        if block.language == "python":
            assert ">>>" in block.text, f"{where}: Python that nothing runs"
        elif block.language in SHELL:
            assert block.runs or block.excused, f"{where}: say above it why it is not run"
        elif not block.excused:
            assert block.language in ("text", "{eval-rst}"), f"{where}: ```{block.language}"


def test_the_tutorial_makes_the_table_that_its_commands_read(tmp_path, monkeypatch):
    page = next(page for page in PAGES if name_of(page) == "docs/tutorial.md")
    first = next(block for block in blocks_of(page) if block.language == "python")
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(first.text, {}, name_of(page), None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    made = Path("rain.csv").read_text(encoding="utf-8")
    write_files(tmp_path)
    assert made == Path("rain.csv").read_text(encoding="utf-8")
