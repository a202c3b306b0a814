"""What a command prints: to terminals, pipes and files of any kind, and in words of the shell."""

from __future__ import annotations

import os
import re
import sys

FLAGS = {
    "y": "outcome", "p": "probability", "pos_label": "positive", "sample_weight": "weight",
}  # fmt: skip
"""Arguments whose flag has another name."""
NAMED = re.compile(
    r"\b(y|p|time|event|together|by|due|pos_label|sample_weight)=(\[[^\]]*\]|'[^']*')"
)


def in_shell(text: str) -> str:
    """Arguments as flags: time='day' becomes --time day.

    Examples
    --------
    >>> in_shell("give event=['season', 'team'] or time='day'")
    'give --event season --event team or --time day'
    """

    def flag(match: re.Match[str]) -> str:
        names = re.findall(r"'([^']*)'", match[2])
        return " ".join(f"--{FLAGS.get(match[1], match[1])} {name}" for name in names)

    return NAMED.sub(flag, text)


def say(text: str, command: str) -> None:
    """Print, whatever the encoding; a full disk or a closed pipe is an error, said once."""
    try:
        try:
            print(text, flush=True)
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            print(text.encode(encoding, "replace").decode(encoding), flush=True)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"fullswap {command}: could not write the answer: {error}", file=sys.stderr)
        # nothing more can be written: what is left in the buffer must not raise at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)


def fail(message: object, command: str) -> None:
    """Say on standard error, in one line, what is wrong."""
    print(f"fullswap {command}: {in_shell(str(message))}", file=sys.stderr)
