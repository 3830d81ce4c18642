"""Where a program is to run: on the machine's ROCm, or on a virtual GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.virtual import models, native

STAND_IN = "rocm_perf_lab.virtual.rocprofv3"


@dataclass(frozen=True)
class Target:
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
) -> Target:
    """`auto`, `rocm`, `virtual`, or a virtual GPU by name.

    `auto` is real ROCm where there is any (or a rocprofv3 of the user's own making), else the
    virtual GPU that ROCM_PERF_DEVICE names, else the virtual MI300X.
    """
    if name == "rocm":
        return Target("hardware", "rocm")
    if name == "auto":
        asked = environment.get(discover.VARIABLE, "")
        if asked.startswith("virtual"):
            return _virtual(asked, environment)
        built = native.find_library_dir() is not None
        usable = driver.exists() or rocprofv3_is_wrapper
        if (rocprofv3_installed and usable) or not built:
            return Target("hardware", "rocm")
        missing = "no AMD GPU was found" if not driver.exists() else "rocprofv3 is not installed"
        return _virtual(models.DEFAULT, environment, missing)
    if name == "virtual" or name.startswith("virtual:"):
        return _virtual(name, environment)
    raise UsageError(
        f"no such device: {name}", hint="use auto, rocm, virtual, or a name like virtual:mi300x"
    )


def _virtual(name: str, environment: Mapping[str, str], why: str | None = None) -> Target:
    device = discover.choose(name, environment, discover.virtual())
    whole = discover.environment_for(device, name, environment)
    changed = {key: value for key, value in whole.items() if environment.get(key) != value}
    return Target(
        kind="virtual",
        name=device.name,
        profiler=(sys.executable, "-m", STAND_IN),
        environment=changed,
        notice=why and f"{why}: running on the {device.product}; times and counters are modelled",
        product=device.product,
        architecture=device.architecture,
    )
