"""What a command prints: to terminals, pipes and files of any kind, and in words of the shell."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from fullswap.base.terminal import visible

if TYPE_CHECKING:
    from rich.console import Console

TROUBLE, INTERRUPTED = 2, 130
"""Exit codes: wrong usage or something that went wrong; the user stopped it."""
FLAGS = {
    "y": "--outcome", "p": "--probability", "pos_label": "--positive",
    "sample_weight": "--weight", "path": "LOG",
}  # fmt: skip
"""Arguments that have another name in the shell."""
NAMED = re.compile(
    r"\b(y|p|time|event|together|by|due|groups|key|resolved|pos_label|sample_weight|method|objective)="
    r"(\[[^\]]*\]|'[^']*'|\"[^\"]*\")"
)
OPENING = re.compile(
    r"^(by|delay|due|event|gap|groups|horizon|key|method|notion|objective|p|path|pos_label|resolved|"
    r"sample_weight|seconds|seed|step|time|together|tolerance|webhook|y) must "
)
POSITION = re.compile(r"(?<=^column)(s? .*?)\bat position \(?(\d+)(?:, \d+)*\)?")
"""Where a value of a file stands, counted from 0."""
STYLE = re.compile("(\033\\[(?:0|1|36)m)")
"""Bold and colored type, and their end, as commands and their help write them."""
LABELLED = re.compile(r"(\S+(?: \S+)*)(\s{2,})(\S+(?: \S+)*)")


def in_shell(text: str) -> str:
    """Arguments as flags: time='day' becomes --time day, and "gap must" becomes "--gap must".

    Positions in columns of a file become rows, counted from 1 below the names.

    Examples
    --------
    >>> in_shell("give event=['season', 'team'] or time='day'")
    'give --event season --event team or --time day'
    >>> in_shell('gap must be positive (method="lp" is exact), got -1')
    '--gap must be positive (--method lp is exact), got -1'
    >>> in_shell("column won must be 0 or 1, got 7 at position 9")
    'column won must be 0 or 1, got 7 in row 10'
    """

    def flag(name: str) -> str:
        return FLAGS.get(name, f"--{name}")

    def named(match: re.Match[str]) -> str:
        values = [one or two for one, two in re.findall(r"'([^']*)'|\"([^\"]*)\"", match[2])]
        return " ".join(f"{flag(match[1])} {value}" for value in values)

    text = text.replace("pos_label=…", "--positive VALUE")
    text = POSITION.sub(lambda match: f"{match[1]}in row {int(match[2]) + 1:,}", text)
    return NAMED.sub(named, OPENING.sub(lambda match: f"{flag(match[1])} must ", text))


def styled(stream: Any = None) -> bool:
    """Whether to write colours and boxes: on a terminal that takes them, if nobody minds.

    Anything in NO_COLOR means not a single escape sequence, bold type included.
    """
    stream = stream or sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
    return not plain and stream is not None and stream.isatty()


def console(error: bool = False) -> Console:
    """A console of ``rich`` for standard output or error: in a pipe plain, and wide enough.

    What is more than a bar or a spinner goes through ``say``: it minds encodings and full disks.
    """
    from rich.console import Console

    class Ours(Console):
        """``rich`` would leave with 1 when nobody reads."""

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError("nobody reads the answer")

    stream = sys.stderr if error else sys.stdout
    pretty = styled(stream)
    return Ours(
        file=stream, force_terminal=pretty, no_color=not pretty, highlight=False, emoji=False,
        color_system="auto" if pretty else None, width=None if stream.isatty() else 10_000,
    )  # fmt: skip


def say(text: str, command: str = "") -> None:
    """Print, whatever the encoding; a full disk or a closed pipe is an error, said once.

    Control characters are shown, not sent: of those that move a cursor none is the command's own.
    """
    shown = "".join(part if k % 2 else visible(part) for k, part in enumerate(STYLE.split(text)))
    try:
        print(as_printable(shown), flush=True)
    except OSError as error:
        stop_writing(error, command)


def as_printable(text: str) -> str:
    """The text, with question marks for letters that standard output cannot show."""
    encoding = sys.stdout.encoding or "ascii"
    return text.encode(encoding, "replace").decode(encoding)


@contextmanager
def warned(command: str) -> Iterator[None]:
    """Warnings are said in words, without the line of the program that gave them."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", RuntimeWarning)
        warnings.showwarning = lambda message, *_args, **_named: fail(message, command)
        yield


