"""What tests of the Spark integration share: logs, a slow reference, a session."""

import os
import shutil

import numpy as np
import pytest

import fullswap as fs

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'fullswap[spark]'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'fullswap[spark]'")

NO_JAVA = "Java is not installed (Debian: openjdk-17-jre-headless)"
HAS_JAVA = bool(os.environ.get("JAVA_HOME")) or shutil.which("java") is not None
needs_java = pytest.mark.skipif(not HAS_JAVA, reason=NO_JAVA)
OLD_PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"
"""Spark asks for a pandas that it is not used with here."""

SETTINGS = {
    "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR", "spark.sql.session.timeZone": "UTC",
}  # fmt: skip
PAGES = 64
"""Few, so that a micro-batch of a test takes no more than a second."""


def log_of(events, keys, seed=0):
    """Columns of a log that is overconfident, its rows in the order of time."""
    rng = np.random.default_rng(seed)
    p = rng.random(events)
    return {
        "key": [f"key {k}" for k in rng.integers(0, keys, events)],
        "time": np.arange(events),
        "p": p,
        "y": (rng.random(events) < 0.25 + 0.5 * p).astype(float),
    }


def replayed(pattern, rows, expire=None):
    """One row after the other through a bank: (issued, mean, id, status) of each.

    ``rows`` are (key, time, p, y, id) in the order in which they are played; None where absent.
    """
    bank, waiting, shown = fs.Bank(pattern), {}, []
    models = isinstance(pattern, fs.Recalibrator)
    for key, time, p, y, name in rows:
        for own, (ticket, made) in list(waiting.items()):
            if own[0] == key and expire is not None and time - made > expire:
                bank.drop(ticket)
                del waiting[own]
        own, said = (key, name), p is not None or not models
        ticket, status = None, "refused"
        if own in waiting and name is not None and (said or y is not None):
            ticket, status = waiting[own][0], "known"
        elif said:
            columns = (np.array([p]),) if models else ()
            (ticket,), status = bank.predict([key], *columns), "forecast"
            if name is None and y is None:
                bank.drop(ticket)
            elif y is None:
                waiting[own] = ticket, time
        elif y is not None:
            status = "unknown"
        if ticket is not None and y is not None:
            bank.update([ticket], [y])
            waiting.pop(own, None)
            status = "learnt"
        if ticket is None:
            shown.append((None, None, None, status))
        else:
            plain = [np.asarray(value).tolist() for value in (ticket.issued, ticket.mean)]
            shown.append((*plain, ticket.id, status))
    return shown
