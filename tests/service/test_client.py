"""Clients: every call, errors, and a network that loses requests and answers."""

import asyncio
import socket
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from fullswap.client import AsyncClient, Client, ItemError, ServiceError, calls
from fullswap.service.limits import Limits
from fullswap.service.tokens import create_token
from service.conftest import site
from service.fake import FakeService


class Blocking:
    """An ``AsyncClient`` whose calls wait, so that both are held to the same tests."""

    def __init__(self, *arguments, **settings):
        self.client = AsyncClient(*arguments, **settings)
        self.loop = asyncio.new_event_loop()

    def __getattr__(self, name):
        def called(*arguments, **settings):
            made = getattr(self.client, name)(*arguments, **settings)
            if name == "export":
                made = gathered(made)
            return self.loop.run_until_complete(made)

        return called

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self.loop.close()

    def __repr__(self):
        return repr(self.client)


async def gathered(rows):
    return [row async for row in rows]


@pytest.fixture(params=[Client, Blocking], ids=["sync", "async"])
def kind(request, monkeypatch):
    monkeypatch.setattr(calls, "LONGEST_PAUSE", 0.02)
    return request.param


def test_every_call(any_site, kind):
    name = f"client {kind.__name__}/ü"
    with kind(any_site.address) as client:
        spec = client.put_spec(f"fine {kind.__name__}", step=0.05)
        assert spec["name"] in [one["name"] for one in client.specs()]
        made = client.forecast(name, p=0.7, event="first")
        assert 0 <= made.issued <= 1 and made.id and sum(made.weights) == pytest.approx(1)
        again = client.forecast(name, p=0.7, event="first", id=made.id)
        assert again == made
        assert client.outcome(1, id=made.id).status == "learnt"
        assert client.outcome(1, id=made.id).status == "known"
        one, two = client.forecasts(
            [{"stream": name, "p": np.float64(0.2)}, {"stream": name, "p": 7}]
        )
        assert 0 <= one.issued <= 1 and isinstance(two, ItemError) and two.code
        settled, odd = client.outcomes(
            [{"id": one.id, "outcome": np.int64(0)}, {"id": "none at all", "outcome": 1}]
        )
        assert settled.id == one.id and isinstance(odd, ItemError)
        assert client.stream(name)["events"] == 2
        assert [row["stream"] for row in client.streams(search=name, limit=5)["streams"]] == [name]
        assert {row["id"] for row in client.export(name)} == {made.id, one.id}
        assert client.alarms() == [] and client.health()["status"] == "ok"
        client.delete(name)
        with pytest.raises(ServiceError) as error:
            client.stream(name)
        assert (error.value.status, error.value.code) == (404, "not-found")


def test_a_refused_item_is_raised_where_it_is_the_only_one(any_site, kind):
    with kind(any_site.address) as client:
        with pytest.raises(ItemError, match="p"):
            client.forecast("north", p=7)
        with pytest.raises(ItemError):
            client.outcome(1, id="none at all")
        with pytest.raises(ValueError, match="either id or event"):
            client.outcome(1)
        with pytest.raises(ValueError, match="not empty"):
            client.stream("")
        with pytest.raises(ServiceError, match="no stream of this name"):
            list(client.export("nothing of the kind"))


def test_alarms_are_acknowledged(fake_site, kind):
    fake_site.forecast(stream="north", id="x", p=0.5)
    fake_site.service.engine.ring("north")
    with kind(fake_site.address) as client:
        assert [one["stream"] for one in client.alarms()] == ["north"]
        client.acknowledge("north")
        with pytest.raises(ServiceError):
            client.acknowledge("north")


def test_tokens(tmp_path, kind):
    token, _ = create_token(tmp_path, "read")
    with site(FakeService(), tmp_path) as made:
        with kind(made.address, token=token) as client:
            assert client.streams()["total"] == 0 and token not in repr(client)
            with pytest.raises(ServiceError) as error:
                client.forecast("north", p=0.5)
            assert error.value.code == "forbidden"
        with kind(made.address) as client, pytest.raises(ServiceError) as error:
            client.streams()
        assert error.value.status == 401


@pytest.mark.parametrize("url", ["", "localhost:8642", "ftp://x", "http://", "http://x?y=1"])
def test_addresses_that_are_none(kind, url):
    with pytest.raises(ValueError, match="url must be like"):
        kind(url)


def test_tokens_that_cannot_be_sent(kind):
    with pytest.raises(ValueError, match="token must be printable"):
        kind("http://localhost", token="a\r\nX: y")


def test_nobody_there(kind):
    with kind("http://127.0.0.1:9", retries=1) as client, pytest.raises(ServiceError) as error:
        client.health()
    assert error.value.code == "unreachable" and "127.0.0.1:9" in str(error.value)


