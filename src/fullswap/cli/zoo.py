"""The zoo as text."""

from __future__ import annotations

import json
from typing import Any


def zoo_list() -> str:
    """Every game in a line, its arguments in lines below."""
    from fullswap.games.zoo import GAMES
    from fullswap.games.zoo.listing import WORDS, arguments

    lines = []
    for name, make in GAMES.items():
        lines.append(f"  {name}: {WORDS[name][0]}")
        given = [(f"{a.name}={_shown(a.default)}", a.about) for a in arguments(name, make)]
        inner = 2 + max((len(argument) for argument, _ in given), default=0)
        lines += [f"      {argument:{inner}}{about}" for argument, about in given]
    return "\n".join(lines) + "\n"


def argument_list(name: str) -> str:
    """Its arguments with defaults, to go on after "has no argument"."""
    from fullswap.games.zoo import GAMES
    from fullswap.games.zoo.listing import arguments

    given = [f"{a.name}={_shown(a.default)}" for a in arguments(name, GAMES[name])]
    return f"; it takes {', '.join(given)}" if given else "; it takes none"


def _shown(default: Any) -> str:
    return json.dumps(default).replace(" ", "")
