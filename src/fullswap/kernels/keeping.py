"""Where compiled code is kept, and how it is found again.

Folders, the best first: NUMBA_CACHE_DIR · ``__pycache__`` beside the kernels · the user's cache
folder · a folder of this user alone in the temporary one. Code is read from all of them, so that an
image whose kernels were compiled while it was built uses them though it cannot write there; it is
written to the first that can be written. If there is none, nothing is kept. A folder that the user
named and that can be written is the only one.

Compiled code is executed, so it is read only from where nobody else could have put it: the folder
beside the source (who writes there can change the source), and files elsewhere that belong to this
user or to root and that nobody else can write, also in the folder that the user named.

A file holds the digest of what follows it and of all sources of the kernels, of the versions of
Python, numba and llvmlite: so a file that is stale, cut off or of another release is not used,
whatever its time stamp, and is replaced. One file a kernel and signature, put in place at once:
processes that start together do not disturb each other.
"""

import hashlib
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.misc.appdirs import AppDirs

HERE = Path(__file__).parent
BESIDE = HERE / "__pycache__"
NAMED: str = getattr(config, "CACHE_DIR", "")
"""NUMBA_CACHE_DIR, or empty."""
FLAGS = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT")
"""Settings of numba that change what it makes."""
_writable: set[Path] = set()
_unwritable: set[Path] = set()
"""What is known of folders so far."""


@cache
def stamp() -> bytes:
    """Digest of all that compiled code depends on beside signature and processor."""
    digest = hashlib.sha256()
    flags = str([getattr(config, name, "") for name in FLAGS])
    for part in (sys.version, numba.__version__, llvmlite.__version__, flags):
        digest.update(part.encode() + b"\0")
    for path in _sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


@cache
def _sources() -> list[Path]:
    return sorted(HERE.glob("*.py"))


@cache
def folders() -> tuple[Path, ...]:
    """All places for compiled code, the best first; they need not exist.

    None where the sources cannot be read (in an archive): old and new code would look the same.
    """
    if not _sources():
        return ()
    own = f"fullswap_{hashlib.sha256(str(HERE).encode()).hexdigest()[:12]}"
    user = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    places = [Path(NAMED) / own] if NAMED else []
    places.append(BESIDE)
    if user.is_absolute():  # "~" stays as it is where there is no home
        places.append(user / own)
    if hasattr(os, "getuid"):
        places.append(_temporary() / own)
    return tuple(places)


@cache
def _temporary() -> Path:
    return Path(tempfile.gettempdir()).absolute() / f"fullswap-of-user-{os.getuid()}"


def is_temporary(folder: Path) -> bool:
    """Whether a folder may be emptied by others than the user."""
    return hasattr(os, "getuid") and folder.parent == _temporary()


def writable_folder() -> Path | None:
    """The first folder that can be written, made if need be."""
    for folder in folders():
        if folder in _writable:
            return folder
        if folder not in _unwritable:
            try:
                _make(folder)
                tempfile.TemporaryFile(dir=folder).close()
                _writable.add(folder)
                return folder
            except OSError:
                _unwritable.add(folder)
    return None


def _give_up(folder: Path) -> None:
    _writable.discard(folder)
    _unwritable.add(folder)


def _make(folder: Path) -> None:
    if not is_temporary(folder):
        folder.mkdir(parents=True, exist_ok=True)
        return
    for each in (folder.parent, folder):
        try:
            each.mkdir(mode=0o700)
        except FileExistsError:
            found = each.lstat()
            private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
            if not private or found.st_uid != os.getuid():
                raise PermissionError(f"{each} belongs to somebody else") from None


def _file(folder: Path, name: str, key: Any) -> Path:
    label = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    safe = "".join(c if c.isalnum() or c in "._-" else "-" for c in name)
    return folder / f"{safe}.{sys.implementation.cache_tag}.{label}.nbc"


def found(name: str, key: Any) -> Iterator[bytes]:
    """What was kept under this name and key, from each folder that has it; sound, and ours."""
    named = folders()[:1] if NAMED else ()
    for folder in named if writable_folder() in named else folders():
        try:
            with open(_file(folder, name, key), "rb") as file:
                content = file.read() if _trusted(folder, os.fstat(file.fileno())) else b""
        except OSError:
            continue
        body = content[32:]
        if content[:32] == hashlib.sha256(stamp() + body).digest():
            yield body


def _trusted(folder: Path, status: os.stat_result) -> bool:
    """Whether nobody else could have written this open file."""
    if folder == BESIDE or not hasattr(os, "getuid"):
        return True
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022


def keep(name: str, key: Any, body: bytes) -> str:
    """Write it down; in the next folder if one fails. What the trouble was, if none took it."""
    trouble, content = "", hashlib.sha256(stamp() + body).digest() + body
    while (folder := writable_folder()) is not None:
        target = _file(folder, name, key)
        try:
            _put(target, content)
            return ""
        except OSError as error:
            _give_up(folder)
            trouble = f"{folder}: {error.strerror or error}"
    return trouble


def _put(target: Path, content: bytes) -> None:
    """Write a file that is there wholly or not at all."""
    part = target.with_name(f"{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        # readable for all, as far as the user's mask allows: another user may run what root built
        handle = os.open(
            part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o644
        )
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(part, target)
    except OSError:
        part.unlink(missing_ok=True)
        raise
