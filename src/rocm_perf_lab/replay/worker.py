"""The process a replay runs in: JSON lines in, JSON lines out, one capture for its whole life.

HSA may crash, hang or abort; it does so here and not in the command. The captured addresses are
held before anything else is imported, and HSA is loaded only after that. If an address is taken,
the process says so and ends: the parent starts another, whose address layout is different.

The first line is {"ranges": [[base, size], …]}; the answer {"held": true} or {"taken": [base,
size]}. Then `open`, and the other requests of `_Server`. An answer is {"ok": …}, or {"error":
{"kind", "message", "hint"}}; before it may come {"tell": text} lines, and behind that of `read` and
`look` the bytes that were asked for, as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rocm_perf_lab.collect.worker_line import Line
from rocm_perf_lab.replay.address_space import Holding, Span, spans

if TYPE_CHECKING:
    from rocm_perf_lab.replay.machine import Machine


def main() -> None:
    line = Line()
    first = line.read()
    if first is None:
        return
    wanted = spans((base, size) for base, size in first["ranges"])
    holding = Holding()
    for span in wanted:
        if not holding.hold(span):
            holding.release_all()
            line.write({"taken": [span.base, span.size]})
            return
    line.write({"held": True})
    _allow_handles()
    server = _Server(line, wanted, holding)
    try:
        while (request := line.read()) is not None:
            line.write(server.answer(request), server.pieces)
            server.pieces = ()
    finally:
        server.close()


class _Server:
    def __init__(self, line: Line, wanted: list[Span], holding: Holding) -> None:
        self._line, self._spans, self._holding = line, wanted, holding
        self._machine: Machine | None = None
        self.pieces: Iterable[bytes] = ()  # what follows the answer as it is

    @property
    def machine(self) -> Machine:
        if self._machine is None:
            raise RuntimeError("nothing is open")
        return self._machine

    def close(self) -> None:
        if self._machine is not None:
            self._machine.close()
        self._holding.release_all()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        from rocm_perf_lab.errors import PerfLabError
        from rocm_perf_lab.replay.hsa import HsaError
        from rocm_perf_lab.replay.launch import Fault
        from rocm_perf_lab.replay.memory import MapFailed, Relocated

        try:
            return {"ok": getattr(self, f"_do_{request['do']}")(**request.get("with", {}))}
        except Relocated as error:
            self._holding.release_all()
            where = [error.span.base, error.span.size]
            return _error("relocated", str(error), span=where, got=error.got)
        except MapFailed as error:
            self._holding.release_all()
            return _error("map_failed", str(error), span=[error.span.base, error.span.size])
        except Fault as error:
            return _error("fault", str(error))
        except HsaError as error:
            return _error("hsa", str(error))
        except MemoryError:
            return _error("hsa", "out of host memory")
        except PerfLabError as error:
            return _error(type(error).__name__, error.message, hint=error.hint)
        except Exception as error:
            return _error("internal", f"{type(error).__name__}: {error}")

    def _do_open(
        self, capture: str, library: str, translate_memory: bool, exact_bounds: bool
    ) -> dict[str, Any]:
        from pathlib import Path

        from rocm_perf_lab.replay.format import open_capture
        from rocm_perf_lab.replay.machine import Machine

        opened = open_capture(Path(capture), verify=False)  # the parent has hashed it
        self._machine = Machine(
            opened,
            library,
            self._spans,
            self._holding,
            translate_memory=translate_memory,
            exact_bounds=exact_bounds,
            tell=self._line.tell,
        )
        return {"isa": self.machine.gpu.isa, "notes": self.machine.notes}

    def _do_reserve(self, library: str, isa: str) -> dict[str, Any]:
        """Map every span and give it back: what `reserve-check` asks."""
        from rocm_perf_lab.replay.builds import same_isa
        from rocm_perf_lab.replay.hsa import Hsa, HsaError
        from rocm_perf_lab.replay.memory import DeviceMemory

        hsa = Hsa(library)
        gpus = [agent for agent in hsa.agents() if agent.gpu]
        gpus.sort(key=lambda gpu: not same_isa(isa, gpu.isa))
        if not gpus:
            raise HsaError("hsa_iterate_agents", 0, "there is no GPU")
        memory = DeviceMemory(hsa, gpus[0])
        try:
            for span in self._spans:
                memory.map(span, self._holding)
        finally:
            memory.close()
        return {"spans": len(self._spans), "bytes": sum(span.size for span in self._spans)}

    def _do_load(self, file: str, what: str) -> dict[str, Any]:
        from pathlib import Path

        return {"build": self.machine.load_build(Path(file).read_bytes(), what)}

    def _do_state(
        self,
        overrides: list[dict[str, Any]],
        arguments: list[list[Any]],
        guard: int,
        altered: bool | None,
        grid: list[int] | None,
    ) -> None:
        from pathlib import Path

        import numpy as np

        from rocm_perf_lab.replay.parts import Override

        given: list[Override] = []
        for each in overrides:
            if "fill" in each:
                data = np.full(each["size"], each["fill"], dtype=np.uint8)
            else:
                data = np.frombuffer(Path(each["file"]).read_bytes(), dtype=np.uint8)
            given.append(Override(each["address"], data))
        self.machine.set_arguments([(at, bytes.fromhex(text)) for at, text in arguments])
        self.machine.set_grid((grid[0], grid[1], grid[2]) if grid else None)
        self.machine.set_state(given, guard, altered)

    def _do_reference(self, build: int) -> None:
        self.machine.keep_reference(build)

    def _do_digest(self, ranges: list[list[int]]) -> str:
        return self.machine.digest([(address, size) for address, size in ranges])

    def _do_noted(self, kind: str) -> list[dict[str, Any]]:
        """By `rocm-perf check`'s tools so far, where the environment asks for them."""
        import json
        import os
        from pathlib import Path

        folder = os.environ.get("ROCM_PERF_CHECK_LOG")
        texts = [f.read_text("ascii", "replace") for f in Path(folder or "none").glob("*.log")]
        records = [json.loads(line) for text in texts for line in text.splitlines()]
        return [record for record in records if record["r"] == kind]

    def _do_read(self, ranges: list[list[int]]) -> None:
        self.pieces = [p for at, size in ranges for p in self.machine.contents(at, size)]

    def _do_look(self, ranges: list[list[int]], build: int) -> None:
        sides = self.machine.beside([(address, size) for address, size in ranges], build)
        self.pieces = [data.tobytes() for side in sides for data in side]

    def _do_run(
        self,
        order: list[int],
        recopy: bool,
        flush: bool,
        compare: bool,
        pointers: list[list[Any]],
        dtype: str | None,
        tolerance: float | None,
    ) -> dict[str, Any]:
        from rocm_perf_lab.replay.compare import element_type
        from rocm_perf_lab.replay.outputs import Pointer, Rules

        rules = Rules(
            [Pointer(name, address, element_type(kind)) for name, address, kind in pointers],
            element_type(dtype),
            tolerance,
        )
        samples = self.machine.run(order, recopy=recopy, flush=flush, compare=compare, rules=rules)
        return {
            "samples": [[s.build, s.gpu_ns, s.wall_s, s.outcome] for s in samples],
            "notes": self.machine.notes,
            "dirty_bytes": self.machine.state.dirty_bytes,
            "looked_s": self.machine.looked_s,
        }

    def _do_measure_restore(self, repeats: int) -> dict[str, float]:
        return self.machine.measure_restore(repeats)


def _allow_handles() -> None:
    """Every span has one, which may be a file descriptor: as many as this user may have."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _error(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message, **more}}


if __name__ == "__main__":
    main()
