"""Words of the shell, tables and files that could not be written."""

import io
import sys

import pytest

from fullswap.cli import output


@pytest.mark.parametrize(
    ("library", "shell"),
    [
        ("p must lie in [0, 1], got 2.0", "--probability must lie in [0, 1], got 2.0"),
        ("path must be a file that exists", "LOG must be a file that exists"),
        ("give event=['season', 'team']", "give --event season --event team"),
        ("sample_weight='w' has", "--weight w has"),
        ('method="lp" is exact', "--method lp is exact"),
        ("the model must learn", "the model must learn"),
        ("we stop=1 here", "we stop=1 here"),
    ],
)
def test_arguments_become_flags(library, shell):
    assert output.in_shell(library) == shell


def test_errors_are_one_line(capsys):
    output.fail(ValueError("two\nlines"), "check")
    output.fail(FileNotFoundError(2, "No such file or directory", "x.csv"), "check")
    output.fail("nothing to do")
    assert capsys.readouterr().err.splitlines() == [
        "fullswap check: two lines",
        "fullswap check: No such file or directory: x.csv",
        "fullswap: nothing to do",
    ]


def test_answers_reach_any_encoding(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.say("5 → 3 points")
    assert raw.getvalue() == b"5 ? 3 points\n"


def test_tables_are_never_folded_in_a_pipe(capsys):
    long = "word " * 60 + "end"
    output.print_table("Title", ("what", "number"), [(long, "1.50"), ("short", "−20.25")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Title" and len(lines) == 5
    assert lines[3].startswith(long) and lines[3].endswith("  1.50")
    assert lines[4].endswith("−20.25") and len(lines[4]) == len(lines[3])


def use_terminal(monkeypatch):
    """A terminal of 40 columns that wants no colours."""

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")


def test_tables_fold_on_narrow_terminals(monkeypatch):
    use_terminal(monkeypatch)
    text = output.table("Title", ("what", "number"), [("word " * 20, "1")])
    assert max(map(len, text.splitlines())) <= 40 and "\033" not in text
    assert text.count("word") == 20


def test_words_fold_below_their_label_on_a_terminal(monkeypatch):
    use_terminal(monkeypatch)
    text = "How far off  " + "points " * 7 + "points\n\na  table  of  columns" + "  more" * 9
    lines = output.laid_out(text).splitlines()
    assert lines[0].startswith("How far off  points") and lines[1].startswith(" " * 13 + "points")
    assert max(map(len, lines[:2])) < 40 and lines[-1].endswith("  more" * 9)
    folded = output.laid_out("word " * 30)
    assert folded.split() == ["word"] * 30 and folded.count("\n") == 3


def test_words_stay_on_their_line_in_a_pipe(capsys):
    assert output.laid_out("How far off  " + "points " * 40) == "How far off  " + "points " * 40


def test_labels_are_bold_where_that_is_wanted(monkeypatch):
    use_terminal(monkeypatch)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    assert output.laid_out("How sure  very") == "\033[1mHow sure\033[0m  very"


def test_consoles_write_plainly_into_pipes(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.console().print("[bold]" + "x" * 300)
    assert capsys.readouterr().out == "x" * 300 + "\n"


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_silences_bars_and_remarks(quiet, monkeypatch):
    monkeypatch.delenv("FULLSWAP_QUIET", raising=False)
    assert output.progress_wanted(quiet) is (False if quiet else None)
    assert (output.os.environ.get("FULLSWAP_QUIET") == "1") == quiet


def test_files_that_cannot_be_written_are_refused(tmp_path):
    output.refuse_unwritable(tmp_path / "new.html", "--report")
    with pytest.raises(ValueError, match="--report must be a file, got the folder"):
        output.refuse_unwritable(tmp_path, "--report")
    with pytest.raises(ValueError, match="--plot must lie in a folder that exists"):
        output.refuse_unwritable(tmp_path / "no" / "x.png", "--plot")
