"""What every change must pass: ``make gate OLD=<worktree>``.

Goldens to the bit, then ``make against``, then sizes of both trees. It goes on where it was
stopped: goldens that were equal for the same two trees are not recorded again, and ``against``
keeps what it has measured. 1 if goldens differ or a key is missed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import against

GOLDEN = "tests/golden"
STAMPS = against.PLACE / "goldens"
"""A line for each two trees whose goldens were equal."""
SIZES = {"src": "src", "tests": "tests", "studies": "studies"}
APART = (GOLDEN, "tests/naive")
"""Folders that are not counted among the tests."""


def goldens(old: Path) -> bool:
    """Whether the goldens of both trees are equal to the bit."""
    stamp = " ".join(against.Side(name, tree).digest for name, tree in _trees(old).items())
    recorded = sorted((against.HERE / GOLDEN).rglob("*.py"))
    stamp += " " + hashlib.sha256(b"".join(path.read_bytes() for path in recorded)).hexdigest()[:16]
    if STAMPS.exists() and stamp in STAMPS.read_text().splitlines():
        print("Goldens: equal, as before.", flush=True)
        return True
    command = [sys.executable, f"{GOLDEN}/record.py", "--check", "--bits", f"OLD={old}"]
    environment = {**os.environ, "PYTHONPATH": str(against.HERE / "src")}
    equal = subprocess.run(command, cwd=against.HERE, env=environment).returncode == 0
    if equal:
        STAMPS.parent.mkdir(parents=True, exist_ok=True)
        with open(STAMPS, "a") as file:
            file.write(stamp + "\n")
    print(f"Goldens: {'equal' if equal else 'DIFFERENT'}.", flush=True)
    return equal


def sizes(old: Path) -> str:
    """Lines of Python in both trees; goldens and slow references are not counted."""
    rows = [("lines of", "old", "new", "change")]
    for name, folder in SIZES.items():
        before, after = (_lines(tree, folder) for tree in _trees(old).values())
        rows.append((name, f"{before:,}", f"{after:,}", f"{after - before:+,}"))
    return "\n".join(f"{name:10}{a:>10}{b:>10}{c:>10}" for name, a, b, c in rows)


def _lines(tree: Path, folder: str) -> int:
    skipped = [tree / part for part in APART]
    return sum(
        path.read_bytes().count(b"\n")
        for path in (tree / folder).rglob("*.py")
        if not any(path.is_relative_to(part) for part in skipped)
    )


def _trees(old: Path) -> dict[str, Path]:
    return {"old": old, "new": against.HERE}


def main(old: str) -> int:
    """All three; 1 if one of the first two fails."""
    tree = Path(old).resolve()
    equal = goldens(tree)
    missed = against.main(old)
    print(f"\n{sizes(tree)}")
    return int(not equal or bool(missed))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]) if "".join(sys.argv[1:]) else "say OLD=<worktree>")
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on from here")
