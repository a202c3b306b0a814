"""What is sent: whole or broken, small or large, honest or not."""

import json
import socket

import pytest

from fullswap.service.bounds import Bounds
from fullswap.service.limits import Limits
from service.conftest import site
from service.fake import FakeService

HEAD = "POST /v1/forecasts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def raw(made, text, more=b"", wait=10.0):
    """The bytes that come back for these bytes."""
    with socket.create_connection(("127.0.0.1", made.port), timeout=wait) as one:
        one.sendall(text.encode() + more)
        parts = []
        while part := one.recv(65536):
            parts.append(part)
        return b"".join(parts)


def test_items_are_answered_in_order(any_site):
    items = [{"stream": "order", "id": f"o{k}", "p": k / 10} for k in range(5)]
    answer = any_site.ask("POST", "/v1/forecasts", {"items": items})
    assert [one["id"] for one in answer.json()["items"]] == [f"o{k}" for k in range(5)]
    settled = [{"id": f"o{k}", "outcome": k % 2} for k in range(5)]
    answer = any_site.ask("POST", "/v1/outcomes", {"items": settled})
    assert [one["status"] for one in answer.json()["items"]] == ["learnt"] * 5


def test_no_items_are_fine(any_site):
    for path in ("/v1/forecasts", "/v1/outcomes"):
        answer = any_site.ask("POST", path, {"items": []})
        assert (answer.status, answer.json()) == (200, {"items": []})


def test_a_bad_item_stands_in_its_place_and_harms_no_other(any_site):
    items = [
        {"stream": "mixed", "id": "m0", "p": 0.5}, {"p": 0.5}, "text", None, {"stream": 7},
        {"stream": "mixed", "unknown": 1}, {"stream": "mixed", "p": {"a": 1}}, [],
        {"stream": "mixed", "id": "m1", "p": 0.5},
    ]  # fmt: skip
    answer = any_site.ask("POST", "/v1/forecasts", {"items": items})
    got = answer.json()["items"]
    assert answer.status == 200 and len(got) == len(items)
    assert (got[0]["id"], got[-1]["id"]) == ("m0", "m1")
    assert all(one["error"]["code"] == "bad-item" for one in got[1:-1])


@pytest.mark.parametrize(
    "body", [
        b"", b"{", b"[]", b"null", b"1", b'"items"', b"{}", b'{"items": null}', b'{"items": {}}',
        b'{"items": [1,]}', b'{"items": [], "more": 1}', b'{"items": [NaN]}', b"\xff\xfe",
        b'{"items": []} x', b'{"items"', b"\x00" * 100, b'{"items": [' + b"[" * 100_000,
        b'{"items": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_malformed_bodies_are_refused_whole(any_site, body):
    for path in ("/v1/forecasts", "/v1/outcomes"):
        answer = any_site.ask("POST", path, body, {"Content-Type": "application/json"})
        assert answer.status in (400, 200)
        if answer.status == 200:  # one item that is nested too deeply
            assert answer.json()["items"][0]["error"]["code"] == "bad-item"
        else:
            assert answer.code == "invalid" and answer.json()["error"]["message"]


@pytest.mark.parametrize("item", [b'{"stream": "a\xff"}', b'{"stream": "\\ud800"}',
                                  b'{"stream": "a", "p": 1e999}'])  # fmt: skip
def test_text_that_is_none_does_no_harm(any_site, item):
    answer = any_site.ask(
        "POST", "/v1/forecasts", b'{"items": [' + item + b"]}", {"Content-Type": "application/json"}
    )
    assert answer.status in (200, 400) and b"error" in answer.content


@pytest.mark.parametrize(
    "headers", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json2"},
                {"Content-Type": "application/x-www-form-urlencoded"},
                {"Content-Type": "application/json; charset=latin-1"},
                {"Content-Type": "application/json", "Content-Encoding": "gzip"}],
)  # fmt: skip
def test_only_json_is_read(any_site, headers):
    for method, path in (("POST", "/v1/forecasts"), ("PUT", "/v1/specs/x"),
                         ("POST", "/v1/alarms/acknowledge")):  # fmt: skip
        answer = any_site.ask(method, path, b"{}", headers)
        assert answer.status == 415 and answer.code == "unsupported-media-type"


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_by_its_other_names(any_site, kind):
    answer = any_site.ask("POST", "/v1/forecasts", b'{"items": []}', {"Content-Type": kind})
    assert answer.status == 200


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    limits, bounds = Limits(body=2_000, batch=3), Bounds(small_body=500, body_seconds=0.5)
    folder = tmp_path_factory.mktemp("small")
    with site(FakeService(limits), folder, limits=limits, bounds=bounds) as made:
        yield made


def test_too_many_items(small):
    answer = small.ask("POST", "/v1/forecasts", {"items": [{"stream": "a"}] * 4})
    assert answer.status == 413 and answer.code == "too-many"
    answer = small.ask("POST", "/v1/forecasts", {"items": [{"x": "a"}] * 4})
    assert answer.status == 413 and answer.code == "too-many"


@pytest.mark.parametrize("size", [2_001, 50_000, 3_000_000])
def test_too_large_with_a_length(small, size):
    answer = small.ask("POST", "/v1/forecasts", b" " * size, {"Content-Type": "application/json"})
    assert answer.status == 413 and answer.code == "too-large"
    assert "2,000 bytes" in answer.json()["error"]["message"]


def test_too_large_for_what_is_no_batch(small):
    for method, path in (("PUT", "/v1/specs/x"), ("POST", "/v1/alarms/acknowledge")):
        answer = small.ask(method, path, b" " * 501, {"Content-Type": "application/json"})
        assert answer.status == 413
    # also where no body is expected at all
    assert small.ask("DELETE", "/v1/streams/x", b" " * 501).status == 413


def chunked(parts):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def test_chunks_are_read_and_bounded(small):
    head = HEAD + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    body = json.dumps({"items": [{"stream": "chunks", "p": 0.5}]}).encode()
    got = raw(small, head, chunked([body[:10], body[10:11], body[11:]]))
    assert got.startswith(b"HTTP/1.1 200") and b'"issued":0.5' in got
    got = raw(small, head, chunked([b" " * 999] * 4))
    assert got.startswith(b"HTTP/1.1 413")


def test_a_body_that_does_not_come_is_given_up(small):
    for more in ("Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\n"):
        got = raw(small, HEAD + more, b"{")
        assert got.startswith(b"HTTP/1.1 408") and b"too-slow" in got


@pytest.mark.parametrize("length", ["-1", "abc", "99999999999999999999999", "1, 2"])
def test_lengths_that_are_none(small, length):
    got = raw(small, HEAD + f"Content-Length: {length}\r\nConnection: close\r\n\r\n", b"{}")
    assert got.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413")) and b'"error"' in got


def test_two_lengths_are_refused(small):
    more = "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert raw(small, HEAD + more, b"0\r\n\r\n").startswith(b"HTTP/1.1 400")
    more = "Content-Length: 2\r\nContent-Length: 3\r\n\r\n"
    assert raw(small, HEAD + more, b"{}").startswith(b"HTTP/1.1 400")
