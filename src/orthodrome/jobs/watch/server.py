"""A run as a page on this machine alone: loopback, a random token in the address, one thing that can be asked for.

    GET  /TOKEN/         the page: one file, which asks for nothing but the next two
    GET  /TOKEN/look     how the run stands
    POST /TOKEN/stop     ask the run to stop in order

Whoever does not know the token gets nothing. The header Host must be the loopback address itself, so that no page of
another site that resolves to it (DNS rebinding) can read or ask.
"""

from __future__ import annotations

import http.server
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthodrome.core.display import shown
from orthodrome.jobs.watch.follow import Follower
from orthodrome.jobs.watch.look import RunLook, figures
from orthodrome.report.page import WATCHING, page
from orthodrome.storage.events import ask_to_stop

POINTS = 300
"""The largest number of events in an answer, evenly spaced."""
SHARE = 1 / 200
"""The largest share of a core that looking takes, however often pages ask: the cores are the run's."""
DRAWN = ("rate", "acceptance", "temperature", "ess", "log_perplexity", "perplexity", "score")


class WatchServer(http.server.ThreadingHTTPServer):
    """The server of one run; address: of its page."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), WatchHandler)
        self.follower, self.token = Follower(folder), secrets.token_urlsafe(24)
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.address = f"http://{self.host}/{self.token}/"
        self.reading, self.answered, self.next_look = threading.Lock(), b"", 0.0
        self.content = page(f"Watching {shown(folder.name)}", "", {"title": shown(str(folder))}, WATCHING)

    def answer(self) -> bytes:
        """Return how the run stands, as the page reads it; one request at a time reads its events."""
        with self.reading:
            if time.monotonic() >= self.next_look:
                began = time.thread_time()
                self.answered = json.dumps(answer(self.follower.look())).encode()
                self.next_look = time.monotonic() + (time.thread_time() - began) / SHARE
            return self.answered

    def stop(self) -> None:
        """Ask the run to stop; the next answer says so."""
        with self.reading:
            ask_to_stop(self.follower.place)
            self.next_look = 0.0


class WatchHandler(http.server.BaseHTTPRequestHandler):
    """The answers to the page."""

    server: WatchServer
    timeout = 20

    def do_GET(self) -> None:
        """Answer with the page, or with how the run stands."""
        if self._wanted("/"):
            self._answer(200, self.server.content, "text/html; charset=utf-8")
        elif self._wanted("/look"):
            self._answer(200, self.server.answer(), "application/json")
        else:
            self._answer(404, b"not found", "text/plain")

    def do_POST(self) -> None:
        """Ask the run to stop."""
        if not self._wanted("/stop") or self.headers.get("Origin") not in (None, f"http://{self.server.host}"):
            return self._answer(404, b"not found", "text/plain")
        self.server.stop()
        self._answer(200, b"{}", "application/json")

    def _wanted(self, path: str) -> bool:
        known = secrets.compare_digest(self.path.encode(), f"/{self.server.token}{path}".encode())
        return known and self.headers.get("Host") == self.server.host

    def _answer(self, code: int, content: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: the terminal shows the run."""


def answer(seen: RunLook) -> dict[str, Any]:
    """Return how a run stands, as the page reads it."""
    step = max(1, -(-len(seen.chunks) // POINTS))
    some = seen.chunks[::-step][::-1]
    lines = {
        name: [[event["done"], event[name]] for event in some if isinstance(event.get(name), int | float)]
        for name in DRAWN
    }
    last = seen.last
    return {
        "state": seen.state,
        "words": shown(seen.words),
        "over": seen.over,
        "can_stop": seen.can_stop,
        "asked": seen.asked,
        "done": last.get("done", 0),
        "planned": last.get("planned", 0),
        "figures": [[name, shown(value)] for name, value in figures(seen)],
        "lines": {name: points for name, points in lines.items() if len(points) > 1},
    }


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[WatchServer]:
    """Serve the page of a run in a thread until the block ends."""
    with WatchServer(folder, port) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
