"""The page of the command line is what the commands say of themselves."""

import sys

from docs.blocks import ROOT

sys.path.insert(0, str(ROOT / "docs"))


def test_the_page_is_what_help_prints():
    import command_line

    written = command_line.PAGE.read_text(encoding="utf-8")
    assert written == command_line.page(), "`make command-line` writes it anew"
