"""What the keys of ``benchmarks.before`` and ``benchmarks.now`` are run on: no name of fullswap.

Made from fixed seeds. Files go to a folder of the digest of this file, so that none is stale.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

DATA = os.environ.get("AGAINST_DATA", "")
"""A folder of game files; empty: none."""


def folder() -> Path:
    """Where files are put."""
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    place = Path(os.environ.get("AGAINST", "build/against")) / "inputs" / digest
    place.mkdir(parents=True, exist_ok=True)
    return place.resolve()


def made(name: str, write: Any) -> str:
    """The path of a file, which is written unless it is there."""
    path = folder() / name
    if not path.exists():
        part = path.with_name(f"{os.getpid()}-{name}")
        write(part)
        part.replace(path)  # at once: both sides may make it
    return str(path)


def scratch(name: str) -> Path:
    """A file that is written anew each time, by one process after the other."""
    return Path(os.environ.get("AGAINST", "build/against")).resolve() / name


# --- logs ---------------------------------------------------------------------------------------


@cache
def log(events: int) -> tuple[Any, Any]:
    """Outcomes and probabilities of a model that is too sure of itself."""
    rng = np.random.default_rng(0)
    said = 1 / (1 + np.exp(-rng.normal(0, 1.5, events)))
    return (rng.random(events) < 0.15 + 0.7 * said).astype(float), said


@cache
def segments(events: int) -> Any:
    """One of twenty regions for each event."""
    return np.array([f"region {k}" for k in range(20)])[
        np.random.default_rng(1).integers(0, 20, events)
    ]


@cache
def keys(events: int, streams: int) -> Any:
    """Whose event each is."""
    return np.random.default_rng(2).integers(0, streams, events)


def log_file(events: int) -> str:
    """A CSV of time, p, y, region."""

    def write(path: Path) -> None:
        y, p = log(events)
        with open(path, "w") as file:
            file.write("time,p,y,region\n")
            rows = zip(range(events), p, y, segments(events), strict=True)
            file.writelines(f"{t},{said:.6f},{happened:.0f},{r}\n" for t, said, happened, r in rows)

    return made(f"log-{events}.csv", write)


@cache
def members(events: int, groups: int) -> Any:
    """Two of so many groups for each event, as a sparse table of yes and no."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, groups, events)
    both = np.stack((first, (first + rng.integers(1, groups, events)) % groups), axis=1)
    rows = np.repeat(np.arange(events), 2)
    return sparse.csr_array((np.ones(2 * events, bool), (rows, both.ravel())), (events, groups))


@cache
def classes(events: int, number: int) -> tuple[Any, Any]:
    """Vectors of a model that is too sure of itself, and the class that happened."""
    rng = np.random.default_rng(4)
    true = rng.normal(0, 1.5, (events, number)) - np.log(np.arange(1, number + 1))
    chance = np.exp(true) / np.exp(true).sum(axis=1, keepdims=True)
    said = np.exp(1.8 * true + rng.normal(0, 0.5, number))
    happened = (chance.cumsum(axis=1) > rng.random((events, 1))).argmax(axis=1)
    return said / said.sum(axis=1, keepdims=True), happened


@cache
def targets(rounds: int, dim: int, radius: float = 1.0) -> Any:
    """Points of a ball around 0, most of them on its rim."""
    drawn = np.random.default_rng(5).normal(size=(rounds, dim)) * 2 * radius
    length = np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn * np.minimum(1, radius / length)


