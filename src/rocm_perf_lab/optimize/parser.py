"""Proposed text is parsed in a process of its own, in the sandbox, with bounds on memory and time.

A parser is a large program that reads hostile text: what it says is taken, what it does is bound.
One that dies, or does not answer in time, has not read the text: that is a refusal.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.collect.process import python
from rocm_perf_lab.collect.worker import GuardedWorker, NoAnswer, WorkerDied
from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.optimize import confine
from rocm_perf_lab.optimize.libclang import Side
from rocm_perf_lab.optimize.sandbox import Kind, Limits, Sandbox, available
from rocm_perf_lab.optimize.tree_view import View

# Of one proposal, on one side. HIP's headers take some 200 MB and a second.
MEMORY_BYTES, CPU_S, WALL_S = 3 << 29, 10, 120.0
_ANSWER_S = 2 * WALL_S + 60  # the file's own headers are read first, once


@dataclass(frozen=True)
class Request:
    """The file as it stands, and how to read it."""

    path: str
    source: str
    flags: tuple[str, ...]
    architecture: str
    side: Side
    begin: int  # where the kernel's definition starts


class Unparsed(Exception):
    """The text was not read to its end."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Parser:
    """A process that parses, started when it is needed, and again if it had to be ended."""

    def __init__(self, box: Sandbox, log: Path) -> None:
        self._box, self._log = box, log
        self._running: GuardedWorker | None = None
        self._before: dict[Request, View] = {}

    def before(self, asked: Request) -> View:
        """Of the file as it stands."""
        if asked not in self._before:
            try:
                self._before = {
                    **dict(list(self._before.items())[-3:]),
                    asked: self.view(asked, asked.source),
                }
            except Unparsed as error:
                name = Path(asked.path).name
                raise BadInput(f"{name} cannot be parsed ({asked.side} side)") from error
        return self._before[asked]

    def view(self, asked: Request, source: str) -> View:
        bounds = {"memory_bytes": MEMORY_BYTES, "cpu_s": CPU_S, "wall_s": WALL_S}
        try:
            answer = self._answer({**asdict(asked), "proposed": source, **bounds})
            reason = str(answer["unparsed"]) if "unparsed" in answer else None
            missing = answer.get("missing")
            found = View.of(answer["view"]) if reason is None and missing is None else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.end()
            raise Unparsed(f"the parser's answer makes no sense: {error}"[:200]) from None
        if missing is not None:
            raise MissingTool(str(missing["message"]), missing["hint"])
        if found is None:
            raise Unparsed(f"the parser {reason}")
        return found

    def _answer(self, message: object) -> Any:
        self._running = self._running or self._start()
        try:
            return self._running.ask(message, _ANSWER_S)
        except NoAnswer:
            self.end()
            raise Unparsed(f"the parser was stopped: no answer after {_ANSWER_S:g} s") from None
        except WorkerDied:
            raise self._died(self._running) from None

    def _start(self) -> GuardedWorker:
        place = self._box.place
        words = python("rocm_perf_lab.optimize.parser_worker")
        return GuardedWorker(
            lambda into, out: self._box.wrap([*words, str(into), str(out)], place),
            self._log,
            self._box.environment(),
            alone=True,
            cwd=place,
        )

    def _died(self, worker: GuardedWorker) -> Unparsed:
        how = worker.ended()
        self._running = None
        if isinstance(how, Exception):
            return Unparsed(f"the parser could not be started: {how}")
        said = self._log.read_bytes()[-300:].decode("utf-8", "replace").strip()
        if how.exit_code == confine.EXIT_CANNOT_CONFINE:
            raise MissingTool(f"the sandbox does not work here: {said}")
        return Unparsed(f"the parser died ({said.splitlines()[-1] if said else how.exit_code})")

    def end(self) -> None:
        if self._running is not None:
            self._running.end()
        self._running = None


def parser_in(box: Sandbox | None, path: Path) -> Parser:
    """The parser that sees what `box` shows, or where there is none, the file's own folder."""
    if box is None:
        return _parser(available(), (path.parent,))
    return _parser(box.kind, box.readable)


@functools.lru_cache(maxsize=4)
def _parser(kind: Kind, readable: tuple[Path, ...]) -> Parser:
    kept = contextlib.ExitStack()
    work, said = (kept.enter_context(scratch.folder("rocm-perf-parser-")) for _ in range(2))
    atexit.register(kept.close)
    # As long as the run: each text has its own limits.
    box = Sandbox(kind, work, readable, replace(Limits(), wall_s=24 * 3600.0))
    parser = Parser(box, said / "errors.txt")
    atexit.register(parser.end)
    return parser
