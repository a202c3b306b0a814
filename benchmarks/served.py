"""A service in a process of its own, and what the system says about it."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

ADDRESS = re.compile(r"listening on http://127\.0\.0\.1:(\d+)\b")
PATIENCE = 120.0
"""Seconds until it must listen, or have stopped."""
TABLES = {"streams": ("streams", "sqlite_autoindex_streams_1"), "history": ("history", "by_event"),
          "ids": ("ids",)}  # fmt: skip
"""What lies in the pages of streams.db."""


class Served:
    """``fullswap serve FOLDER`` on a free port of this machine."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder.parent / f"{folder.name}.log"
        begun = time.perf_counter()
        with open(self._log, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fullswap", "serve", str(folder), "--port", "0", *options],
                stderr=log, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self.port = self._listening()
        self.health = self.ask("/healthz")
        self.start_seconds = time.perf_counter() - begun
        """From the command to the first answer."""

    def _listening(self) -> int:
        end = time.perf_counter() + PATIENCE
        while time.perf_counter() < end and self.process.poll() is None:
            found = ADDRESS.search(self._log.read_text())
            if found:
                return int(found[1])
            time.sleep(0.02)
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"the service did not start: {self._log.read_text()[-500:]}")

    def ask(self, path: str) -> Any:
        """What it answers to a question."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return json.loads(answer.read())

    def stop(self) -> float:
        """Have it write everything down and leave; seconds until it has."""
        begun = time.perf_counter()
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        if code:
            raise RuntimeError(f"the service left with {code}: {self._log.read_text()[-500:]}")
        return time.perf_counter() - begun

    def kill(self) -> None:
        """As a power cut does, the disk's own memory apart."""
        self.process.kill()
        self.process.wait(PATIENCE)

    # --- what the system says; Linux alone ----------------------------------------------------

    def cpu_seconds(self) -> float:
        """Processor time so far, of all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        """Bytes of memory."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024  # type: ignore[index]

    def written(self) -> int:
        """Bytes that were sent to disks so far."""
        text = Path(f"/proc/{self.process.pid}/io").read_text()
        return int(re.search(r"^write_bytes: (\d+)", text, re.MULTILINE)[1])  # type: ignore[index]


def file_bytes(folder: Path) -> dict[str, int]:
    """Sizes of the two databases, with what has not been moved into them yet."""
    return {
        name: sum(path.stat().st_size for path in folder.glob(f"{name}.db*"))
        for name in ("journal", "streams")
    }


def table_bytes(folder: Path) -> dict[str, int]:
    """Bytes of the pages of each table, of a folder that nobody uses."""
    connection = sqlite3.connect(folder / "streams.db")
    try:
        pages = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    except sqlite3.OperationalError:  # built without that table
        return {}
    finally:
        connection.close()
    return {name: sum(pages.get(one, 0) for one in own) for name, own in TABLES.items()}
