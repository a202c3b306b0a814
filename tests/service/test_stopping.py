"""A service that is told to stop answers what is under way, and leaves with 0."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from docs.blocks import ROOT

SERVE = """
import sys
from fullswap.service.server import Serving, serve
from service.fake import FakeService
class Told(FakeService):
    def close(self):
        super().close()
        print("closed", flush=True)
serve(Serving(sys.argv[1], port=0), Told.open, lambda address: print(address, flush=True))
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@contextmanager
def started(folder):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder)], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        address = process.stdout.readline()
        yield process, int(re.search(r":(\d+)$", address.strip())[1])
    finally:
        process.kill()
        process.communicate()


def post(port, stream, into):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        body = json.dumps({"items": [{"stream": stream, "id": "x"}]})
        connection.request("POST", "/v1/forecasts", body, {"Content-Type": "application/json"})
        into.append(json.loads(connection.getresponse().read()))
    finally:
        connection.close()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_is_answered(tmp_path, how):
    with started(tmp_path) as (process, port):
        first, slow = [], []
        post(port, "quick", first)
        thread = threading.Thread(target=post, args=(port, "slow", slow))
        thread.start()
        time.sleep(0.2)
        process.send_signal(how)
        thread.join(20)
        out, err = process.communicate(timeout=20)
    assert slow[0]["items"][0]["id"] == "x"
    assert process.returncode == 0 and "closed" in out
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["event"] for line in lines] == ["listening", "request", "request", "stopped"]


def test_a_second_signal_does_not_wait(tmp_path):
    with started(tmp_path) as (process, port):
        post(port, "quick", [])
        body = [{"stream": "slow", "id": str(k)} for k in range(40)]  # twenty seconds
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        kind = {"Content-Type": "application/json"}
        connection.request("POST", "/v1/forecasts", json.dumps({"items": body}), kind)
        time.sleep(0.3)
        process.terminate()
        time.sleep(0.3)
        assert process.poll() is None
        process.terminate()
        assert process.wait(timeout=5) == 1
        connection.close()
