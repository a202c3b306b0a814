"""``python -m studies``: measure the paper. A stopped run goes on where it was."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from fullswap.report.style import new_figure
from studies import (
    classes,
    detection,
    groups,
    limits,
    literal,
    picture,
    recalibrators,
    solvers,
    tightness,
)
from studies.report.page import publish
from studies.study import PAGE, PARTS, Study, broken, processes

COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    module.NAME: module.main
    for module in (
        tightness, recalibrators, detection, groups, classes, limits, solvers, literal, picture,
    )
}  # fmt: skip
"""Those with options of their own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, summary, figures and a page; 1 if it cannot be done or a guarantee was exceeded."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given and given[0] in COMMANDS:
        return COMMANDS[given[0]](given[1:])
    asked = _parser().parse_args(given)
    folder = asked.out or Path("results") / ("quick" if asked.quick else "full")
    study = Study(folder, asked.quick, asked.seed)
    names = list(PARTS) if asked.what == "all" else [asked.what]
    try:
        new_figure(1, 1)  # that pictures cannot be drawn is better known before hours of runs
        with processes(asked.workers or os.cpu_count() or 1) as executor:
            study.claim(names if asked.fresh else ())
            study.run(names, executor)
        study.run_timed(names)
        summary = study.summary()
        publish(summary, folder)
    except KeyboardInterrupt:
        print(f"Stopped. The same command goes on from what {folder} holds.", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        print(f"studies: {error}", file=sys.stderr)
        return 1
    print(f"Page with figures: {folder / PAGE}")
    exceeded = broken(summary)
    if exceeded:
        print(f"A guarantee was exceeded in: {', '.join(exceeded)}", file=sys.stderr)
    return 1 if exceeded else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m studies", description=__doc__)
    words = f"a part, or all; {', '.join(COMMANDS)} have their own options"
    parser.add_argument("what", nargs="?", default="all", choices=("all", *PARTS), help=words)
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--quick", action="store_true", default=True, help="minutes; the default")
    scale.add_argument("--full", dest="quick", action="store_false", help="an hour or two")
    parser.add_argument("--out", type=Path, help="folder of the results; results/quick or full")
    parser.add_argument("--seed", type=_whole, default=0, help="first seed")
    parser.add_argument("--workers", type=_positive, help="processes; as many as processors")
    parser.add_argument("--fresh", action="store_true", help="drop earlier results of these parts")
    return parser


def _whole(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, got {value}")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


if __name__ == "__main__":
    sys.exit(main())
