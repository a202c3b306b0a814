"""The OpenAPI document says what the service does, and nothing that it says breaks the service."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fullswap.service.paths import OPEN, ROUTES

UNLISTED = ("/", "/static/{file}", "/openapi.json")
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip


BOUNDED = settings(
    max_examples=5, derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.mark.parametrize("mode", GenerationMode)
def test_whatever_comes_is_answered_as_the_document_says(any_site, mode):
    any_site.forecast(stream="north", id="api", p=0.5)
    api = schemathesis.openapi.from_url(f"{any_site.address}/openapi.json")
    checked = set()
    for found in api.get_all_operations():
        operation = found.ok()

        @BOUNDED
        @given(operation.as_strategy(generation_mode=mode))
        def answered(case):
            case.call_and_validate(checks=CHECKS, timeout=20)

        try:
            answered()
            checked.add(operation.label)
        except Unsatisfiable:  # nothing is wrong that could be sent there
            assert mode.is_negative
    assert len(checked) == (6 if mode.is_negative else 13)


def test_the_document_has_every_path(any_site):
    document = any_site.ask("GET", "/openapi.json").json()
    listed = {
        (path, method.upper()) for path, methods in document["paths"].items() for method in methods
    }
    known = {(path, method) for path, methods in ROUTES.items() for method in methods}
    assert listed == {one for one in known if one[0] not in UNLISTED}
    assert document["openapi"].startswith("3.1")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            bare = ROUTES[path][method.upper()] == OPEN
            assert operation["security"] == ([] if bare else [{"token": []}, {}])
            assert {"500", "503"} <= set(operation["responses"])


def test_the_document_names_nothing_of_the_inside(any_site):
    text = json.dumps(any_site.ask("GET", "/openapi.json").json())
    assert "detail" not in text.lower().split('"') and "status_code" not in text
    assert "http://" not in text and "https://" not in text
