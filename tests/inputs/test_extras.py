"""Arrays and lists need no extra, and what does says which."""

import subprocess
import sys

SCRIPT = """
import sys
for name in ("narwhals", "pandas", "polars", "pyarrow"):
    sys.modules[name] = None  # importing it fails
import numpy as np
from fullswap.inputs import guess_roles, log_of, read_table
log = log_of([1, 0, None, "NA"][:3], ["70%", "20%", "5%"], by={"g": ["a", None, "b"]},
             time=["2026-03-02", "2026-03-01", "2026-03-03"], event=["x", "y", "z"])
assert log.p.tolist() == [0.2, 0.7, 0.05] and log.pending == 1, log
log = log_of({"won": [True, False], "prob": np.array([0.5, 0.25])}, guess=True)
assert log.names["y"] == "won", log
assert log_of(np.array([0, 2, 1]), np.full((3, 3), 1 / 3)).classes == 3
try:
    read_table("nothing.csv")
except ImportError as error:
    assert "pip install 'fullswap[cli]'" in str(error)
else:
    raise AssertionError
class Frame:
    columns = ["a"]
try:
    log_of(Frame(), y="a", p="a")
except ImportError as error:
    assert "pip install 'fullswap[frames]'" in str(error)
else:
    raise AssertionError
"""
LEAN = """
import sys
import fullswap.inputs
heavy = {"narwhals", "pandas", "polars", "pyarrow", "numba", "scipy"} & set(sys.modules)
assert not heavy, heavy
"""


def run(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_extra_is_needed_for_arrays() -> None:
    run(SCRIPT)


def test_nothing_heavy_is_imported() -> None:
    run(LEAN)
