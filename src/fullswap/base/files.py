"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from fullswap.base import checks


def write_text(path: Any, content: str) -> None:
    """Write a text: under another name, to the disk, then in the place of what was there.

    A crash leaves the old file or the new one, never a part. The other name is made by ``open``,
    so that the file gets the rights that the user's files get.
    """
    target = Path(path).resolve()  # a link stays a link, and what it leads to is written
    if target.is_dir():
        checks.refuse("path", "be a file, not a folder", str(path))
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_text(content, encoding="utf-8")
        return
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "x", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
