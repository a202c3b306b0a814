"""No command writes over what it reads, or two things into one file."""

import pytest

from fullswap.cli import app

ROWS = "p,y\n" + "".join(f"0.{k % 9 + 1},{k % 2}\n" for k in range(40))


@pytest.mark.parametrize(
    "arguments",
    [
        ["forecast", "LOG", "--out", "LOG"],
        ["forecast", "LOG", "--report", "./LOG"],
        ["forecast", "LOG", "--state", "LOG"],
        ["forecast", "LOG", "--out", "new.csv", "--state", "new.csv"],
        ["forecast", "LOG", "--out", "new.csv", "--report", "new.csv"],
        ["check", "LOG", "--report", "LOG"],
        ["equilibrium", "LOG", "--plot", "LOG"],
    ],
    ids=lambda arguments: "-".join(arguments),
)
def test_one_file_has_one_part(arguments, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "LOG"
    log.write_text(ROWS)
    with pytest.raises(SystemExit) as stopped:
        app.run(arguments)
    said = capfd.readouterr().err
    assert stopped.value.code == 2
    assert "must be another file than" in said and "--" in said
    assert log.read_text() == ROWS and not (tmp_path / "new.csv").exists()


def test_a_spoilt_column_of_probabilities_is_not_passed_over(tmp_path, capfd):
    log = tmp_path / "log.csv"
    log.write_text(ROWS.replace("0.5,0", "foo,0", 1))
    with pytest.raises(SystemExit) as stopped:
        app.run(["forecast", str(log)])
    said = capfd.readouterr().err
    assert stopped.value.code == 2
    assert "column p must hold probabilities, got 'foo' in row 5" in said
    assert "--probability none" in said
