"""Who may do what: roles, tokens, and pages from elsewhere."""

import os
import socket
import time

import pytest

from fullswap.service.paths import ADMIN, FORECAST, OPEN, RANK, READ, ROUTES
from fullswap.service.server import Serving, serve
from fullswap.service.tokens import FILE, create_token, digest, read_tokens, revoke_token
from service.conftest import site
from service.fake import FakeService

BODIES = {
    ("POST", "/v1/forecasts"): {"items": [{"stream": "a", "id": "a"}]},
    ("POST", "/v1/outcomes"): {"items": [{"id": "a", "outcome": 1}]},
    ("POST", "/v1/alarms/acknowledge"): {"stream": "a"},
    ("PUT", "/v1/specs/{name}"): {},
}
CALLS = [(method, route) for route, methods in ROUTES.items() for method in methods]


def path_of(route):
    names = {"{stream}": "a", "{name}": "default", "{file}": "index.html"}
    for name, value in names.items():
        route = route.replace(name, value)
    return route


@pytest.mark.parametrize("method, route", CALLS, ids=str)
@pytest.mark.parametrize("who", [None, READ, FORECAST, ADMIN])
def test_every_path_asks_for_its_role(guarded, who, method, route):
    made, tokens = guarded
    made.service.engine.forecast.clear()
    made.ask("POST", "/v1/forecasts", {"items": [{"stream": "a", "id": "a"}]}, token=tokens[ADMIN])
    body = BODIES.get((method, route))
    token = None if who is None else tokens[who]
    answer = made.ask(method, path_of(route), body, token=token)
    needed = ROUTES[route][method]
    if needed != OPEN and who is None:
        assert answer.status == 401 and answer.headers["www-authenticate"] == "Bearer"
    elif needed != OPEN and RANK[who] < RANK[needed]:
        assert answer.status == 403 and answer.code == "forbidden"
    else:
        assert answer.status in (200, 201, 204) or (
            route == "/v1/alarms/acknowledge" and answer.status == 404
        )


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer wrong", "Bearer\t", "\xff"]
)
def test_what_is_no_token_is_refused(guarded, header):
    made, _ = guarded
    answer = made.ask("GET", "/v1/streams", headers={"Authorization": header})
    assert answer.status == 401 and answer.code == "unauthorized"


def test_two_tokens_are_none(guarded):
    made, tokens = guarded
    head = "GET /v1/streams HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    head += f"Authorization: Bearer {tokens[READ]}\r\nAuthorization: Bearer x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", made.port), timeout=10) as one:
        one.sendall(head.encode())
        assert b" 401 " in one.recv(10_000)


def test_unknown_paths_and_methods_say_nothing_to_strangers(guarded):
    made, tokens = guarded
    assert made.ask("GET", "/v1/secret").status == 401
    assert made.ask("PATCH", "/v1/streams").status == 401
    assert made.ask("GET", "/v1/secret", token=tokens[READ]).status == 404
    assert made.ask("PATCH", "/v1/streams", token=tokens[READ]).status == 405


def test_with_tokens_any_name_of_the_host_is_fine(guarded):
    made, tokens = guarded
    answer = made.ask("GET", "/v1/streams", headers={"Host": "example.org"}, token=tokens[READ])
    assert answer.status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:8642", "[::1]:8642"])
def test_without_tokens_local_names_are_fine(any_site, host):
    assert any_site.ask("GET", "/v1/streams", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host", ["example.org", "localhost.example.org", "127.0.0.1.nip.io:8642", "localhost:x", "",
             "0.0.0.0", "localhost@example.org", "example.org:127.0.0.1"],
)  # fmt: skip
def test_without_tokens_foreign_names_are_refused(any_site, host):
    for path in ("/v1/streams", "/", "/healthz"):
        answer = any_site.ask("GET", path, headers={"Host": host})
        assert answer.status == 403 and answer.code == "foreign-host"


@pytest.mark.parametrize(
    "origin", ["https://example.org", "null", "http://localhost:1", "http://127.0.0.1"]
)
def test_without_tokens_pages_from_elsewhere_are_refused(any_site, origin):
    answer = any_site.ask("GET", "/v1/streams", headers={"Origin": origin})
    assert answer.status == 403 and answer.code == "foreign-origin"


def test_its_own_page_may_ask(any_site):
    origin = {"Origin": any_site.address, "Host": f"127.0.0.1:{any_site.port}"}
    answer = any_site.ask("GET", "/v1/streams", headers=origin)
    assert answer.status == 200 and "access-control-allow-origin" not in answer.headers


def wait_until(condition):
    for _ in range(100):
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_running_service_notices_new_and_revoked_tokens(tmp_path):
    with site(FakeService(), tmp_path) as made:
        assert made.ask("GET", "/v1/streams").status == 200
        secret, _ = create_token(tmp_path, "read", "one")
        assert wait_until(lambda: made.ask("GET", "/v1/streams").status == 401)
        assert made.ask("GET", "/v1/streams", token=secret).status == 200
        assert revoke_token(tmp_path, "one")
        assert wait_until(lambda: made.ask("GET", "/v1/streams", token=secret).status == 401)
        # the last one is gone: nobody gets in, rather than everybody
        assert made.ask("GET", "/v1/streams").status == 401
        (tmp_path / FILE).write_text("{")
        assert made.ask("GET", "/v1/streams").status == 401


def test_who_can_be_reached_by_others_needs_a_token(tmp_path):
    with pytest.raises(ValueError, match="create a token first"):
        serve(Serving(str(tmp_path), host="0.0.0.0", port=0), FakeService.open)
    with site(FakeService(), tmp_path, loopback=False) as made:
        assert made.ask("GET", "/v1/streams").status == 401
        assert made.ask("GET", "/healthz").status == 200


def test_tokens_are_kept_as_hashes_for_the_owner_alone(tmp_path):
    secret, kept = create_token(tmp_path, "forecast", "loader")
    file = tmp_path / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in file.read_text() and kept.hash == digest(secret)
    assert len(secret) >= 43 and create_token(tmp_path, "read")[0] != secret
    assert [one.role for one in read_tokens(tmp_path)] == ["forecast", "read"]
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "tokens": []}', "\x00",
                                  '{"version": 1, "tokens": [{"id": 1}]}'])  # fmt: skip
def test_a_damaged_file_is_refused(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(ValueError, match="damaged"):
        read_tokens(tmp_path)
    with pytest.raises(ValueError, match="damaged"):
        serve(Serving(str(tmp_path), port=0), FakeService.open)


def test_what_cannot_be_a_token_is_refused(tmp_path):
    with pytest.raises(ValueError, match="role must be"):
        create_token(tmp_path, "root")
    with pytest.raises(ValueError, match="name must have"):
        create_token(tmp_path, "read", "a\nb")
    with pytest.raises(FileNotFoundError):
        create_token(tmp_path / "no", "read")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_a_token_made_by_root_can_be_read_by_the_owner_of_the_folder(tmp_path):
    os.chown(tmp_path, 10001, 10001)
    create_token(tmp_path, "read")
    found = os.stat(tmp_path / FILE)
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (10001, 10001, 0o600)
