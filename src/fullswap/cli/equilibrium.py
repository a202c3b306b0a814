"""`fullswap equilibrium GAME`."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from fullswap.base.terminal import visible
from fullswap.cli.help import Command
from fullswap.cli.options import JSON, OUTPUT, QUIET
from fullswap.cli.output import (
    answered,
    print_table,
    progress_wanted,
    refuse_unwritable,
    say,
    warned,
)
from fullswap.cli.zoo import argument_list, zoo_list

MOST_SHOWN = 20
"""Joint actions in the table."""
WIDEST = 120
"""Columns of text of the table; beyond it, names of actions stand below."""
LONG_NAME = 20
MOST_COLUMNS = 6
"""Joint actions side by side where players are so many that each has a row."""
PLAY_OUT = "play-out"
METHODS = ("auto", "matching", "oracle", "lp", "lemke-howson", PLAY_OUT)
OBJECTIVES = ("welfare", "fair", "entropy")
NOTIONS = ("correlated", "coarse")
SOLVING = "Solving"
FILES = """
Files:
  .nfg, .efg   Gambit's formats
  .json, .npz  arrays by name: payoffs, one for each of any number of players;
               or A and B; or embeddings V, W, V2, W2 with payoffs V[i]·W[j] and
               V2[i]·W2[j]. Names are welcome: name, players (a list), actions
               (a list for each player). For example
               {"A": [[0, 7], [2, 6]], "B": [[0, 2], [7, 6]],
                "players": ["Ann", "Bob"]}
