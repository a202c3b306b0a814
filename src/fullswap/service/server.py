"""`fullswap serve`: listen, answer, and stop without losing anything."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import uvicorn

from fullswap.base.extras import is_installed
from fullswap.service.access import Access, is_loopback
from fullswap.service.app import make_app
from fullswap.service.bounds import Bounds
from fullswap.service.gate import Desk
from fullswap.service.limits import Limits
from fullswap.service.logs import Log, Through
from fullswap.service.tokens import TokenFile
from fullswap.service.webhook import Webhook, check_address

KEEP_ALIVE_SECONDS = 30
DRAIN_SECONDS = 30
"""How long requests under way may take after the service was told to stop."""


@dataclass(frozen=True)
class Serving:
    """How to serve a folder."""

    folder: str
    host: str = "127.0.0.1"
    port: int = 8642
    limits: Limits = field(default_factory=Limits)
    bounds: Bounds = field(default_factory=Bounds)
    webhook: str | None = None
    page: str | None = None
    """The address under which people see the page, sent along with alarms."""
    log_level: str = "info"


class Server(uvicorn.Server):
    """Stops at the first signal when all is answered, at the second one at once."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came."""
        if self.should_exit:
            os._exit(1)  # nothing is lost: what was answered is on the disk
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Unlike uvicorn's, this does not raise the signal again: stopping is no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in signals}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets for an address; ``OSError`` with a sentence where that is not possible."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise OSError(f"there is no address of the name {host}") from None
    made: list[socket.socket] = []
    try:
        for family, kind, _, _, address in dict.fromkeys(found):
            one = socket.socket(family, kind)
            made.append(one)
            if os.name == "posix":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind((address[0], port, *address[2:]))
            port = one.getsockname()[1]  # where it was 0: the same for all
            one.listen(1024)
    except OSError as error:
        for one in made:
            one.close()
        why = "in use already" if error.errno in _IN_USE else f"not free: {error.strerror}"
        raise OSError(f"port {port} of {host} is {why}") from None
    return made


_IN_USE = {98, 48, 10048}
"""EADDRINUSE on Linux, macOS and Windows."""


def serve(
    serving: Serving,
    open_service: Callable[[str, Limits], Any],
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal comes. ``ready`` gets the address once connections are taken.

    ``OSError`` and ``ValueError`` say in one sentence what is in the way.
    """
    if serving.webhook is not None:
        check_address(serving.webhook)
    log = Log(serving.log_level)
    sockets: list[socket.socket] = []
    try:
        _make_folder(serving.folder)
        tokens = TokenFile(serving.folder)
        sockets = listen(serving.host, serving.port)
        local = all(is_loopback(one.getsockname()[0]) for one in sockets)
        if not local and not tokens.tokens:
            raise ValueError(
                f"host {serving.host} can be reached by others: create a token first, with "
                f"fullswap token create {serving.folder} --role admin"
            )
        service = open_service(serving.folder, serving.limits)
        try:
            _run(serving, service, Access(tokens, local), log, sockets, ready)
        finally:
            service.close()
        log.write("info", "stopped")
    finally:
        for one in sockets:
            one.close()
        log.close()


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OSError(f"the folder {folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise OSError(f"the folder {folder} must be readable and writable, and is not")


def serve_folder(serving: Serving, ready: Callable[[str], None] | None = None) -> None:
    """Serve what is kept in a folder, until a signal comes."""

    def open_service(folder: str, limits: Limits) -> Any:
        from fullswap.service.service import Service

        service = Service.open(folder, limits)
        # streams stay for good, and messages never refer to each other in a circle
        gc.freeze()
        gc.set_threshold(200_000, 50, 100)
        return service

    serve(serving, open_service, ready)


def _run(
    serving: Serving, service: Any, access: Access, log: Log, sockets: list[socket.socket],
    ready: Callable[[str], None] | None,
) -> None:  # fmt: skip
    desk = Desk(service, log, serving.limits, serving.bounds)
    webhook = None
    if serving.webhook is not None:
        webhook = Webhook(service, serving.webhook, log, serving.page)
        desk.counters = webhook.counters
        webhook.start()
    address = address_of(sockets[0])
    handler = Through(log)
    logger = logging.getLogger("uvicorn")
    logger.addHandler(handler)
    before, logger.propagate = logger.propagate, False
    try:
        server = Server(uvicorn_config(make_app(desk, access), serving.bounds))
        log.write("info", "listening", address=address)
        if ready is not None:
            ready(address)
        server.run(sockets=sockets)
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
        if webhook is not None:
            webhook.close()


def uvicorn_config(app: Any, bounds: Bounds) -> uvicorn.Config:
    """uvicorn, set for requests of unknown clients."""
    http: Any = "h11"
    if is_installed("httptools"):
        from fullswap.service.protocol import CarefulProtocol

        http = CarefulProtocol
    return uvicorn.Config(
        app, http=http, ws="none", lifespan="off", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, limit_concurrency=bounds.connections,
        timeout_keep_alive=KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=DRAIN_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )  # fmt: skip


def address_of(one: socket.socket) -> str:
    """As browsers take it."""
    host, port = one.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
