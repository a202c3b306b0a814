"""``python -m studies``: measure the paper. A stopped run goes on where it was."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from fullswap.report.style import new_figure
from studies import limits, literal, picture, solvers, tightness
from studies.report import classes, detection, groups
from studies.report.page import publish
from studies.study import PAGE, PARTS, Study, broken, processes


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, summary, figures and a page; 1 if it cannot be done or a guarantee was exceeded."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == [tightness.NAME]:
        return tightness.main(given[1:])
    if given[:1] == [detection.NAME]:
        return detection.main(given[1:])
    if given[:1] == [groups.NAME]:
        return groups.main(given[1:])
    if given[:1] == [classes.NAME]:
        return classes.main(given[1:])
    if given[:1] == [limits.NAME]:
        return limits.main(given[1:])
    if given[:1] == [solvers.NAME]:
        return solvers.main(given[1:])
    if given[:1] == [literal.NAME]:
        return literal.main(given[1:])
    if given[:1] == [picture.NAME]:
        return picture.main(given[1:])
    asked = _parser().parse_args(given)
    folder = asked.out or Path("results") / ("quick" if asked.quick else "full")
    study = Study(folder, asked.quick, asked.seed, asked.data)
    names = list(PARTS) if asked.what == "all" else [asked.what]
    try:
        new_figure(1, 1)  # that pictures cannot be drawn is better known before hours of runs
        for name in names:
            study.part(name)  # nor should a folder without logs stop what has begun
        with processes(asked.workers or os.cpu_count() or 1) as executor:
            study.claim(names if asked.fresh else ())
            for name in names:
                done = study.revisions(name)
                if done:
                    by = ", ".join(sorted(set(done)))
                    print(f"{name}: {len(done)} jobs are done already, by {by}", file=sys.stderr)
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
    print(json.dumps(summary, indent=1) if asked.json else f"Page with figures: {folder / PAGE}")
    exceeded = broken(summary)
    if exceeded:
        print(f"A guarantee was exceeded in: {', '.join(exceeded)}", file=sys.stderr)
    return 1 if exceeded else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m studies", description=__doc__)
    words = (
        "a part, or all; tightness, detection, groups, classes, limits, solvers, literal and "
        "picture have their own options"
    )
    parser.add_argument("what", nargs="?", default="all", choices=("all", *PARTS), help=words)
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--quick", action="store_true", default=True, help="minutes; the default")
    scale.add_argument("--full", dest="quick", action="store_false", help="an hour or two")
    parser.add_argument("--out", type=Path, help="folder of the results; results/quick or full")
    parser.add_argument("--seed", type=_whole, default=0, help="first seed")
    parser.add_argument("--workers", type=_positive, help="processes; as many as processors")
    parser.add_argument("--fresh", action="store_true", help="drop earlier results of these parts")
    parser.add_argument("--data", type=_folder, help="folder of forecast logs, for the forecasters")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
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


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"must be a folder, got {text!r}")
    return Path(text)


if __name__ == "__main__":
    sys.exit(main())
