"""A worker's own side of the line to who started it (`collect/worker.py` is the other side).

A message is a line of JSON, and so is its answer; before an answer may come {"tell": text} lines,
and behind it bytes that were asked for, as they are. The end of the input ends the worker.
Small: a replay's worker holds addresses before it imports anything else.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterable
from typing import Any


class Line:
    def __init__(self, into: int | None = None, out: int | None = None) -> None:
        """`into` and `out`: the pipes; without them stdin and stdout, and then what anybody
        prints goes to stderr."""
        if out is None:
            out = os.dup(1)
            os.dup2(2, 1)
        self._out, self._into, self._buffer = out, into or 0, b""
        self._lock = threading.Lock()

    def read(self) -> Any:
        """The next message; None at the end of the input."""
        while b"\n" not in self._buffer:
            piece = os.read(self._into, 1 << 20)
            if not piece:
                return None
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def write(self, message: object, pieces: Iterable[bytes] = ()) -> None:
        with self._lock:
            self._send(json.dumps(message, allow_nan=False).encode("ascii") + b"\n")
            for piece in pieces:
                self._send(piece)

    def tell(self, text: str) -> None:
        self.write({"tell": text})

    def end_with_input(self) -> None:
        """After the last message: nobody waits any more is a SIGTERM to this process."""
        threading.Thread(target=self._watch, daemon=True).start()

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]

    def _watch(self) -> None:
        while os.read(self._into, 1 << 16):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
