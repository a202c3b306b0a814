"""Record the package's numbers, and compare a later tree with them.

``adapter.py`` calls the package and yields pairs of a key and a value (a number, a text, an array
or a list of these); here they are written to and compared with ``numbers.npz``. Everything that is
fed in comes from ``inputs.py``, which does not import the package. A key whose last part begins
with ``note-`` is kept to be read, never compared.

    python tests/golden/record.py --check                     numbers within 1e-9, texts equal
    python tests/golden/record.py --check --bits OLD=FOLDER   every bit, FOLDER recorded anew here
    python tests/golden/record.py [PART ...]                  write numbers.npz, or parts, anew

Processors differ in the last digit, so bits are compared only with what this machine records: the
old side is another worktree. It is called by its own adapter or, where it is older than this
folder, by the newest adapter of this history that was committed with the same ``src``.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NUMBERS = HERE / "numbers.npz"
TOLERANCE = 1e-9
SHOWN = 25
"""Differences that are printed."""


def record(parts: list[str]) -> dict[str, np.ndarray]:
    """The numbers of the package that is imported here, by key."""
    from golden import adapter  # beside this file, or what --adapter names

    found: dict[str, np.ndarray] = {}
    for part in parts or list(adapter.PARTS):
        for key, value in adapter.PARTS[part]():
            name, array = f"{part}/{key}", np.asarray(value)
            if name in found:
                raise KeyError(f"two numbers are called {name}")
            if array.dtype.kind not in "biufU":
                raise TypeError(f"{name} is {array.dtype}, not a number or a text")
            found[name] = array
    return found


def is_note(key: str) -> bool:
    """Whether a number is kept to be read only."""
    return key.rsplit("/", 1)[-1].startswith("note-")


def difference(old: np.ndarray, new: np.ndarray, bits: bool) -> str | None:
    """How two values differ, in words; None where they do not."""
    if old.shape != new.shape:
        return f"shape {old.shape}, now {new.shape}"
    if old.dtype.kind == "U" or new.dtype.kind == "U":
        return None if (old == new).all() else f"{_few(old)}, now {_few(new)}"
    if bits:
        same = (old == new) | ((old != old) & (new != new))
    else:
        same = np.isclose(old, new, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    if same.all():
        return None
    off = ~np.atleast_1d(same)
    before, now = np.atleast_1d(old)[off], np.atleast_1d(new)[off]
    return f"{off.sum()} of {off.size} differ: {_few(before)}, now {_few(now)}"


def compare(
    old: dict[str, np.ndarray], new: dict[str, np.ndarray], bits: bool
) -> tuple[list[str], list[str]]:
    """Two lists of sentences: what differs or is missing, and what only the new side has."""
    wrong = []
    for key in old:
        if is_note(key):
            continue
        what = difference(old[key], new[key], bits) if key in new else "missing"
        if what is not None:
            wrong.append(f"{key}: {what}")
    return wrong, [key for key in new if key not in old and not is_note(key)]


def load(path: Path) -> dict[str, np.ndarray]:
    """Numbers that were written."""
    with np.load(path, allow_pickle=False) as file:
        index, values = json.loads(file["index"].tobytes()), file["values"]
    numbers, begin = {}, 0
    for key, shape, *texts in index:
        if texts:
            numbers[key] = np.array(texts[0], dtype=str).reshape(shape)
            continue
        end = begin + math.prod(shape)
        numbers[key], begin = values[begin:end].reshape(shape), end
    return numbers


def save(path: Path, numbers: dict[str, np.ndarray]) -> None:
    """Numbers in the order of their keys, all in one array: a file for each would be larger."""
    index: list[list[object]] = []
    values = [np.zeros(0)]
    for key in sorted(numbers):
        array = numbers[key]
        index.append([key, list(array.shape)])
        if array.dtype.kind == "U":
            index[-1].append(array.ravel().tolist())
        else:
            values.append(array.astype(float).ravel())
    text = json.dumps(index, separators=(",", ":")).encode()
    packed = {"index": np.frombuffer(text, np.uint8), "values": np.concatenate(values)}
    np.savez_compressed(path, **packed)


def recorded_by(tree: Path, parts: list[str]) -> dict[str, np.ndarray]:
    """What another worktree gives on this machine, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        code = tree / "tests" / "golden"
        if not (code / "adapter.py").exists():
            code = _adapter_for(tree, Path(folder))
        out = Path(folder) / "old.npz"
        environment = os.environ | {"PYTHONPATH": str(tree / "src")}
        call = [sys.executable, str(HERE / "record.py"), "--adapter", str(code), "--out", str(out)]
        subprocess.run([*call, *parts], check=True, env=environment, cwd=folder)
        return load(out)


def _adapter_for(tree: Path, folder: Path) -> Path:
    """This folder as it was in the newest commit with the ``src`` of a tree."""

    def git(where: Path, *words: str) -> bytes:
        return subprocess.run(
            ["git", "-C", str(where), *words], check=True, capture_output=True
        ).stdout

    wanted = git(tree, "rev-parse", "HEAD:src").strip()
    for commit in git(ROOT, "rev-list", "HEAD", "--", "tests/golden").decode().split():
        if git(ROOT, "rev-parse", f"{commit}:src").strip() == wanted:
            archive = git(ROOT, "archive", commit, "tests/golden")
            with tarfile.open(fileobj=io.BytesIO(archive)) as file:
                file.extractall(folder, filter="data")
            return folder / "tests" / "golden"
    raise SystemExit(
        f"OLD must be a commit of this history, with or after tests/golden; got {tree}"
    )


def _few(values: np.ndarray) -> str:
    shown = ", ".join(str(value) for value in np.atleast_1d(values).ravel()[:3])
    return shown + (", …" if values.size > 3 else "")


def main(words: list[str] | None = None) -> int:
    """Record or compare; 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="parts of the adapter, OLD=FOLDER; default all")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--bits", action="store_true", help="with the worktree OLD, bit for bit")
    parser.add_argument("--adapter", default=str(HERE), help="folder of adapter.py and inputs.py")
    parser.add_argument("--out", type=Path, default=NUMBERS, help="file that is written")
    given = parser.parse_args(words)
    old_tree = [word[4:] for word in given.parts if word.startswith("OLD=")]
    parts = [word for word in given.parts if not word.startswith("OLD=")]
    if given.bits != bool(old_tree) or (given.bits and not given.check):
        parser.error("--bits goes with --check and OLD=FOLDER")
    sys.path.insert(0, str(Path(given.adapter).resolve().parent))
    warnings.simplefilter("ignore")
    if not given.check:
        before = load(given.out) if parts and given.out.exists() else {}
        kept = {key: value for key, value in before.items() if key.split("/")[0] not in parts}
        save(given.out, kept | record(parts))
        return 0
    old = recorded_by(Path(old_tree[0]).resolve(), parts) if given.bits else load(NUMBERS)
    old = {key: value for key, value in old.items() if not parts or key.split("/")[0] in parts}
    wrong, more = compare(old, record(parts), given.bits)
    for line in wrong[:SHOWN]:
        print(line)
    print(f"{len(old)} numbers: {len(wrong)} differ, {len(more)} are new")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
