"""From a model that goes wrong to somebody who is told: once, also across a restart."""

import json
import random
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from service.killed import Server

pytestmark = pytest.mark.timeout(300)


@contextmanager
def listener():
    """A place to which alarms are posted: its address, and what came."""
    came = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/alarms", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def feed(server, stream, events, happens, rng):
    """Forecasts of 30 %, with outcomes of another chance."""
    for _ in range(events // 50):
        items = [{"stream": stream, "spec": "watched", "p": 0.3} for _ in range(50)]
        made = server.ask("POST", "/v1/forecasts", {"items": items})[1]["items"]
        reports = [{"id": one["id"], "outcome": int(rng.random() < happens)} for one in made]
        server.ask("POST", "/v1/outcomes", {"items": reports})


def wait_for(came, count):
    for _ in range(100):
        if len(came) >= count:
            break
        time.sleep(0.1)
    time.sleep(0.3)  # and no more than these
    return came


def test_an_alarm_is_told_once_shown_and_acknowledged(tmp_path):
    rng = random.Random(3)
    with listener() as (address, came):
        server = Server(tmp_path / "data", "--webhook", address).start()
        server.ask("PUT", "/v1/specs/watched", {"monitor": 10_000})
        feed(server, "right", 300, 0.3, rng)
        feed(server, "wrong", 300, 0.8, rng)
        (told,) = wait_for(came, 1)
        assert told["stream"] == "wrong" and told["direction"] == "too low"
        feed(server, "wrong", 200, 0.8, rng)  # it rings on, and nobody is told
        assert server.stop() == 0
        server.start()
        (active,) = server.ask("GET", "/v1/alarms")[1]["alarms"]
        assert active["stream"] == "wrong" and not active["acknowledged"]
        numbers = server.ask("GET", "/v1/streams?alarm=true")[1]
        assert [row["stream"] for row in numbers["streams"]] == ["wrong"]
        assert numbers["counts"]["alarms"] == numbers["budget"]["unacknowledged"] == 1
        assert server.ask("POST", "/v1/alarms/acknowledge", {"stream": "wrong"})[0] == 200
        server.kill()
        server.start()
        (seen,) = server.ask("GET", "/v1/alarms")[1]["alarms"]
        assert seen["acknowledged"]
        feed(server, "wrong", 100, 0.8, rng)  # still the same flaw
        time.sleep(1.5)
        assert len(came) == 1
        assert server.stop() == 0
