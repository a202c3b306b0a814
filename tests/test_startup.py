"""Starting up: what is imported, where compiled code is kept, and what is said about it."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fullswap
from fullswap import warming
from fullswap.cli.warm_up import warm_up
from fullswap.kernels import compiling, keeping

resource = pytest.importorskip("resource")

SOURCE = Path(fullswap.__file__).parent
COUNT = "\nfrom fullswap.kernels.compiling import progress\nprint(progress.compiled)"
SMALL = (
    "import numpy as np\nfrom fullswap.kernels.loop import cell_of\n"
    "assert cell_of(np.arange(4.0), 1.5) == 1" + COUNT
)
"""One small kernel: half a second."""
DAY = (
    """
import numpy as np, fullswap as fs
forecaster = fs.Forecaster(horizon=100)
forecaster.predict()
forecaster.update(1)
forecaster.run([0, 1] * 20)
assert forecaster.rounds == 41
assert fs.check([0, 1] * 100, [0.25, 0.75] * 100).to_dict()
assert fs.games.solve(fs.games.zoo.ring(5), gap=0.1, method="matching").gap <= 0.1
"""
    + COUNT
)


@pytest.fixture
def site(tmp_path) -> Iterator[Path]:
    """A copy of the package without anything compiled."""
    yield from copied(SOURCE.parent, tmp_path, "*.nbc")


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Any:
    """A copy in which the small kernel was compiled, and what was said about it."""
    for site in copied(SOURCE.parent, tmp_path_factory.mktemp("first"), "*.nbc"):
        compiled, said = start(site, SMALL)
        assert compiled == 1 and len(kept(site)) == 1
        yield site, said


@pytest.fixture
def warm(first, tmp_path) -> Iterator[Path]:
    """The same, for one test alone."""
    yield from copied(first[0], tmp_path)


def copied(source: Path, folder: Path, *without: str) -> Iterator[Path]:
    site = folder / "site"
    ignored = shutil.ignore_patterns(*without)
    shutil.copytree(source / "fullswap", site / "fullswap", ignore=ignored)
    yield site
    for path in [site, *site.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


def seal(site: Path) -> None:
    """Take every right to write."""
    for path in [site, *site.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)


def bind() -> None:
    """Make rights bind root as well: without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    if os.getuid() == 0:
        for capability in (1, 2):
            if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):
                raise OSError("cannot drop rights")


