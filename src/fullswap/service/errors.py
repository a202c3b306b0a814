"""What can go wrong with a request through no fault of its own."""

from __future__ import annotations


class Unavailable(Exception):
    """The service cannot answer now: the disk is full, it is closing, too much waits. HTTP 503."""


class Conflict(Exception):
    """Something else is there under this name already. HTTP 409."""
