"""The process that parses for `parser.py`: a message in, an answer out (`collect/worker_line.py`).

It reads what a file includes once; each text is then parsed in a process forked from this one, with
limits of its own. So no text can harm what is said of the next, and none waits for the headers.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rocm_perf_lab.collect.worker_line import Line
from rocm_perf_lab.errors import MissingTool, PerfLabError
from rocm_perf_lab.optimize import libclang, tree_view

_READING = "does not read it"


def main() -> None:
    line = Line(*map(int, sys.argv[1:]))
    while (asked := line.read()) is not None:
        line.write(_answer(asked))


def _answer(asked: Mapping[str, Any]) -> Any:
    try:
        libclang.prepare(
            Path(asked["path"]), asked["source"], asked["flags"], asked["architecture"],
            asked["side"],
        )  # fmt: skip
    except MissingTool as error:
        return {"missing": {"message": error.message, "hint": error.hint}}
    except PerfLabError as error:
        return {"unparsed": f"{_READING}: {error.message}"}
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _parse(asked, writer)
    os.close(writer)
    try:
        return _collected(child, reader, asked)
    finally:
        os.close(reader)


def _parse(asked: Mapping[str, Any], writer: int) -> None:
    """In the child. Leaves without cleaning up: what the parent holds is the parent's."""
    try:
        # All that is not a file's: what this process was forked with counts, too.
        most = asked["memory_bytes"]
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (asked["cpu_s"], asked["cpu_s"] + 1))
        with libclang.complete():
            found = tree_view.view(
                Path(asked["path"]), asked["proposed"], asked["flags"], asked["architecture"],
                asked["side"], asked["begin"],
            )  # fmt: skip
        answer: Any = {"view": asdict(found)}
    except PerfLabError as error:
        answer = {"unparsed": f"{_READING}: {error.message}"}
    except BaseException as error:
        answer = {"unparsed": f"{_READING}: {type(error).__name__}: {error}"[:300]}
    try:
        data = json.dumps(answer).encode("ascii")
        while data:
            data = data[os.write(writer, data) :]
    finally:
        os._exit(0)


def _collected(child: int, reader: int, asked: Mapping[str, Any]) -> Any:
    deadline = time.monotonic() + asked["wall_s"]
    found, late = bytearray(), False
    while not late:
        left = max(0.0, deadline - time.monotonic())
        late = not select.select([reader], [], [], left)[0]
        if not late:
            part = os.read(reader, 1 << 20)
            if not part:
                break
            found += part
    if late:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if late:
        return {"unparsed": f"was stopped: it took more than {asked['wall_s']:g} s"}
    # The system's own count of its limit may be a little ahead of what it says was used.
    spent = used.ru_utime + used.ru_stime >= asked["cpu_s"] or code == -signal.SIGXCPU
    if code < 0 and spent:
        return {"unparsed": f"was stopped: it took more than {asked['cpu_s']} s"}
    try:
        return json.loads(found)
    except ValueError:
        how = signal.Signals(-code).name if code < 0 else f"code {code}"
        most = asked["memory_bytes"] >> 20
        return {"unparsed": f"died of it ({how}; it may use {most} MiB)"}