def begin(site: Path, code: str, prepare: Callable[[], None] = bind, **variables: str) -> Any:
    """Start a process that has no home and writes only where variables let it."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env={"PYTHONPATH": str(site), "HOME": str(site), **variables},
        preexec_fn=prepare,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: Any) -> tuple[int, str]:
    """How many kernels it compiled, and what it said about it."""
    out, err = process.communicate(timeout=110)
    assert process.returncode == 0, err
    return int(out), err


def start(*arguments: Any, **variables: Any) -> tuple[int, str]:
    return end(begin(*arguments, **variables))


def taken(folder: Path) -> Path:
    """A temporary folder in which our place is open to others."""
    place = folder / f"fullswap-of-user-{os.getuid()}"
    place.mkdir(parents=True)
    place.chmod(0o777)
    return folder


def kept(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbc"))


@pytest.mark.parametrize(
    "code", [SMALL, pytest.param(DAY, marks=pytest.mark.slow)], ids=["kernel", "day"]
)
def test_works_where_nothing_can_be_written(site, tmp_path, code):
    seal(site)
    compiled, said = start(site, code, TMPDIR=str(taken(tmp_path / "tmp")))
    assert compiled > (10 if code == DAY else 0)
    assert said.count("fullswap: ") == 1 and "at every start" in said
    assert "NUMBA_CACHE_DIR" in said and "`fullswap warm-up`" in said
    assert not kept(tmp_path)


def test_a_temporary_folder_of_ones_own_is_the_last_resort(site, tmp_path):
    seal(site)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    compiled, said = start(site, SMALL, TMPDIR=str(temporary))
    assert compiled == 1 and str(temporary) in said and "may not last" in said
    (own,) = temporary.iterdir()
    assert own.stat().st_mode & 0o077 == 0
    assert start(site, SMALL, TMPDIR=str(temporary)) == (0, "")
    # code that others could have written is not run
    kept(own)[0].chmod(0o666)
    assert start(site, SMALL, TMPDIR=str(temporary))[0] == 1


def test_the_first_start_says_so_once_and_later_ones_are_silent(first):
    site, said = first
    assert re.fullmatch("fullswap: compiling for this machine, once .*\n  Compiled .*\n", said)
    assert start(site, SMALL) == (0, "")


def test_threads_of_others_are_left_alone(site):
    code = "import threading\ndef work():\n import numpy as np\n"
    code += " from fullswap.kernels.loop import cell_of\n cell_of(np.arange(4.0), 1.5)\n"
    code += "thread = threading.Thread(target=work)\nthread.start()\nthread.join()" + COUNT
    assert start(site, code) == (1, "")


def test_what_was_compiled_when_an_image_was_built_is_used(warm, tmp_path):
    # layers of images cut time stamps, and are sealed
    for path in warm.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    seal(warm)
    assert start(warm, SMALL, TMPDIR=str(taken(tmp_path / "tmp"))) == (0, "")


def test_changed_sources_are_compiled_anew_and_in_silence_if_asked(warm):
    (path,) = kept(warm)
    before = path.read_bytes()
    with open(warm / "fullswap" / "kernels" / "columns.py", "a") as file:
        file.write("# a change in any kernel may be inlined in any other\n")
    assert start(warm, SMALL, FULLSWAP_QUIET="1") == (1, "")
    assert kept(warm) == [path] and path.read_bytes() != before


def test_damaged_files_are_replaced(warm):
    (path,) = kept(warm)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert start(warm, SMALL)[0] == 1
    assert len(path.read_bytes()) > len(whole) - 10


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The only place for compiled code of this process."""
    monkeypatch.setattr(keeping, "folders", lambda: (tmp_path,))
    monkeypatch.setattr(keeping, "NAMED", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("harm", [lambda whole: b"", lambda whole: b"x" * 100,
                                  lambda whole: whole[:-1], lambda whole: whole + b"x"],
                         ids=["empty", "other", "cut", "longer"])  # fmt: skip
def test_what_is_not_whole_is_not_found(folder, harm):
    assert keeping.keep("name", "key", b"code") == ""
    (path,) = kept(folder)
    assert list(keeping.found("name", "key")) == [b"code"]
    assert list(keeping.found("name", "other key")) == []
    path.write_bytes(harm(path.read_bytes()))
    assert list(keeping.found("name", "key")) == []


def test_a_temporary_folder_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    own = taken(tmp_path) / f"fullswap-of-user-{os.getuid()}"
    monkeypatch.setattr(keeping, "_temporary", lambda: own)
    monkeypatch.setattr(keeping, "folders", lambda: (own / "kernels",))
    assert keeping.writable_folder() is None


def test_a_disk_that_is_full_stops_nothing(site, tmp_path):
    def prepare() -> None:
        bind()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    compiled, said = start(site, SMALL, prepare, TMPDIR=str(taken(tmp_path / "tmp")))
    assert compiled == 1 and "cannot be kept" in said and str(site) in said
    assert not list(site.rglob("*.nbc*"))


def test_where_a_folder_is_sealed_the_next_one_serves(site, tmp_path):
    named = tmp_path / "named"
    where = {"NUMBA_CACHE_DIR": str(named), "TMPDIR": str(taken(tmp_path / "tmp"))}
    start(site, SMALL, **where)
    assert len(kept(named)) == 1
    code = SMALL.replace("1.5) == 1", "1) == 1")  # another signature
    seal(named)
    compiled, said = start(site, code, **where)
    assert compiled == 1 and str(site) in said  # the next folder takes it
    assert start(site, code, **where) == (0, "")


def test_processes_that_start_together(site):
    crowd = [begin(site, SMALL) for _ in range(2)]
    assert sum(end(process)[0] for process in crowd) >= 1
    assert len(kept(site)) == 1 and not list(site.rglob("*.tmp"))
    assert start(site, SMALL) == (0, "")


def test_no_jit(first):
    assert start(first[0], SMALL, NUMBA_DISABLE_JIT="1") == (0, "")


def test_kernels_are_kept_by_the_one_decorator():
    """``cache=True`` of numba raises where nothing can be written."""
    texts = {path: path.read_text() for path in SOURCE.rglob("*.py")}
    offenders = [path for path, text in texts.items() if "cache=True" in text.replace("``", "")]
    assert [path.name for path in offenders] == ["compiling.py"]


@pytest.mark.parametrize(
    "code",
    ["import fullswap", "import sys; sys.argv = ['fullswap', '--help']; import fullswap.cli as c\n"
     "try: c.main()\nexcept SystemExit: pass"],
    ids=["import", "help"],
)  # fmt: skip
def test_starting_loads_nothing_heavy(code):
    heavy = ["numba", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "sklearn", "narwhals"]
    code += f"\nimport sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "[]"


@pytest.fixture
def one_step(monkeypatch) -> list[str]:
    """A warm-up that notes what it does instead of compiling for a minute."""
    done: list[str] = []
    monkeypatch.setattr(warming, "STEPS", {"one thing": lambda: done.append("one")})
    monkeypatch.setattr("fullswap.cli.warm_up._service", dict)
    return done


def test_warm_up_says_what_it_does_and_where_code_is_kept(one_step, capsys):
    warm_up(as_json=False, quiet=False)
    said = capsys.readouterr()
    assert one_step == ["one"]
    assert said.err == "compiling: one thing\n" and "__pycache__" in said.out


def test_warm_up_for_programs(one_step, capsys):
    warm_up(as_json=True, quiet=True)
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert said.err == "" and answer["kept"] and answer["compiled"] == 0


def test_warm_up_fails_if_nothing_can_be_kept(one_step, capsys, monkeypatch):
    monkeypatch.setattr(keeping, "writable_folder", lambda: None)
    monkeypatch.setitem(warming.STEPS, "another", lambda: _count_one(monkeypatch))
    with pytest.raises(SystemExit) as stop:
        warm_up(as_json=False, quiet=True)
    said = capsys.readouterr()
    assert stop.value.code == 2 and said.err.count("\n") == 1 and "NUMBA_CACHE_DIR" in said.err


def _count_one(monkeypatch) -> None:
    monkeypatch.setattr(compiling.progress, "compiled", compiling.progress.compiled + 1)


@pytest.mark.slow
def test_a_warm_start_compiles_nothing(site):
    start(site, "import fullswap as fs\nfs.warm_up()" + COUNT)
    seal(site)
    assert start(site, DAY) == (0, "")
