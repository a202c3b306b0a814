"""What holds the seed of all draws is for its owner alone, and data cannot steer a terminal."""

import os
import stat

import pytest

from fullswap.base.files import make_folder, make_private, write_text
from fullswap.base.terminal import visible
from fullswap.checking.monitor import Monitor
from fullswap.checking.monitor_bank import MonitorBank
from fullswap.cli import output
from fullswap.forecasting import Bank, Forecaster
from fullswap.replay import ReplaySettings, replay_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")


@pytest.fixture(params=[0o000, 0o022, 0o027])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def modes(folder):
    """Of the folder and all below it."""
    return {mode(folder)} | {mode(each) for each in folder.rglob("*")}


def test_folders_that_are_made_are_private_and_others_keep_their_mode(tmp_path, umask):
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "one" / "two")
    assert mode(tmp_path / "one") == mode(tmp_path / "one" / "two") == 0o700
    make_folder(tmp_path)
    assert mode(tmp_path) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_private_files_are_so_from_the_start_and_stay_so(tmp_path, umask):
    path = tmp_path / "state"
    make_private(path)
    write_text(path, "first", private=True)
    write_text(path, "second", private=True)
    make_private(path)
    assert mode(path) == 0o600 and path.read_text() == "second"
    write_text(tmp_path / "page", "for everyone")
    assert mode(tmp_path / "page") == 0o666 & ~umask


def test_banks_are_saved_for_their_owner(tmp_path, umask):
    Bank(Forecaster(seed=1)).save(tmp_path / "bank.json")
    MonitorBank(Monitor()).save(tmp_path / "monitors.json")
    assert mode(tmp_path / "bank.json") == mode(tmp_path / "monitors.json") == 0o600


def test_the_folder_of_a_service_and_its_backup_are_private(tmp_path, umask):
    pytest.importorskip("msgspec", reason="the extra serve is not installed")
    from fullswap.service.backup import backup
    from fullswap.service.messages import ForecastItem
    from fullswap.service.service import Service
    from fullswap.service.tokens import create_token

    service = Service.open(tmp_path / "above" / "data")
    try:
        create_token(tmp_path / "above" / "data", "admin", "")
        service.forecasts([ForecastItem("north", id="one")]).result()
        backup(tmp_path / "above" / "data", tmp_path / "copies" / "copy")
        assert modes(tmp_path / "above") | modes(tmp_path / "copies") == {0o700, 0o600}
    finally:
        service.close()


def test_the_state_of_a_replay_is_private_and_its_output_is_not(tmp_path, umask):
    pytest.importorskip("pyarrow", reason="the extra cli is not installed")
    log, out, state = (tmp_path / name for name in ("log.csv", "out.csv", "state.json"))
    log.write_text("p,won\n" + "0.3,1\n0.6,0\n" * 10)
    replay_file(log, {}, ReplaySettings(), out=out, state=state)
    assert mode(state) == mode(tmp_path / "state.json.lock") == 0o600
    assert mode(out) == 0o666 & ~umask


STEERING = "no\033]0;title\007rth\r\033[31m\x9b2J\u202e"


def test_control_characters_are_shown_and_not_sent(capsys):
    output.say(f"{STEERING}\n\ttab")
    output.fail(f"no stream {STEERING}")
    output.print_table("", ["segment"], [[STEERING]])
    output.say(output.laid_out(STEERING))
    written = "".join(capsys.readouterr())
    assert written == visible(written) and "\\x1b]0;title\\x07rth\\r" in written
    assert "\n\ttab" in written and visible("é ✓ 日本") == "é ✓ 日本"


def test_own_bold_type_is_sent_where_it_is_wanted(capsys, monkeypatch):
    monkeypatch.setattr(output, "styled", lambda stream=None: True)
    output.say(output.bold("title"))
    assert capsys.readouterr().out == "\033[1mtitle\033[0m\n"
