"""What `rocm-perf device list --json` and `device validate --json` print."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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


class ValidationLine(Model):
    name: str
    words: str
    unit: str
    measured: list[float] = Field(description="one value, or the least and the most published")
    modelled: float
    error: float = Field(description="of the nearest measured value, with its sign; 0.05: 5 %")
    bound: float = Field(description="what the documentation states")
    ok: bool
    source: str


class ValidatedTime(Model):
    """One row of a file of kernel times."""

    program: str
    size: str
    measured_us: float
    modelled_us: float
    error: float


class TimesError(Model):
    """Without the sign."""

    rows: int
    median: float
    mean: float
    worst: float


class Validation(Versioned):
    """What `rocm-perf device validate --json` prints."""

    device: str
    ok: bool | None = Field(description="null: nothing is published of the device")
    lines: list[ValidationLine]
    times: list[ValidatedTime] = Field(default=[], description="of virtual:mi300a, with --times")
    times_left_out: list[str] = Field(default=[], description="programs that are not here")
    times_error: dict[str, TimesError] = Field(
        default={}, description="by program, by class of error, and of all"
    )
