"""How a device is named: by --device, by ROCM_PERF_DEVICE, and to the native library.

One grammar for all of them; docs/device.md has it as a table, and native/hsa reads the part that
names virtual devices by the same rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.virtual import device_specs

VARIABLE = "ROCM_PERF_DEVICE"
MOST = 16  # virtual devices of one program
_ROCM = re.compile(r"rocm(?::(0|[1-9][0-9]{0,2}))?")
_VIRTUAL = re.compile(r"virtual(?::([a-z0-9]+))?(?:\*([1-9][0-9]?))?")


@dataclass(frozen=True)
class DeviceName:
    """`auto`, real ones (`rocm`, or one by its number), or virtual ones in order."""

    kind: Literal["auto", "rocm", "virtual"]
    index: int | None = None
    devices: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "rocm":
            return "rocm" if self.index is None else f"rocm:{self.index}"
        counted = ((name, len(list(same))) for name, same in groupby(self.devices))
        return ",".join(n if c == 1 else f"{n}*{c}" for n, c in counted) or "auto"


AUTO = DeviceName("auto")


def wanted(option: str | None, environment: Mapping[str, str] = os.environ) -> DeviceName:
    """What was asked for: by the option, else by the environment, else nothing (`auto`).

    `auto` and an empty name ask for nothing.
    """
    asked = parse(option or "")
    if asked.kind != "auto":
        return asked
    return parse(environment.get(VARIABLE, ""), f"{VARIABLE}=")


def parse(text: str, said: str = "") -> DeviceName:
    """`said` stands before the name where it is refused."""
    if text in ("", "auto"):
        return AUTO
    rocm = _ROCM.fullmatch(text)
    if rocm:
        return DeviceName("rocm", int(rocm[1]) if rocm[1] else None)
    found: list[str] = []
    known = [spec.name for spec in device_specs.specs()]
    for word in text.split(","):
        match = _VIRTUAL.fullmatch(word)
        name = f"virtual:{match[1]}" if match and match[1] else device_specs.DEFAULT
        described = device_specs.not_executed().get(name) if match else None
        if described:
            raise UsageError(
                f"{name} cannot run programs: {described} code is not executed here",
                hint=f"`rocm-perf arch show {described}` has its numbers, and what was recorded on "
                f"one is analysed; there run {', '.join(known)}",
            )
        if match is None or name not in known:
            raise UsageError(
                f"no device is called {said}{text}",
                hint=f"there are auto, rocm, rocm:0 …, virtual, {', '.join(known)}, "
                f"{device_specs.DEFAULT}*2, and lists of virtual ones with commas",
            )
        found += [name] * int(match[2] or 1)
    if len(found) > MOST:
        raise UsageError(f"{said}{text} makes {len(found)} devices", hint=f"at most {MOST}")
    return DeviceName("virtual", devices=tuple(found))
