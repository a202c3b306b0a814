"""Games from and into files: Gambit's .nfg and .efg text formats, arrays in .json and .npz."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from fullswap.games.extensive.tree import from_tree
from fullswap.games.files import efg, nfg
from fullswap.games.files.arrays import from_json, from_npz
from fullswap.games.files.tokens import Scanner
from fullswap.games.files.writing import to_nfg, write
from fullswap.games.game import StructuredGame

__all__ = ["parse", "read", "to_nfg", "write"]

_ZIP = b"PK"  # how NPZ begins
_NPY = b"\x93NUMPY"
_MOST_BYTES = 512_000_000


def read(path: str | os.PathLike[str], name: str | None = None) -> StructuredGame:
    """Read a game from a .nfg, .efg, .json or .npz file.

    What the file begins with decides, not its name. Players and actions keep their names; in
    extensive games with perfect recall actions are reduced strategies, embedded as
    realisation plans (:func:`fullswap.games.from_tree`). The game is called by its title unless
    a name is given, or by the file's name. A damaged file is a ValueError with file, line, column
    (or field) and what was expected there.

    JSON and NPZ hold arrays by name: "payoffs", one array (n_1, …, n_N) for each of N players; or
    "A" and "B" for two; or embeddings "V", "W", "V2", "W2" as in
    :meth:`StructuredGame.from_embeddings`. "name", "players" and "actions" name game, players and,
    in a list for each player, actions (in NPZ also "actions_1", "actions_2", …).

    Devices, pipes and folders are refused, as are more than 512 MB.
    """
    file = Path(path)
    data = _bytes_of(file)
    if data.startswith(_ZIP):
        return from_npz(data, str(file), name)
    if data.startswith(_NPY):
        raise ValueError(f"{file}: expected arrays by name (numpy's savez), got one array of NPY")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # files from before Unicode: any byte is a letter
    return parse(text, str(file), name)


def parse(text: str, file: str = "text", name: str | None = None) -> StructuredGame:
    """The game that a text describes; ``file`` is what messages call it.

    Examples
    --------
    >>> parse('NFG 1 R "Chicken" { "a" "b" } { 2 2 } 0 0 2 7 7 2 6 6')
    StructuredGame('Chicken', actions 2 × 2, dimensions 2, 2)
    >>> parse('{"name": "Chicken", "A": [[0, 7], [2, 6]], "B": [[0, 2], [7, 6]]}')
    StructuredGame('Chicken', actions 2 × 2, dimensions 2, 2)
    """
    if text.lstrip()[:1] in ("{", "["):
        return from_json(text, file, name)
    words = Scanner(text, file)
    if words.next.text == "NFG":
        table = nfg.parse(words)
        return table.game(name or table.title or Path(file).stem)
    start = words.next
    if start.text != "EFG":
        words.wrong("NFG or EFG, the kind of file, or JSON")
    tree = efg.parse(words)
    try:
        return from_tree(tree, name or tree.title or Path(file).stem)
    except ValueError as problem:  # of the whole tree: too many strategies, payoffs too large
        raise ValueError(f"{words.place(start)}: {problem}") from None


def _bytes_of(file: Path) -> bytes:
    """What a file holds; nothing is waited for, and nothing read without end."""
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise ValueError(f"{file}: expected a file, got {kind}")
    with file.open("rb") as opened:
        data = opened.read(_MOST_BYTES + 1)  # some files of the system say that they are empty
    if len(data) > _MOST_BYTES:
        raise ValueError(f"{file}: expected at most {_MOST_BYTES:,} bytes, got more")
    return data
