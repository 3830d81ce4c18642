"""One process's log as the rows that a database, CSV and JSON are written from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_object
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import vgpr
from rocm_perf_lab.trace.rocpd_records import Allocation, Argument, Call, Copy, Dispatch, Value
from rocm_perf_lab.virtual.rocprofv3 import counters
from rocm_perf_lab.virtual.rocprofv3.agents import Gpu
from rocm_perf_lab.virtual.rocprofv3.counters import Catalogue, Wanted
from rocm_perf_lab.virtual.rocprofv3.log import Code, ModelledLaunch, ProcessLog, Symbol, Transfer
from rocm_perf_lab.virtual.rocprofv3.options import Pass

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_FIRST_HOST_ADDRESS = 0x7000_0000_0000
_LOWEST_ADDRESS = 0x10000
# The runtime's own kernels, under numbers that are no kernel object's.
_FILLS = {-1: "__amd_rocclr_fillBufferAligned", -2: "__amd_rocclr_fillBufferAligned2D"}
_FILL_WORKGROUP = 256


@dataclass(frozen=True)
class KernelRow:
    number: int
    code: int
    name: str  # mangled
    shown: str  # demangled
    display: str
    sgprs: int
    arch_vgprs: int
    accum_vgprs: int
    lds: int
    scratch: int
    kernarg: int


class Addresses:
    """Device addresses are the same in every run; the host's are told apart, but by number."""

    def __init__(self, device: Sequence[tuple[int, int]]) -> None:
        self._device = sorted(device)
        self._low = min((begin for begin, _ in self._device), default=0)
        self._high = max((end for _, end in self._device), default=0)
        self._host: dict[int, int] = {}

    def __call__(self, address: int) -> int:
        if address < _LOWEST_ADDRESS or self._low <= address < self._high:
            return address
        slot = self._host.setdefault(address, len(self._host))
        return _FIRST_HOST_ADDRESS + 0x1000 * slot

    def text(self, text: str) -> str:
        if text == "(nil)":
            return "0x0"
        return hex(self(int(text, 16))) if _ADDRESS.fullmatch(text) else text


