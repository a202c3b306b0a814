"""The OpenAPI document: what Litestar writes, and what the gate adds to every path."""

from __future__ import annotations

from typing import Any

from fullswap.service import paths

ABOUT = (
    "Calibrated probabilities for many streams: ask for a forecast, say later what happened. "
    "Times are seconds since 1970, probabilities and errors are shares. A missing number is null."
)
ERRORS = {
    400: "What was sent cannot be read.",
    401: "A token is needed.",
    403: "The token's role does not suffice, or a page from elsewhere asks.",
    408: "The body came too slowly.",
    413: "The body is too large, or has too many items.",
    415: "The body is not JSON.",
    500: "Something went wrong in the service.",
    503: "Not now: ask again after the seconds in Retry-After.",
}
REFUSAL = {"$ref": "#/components/schemas/Refusal"}


def document(made: dict[str, Any]) -> dict[str, Any]:
    """The whole document, from the one that Litestar makes."""
    made["info"]["description"] = ABOUT
    made.pop("servers", None)
    components = made.setdefault("components", {})
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for name in ("ForecastAnswers", "OutcomeAnswers"):
        # msgspec has no unions of structs without a tag, so the types cannot say it
        items = components["schemas"][name]["properties"]["items"]
        items["items"] = {"anyOf": [items["items"], REFUSAL]}
    for route, operations in made["paths"].items():
        for method, operation in operations.items():
            _complete(operation, paths.ROUTES[route][method.upper()])
            operation["operationId"] = _identifier(method, route)
    return _relaxed(made)  # type: ignore[no-any-return]


def _relaxed(part: Any) -> Any:
    """Where Litestar asks for exactly one of several schemas, one at least: 1 is a number too."""
    if isinstance(part, dict):
        return {"anyOf" if key == "oneOf" else key: _relaxed(one) for key, one in part.items()}
    return [_relaxed(one) for one in part] if isinstance(part, list) else part


def _complete(operation: dict[str, Any], role: str) -> None:
    """Errors that can come from anywhere, and who may."""
    statuses = [400, 401, 403, 500, 503]
    if "requestBody" in operation:
        statuses += [408, 413, 415]
    if role == paths.OPEN:
        statuses.remove(401)
        operation["security"] = []
    else:
        operation["security"] = [{"token": []}, {}]
        words = operation.get("description", "").strip()
        operation["description"] = f"{words}\n\nNeeds a token of role {role}.".strip()
    answers = operation["responses"]
    for status in statuses:
        # Litestar knows another form of errors; ours is the same everywhere
        if status == 400 or str(status) not in answers:
            answers[str(status)] = _error(ERRORS[status])
    operation["responses"] = dict(sorted(answers.items()))


def _error(words: str) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": REFUSAL}}}


def _identifier(method: str, route: str) -> str:
    """For instance put_specs_name."""
    parts = [part.strip("{}") for part in route.split("/") if part not in ("", "v1")]
    return "_".join([method, *parts])
