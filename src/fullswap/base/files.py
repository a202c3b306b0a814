"""Files that are there whole or not at all, and files and folders of the owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any

from fullswap.base import checks


def refuse_same(**paths: Any) -> None:
    """Refuse two roles for one file: what is read or written there would be lost.

    Nothing, and "-" for a standard stream, are no files.

    Examples
    --------
    >>> refuse_same(path="log.csv", out="./log.csv")
    Traceback (most recent call last):
    ...
    ValueError: out must be another file than path, got ./log.csv for both
    """
    seen: dict[Path, str] = {}
    for role, path in paths.items():
        if path is None or path == "-" or not isinstance(path, str | os.PathLike):
            continue
        place = Path(path).resolve()
        if place in seen:
            raise ValueError(f"{role} must be another file than {seen[place]}, got {path} for both")
        seen[place] = role


OWNER_ONLY, OWNER_FOLDER = 0o600, 0o700
"""Modes of what holds a seed: with it, every later draw could be foretold."""


def make_folder(path: Any) -> None:
    """Make a folder and those above it, for the owner alone; what is there stays as it is."""
    folder = Path(path)
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(mode=OWNER_FOLDER, exist_ok=True)


def make_private(path: Any) -> None:
    """Make an empty file for the owner alone, under any umask, if there is none."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))


def write_text(path: Any, content: str, private: bool = False) -> None:
    """Write a text as ``write_bytes`` does."""
    write_bytes(path, content.encode("utf-8"), private)


def write_bytes(path: Any, content: bytes, private: bool = False) -> None:
    """Write a file: under another name, to the disk, then in the place of what was there.

    A crash leaves the old file or the new one, never a part. The other name is made by ``open``,
    so that the file gets the rights that the user's files get; a private one is for the owner alone
    from its first byte on.
    """
    target = Path(path).resolve()  # a link stays a link, and what it leads to is written
    if target.is_dir():
        checks.refuse("path", "be a file, not a folder", str(path))
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_bytes(content)
        return
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        if private:
            make_private(part)
        with open(part, "r+b" if private else "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        _settle(target.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _settle(folder: Path) -> None:
    """Have the disk know the new name too, where folders can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:  # some systems refuse
        pass
    finally:
        os.close(handle)


def lock(path: Any, trouble: str) -> Any:
    """An open file that one process at a time has; closing it, however that comes, lets it go.

    ``ValueError`` with this text if another process has it. Where files cannot be locked it is
    nobody's.
    """
    make_private(path)
    held = open(path, "a+")
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on this system
        return held
    except OSError:
        held.close()
        raise ValueError(trouble) from None
    return held
