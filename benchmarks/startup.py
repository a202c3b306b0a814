"""Starting up: compiling from a cold cache, importing, and asking for help.

Compiling is measured against one small function, ``small`` below: a loop over floats with two
branches. It is compiled first in the same process, so that its time includes what numba needs once
to get going: no program that uses numba pays less. The remark after the name says how the same
compilation compares with a second such function, when numba is warm. Every process starts with an
empty folder for compiled code; times are processor times, of which the median is shown.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks import Result

SCRIPT = """
import json, sys, time
import numpy as np, numba
from fullswap.warming import SHARES

def small(x):
    low, high = 0.0, 0.0
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            low += x[i]
        elif x[i] > 1.0:
            high += x[i] * x[i]
    return low + high

def seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin

def one(): numba.njit(small)(np.zeros(3))

class Compiling(numba.core.event.Listener):
    total, begin, depth = 0.0, 0.0, 0
    def on_start(self, event):
        if not self.depth: self.begin = time.process_time()
        self.depth += 1
    def on_end(self, event):
        self.depth -= 1
        if not self.depth: self.total += time.process_time() - self.begin

def use(forecaster, given, *columns):
    forecaster.predict(*given)
    forecaster.update(1)
    forecaster.run(*columns)

import fullswap as fs
T = np.arange(60)
two, three = T % 2, T % 3
cold, warm = seconds(one), seconds(one)
listener = Compiling()
numba.core.event.register("numba:compile", listener)
{call}
print(json.dumps([listener.total, cold, warm]))
"""
CALLS = {
    "binary": ("use(fs.Forecaster(), (), two)", 4.0),
    "three classes": ("use(fs.MulticlassForecaster(3), (), three)", 10.0),
    "Recalibrator": ("use(fs.Recalibrator(), (0.3,), np.full(60, 0.3), two)", 4.0),
    "Recalibrator, three classes": (
        "use(fs.Recalibrator(classes=3), (SHARES,), np.tile(SHARES, (60, 1)), three)", 10.0,
    ),
    "games": ("fs.games.solve(fs.games.zoo.ring(7), 0.1, 'matching')", 10.0),
}  # fmt: skip
"""What is called, and how many small functions it may cost."""
HELP = "import sys; sys.argv = ['fullswap', '--help']; from fullswap.cli import main; main()"
STARTS = {"import fullswap": ("import fullswap", 1.5), "fullswap --help": (HELP, 3.0)}


def benchmark(quick: bool) -> list[Result]:
    """Compilation by kind of forecaster, then starts beside ``import numpy``."""
    passes = 1 if quick else 3
    results = []
    for name, (call, limit) in CALLS.items():
        runs = [_compile(call) for _ in range(passes)]
        total, cold, warm = (statistics.median(times) for times in zip(*runs, strict=True))
        label = f"compile {name} ({total / warm:.0f} × a second function)"
        results.append(Result(label, total, cold, limit))
    numpy = _start("import numpy", 5)
    for name, (code, limit) in STARTS.items():
        results.append(Result(f"{name} against import numpy", _start(code, 5), numpy, limit))
    return results


def _compile(call: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        quiet = {"NUMBA_CACHE_DIR": folder, "FULLSWAP_QUIET": "1"}
        done = _python(SCRIPT.replace("{call}", call), **quiet)
    times: list[float] = json.loads(done.splitlines()[-1])
    return times


def _start(code: str, passes: int) -> float:
    """Smallest time of a process, from its start to its end."""
    times = []
    for _ in range(passes):
        before = _children()
        _python(code)
        times.append(_children() - before)
    return min(times)


def _children() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system or time.perf_counter()


def _python(code: str, **variables: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, check=True,
        stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip
