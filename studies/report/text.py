"""Numbers, lists and tables as the page writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_LETTERS = re.compile(r"[^\W\d_]")
_NOTHING = ("", "–")


def signed(value: float) -> str:
    """Two decimals, with a minus sign rather than a hyphen.

    Examples
    --------
    >>> signed(-0.256), signed(-0.001)
    ('−0.26', '0.00')
    """
    rounded = round(value, 2) + 0.0
    return f"{rounded:.2f}".replace("-", "−")


def interval(exponent: Sequence[float | None] | None) -> str:
    """An exponent, with its interval if there is one; an upper end may be too far to tell.

    Examples
    --------
    >>> interval([0.5, -0.01, 1.0]), interval([8.0, 4.0, None]), interval([0.5]), interval(None)
    ('0.50 (−0.01 to 1.00)', '8.00 (4.00 or more)', '0.50', '–')
    """
    if exponent is None or exponent[0] is None:
        return "–"
    if len(exponent) == 1 or exponent[1] is None:
        return signed(exponent[0])
    end = "or more" if exponent[2] is None else f"to {signed(exponent[2])}"
    return f"{signed(exponent[0])} ({signed(exponent[1])} {end})"


def between(values: Iterable[str]) -> str:
    """The first and the last of values in order, or the only one.

    Examples
    --------
    >>> between(["1", "2", "3"]), between(["1", "1"])
    ('1 to 3', '1')
    """
    low, *_, high = [*values] * 2
    return low if low == high else f"{low} to {high}"


def listed(names: Iterable[str], mark: str = "; ") -> str:
    """Names in one line, or that there are none.

    Examples
    --------
    >>> listed(["row 1, d = 2", "row 2"]), listed([])
    ('row 1, d = 2; row 2', 'none')
    """
    return mark.join(names) or "none"


def spaced(name: str) -> str:
    """The name of an adversary, or of its class, as words.

    Examples
    --------
    >>> spaced("SignPreservation"), spaced("mean_aware")
    ('sign preservation', 'mean aware')
    """
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()


def bold(text: str, wanted: bool) -> str:
    """The text, in bold where that is wanted."""
    return f"**{text}**" if wanted else text


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; columns of numbers are aligned to the right.

    Examples
    --------
    >>> print(table(("set", "regret"), [("disc", "0.50 (0.45 to 0.55)"), ("cube", "–")]))
    | set | regret |
    | --- | ---: |
    | disc | 0.50 (0.45 to 0.55) |
    | cube | – |
    """
    cells = [[*row] for row in rows]
    wrong = [row for row in cells if len(row) != len(columns)]
    if wrong:
        raise ValueError(f"rows must have {len(columns)} cells, got {wrong[0]!r}")
    rules = ["---:" if _numeric([row[k] for row in cells]) else "---" for k in range(len(columns))]
    return "\n".join(f"| {' | '.join(row)} |" for row in ([*columns], rules, *cells))


def _numeric(cells: list[str]) -> bool:
    """Whether there are cells and none has letters, but for those of intervals."""
    said = [c.replace(" to ", " ").replace(" or more", "") for c in cells if c not in _NOTHING]
    return bool(said) and not any(map(_LETTERS.search, said))
