"""What is released: the wheel and the sdist, what lies in them, and that they install and run."""

import email
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import fullswap

ROOT = Path(__file__).parents[2]

USES = {
    "": "import fullswap as fs; f = fs.Forecaster(); f.run([0, 1, 1]); print(f.certificate())",
    "cli": "import subprocess; subprocess.run(['fullswap', '--help'], check=True)",
    "plot": "import fullswap as fs; fs.report.reliability_diagram([0, 1, 1], [0.5, 0.5, 0.5])",
    "report": "import fullswap as fs; fs.check([0, 1] * 50, [0.5] * 100).report('page.html')",
    "frames": "import fullswap as fs, pandas as pd; "
    "d = pd.DataFrame({'y': [0, 1] * 50, 'p': 0.5}); print(fs.check(d))",
    "sklearn": "import fullswap.integrations.sklearn",
    "river": "import fullswap.integrations.river",
    "demo": "import subprocess; subprocess.run(['fullswap', 'demo', '--quiet'], check=True)",
}
"""What a user of an extra does first; no extra for the core alone."""


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The wheel and the sdist, as a release builds them."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
    sources = {
        f"fullswap/{path.relative_to(ROOT / 'src/fullswap').as_posix()}"
        for path in (ROOT / "src/fullswap").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    own = {name for name in names if ".dist-info/" not in name}
    assert own == sources
    assert "fullswap/py.typed" in names
    assert any(name.endswith("templates/page.html") for name in names)


def test_wheel_says_what_it_is(built):
    with zipfile.ZipFile(built[0]) as wheel:
        (path,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(wheel.read(path))
    assert about["Version"] == fullswap.__version__
    assert about["License-Expression"] == "MIT"
    assert set(about.get_all("Provides-Extra")) >= set(USES) - {""}
    core = [line for line in about.get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(line.split(">")[0].strip() for line in core) == ["numba", "numpy", "scipy"]


def test_sdist_holds_what_tests_and_docs_need(built):
    with tarfile.open(built[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    needed = {
        "src/fullswap/py.typed", "tests/conftest.py", "README.md", "LICENSE", "Makefile",
        "constraints.txt", "CHANGELOG.md", "CITATION.cff", "studies/README.md",
    }  # fmt: skip
    assert needed <= names
    assert not [name for name in names if name.startswith((".git/", ".venv", ".ci", "site/"))]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["wheel", "sdist"])
@pytest.mark.parametrize("extra", sorted(USES), ids=lambda extra: extra or "core")
def test_installs_in_an_empty_environment(built, tmp_path, extra, which):
    if which == "sdist" and extra:
        pytest.skip("extras are the same in both")
    venv.create(tmp_path / "env", with_pip=True)
    python, wanted = tmp_path / "env/bin/python", built[which == "sdist"]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    target = f"{wanted}[{extra}]" if extra else str(wanted)
    subprocess.run([*pip, "-c", ROOT / "constraints.txt", target], check=True)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([python, "-c", USES[extra]], cwd=tmp_path, env=environment, check=True)
