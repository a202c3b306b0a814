"""Commands in the documentation print what is shown below them."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/tutorial.md")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCED = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    """What stands between the fences of that language, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [body for name, body in FENCED.findall(text) if name == language]


def commands(page):
    """(arguments, what is printed) of every `$ fullswap …` of a page."""
    for body in blocks(page, "console"):
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            program, *arguments = shlex.split(line)
            assert program == "fullswap", f"cannot run {line!r}"
            yield arguments, shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where `rain.csv` lies, as the first block of the tutorial makes it."""
    place, back = tmp_path_factory.mktemp("console"), Path.cwd()
    example = doctest.DocTestParser().get_doctest(
        blocks("docs/tutorial.md", "python")[0], {}, "the table", None, 0
    )
    os.chdir(place)
    try:
        assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    finally:
        os.chdir(back)
    return place


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_is_shown(page, folder):
    found = list(commands(page))
    assert found
    for arguments, shown in found:
        ran = subprocess.run(
            [sys.executable, "-m", "fullswap", *arguments], cwd=folder, capture_output=True,
            text=True, encoding="utf-8", env={**os.environ, "PYTHONUTF8": "1"},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert doctest.OutputChecker().check_output(shown, ran.stdout, FLAGS), (
            f"fullswap {shlex.join(arguments)} printed\n{ran.stdout}"
        )
        for flag, name in zip(arguments, arguments[1:], strict=False):
            if flag in ("--out", "--report"):
                assert (folder / name).stat().st_size > 0
