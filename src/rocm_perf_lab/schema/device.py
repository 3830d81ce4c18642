"""What `rocm-perf device list --json` prints."""

from __future__ import annotations

from typing import Literal

from rocm_perf_lab.schema.common import Model, Versioned


class DeviceLine(Model):
    name: str
    kind: Literal["hardware", "virtual"]
    architecture: str
    product: str | None
    compute_units: int
    memory_bytes: int
    usable: bool
    reason: str | None


class DeviceList(Versioned):
    default: str
    devices: list[DeviceLine]
