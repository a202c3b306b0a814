"""The service's paths as a Litestar application, behind the gate.

Why Litestar: it writes the OpenAPI document from the same msgspec types that decode and encode
the messages, and it is fast: on one core about 5,000 small requests a second, where FastAPI
answers 3,000 and bare Starlette 7,600. The two paths that carry the load are here only for the
document: `gate` answers them.

Handlers are thin. Everything that needs state is asked of the engine on its own thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from litestar import Litestar, Request, Response, delete, get, post, put
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi import ResponseSpec
from litestar.openapi.config import OpenAPIConfig
from litestar.params import FromPath, JSONBody
from litestar.response import Stream

from fullswap import __version__
from fullswap.service import paths, shapes
from fullswap.service.access import Access
from fullswap.service.answers import Gone, HttpError, encode, unavailable
from fullswap.service.gate import Desk, Gate
from fullswap.service.messages import Refusal, SpecBody, refusal
from fullswap.service.metrics import CONTENT_TYPE
from fullswap.service.openapi import document
from fullswap.service.page_files import PageFiles
from fullswap.service.problems import Conflict, Unavailable
from fullswap.service.shapes import optional_query as query

Plain = Request[Any, Any, State]
PAGE_ROWS = 2_000
"""Forecasts of an export that are read at once: the writer does other things in between."""


def as_json(content: Any, status: int = 200) -> Response[Any]:
    """A whole answer."""
    return Response(encode(content), status_code=status, media_type="application/json")


def desk_of(request: Plain) -> Desk:
    """What all handlers share."""
    return request.app.state.desk  # type: ignore[no-any-return]


@post(paths.FORECASTS, status_code=200, summary="Ask for forecasts", tags=["forecasts"])
async def forecasts(data: JSONBody[shapes.Forecasts]) -> shapes.ForecastAnswers:
    """One answer for each item, in the same order: a forecast, or why there is none.

    An id that was used before gets the forecast that was issued then: repeat a request whose
    answer was lost.
    """
    raise HttpError(500, "internal", "the gate answers this")


@post(paths.OUTCOMES, status_code=200, summary="Say what happened", tags=["forecasts"])
async def outcomes(data: JSONBody[shapes.Outcomes]) -> shapes.OutcomeAnswers:
    """One answer for each item, in the same order. The same outcome again changes nothing."""
    raise HttpError(500, "internal", "the gate answers this")


@put(
    "/v1/specs/{name:str}", status_code=201, summary="Create a spec", tags=["specs"],
    responses={
        200: ResponseSpec(shapes.SpecShape, description="The same spec is there already."),
        409: ResponseSpec(Refusal, description="Another spec of this name is there."),
    },
)  # fmt: skip
async def put_spec(
    request: Plain, name: FromPath[str], data: JSONBody[SpecBody]
) -> Response[shapes.SpecShape]:
    """Of which kind streams are. What is left out gets its default."""
    wanted = paths.name_of(name)
    try:
        new, spec = await desk_of(request).ask(lambda engine: engine.put_spec(wanted, data))
    except Conflict as error:
        raise HttpError(409, "conflict", str(error)) from None
    except ValueError as error:  # settings that do not go together; messages are made for users
        raise HttpError(400, "invalid", str(error)) from None
    return as_json(spec, 201 if new else 200)


@get("/v1/specs", summary="All specs", tags=["specs"])
async def specs(request: Plain) -> Response[shapes.Specs]:
    """With the number of their streams."""
    return as_json({"specs": await desk_of(request).ask(lambda engine: engine.specs())})


@get(
    "/v1/specs/{name:str}", summary="One spec", tags=["specs"],
    responses={404: ResponseSpec(Refusal, description="There is none of this name.")},
)  # fmt: skip
async def spec(request: Plain, name: FromPath[str]) -> Response[shapes.SpecShape]:
    """As it is kept."""
    wanted = paths.name_of(name)
    found = await desk_of(request).ask(
        lambda engine: next((one for one in engine.specs() if one["name"] == wanted), None)
    )
    if found is None:
        raise HttpError(404, "not_found", "there is no spec of this name")
    return as_json(found)


@get("/v1/streams", summary="Streams, the worst first", tags=["streams"])
async def streams(
    request: Plain,
    search: Annotated[str, query("A part of the name.", max_length=200)] = "",
    verdict: Annotated[shapes.Verdict | None, query("Only streams with this verdict.")] = None,
    alarm: Annotated[bool, query("Only streams with an active alarm.")] = False,
    sort: Annotated[shapes.Sort, query("By what they are ordered.")] = "certain",
    descending: Annotated[bool, query("Largest first.")] = True,
    limit: Annotated[int, query("How many.", ge=1, le=1_000)] = 100,
    offset: Annotated[int, query("How many to leave out.", ge=0, le=1_000_000_000)] = 0,
) -> Response[shapes.Streams]:
    """A page of the list, with counts over all streams."""
    wanted = {
        "search": search, "verdict": verdict, "alarm": alarm, "sort": sort,
        "descending": descending, "limit": limit, "offset": offset,
    }  # fmt: skip
    return as_json(await desk_of(request).ask(lambda engine: engine.streams(**wanted)))


@get(
    "/v1/streams/{stream:str}", summary="One stream", tags=["streams"],
    responses={404: ResponseSpec(Refusal, description="There is none of this name.")},
)  # fmt: skip
async def stream(request: Plain, stream: FromPath[str]) -> Response[shapes.StreamShape]:
    """Everything about it. Percent-encode the name: it may have any characters."""
    name = paths.name_of(stream)
    found = await desk_of(request).ask(lambda engine: engine.stream(name))
    if found is None:
        raise HttpError(404, "not_found", "there is no stream of this name")
    return as_json(found)


@delete(
    "/v1/streams/{stream:str}", status_code=204, summary="Remove a stream", tags=["streams"],
    responses={404: ResponseSpec(Refusal, description="There is none of this name.")},
)  # fmt: skip
async def remove(request: Plain, stream: FromPath[str]) -> None:
    """With all that was learnt."""
    name = paths.name_of(stream)
    if not await desk_of(request).ask(lambda engine: engine.delete(name)):
        raise HttpError(404, "not_found", "there is no stream of this name")


@get("/v1/alarms", summary="Active alarms", tags=["alarms"])
async def alarms(request: Plain) -> Response[shapes.Alarms]:
    """Newest first."""
    return as_json({"alarms": await desk_of(request).ask(lambda engine: engine.alarms())})


@post(
    "/v1/alarms/acknowledge", status_code=200, summary="An alarm was seen", tags=["alarms"],
    responses={404: ResponseSpec(Refusal, description="This stream has no active alarm.")},
)  # fmt: skip
async def acknowledge(
    request: Plain, data: JSONBody[shapes.Which]
) -> Response[shapes.Acknowledged]:
    """It rings again only for something new."""
    if not await desk_of(request).ask(lambda engine: engine.acknowledge(data.stream)):
        raise HttpError(404, "not_found", "there is no stream of this name with an active alarm")
    return as_json({"stream": data.stream, "acknowledged": True})


@get(
    "/v1/export", media_type="application/x-ndjson", summary="All forecasts", tags=["forecasts"],
    responses={404: ResponseSpec(Refusal, description="There is none of this name.")},
)  # fmt: skip
async def export(
    request: Plain, stream: Annotated[str | None, query("Only this one.")] = None
) -> Stream:
    """One forecast a line, with its outcome where it is known."""
    desk = desk_of(request)

    async def part(after: int) -> tuple[bytes, int | None]:
        rows, cursor = await desk.ask(lambda engine: engine.export(stream, after, PAGE_ROWS))
        return b"".join(encode(row) + b"\n" for row in rows), cursor

    try:  # before the answer begins: what fails here has a status
        first, following = await part(0)
    except KeyError:
        raise HttpError(404, "not_found", "there is no stream of this name") from None

    async def pages() -> AsyncIterator[bytes]:
        yield first
        after = following
        while after is not None:
            content, after = await part(after)
            yield content

    return Stream(pages(), media_type="application/x-ndjson")


@get(
    "/healthz", summary="Is it well?", tags=["service"],
    responses={503: ResponseSpec(shapes.Health, description="It cannot keep what it learns.")},
)  # fmt: skip
async def healthz(request: Plain) -> Response[shapes.Health]:
    """For probes: no token is needed."""
    desk = desk_of(request)
    frame = {"version": __version__, "uptime": max(0.0, desk.clock() - desk.begun)}
    try:
        found = await desk.ask(lambda engine: engine.health(), seconds=5.0)
    except (Unavailable, HttpError) as error:
        return as_json({"status": "failing", **frame, "reason": str(error)}, 503)
    answer = {"status": "ok", **frame, **found}
    return as_json(answer, 200 if answer["status"] == "ok" else 503)


@get("/metrics", media_type=CONTENT_TYPE, summary="Numbers for Prometheus", tags=["service"])
async def metrics(request: Plain) -> Response[str]:
    """In its text format; of streams, those with an alarm and the worst."""
    desk = desk_of(request)
    most = desk.bounds.metric_streams

    def question(engine: Any) -> tuple[dict[str, float], list[dict[str, Any]]]:
        if not most:
            return engine.numbers(), []
        ringing = engine.streams(alarm=True, sort="evidence", limit=most)["streams"]
        worst = engine.streams(sort="evidence", limit=most)["streams"]
        rows = {row["stream"]: row for row in [*ringing, *worst]}
        return engine.numbers(), list(rows.values())[:most]

    numbers, rows = await desk.ask(question)
    more = {"fullswap_log_lines_dropped_total": desk.log.dropped, **desk.counters()}
    return Response(desk.metrics.render(numbers, rows, more), media_type=CONTENT_TYPE)


@get("/openapi.json", include_in_schema=False)
async def openapi(request: Plain) -> Response[bytes]:
    """What stands here, for programs."""
    return Response(request.app.state.document, media_type="application/json")


@get("/", include_in_schema=False)
async def page(request: Plain) -> Response[bytes]:
    """The page."""
    return files_of(request).answer(request, "index.html")


@get("/static/{file:str}", include_in_schema=False)
async def page_part(request: Plain, file: FromPath[str]) -> Response[bytes]:
    """What the page is made of."""
    return files_of(request).answer(request, paths.name_of(file))


def files_of(request: Plain) -> PageFiles:
    """The page's files."""
    return request.app.state.files  # type: ignore[no-any-return]


