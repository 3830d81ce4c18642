"""The virtual machine's agents under the keys rocprofv3 records them with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.virtual import device_names, device_specs
from rocm_perf_lab.virtual.device_specs import DeviceSpec

_FIRST_HANDLE = 5600


@dataclass(frozen=True)
class Gpu:
    number: int  # the agent's node
    index: int  # among GPUs
    spec: DeviceSpec

    @property
    def handle(self) -> int:
        return _FIRST_HANDLE + 16 * self.index

    @property
    def constants(self) -> Mapping[str, float]:
        """What AMD's counter expressions call by name."""
        m = self.spec
        return {
            "CU_NUM": float(m.compute_units),
            "SIMD_NUM": float(m.compute_units * m.simds_per_cu),
            "SE_NUM": float(m.shader_engines),
            "MAX_WAVE_SIZE": 64.0,
        }

    @property
    def extdata(self) -> dict[str, Any]:
        m = self.spec
        cus_per_engine = m.compute_units // m.shader_engines
        return {
            "id": {"handle": self.handle},
            "cu_count": m.compute_units,
            "simd_count": m.compute_units * m.simds_per_cu,
            "simd_per_cu": m.simds_per_cu,
            "max_waves_per_simd": m.waves_per_simd,
            "max_waves_per_cu": m.waves_per_simd * m.simds_per_cu,
            "lds_size_in_kb": m.lds_bytes_per_cu >> 10,
            "wave_front_size": 64,
            "num_xcc": m.xccs,
            "array_count": m.shader_engines,
            "num_shader_banks": m.shader_engines,
            "simd_arrays_per_engine": 1,
            "cu_per_simd_array": cus_per_engine + 1,
            "cu_per_engine": cus_per_engine,
            "gfx_target_version": _target_version(m.architecture),
            "device_id": m.chip_id,
            "max_engine_clk_fcompute": m.clock_mhz,
            "workgroup_max_size": 1024,
            "mem_banks": [
                {
                    "heap_type": 1,
                    "width": m.memory_bus_bits,
                    "mem_clk_max": m.memory_clock_mhz,
                    "size_in_bytes": m.memory_bytes,
                }
            ],
            "caches": [
                {"level": level, "size": size >> 10, "cache_line_size": line, "type": 9}
                for level, size, line in ((2, m.l2_bytes, 128), (3, m.l3_bytes, 64))
                if size
            ],
            "virtual": True,
        }


def _target_version(architecture: str) -> int:
    """gfx942 -> 90402: decimal major and minor, a hexadecimal stepping."""
    digits = architecture.removeprefix("gfx")
    return int(digits[:-2]) * 10000 + int(digits[-2]) * 100 + int(digits[-1], 16)


def gpus(device: str) -> list[Gpu]:
    """The GPUs that a value of ROCM_PERF_DEVICE makes: `virtual:mi300x`, `virtual:mi300x*2`, ..."""
    asked = device_names.parse(device, f"{device_names.VARIABLE}=")
    if asked.kind == "rocm":
        raise BadInput(f"{device} is a real GPU; this profiler has virtual ones only")
    known = {spec.name: spec for spec in device_specs.specs()}
    names = asked.devices or (device_specs.DEFAULT,)
    return [Gpu(i + 1, i, known[name]) for i, name in enumerate(names)]
