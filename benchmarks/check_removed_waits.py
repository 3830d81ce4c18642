"""How many waits that a compiler put are missed when they are not there.

    python benchmarks/check_removed_waits.py PROGRAM [ARGUMENT ...]  # a second for each wait

Each is taken out, and `rocm-perf check --tool hazards` run: of an s_waitcnt one counter, of an
s_nop one wait state; an s_nop of one changes places with what follows. Compilers wait more than
they must, so what was not found is listed, to be looked at.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rocm_perf_lab.codeobject.elf import ELF_MAGIC, EM_AMDGPU, Elf  # noqa: E402

RUN = (sys.executable, "-m", "rocm_perf_lab")
NOP, WAIT = 0xBF800000, 0xBF8C0000
# The bits of each counter in s_waitcnt. All of them set: it waits for nothing.
COUNTERS = {"vmcnt": 0xC00F, "expcnt": 0x70, "lgkmcnt": 0xF00}


@dataclass(frozen=True)
class Removal:
    where: str
    what: str
    offset: int  # in the program's file
    words: tuple[int, ...]  # what is there then

    def apply(self, program: bytes) -> bytes:
        out = bytearray(program)
        struct.pack_into(f"<{len(self.words)}I", out, self.offset, *self.words)
        return bytes(out)


def code_at(program: bytes) -> tuple[int, Elf]:
    """Where the program's first code object begins in it."""
    at = -1
    while (at := program.find(ELF_MAGIC, at + 1)) >= 0:
        if struct.unpack_from("<H", program, at + 18)[0] == EM_AMDGPU:
            return at, Elf(program[at:])
    sys.exit("no code object in it, or a compressed one")


def removals(path: Path, program: bytes) -> Iterator[Removal]:
    start, elf = code_at(program)
    text = elf.section(".text")
    assert text is not None
    first = start + text.offset - text.address
    listed = subprocess.run((*RUN, "disasm", "--json", path), capture_output=True, check=True)
    for kernel in json.loads(listed.stdout)["kernels"]:
        code = kernel["instructions"]
        for n, one in enumerate(code):
            offset = first + one["address"]
            where = f"{kernel['demangled'].split('(')[0]} {one['address']:#x} {one['text']}"
            for what, words in without(code[n : n + 3], struct.unpack_from("<4I", program, offset)):
                yield Removal(where, what, offset, words)


def without(
    code: Sequence[dict[str, str]], words: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Of the first of these instructions: what is taken out of it, and what is there then."""
    word, is_nop = words[0], words[0] & 0xFFFF0000 == NOP
    if word & 0xFFFF0000 == WAIT:
        for name, bits in COUNTERS.items():
            if word & bits != bits:
                yield f"no {name}", (word | bits,)
    if is_nop and word & 15:
        yield "one less", (word - 1,)
    elif is_nop and not re.match("s_(cbranch|branch|waitcnt|nop)", code[1]["text"]):
        yield "behind the next", (*words[1 : 1 + len(code[1]["encoding"].split())], word)


def findings(program: Path, arguments: Sequence[str]) -> int:
    command = (*RUN, "check", "--json", "--tool", "hazards", program, "--", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{program}: {done.stderr}")
    return len(json.loads(done.stdout)["findings"])


def main(path: Path, arguments: Sequence[str]) -> None:
    if findings(path, arguments):
        sys.exit("it has findings as it is")
    program, found, tried = path.read_bytes(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / path.name
        for removal in removals(path, program):
            changed.write_bytes(removal.apply(program))
            changed.chmod(0o755)
            tried += 1
            if findings(changed, arguments):
                found += 1
            else:
                print(f"not found: {removal.where}: {removal.what}", flush=True)
    print(f"{found} of {tried} found")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
