"""A monitor in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullswap.checking.monitor import Monitor

LINE = 20
"""Evidence that is usually asked for."""
WIDEST = 6
"""Powers of ten up to which evidence is written out."""


def odds_in_words(log10: float) -> str:
    """Evidence as "4,000 : 1", or as a power of ten.

    Examples
    --------
    >>> odds_in_words(3.6), odds_in_words(0.3), odds_in_words(-0.4), odds_in_words(41.2)
    ('4,000 : 1', '2 : 1', '0.4 : 1', '10^41 : 1')
    """
    if log10 > WIDEST:
        return f"10^{log10:.0f} : 1"
    return f"{float(f'{10.0**log10:.2g}'):,g} : 1"


def words_of(monitor: Monitor) -> str:
    """What is known of a stream, and under which conditions."""
    kind = "yes/no forecasts" if monitor.classes == 2 else f"forecasts of {monitor.classes} classes"
    waits = f", {len(monitor.pending):,} pending" if monitor.pending else ""
    lines = [f"Monitor of {kind}: {monitor.events:,} events{waits}."]
    now, most = monitor.log10_evidence, monitor.log10_evidence_most
    if monitor.events:
        lines.append(
            f"Evidence that they are wrong: {odds_in_words(now)} now, at most "
            f"{odds_in_words(most)} so far (after {monitor.most_at:,} events)."
        )
        if most >= math.log10(LINE):
            once = odds_in_words(most).removesuffix(" : 1")
            lines.append(f"Such a record comes up at most once in {once} right forecasters.")
        else:
            lines.append(f"Less than {LINE} : 1 is what right forecasters show most of the time.")
    lines.append(
        str(monitor.alarm) if monitor.alarm else
        f"No alarm. Right forecasts ring at most once in {monitor.run_length:,.0f} events on "
        "average."
    )  # fmt: skip
    rounding = "" if monitor.step is None else f", up to rounding to multiples of {monitor.step:g}"
    lines.append(
        f"Right means: each p is the chance of its outcome given all that came before{rounding}. "
        "Anybody may choose the outcomes and the inputs, and you may look as often as you like."
    )
    return "\n".join(lines)
