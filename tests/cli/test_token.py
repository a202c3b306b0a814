"""`fullswap token`, and what `fullswap serve` says before it serves."""

import json
import os
import socket

import pytest

pytest.importorskip("litestar", reason="the extra serve is not installed")


def test_a_token_is_made_listed_and_taken_back(call, tmp_path):
    folder = tmp_path / "new" / "one"
    code, out, err = call("token", "create", folder, "--role", "forecast", "--name", "loader")
    assert (code, err) == (0, "")
    secret = out.strip()
    assert secret not in (folder / "tokens.json").read_text()
    code, out, _ = call("token", "list", folder)
    assert code == 0 and "loader" in out and "forecast" in out and secret not in out
    assert json.loads(call("token", "list", folder, "--json")[1])["tokens"][0]["name"] == "loader"
    code, out, _ = call("token", "revoke", folder, "loader")
    assert code == 0 and "Revoked t1 (loader)" in out and "refuses everybody" in out
    code, out, err = call("token", "revoke", folder, "loader")
    assert (code, out) == (1, "") and err == "fullswap token revoke: there is no token loader\n"
    assert "No tokens are left" in call("token", "list", folder)[1]


def test_json_has_the_token_once(call, tmp_path):
    made = json.loads(call("token", "create", tmp_path, "--role", "read", "--json")[1])
    assert set(made) == {"token", "id", "name", "role"} and made["role"] == "read"
    revoked = json.loads(call("token", "revoke", tmp_path, made["id"], "--json")[1])
    assert revoked == {"revoked": [made["id"]]}


def test_what_is_wrong_is_said_in_a_line(call, tmp_path):
    code, _, err = call("token", "create", tmp_path, "--role", "root")
    assert code == 2 and "--role must be read, forecast or admin, got 'root'" in err
    assert call("token", "create", tmp_path)[0] == 2
    code, _, err = call("token", "list", tmp_path / "no")
    assert code == 1 and "No such folder" in err
    assert call("token", "list", tmp_path)[1].startswith("No tokens: the service listens on this")
    (tmp_path / "tokens.json").write_text("{")
    for arguments in (["list", tmp_path], ["revoke", tmp_path, "x"],
                      ["create", tmp_path, "--role", "read"]):  # fmt: skip
        code, _, err = call("token", *arguments)
        assert code == 1 and "damaged" in err and err.count("\n") == 1


def test_alone_it_shows_its_commands(call):
    code, out, err = call("token")
    assert (code, err) == (2, "") and "revoke" in out


@pytest.fixture
def refused(call):
    def refused(*arguments):
        code, out, err = call("serve", *arguments)
        assert out == "" and err.startswith("fullswap serve: ") and err.count("\n") == 1
        return code, err

    return refused


def test_a_port_in_use(refused, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused(tmp_path, "--port", port) == (
            1, f"fullswap serve: port {port} of 127.0.0.1 is in use already\n"
        )  # fmt: skip


def test_folders_that_cannot_be_used(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert refused(tmp_path / "file", "--port", 0)[0] == 1
    code, err = refused(tmp_path / "file" / "below", "--port", 0)
    assert code == 1 and "cannot be made" in err
    if os.getuid() != 0:
        shut = tmp_path / "shut"
        shut.mkdir(mode=0o500)
        code, err = refused(shut, "--port", 0)
        assert code == 1 and "must be readable and writable" in err


def test_addresses_that_others_reach_need_a_token(refused, tmp_path):
    code, err = refused(tmp_path, "--host", "0.0.0.0", "--port", 0)
    assert code == 1 and "create a token first" in err
    code, err = refused(tmp_path, "--host", "no-such-host.invalid", "--port", 0)
    assert code == 1 and "no address of the name" in err


def test_options_that_are_wrong(refused, tmp_path):
    code, err = refused(tmp_path, "--log-level", "loud")
    assert code == 2 and "--log-level must be one of" in err
    code, err = refused(tmp_path, "--webhook", "ftp://x")
    assert code == 2 and "--webhook must be an address" in err
    assert refused(tmp_path, "--port", 70_000)[0] == 2
    assert refused(tmp_path, "--max-batch", 0)[0] == 2


def test_the_extra_is_named(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("fullswap.base.extras.is_installed", lambda name: name != "litestar")
    assert refused(tmp_path) == (
        2, "fullswap serve: the service needs its extra: pip install 'fullswap[serve]'\n"
    )  # fmt: skip


def test_a_folder_is_served_once(refused, tmp_path):
    service = pytest.importorskip("fullswap.service.service")
    kept = service.Service.open(tmp_path)
    try:
        code, err = refused(tmp_path, "--port", 0)
        assert code == 1 and str(tmp_path) in err
    finally:
        kept.close()
