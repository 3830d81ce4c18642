"""A real HTTP server that plays a language model: it gives the replies it was told to, in order."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    text: str = ""  # what the model says, put into the dialect's envelope
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # instead of an envelope
    delay_s: float = 0.0
    drip_s: float = 0.0  # between single bytes
    wire: bytes | None = None  # instead of all of it, status and headers too


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Server:
    url: str
    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)


def envelope(path: str, text: str) -> bytes:
    if path.endswith("/messages"):
        return json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@contextlib.contextmanager
def llm_server(*replies: Reply) -> Iterator[Server]:
    played = Server("", list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            played.asked.append(
                Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            )
            reply = played.replies.pop(0) if played.replies else Reply(status=500)
            time.sleep(reply.delay_s)
            data = reply.raw if reply.raw is not None else envelope(self.path, reply.text)
            if reply.wire is not None:
                self.close_connection = True
                with contextlib.suppress(ConnectionError):
                    for at in range(0, len(reply.wire), 1 if reply.drip_s else len(reply.wire)):
                        self.wfile.write(reply.wire[at:][: 1 if reply.drip_s else None])
                        time.sleep(reply.drip_s)
                return
            with contextlib.suppress(ConnectionError):
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if not reply.drip_s:
                    self.wfile.write(data)
                    return
                for byte in data:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(reply.drip_s)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    played.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield played
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
