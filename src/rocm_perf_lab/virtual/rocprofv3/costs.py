"""What calls and copies cost on the virtual machine: arch/data/virtual/timeline.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from rocm_perf_lab.arch.load import parse


@dataclass(frozen=True)
class Costs:
    call_ns: int
    calls: Mapping[str, int]
    between_calls_ns: int
    submit_to_start_ns: int
    between_kernels_ns: int
    event_pair_ns: int  # what two events around work show beyond it
    event_least_ns: int  # and the least they show around a launch
    signal_ns: int
    wake_up_ns: int
    launch_ns: int  # of a program that is not traced
    packet_ns: int
    host_function_ns: int
    staged_bytes: int  # pageable memory up to this goes by way of a buffer of the runtime's
    stage_in_bytes_per_us: int
    stage_out_bytes_per_us: int
    stage_out_ns: int
    memory_ns: int
    copy_start_ns: int
    host_copy_start_ns: int  # of a copy from the host
    read_back_start_ns: int  # and to it
    copy_bytes_per_ns: Mapping[str, float]  # H2D, D2H, D2D, H2H, FILL

    # Numbers of streams in a database: null streams by device, then those of threads and libraries,
    # then those a program creates.
    first_created_stream: int = 64
    first_default_stream: int = 32

    def of(self, name: str) -> int:
        """The whole call, without what it waits for."""
        return self.calls.get(name.removesuffix("_spt"), self.call_ns)

    def before_work(self, name: str) -> int:
        """The share of a call before it hands its work over."""
        return self.of(name) // 2

    def copy_ns(self, way: str, size: int) -> int:
        host = {"H2D": self.host_copy_start_ns, "D2H": self.read_back_start_ns}
        return host.get(way, self.copy_start_ns) + round(size / self.copy_bytes_per_ns[way])

    def staged_ns(self, way: str, size: int) -> int:
        """What the host takes to fill or to read the buffer that pageable memory goes through."""
        if size > self.staged_bytes or way not in ("H2D", "D2H"):
            return 0
        if way == "H2D":
            return round(1000 * size / self.stage_in_bytes_per_us)
        return self.stage_out_ns + round(1000 * size / self.stage_out_bytes_per_us)

    def after_wait_ns(self, call_ns: int) -> int:
        """From the end of work the host waited for to the start of what that call then submits."""
        return self.wake_up_ns + self.between_calls_ns + call_ns // 2 + self.submit_to_start_ns

    def from_event_ns(self, call_ns: int) -> int:
        """From the time of an event to the start of what the next call submits."""
        rest = self.of("hipEventRecord") - self.before_work("hipEventRecord")
        return rest + self.between_calls_ns + call_ns // 2


@cache
def costs(device: str = "virtual:mi300x") -> Costs:
    path = resources.files("rocm_perf_lab.arch") / "data" / "virtual" / "timeline.toml"
    data = parse(path.read_text(encoding="utf-8"))
    numbers = {name: entry["value"] for name, entry in data["host"].items()}
    numbers |= {name: entry["value"] for name, entry in data["device"].items()}
    copies = data["copies"] | data["slower_copies"].get(device, {})
    return Costs(
        calls={name: entry["value"] for name, entry in data["calls"].items()},
        copy_bytes_per_ns={name: entry["value"] for name, entry in copies.items()},
        **numbers,
    )