@dataclass
class ProcessRows:
    """What one process did, in the numbers of a database."""

    log: ProcessLog
    gpus: list[Gpu]
    wanted: Pass
    pid: int
    parent: int
    counted: list[Wanted] = field(default_factory=list)
    catalogue: Catalogue | None = None

    @cached_property
    def addresses(self) -> Addresses:
        spans = [(m.address, m.address + (m.size or 0)) for m in self.log.memory]
        return Addresses([*spans, *((c.base, c.base + c.size) for c in self.log.codes)])

    @cached_property
    def objects(self) -> dict[int, CodeObject]:
        """Code objects by number; one that is no ELF with metadata is left out."""
        found: dict[int, CodeObject] = {}
        for code in self.log.codes:
            try:
                if code.file is not None:
                    found[code.number] = read_code_object(code.file.read_bytes())
            except (BadInput, OSError):
                continue
        return found

    @cached_property
    def kernels(self) -> dict[int, KernelRow]:
        """By kernel object."""
        rows: dict[int, KernelRow] = {}
        for symbol in self.log.symbols:
            code = self._code_of(symbol)
            known = self.objects.get(code)
            kernel = (
                next((k for k in known.kernels if k.name == symbol.name), None) if known else None
            )
            rows[symbol.kernel] = self._row(len(rows) + 1, code, symbol, kernel)
        for number in sorted({_fill_kernel(fill) for fill in self._filled}, reverse=True):
            name = _FILLS[number]
            rows[number] = self._row(len(rows) + 1, 0, Symbol(number, name, name, 0), None)
        return rows

    def _code_of(self, symbol: Symbol) -> int:
        """The loaded object that the kernel's address lies in."""
        for code in self.log.codes:
            if code.base <= symbol.kernel < code.base + code.size:
                return code.number
        return symbol.code

    def _row(self, number: int, code: int, symbol: Symbol, kernel: Kernel | None) -> KernelRow:
        display = symbol.name if self.wanted.mangled else symbol.shown
        if self.wanted.truncate:
            display = truncated(symbol.shown)
        arch, accum = vgpr.described(kernel.vgprs, kernel.agprs) if kernel else (0, 0)
        return KernelRow(
            number=number,
            code=code,
            name=symbol.name,
            shown=symbol.shown,
            display=display,
            sgprs=-(-max(kernel.sgprs, 1) // 16) * 16 if kernel else 0,
            arch_vgprs=arch,
            accum_vgprs=accum,
            lds=kernel.lds_bytes if kernel else 0,
            scratch=kernel.scratch_bytes if kernel else 0,
            kernarg=kernel.kernarg_bytes if kernel else 0,
        )

    def code_of_kernel(self, kernel: int) -> Code | None:
        row = self.kernels.get(kernel)
        return next((c for c in self.log.codes if row and c.number == row.code), None)

    def thread(self, number: int) -> int:
        return self.pid + number

    @cached_property
    def calls(self) -> list[Call]:
        wanted = self.wanted.traces
        return [
            Call(
                call.name,
                call.start,
                call.end,
                tid=self.thread(call.thread),
                correlation=call.correlation,
                category=_category(call.name),
                args=[
                    Argument(kind, name, self.addresses.text(text))
                    for kind, name, text in call.arguments
                ],
            )
            for call in self.log.calls
            if ("hip_compiler" if call.name.startswith("__") else "hip_runtime") in wanted
        ]

    @cached_property
    def dispatches(self) -> list[Dispatch]:
        p = self.wanted
        # A thread trace alone records no dispatches: its times would pass for a timing run's.
        if not (p.pmc or "kernel" in p.traces):
            return []
        rows = []
        for launch in self.log.finished:
            if p.pmc and not launch.counted and "kernel" not in p.traces:
                continue
            rows.append(
                Dispatch(
                    kernel=self.kernels[launch.kernel].number,
                    agent=launch.agent,
                    start=launch.start,
                    end=launch.end,
                    workgroup=launch.workgroup,
                    grid=launch.grid,
                    queue=launch.queue,
                    stream=launch.stream,
                    tid=self.thread(launch.thread),
                    correlation=launch.correlation,
                    lds=launch.lds,
                    scratch=launch.scratch,
                    dispatch_id=launch.number,
                    values=self._values(launch.agent, self.log.modelled[launch.number]),
                )
            )
        return [*rows, *(self._fills() if "kernel" in p.traces else ())]

    @cached_property
    def detailed(self) -> dict[str, float]:
        """Per kernel, how much of its time was simulated; the rest is extrapolated from it."""
        return self._by_kernel(lambda modelled: modelled.detailed_fraction)

    @cached_property
    def sampling_error(self) -> dict[str, float]:
        """Per kernel, the standard error of its time from that. Launches err alike: it adds up."""
        return self._by_kernel(lambda modelled: modelled.sampling_error)

    def _by_kernel(self, share: Callable[[ModelledLaunch], float]) -> dict[str, float]:
        """The mean of a share of each launch, by their time."""
        whole: dict[str, int] = {}
        seen: dict[str, float] = {}
        for launch in self.log.finished:
            modelled = self.log.modelled[launch.number]
            name = self.kernels[launch.kernel].display
            whole[name] = whole.get(name, 0) + modelled.duration_ns
            seen[name] = seen.get(name, 0.0) + modelled.duration_ns * share(modelled)
        return {name: seen[name] / total for name, total in sorted(whole.items()) if total}

    def _fills(self) -> Iterator[Dispatch]:
        """Timed, but not counted: no code of the runtime's kernels is executed here."""
        last = max((launch.number for launch in self.log.launches), default=0)
        queues = {launch.stream: launch.queue for launch in self.log.finished}
        for number, fill in enumerate(self._filled, last + 1):
            yield Dispatch(
                kernel=self.kernels[_fill_kernel(fill)].number,
                agent=fill.target_agent,
                start=fill.start,
                end=fill.end,
                workgroup=(_FILL_WORKGROUP, 1, 1),
                grid=(_FILL_WORKGROUP * fill.groups, 1, 1),
                queue=queues.get(fill.stream, 1),
                stream=fill.stream,
                tid=self.thread(fill.thread),
                correlation=fill.correlation,
                dispatch_id=number,
            )

    @cached_property
    def _filled(self) -> list[Transfer]:
        return [t for t in self.log.transfers if t.source is None and t.end]

    def _values(self, agent: int, modelled: ModelledLaunch) -> list[Value]:
        if not modelled.counters or self.catalogue is None:
            return []
        gpu = next(gpu for gpu in self.gpus if gpu.number == agent)
        return [
            Value(wanted.name, value, *place)
            for wanted in self.counted
            for place, value in sorted(
                counters.evaluate(wanted, modelled.counters, gpu.constants, self.catalogue).items()
            )
        ]

    @cached_property
    def copies(self) -> list[Copy]:
        if "copy" not in self.wanted.traces:
            return []
        gpus = {gpu.number for gpu in self.gpus}
        place = {True: "DEVICE", False: "HOST"}
        return [
            Copy(
                f"MEMORY_COPY_{place[t.source_agent in gpus]}_TO_{place[t.target_agent in gpus]}",
                t.start,
                t.end,
                t.size,
                tid=self.thread(t.thread),
                correlation=t.correlation,
                stream=t.stream,
                source=t.source_agent,
                target=t.target_agent,
                source_address=self.addresses(t.source),
                target_address=self.addresses(t.target),
            )
            for t in self.log.transfers
            if t.source is not None and t.end
        ]

    @cached_property
    def allocations(self) -> list[Allocation]:
        if "allocation" not in self.wanted.traces:
            return []
        return [
            Allocation(
                "FREE" if m.size is None else "ALLOC",
                "REAL",
                m.start,
                m.end,
                m.size or 0,
                address=self.addresses(m.address),
                agent=m.agent,
                tid=self.thread(m.thread),
                correlation=m.correlation,
            )
            for m in self.log.memory
        ]


def _fill_kernel(fill: Transfer) -> int:
    return -2 if fill.rows else -1


def _category(name: str) -> str:
    return "HIP_COMPILER_API_EXT" if name.startswith("__") else "HIP_RUNTIME_API_EXT"


def truncated(name: str) -> str:
    """`void ns::kernel<float>(float*)` -> `kernel`, as -T does."""
    head = re.sub(r"\(anonymous namespace\)::", "", name)
    head = re.split(r"[<(]", head.removeprefix("void "))[0]
    return head.rpartition("::")[2].strip() or name
