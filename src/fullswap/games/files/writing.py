"""Games into files: Gambit's .nfg, and arrays by name in .json; both are read back as they were.

A number is written with as many digits as it takes to be the same float again.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path

import numpy as np

from fullswap.base import checks
from fullswap.base.files import write_text
from fullswap.base.protocols import Points
from fullswap.games.actions import ActionSet
from fullswap.games.exchange import sizes_of
from fullswap.games.files.tokens import LONGEST_NAME
from fullswap.games.game import StructuredGame
from fullswap.games.names import in_words, told_apart

MOST_PAYOFFS = 20_000_000
"""In one file: some 400 MB."""
_BACKSLASHES = re.compile(r"(\\+)(.?)", re.DOTALL)


def write(game: StructuredGame, path: str | os.PathLike[str], *, named: bool = True) -> None:
    """Write a finite game to a .nfg or .json file, which :func:`read` takes back.

    Games from trees are written with their reduced strategies as actions. ``named`` as in
    :func:`to_nfg`.
    """
    ending = Path(path).suffix.lower()
    if ending == ".nfg":
        text = to_nfg(game, named=named)
    elif ending == ".json":
        text = _to_json(game, named)
    else:
        checks.refuse("path", "end in .nfg or .json", str(path))
    write_text(path, text)


def to_nfg(game: StructuredGame, *, named: bool = True) -> str:
    """A finite game in Gambit's .nfg format.

    Parameters
    ----------
    game : StructuredGame
        At most 20 million payoffs in all.
    named : bool
        False: numbers of actions instead of their names, and no quotes within the names of players;
        OpenSpiel reads no other form.

    Examples
    --------
    >>> from fullswap.games import from_matrices
    >>> print(to_nfg(from_matrices([[0, 0.5]], [[2, 1]], None, "small", [["wait"], ["x", "y"]])))
    NFG 1 R "small" { "player 1" "player 2" }
    { { "wait" } { "x" "y" } }
    ""
    <BLANKLINE>
    0 2
    0.5 1
    <BLANKLINE>
    """
    payoffs = _tables(game, "to_nfg")
    quoted = _quoted if named else _quoted_plainly
    players = " ".join(quoted(name) for name in game.player_names)
    head = f"NFG 1 R {quoted(game.name)} {{ {players} }}\n"
    if named:
        rows = (" ".join(map(_quoted, names_of(own) or _numbers(own))) for own in game.actions)
        head += "{ " + " ".join(f"{{ {row} }}" for row in rows) + ' }\n""\n\n'
    else:
        head += "{ " + " ".join(str(own.size) for own in game.actions) + " }\n\n"
    cells = payoffs.reshape((game.players, -1), order="F").T.tolist()  # the first player fastest
    return head + "".join(" ".join(map(_number, cell)) + "\n" for cell in cells)


def _to_json(game: StructuredGame, named: bool) -> str:
    fields = {
        "name": game.name,
        "players": list(game.player_names),
        "actions": [names_of(own) if named else None for own in game.actions],
        "payoffs": _tables(game, "write").tolist(),
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _tables(game: StructuredGame, what: str) -> Points:
    """Payoffs (N, n_1, …, n_N)."""
    wanted = "a StructuredGame"
    checks.instance("game", game, StructuredGame, wanted)
    sizes = sizes_of(game, what)
    count = game.players * math.prod(sizes)
    if count > MOST_PAYOFFS:
        checks.refuse("game", f"have at most {MOST_PAYOFFS:,} payoffs", count)
    return np.stack(game.table([np.arange(size) for size in sizes]))


def names_of(own: ActionSet) -> list[str] | None:
    """Names of all actions of a finite set, None where they are numbers."""
    names = [own.name(action) for action in range(own.size or 0)]
    if all(isinstance(name, int) for name in names):
        return None
    return list(told_apart([in_words(name) for name in names]))


def _numbers(own: ActionSet) -> list[str]:
    return [str(k) for k in range(1, (own.size or 0) + 1)]


def _quoted(name: str) -> str:
    """In quotes, so that the reader finds the same name.

    A single backslash before a letter stays as it is, which Gambit reads alike; others are doubled.
    """
    if len(name) > LONGEST_NAME:
        rule = f"be at most {LONGEST_NAME:,} letters long (named=False writes none)"
        checks.refuse("a name", rule, name)
    doubled = _BACKSLASHES.sub(_doubled, name)
    return '"' + doubled.replace('"', '\\"') + '"'


def _doubled(found: re.Match[str]) -> str:
    slashes, after = found[1], found[2]
    safe = len(slashes) == 1 and after not in ("", '"')
    return slashes + after if safe else 2 * slashes + after


def _quoted_plainly(name: str) -> str:
    """In quotes, without any inside."""
    return '"' + name.replace('"', "'").replace("\\", "/") + '"'


def _number(value: float) -> str:
    """The shortest text that is this float."""
    text = repr(value)
    return text.removesuffix(".0")
