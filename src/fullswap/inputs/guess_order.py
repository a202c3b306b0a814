"""Guesses about order and events: a column of dates, columns whose rows share an outcome."""

from __future__ import annotations

import re
from typing import Any

from fullswap.inputs.columns import Column
from fullswap.inputs.frames import listed
from fullswap.inputs.moments import is_date_column, unread_dates
from fullswap.inputs.notice import LATER_NAME, repeated
from fullswap.inputs.outcomes import outcomes

TIME_NAME = re.compile(r"date|time|day|stamp|^t$|^step$", re.IGNORECASE)
MADE_NAME = re.compile(r"forecast|made|creat|issue|predict", re.IGNORECASE)


def add_time(columns: dict[str, Column], roles: dict[str, Any], said: list[str]) -> None:
    """Add the column of dates, if there is one that says when forecasts were made."""
    used = _used(roles)
    dates = [name for name, column in columns.items() if name not in used
             and not LATER_NAME.search(name) and is_date_column(column)]  # fmt: skip
    for narrower in (MADE_NAME, TIME_NAME):
        some = [name for name in dates if narrower.search(name)]
        dates = some if len(dates) > 1 and some else dates
    if len(dates) == 1:
        roles["time"] = dates[0]
        said.append(f"time: column {dates[0]} (dates)")
    elif dates:
        said.append(f"time: not used, several columns of dates ({listed(dates)}): give --time COL")
    else:
        said += unread_dates({k: v for k, v in columns.items() if k not in used})


def add_event(columns: dict[str, Column], roles: dict[str, Any], said: list[str]) -> None:
    """Add the columns that name events of which several rows are forecasts, if they do."""
    used = _used(roles)
    y, classes = roles["outcome"], roles.get("classes")
    values: Any = {k: columns[k] for k in y} if isinstance(y, list) else columns[y]
    try:
        codes = outcomes("outcome", values, classes=classes).codes
    except ValueError:  # said when the log is read
        return
    names = repeated({k: v for k, v in columns.items() if k not in used}, codes)
    if names:
        roles["event"] = names if len(names) > 1 else names[0]
        said.append(
            f"event: column{'s' * (len(names) > 1)} {listed(names)} (rows of one share an outcome)"
        )


def _used(roles: dict[str, Any]) -> set[str]:
    return {
        name for held in roles.values() for name in (held if isinstance(held, list) else [held])
    }
