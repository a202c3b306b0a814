"""The service behind a real socket: with the engine in memory, and with the real one."""

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import pytest

pytest.importorskip("litestar", reason="the extra serve is not installed")

from browser import chromium  # noqa: E402
from fullswap.service import service as service_module  # noqa: E402
from fullswap.service import storage  # noqa: E402
from fullswap.service.access import Access  # noqa: E402
from fullswap.service.app import make_app  # noqa: E402
from fullswap.service.bounds import Bounds  # noqa: E402
from fullswap.service.gate import Desk  # noqa: E402
from fullswap.service.limits import Limits  # noqa: E402
from fullswap.service.logs import Log  # noqa: E402
from fullswap.service.messages import ForecastItem, OutcomeItem  # noqa: E402
from fullswap.service.server import Server, listen, uvicorn_config  # noqa: E402
from fullswap.service.tokens import TokenFile, create_token  # noqa: E402
from service.fake import FakeService  # noqa: E402
from service.life import Life  # noqa: E402
from service.page_fake import serving  # noqa: E402
from service.page_tab import tabs  # noqa: E402


def real_service():
    """The engine that keeps a folder, where it is there."""
    try:
        from fullswap.service.service import Service
    except ImportError:
        return None
    return Service


SERVICES = {"fake": FakeService, "real": real_service()}


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    def json(self):
        return json.loads(self.content)

    @property
    def code(self):
        return self.json()["error"]["code"]


@dataclass
class Site:
    """A service that answers on a port of this machine."""

    port: int
    service: object
    desk: Desk
    server: Server
    folder: object
    lines: object

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, headers=None, token=None):
        """One request on a connection of its own; ``body``: bytes, or what becomes JSON."""
        own = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            own.setdefault("Content-Type", "application/json")
        if token is not None:
            own["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, own)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def forecast(self, **item):
        """One item."""
        answer = self.ask("POST", "/v1/forecasts", {"items": [item]})
        assert answer.status == 200, answer
        return answer.json()["items"][0]

    def stream(self, name):
        return self.ask("GET", f"/v1/streams/{quote(name, safe='')}")


class Lines:
    """What was logged."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@contextmanager
def site(service, folder, *, limits=None, bounds=None, loopback=True, level="info"):
    lines = Lines()
    log = Log(level, lines)
    desk = Desk(service, log, limits or Limits(), bounds or Bounds())
    app = make_app(desk, Access(TokenFile(folder, every=0.05), loopback))
    sockets = listen("127.0.0.1", 0)
    server = Server(uvicorn_config(app, desk.bounds))
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets})
    thread.start()
    try:
        port = sockets[0].getsockname()[1]
        yield Site(port, service, desk, server, folder, lines)
    finally:
        server.should_exit = True
        thread.join(30)
        for one in sockets:
            one.close()
        service.close()
        log.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module", params=[name for name, kind in SERVICES.items() if kind])
def any_site(request, tmp_path_factory):
    """The same for both: tests that change nothing which others mind."""
    folder = tmp_path_factory.mktemp("kept")
    service = SERVICES[request.param].open(folder, Limits())
    # once, and with patience: what is compiled at first use takes some seconds
    service.forecasts([ForecastItem("warm", id="warm", p=0.5)]).result(110)
    service.outcomes([OutcomeItem(1, id="warm")]).result(110)
    service.ask(lambda engine: (engine.streams(), engine.delete("warm"))).result(110)
    with site(service, folder) as made:
        yield made


@pytest.fixture
def fake_site(tmp_path):
    """Streams "slow", "broken" and "full" do as they are called."""
    with site(FakeService(), tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service with a token of each role, and those tokens."""
    folder = tmp_path_factory.mktemp("guarded")
    tokens = {role: create_token(folder, role, role)[0] for role in ("read", "forecast", "admin")}
    with site(FakeService(), folder) as made:
        yield made, tokens


@pytest.fixture
def quiet(monkeypatch):
    """Nothing is written in idle moments, and nobody waits long for a lock."""
    monkeypatch.setattr(service_module, "IDLE", 1000.0)
    monkeypatch.setattr(storage, "PATIENCE", 0.02)


@pytest.fixture
def life(tmp_path, quiet):
    life = Life(tmp_path)
    yield life
    life.service.close()


# --- the page in a browser, against a made-up service ---------------------------------------


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def served():
    with serving() as both:
        yield both


@pytest.fixture
def fake(served):
    served[0].reset()
    return served[0]


@pytest.fixture
def opened(browser, served, fake):
    with tabs(browser, served[1]) as open_:
        yield open_
