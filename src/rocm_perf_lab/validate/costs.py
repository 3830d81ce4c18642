"""What lies beside kernels between two events, by arch/data/virtual/timeline.toml.

The clock (native/hsa/src/device_clock.cpp) says the same of a program that records the events;
tests/integration/test_one_clock.py holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from rocm_perf_lab.virtual.model_parameters import COSTS, table


@dataclass(frozen=True)
class Costs:
    numbers: Mapping[str, int]  # of the host and the device
    calls: Mapping[str, int]
    copy_bytes_per_ns: Mapping[str, float]  # H2D, D2H, D2D, H2H, FILL

    def __getitem__(self, name: str) -> int:
        return self.numbers[name]

    def copy_ns(self, way: str, size: int) -> int:
        start = {"H2D": "host_copy_start_ns", "D2H": "read_back_start_ns"}
        first = self[start.get(way, "copy_start_ns")]
        return first + round(size / self.copy_bytes_per_ns[way])

    def staged_ns(self, way: str, size: int) -> int:
        """What the host takes to fill or to read the buffer that pageable memory goes through."""
        if size > self["staged_bytes"] or way not in ("H2D", "D2H"):
            return 0
        if way == "H2D":
            return 1000 * size // self["stage_in_bytes_per_us"]
        return self["stage_out_ns"] + 1000 * size // self["stage_out_bytes_per_us"]

    def after_wait_ns(self, call_ns: int) -> int:
        """From the end of work the host waited for to the start of what that call then submits."""
        host = self["wake_up_ns"] + self["between_calls_ns"] + call_ns // 2
        return host + self["submit_to_start_ns"]

    def from_event_ns(self, call_ns: int) -> int:
        """From the time of an event to the start of what the next call submits."""
        record = self.calls["hipEventRecord"]
        return record - record // 2 + self["between_calls_ns"] + call_ns // 2


@cache
def costs(device: str = "virtual:mi300x") -> Costs:
    data = table(COSTS)
    copies = data["copies"] | data["slower_copies"].get(device, {})

    def values(entries: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
        return {name: entry["value"] for name, entry in entries.items()}

    return Costs(values(data["host"] | data["device"]), values(data["calls"]), values(copies))
