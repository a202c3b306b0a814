"""What all commands share: help, errors, exit codes, and where output goes."""

import builtins
import os
import subprocess
import sys

import pytest

from fullswap import __version__
from fullswap.cli import main

COMMANDS = ["check", "forecast", "equilibrium", "serve", "backup", "token", "demo", "warm-up"]
GAME = ["equilibrium", "chicken"]


def shell(*arguments, **settings):
    """As a user calls it."""
    environment = {**os.environ, **settings.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "fullswap", *arguments],
        stderr=subprocess.PIPE, text=True, timeout=110, env=environment, **settings,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)], ids=["root", *COMMANDS])
def test_help_is_plain_in_a_pipe(call, arguments):
    code, out, err = call(*arguments, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: fullswap") and "--help" in out
    assert "\033" not in out and not set("│╭╰─") & set(out)


def test_help_opens_with_what_one_gets(call):
    _, out, _ = call("--help")
    about = " ".join(out.split("\n\n")[1].split())
    assert about.startswith("Probabilities that you can take at their word")
    assert "regret" not in out and "--install-completion" in out
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_help_has_groups(call):
    _, out, _ = call("check", "--help")
    groups = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert groups[1:] == [
        "Arguments:", "Columns of the log:", "How to read it:", "What counts:", "Output:",
        "Options:",
    ]  # fmt: skip


def test_without_a_command_there_is_help_and_2(call):
    code, out, _ = call()
    assert code == 2 and "Commands:" in out


def test_version(call):
    assert call("--version") == (0, f"{__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["chek"], "fullswap: no command chek, did you mean check? (see fullswap --help)"),
        (["xyzzy"], "fullswap: no command xyzzy (see fullswap --help)"),
        (
            ["check", "log.csv", "--tim", "day"],
            "fullswap check: no option --tim, did you mean --time? (see fullswap check --help)",
        ),
        (["check", "--xyzzy"], "fullswap check: no option --xyzzy (see fullswap check --help)"),
        (["check"], "fullswap check: missing argument 'LOG' (see fullswap check --help)"),
    ],
)
def test_wrong_calls_are_one_line_with_a_hint(call, arguments, error):
    assert call(*arguments) == (2, "", f"{error}\n")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--seed", "one"], "--seed"),
        (["check", "nowhere.csv"], "LOG must be a file that exists, got 'nowhere.csv'"),
        (
            ["check", "x.csv", "--fail-on", "rain"],
            "--fail-on must be never or miscalibrated or any",
        ),
        (["check", "x.csv", "--tolerance", "101"], "--tolerance must be from 0 to 100 points"),
        (["check", "x.csv", "--step", "0.3"], "--step must"),
        (["check", "x.csv", "--report", "no/where/x.html"], "--report must lie in a folder"),
        (["check", "x.csv", "--report", "."], "--report must be a file, got the folder"),
        (["demo", "--report", "."], "--report must be a file, got the folder"),
        ([*GAME, "--gap", "0"], "--gap must be positive (--method lp is exact"),
        ([*GAME, "--method", "magic"], "--method must be 'auto'"),
        ([*GAME, "--seconds", "-1"], "--seconds must be positive"),
    ],
)
def test_wrong_values_are_one_line_that_names_the_flag(call, arguments, named):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"fullswap {arguments[0]}: ") and err.count("\n") == 1
    assert named in err


def test_an_interruption_is_130(call, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fullswap.games.solve", interrupted)
    assert call(*GAME) == (130, "", "fullswap equilibrium: interrupted\n")


def test_what_was_not_foreseen_shows_its_trace_and_is_no_answer(call, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("fullswap.games.solve", broken)
    code, _, err = call(*GAME)
    assert code == 2 and "Traceback" in err and "a mistake of ours" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "--help"], GAME])
def test_a_full_disk_is_an_error(arguments):
    with open("/dev/full", "w") as full:
        result = shell(*arguments, stdout=full)
    assert result.returncode == 2
    assert "could not write the answer: No space left on device" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], GAME])
def test_a_reader_that_has_gone_is_an_error(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    result = shell(*arguments, stdout=writer)
    os.close(writer)
    assert result.returncode == 2 and "could not write the answer: Broken pipe" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="closes a descriptor as shells of Unix do")
def test_closed_outputs():
    call = f"{sys.executable} -m fullswap --version"
    closed = subprocess.run(
        ["sh", "-c", f"{call} >&-"], stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert closed.returncode == 2 and "standard output is closed" in closed.stderr
    silent = subprocess.run(
        ["sh", "-c", f"{call} nonsense 2>&-"], stdout=subprocess.PIPE, text=True, timeout=60
    )
    assert silent.stdout in ("", f"{__version__}\n")  # no error lands among answers


def on_a_terminal(*arguments, **env):
    """Everything that a terminal of 80 columns is sent."""
    import pty

    parent, child = pty.openpty()
    os.set_blocking(parent, False)
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "COLUMNS")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "80"} | env
    command = [sys.executable, "-m", "fullswap", *arguments]
    subprocess.run(command, stdout=child, stderr=child, stdin=child, env=environment, timeout=110)
    os.close(child)
    sent = b""
    try:
        while part := os.read(parent, 65536):
            sent += part
    except (OSError, BlockingIOError):  # all was read
        pass
    os.close(parent)
    return sent.decode()


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of Unix")
@pytest.mark.parametrize("arguments", [["--help"], ["chek"], GAME], ids=["help", "error", "answer"])
def test_terminals_get_colours_only_if_wanted(arguments):
    assert ("\033" in on_a_terminal(*arguments)) == (arguments != ["chek"])
    assert "\033" not in on_a_terminal(*arguments, NO_COLOR="1")
    assert "\033" not in on_a_terminal(*arguments, TERM="dumb")


def test_completion_knows_commands_games_and_prints_its_script():
    def completed(words, at):
        asked = {"_FULLSWAP_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        return shell(stdout=subprocess.PIPE, env=asked).stdout.split()

    assert completed("fullswap che", 1) == ["check"]
    assert completed("fullswap equilibrium ri", 2) == ["ring"]
    asked = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = shell("--show-completion", "bash", stdout=subprocess.PIPE, env=asked)
    assert script.returncode == 0 and "_FULLSWAP_COMPLETE" in script.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_command_says_what_to_install(missing):
    blocked = f"import sys; sys.modules[{missing!r}] = None; from fullswap.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert result.returncode == 2
    assert "fullswap[cli]" in result.stderr and result.stderr.count("\n") == 1


def test_help_loads_nothing_heavy():
    looked = (
        "import sys\nfrom fullswap.cli.app import run\n"
        "try: run(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'rich.console', 'pyarrow', 'matplotlib'}\n"
        "print(heavy & set(sys.modules), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True)
    assert result.stderr == "set()\n"


def test_an_interruption_of_the_start_is_one_line(monkeypatch, capsys):
    def stop(name, *_, **__):
        if name == "fullswap.cli.app":
            raise KeyboardInterrupt
        return found(name, *_, **__)

    found = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", stop)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130
    assert capsys.readouterr().err == "fullswap: interrupted\n"
