"""The client for programs that wait, with nothing but the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from fullswap.client import calls
from fullswap.client.answers import ItemError, ServedForecast, ServiceError, SettledOutcome
from fullswap.client.calls import Call, Retries

NO_ANSWER = (OSError, http.client.HTTPException)


class Client:
    """Asks a service for forecasts and tells it outcomes.

    Connections are kept and used again; several threads may use one client.

    Parameters
    ----------
    url : str
        Of the service, for instance "http://localhost:8642".
    token : str or None
        From ``fullswap token create``, where the service needs one.
    timeout : float
        Seconds to wait for a connection or an answer.
    retries : int
        How often a request is repeated that got no answer, or was told to come again. Ids make
        that safe: nothing is done twice.

    Examples
    --------
    >>> with Client("http://localhost:8642", retries=0) as client:
    ...     client.forecast("north", p=0.7)  # doctest: +SKIP
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 30.0, retries: int = 5
    ) -> None:
        self.url = calls.check_address(url, token)
        self.timeout, self.retries = timeout, retries
        self._parts = urlsplit(self.url)
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._idle: list[http.client.HTTPConnection] = []

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        while self._idle:
            self._idle.pop().close()

    def forecast(
        self, stream: str, p: Any = None, spec: str | None = None, event: str | None = None,
        id: str | None = None, groups: list[str] | None = None,
    ) -> ServedForecast:  # fmt: skip
        """One forecast; ``p`` is what the model says, or a list where there are several.

        Raises ``ItemError`` if it is refused.
        """
        item = calls.forecast_item(stream, p, spec, event, id, groups)
        return self._do(calls.one_of(calls.forecasts([item])))  # type: ignore[no-any-return]

    def forecasts(self, items: Iterable[Mapping[str, Any]]) -> list[ServedForecast | ItemError]:
        """Many at once, each a dictionary with the arguments of ``forecast``; answers in order."""
        return self._do(calls.forecasts(items))  # type: ignore[no-any-return]

    def outcome(
        self, outcome: Any, id: str | None = None, event: str | None = None,
        stream: str | None = None, weight: float = 1.0,
    ) -> SettledOutcome:  # fmt: skip
        """What happened: of the forecast with this id, or of an event. None: it never will.

        Raises ``ItemError`` if it is refused.
        """
        item = calls.outcome_item(outcome, id, event, stream, weight)
        return self._do(calls.one_of(calls.outcomes([item])))  # type: ignore[no-any-return]

    def outcomes(self, items: Iterable[Mapping[str, Any]]) -> list[SettledOutcome | ItemError]:
        """Many at once, each a dictionary with the arguments of ``outcome``; answers in order."""
        return self._do(calls.outcomes(items))  # type: ignore[no-any-return]

    def put_spec(self, name: str, **settings: Any) -> dict[str, Any]:
        """Make a spec; nothing changes if the same is there, another one is an error."""
        return self._do(calls.put_spec(name, settings))  # type: ignore[no-any-return]

    def specs(self) -> list[dict[str, Any]]:
        """All specs."""
        return self._do(calls.specs())  # type: ignore[no-any-return]

    def streams(
        self, search: str | None = None, verdict: str | None = None, alarm: bool | None = None,
        sort: str | None = None, descending: bool | None = None, limit: int = 100, offset: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """A page of the list of streams, with counts over all of them."""
        return self._do(calls.streams(  # type: ignore[no-any-return]
            search=search, verdict=verdict, alarm=alarm, sort=sort, descending=descending,
            limit=limit, offset=offset,
        ))  # fmt: skip

    def stream(self, stream: str) -> dict[str, Any]:
        """Everything about one stream."""
        return self._do(calls.stream(stream))  # type: ignore[no-any-return]

    def delete(self, stream: str) -> None:
        """Remove a stream with all that was learnt."""
        self._do(calls.delete(stream))

    def alarms(self) -> list[dict[str, Any]]:
        """Active alarms, newest first."""
        return self._do(calls.alarms())  # type: ignore[no-any-return]

    def acknowledge(self, stream: str) -> None:
        """Somebody has seen the alarm of this stream."""
        self._do(calls.acknowledge(stream))

    def export(self, stream: str | None = None) -> Iterator[dict[str, Any]]:
        """All forecasts, or those of one stream, with their outcomes, one by one."""
        connection, answer = self._open(calls.export(stream))
        try:
            while line := answer.readline():
                yield json.loads(line)
        except (*NO_ANSWER, ValueError) as error:
            raise ServiceError(f"the export broke off: {_words(error)}", "broken-off") from error
        finally:
            connection.close()
            answer.close()

    def health(self) -> dict[str, Any]:
        """Whether the service works: "status" is "ok" or "failing"."""
        return self._do(calls.health())  # type: ignore[no-any-return]

    def _do(self, call: Call) -> Any:
        """Send, and send again where that may help."""
        tries = Retries(self.retries)
        content = call.content()
        while True:
            status, asked = None, None
            try:
                connection, answer = self._send(call, content)
                body = _whole(connection, answer)
            except NO_ANSWER as error:
                trouble: ServiceError = ServiceError(
                    f"there is no answer from {self.url}: {_words(error)}"
                )
            else:
                self._keep(connection, answer)
                status, asked = answer.status, answer.headers["Retry-After"]
                if status not in calls.AGAIN or call.stays_failing:
                    return call.read(status, body, tries.done > 0)
                trouble = calls.error_of(status, body)
            pause = tries.pause(status, asked)
            if pause is None:
                raise trouble
            time.sleep(pause)

    def _send(
        self, call: Call, content: bytes | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        kind = {} if content is None else {"Content-Type": "application/json"}
        path = self._parts.path + call.path
        with contextlib.suppress(IndexError):
            kept = self._idle.pop()
            try:
                return self._ask(kept, call.method, path, content, kind)
            except NO_ANSWER:  # the service has closed it meanwhile: a new one says more
                pass
        return self._ask(self._connect(), call.method, path, content, kind)

    def _ask(
        self, connection: http.client.HTTPConnection, method: str, path: str,
        content: bytes | None, kind: dict[str, str],
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:  # fmt: skip
        try:
            connection.request(method, path, content, {**self._headers, **kind})
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def _connect(self) -> http.client.HTTPConnection:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=self.timeout)

    def _keep(
        self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse
    ) -> None:
        if answer.will_close:
            connection.close()
        else:
            self._idle.append(connection)

    def _open(self, call: Call) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """An answer that is read bit by bit."""
        try:
            connection, answer = self._send(call, None)
            if answer.status == 200:
                return connection, answer
            content = _whole(connection, answer)
        except NO_ANSWER as error:
            raise ServiceError(f"there is no answer from {self.url}: {_words(error)}") from error
        connection.close()
        raise calls.error_of(answer.status, content)


def _whole(connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read()
    except BaseException:
        connection.close()
        answer.close()
        raise


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
