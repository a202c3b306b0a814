"""The page in the browser: files that come with the package, read once when the service starts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from litestar import Response

from fullswap.service.answers import HttpError

KINDS = {
    ".html": "text/html", ".js": "text/javascript",
    ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png",
    ".ico": "image/x-icon", ".woff2": "font/woff2", ".txt": "text/plain",
    ".json": "application/json",
}  # fmt: skip
"""Files of these kinds are served, no others; Litestar adds the charset of texts."""
BARE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>fullswap</title>
<h1>fullswap</h1><p>The service is running. Its API is described at <a href="/openapi.json">
/openapi.json</a>.</p></html>
"""


@dataclass(frozen=True)
class PageFile:
    """One file, and what browsers are told of it."""

    content: bytes
    kind: str
    tag: str


class PageFiles:
    """The files that there are; a name that is not among them leads nowhere."""

    def __init__(self, files: dict[str, bytes]) -> None:
        """By the names under which they are served."""
        self.files = {name: _known(name, content) for name, content in files.items()}
        self.files.setdefault("index.html", _known("index.html", BARE))

    @classmethod
    def read(cls) -> PageFiles:
        """Those of the package."""
        folder = resources.files("fullswap.service") / "page"
        if not folder.is_dir():
            return cls({})
        listed = [part for part in folder.iterdir() if part.is_file() and _kind(part.name)]
        return cls({part.name: part.read_bytes() for part in listed})

    def answer(self, request: Any, name: str) -> Response[bytes]:
        """One file; nothing but "as before" if the browser has it already."""
        file = self.files.get(name)
        if file is None:
            raise HttpError(404, "not-found", "there is no such file")
        request.scope["fullswap_exchange"].kept = True
        # browsers may keep it, and ask each time whether it has changed
        headers = {"etag": file.tag, "cache-control": "no-cache"}
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(b"", status_code=304, headers=headers, media_type=file.kind)
        return Response(file.content, headers=headers, media_type=file.kind)


def _kind(name: str) -> str | None:
    return KINDS.get("." + name.rpartition(".")[2])


def _known(name: str, content: bytes) -> PageFile:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return PageFile(content, _kind(name) or "text/plain", tag)
