"""``python docs/command_line.py``: docs/reference/command-line.md, from the commands' own help."""

import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "reference" / "command-line.md"
HEAD = """# Command line

The extra `cli` brings the command: `pip install '.[cli]'` in a checkout. `python -m fullswap`
is the same.
Exit codes are 0 (done), 1 (the answer is "no": a verdict that was to fail, a gap or a guarantee
that was not reached; a service that could not start, a token that is not there) and 2 (usage, or
something went wrong). What follows is what `--help` prints.
"""
COMMANDS = ("", "check", "forecast", "equilibrium", "serve", "backup",
            "token create", "token list", "token revoke", "demo", "warm-up")  # fmt: skip


def help_of(command: str) -> str:
    """What the command prints, ninety characters wide."""
    environment = {**os.environ, "COLUMNS": "90", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "fullswap", *command.split(), "--help"]
    return subprocess.run(call, env=environment, capture_output=True, text=True, check=True).stdout


def page() -> str:
    """The page as it should be."""
    parts = [HEAD]
    for command in COMMANDS:
        title = f"fullswap {command}".strip()
        shown = "\n".join(line.rstrip() for line in help_of(command).strip().splitlines())
        parts.append(f"## {title}\n\n```text\n{shown}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
