"""What an entry of the ledger is: a result with its premises as data and its bound as a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Premises = TypeVar("Premises")


@dataclass(frozen=True)
class Result(Generic[Premises]):
    """A proven inequality: whatever happens, as long as the premises hold, at most ``bound``.

    A test marked ``theorem(name)`` measures it.
    """

    name: str
    citation: str
    """Keys of ``CITATIONS``, separated by "; "."""
    statement: str
    """"For any outcomes": of distributions in every run; of issued draws on average over them, if
    no outcome depends on the draw made for it. "In time": before the next forecast."""
    premises: type[Premises]
    """Frozen dataclass of what the bound reads."""
    bound: Callable[[Premises], float]
    tune: Callable[..., Any] | None = None
    """What chooses the free parameters, where there are such: tuning and bound are one proof."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The citation keys, one by one."""
        return tuple(self.citation.split("; "))


def by_name(*families: tuple[Result[Any], ...]) -> dict[str, Result[Any]]:
    """All results of these families by name; no name may come twice."""
    results = [result for family in families for result in family]
    ledger = {result.name: result for result in results}
    assert len(ledger) == len(results), "two results have one name"
    return ledger
