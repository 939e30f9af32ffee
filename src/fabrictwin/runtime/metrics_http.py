# SPDX-License-Identifier: Apache-2.0
"""The Prometheus endpoint of a process: ``GET /metrics``, in threads of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from fabrictwin.runtime.failures import PortInUseError
from fabrictwin.telemetry import CONTENT_TYPE

PATH = "/metrics"
SOCKET_TIMEOUT_S = 10
"""A client that sends nothing must not hold a thread for ever."""

Render = Callable[[], Sequence[bytes]]
"""Makes the parts of an answer."""


class MetricsEndpoint:
    """A running endpoint.

    Args:
        host: Address to bind to.
        port: Port; 0: any that is free.
        render: Makes the answer, at every scrape, in a thread of the endpoint.

    Attributes:
        port: The port that it listens on.

    Raises:
        PortInUseError: The port is taken.
    """

    def __init__(self, host: str, port: int, render: Render) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = SOCKET_TIMEOUT_S

            def do_GET(self) -> None:
                _answer(self, render)

            def log_message(self, *_: object) -> None:
                """Scrapes are too many to log."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as error:
            raise PortInUseError(f"{host}:{port}", "metrics", error.strerror or str(error)) from error
        self._server.daemon_threads = True
        self.port = int(self._server.server_port)
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _answer(handler: BaseHTTPRequestHandler, render: Render) -> None:
    if handler.path.partition("?")[0] != PATH:
        handler.send_error(404, f"only {PATH} is here")
        return
    parts = render()
    handler.send_response(200)
    handler.send_header("Content-Type", CONTENT_TYPE)
    handler.send_header("Content-Length", str(sum(map(len, parts))))
    handler.end_headers()
    for part in parts:
        handler.wfile.write(part)
