"""The command `fullswap`: parsing and printing only."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Entry point; without the extra that brings the command line, say what to install."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        sys.exit("The command line needs its extra: pip install 'fullswap[cli]'")
    _app()()


def _app() -> Any:
    import typer

    app = typer.Typer(
        help="Full-swap-regret learners, each with its guarantee as a number.",
        no_args_is_help=True,
        add_completion=False,
    )

    def print_version(wanted: bool) -> None:
        if wanted:
            from fullswap import __version__

            print(__version__)
            raise typer.Exit

    @app.callback()
    def root(
        version: bool = typer.Option(
            False, "--version", callback=print_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        """Full-swap-regret learners, each with its guarantee as a number."""

    @app.command()
    def demo(
        seed: int = typer.Option(0, min=0, help="Seed of the adversaries."),
        as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    ) -> None:
        """Forecasters and learners against adversaries: measured error beside the guarantee."""
        from fullswap.demo import run_demo

        results = list(run_demo((1_000, 3_000, 10_000), seed))
        if as_json:
            rows = [{"what": what, "against": who, **c.to_dict()} for what, who, c in results]
            print(json.dumps(rows, indent=2))
        else:
            _print_demo(results)
        if not all(certificate.holds for *_, certificate in results):
            raise typer.Exit(1)

    @app.command()
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
            _print_equilibrium(solution)
        if not solution.reached:
            raise typer.Exit(1)

    return app


def _print_demo(results: Any) -> None:
    """Forecasters in percentage points, learners in sums."""
    from fullswap.demo import in_points, in_sums

    _print_table(
        "Forecasters: percentage points off, on average over the events",
        ("what", "against", "events", "measured", "chance alone", "guaranteed at most", "holds"),
        in_points(results),
    )
    _print_table(
        "Learners: full swap regret, summed over the rounds",
        ("what", "against", "rounds", "measured", "guaranteed at most", "holds"),
        in_sums(results),
    )


def _print_equilibrium(solution: Any) -> None:
    print(solution)
    shown = (-solution.weights).argsort(kind="stable")[:20]
    players = range(solution.game.players)
    names = [[solution.game.actions[i].describe(solution.support[k, i]) for i in players]
             for k in shown]  # fmt: skip
    _print_table(
        f"The {len(shown)} likeliest of {len(solution.weights)} joint actions",
        (*(f"player {i}" for i in players), "probability"),
        [(*row, f"{solution.weights[k]:.4f}") for row, k in zip(names, shown, strict=True)],
    )


def _game(name: str, settings: list[str]) -> Any:
    """A game of the zoo with its settings, or one from a file."""
    import typer

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


def _is_number(cell: str) -> bool:
    return cell == "–" or cell.replace(".", "").replace(",", "").isdigit()


def _print_table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for column in columns:
        numeric = all(_is_number(row[columns.index(column)]) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    # a pipe has no width of its own: do not fold what a program may read
    Console(width=None if console.is_terminal else 200).print(table)
