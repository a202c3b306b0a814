"""What can go wrong in a service, as far as clients mind."""

from __future__ import annotations

from fullswap.service.messages import Refusal, refusal


class Unavailable(Exception):
    """Nothing was done, and it may be tried again: the store cannot be written, or is closing."""


class Conflict(ValueError):
    """Something else of this name is there already."""


class Refused(ValueError):
    """One item cannot be served; ``code`` is a word for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def answer(self) -> Refusal:
        """What stands in the place of the item."""
        return refusal(self.code, str(self))
