"""Players who use a service over HTTP while it is killed, and what a bank says of their games.

A player has streams of its own and asks one thing after the other. When the connection breaks it
asks the same again, with the same ids, until it is answered. So the order of events in every stream
is known, and a bank with the same draws can repeat it.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np

from fullswap import Bank, Forecaster, MulticlassForecaster, Recalibrator
from fullswap.base.draws import words

SPECS = {
    "default": ({}, Recalibrator(seed=0)),
    "alone": ({"forecaster": "forecaster", "monitor": 2000}, Forecaster(seed=0)),
    "places": ({"groups": ["north", "night"]}, Recalibrator(groups=["north", "night"], seed=0)),
    "three": ({"forecaster": "multiclass", "classes": 3}, MulticlassForecaster(3, seed=0)),
}


class Server:
    """A service in a process of its own, which can be killed."""

    def __init__(self, folder, *options):
        self.folder, self.options = folder, options
        self.process = self.port = None

    def start(self):
        command = [sys.executable, "-m", "fullswap", "serve", str(self.folder), "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--log-level", "error", *self.options], stderr=subprocess.PIPE, text=True
        )
        said = ""
        while "listening on" not in said:
            line = self.process.stderr.readline()
            assert line, said
            said += line
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stderr.close()
        return code

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return request(connection, method, path, body)
        finally:
            connection.close()


def request(connection, method, path, body=None):
    """Status and answer of one request."""
    text = None if body is None else json.dumps(body)
    connection.request(method, path, text, {"content-type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    return answer.status, json.loads(content) if content else None


class Player(threading.Thread):
    """Asks one thing after the other, until it is told to stop."""

    def __init__(self, number, server, seed):
        super().__init__(daemon=True)
        self.number, self.server = number, server
        self.rng = random.Random(seed)
        self.played = []
        """What happened, in order: ("forecast", item, answer) or ("outcome", item, answer)."""
        self.waiting = []
        self.made = self.retries = 0
        self.stopping = threading.Event()
        self.trouble = None
        self._connection = None

    def run(self):
        try:
            while not self.stopping.is_set():
                self.turn()
        except Exception as error:  # shown by the test
            self.trouble = error
        finally:
            self.hang_up()

    def turn(self):
        rng, few = self.rng, self.rng.choice((1, 1, 3, 20))
        if self.waiting and rng.random() < 0.5:
            rng.shuffle(self.waiting)
            due, self.waiting = self.waiting[:few], self.waiting[few:]
            items = [self.outcome(item) for item in due]
            answers = self.insist("/v1/outcomes", items)
            self.played += [("outcome", *pair) for pair in zip(items, answers, strict=True)]
            return
        items = [self.forecast() for _ in range(few)]
        answers = self.insist("/v1/forecasts", items)
        self.played += [("forecast", *pair) for pair in zip(items, answers, strict=True)]
        self.waiting += items

    def forecast(self):
        rng, spec = self.rng, self.rng.choice(list(SPECS))
        self.made += 1
        item = {
            "stream": f"{spec} {self.number}.{rng.randrange(3)}", "spec": spec,
            "id": f"{self.number}-{self.made}",
        }  # fmt: skip
        if spec in ("default", "places"):
            item["p"] = rng.random()
        if spec == "places":
            item["groups"] = rng.sample(["night", "north"], rng.randrange(3))
        if rng.random() < 0.2:
            item["event"] = f"event {self.number}-{self.made}"
        return item

    def outcome(self, item):
        own = {"id": item["id"]}
        if "event" in item and self.rng.random() < 0.5:
            own = {"event": item["event"]}
        return {**own, "outcome": self.rng.randrange(3 if item["spec"] == "three" else 2)}

    def hang_up(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def insist(self, path, items):
        """Ask until it is answered."""
        while True:
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection(
                        "127.0.0.1", self.server.port, timeout=30
                    )
                status, answer = request(self._connection, "POST", path, {"items": items})
                if status == 200:
                    return answer["items"]
                assert status == 503, (status, answer)
            except (OSError, http.client.HTTPException):
                self.hang_up()
                self.retries += 1
            if self.stopping.is_set():
                raise RuntimeError("stopped while asking")
            time.sleep(0.01)


def banks_of(folder):
    """A bank for each spec with the draws of a service, which has stopped."""
    tables = sqlite3.connect(folder / "streams.db")
    seeds = dict(tables.execute("SELECT name, seed FROM specs"))
    tables.close()
    banks = {}
    for name, (_, pattern) in SPECS.items():
        bank = Bank(pattern)
        bank._seed = int(seeds[name])
        bank._rows.seed = np.array(words(bank._seed), dtype=np.uint64)
        banks[name] = bank
    return banks


def repeat(banks, played):
    """The same games in banks; what a service answered must be what they say. Rounds by stream."""
    tickets, specs, rounds = {}, {}, {}
    for what, item, answer in played:
        assert "error" not in answer, (item, answer)
        if what == "forecast":
            spec, stream = item["spec"], item["stream"]
            p = ([item["p"]],) if "p" in item else ()
            own = {"groups": [item["groups"]]} if "groups" in item else {}
            (ticket,) = banks[spec].predict([stream], *p, **own)
            assert answer["id"] == item["id"]
            assert np.array_equal(ticket.issued, answer["issued"])
            assert np.array_equal(ticket.mean, answer["mean"])
            assert np.array_equal(ticket.points, answer["points"])
            assert np.array_equal(ticket.weights, answer["weights"])
            tickets[item.get("event", item["id"])] = tickets[item["id"]] = ticket
            specs[item["id"]] = specs[item.get("event", item["id"])] = spec
        else:
            name = item.get("id", item.get("event"))
            banks[specs[name]].update([tickets[name]], [item["outcome"]])
            stream = tickets[name].key[0]
            rounds[stream] = rounds.get(stream, 0) + 1
    return rounds
