"""The client for programs on an event loop, on httpx."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from fullswap.base.extras import is_installed
from fullswap.client import calls
from fullswap.client.answers import ItemError, ServedForecast, ServiceError, SettledOutcome
from fullswap.client.calls import Call, Retries

if TYPE_CHECKING:
    import httpx


class AsyncClient:
    """Asks a service for forecasts and tells it outcomes, without blocking: see ``Client``.

    Parameters
    ----------
    url : str
        Of the service, for instance "http://localhost:8642".
    token : str or None
        From ``fullswap token create``, where the service needs one.
    timeout : float
        Seconds to wait for a connection or an answer.
    retries : int
        How often a request is repeated that got no answer, or was told to come again.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 30.0, retries: int = 5
    ) -> None:
        if not is_installed("httpx"):
            raise ImportError("AsyncClient needs its extra: pip install 'fullswap[client]'")
        import httpx

        self.url = calls.check_address(url, token)
        self.timeout, self.retries = timeout, retries
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http: httpx.AsyncClient = httpx.AsyncClient(
            headers=headers, timeout=timeout, trust_env=False
        )
        self._no_answer = (httpx.TransportError,)

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def forecast(
        self, stream: str, p: Any = None, spec: str | None = None, event: str | None = None,
        id: str | None = None, groups: list[str] | None = None,
    ) -> ServedForecast:  # fmt: skip
        """One forecast; raises ``ItemError`` if it is refused."""
        item = calls.forecast_item(stream, p, spec, event, id, groups)
        return await self._do(calls.one_of(calls.forecasts([item])))  # type: ignore[no-any-return]

    async def forecasts(
        self, items: Iterable[Mapping[str, Any]]
    ) -> list[ServedForecast | ItemError]:
        """Many at once, each a dictionary with the arguments of ``forecast``; answers in order."""
        return await self._do(calls.forecasts(items))  # type: ignore[no-any-return]

    async def outcome(
        self, outcome: Any, id: str | None = None, event: str | None = None,
        stream: str | None = None, weight: float = 1.0,
    ) -> SettledOutcome:  # fmt: skip
        """What happened: of the forecast with this id, or of an event. None: it never will."""
        item = calls.outcome_item(outcome, id, event, stream, weight)
        return await self._do(calls.one_of(calls.outcomes([item])))  # type: ignore[no-any-return]

    async def outcomes(
        self, items: Iterable[Mapping[str, Any]]
    ) -> list[SettledOutcome | ItemError]:
        """Many at once, each a dictionary with the arguments of ``outcome``; answers in order."""
        return await self._do(calls.outcomes(items))  # type: ignore[no-any-return]

    async def put_spec(self, name: str, **settings: Any) -> dict[str, Any]:
        """Make a spec; nothing changes if the same is there, another one is an error."""
        return await self._do(calls.put_spec(name, settings))  # type: ignore[no-any-return]

    async def specs(self) -> list[dict[str, Any]]:
        """All specs."""
        return await self._do(calls.specs())  # type: ignore[no-any-return]

    async def streams(
        self, search: str | None = None, verdict: str | None = None, alarm: bool | None = None,
        sort: str | None = None, descending: bool | None = None, limit: int = 100, offset: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """A page of the list of streams, with counts over all of them."""
        return await self._do(calls.streams(  # type: ignore[no-any-return]
            search=search, verdict=verdict, alarm=alarm, sort=sort, descending=descending,
            limit=limit, offset=offset,
        ))  # fmt: skip

    async def stream(self, stream: str) -> dict[str, Any]:
        """Everything about one stream."""
        return await self._do(calls.stream(stream))  # type: ignore[no-any-return]

    async def delete(self, stream: str) -> None:
        """Remove a stream with all that was learnt."""
        await self._do(calls.delete(stream))

    async def alarms(self) -> list[dict[str, Any]]:
        """Active alarms, newest first."""
        return await self._do(calls.alarms())  # type: ignore[no-any-return]

    async def acknowledge(self, stream: str) -> None:
        """Somebody has seen the alarm of this stream."""
        await self._do(calls.acknowledge(stream))

    async def export(self, stream: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """All forecasts, or those of one stream, with their outcomes, one by one."""
        call = calls.export(stream)
        try:
            async with self._http.stream(call.method, self.url + call.path) as answer:
                if answer.status_code != 200:
                    raise calls.error_of(answer.status_code, await answer.aread())
                async for line in answer.aiter_lines():
                    yield json.loads(line)
        except (*self._no_answer, ValueError) as error:
            raise ServiceError(f"the export broke off: {_words(error)}", "broken-off") from error

    async def health(self) -> dict[str, Any]:
        """Whether the service works: "status" is "ok" or "failing"."""
        return await self._do(calls.health())  # type: ignore[no-any-return]

    async def _do(self, call: Call) -> Any:
        """Send, and send again where that may help."""
        tries = Retries(self.retries)
        content = call.content()
        kind = {} if content is None else {"Content-Type": "application/json"}
        while True:
            status, asked = None, None
            try:
                answer = await self._http.request(
                    call.method, self.url + call.path, content=content, headers=kind
                )
            except self._no_answer as error:
                trouble: ServiceError = ServiceError(
                    f"there is no answer from {self.url}: {_words(error)}"
                )
            else:
                status, asked = answer.status_code, answer.headers.get("Retry-After")
                if status not in calls.AGAIN or call.stays_failing:
                    return call.read(status, answer.content, tries.done > 0)
                trouble = calls.error_of(status, answer.content)
            pause = tries.pause(status, asked)
            if pause is None:
                raise trouble
            await asyncio.sleep(pause)


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
