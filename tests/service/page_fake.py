"""A service that is none: the page's own files, and made-up answers to what it asks."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

import fullswap.service
from service.page_data import NOW, RUN_LENGTH, VERDICTS, Streams

PAGE = Path(fullswap.service.__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}  # fmt: skip
POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


class Fake:
    """What the service knows, how it behaves, and what it was asked."""

    def __init__(self):
        self.worlds = {}
        self.reset()

    def reset(self, count=300, tokens=None):
        """So many streams; tokens, each with its role; everything else as at first."""
        if count not in self.worlds:
            self.worlds[count] = Streams(count)
        self.streams = self.worlds[count]
        self.streams.acknowledged.clear()
        self.tokens = tokens or {}
        self.failing = False
        self.asked = []

    def role(self, authorization):
        """What this header may do; None: nothing."""
        if not self.tokens:
            return "admin"
        return self.tokens.get((authorization or "").removeprefix("Bearer "))

    def list(self, query):
        s = self.streams
        sort = query.get("sort", "certain")
        columns = {
            "certain": s.certain, "error": s.error, "evidence": s.most, "events": s.events,
            "pending": s.pending, "oldest_pending": s.oldest_pending, "last_event": s.last_event,
            "alarm": s.alarm, "verdict": s.verdict,
        }  # fmt: skip
        values = np.array(s.names) if sort == "stream" else columns[sort]
        order = np.argsort(values, kind="stable")
        if query.get("descending", "true") == "true":
            order = order[::-1]
        if "verdict" in query:
            order = order[s.verdict[order] == VERDICTS.index(query["verdict"])]
        if query.get("alarm") == "true":
            order = order[s.alarm[order] > 0]
        if "search" in query:
            order = [k for k in order if query["search"].lower() in s.names[k].lower()]
        limit, offset = int(query.get("limit", 100)), int(query.get("offset", 0))
        counts = {name: int((s.verdict == code).sum()) for code, name in enumerate(VERDICTS)}
        events, rung = int(s.events.sum()), int((s.alarm > 0).sum())
        return {
            "streams": [s.row(int(k)) for k in order[offset : offset + limit]],
            "total": s.count, "matching": len(order), "time": NOW,
            "counts": counts | {"alarms": rung, "pending": int(s.pending.sum())},
            "budget": {
                "streams": s.count, "run_length": RUN_LENGTH, "events": events, "rung": rung,
                "expected": events / RUN_LENGTH, "unacknowledged": rung - len(s.acknowledged),
                "text": f"one false alarm in {RUN_LENGTH:,} events of a stream; {s.count:,} "
                f"streams are watched: expect one in {RUN_LENGTH:,} events of all of them",
            },
        }  # fmt: skip

    def acknowledge(self, name):
        place = self.streams.place.get(name)
        if place is None or not self.streams.alarm[place]:
            return 404, refusal("unknown", "There is no active alarm of this stream.")
        self.streams.acknowledged.add(place)
        return 200, {"stream": name, "acknowledged": True}


def refusal(code, message):
    return {"error": {"code": code, "message": message}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self):
        return self.server.fake

    def log_message(self, *words):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(NOW)

    def send(self, status, content, kind="application/json"):
        body = json.dumps(content).encode() if isinstance(content, dict) else content
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def allowed(self, roles):
        role = self.fake.role(self.headers.get("Authorization"))
        if role is None:
            self.send(401, refusal("token", "A token is needed."))
        elif role not in roles:
            self.send(403, refusal("role", "The role of this token does not allow this."))
        return role in roles

    def do_GET(self):
        parts = urlsplit(self.path)
        path = parts.path
        if path == "/" or path.startswith("/static/"):
            file = PAGE / (path.removeprefix("/static/") if path != "/" else "index.html")
            if not file.is_file():
                return self.send(404, refusal("unknown", "There is no such file."))
            return self.send(200, file.read_bytes(), TYPES[file.suffix])
        self.fake.asked.append(self.path)
        if self.fake.failing:
            return self.send(503, refusal("unavailable", "The disk is full."))
        if not self.allowed(("read", "forecast", "admin")):
            return None
        if path == "/v1/streams":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            return self.send(200, self.fake.list(query))
        place = self.fake.streams.place.get(unquote(path.removeprefix("/v1/streams/")))
        if place is None:
            return self.send(404, refusal("unknown", "There is no such stream."))
        return self.send(200, self.fake.streams.detail(place))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fake.asked.append(self.path)
        if self.allowed(("forecast", "admin")):
            self.send(*self.fake.acknowledge(body["stream"]))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A browser that leaves in the middle is no error."""


@contextmanager
def serving():
    """The fake and its address."""
    server = Server(("127.0.0.1", 0), Handler)
    server.fake = Fake()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.fake, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
