"""The command `fullswap`: parsing and printing only."""

from __future__ import annotations

import json
import os
import sys
import time
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
        what: str = typer.Argument(
            "all", help="table, search, figure, convex, equilibria, forecasters, or all of them."
        ),
        quick: bool = typer.Option(True, "--quick/--full", help="Minutes, or an hour or two."),
        out: Path | None = typer.Option(  # noqa: B008
            None, file_okay=False, help="Folder of the results; by default results/quick or full."
        ),
        seed: int = typer.Option(0, min=0, help="First seed."),
        workers: int = typer.Option(os.cpu_count() or 1, min=1, help="Processes to use."),
        engine: str = typer.Option("processes", help="Where the runs go: processes."),
        fresh: bool = typer.Option(
            False, "--fresh", help="Drop earlier results of what is asked for."
        ),
        data: Path | None = typer.Option(  # noqa: B008
            None, exists=True, file_okay=False, help="Folder of forecast logs (forecasters)."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
    ) -> None:
        """Measure the paper: runs, summary, figures and a page. A stopped run goes on."""
        from fullswap.experiments.reproduce import PARTS, Study

        if what != "all" and what not in PARTS:
            raise typer.BadParameter(f"must be all, {', '.join(PARTS)}, got {what!r}")
        folder = out or Path("results") / ("quick" if quick else "full")
        study = Study(folder, quick, seed, data)
        _reproduce(study, list(PARTS) if what == "all" else [what], workers, engine, fresh, as_json)

    return app


def _reproduce(
    study: Any, names: list[str], workers: int, engine: str, fresh: bool, as_json: bool
) -> None:
    import typer

    from fullswap.experiments.reproduce import PAGE, broken
    from fullswap.report.paper.book import publish
    from fullswap.report.style import count_of, new_figure

    try:
        new_figure(1, 1)  # that pictures cannot be drawn is better known before hours of runs
        study.check(names, engine)
        study.claim(names if fresh else ())
        for name in names:
            done, revisions = study.kept(name)
            if done:
                made = ", ".join(sorted(revisions))
                print(f"{name}: {count_of(done, 'job')} kept, made by {made}", file=sys.stderr)
        study.run(names, workers, _progress, engine)
        summary = study.summary()
        sections = publish(summary, study.folder)
    except KeyboardInterrupt:
        print(f"Stopped. The same command goes on from what {study.folder} holds.", file=sys.stderr)
        raise typer.Exit(130) from None
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        print(f"fullswap reproduce: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    if as_json:
        print(json.dumps(summary, indent=1))
    else:
        for name, section in zip(summary["parts"], sections, strict=True):
            if name in names:
                _print_section(section)
        print(f"\nPage with figures: {study.folder / PAGE}")
    if broken(summary):
        raise typer.Exit(1)


def _print_section(section: Any) -> None:
    from fullswap.report.paper.section import Paragraph, Table

    print(f"\n{section.title}\n")
    for block in section.blocks:
        if isinstance(block, Paragraph):
            print(block.text.replace("**", "").replace("`", "") + "\n")
        elif isinstance(block, Table):
            _print_table(block.caption, block.columns, list(block.rows))


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
    Console(width=None if console.is_terminal else 200).print(table)


class _progress:
    """How far it is and how long it will take, on standard error, as a function (done, total).

    A bar on a terminal; elsewhere a line now and then, for those who read logs.
    """

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._what, self._terminal = what, console.is_terminal
        self._bar = Progress(
            "{task.description}", BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
            console=console, transient=True, disable=not self._terminal,
            speed_estimate_period=600,
        )  # fmt: skip
        self._task = self._bar.add_task(what, total=None)
        self._began = self._told = time.monotonic()

    def __enter__(self) -> Any:
        self._bar.start()
        return self._advance

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def _advance(self, done: float, total: float) -> None:
        self._bar.update(self._task, completed=done, total=total)
        now = time.monotonic()
        if not self._terminal and total > 0 and (now - self._told > 15 or done > 0.999999 * total):
            self._told = now
            left = max(0.0, (now - self._began) * (total / done - 1)) if done else 0.0
            print(f"{self._what}: {done / total:.0%}, about {left:.0f} s to go", file=sys.stderr)