def fail(message: object, command: str = "") -> None:
    """Say on standard error, in one line, what is wrong."""
    words = visible(" ".join(in_shell(_reason(message)).split()))
    print(f"{' '.join(('fullswap', command)).strip()}: {words}", file=sys.stderr)


def _reason(error: object) -> str:
    """What happened to which file, without the number of the error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def stop_writing(error: OSError, command: str = "") -> NoReturn:
    """Leave because standard output takes nothing more."""
    fail(f"could not write the answer: {_reason(error)}", command)
    # what is left in the buffer must not raise at the end
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(TROUBLE)


@contextmanager
def answered(command: str) -> Iterator[None]:
    """Turn what goes wrong into one line on standard error and an exit code.

    Bad input, files and missing extras: 2; interrupted: 130; what cannot be written: 2.
    """
    try:
        yield
        _flush(command)
    except BrokenPipeError as error:
        stop_writing(error, command)
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, OSError):  # perhaps it was standard output that was full
            _flush(command)
        fail(error, command)
        raise SystemExit(TROUBLE) from None
    except KeyboardInterrupt:
        fail("interrupted", command)
        raise SystemExit(INTERRUPTED) from None


def _flush(command: str) -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        stop_writing(error, command)


def progress_wanted(quiet: bool) -> bool | None:
    """What ``Progress`` takes; with --quiet there is no line about compiling either."""
    if quiet:
        os.environ["FULLSWAP_QUIET"] = "1"
    return False if quiet else None


def refuse_unwritable(path: Any, flag: str) -> None:
    """A file that could not be written later is refused before the work."""
    if os.path.isdir(path):
        raise ValueError(f"{flag} must be a file, got the folder {path}")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"{flag} must lie in a folder that exists, got {path}")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise ValueError(f"{flag} must be a file that may be written, got {path}")


def without_notes(text: str) -> str:
    """An answer without the remarks at its end."""
    return text.partition("\n\nNotes:")[0]


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], command: str = ""
) -> None:
    """Print a table: numbers to the right; as wide as the terminal, and never folded in a pipe."""
    say(table(title, columns, rows), command)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The text of a table, as standard output shows it: folded only where a terminal is too narrow.

    Examples
    --------
    >>> print(table("Games", ["name", "players"], [["ring", "2"], ["auction", "2"]]))
    Games
    name     players
    -------  -------
    ring           2
    auction        2
    """
    rows = [[visible(cell) for cell in row] for row in rows]
    numeric = [all(_is_number(row[k]) for row in rows) for k in range(len(columns))]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    if sys.stdout.isatty() and sum(widths) + 2 * len(widths) - 2 > width():
        return _folded(title, columns, rows, numeric)

    def line(cells: Sequence[str]) -> str:
        placed = zip(cells, widths, numeric, strict=True)
        return "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in placed).rstrip()

    head = [bold(text) for text in (title, line(columns)) if text]
    return "\n".join([*head, line(["-" * wide for wide in widths]), *map(line, rows)])


def _folded(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: list[bool]
) -> str:
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, right in zip(columns, numeric, strict=True):
        made.add_column(name, justify="right" if right else "left")
    for row in rows:
        made.add_row(*row)
    screen = console()
    with screen.capture() as caught:
        screen.print(made)
    lines = [line.rstrip() for line in caught.get().splitlines()]
    return "\n".join([*([bold(title)] if title else []), *lines])


def laid_out(text: str) -> str:
    """Words for people: on a terminal, long lines are folded at words, and labels are bold.

    A label is what stands before a gap, "How far off    3 points"; lines of tables, which have
    several gaps, are left as they are.
    """
    text = visible(text)
    return "\n".join(map(_laid_line, text.split("\n"))) if sys.stdout.isatty() else text


def _laid_line(line: str) -> str:
    match = LABELLED.fullmatch(line)
    label, gap = (match[1], match[2]) if match else ("", "")
    if match is None and "  " in line.strip():
        return line
    hanging = " " * len(label + gap)
    folded = textwrap.fill(
        line, width() - 1, subsequent_indent=hanging, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return bold(label) + folded[len(label) :] if label else folded


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size().columns


def bold(text: str) -> str:
    """In bold type where that is wanted."""
    return f"\033[1m{text}\033[0m" if styled() else text


def _is_number(cell: str) -> bool:
    return cell == "–" or cell.lstrip("-−<").replace(".", "").replace(",", "").isdigit()
