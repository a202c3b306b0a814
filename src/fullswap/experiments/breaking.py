"""Trying to break the guarantees: the searching adversary against every row."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from fullswap.adversaries import search
from fullswap.experiments.problems import cases, problem


@dataclass(frozen=True)
class Attempt:
    """The worst run that the search found for one row in one dimension."""

    row: str
    dim: int
    rounds: int
    ratio: float
    """Largest measured/guaranteed; above 1 the guarantee would be broken."""
    adversary: str
    parameters: dict[str, Any]
    tried: int


def attempt(case: tuple[str, int], rounds: int, budget: int, seed: int) -> Attempt:
    """Search for the adversary that comes closest to the guarantee."""
    row, dim = case
    posed = problem(row, dim)
    found = search(
        partial(posed.learner, rounds), posed.action_set, posed.loss_class, rounds, budget, seed
    )
    return Attempt(
        row, dim, rounds, found.ratio, found.adversary, dict(found.parameters), found.tried
    )


def attempt_all(
    rounds: int,
    budget: int,
    seed: int = 0,
    workers: int = 1,
    on_done: Callable[[int, int], None] | None = None,
) -> list[Attempt]:
    """One search for every row and dimension."""
    todo = cases()
    work = partial(attempt, rounds=rounds, budget=budget, seed=seed)
    results = []
    with ProcessPoolExecutor(workers) as pool:
        for done, result in enumerate(pool.map(work, todo), 1):
            results.append(result)
            if on_done:
                on_done(done, len(todo))
    return results
