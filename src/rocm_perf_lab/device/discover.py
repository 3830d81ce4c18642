"""Which GPUs there are: those the kernel driver knows, and the virtual ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocm_perf_lab.device import python_programs, translation
from rocm_perf_lab.errors import MissingTool, UsageError
from rocm_perf_lab.virtual import device_names, device_specs, native

TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
DRIVER = Path("/dev/kfd")
VARIABLE = device_names.VARIABLE


@dataclass(frozen=True)
class Device:
    name: str  # "rocm:0", "virtual:mi300x"
    kind: Literal["hardware", "virtual"]
    architecture: str
    product: str | None
    compute_units: int
    memory_bytes: int
    usable: bool
    reason: str | None = None  # why it is not usable


def devices(topology: Path = TOPOLOGY, driver: Path = DRIVER) -> tuple[Device, ...]:
    return (*hardware(topology, driver), *virtual())


def rocm_version() -> str | None:
    """Of the ROCm that is installed, as it says itself."""
    path = Path(os.environ.get("ROCM_PATH") or "/opt/rocm") / ".info" / "version"
    try:
        return path.read_text("utf-8").strip()[:80]
    except (OSError, UnicodeDecodeError):
        return None


def hardware(topology: Path = TOPOLOGY, driver: Path = DRIVER) -> tuple[Device, ...]:
    """AMD GPUs from the driver's topology; no ROCm tool is needed to see them."""
    if not topology.is_dir():
        return ()
    allowed = os.access(driver, os.R_OK | os.W_OK)
    found: list[Device] = []
    nodes = (p for p in topology.iterdir() if p.name.isdigit())
    for node in sorted(nodes, key=lambda p: int(p.name)):
        numbers = _properties(node / "properties")
        if not numbers.get("simd_count"):
            continue  # a CPU
        per_cu = numbers.get("simd_per_cu") or 4
        found.append(
            Device(
                name=f"rocm:{len(found)}",
                kind="hardware",
                architecture=_architecture(numbers.get("gfx_target_version", 0)),
                product=_text(node / "name"),
                compute_units=numbers["simd_count"] // per_cu,
                memory_bytes=_memory(node),
                usable=allowed,
                reason=None if allowed else f"{driver} cannot be opened: join the render group",
            )
        )
    return tuple(found)


def virtual() -> tuple[Device, ...]:
    built = native.find_library_dir() is not None
    return tuple(
        Device(
            name=spec.name,
            kind="virtual",
            architecture=spec.architecture,
            product=spec.marketing_name,
            compute_units=spec.compute_units,
            memory_bytes=spec.memory_bytes,
            usable=built,
            reason=None if built else "the native libraries are not built: make native",
        )
        for spec in device_specs.specs()
    )


def default_name(found: tuple[Device, ...]) -> str:
    """The first usable real device, else the virtual MI300X."""
    real = next((d for d in found if d.kind == "hardware" and d.usable), None)
    return real.name if real else device_specs.DEFAULT


def choose(
    wanted: str | None = None,
    environment: Mapping[str, str] = os.environ,
    found: tuple[Device, ...] | None = None,
) -> Device:
    """The device asked for by name, else by ROCM_PERF_DEVICE, else the default.

    Names are those of `device_names`; of several virtual devices, the first.
    """
    known = devices() if found is None else found
    asked = device_names.wanted(wanted, environment)
    real = [d for d in known if d.kind == "hardware"]
    if asked.kind == "auto":
        name = default_name(known)
    elif asked.kind == "virtual":
        name = asked.devices[0]
    elif asked.index is None:
        if not real:
            raise MissingTool("there is no AMD GPU here", hint="the virtual one: --device virtual")
        name = next((d.name for d in real if d.usable), real[0].name)
    else:
        name = str(asked)
    device = next((d for d in known if d.name == name), None)
    if device is None:
        raise UsageError(
            f"no device is called {name}",
            hint="there are " + ", ".join(d.name for d in known),
        )
    if not device.usable:
        raise MissingTool(f"{device.name} cannot be used", hint=device.reason)
    return device


def environment_for(
    device: Device, wanted: str | None, base: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The environment in which a HIP program finds that device and no other."""
    if device.kind == "virtual":
        asked = device_names.wanted(wanted, base)
        name = str(asked) if asked.devices else device.name
        given = native.environment(name, base)
        return python_programs.environment({**given, **translation.environment(given)})
    visible = {"ROCR_VISIBLE_DEVICES": device.name.removeprefix("rocm:")}
    return python_programs.environment(
        {**{k: v for k, v in base.items() if k != VARIABLE}, **visible}
    )


def _properties(path: Path) -> dict[str, int]:
    """`name number` lines; anything else in the file is not for us."""
    numbers: dict[str, int] = {}
    for line in (_text(path) or "").splitlines():
        key, _, value = line.partition(" ")
        if value.strip().isdigit():
            numbers[key] = int(value)
    return numbers


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _architecture(version: int) -> str:
    """90402 -> gfx942: decimal major and minor, a hexadecimal stepping."""
    return f"gfx{version // 10000}{version // 100 % 100}{version % 100:x}"


def _memory(node: Path) -> int:
    banks = node.glob("mem_banks/*/properties")
    return sum(
        numbers.get("size_in_bytes", 0)
        for numbers in map(_properties, banks)
        if numbers.get("heap_type") in (1, 2)  # the device's own memory
    )


def hsa_library(device: Device, environment: Mapping[str, str] = os.environ) -> str:
    """The HSA runtime behind a device: a path, or a name for the loader to find."""
    if device.kind == "virtual":
        return str(native.library_dir() / native.HSA_LIBRARY)
    folders = [environment.get("ROCM_PATH", ""), environment.get("HIP_PATH", ""), "/opt/rocm"]
    paths = (Path(folder) / "lib" / native.HSA_LIBRARY for folder in folders if folder)
    return next((str(path) for path in paths if path.exists()), native.HSA_LIBRARY)
