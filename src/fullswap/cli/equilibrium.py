"""`fullswap equilibrium GAME`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

from fullswap.cli.help import Command
from fullswap.cli.output import print_table


class GameCommand(Command):
    """Its help lists the zoo."""


def equilibrium(
    game: str = typer.Argument(help="A .nfg or .efg file, or a game of the zoo such as ring."),
    settings: list[str] = typer.Option(  # noqa: B008
        [], "--set", metavar="NAME=VALUE", help="Argument of a game of the zoo, e.g. n=100000."
    ),
    gap: float = typer.Option(0.01, help="Largest gain by any swap of recommendations."),
    method: str = typer.Option("auto", help="auto, matching, optimistic, weights, oracle, lp."),
    seconds: float | None = typer.Option(None, help="Stop soon after that time."),
    seed: int = typer.Option(0, min=0, help="Seed of the actions to begin with."),
    plot: Path | None = typer.Option(None, help="Draw the joint distribution."),  # noqa: B008
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Solve a game: a correlated equilibrium, its gap checked against every action."""
    from fullswap.games import solve

    try:
        solution = solve(_game(game, settings), gap, method, seed, seconds=seconds)
        if plot is not None:
            from fullswap.report import joint_distribution

            joint_distribution(solution).savefig(plot, bbox_inches="tight")
    except (ValueError, OSError, ImportError) as error:
        print(f"fullswap equilibrium: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    if as_json:
        print(solution.to_json())
    else:
        _print(solution)
    if not solution.reached:
        raise typer.Exit(1)


def _print(solution: Any) -> None:
    print(solution)
    shown = (-solution.weights).argsort(kind="stable")[:20]
    players = range(solution.game.players)
    names = [[solution.game.actions[i].describe(solution.support[k, i]) for i in players]
             for k in shown]  # fmt: skip
    print_table(
        f"The {len(shown)} likeliest of {len(solution.weights)} joint actions",
        (*(f"player {i}" for i in players), "probability"),
        [(*row, f"{solution.weights[k]:.4f}") for row, k in zip(names, shown, strict=True)],
    )


def _game(name: str, settings: list[str]) -> Any:
    """A game of the zoo with its settings, or one from a file."""
    from fullswap.games import read, zoo

    if name not in zoo.GAMES:
        if not Path(name).is_file():
            known = ", ".join(zoo.GAMES)
            raise typer.BadParameter(f"{name!r} is neither a file nor a game of the zoo ({known})")
        if settings:
            raise typer.BadParameter(f"--set is for games of the zoo, and {name!r} is a file")
        return read(name)
    values: dict[str, Any] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        try:
            values[key] = json.loads(value)
        except ValueError:
            raise typer.BadParameter(f"--set must be NAME=NUMBER, got {setting!r}") from None
    try:
        return zoo.GAMES[name](**values)
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None