def _refused(request: Plain, error: HttpError) -> Response[Any]:
    headers = {name.decode(): value.decode() for name, value in error.headers}
    content = encode(refusal(error.code, error.message))
    return Response(
        content, status_code=error.status, media_type="application/json", headers=headers
    )


def _unavailable(request: Plain, error: Unavailable) -> Response[Any]:
    return _refused(request, unavailable(str(error) or "the service is closing"))


def _framework(request: Plain, error: HTTPException) -> Response[Any]:
    """What Litestar refuses: parameters and bodies that are not as the document says."""
    parts = error.extra if isinstance(error.extra, list) else []
    said = [f"{one.get('key', 'the body')}: {one['message']}" for one in parts if "message" in one]
    code = {400: "invalid", 404: "not_found", 405: "method_not_allowed"}
    words = "; ".join(said) or ("the body cannot be read" if error.status_code == 400 else "")
    return _refused(
        request, HttpError(error.status_code, code.get(error.status_code, "refused"), words)
    )


def _unforeseen(request: Plain, error: Exception) -> Response[Any]:
    raise error  # the gate logs it, and says nothing of it to the client


HANDLERS = [
    forecasts, outcomes, put_spec, specs, spec, streams, stream, remove, alarms, acknowledge,
    export, healthz, metrics, openapi, page, page_part,
]  # fmt: skip


def make_app(desk: Desk, access: Access) -> Gate:
    """The whole service as one ASGI application."""
    config = OpenAPIConfig(title="fullswap", version=__version__, render_plugins=[])
    inner = Litestar(
        HANDLERS, openapi_config=config, logging_config=None, debug=False,
        exception_handlers={
            HttpError: _refused, Unavailable: _unavailable, Gone: _unforeseen,
            HTTPException: _framework, Exception: _unforeseen,
        },
    )  # fmt: skip
    inner.state.desk = desk
    inner.state.files = PageFiles.read()
    inner.state.document = encode(document(inner.openapi_schema.to_schema()))
    return Gate(inner, desk, access)
