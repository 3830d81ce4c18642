"""The rebuilt program beside the one before: only the chosen kernel's code may differ.

Looked at before it runs. Addresses move when a kernel grows, so distances to other parts of the
object are left out of the comparison; so are line numbers, which the host's messages carry.
"""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

from rocm_perf_lab.codeobject.elf import SHT_DYNSYM, Elf, is_elf
from rocm_perf_lab.codeobject.kernels import CodeObject, read_code_objects
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.kernel_source import base_name

GETPC_MASK, GETPC = 0xFF80FF00, 0xBE801C00  # s_getpc_b64
ADDS = (0x100, 0x104)  # s_add_u32, s_addc_u32: the upper nine bits
LITERAL = 0xFF  # an operand that stands in the next word
REACH = 8  # words behind s_getpc_b64 in which its offset is added
INIT_SECTIONS = (".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors")
DT_NEEDED = 1


def check_program(before: Path, after: Path, symbol: str) -> str | None:
    """Why the rebuilt program is not the same but for one kernel; None: it is."""
    old, new = read_code_objects(before), read_code_objects(after)
    if len(old) != len(new):
        return f"{len(new)} code objects where {len(old)} were"
    for left, right in zip(old, new, strict=True):
        if reason := check_other_kernels(left, right, symbol):
            return reason
    return check_host(before.read_bytes(), after.read_bytes())


def check_other_kernels(before: CodeObject, after: CodeObject, symbol: str) -> str | None:
    """Every kernel but the chosen one (and other instances of its template) has the same code."""
    has = {kernel.name: kernel for kernel in after.kernels}
    chosen = base_name(symbol)
    for old in before.kernels:
        new = has.get(old.name)
        if new is None:
            return f"the kernel {old.name} is gone"
        if old.name == symbol or base_name(old.name) == chosen:
            continue
        if instructions(old.code) != instructions(new.code):
            return f"the code of another kernel changed: {old.name}"
        for what in ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "max_threads"):
            if getattr(old, what) != getattr(new, what):
                return f"the {what} of another kernel changed: {old.name}"
    return None


def instructions(code: bytes) -> tuple[int, ...]:
    """The words of a function, distances from the program counter set to zero."""
    words = list(struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4]))
    for at, word in enumerate(words):
        if word & GETPC_MASK != GETPC:
            continue
        place = at + 1
        while place < min(at + REACH, len(words) - 1):
            operand = words[place]
            if operand >> 23 in ADDS and LITERAL in (operand & 0xFF, operand >> 8 & 0xFF):
                words[place + 1] = 0
                place += 1
            place += 1
    # Padding behind the last instruction depends on what follows.
    while words and words[-1] in (0xBF800000, 0xBF9F0000, 0):  # s_nop 0, s_code_end
        words.pop()
    return tuple(words)


def check_host(before: bytes, after: bytes) -> str | None:
    """The host's half calls the same functions, needs the same libraries, starts the same way."""
    if not is_elf(before) or not is_elf(after):
        return None  # a bare code object has no host's half
    try:
        old, new = Elf(before), Elf(after)
        pairs = (
            ("imported functions", imports(old), imports(new)),
            ("libraries", needed(old), needed(new)),
            ("functions that run before main", starters(old), starters(new)),
        )
    except (struct.error, BadInput):
        return "the rebuilt program is damaged"
    for what, was, now in pairs:
        if was != now:
            changed = sorted((now - was) | (was - now))
            return f"the program's {what} changed: {', '.join(changed[:5])}"
    return None


def imports(elf: Elf) -> Counter[str]:
    """Names the dynamic linker will look for."""
    found: Counter[str] = Counter()
    for table in elf.sections:
        if table.type != SHT_DYNSYM or table.link >= len(elf.sections):
            continue
        names, body = elf.content(elf.sections[table.link]), elf.content(table)
        for at in range(0, len(body) - 23, 24):
            name, _, _, section = struct.unpack_from("<IBBH", body, at)
            if section == 0 and name:
                found[names[name : names.find(b"\0", name)].decode("latin-1")] += 1
    return found


def needed(elf: Elf) -> Counter[str]:
    dynamic = elf.section(".dynamic")
    if dynamic is None or dynamic.link >= len(elf.sections):
        return Counter()
    names, body = elf.content(elf.sections[dynamic.link]), elf.content(dynamic)
    entries = (struct.unpack_from("<QQ", body, at) for at in range(0, len(body) - 15, 16))
    return Counter(
        names[value : names.find(b"\0", value)].decode("latin-1")
        for tag, value in entries
        if tag == DT_NEEDED
    )


def starters(elf: Elf) -> Counter[str]:
    return Counter({s.name: s.size // 8 for s in elf.sections if s.name in INIT_SECTIONS})
