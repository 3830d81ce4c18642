"""Which GPU code is built for: names of targets in every spelling, and the machine in ELF flags.

The native reader takes its table from here; when the native part is configured,
`python -m rocm_perf_lab.codeobject.architecture FOLDER` writes it as C++.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The low byte of e_flags (EF_AMDGPU_MACH), as LLVM's assembler writes it.
MACHINES = {
    0x20: "gfx600", 0x21: "gfx601", 0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703",
    0x26: "gfx704", 0x28: "gfx801", 0x29: "gfx802", 0x2A: "gfx803", 0x2B: "gfx810", 0x2C: "gfx900",
    0x2D: "gfx902", 0x2E: "gfx904", 0x2F: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x32: "gfx90c",
    0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x36: "gfx1030", 0x37: "gfx1031",
    0x38: "gfx1032", 0x39: "gfx1033", 0x3A: "gfx602", 0x3B: "gfx705", 0x3C: "gfx805",
    0x3D: "gfx1035", 0x3E: "gfx1034", 0x3F: "gfx90a", 0x40: "gfx940", 0x41: "gfx1100",
    0x42: "gfx1013", 0x43: "gfx1150", 0x44: "gfx1103", 0x45: "gfx1036", 0x46: "gfx1101",
    0x47: "gfx1102", 0x48: "gfx1200", 0x4A: "gfx1151", 0x4B: "gfx941", 0x4C: "gfx942",
    0x4E: "gfx1201", 0x4F: "gfx950", 0x51: "gfx9-generic", 0x52: "gfx10-1-generic",
    0x53: "gfx10-3-generic", 0x54: "gfx11-generic", 0x55: "gfx1152", 0x59: "gfx12-generic",
    0x5F: "gfx9-4-generic",
}  # fmt: skip

# The devices that a generic target covers.
GENERIC = {
    "gfx9-generic": ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
    "gfx9-4-generic": ("gfx940", "gfx941", "gfx942", "gfx950"),
}

# The processor ends a target's name, whatever the triple before it: LLVM up to 22 writes
# amdgcn-amd-amdhsa--gfx942, LLVM 23 amdgpu9.42-amd-amdhsa-unknown-gfx942, bundles hipv4-...-gfx942.
_PROCESSOR = re.compile(r"(?:^|-)(gfx[0-9a-f]+(?:-\d+)?(?:-generic)?(?::[a-z]+[+-])*)$")


def processor(target: str) -> str:
    """`gfx942:sramecc+` of a target's name; empty where it names no AMD GPU."""
    found = _PROCESSOR.search(target)
    return found[1] if found else ""


def machine(flags: int) -> str:
    """The processor in an ELF header's flags; those LLVM 19 does not know are shown by number."""
    number = flags & 0xFF
    return MACHINES.get(number, f"EF_AMDGPU_MACH {number:#x}")


def main(folder: Path) -> None:
    rows = [f'{{{number:#x}, "{name}"}},' for number, name in MACHINES.items()]
    covers = [
        f'{{"{generic}", "{device}"}},' for generic, all_ in GENERIC.items() for device in all_
    ]
    text = "\n".join(
        [
            "// Written by rocm_perf_lab.codeobject.architecture; do not edit.",
            "constexpr Machine kMachines[] = {",
            *rows,
            "};",
            "constexpr Covers kCovers[] = {",
            *covers,
            "};",
            "",
        ]
    )
    (folder / "machines.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
