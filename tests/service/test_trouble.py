"""Slow and broken clients, too much at once, errors inside: the others are answered."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fullswap.service import protocol
from fullswap.service.bounds import Bounds
from fullswap.service.limits import Limits
from service.conftest import site
from service.fake import FakeService

ITEM = json.dumps({"items": [{"stream": "slow", "id": "s"}]}).encode()
HEAD = (
    b"POST /v1/forecasts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)


def connect(made):
    return socket.create_connection(("127.0.0.1", made.port), timeout=10)


def test_errors_inside_say_nothing_to_clients_and_all_to_the_log(fake_site):
    answer = fake_site.ask("POST", "/v1/forecasts", {"items": [{"stream": "broken"}]})
    assert answer.status == 500 and answer.code == "internal"
    number = answer.headers["x-request-id"]
    assert number in answer.json()["error"]["message"] and b"Traceback" not in answer.content
    fake_site.desk.log.close()
    lines = [json.loads(line) for line in fake_site.lines.text.splitlines()]
    (trouble,) = [line for line in lines if line["event"] == "error"]
    assert trouble["request"] == number and trouble["error"] == "RuntimeError"
    assert any("fake.py" in place for place in trouble["at"])


def test_a_store_that_fails_is_503_and_come_again(fake_site):
    answer = fake_site.ask("POST", "/v1/forecasts", {"items": [{"stream": "full"}]})
    assert answer.status == 503 and answer.code == "unavailable"
    assert answer.headers["retry-after"] == "1" and b"disk is full" in answer.content
    fake_site.service.engine.healthy = False
    answer = fake_site.ask("GET", "/healthz")
    assert answer.status == 503 and answer.json()["status"] == "failing"


def test_a_service_that_closes_says_so(fake_site):
    fake_site.service.close()
    assert fake_site.ask("POST", "/v1/forecasts", {"items": []}).status == 503
    assert fake_site.ask("GET", "/v1/streams").status == 503
    health = fake_site.ask("GET", "/healthz")
    assert health.status == 503 and health.json()["status"] == "failing"


def test_clients_that_leave_harm_nobody(fake_site):
    for sent in (b"", b"POST", HEAD % 100, HEAD % 100 + b"{", HEAD % len(ITEM) + ITEM):
        with connect(fake_site) as one:
            one.sendall(sent)
    with connect(fake_site) as one:  # it leaves with a bang
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        one.sendall(HEAD % len(ITEM) + ITEM)
    assert fake_site.forecast(stream="north", p=0.5)["issued"] == 0.5
    # what was asked completely is done, whether or not anybody waits
    assert fake_site.ask("GET", "/v1/streams/slow").status == 200
    for _ in range(100):
        if fake_site.desk.metrics.at_once == 0:
            break
        time.sleep(0.02)
    assert fake_site.desk.metrics.at_once == fake_site.desk.metrics.waiting == 0


def test_slow_heads_are_given_up(fake_site, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    for sent in (b"", b"GET /he", b"\r\n"):
        with connect(fake_site) as one:
            one.sendall(sent)
            assert one.recv(1000) == b""
    with connect(fake_site) as one:  # also after a request that was well
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" in one.recv(10_000)
        one.sendall(b"GET /healthz HT")
        assert one.recv(1000) == b""


def test_a_connection_is_used_again_also_by_pipelining(fake_site):
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(fake_site) as one:
        one.sendall(ask * 3)
        got = b""
        while got.count(b"HTTP/1.1 200") < 3:
            got += one.recv(10_000)


def test_too_much_that_waits_is_told_to_come_again(tmp_path):
    limits = Limits(waiting=2)
    with site(FakeService(), tmp_path, limits=limits) as made, ThreadPoolExecutor(1) as pool:
        first = pool.submit(made.forecast, stream="slow", id="first")
        for _ in range(200):
            if made.desk.metrics.waiting:
                break
            time.sleep(0.005)
        answer = made.ask("POST", "/v1/forecasts", {"items": [{"stream": "a"}] * 2})
        assert answer.status == 503 and answer.code == "busy"
        assert answer.headers["retry-after"] == "1"
        assert first.result()["id"] == "first"
        # a batch larger than all that may wait is taken when nothing else does
        assert made.ask("POST", "/v1/forecasts", {"items": [{"stream": "a"}] * 5}).status == 200


def test_too_many_requests_at_once_are_told_to_come_again(tmp_path):
    bounds = Bounds(requests=1)
    with site(FakeService(), tmp_path, bounds=bounds) as made, ThreadPoolExecutor(1) as pool:
        first = pool.submit(made.forecast, stream="slow", id="first")
        for _ in range(200):
            if made.desk.metrics.at_once:
                break
            time.sleep(0.005)
        answer = made.ask("GET", "/v1/streams")
        assert answer.status == 503 and answer.code == "busy"
        assert made.ask("GET", "/").status == 200  # probes and the page still come through
        assert first.result()["id"] == "first"


def test_who_waits_too_long_is_told_to_ask_again(tmp_path):
    bounds = Bounds(answer_seconds=0.05)
    with site(FakeService(), tmp_path, bounds=bounds) as made:
        answer = made.ask("POST", "/v1/forecasts", {"items": [{"stream": "slow", "id": "x"}]})
        assert answer.status == 503 and made.desk.metrics.waiting == 1
        time.sleep(0.6)
        assert made.desk.metrics.waiting == 0
        assert made.service.engine.computed == 1


def test_a_long_export_comes_in_parts_and_is_whole(fake_site, monkeypatch):
    monkeypatch.setattr("fullswap.service.app.PAGE_ROWS", 7)
    items = [{"stream": "long", "id": f"x{k}", "p": 0.5} for k in range(50)]
    fake_site.ask("POST", "/v1/forecasts", {"items": items})
    answer = fake_site.ask("GET", "/v1/export")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    rows = [json.loads(line) for line in answer.content.splitlines()]
    assert [row["id"] for row in rows] == [f"x{k}" for k in range(50)]


def test_an_export_that_breaks_off_is_seen_to(fake_site, monkeypatch):
    monkeypatch.setattr("fullswap.service.app.PAGE_ROWS", 5)
    engine = fake_site.service.engine
    items = [{"stream": "long", "id": f"x{k}"} for k in range(20)]
    fake_site.ask("POST", "/v1/forecasts", {"items": items})
    whole = engine.export

    def breaks(stream, after, limit):
        if after >= 10:
            raise RuntimeError("the disk is gone")
        return whole(stream, after, limit)

    monkeypatch.setattr(engine, "export", breaks)
    with connect(fake_site) as one:
        one.sendall(b"GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = b""
        while part := one.recv(10_000):
            got += part
    assert got.startswith(b"HTTP/1.1 200") and not got.endswith(b"0\r\n\r\n")
    monkeypatch.setattr(engine, "export", lambda *_: 1 / 0)
    assert fake_site.ask("GET", "/v1/export").status == 500


@pytest.mark.parametrize("readers", [8])
def test_many_at_once_are_all_answered(any_site, readers):
    problems = []

    def ask(who):
        for k in range(20):
            got = any_site.forecast(stream=f"many {who}", id=f"many-{who}-{k}", p=0.5)
            if got.get("id") != f"many-{who}-{k}":
                problems.append(got)

    threads = [threading.Thread(target=ask, args=(who,)) for who in range(readers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert any_site.ask("GET", "/v1/streams/many%200").json()["forecasts"] == 20
