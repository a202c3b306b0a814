"""This tree against another one: ``make against OLD=<worktree>``.

Every key of ``benchmarks.now`` is measured on both sides in turn, old, new, new, old, …, each in
processes of its own with its own source and machine code, under the same Python. A key is missed
if the median of the ratios new/old of its pairs is above its limit, and is again when it is
measured anew at the end. The old side runs ``benchmarks/now.py`` of its own tree, or
``benchmarks/before.py`` of this one if it has none.

Times are processor time of all threads, which other work on the machine disturbs least; a few keys,
where disks or threads matter, take the clock on the wall. In the environment: ``KEYS`` (patterns
with commas), ``LIMITS`` ("pattern=limit, …"), ``PAIRS``, ``DATA`` (a folder of game files),
``FRESH=1`` (measure the chosen keys anew; else what is known of these two trees stays).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
PLACE = HERE / "build" / "against"
RESULTS = PLACE / "results.json"
LIMIT = 1.10
LONG, FEW = 5_000.0, 3
"""Milliseconds of a run from which on a key has few pairs."""
ENOUGH = {"call": 20.0, "process": 200.0}
"""Milliseconds of a measurement, at least: what is shorter is repeated."""
MOST = 1_000
HELPERS = ("before.py", "now.py", "inputs.py", "keys.py", "load.py")
QUIET = {
    "FULLSWAP_QUIET": "1", "PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1", "COLUMNS": "100",
    "PYTHONDONTWRITEBYTECODE": "",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
Entry = dict[str, Any]


class Trouble(Exception):
    """A side could not do what it was asked."""


class Side:
    """One tree: where its keys are, and the environment of its processes."""

    def __init__(self, name: str, tree: Path) -> None:
        self.name, self.source = name, tree / "src"
        if not (self.source / "fullswap").is_dir():
            sys.exit(f"{tree} has no src/fullswap: say OLD=<worktree>")
        own = (tree / "benchmarks" / "now.py").exists()
        self.home = tree if own else HERE
        self.module = "benchmarks.now" if own else "benchmarks.before"
        self.cache = PLACE / name / "cache"
        files = [path for path in sorted(self.source.rglob("*")) if "__pycache__" not in path.parts]
        files += [self.home / "benchmarks" / helper for helper in HELPERS]
        digest = hashlib.sha256(sys.version.encode())
        for path in files:
            if path.is_file():
                digest.update(str(path.name).encode() + b"\0" + path.read_bytes())
        self.digest = digest.hexdigest()[:16]

    def environment(self, cache: Path | None = None) -> dict[str, str]:
        """Of its processes; byte code lies where both sides can write it."""
        data = os.environ.get("DATA", "")
        return {
            **os.environ, **QUIET, "PYTHONPATH": f"{self.source}{os.pathsep}{self.home}",
            "NUMBA_CACHE_DIR": str(cache or self.cache), "AGAINST": str(PLACE),
            "PYTHONPYCACHEPREFIX": str(PLACE / "bytecode"), "TMPDIR": str(PLACE / "tmp"),
            "AGAINST_DATA": str(Path(data).resolve()) if data else "",
        }  # fmt: skip

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """A process that stays until the block ends."""
        command = [sys.executable, str(HERE / "benchmarks" / "worker.py")]
        with self._log() as log, subprocess.Popen(
            [*command, self.module, str(self.source)], env=self.environment(), cwd=PLACE,
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        ) as process:  # fmt: skip
            try:
                yield Worker(self, process)
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()  # type: ignore[union-attr]
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()

    def process(self, arguments: list[str], cold: bool) -> tuple[float, float]:
        """Milliseconds of processor time and peak bytes of a process with its children."""
        with ExitStack() as stack:
            cache = None
            if cold:
                cache = Path(tempfile.mkdtemp(dir=PLACE / "tmp"))
                stack.callback(shutil.rmtree, cache, ignore_errors=True)
            log = stack.enter_context(self._log())
            started = subprocess.Popen(
                [sys.executable, *arguments], env=self.environment(cache), cwd=PLACE,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
            stack.callback(started.kill)  # where the keyboard interrupts; nothing if it has ended
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
            if started.returncode:
                raise Trouble(f"a process left with {started.returncode}: {log.name}")
            return 1e3 * (used.ru_utime + used.ru_stime), 1024.0 * used.ru_maxrss

    def _log(self) -> Any:
        return open(PLACE / self.name / "log", "a")


class Worker:
    """The other end of ``benchmarks/worker.py``."""

    def __init__(self, side: Side, process: Any) -> None:
        self.side, self._process = side, process

    def send(self, *request: Any) -> None:
        """Ask, without waiting."""
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it is told when the answer is read

    def read(self) -> Entry:
        """The answer."""
        line = self._process.stdout.readline()
        answer: Entry = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise Trouble(f"{self.side.name}: {answer['error']} ({PLACE / self.side.name / 'log'})")
        return answer

    def ask(self, *request: Any) -> Entry:
        """Ask and wait."""
        self.send(*request)
        return self.read()


def ask_both(workers: list[Worker], *request: Any) -> list[Entry]:
    """What is not measured is done by both at once."""
    for worker in workers:
        worker.send(*request)
    return [worker.read() for worker in workers]


def measure(sides: list[Side], name: str, how: Entry, wanted: int, entry: Entry) -> Iterator[None]:
    """Add pairs of a key to its entry until there are enough; yields after each."""
    kind, measured = how["kind"], entry.setdefault("pairs", [])
    entry.pop("missing", None)
    with ExitStack() as stack:
        workers = [stack.enter_context(side.worker()) for side in sides]
        ready = ask_both(workers, "prepare", name)
        missing = [side.name for side, one in zip(sides, ready, strict=True) if "missing" in one]
        if missing:
            entry["missing"] = missing
            return

        def once(k: int, calls: int, cold: bool) -> float:
            if kind in ("call", "number"):
                return float(workers[k].ask("run", calls)["value"])
            arguments = ready[k]["arguments"]
            runs = [sides[k].process(arguments, cold) for _ in range(calls)]
            return statistics.fmean(peak if kind == "memory" else spent for spent, peak in runs)

        # once without the clock: code is compiled and kept, files and folders are known
        calls = 1
        if kind in ("call", "number"):
            first = max(one["value"] for one in ask_both(workers, "run", 1))
        else:
            with ThreadPoolExecutor() as pool:
                first = max(pool.map(lambda k: once(k, 1, False), range(len(sides))))
        if kind in ENOUGH and first < LONG:
            # by both, so that neither is further on; the old one's time counts for both
            spent = [once(k, 1, False) for k in range(len(sides))]
            calls = min(math.ceil(ENOUGH[kind] / max(spent[0], 1e-3)), MOST)
        while len(measured) < wanted:
            pair = [0.0, 0.0]
            for k in (0, 1) if len(measured) % 2 == 0 else (1, 0):
                pair[k] = once(k, calls, kind == "cold")
            measured.append(pair)
            if how["unit"] == "ms" and kind != "number" and max(pair) > LONG:
                wanted = min(wanted, FEW)
            yield
        entry["done"] = True


def ratio_of(entry: Entry) -> float:
    """Median of the ratios of the pairs."""
    return statistics.median(new / old for old, new in entry["pairs"])


def shown(value: float, unit: str) -> str:
    """Milliseconds or bytes."""
    return f"{value:,.0f} B" if unit == "B" else f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"


def line_of(name: str, how: Entry, rounds: list[Entry], limit: float) -> list[str]:
    """A row of the table; the second measurement, if there is one, beside the first."""
    if not rounds or "pairs" not in rounds[0] or not rounds[0]["pairs"]:
        gone = ", ".join(rounds[0].get("missing", [])) if rounds else ""
        return [name, "-", "-", "-", "-", "-", f"not in {gone}" if gone else "not measured"]
    last = rounds[-1]["pairs"]
    old, new = (statistics.median(pair[k] for pair in last) for k in (0, 1))
    ratios = " ".join(f"{ratio_of(entry):.3f}" for entry in rounds)
    said = "missed" if all(ratio_of(entry) > limit for entry in rounds) else ""
    pairs, unit = "+".join(str(len(entry["pairs"])) for entry in rounds), how["unit"]
    return [name, shown(old, unit), shown(new, unit), ratios, pairs, f"{limit:g}", said]


def chosen(keys: Entry, patterns: str) -> list[str]:
    """Names in order: those that match, or all that need not be asked for."""
    wanted = [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]
    if not wanted:
        return [name for name, how in keys.items() if not how["named"]]
    found = [name for name in keys if any(fnmatch(name, pattern) for pattern in wanted)]
    return found or sys.exit(f"no key matches {patterns}: {', '.join(keys)}")  # type: ignore[return-value]


def limit_of(name: str, limits: str) -> float:
    """The last of the given limits that matches, or the common one."""
    found = LIMIT
    for one in filter(None, (part.strip() for part in limits.split(","))):
        pattern, _, value = one.partition("=")
        found = float(value) if fnmatch(name, pattern.strip()) else found
    return found


class Results:
    """What is known of two trees, in a file that is written after every pair."""

    def __init__(self, sides: list[Side], forgotten: list[str]) -> None:
        self._all = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        data = os.environ.get("DATA", "")
        self._own = " ".join([*(side.digest for side in sides), data]).strip()
        self.keys: dict[str, list[Entry]] = self._all.setdefault(self._own, {})
        for name in forgotten:
            self.keys.pop(name, None)

    def save(self) -> None:
        """All of it, at once."""
        part = RESULTS.with_suffix(".part")
        part.write_text(json.dumps(self._all, indent=1))
        part.replace(RESULTS)


def main(old: str) -> int:
    """Measure, print the table; 1 if a key is missed or fails."""
    told = os.environ.get
    for folder in ("old", "new", "tmp"):
        (PLACE / folder).mkdir(parents=True, exist_ok=True)
    sides = [Side("old", Path(old).resolve()), Side("new", HERE)]
    with sides[0].worker() as one, sides[1].worker() as other:
        listed = ask_both([one, other], "keys")
    keys: Entry = {**listed[0], **listed[1]}
    names, limits = chosen(keys, told("KEYS", "")), told("LIMITS", "")
    fresh = told("FRESH", "") not in ("", "0")
    results, troubles = Results(sides, names if fresh else []), []
    for again in (False, True):
        for name in names:
            rounds, limit = results.keys.setdefault(name, []), limit_of(name, limits)
            if again and not (rounds and rounds[0].get("done") and ratio_of(rounds[0]) > limit):
                continue
            if len(rounds) <= again:
                rounds.append({})
            entry, most = rounds[int(again)], int(told("PAIRS", "") or keys[name]["pairs"])
            if entry.get("done") and entry["wanted"] >= most:
                continue
            entry["wanted"] = most
            try:
                for _ in measure(sides, name, keys[name], most, entry):
                    results.save()
            except (Trouble, OSError) as trouble:
                troubles.append(f"{name}: {trouble}")
            results.save()
            shutil.rmtree(PLACE / "tmp", ignore_errors=True)
            (PLACE / "tmp").mkdir()
            print("  ".join(line_of(name, keys[name], rounds, limit)), file=sys.stderr, flush=True)
    head = ["key", "old", "new", "ratio", "pairs", "limit", ""]
    table = [line_of(n, keys[n], results.keys[n], limit_of(n, limits)) for n in names]
    widths = [max(map(len, column)) for column in zip(head, *table, strict=True)]
    for row in [head, *table]:
        cells = [cell.rjust(w) if 0 < k < 6 else cell.ljust(w)
                 for k, (cell, w) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        print("  ".join(cells).rstrip())
    missed = [row[0] for row in table if row[-1] == "missed"]
    gone = [row[0] for row in table if row[-1].startswith("not in")]
    print(f"\nMissed: {', '.join(missed) or 'none'}.")
    if gone:
        print(f"Not on both sides: {', '.join(gone)}.")
    for trouble in troubles:
        print(f"Failed: {trouble}")
    return int(bool(missed or troubles))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]) if "".join(sys.argv[1:]) else "say OLD=<worktree>")
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on from here")
