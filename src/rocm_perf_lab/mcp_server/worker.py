"""One call in a process of its own: its memory, its crash and its children end with it.

One message, as `collect/worker_line.py` has them, and an answer: a text or an error. stdin stays
open as long as somebody waits; its end is a SIGTERM, and SIGTERM ends what the call started, as
with every command.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from rocm_perf_lab import signals
from rocm_perf_lab.collect.worker_line import Line
from rocm_perf_lab.errors import PerfLabError, plain, plain_lines

MOST_ERROR_CHARS = 4000


def main() -> None:
    line = Line()
    wanted = line.read()
    if wanted is None:
        return
    line.end_with_input()
    with signals.end_like_interrupts():
        try:
            line.write(_answer(wanted["tool"], wanted["arguments"], line))
        except (KeyboardInterrupt, BrokenPipeError):
            os._exit(1)  # nobody listens any more; everything that was started has ended
    # A thread of ours waits in read: an orderly end would wait for it in turn.
    os._exit(0)


def _answer(name: str, arguments: dict[str, Any], line: Line) -> dict[str, Any]:
    from rocm_perf_lab.mcp_server import calls
    from rocm_perf_lab.mcp_server.tools import TOOLS

    request = TOOLS[name].request.model_validate(arguments)
    # What a file's provenance says about how it came to be.
    sys.argv = ["rocm-perf", "mcp", name, *_words(arguments)]

    def tell(text: str) -> None:
        line.tell(plain(text)[:500])

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