def rows_folder(events: int, streams: int, files: int = 4) -> str:
    """A folder of Parquet files: key, time, p, y."""

    def write(path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        y, p = log(events)
        columns = {"key": keys(events, streams), "time": np.arange(events), "p": p, "y": y}
        path.mkdir()
        for k, part in enumerate(np.array_split(np.arange(events), files)):
            table = pa.table({name: column[part] for name, column in columns.items()})
            pq.write_table(table, path / f"{k}.parquet")

    return made(f"rows-{events}-{streams}", write)


SPARK = {
    "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
}  # fmt: skip


# --- games --------------------------------------------------------------------------------------


@cache
def random_game(n: int, seed: int) -> tuple[Any, Any]:
    """Payoffs uniform in [0, 1]."""
    rng = np.random.default_rng([seed, n])
    return rng.random((n, n)), rng.random((n, n))


@cache
def opposed_game(n: int) -> tuple[Any, Any]:
    """Standard normal payoffs, mostly opposed."""
    first, second = np.random.default_rng(n).standard_normal((2, n, n))
    return first, 0.7 * (second - first)


@cache
def near_zero_sum(n: int, rho: float, seed: int) -> tuple[Any, Any]:
    """A and noise standard normal, B = ρA + √(1−ρ²)·noise."""
    rng = np.random.default_rng([seed, n])
    first, noise = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    return first, rho * first + np.sqrt(1 - rho**2) * noise


@cache
def blotto(troops: int, fields: int) -> tuple[Any, Any]:
    """Troops on fields; who has more fields wins."""
    every = product(range(troops + 1), repeat=fields)
    splits = np.array([split for split in every if sum(split) == troops])
    won = np.sign(np.sign(splits[:, None] - splits).sum(axis=2)).astype(float)
    return won, -won


def spread(first: Any, second: Any) -> float:
    """The larger range of payoffs."""
    return float(max(np.ptp(first), np.ptp(second)))


def unit_vectors(n: int, dim: int) -> Any:
    """So many of length 1."""
    drawn = np.random.default_rng([n, dim]).standard_normal((n, dim))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def game_files(most: int = 10) -> list[str]:
    """The smallest files of games in DATA, by size and name."""
    found = [p for p in Path(DATA).iterdir() if p.suffix in (".nfg", ".efg")] if DATA else []
    return [str(p) for p in sorted(found, key=lambda p: (p.stat().st_size, p.name))[:most]]


def liars_dice(sides: int = 6) -> str:
    """Liar's dice for two with one die each, as .efg; the highest face counts as any.

    Bids (1 or 2 dice, a face) rise; who does not believe one calls it, and ends the game.
    """

    def write(path: Path) -> None:
        with open(path, "w") as file:
            file.write(f'EFG 2 R "liar\'s dice, {sides} sides" {{ "one" "two" }}\n')
            file.writelines(_rolls(sides))

    return made(f"liars-dice-{sides}.efg", write)


def _rolls(sides: int) -> Iterator[str]:
    faces = " ".join(f'"{k}" 1/{sides}' for k in range(1, sides + 1))
    sets: dict[tuple[int, int, int], int] = {}
    outcomes = iter(range(1, 10**9))
    yield f'c "" 1 "" {{ {faces} }} 0\n'
    for first in range(sides):
        yield f'c "" {2 + first} "" {{ {faces} }} 0\n'
        for second in range(sides):
            yield from _bids(sides, (first, second), 0, -1, 0, sets, outcomes)


def _bids(
    sides: int, dice: tuple[int, int], said: int, last: int, player: int,
    sets: dict[tuple[int, int, int], int], outcomes: Iterator[int],
) -> Iterator[str]:  # fmt: skip
    """The tree below: ``said`` has a bit for each bid, ``last`` is the highest."""
    bids = range(last + 1, 2 * sides)
    names = [f'"{1 + b // sides}x{1 + b % sides}"' for b in bids] + ['"liar"'] * (last >= 0)
    own = sets.setdefault((player, dice[player], said), 1 + len(sets))
    yield f'p "" {1 + player} {own} "" {{ {" ".join(names)} }} 0\n'
    for bid in bids:
        yield from _bids(sides, dice, said | 1 << bid, bid, 1 - player, sets, outcomes)
    if last >= 0:
        count = sum(die in (last % sides, sides - 1) for die in dice)
        won = 1 if count < 1 + last // sides else -1
        pays = (won, -won) if player == 0 else (-won, won)
        yield f't "" {next(outcomes)} "" {{ {pays[0]} {pays[1]} }}\n'
