"""Logs say what happened, never what was sent; metrics count it."""

import io
import json
import logging
import re

import pytest

from fullswap.service import logs
from fullswap.service.bounds import Bounds
from fullswap.service.logs import Log, Through
from fullswap.service.metrics import escaped
from fullswap.service.tokens import create_token
from service.conftest import Lines, site
from service.fake import FakeService

SECRET = "hush-hush"


def test_lines_have_no_payload_no_name_no_id_and_no_token(tmp_path):
    token, _ = create_token(tmp_path, "admin", "loader")
    with site(FakeService(), tmp_path) as made:
        item = {"stream": SECRET, "id": SECRET + "2", "event": SECRET + "3", "p": 0.123456}
        calls = [
            ("POST", "/v1/forecasts", {"items": [item, {"stream": 1, SECRET: 2}]}),
            ("POST", "/v1/forecasts", {"items": [{**item, "stream": "broken", "id": None}]}),
            ("POST", "/v1/outcomes", {"items": [{"id": SECRET, "outcome": 1}]}),
            ("POST", "/v1/outcomes", b'{"items": "' + SECRET.encode() + b'"}'),
            ("GET", f"/v1/streams/{SECRET}", None), ("DELETE", f"/v1/streams/{SECRET}", None),
            ("GET", f"/v1/streams?search={SECRET}", None), ("GET", f"/{SECRET}", None),
            (SECRET.upper(), "/v1/streams", None),
        ]  # fmt: skip
        for method, path, body in calls:
            made.ask(method, path, body, {"Content-Type": "application/json"}, token)
        made.ask("GET", "/v1/streams", token=SECRET)
    text = made.lines.text
    assert SECRET not in text.lower() and token not in text and "0.123456" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    first = next(line for line in lines if line["event"] == "request")
    assert set(first) == {
        "time", "level", "event", "request", "method", "path", "status", "ms", "items", "token"
    }  # fmt: skip
    assert (first["method"], first["path"], first["status"]) == ("POST", "/v1/forecasts", 200)
    assert (first["items"], first["token"]) == (2, "loader")
    paths = {line["path"] for line in lines if line["event"] == "request"}
    assert paths == {
        "/v1/forecasts",
        "/v1/outcomes",
        "/v1/streams/{stream}",
        "/v1/streams",
        "other",
    }


@pytest.mark.parametrize("level, count", [("info", 2), ("warning", 0), ("debug", 2)])
def test_levels(tmp_path, level, count):
    with site(FakeService(), tmp_path, level=level) as made:
        made.ask("GET", "/healthz")
        made.ask("GET", "/v1/no")
    assert made.lines.text.count('"event":"request"') == count


def test_messages_of_errors_are_for_debugging_alone():
    for level, said in (("info", False), ("debug", True)):
        out = Lines()
        log = Log(level, out)
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            log.trouble("error", error)
        log.close()
        assert (SECRET in out.text) is said and "ValueError" in out.text


def test_what_libraries_log_is_json_too():
    out = Lines()
    log = Log("info", out)
    logger = logging.Logger("some.library")
    logger.addHandler(Through(log))
    logger.info("hello")
    logger.error("trouble")
    try:
        raise RuntimeError("x")
    except RuntimeError:
        logger.exception("more")
    log.close()
    lines = [json.loads(line) for line in out.text.splitlines()]
    assert [line.get("message") for line in lines] == ["trouble", None]
    assert lines[1]["error"] == "RuntimeError"


def test_a_log_that_nobody_reads_stops_nothing(monkeypatch):
    closed = io.StringIO()
    closed.close()
    log = Log("info", closed)
    log.write("info", "lost")
    log.close()
    assert log.dropped == 1
    monkeypatch.setattr(logs, "MOST_WAITING", 1)
    monkeypatch.setattr(logs, "EVERY", 60)
    log = Log("info", Lines())
    for _ in range(3):
        log.write("info", "many")
    assert log.dropped == 2
    log.close()
    with pytest.raises(ValueError, match="log level"):
        Log("loud")


LINE = re.compile(
    r'^[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? -?[0-9.e+-]+(inf|nan)?$'
)


def numbers_of(made):
    answer = made.ask("GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.content.decode().split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.match(line), line
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"
    }


def test_metrics_count_requests_items_and_times(any_site):
    any_site.ask("GET", "/v1/metrics-of-nothing")
    before = numbers_of(any_site)
    any_site.ask("POST", "/v1/forecasts", {"items": [{"stream": "counted", "p": 0.5}, {"p": 1}]})
    after = numbers_of(any_site)
    path = '{path="/v1/forecasts",method="POST",status="200"}'
    assert after["fullswap_requests_total" + path] >= 1
    for result in ("taken", "refused"):
        name = f'fullswap_items_total{{path="/v1/forecasts",result="{result}"}}'
        assert after[name] - before.get(name, 0) == 1
    bucket = 'fullswap_request_seconds_bucket{path="/v1/forecasts",le="+Inf"}'
    assert after[bucket] == after['fullswap_request_seconds_count{path="/v1/forecasts"}']
    assert after["fullswap_requests_at_once"] == 1 and after["fullswap_waiting_items"] == 0
    assert after['fullswap_requests_total{path="other",method="GET",status="404"}'] >= 1
    assert after['fullswap_stream_pending{stream="counted"}'] == 1


def test_numbers_of_streams_are_bounded_and_ringing_ones_come_first(tmp_path):
    with site(FakeService(), tmp_path, bounds=Bounds(metric_streams=3)) as made:
        odd = 'a"b\\c\nd'
        items = [{"stream": f"s{k}", "p": 0.5} for k in range(10)] + [{"stream": odd}]
        made.ask("POST", "/v1/forecasts", {"items": items})
        made.service.engine.ring(odd)
        found = numbers_of(made)
        named = [name for name in found if name.startswith("fullswap_stream_alarm{")]
        assert len(named) == 3
        assert found[f'fullswap_stream_alarm{{stream="{escaped(odd)}"}}'] == 1
        assert found["fullswap_commits_total"] == 11