"""


class GameCommand(Command):
    """Its help lists formats of files and the games of the zoo."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """After the options."""
        formatter.write(FILES)
        formatter.write("\nGames of the zoo, with arguments for --set:\n")
        formatter.write(zoo_list())


def _known_games(incomplete: str) -> list[str]:
    from fullswap.games.zoo.listing import WORDS

    return [name for name in WORDS if name.startswith(incomplete)]


def equilibrium(
    context: typer.Context,
    game: str = typer.Argument(
        metavar="GAME", autocompletion=_known_games,
        help="A file of a game, or a game of the zoo such as ring; both are listed below.",
    ),
    settings: list[str] = typer.Option(  # noqa: B008
        [], "--set", metavar="NAME=VALUE", rich_help_panel=SOLVING,
        help="Argument of a game of the zoo, e.g. n=100000; again for more.",
    ),
    gap: float = typer.Option(
        0.01, metavar="PAYOFF", rich_help_panel=SOLVING,
        help="What a player may still gain by leaving the recommendations.",
    ),
    method: str = typer.Option(
        "auto", metavar="NAME", autocompletion=lambda: list(METHODS), rich_help_panel=SOLVING,
        help=f"One of {', '.join(METHODS)}.",
    ),
    objective: str | None = typer.Option(
        None, metavar="NAME", autocompletion=lambda: list(OBJECTIVES), rich_help_panel=SOLVING,
        help=f"The best equilibrium for one of {', '.join(OBJECTIVES)}, or for the sum of payoffs "
        "with weights of the players, e.g. 1,2.",
    ),
    notion: str = typer.Option(
        "correlated", metavar="NAME", autocompletion=lambda: list(NOTIONS),
        rich_help_panel=SOLVING,
        help="correlated, or coarse: nobody gains by one action instead of all advice.",
    ),
    rounds: int | None = typer.Option(
        None, min=1, metavar="NUMBER", rich_help_panel=SOLVING,
        help="Rounds of self-play at most; with play-out, rounds that learners play.",
    ),
    seconds: float | None = typer.Option(
        None, metavar="SECONDS", rich_help_panel=SOLVING, help="Stop soon after that time."
    ),
    seed: int = typer.Option(
        0, min=0, metavar="NUMBER", rich_help_panel=SOLVING, help="Seed of the first actions."
    ),
    plot: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE", rich_help_panel=OUTPUT,
        help="Draw the joint distribution: .png, .svg, .pdf, …",
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:  # fmt: skip
    """Solve a game: what to recommend to whom, and what anybody could gain by not following.

    Exits with 1 if the gap asked for was not reached. play-out lets learners play
    against one another, with a bound on the gap before the first round.
    """
    progress = progress_wanted(quiet)
    with answered("equilibrium"):
        if plot is not None:
            _refuse_picture(plot, game)
        from fullswap.base import checks

        checks.one_of("method", method, METHODS)
        checks.one_of("notion", notion, NOTIONS)
        wanted_most = None if objective is None else _objective(objective)
        if method == PLAY_OUT:
            other = None if notion == NOTIONS[0] else notion
            for given, value in (("seconds", seconds), ("objective", objective), ("notion", other)):
                if value is not None:
                    checks.refuse(given, f"not be given with {PLAY_OUT}", value)
        made = _game(game, settings)
        from fullswap.games import play_out, solve

        solution: Any
        if method == PLAY_OUT:
            # the number of rounds is given, or follows from the gap; a gap that nobody asked for
            # is not missed
            asked = getattr(context.get_parameter_source("gap"), "name", "DEFAULT") != "DEFAULT"
            wanted = gap if rounds is None or asked else None
            solution = play_out(made, rounds, wanted, progress=progress)
        else:
            budget: dict[str, Any] = {"rounds": rounds, "seconds": seconds}
            budget |= {"objective": wanted_most, "notion": notion}
            with warned("equilibrium"):
                solution = solve(made, gap, method, seed, **budget, progress=progress)
        if plot is not None:
            from fullswap.report import joint_distribution

            joint_distribution(solution).savefig(plot, bbox_inches="tight")
        if as_json:
            say(json.dumps(_plain(solution)), "equilibrium")
        else:
            _print(solution, plot)
    if solution.reached is False:
        raise typer.Exit(1)


def _objective(text: str) -> str | list[float]:
    """A name, or weights of the players."""
    from fullswap.base import checks

    if text in OBJECTIVES:
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        names = ", ".join(map(repr, OBJECTIVES))
        checks.refuse("objective", f"be {names}, or weights such as 1,2", text)


def _plain(solution: Any) -> dict[str, Any]:
    """Actions by name; their numbers, which count from 0, are for arrays."""
    fields: dict[str, Any] = solution.to_dict()
    del fields["support"]
    return fields


def _print(solution: Any, plot: Path | None) -> None:
    from fullswap.games.names import in_words

    names, weights = solution.names, solution.weights
    order = (-weights).argsort(kind="stable")[:MOST_SHOWN]
    columns = (*solution.game.player_names, "probability")
    rows, meanings = _shortened(
        columns, [(*map(in_words, names[k]), f"{weights[k]:.4f}") for k in order]
    )
    title = "Recommended together"
    if _width([columns, *rows]) > WIDEST and len(columns) > MOST_COLUMNS:
        rows = rows[:MOST_COLUMNS]
        title += ", a column each"
        turned = list(zip(columns, *rows, strict=True))
        table_columns, table_rows = turned[-1], turned[:-1]
    else:
        table_columns, table_rows = columns, rows
    if len(rows) < len(weights):
        title += f", the {len(rows)} likeliest of {len(weights):,}"
    say(f"{visible(str(solution))}\n", "equilibrium")
    print_table(title, table_columns, table_rows, "equilibrium")
    if meanings:
        say(visible("\n".join(["", *meanings])), "equilibrium")
    if plot is not None:
        say(f"\nPicture: {plot}", "equilibrium")


def _width(rows: list[tuple[str, ...]]) -> int:
    """Columns of text of a table, about."""
    cells = zip(*rows, strict=True)
    return sum(2 + max(map(len, column)) for column in cells)


def _shortened(
    columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> tuple[list[tuple[str, ...]], list[str]]:
    """Rows of a table that would be too wide, with numbers for long names, and their meanings."""
    if _width(rows) <= WIDEST:
        return rows, []
    meanings, short = [], []
    for player, cells in zip(columns, zip(*rows, strict=True), strict=True):
        found = list(dict.fromkeys(cells))
        if max(map(len, found)) <= LONG_NAME:
            short.append(cells)
            continue
        meanings += [f"{player} {k}: {name}" for k, name in enumerate(found, 1)]
        short.append(tuple(str(found.index(cell) + 1) for cell in cells))
    return list(zip(*short, strict=True)), meanings


def _game(name: str, settings: list[str]) -> Any:
    """A game of the zoo with its settings, or one from a file."""
    from fullswap.games import read, zoo

    if name in zoo.GAMES:
        return _of_the_zoo(name, settings)
    if Path(name).is_dir():
        raise ValueError(f"GAME must be a file, got the folder {name}")
    if not Path(name).exists():
        near = get_close_matches(name.lower(), zoo.GAMES, 1)
        hint = f", did you mean {near[0]}?" if near else ""
        typer.echo(f"Games of the zoo, with arguments for --set:\n{zoo_list()}", err=True)
        raise ValueError(f"no file and no game of the zoo is called {name!r}{hint}")
    if settings:
        raise ValueError(f"--set is for games of the zoo, and {name!r} is a file")
    return read(name)


def _of_the_zoo(name: str, settings: list[str]) -> Any:
    from fullswap.games import zoo
    from fullswap.games.zoo.listing import arguments

    known = [argument.name for argument in arguments(name, zoo.GAMES[name])]
    values: dict[str, Any] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        if key not in known:
            raise ValueError(f"--set: {name} has no argument {key!r}{argument_list(name)}")
        try:
            values[key] = json.loads(value)
        except ValueError:
            example = "NAME=VALUE with a number, a list such as [0, 1], or null"
            raise ValueError(f"--set must be {example}, got {setting!r}") from None
    try:
        return zoo.GAMES[name](**values)
    except ValueError as error:
        raise ValueError(f"--set {error}") from None


def _refuse_picture(plot: Path, game: str) -> None:
    """Before the work: a place that can be written, in a format that can be drawn."""
    from fullswap.base.files import refuse_same

    refuse_same(GAME=game, **{"--plot": plot})
    refuse_unwritable(plot, "--plot")
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ImportError("--plot needs its extra: pip install 'fullswap[plot]'") from None
    known = FigureCanvasBase.get_supported_filetypes()
    if plot.suffix.lstrip(".").lower() not in known:
        endings = ", ".join(f".{ending}" for ending in known)
        raise ValueError(f"--plot must end in one of {endings}, got {plot}")
