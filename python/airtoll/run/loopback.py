"""An HTTP server for one person on this machine: loopback only, with a secret in the path.

Takes documents by name; gives them to requests whose path has the token and whose ``Host`` is this
server. Another user of the machine lacks the token. A web page of another site that resolves its
name to 127.0.0.1 (DNS rebinding) has another ``Host``.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from attrs import frozen

from airtoll.errors import UsageError

ADDRESS: Final = "127.0.0.1"

#: Nothing from elsewhere, no frame around the page, no address of the page in a request elsewhere.
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; img-src data:; "
    "connect-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@frozen
class Document:
    """The answer to a request: a media type and text; ``sent`` is called when it has left."""

    kind: str
    text: str
    sent: Callable[[], None] | None = None


#: Name in the path -> its document at the time of the request.
Documents = Mapping[str, Callable[[], Document]]


class Loopback:
    """A running server; a context manager. ``port`` 0 takes a free one.

    Raises ``UsageError`` where the port is taken.
    """

    def __init__(self, documents: Documents, port: int = 0) -> None:
        self._documents = documents
        self._token = secrets.token_urlsafe(24)
        try:
            self._server = _Server((ADDRESS, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"port {port} of {ADDRESS}: {error.strerror or error}; leave the port out to take "
                "a free one"
            ) from error
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, name="live", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that the server listens at."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the document without a name. The token in it gives access."""
        return f"http://{ADDRESS}:{self.port}/{self._token}/"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, host: str | None, path: str) -> Document | HTTPStatus:
        """The document of a request, or the status that refuses it."""
        if host not in (f"{ADDRESS}:{self.port}", f"localhost:{self.port}"):
            return HTTPStatus.MISDIRECTED_REQUEST
        token, slash, name = path.removeprefix("/").partition("/")
        # The time of the comparison must not depend on the number of right characters.
        if not secrets.compare_digest(token.encode(), self._token.encode()) or not slash:
            return HTTPStatus.FORBIDDEN
        maker = self._documents.get(name)
        return HTTPStatus.NOT_FOUND if maker is None else maker()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: Loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes a connection early is no error of the run."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    #: A client that sends no whole request for this long is dropped, s.
    timeout = 10

    def do_GET(self) -> None:
        answer = self.server.owner.answer(self.headers.get("Host"), self.path.partition("?")[0])
        if isinstance(answer, HTTPStatus):
            self._send(answer, Document("text/plain", answer.phrase))
        else:
            self._send(HTTPStatus.OK, answer)

    def _send(self, status: HTTPStatus, document: Document) -> None:
        body = document.text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{document.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        if document.sent is not None:
            document.sent()

    def version_string(self) -> str:
        return "airtoll"

    def log_message(self, format: str, *values: Any) -> None:  # noqa: A002 - the base's name
        """Stderr belongs to the progress of the run."""
