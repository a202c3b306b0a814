"""Paths: names with any characters, tricks that lead nowhere, methods that are not there."""

import socket
from urllib.parse import quote

import pytest

from fullswap.service.paths import FILE, ROUTES

NAMES = [
    "north", "a/b", "a//b", "/", "//", "..", "../..", ".", "a b", "a%2Fb", "%", "%2e%2e", "ü/雪",
    "?x=1", "#", "a&b=c", "\u202e", "a\\b", "-", "trailing/", "..%2f..%2fetc/passwd", "😀",
    "{stream}", "null", "'\";--", "<script>",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_streams_may_have_any_name(any_site, name):
    made = any_site.forecast(stream=name, id=f"name-{name}", p=0.5)
    assert made["id"] == f"name-{name}"
    answer = any_site.stream(name)
    assert answer.status == 200 and answer.json()["stream"] == name
    found = any_site.ask("GET", f"/v1/streams?search={quote(name)}&limit=1000").json()
    assert name in [row["stream"] for row in found["streams"]]
    assert any_site.ask("GET", f"/v1/export?stream={quote(name)}").json()["stream"] == name
    gone = any_site.ask("DELETE", f"/v1/streams/{quote(name, safe='')}")
    assert (gone.status, gone.content) == (204, b"")
    assert any_site.stream(name).status == 404
    assert any_site.ask("GET", f"/v1/export?stream={quote(name)}").status == 404


@pytest.mark.parametrize(
    "path", [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd",
        "/static/..%5capp.py", "/static/index.html%00", "/static/", "/static", "/static/app.py",
        "/static/.", "/static/index.html/", "/static/INDEX.HTML", "/schema", "/docs", "/v1",
        "//healthz", "/healthz/", "/v1/streams/", "/v1/specs/", "/v1//streams", "/./healthz",
        "/v1/../healthz", "/%68ealthz", "/v1/stream%73", "/favicon.ico", "/schema/swagger",
    ],
)  # fmt: skip
def test_other_paths_lead_nowhere(any_site, path):
    answer = any_site.ask("GET", path)
    assert answer.status == 404 and answer.code == "not-found"
    assert b"import" not in answer.content and b"root:" not in answer.content


@pytest.mark.parametrize("path", ["/v1/streams/%ff", "/v1/specs/%c3%28", "/static/%80"])
def test_names_that_are_no_text_are_refused(any_site, path):
    answer = any_site.ask("GET", path)
    assert answer.status == 400 and answer.code == "invalid"


@pytest.mark.parametrize("route", ROUTES)
def test_other_methods_are_refused_with_those_that_there_are(any_site, route):
    path = route.replace("{stream}", "x").replace("{name}", "x").replace("{file}", "index.html")
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        if method not in ROUTES[route]:
            answer = any_site.ask(method, path, b"")
            assert answer.status == 405 and answer.code == "method-not-allowed"
            allowed = answer.headers["allow"].split(", ")
            assert set(allowed) - {"HEAD"} == set(ROUTES[route])


def test_head_is_get_without_a_body(any_site):
    for path in ("/", "/healthz", "/v1/streams", "/openapi.json"):
        answer = any_site.ask("HEAD", path)
        assert (answer.status, answer.content) == (200, b"")
    assert any_site.ask("HEAD", "/v1/forecasts").status == 405


def test_every_answer_is_safe_to_show(any_site):
    for path in ("/", "/v1/streams", "/v1/no", "/healthz"):
        headers = any_site.ask("GET", path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    assert any_site.ask("GET", "/v1/streams").headers["cache-control"] == "no-store"


def test_the_page_is_kept_by_browsers_until_it_changes(any_site):
    first = any_site.ask("GET", "/")
    assert first.status == 200 and first.headers["content-type"].startswith("text/html")
    again = any_site.ask("GET", "/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.content) == (304, b"")
    assert any_site.ask("GET", FILE.replace("{file}", "index.html")).content == first.content


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=1001", "offset=-1", "sort=name", "verdict=bad",
              "alarm=perhaps", "descending=3", "limit=1&limit=2x", "offset=9999999999999999999"],
)  # fmt: skip
def test_bad_questions_are_refused(any_site, query):
    answer = any_site.ask("GET", f"/v1/streams?{query}")
    assert answer.status == 400 and answer.code == "invalid"
    assert query.split("=")[0] in answer.json()["error"]["message"]


@pytest.mark.parametrize("query", ["", "alarm=true", "alarm=false", "sort=stream&descending=false",
                                   "limit=1000&offset=5", "verdict=not%20watched", "%zz=%ff&&==",
                                   "unknown=1"])  # fmt: skip
def test_good_questions_are_answered(any_site, query):
    assert any_site.ask("GET", f"/v1/streams?{query}").status == 200


def test_specs_are_made_once(any_site):
    body = {"step": 0.05}
    assert any_site.ask("PUT", "/v1/specs/five%20%25", body).status == 201
    again = any_site.ask("PUT", "/v1/specs/five%20%25", body)
    assert (again.status, again.json()["name"]) == (200, "five %")
    assert any_site.ask("PUT", "/v1/specs/five%20%25", {"step": 0.1}).code == "conflict"
    assert any_site.ask("GET", "/v1/specs/five%20%25").json()["step"] == 0.05
    assert "five %" in [one["name"] for one in any_site.ask("GET", "/v1/specs").json()["specs"]]
    for bad in ({"models": 0}, {"models": "x"}, {"unknown": 1}, [], None):
        answer = any_site.ask("PUT", "/v1/specs/other", bad if bad is not None else b"null",
                              {"Content-Type": "application/json"})  # fmt: skip
        assert answer.status == 400 and answer.code == "invalid", bad


def test_alarms_that_are_not_there_cannot_be_acknowledged(any_site):
    assert any_site.ask("POST", "/v1/alarms/acknowledge", {"stream": "none"}).code == "not-found"
    assert any_site.ask("GET", "/v1/alarms").json() == {"alarms": []}


@pytest.mark.parametrize(
    "head", [
        b"GET /healthz HTTP/9.9\r\n\r\n", b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000,
    ],
    ids=lambda head: repr(head[:30]),
)  # fmt: skip
def test_heads_that_are_none_are_refused(any_site, head):
    with socket.create_connection(("127.0.0.1", any_site.port), timeout=10) as one:
        one.sendall(head)
        got = one.recv(10_000)
    assert got.startswith((b"HTTP/1.1 400", b"HTTP/1.1 403")) and b'"error"' in got
    assert any_site.ask("GET", "/healthz").status == 200
