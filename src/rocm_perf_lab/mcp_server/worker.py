"""One call in a process of its own: its memory, its crash and its children end with it.

A request is one line of JSON on stdin. Answers are lines of JSON on what was stdout: what is going
on, then a text or an error. stdin stays open as long as somebody waits; its end is a SIGTERM, and
SIGTERM ends what the call started, as with every command.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from rocm_perf_lab import signals
from rocm_perf_lab.errors import PerfLabError, plain, plain_lines

MOST_ERROR_CHARS = 4000


def main() -> None:
    # What anybody prints goes to stderr: the pipe is for answers only.
    wire = os.dup(1)
    os.dup2(2, 1)
    wanted = json.loads(_line(0))
    threading.Thread(target=_watch, args=(0,), daemon=True).start()
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with lock:
            data = json.dumps(message).encode() + b"\n"
            while data:
                data = data[os.write(wire, data) :]

    with signals.end_like_interrupts():
        try:
            send(_answer(wanted["tool"], wanted["arguments"], send))
        except (KeyboardInterrupt, BrokenPipeError):
            os._exit(1)  # nobody listens any more; everything that was started has ended
    # A thread of ours waits in read: an orderly end would wait for it in turn.
    os._exit(0)


def _answer(name: str, arguments: dict[str, Any], send: Any) -> dict[str, Any]:
    from rocm_perf_lab.mcp_server import calls
    from rocm_perf_lab.mcp_server.tools import TOOLS

    request = TOOLS[name].request.model_validate(arguments)
    # What a file's provenance says about how it came to be.
    sys.argv = ["rocm-perf", "mcp", name, *_words(arguments)]

    def tell(text: str) -> None:
        send({"progress": plain(text)[:500]})

    try:
        return {"text": getattr(calls, name)(request, tell)}
    except PerfLabError as error:
        return _error(error.message, error.hint, error.exit_code)
    except OSError as error:
        where = f"{plain(str(error.filename))}: " if error.filename is not None else ""
        return _error(f"{where}{error.strerror or error}", None, 3)
    except MemoryError:
        return _error("there is not enough memory for this", None, 3)
    except Exception as error:
        said = f"internal error: {type(error).__name__}: {error}"
        return _error(said, "This is a defect of rocm-perf. Please report it.", 70)


def _words(arguments: dict[str, Any]) -> list[str]:
    program = [str(arguments[key]) for key in ("program",) if key in arguments]
    return [*program, *map(str, arguments.get("arguments", ()))]


def _error(message: str, hint: str | None, code: int) -> dict[str, Any]:
    text = plain_lines(message) + (f"\n{plain_lines(hint)}" if hint else "")
    return {"error": f"{text[:MOST_ERROR_CHARS]}\n(exit code {code})"}


def _line(descriptor: int) -> bytes:
    found = b""
    while not found.endswith(b"\n"):
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            os._exit(1)
        found += piece
    return found


def _watch(descriptor: int) -> None:
    while os.read(descriptor, 1 << 16):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
