"""Alarms are delivered at least once, whatever the other side does."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fullswap.service import webhook as module
from fullswap.service.logs import Log
from fullswap.service.webhook import Webhook, check_address
from service.conftest import Lines
from service.fake import FakeService


@contextmanager
def listener(statuses):
    """Answers with these statuses in turn, then with 200; yields address and what came."""
    came, left = [], list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            status = left.pop(0) if left else 200
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self):
            came.append("asked")
            self.send_error(500)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook?key=1", came
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def sending(service, address, **settings):
    out = Lines()
    log = Log("info", out)
    made = Webhook(service, address, log, every=0.02, **settings)
    made.start()
    try:
        yield made, out
    finally:
        made.close()
        log.close()


def wait_for(condition):
    for _ in range(250):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@pytest.fixture
def service():
    made = FakeService()
    yield made
    made.close()


def test_an_alarm_is_posted_once_with_all_that_is_known(service):
    with listener([]) as (address, came), sending(service, address, page="https://p/") as (sent, _):
        service.engine.ring("north")
        wait_for(lambda: sent.sent == 1)
        time.sleep(0.1)
    (alarm,) = came
    assert alarm["kind"] == "alarm" and alarm["stream"] == "north" and alarm["url"] == "https://p/"
    assert alarm["text"] == "Alarm after 300 events" and alarm["id"] == 1
    assert service.engine.unsent == []
    assert sent.counters()["fullswap_webhook_sent_total"] == 1


@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_is_refused_is_tried_again(service, status, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.05)
    with listener([status] * 3) as (address, came), sending(service, address) as (sent, out):
        service.engine.ring("north")
        wait_for(lambda: sent.sent == 1)
    assert len(came) == 4 and "asked" not in came
    assert sent.failures == 3 and str(status) in out.text
    assert "key" not in out.text and "north" not in out.text


def test_nobody_listens_and_a_later_start_sends_it(service, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.05)
    with sending(service, "http://127.0.0.1:9/hook") as (sent, out):
        service.engine.ring("north")
        wait_for(lambda: sent.failures > 1)
    assert "Error" in out.text and len(service.engine.unsent) == 1
    with listener([]) as (address, came), sending(service, address) as (sent, _):
        wait_for(lambda: sent.sent == 1)
    assert len(came) == 1


def test_one_that_fails_does_not_hold_up_the_next(service):
    with listener([500]) as (address, came):
        service.engine.ring("north")
        service.engine.ring("south")
        with sending(service, address) as (sent, _):
            wait_for(lambda: sent.sent == 2)
    assert [one["stream"] for one in came] == ["north", "south", "north"]


def test_a_service_that_is_closed_does_no_harm(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.05)
    service = FakeService()
    service.close()
    with sending(service, "http://127.0.0.1:9/") as (_, out):
        wait_for(lambda: "Unavailable" in out.text)


@pytest.mark.parametrize(
    "address", ["", "example.org", "ftp://example.org", "file:///etc/passwd", "http://",
                "https://user:password@example.org/"],
)  # fmt: skip
def test_addresses_that_are_none(address):
    with pytest.raises(ValueError, match="webhook must be an address") as error:
        check_address(address)
    assert "password@" not in str(error.value)
