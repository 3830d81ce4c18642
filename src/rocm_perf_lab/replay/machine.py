"""A capture brought back to life in this process: memory, code, builds, runs.

Lives in a worker (worker.py). `Machine` maps and loads, `State` (parts.py) knows the contents,
`Launcher` runs a packet.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.codeobject.kernels import Argument
from rocm_perf_lab.errors import BadInput, Refused
from rocm_perf_lab.replay import builds, hidden_arguments, images, outputs, reachable
from rocm_perf_lab.replay import hsa as h
from rocm_perf_lab.replay.address_space import Holding, Span
from rocm_perf_lab.replay.compare import identical
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.replay.launch import Launcher
from rocm_perf_lab.replay.memory import Buffer, DeviceMemory
from rocm_perf_lab.replay.parts import Override, Part, State, guards
from rocm_perf_lab.replay.pointers import Move, Moves
from rocm_perf_lab.replay.sources import Source
from rocm_perf_lab.schema.capture import KernelArgument, LoadedCodeObject, Segment

Bytes = npt.NDArray[np.uint8]
Tell = Callable[[str], None]
FLUSH_BYTES = 512 << 20  # twice the largest last-level cache
ORIGINAL = 0
TELL_EVERY_S = 2.0


@dataclass(frozen=True)
class Build:
    """A code object whose kernel can be dispatched on the captured state."""

    number: int
    label: str
    image: images.Image
    packet: h.Packet
    kernarg: Buffer
    hidden: tuple[tuple[str, int, int], ...]  # arguments: kind, offset, size


@dataclass(frozen=True)
class Dispatched:
    build: int
    gpu_ns: float
    wall_s: float  # from the doorbell to the answer
    outcome: dict[str, object] | None  # None: not compared


class Machine:
    def __init__(
        self,
        capture: Capture,
        library: str,
        spans: Sequence[Span],
        holding: Holding,
        *,
        translate_memory: bool = False,
        exact_bounds: bool = False,
        tell: Tell = lambda _: None,
    ) -> None:
        self.capture, self.spans, self.tell = capture, spans, tell
        self.notes: list[str] = []
        self.hsa = h.Hsa(library)
        self.gpu = self._agent(capture.dispatch.isa)
        self.memory = DeviceMemory(self.hsa, self.gpu)
        try:
            for span in spans:
                self.memory.map(span, holding)
            if exact_bounds:
                self.memory.narrow([(region.base, region.size) for region in capture.regions])
            self._load(translate_memory)
        except BaseException:
            self.memory.close()
            raise

    def _agent(self, isa: str) -> h.Agent:
        gpus = [agent for agent in self.hsa.agents() if agent.gpu]
        found = next((gpu for gpu in gpus if builds.same_isa(isa, gpu.isa)), None)
        if found is None:
            have = ", ".join(gpu.isa for gpu in gpus) or "no GPU"
            raise BadInput(f"the capture is of {isa}, and here is {have}")
        return found

    # ---- what is loaded

    def _load(self, translate_memory: bool) -> None:
        capture = self.capture
        launcher = Launcher(self.hsa, self.gpu, capture.dispatch.queue.type == h.QUEUE_COOPERATIVE)
        self.launcher = launcher
        regions = [
            Part(
                f"region {r.base:#x}", r.base, r.size,
                Source(capture, r.before, r.after, r.size), moved=translate_memory,
            )
            for r in capture.regions
        ]  # fmt: skip
        ranges = [(r.base, r.size) for r in capture.regions]
        kernarg_pages = {r.base for r in capture.regions if "kernarg" in r.flags}
        memory = [p for p in regions if p.address not in kernarg_pages]
        needed = reachable.code_objects(capture, memory, refuse=not translate_memory)
        self.loaded: dict[int, images.Image] = {}
        moves: list[Move] = []
        for index in sorted(needed):
            code = capture.code_objects[index]
            image = images.load(self.hsa, self.gpu, capture.code_object(code.index))
            self.loaded[index] = image
            moves.append(
                Move(code.load_base, code.load_base + code.load_size, image.base - code.load_base)
            )
        self.moves = Moves(moves)
        self._translate_memory = translate_memory
        segments = [
            self._segment(capture.code_objects[index], segment, self.loaded[index])
            for index in sorted(needed)
            for segment in capture.code_objects[index].segments
        ]
        self.parts: list[Part] = [*regions, *segments, *guards(self.spans, ranges)]
        self.builds: list[Build] = []
        self.state = State(self.memory, self.parts, self.moves)
        self._reference: dict[tuple[int, int], Bytes] | None = None
        self._restored = False
        self._flush_buffer = 0
        self.builds.append(self._original())

    def _segment(self, code: LoadedCodeObject, segment: Segment, image: images.Image) -> Part:
        address = segment.linked_address + image.delta
        if not image.base <= address <= image.base + image.size - segment.size:
            raise BadInput(f"{code.file} has no room for the segment at {segment.address:#x}")
        return Part(
            f"module variables at {segment.address:#x}",
            address,
            segment.size,
            Source(self.capture, segment.before, segment.after, segment.size),
            moved=True,
            build=ORIGINAL if code.index == self.capture.dispatch.code_object else None,
            captured=segment.address,
        )

    # ---- builds

    def _original(self) -> Build:
        dispatch = self.capture.dispatch
        image = self.loaded[dispatch.code_object]
        entry = images.entry(self.hsa, self.gpu, image, dispatch.kernel.symbol)
        block = np.frombuffer(self.capture.kernarg, dtype=np.uint8).copy()
        moved = self.moves.translate(0, block)
        if moved:
            self.notes.append(
                f"{moved} argument words point into code objects and were moved with them"
            )
        whole = bytearray(block.tobytes())
        for argument in dispatch.arguments:
            self._put_queue(whole, argument.kind, argument.offset, argument.size)
        self._static_group = entry.group_bytes
        return self._build(
            ORIGINAL, "captured", image, entry, whole,
            dispatch.group_segment_size, dispatch.private_segment_size, dispatch.arguments,
        )  # fmt: skip

    def load_build(self, data: bytes, what: str) -> int:
        """Another build of the kernel; its number."""
        capture, dispatch = self.capture, self.capture.dispatch
        code, kernel = builds.check(data, dispatch, what)
        captured = capture.kernel_code_object
        original = images.parse(capture.code_object(captured.index), captured.file)
        image = images.load(self.hsa, self.gpu, data)
        entry = images.entry(self.hsa, self.gpu, image, dispatch.kernel.symbol)
        number = len(self.builds)
        symbol_moves = builds.symbol_moves(captured, original, code, image.delta)
        builds.refuse_lost_variables(captured, original, code, what)
        builds.refuse_lost_pointers(capture, symbol_moves, what)
        if self._translate_memory:
            raise Refused("memory that points into code cannot be shared by two builds of it")
        others = [
            Move(o.load_base, o.load_base + o.load_size, self.loaded[o.index].base - o.load_base)
            for o in capture.code_objects
            if o.index in self.loaded and o.index != captured.index
        ]
        moves = Moves([*others, *symbol_moves])
        block = np.frombuffer(capture.kernarg, dtype=np.uint8).copy()
        moves.translate(0, block)
        whole = bytearray(block.tobytes().ljust(kernel.kernarg_bytes, b"\0"))
        dynamic = max(0, dispatch.group_segment_size - self._static_group)
        hidden_arguments.write(
            whole, kernel.arguments,
            ((a.kind, a.offset) for a in dispatch.arguments), dispatch, dynamic,
        )  # fmt: skip
        for argument in kernel.arguments:
            self._put_queue(whole, argument.kind, argument.offset, argument.size)
        there = {variable.name: variable for variable in images.variables(code)}
        for variable, segment in builds.segment_variables(original, captured.segments):
            match = there.get(variable.name)
            if match is None or match.size != variable.size:
                continue
            self.parts.append(
                Part(
                    f"variable {variable.name}", match.address + image.delta, match.size,
                    Source(capture, segment.before, segment.after, segment.size),
                    offset=variable.address - segment.linked_address,
                    moved=True, build=number, moves=moves,
                    captured=segment.address + variable.address - segment.linked_address,
                )
            )  # fmt: skip
        private = entry.private_bytes
        if entry.dynamic_stack:
            private = max(private, dispatch.private_segment_size)
        group = entry.group_bytes + dynamic
        self.builds.append(
            self._build(number, what, image, entry, whole, group, private, kernel.arguments)
        )
        self.set_state(self.state.overrides, self.state.guard_byte)
        return number

    def _put_queue(self, block: bytearray, kind: str, offset: int, size: int) -> None:
        if kind == hidden_arguments.QUEUE_POINTER:
            hidden_arguments.put(block, offset, size, self.launcher.queue_address)

    def _build(
        self, number: int, label: str, image: images.Image, entry: images.Entry,
        block: bytearray, group_bytes: int, private_bytes: int,
        arguments: Sequence[KernelArgument | Argument],
    ) -> Build:  # fmt: skip
        dispatch = self.capture.dispatch
        size = max(len(block), entry.kernarg_bytes)
        buffer = self.memory.kernarg_buffer(size)
        buffer.bytes[: len(block)] = np.frombuffer(bytes(block), dtype=np.uint8)
        packet = h.Packet(
            setup=dispatch.setup,
            workgroup=dispatch.workgroup,
            grid=dispatch.grid,
            private_bytes=private_bytes,
            group_bytes=group_bytes,
            kernel_object=entry.kernel_object,
            kernarg=buffer.address,
        )
        hidden = tuple((a.kind, a.offset, a.size) for a in arguments)
        return Build(number, label, image, packet, buffer, hidden)

    def set_arguments(self, changes: Sequence[tuple[int, bytes]]) -> None:
        """(offset, bytes) written into every build's argument block; earlier changes stay."""
        for build in self.builds:
            for offset, data in changes:
                if offset + len(data) > len(self.capture.kernarg):
                    raise BadInput(f"there is no argument at {offset}")
                build.kernarg.bytes[offset : offset + len(data)] = np.frombuffer(
                    data, dtype=np.uint8
                )

    def set_grid(self, grid: tuple[int, int, int] | None) -> None:
        """For every build; None: the captured one."""
        dispatch = self.capture.dispatch
        if grid is not None:
            wide = max(axis + 1 for axis in range(3) if axis == 0 or grid[axis] > 1)
            dimensions = max(dispatch.dimensions, wide)
            dispatch = dispatch.model_copy(update={"grid": grid, "dimensions": dimensions})
        for build in self.builds:
            build.packet.grid[:] = dispatch.grid
            build.packet.setup = dispatch.setup & ~3 | dispatch.dimensions
            for offset, data in hidden_arguments.of_grid(build.hidden, dispatch):
                end = min(offset + len(data), len(build.kernarg.bytes))
                build.kernarg.bytes[offset:end] = np.frombuffer(data, dtype=np.uint8)[
                    : max(0, end - offset)
                ]

    # ---- states

    def set_state(
        self, overrides: Sequence[Override] = (), guard_byte: int = 0, altered: bool | None = None
    ) -> None:
        """Start from other contents; everything is put there before the next dispatch."""
        self.state.forget()
        changed = bool(overrides) if altered is None else altered
        self.state = State(
            self.memory, self.parts, self.moves, overrides, guard_byte, altered=changed
        )
        self._restored = False
        self._reference = None

    # ---- runs

    def run(
        self,
        order: Sequence[int],
        *,
        recopy: bool = True,
        flush: bool = False,
        compare: bool = True,
        rules: outputs.Rules,
    ) -> list[Dispatched]:
        """Dispatch the builds in this order, each from the restored state."""
        state = self.state
        samples: list[Dispatched] = []
        self.looked_s = 0.0  # looking for writes through all memory, in this run
        told = time.monotonic()
        for at, number in enumerate(order):
            build = self.builds[number]
            if time.monotonic() - told > TELL_EVERY_S:
                told = time.monotonic()
                self.tell(f"dispatch {at + 1} of {len(order)}")
            if not self._restored:
                state.restore_all(self.tell)
                self._restored = True
            elif recopy or at == 0:
                state.restore()
            if flush:
                self._flush()
            done = self.launcher.dispatch(build.packet)
            outcome = None
            # Another build may write where the captured one did not; so may this one, if what it
            # writes depends on the order of its waves.
            look = recopy and (number not in state.checked or at == len(order) - 1)
            if look:
                started = time.perf_counter()
                if state.find_writes() and number in state.checked:
                    self.notes.append("the kernel does not write to the same places every time")
                state.checked.add(number)
                self.looked_s += time.perf_counter() - started
            if compare:
                outcome = self._compare(number, rules)
            samples.append(Dispatched(number, done.gpu_ns, done.wall_s, outcome))
        self._restored = recopy  # a state that was left to change is put back whole
        return samples

    def keep_reference(self, number: int) -> None:
        """Run one build from the current state; what it leaves is what must come out."""
        state = self.state
        self._restored = False
        state.restore_all(self.tell)
        self._restored = True
        self.launcher.dispatch(self.builds[number].packet)
        state.find_writes()
        state.checked.add(number)
        got = state.read_dirty()
        self._reference = {
            (part.origin + offset, size): got[at : at + size].copy()
            for part, offset, size, at in state.rows
            if part.build in (None, number)
        }

    def _expected(self, number: int) -> Bytes:
        state = self.state
        if self._reference is None and not state.altered:
            return state.expected(number)
        if self._reference is None:
            raise BadInput("the state was altered, and no build's output was kept as the reference")
        data = state.untouched()
        rows = [row for row in state.rows if row[0].build in (None, number)]
        for (address, size), kept in self._reference.items():
            outputs.lay(rows, data, address, size, kept)
        return data

    def _compare(self, number: int, rules: outputs.Rules) -> dict[str, object]:
        expected, got = self._expected(number), self.state.read_dirty()
        if number == ORIGINAL:
            expected = self._with_own_overruns(expected, got)
        if identical(expected, got):
            return {"verdict": "identical", "digest": "", "differences": []}
        rows = self.state.rows
        found = outputs.judge(rows, expected, got, rules)
        found["spans"], found["elsewhere"] = outputs.places(rows, expected, got)
        return {**found, "digest": hashlib.blake2b(got.tobytes(), digest_size=16).hexdigest()}

    def digest(self, ranges: Sequence[tuple[int, int]]) -> str:
        """Of device memory as it is; ranges outside the capture's are refused."""
        found = hashlib.blake2b(digest_size=16)
        for address, size in ranges:
            for data in self.contents(address, size):
                found.update(data)
        return found.hexdigest()

    def contents(self, address: int, size: int) -> Iterator[bytes]:
        """Device memory as it is, piece by piece."""
        if not any(p.address <= address <= p.address + p.size - size for p in self.parts):
            raise BadInput(f"{address:#x} is not in a captured region")
        for _, data in self.memory.read(address, size):
            yield data.tobytes()

    def beside(self, ranges: Sequence[tuple[int, int]], number: int) -> list[list[Bytes]]:
        """Memory after a run of the build: as it was, as it had to be, as it is."""
        got = [
            np.frombuffer(b"".join(self.contents(address, size)), dtype=np.uint8)
            for address, size in ranges
        ]
        sides = []
        for flat in (self.state.untouched(), self._expected(number)):
            side = [data.copy() for data in got]  # what nothing wrote is the same on all sides
            for (address, _), data in zip(ranges, side, strict=True):
                outputs.take(self.state.rows, flat, address, data)
            sides.append(side)
        return [*sides, got]

    def _with_own_overruns(self, expected: Bytes, got: Bytes) -> Bytes:
        """Writes beside its memory are the captured kernel's own: told, not held against it."""
        over = [row for row in self.state.rows if row[0].source is None]
        if all(identical(expected[at : at + n], got[at : at + n]) for _, _, n, at in over):
            return expected
        note = f"the captured kernel writes beside its memory, at {over[0][0].address:#x}"
        if note not in self.notes:
            self.notes.append(note)
        expected = expected.copy()
        for _, _, size, at in over:
            expected[at : at + size] = got[at : at + size]
        return expected

    def _flush(self) -> None:
        """Fill more memory than the caches hold."""
        if not self._flush_buffer:
            self._flush_buffer = self.memory.device_buffer(FLUSH_BYTES)
        self.memory.fill_zero(self._flush_buffer, FLUSH_BYTES)

    def measure_restore(self, repeats: int) -> dict[str, float]:
        """Seconds to put the write set back, and its size."""
        state = self.state
        state.restore_all(self.tell)
        state.restore()
        started = time.perf_counter()
        for _ in range(repeats):
            state.restore()
        return {
            "seconds": (time.perf_counter() - started) / repeats,
            "bytes": float(state.dirty_bytes),
        }

    def close(self) -> None:
        self.launcher.close()
        self.memory.close()
