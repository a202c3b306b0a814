"""Tokens of the service, in ``tokens.json`` of its folder.

A token is 256 random bits, shown once; the file keeps its SHA-256. That is enough for random
tokens (slow hashes are for passwords, which people choose): nobody guesses one, and who reads the
file cannot use it. Once the file is there, tokens are needed, also if all of them were revoked.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fullswap.base import checks
from fullswap.service.paths import ROLES

FILE = "tokens.json"
PREFIX = "fullswap_"
"""So that tools which look for secrets in code can find them."""
LONGEST_NAME = 100


@dataclass(frozen=True)
class Token:
    """What is kept of a token."""

    id: str
    name: str
    role: str
    created: float
    hash: str


def digest(token: str) -> str:
    """What is kept in the place of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def read_tokens(folder: str | os.PathLike[str]) -> list[Token] | None:
    """All tokens of a folder; None: there is no file, and none is needed."""
    path = Path(folder) / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        text = ""
    try:
        kept = json.loads(text)
        if kept["version"] != 1:
            raise ValueError
        tokens = [Token(**entry) for entry in kept["tokens"]]
        if any(token.role not in ROLES or len(token.hash) != 64 for token in tokens):
            raise ValueError
        return tokens
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is damaged: no token can be read from it") from None


def create_token(folder: str | os.PathLike[str], role: str, name: str = "") -> tuple[str, Token]:
    """A new token, and what is kept of it."""
    checks.one_of("role", role, ROLES)
    if len(name) > LONGEST_NAME or not (name.isprintable() or not name):
        checks.refuse("name", f"have at most {LONGEST_NAME} printable characters", name)
    with _alone(folder):
        tokens = read_tokens(folder) or []
        secret = PREFIX + secrets.token_urlsafe(32)
        known = {token.id for token in tokens}
        number = next(f"t{n}" for n in range(1, len(tokens) + 2) if f"t{n}" not in known)
        made = Token(number, name or number, role, time.time(), digest(secret))
        _write(Path(folder), [*tokens, made])
    return secret, made


def revoke_token(folder: str | os.PathLike[str], which: str) -> list[Token]:
    """Take away the tokens of this id or name; returns them, none if there are none."""
    with _alone(folder):
        tokens = read_tokens(folder) or []
        gone = [token for token in tokens if which in (token.id, token.name)]
        if gone:
            _write(Path(folder), [token for token in tokens if token not in gone])
    return gone


def _write(folder: Path, tokens: list[Token]) -> None:
    """Whole or not at all, and for the owner alone from the first byte on."""
    text = json.dumps({"version": 1, "tokens": [asdict(token) for token in tokens]}, indent=2)
    part = folder / f".{FILE}.{secrets.token_hex(4)}.part"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        if os.name == "posix" and os.geteuid() == 0:  # the service, too, must be able to read it
            owner = os.stat(folder)
            os.chown(part, owner.st_uid, owner.st_gid)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, folder / FILE)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def _alone(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Two commands at once: one after the other, where the system can lock."""
    if not Path(folder).is_dir():
        raise FileNotFoundError(2, "No such folder", os.fspath(folder))
    handle = os.open(folder, os.O_RDONLY) if os.name == "posix" else None
    try:
        if handle is not None:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        if handle is not None:
            os.close(handle)


class TokenFile:
    """The tokens of a folder, read again when the file changes; looked at once a second."""

    def __init__(self, folder: str | os.PathLike[str], every: float = 1.0) -> None:
        """Read them; raises ``ValueError`` if the file is damaged."""
        self.folder = Path(folder)
        self.every = every
        self.tokens = read_tokens(folder)
        self._stamp = self._mark()
        self._next = time.monotonic() + every

    @property
    def needed(self) -> bool:
        """Whether requests must bring a token."""
        self._refresh()
        return self.tokens is not None

    def find(self, secret: str) -> Token | None:
        """The token, if it is one; every comparison takes the same time."""
        self._refresh()
        wanted = digest(secret)
        found = None
        for token in self.tokens or ():
            if hmac.compare_digest(token.hash, wanted):
                found = token
        return found

    def _refresh(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self.every
        stamp = self._mark()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self.tokens = read_tokens(self.folder)
            except (ValueError, OSError):  # damaged while it runs: nobody gets in
                self.tokens = []

    def _mark(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.folder / FILE)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
