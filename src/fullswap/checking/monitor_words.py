"""A monitor in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fullswap.base.amounts import counted, evidence_text, odds

if TYPE_CHECKING:
    from fullswap.checking.monitor import Monitor

LINE = 20
"""Evidence that is usually asked for."""


def words_of(monitor: Monitor) -> str:
    """What is known of a stream, and under which conditions."""
    kind = "yes/no forecasts" if monitor.classes == 2 else f"forecasts of {monitor.classes} classes"
    waits = f", {len(monitor.pending):,} pending" if monitor.pending else ""
    lines = [f"Monitor of {kind}: {counted(monitor.events, 'event')}{waits}."]
    now, most = monitor.log10_evidence, monitor.log10_evidence_most
    if monitor.events:
        lines.append(
            f"Evidence that they are wrong: {evidence_text(now)} now, at most "
            f"{evidence_text(most)} so far (after {counted(monitor.most_at, 'event')})."
        )
        if monitor.impossible:
            lines.append(
                f"{monitor.impossible:,} of them certain and wrong (0 % happened, or 100 % did "
                "not): no calibrated forecaster has such a record."
            )
        elif most >= math.log10(LINE):
            once = odds(most)
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
        f"Right means: each p is the chance of its outcome given all that came before{rounding}; "
        "outcomes of forecasts that wait at the same time must not depend on each other beyond "
        "that. Anybody may choose outcomes and inputs, and you may look as often as you like."
    )
    return "\n".join(lines)
