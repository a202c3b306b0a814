"""Things noticed in a table, and those that only look like them."""

import numpy as np
import pytest

from fullswap.inputs import log_of

RNG = np.random.default_rng(5)


def noticed(table: dict[str, object], word: str) -> list[str]:
    return [note for note in log_of(table, y="y", p="p").notes if word in note]


def in_game(games: int = 40, rows: int = 20, seed: int = 0) -> dict[str, np.ndarray]:
    """Each game is forecast many times; teams meet again in the second season."""
    rng = np.random.default_rng(seed)
    game = np.repeat(np.arange(games), rows)
    home = rng.integers(0, 6, games // 2)
    away = (home + rng.integers(1, 6, games // 2)) % 6 + 10
    pairs, first = np.unique(np.column_stack([home, away]), axis=0, return_inverse=True)
    won = rng.integers(0, 2, (2, len(pairs)))
    won[1] = 1 - won[0]  # so that the season is needed
    which = np.concatenate([first, first])
    season = np.repeat([2024, 2025], games // 2)
    outcome = won[season - 2024, which]
    return {
        "season": season[game],
        "home": np.array([f"team {k}" for k in pairs[which, 0]])[game],
        "away": np.array([f"team {k}" for k in pairs[which, 1]])[game],
        "secs": np.tile(np.arange(rows)[::-1], games),
        "p": np.clip(rng.random(games * rows), 0.01, 0.99),
        "y": outcome[game],
    }


def league(n: int = 3000, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    goals = rng.integers(0, 5, n)
    home, away = np.where(y == 1, goals + 1, goals), np.where(y == 1, goals, goals + 1)
    return {
        "season": np.repeat(np.arange(2020, 2020 + 6), n // 6),
        "league": np.array(["north", "south"])[rng.integers(0, 2, n)],
        "team1": np.array([f"t{k}" for k in rng.integers(0, 12, n)]),
        "team2": np.array([f"t{k}" for k in rng.integers(0, 12, n)]),
        "week": np.tile(np.arange(n // 6) // 10, 6),
        "score": np.array([f"{a}-{b}" for a, b in zip(home, away, strict=True)]),
        "goals1": home,
        "goals2": away,
        "result": np.where(y == 1, "home", "away"),
        "p": p,
        "y": y,
    }


def test_games_forecast_many_times() -> None:
    notes = noticed(in_game(), "share an outcome")
    assert notes == [
        "rows of one (season, home, away) share an outcome: give event=['season', 'home', 'away']"
    ]


@pytest.mark.parametrize("kind", [str, int])
def test_an_id_is_enough(kind: type) -> None:
    table = in_game()
    ids = [kind(k) for k in 1000 + np.repeat(np.arange(40), 20)]
    notes = noticed({"game_id": ids, **table}, "share an outcome")
    assert notes == ["rows of one game_id share an outcome: give event='game_id'"]


def test_an_id_is_seen_when_rows_are_mixed() -> None:
    table = in_game()
    mixed = RNG.permutation(800)
    table = {"question": np.array([f"q{k}" for k in np.repeat(np.arange(40), 20)]), **table}
    assert noticed({k: v[mixed] for k, v in table.items()}, "event='question'")


def test_rare_yes_is_seen_too() -> None:
    table = {"player": [f"n{k % 50}" for k in range(500)], "p": RNG.random(500),
             "y": [int(k % 50 == 7) for k in range(500)]}  # fmt: skip
    assert noticed(table, "event='player'")


def test_nothing_is_said_when_the_event_is_given() -> None:
    log = log_of(in_game(), y="y", p="p", event=["season", "home", "away"])
    assert not [note for note in log.notes if "share" in note]
    assert len(log.event_names) == len(set(log.event_names)) > 10


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("by_time", [False, True])
def test_a_league_is_no_repeat(seed: int, by_time: bool) -> None:
    """Teams come again with other outcomes; final scores tell the outcome but are no events."""
    table = league(seed=seed)
    if not by_time:
        mixed = np.random.default_rng(seed).permutation(3000)
        table = {k: v[mixed] for k, v in table.items()}
    assert not noticed(table, "share")


@pytest.mark.parametrize("order", ["given", "by outcome"])
def test_a_copy_of_the_outcome_is_no_event(order: str) -> None:
    table = league()
    keep = np.argsort(table["y"], kind="stable") if order == "by outcome" else np.arange(3000)
    small = {k: table[k][keep] for k in ("result", "y", "p")}
    assert not noticed(small, "share")


def test_few_rows_say_nothing() -> None:
    assert not noticed(in_game(games=8, rows=3), "share")


@pytest.mark.parametrize(
    ("dates", "note"),
    [
        (
            ["2026-03-03", "2026-03-02", "2026-03-01"],
            "column date runs backwards: give time='date'",
        ),
        (
            ["2026-03-01", "2026-03-03", "2026-03-02"],
            "rows are not in order of column date: give time='date'",
        ),
        (["2026-03-01", "2026-03-02", "2026-03-02"], None),
        (["2026-03-03", None, "2026-03-01"], "column date runs backwards: give time='date'"),
        (["spring", "summer", "autumn"], None),
    ],
)
def test_dates_out_of_order(dates: list[str], note: str | None) -> None:
    table = {"y": [1, 0, 1], "p": [0.5, 0.2, 0.7], "date": dates}
    assert [v for v in log_of(table, y="y", p="p").notes if "date" in v] == ([note] if note else [])
    assert not noticed({"y": [1, 0], "p": [0.5, 0.2], "due_date": dates[:2]}, "due_date")