@contextmanager
def flaky(port, faults):
    """A door before the service: of each connection in turn, what happens to one request.

    "ok", "no request" (it is lost on its way), "no answer" (it is done, and nobody hears of it),
    "half" (the answer breaks off).
    """
    left = list(faults)

    def carry(client):
        fault = left.pop(0) if left else "ok"
        with client, socket.create_connection(("127.0.0.1", port), timeout=10) as service:
            client.settimeout(10)
            asked = whole_of(client)
            if fault != "no request":
                service.sendall(asked.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
                answer = b""
                while part := service.recv(65536):
                    answer += part
                if fault != "no answer":
                    client.sendall(answer[: len(answer) // 2] if fault == "half" else answer)

    def take():
        while True:
            try:
                client, _ = door.accept()
            except OSError:
                return
            carry(client)

    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}", left
        finally:
            door.shutdown(socket.SHUT_RDWR)
            thread.join(20)


def whole_of(client):
    """One request, up to the end of its body."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += client.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = (int(length[0].split(b":")[1]) if length else 0) - len(body)
    while missing > 0:
        got += (part := client.recv(65536))
        missing -= len(part)
    return got


def test_what_is_repeated_is_done_once(fake_site, kind):
    faults = ["no request", "no answer", "half", "ok", "no answer", "ok", "no answer", "half", "ok"]
    engine = fake_site.service.engine
    with flaky(fake_site.port, faults) as (address, left), kind(address) as client:
        made = client.forecast("north", p=0.5)
        assert engine.computed == 1 and list(engine.forecast) == [made.id]
        assert client.outcome(1, id=made.id).status == "known"  # learnt, though nobody heard of it
        assert len(client.forecasts([{"stream": "south"}] * 3)) == 3
        assert engine.computed == 4 and left == []


def test_what_was_removed_by_a_lost_request_is_removed(fake_site, kind):
    fake_site.forecast(stream="north", id="x", p=0.5)
    with flaky(fake_site.port, ["no answer"]) as (address, _), kind(address) as client:
        client.delete("north")
        with pytest.raises(ServiceError):
            client.delete("north")


def test_in_the_end_it_gives_up(fake_site, kind):
    with flaky(fake_site.port, ["no answer"] * 3) as (address, left):
        with kind(address, retries=2) as client, pytest.raises(ServiceError) as error:
            client.forecast("north", p=0.5)
        assert left == [] and error.value.code == "unreachable"
    assert fake_site.service.engine.computed == 1


def test_an_export_that_breaks_off_is_an_error(fake_site, kind):
    for k in range(20):
        fake_site.forecast(stream="north", id=str(k), p=0.5)
    with flaky(fake_site.port, ["half"]) as (address, _), kind(address) as client:
        with pytest.raises(ServiceError) as error:
            list(client.export())
        assert error.value.code == "broken-off"


def test_busy_services_are_asked_again(fake_site, kind):
    with kind(fake_site.address, retries=1) as client:
        with pytest.raises(ServiceError) as error:
            client.forecast("full", p=0.5)
        assert error.value.status == 503
    requests = fake_site.desk.metrics.requests
    assert requests["/v1/forecasts", "POST", 503] == 2
    fake_site.service.engine.healthy = False
    with kind(fake_site.address) as client:  # an answer, and no reason to ask again
        assert client.health()["status"] == "failing"
    assert requests["/healthz", "GET", 503] == 1


def test_what_is_wrong_is_not_repeated(tmp_path, kind):
    limits = Limits(batch=1)
    with site(FakeService(limits), tmp_path, limits=limits) as made:
        with kind(made.address) as client, pytest.raises(ServiceError) as error:
            client.forecasts([{"stream": "a"}, {"stream": "b"}])
        assert error.value.code == "too-many" and sum(made.desk.metrics.requests.values()) == 1


def test_a_connection_that_was_closed_meanwhile_is_made_anew(fake_site):
    with Client(fake_site.address, retries=0) as client:
        client.health()
        (kept,) = client._idle
        kept.sock.shutdown(socket.SHUT_RDWR)
        assert client.health()["status"] == "ok"


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("fullswap.client.asynchronous.is_installed", lambda name: False)
    with pytest.raises(ImportError, match=r"fullswap\[client\]"):
        AsyncClient("http://localhost")


def test_numbers_of_numpy_and_silent_models():
    call = calls.forecasts([{"stream": "a", "p": np.array([0.1, np.nan])}])
    assert call.body["items"][0]["p"] == [0.1, None]
    assert calls.Retries(1).pause(400) is None and calls.Retries(0).pause(None) is None
