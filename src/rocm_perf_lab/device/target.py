"""Where a program is to run: on the machine's ROCm, or on a virtual GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rocm_perf_lab.device import discover
from rocm_perf_lab.virtual import device_names, device_specs, native

STAND_IN = "rocm_perf_lab.virtual.rocprofv3"


@dataclass(frozen=True)
class ProfilingTarget:
    kind: Literal["hardware", "virtual"]
    name: str
    profiler: tuple[str, ...] | None = None  # None: the installed rocprofv3
    environment: Mapping[str, str] = field(default_factory=dict)
    notice: str | None = None  # what the user has to know of a choice that was not theirs
    product: str | None = None  # of a virtual GPU; a real one names itself in its traces
    architecture: str | None = None


def choose(
    name: str,
    *,
    rocprofv3_installed: bool,
    rocprofv3_is_wrapper: bool = False,
    environment: Mapping[str, str] = os.environ,
    driver: Path = discover.DRIVER,
) -> ProfilingTarget:
    """The target of a name as `device_names` has them.

    `auto` is real ROCm where there is any (or a rocprofv3 of the user's own making), else the
    virtual MI300X.
    """
    asked = device_names.wanted(name, environment)
    if asked.kind == "rocm":
        one = {} if asked.index is None else {"ROCR_VISIBLE_DEVICES": str(asked.index)}
        return ProfilingTarget("hardware", str(asked), environment=one)
    if asked.kind == "virtual":
        return _virtual(str(asked), environment)
    built = native.find_library_dir() is not None
    usable = driver.exists() or rocprofv3_is_wrapper
    if (rocprofv3_installed and usable) or not built:
        return ProfilingTarget("hardware", "rocm")
    missing = "no AMD GPU was found" if not driver.exists() else "rocprofv3 is not installed"
    return _virtual(device_specs.DEFAULT, environment, missing)


def _virtual(name: str, environment: Mapping[str, str], why: str | None = None) -> ProfilingTarget:
    device = discover.choose(name, environment, discover.virtual())
    whole = discover.environment_for(device, name, environment)
    changed = {key: value for key, value in whole.items() if environment.get(key) != value}
    return ProfilingTarget(
        kind="virtual",
        name=device.name,
        profiler=(sys.executable, "-m", STAND_IN),
        environment=changed,
        notice=why and f"{why}: running on the {device.product}; times and counters are modelled",
        product=device.product,
        architecture=device.architecture,
    )
