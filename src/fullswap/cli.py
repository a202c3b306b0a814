"""The command `fullswap`: parsing and printing only."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
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
        from fullswap.experiments.demo import run_demo

        results = list(run_demo((1_000, 3_000, 10_000), seed))
        if as_json:
            rows = [{"what": what, "against": who, **c.to_dict()} for what, who, c in results]
            print(json.dumps(rows, indent=2))
        else:
            _print_table(
                "Calibration error and full swap regret: measured and guaranteed",
                ("what", "against", "rounds", "measured", "guaranteed", "holds"),
                [
                    (what, who, str(c.rounds), f"{c.measured:.1f}", f"{c.guaranteed:.1f}",
                     "yes" if c.holds else "NO")
                    for what, who, c in results
                ],
            )  # fmt: skip
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
        _equilibrium(game, settings, gap, method, seconds, seed, plot, as_json)

    @app.command()
    def reproduce(
        what: str = typer.Argument("table", help="table, search, forecasters or equilibria."),
        quick: bool = typer.Option(True, "--quick/--full", help="Fewer and shorter runs."),
        workers: int = typer.Option(os.cpu_count() or 1, min=1, help="Processes to use."),
        seed: int = typer.Option(0, min=0, help="First seed."),
        data: Path | None = typer.Option(  # noqa: B008
            None, exists=True, file_okay=False, help="Folder of forecast logs (forecasters)."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    ) -> None:
        """Measure the growth of regret, or the worst adversary found, or compare methods."""
        if what == "table":
            _growth(quick, workers, seed, as_json)
        elif what == "search":
            _search(quick, workers, seed, as_json)
        elif what == "forecasters":
            _forecasters(quick, seed, data, as_json)
        elif what == "equilibria":
            _equilibria(quick, seed, as_json)
        else:
            raise typer.BadParameter(
                f"must be table, search, forecasters or equilibria, got {what!r}"
            )

    return app


def _growth(quick: bool, workers: int, seed: int, as_json: bool) -> None:
    import typer

    from fullswap.experiments import growth

    horizons = growth.QUICK_HORIZONS if quick else growth.FULL_HORIZONS
    seeds = (seed,) if quick else (seed, seed + 1, seed + 2)
    with _progress("runs") as advance:
        found = growth.measure(horizons, seeds, workers, advance)
    if as_json:
        rows = [{**asdict(g), "largest_ratio": g.largest_ratio} for g in found]
        print(json.dumps(rows, indent=2))
    else:
        _print_table(
            f"Growth of full swap regret over T = {', '.join(map(str, horizons))}",
            ("row", "d", "exponent", "paper", "worst adversary", "measured", "guaranteed",
             "largest ratio"),
            [
                (g.row, str(g.dim), f"{g.exponent:.3f}", f"{g.paper:.3f}", g.adversaries[-1],
                 f"{g.worst[-1]:.1f}", f"{g.guaranteed[-1]:.1f}", f"{g.largest_ratio:.3f}")
                for g in found
            ],
        )  # fmt: skip
    if any(g.largest_ratio > 1 for g in found):
        raise typer.Exit(1)


def _search(quick: bool, workers: int, seed: int, as_json: bool) -> None:
    import typer

    from fullswap.experiments import breaking

    rounds, budget = (400, 50) if quick else (2_000, 200)
    with _progress("searches") as advance:
        found = breaking.attempt_all(rounds, budget, seed, workers, advance)
    if as_json:
        print(json.dumps([asdict(a) for a in found], indent=2, default=float))
    else:
        _print_table(
            f"Largest measured/guaranteed found by search, T = {rounds}",
            ("row", "d", "ratio", "adversary", "runs"),
            [(a.row, str(a.dim), f"{a.ratio:.3f}", a.adversary, str(a.tried)) for a in found],
        )
    if any(a.ratio > 1 for a in found):
        raise typer.Exit(1)


def _forecasters(quick: bool, seed: int, data: Path | None, as_json: bool) -> None:
    from fullswap.experiments import forecasters

    with _progress("streams") as advance:
        found = forecasters.compare(5_000 if quick else 20_000, seed, data, advance)
    if as_json:
        print(json.dumps([asdict(score) for score in found], indent=2))
        return
    _print_table(
        f"Forecasts scored after the first fifth; calibration error on multiples of "
        f"1/{forecasters.GRID}",
        ("stream", "events", "forecaster", "calibration error × 10⁴", "noise × 10⁴", "Brier",
         "µs an event"),
        [
            (s.stream, str(s.events), s.contender, f"{1e4 * s.calibration:.1f}",
             f"{1e4 * s.noise:.1f}", f"{s.brier:.4f}", f"{s.microseconds:.2f}")
            for s in found
        ],
    )  # fmt: skip


def _equilibria(quick: bool, seed: int, as_json: bool) -> None:
    from fullswap.experiments import equilibria

    with _progress("games") as advance:
        found = equilibria.measure(quick, seed, advance)
    if as_json:
        rows = [asdict(timing) for timing in found]
        # JSON has no NaN: no gap where nothing was found
        found_only = [{k: None if v != v else v for k, v in row.items()} for row in rows]
        print(json.dumps(found_only, indent=2))
        return
    _print_table(
        "CPU seconds to a verified gap of 0.01",
        ("game", "actions", "d", "method", "seconds", "gap", "rounds", "note"),
        [
            (t.game, str(t.actions), str(t.dim), t.method, f"{t.seconds:.3g}", f"{t.gap:.2g}",
             str(t.rounds), t.note)
            for t in found
        ],
    )  # fmt: skip


def _equilibrium(
    game: str,
    settings: list[str],
    gap: float,
    method: str,
    seconds: float | None,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    import typer

    from fullswap.games import solve

    posed = _game(game, settings)
    try:
        found = solve(posed, gap, method, seed, seconds=seconds)
        if plot is not None:
            from fullswap.report import joint_distribution

            joint_distribution(found).savefig(plot, bbox_inches="tight")
    except (ValueError, OSError, ImportError) as error:
        print(f"fullswap equilibrium: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    if as_json:
        print(found.to_json())
    else:
        print(found)
        shown = (-found.weights).argsort(kind="stable")[:20]
        players = range(posed.players)
        _print_table(
            f"The {len(shown)} likeliest of {len(found.weights)} joint actions",
            (*(f"player {i}" for i in players), "probability"),
            [
                (*(posed.actions[i].describe(found.support[k, i]) for i in players),
                 f"{found.weights[k]:.4f}")
                for k in shown
            ],
        )  # fmt: skip
    if not found.reached:
        raise typer.Exit(1)


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
        try:
            return read(name)
        except (ValueError, OSError) as error:
            print(f"fullswap equilibrium: {error}", file=sys.stderr)
            raise typer.Exit(1) from None
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


def _print_table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for column in columns:
        numeric = all(row[columns.index(column)].replace(".", "").isdigit() for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    # a pipe has no width of its own: do not fold what a program may read
    Console(width=None if console.is_terminal else 140).print(table)


class _progress:
    """A progress bar on standard error, as a function (done, total)."""

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(what, total=None)

    def __enter__(self) -> Any:
        self._bar.start()
        return lambda done, total: self._bar.update(self._task, completed=done, total=total)

    def __exit__(self, *error: object) -> None:
        self._bar.stop()
