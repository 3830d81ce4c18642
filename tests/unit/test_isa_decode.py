"""Every instruction of the table, through LLVM and back.

Encodings with random operands and modifiers are made from the bit fields; our text for them is
assembled by LLVM and must give the same bits. Where llvm-mc is here, its own text for the same
bits must be ours to the letter.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_perf_lab.virtual.isa.op import Op
from rocm_perf_lab.virtual.isa.table import all_ops, vop3_code
from support import machine
from support.isa_machine import assemble_all, assembler, disassemble, need_library

PER_FORM = 2


class Encoder:
    """Random but canonical encodings: unused fields zero, registers aligned where they must be."""

    def __init__(self, seed: int, isa: str) -> None:
        self.random = random.Random(seed)
        self.isa = isa

    def r(self, bits: int) -> int:
        return self.random.getrandbits(bits)

    def even(self, bits: int) -> int:
        return 2 * self.r(bits - 1)

    def some(self, value: int, chance: float = 0.3) -> int:
        return value if self.random.random() < chance else 0

    def ssrc(self, wide: bool) -> int:
        register = self.even(6) if wide else self.r(6)
        inline = [
            128 + self.random.randrange(65),
            193 + self.random.randrange(16),
            240 + self.random.randrange(9),
        ]
        return self.random.choice([register, register, 106, 126, *inline, 255])

    def vsrc(self, wide: bool = False) -> int:
        if wide:
            return self.random.choice([256 + self.even(8), 256 + self.even(8), self.even(6), 106])
        inline = [
            128 + self.random.randrange(65),
            193 + self.random.randrange(16),
            240 + self.random.randrange(9),
        ]
        return self.random.choice(
            [256 + self.r(8), 256 + self.r(8), 256 + self.r(8), self.even(6), 106, *inline]
        )

    def literal(self, op: Op) -> int:
        small = any("16" in t for t in op.src)
        value = self.r(16) if small else self.r(32)
        return value | 0x200  # never an inline constant

    def encode(self, op: Op, form: str) -> list[int] | None:
        maker: Callable[[Op], list[int] | None] = getattr(self, f"_{form.lower()}")
        return maker(op)

    def _sop2(self, op: Op) -> list[int]:
        sources = [self.ssrc("64" in t) for t in op.src]
        return [
            2 << 30 | op.code << 23 | self.even(6) << 16 | sources[1] << 8 | sources[0],
            self.literal(op),
        ]

    def _sop1(self, op: Op) -> list[int]:
        source = self.ssrc("64" in op.src[0]) if op.src else 0
        if op.kind in ("setpc", "swappc", "movrels", "movreld"):
            source = self.even(6)
        dst = self.even(6) if op.dst else 0
        return [0x17D << 23 | dst << 16 | op.code << 8 | source, self.literal(op)]

    def _sopc(self, op: Op) -> list[int]:
        second = self.r(4) if op.src[1] == "imm4" else self.ssrc("64" in op.src[1])
        return [
            0x17E << 23 | op.code << 16 | second << 8 | self.ssrc("64" in op.src[0]),
            self.literal(op),
        ]

    def _sopk(self, op: Op) -> list[int]:
        return [
            0xB << 28 | op.code << 23 | (0 if "lit" in op.src else self.even(6)) << 16 | self.r(16),
            self.r(32),
        ]

    def _sopp(self, op: Op) -> list[int]:
        kind = op.src[0] if op.src else ""
        value = {"target": self.r(16), "waitcnt": self.r(16) & 0xCF7F, "sendmsg": 1, "": 0}.get(
            kind, self.r(4)
        )
        return [0x17F << 23 | op.code << 16 | value]

    def _smem(self, op: Op) -> list[int]:
        word = 0x30 << 26 | op.code << 18
        if "bare" in op.flags:
            return [word | (self.even(5) << 6 if op.dst else 0), 0]
        word |= self.even(4)
        if "discard" not in op.flags:
            word |= 4 * self.r(3) << 6 | self.some(1 << 16)
        mode = self.random.randrange(3)
        if mode == 0:
            return [word | 1 << 17, self.r(21)]
        return (
            [word, self.r(6)]
            if mode == 1
            else [word | 1 << 17 | 1 << 14, self.r(20) | self.r(6) << 25]
        )

    def _vop2(self, op: Op) -> list[int]:
        if op.dst == "f64":
            return [op.code << 25 | self.even(8) << 17 | self.even(8) << 9 | self.vsrc(True)]
        source = self.random.choice([self.vsrc(), 255]) if "lit" not in op.src else self.vsrc()
        return [op.code << 25 | self.r(8) << 17 | self.r(8) << 9 | source, self.literal(op)]

    def _vop1(self, op: Op) -> list[int]:
        if not op.src:
            return [0x3F << 25 | op.code << 9]
        register_only = op.kind in ("swap", "readfirstlane") or op.dst == "acc"
        wide = "64" in op.src[0]
        source = (
            256 + self.r(8)
            if register_only
            else self.vsrc(True)
            if wide
            else self.random.choice([self.vsrc(), 255])
        )
        dst = self.even(6) if op.dst == "sgpr" else self.even(8)
        return [0x3F << 25 | dst << 17 | op.code << 9 | source, self.literal(op)]

    def _vopc(self, op: Op) -> list[int]:
        return [0x3E << 25 | op.code << 17 | self.even(8) << 9 | self.vsrc("64" in op.src[0])]

    def _vop3(self, op: Op) -> list[int]:
        n = len(op.src)
        fp = [t.startswith("f") and t not in ("fp8",) for t in op.src]
        signs = sum(1 << k for k, is_float in enumerate(fp) if is_float)
        sources = [
            self.vsrc("64" in op.src[k] or "128" in op.src[k]) if k < n else 0 for k in range(3)
        ]
        word = 0x34 << 26 | (vop3_code(op) or 0) << 16
        word |= self.even(6) if op.dst in ("mask", "sgpr") else self.even(8) if op.dst else 0
        if op.kind in ("carry_out", "carry_in", "div_scale"):
            word |= self.even(6) << 8
        else:
            word |= self.some(self.r(3) & signs) << 8
        if op.kind in ("carry_in", "cndmask"):
            sources[2] = self.even(6)
        if op.kind in ("readlane", "writelane"):
            sources = [256 + self.r(8) if op.kind == "readlane" else self.r(6), self.r(6), 0]
        elif "opsel" in op.flags and op.dst in ("f16", "f16d", "i16", "u16"):
            word |= self.some(self.r(4) & (8 | ((1 << n) - 1))) << 11
        return [
            word,
            sources[0] | sources[1] << 9 | sources[2] << 18 | self.some(self.r(3) & signs) << 29,
        ]

    def _sdwa(self, op: Op) -> list[int] | None:
        if not op.src:
            return None
        top = {
            "VOP1": 0x3F << 25 | self.r(8) << 17 | op.code << 9,
            "VOPC": 0x3E << 25 | op.code << 17 | self.r(8) << 9,
        }
        word = top.get(op.encoding, op.code << 25 | self.r(8) << 17 | self.r(8) << 9) | 249
        sel = self.random.randrange
        extra = self.r(8) | sel(7) << 16
        extra |= (6 if op.encoding == "VOP1" else sel(7)) << 24
        if op.encoding == "VOPC":
            extra |= self.some(1 << 15 | self.even(6) << 8)
        else:
            extra |= sel(7) << 8 | sel(3) << 11
        return [word, extra]

    def _dpp(self, op: Op) -> list[int] | None:
        if not op.src:
            return None
        top = {"VOP1": 0x3F << 25 | self.even(8) << 17 | op.code << 9}
        word = top.get(op.encoding, op.code << 25 | self.even(8) << 17 | self.even(8) << 9) | 250
        wide = any("64" in t for t in (op.dst, *op.src))
        controls = [
            self.r(8),
            0x101 + self.random.randrange(15),
            0x11F,
            0x121,
            0x130,
            0x134,
            0x138,
            0x13C,
            0x140,
            0x141,
            0x142,
            0x143,
        ]
        control = 0x150 + self.r(4) if wide else self.random.choice(controls)
        return [word, self.even(8) | control << 8 | self.r(1) << 19 | self.r(8) << 24]

    def _vop3p(self, op: Op) -> list[int]:
        word = 0x1A7 << 23 | op.code << 16
        if "matrix" in op.flags:
            sparse = op.kind == "smfmac"
            third = (
                256 + self.r(8)
                if sparse
                else self.random.choice([256 + self.even(7), 128 + self.random.randrange(65)])
            )
            return [
                word | self.even(7) | self.r(1) << 15,
                256 + self.even(7) | (256 + self.even(7)) << 9 | third << 18,
            ]
        if op.name.startswith("v_accvgpr"):
            return [word | self.r(8) | 1 << 14, 256 + self.r(8) | 3 << 27]
        n = len(op.src)
        wide = "x2" in op.src[0] and "32" in op.src[0]
        sources = [(256 + self.even(8) if wide else self.vsrc()) if k < n else 0 for k in range(3)]
        mix = op.src[0] == "mix"
        high = self.r(3) & ((1 << n) - 1) if mix else 7 if n == 3 else 3
        if n < 3:
            high |= 4
        negatable = "f16" in op.src[0] or mix
        word |= self.r(8) if not wide else self.even(8)
        word |= (high >> 2) << 14 | self.some(self.r(3) & ((1 << n) - 1)) << 11
        low = self.some(self.r(3) & ((1 << n) - 1)) if negatable else 0
        return [
            word,
            sources[0] | sources[1] << 9 | sources[2] << 18 | (high & 3) << 27 | low << 29,
        ]

    def _ds(self, op: Op) -> list[int]:
        offset = 0x8000 | self.r(8) if "swizzle" in op.flags else self.some(self.r(16))
        word = 0x36 << 26 | op.code << 17 | offset
        if "gws" in op.name:
            return [
                0x36 << 26 | op.code << 17 | 1 << 16 | self.r(4),
                self.even(7) if "gwsdata" in op.flags else 0,
            ]
        rest = 0 if "noaddr" in op.flags else self.r(8)
        for n in range(len(op.src)):
            rest |= self.even(7) << 8 * (n + 1)
        return [word, rest | (self.even(7) << 24 if op.dst else 0)]

    def _segment(self, op: Op, segment: int) -> list[int]:
        word = (
            0x37 << 26
            | op.code << 18
            | segment << 14
            | self.some(self.r(12 if segment == 0 else 13))
        )
        returns = self.some(1)
        word |= returns << 16 | self.some(1 << 17)
        if self.isa == "gfx942" or op.kind != "atomic":  # LLVM forgets scc on some of gfx90a's
            word |= self.some(1 << 25)
        scalar = 0 if segment == 0 else self.random.choice([0x7F, self.even(6)])
        rest = scalar << 16
        if segment != 1:
            rest |= self.even(7)
        elif self.isa == "gfx942":
            by_lane = self.r(1)
            word |= by_lane << 13
            rest |= self.r(8) * by_lane
        elif scalar == 0x7F:
            rest |= self.r(8)
        if op.src:
            rest |= self.even(7) << 8
        if op.dst and (op.kind != "atomic" or returns):
            rest |= self.even(7) << 24
        return [word, rest]

    def _flat(self, op: Op) -> list[int]:
        return self._segment(op, 0)

    def _global(self, op: Op) -> list[int]:
        return self._segment(op, 2)

    def _scratch(self, op: Op) -> list[int]:
        return self._segment(op, 1)

    def _mubuf(self, op: Op) -> list[int]:
        word = 0x38 << 26 | op.code << 18
        if "bare" in op.flags:
            return [word, 0]
        if self.isa == "gfx942" or op.kind != "atomic":
            word |= self.some(1 << 15)
        return self._buffer(word | self.some(1 << 17))

    def _mtbuf(self, op: Op) -> list[int]:
        return self._buffer(
            0x3A << 26
            | op.code << 15
            | (1 + self.r(3)) << 19
            | self.random.choice([0, 1, 4, 7]) << 23
        )

    def _buffer(self, word: int) -> list[int]:
        lane = self.r(2)
        word |= self.some(self.r(12)) | lane << 12 | self.some(1 << 14)
        return [
            word,
            (self.even(7) if lane else 0) | self.even(7) << 8 | self.r(3) << 16 | self.r(6) << 24,
        ]


def forms(op: Op) -> list[str]:
    out = [op.encoding]
    if op.encoding in ("VOP1", "VOP2", "VOPC"):
        out += [
            f
            for f, flag in (("VOP3", "novop3"), ("SDWA", "nosdwa"), ("DPP", "nodpp"))
            if flag not in op.flags
        ]
    return out


def samples(isa: str) -> list[tuple[Op, str, bytes]]:
    encoder = Encoder(5, isa)
    out = []
    for op in all_ops():
        if isa not in op.arches:
            continue
        for form in forms(op):
            for _ in range(PER_FORM):
                words = encoder.encode(op, form)
                if words is not None:
                    out.append((op, form, b"".join(w.to_bytes(4, "little") for w in words)))
    return out


# LLVM has no text for these, or prints more than the bits say.
UNTOLD = {
    "v_nop",
    "v_clrexcp",
    "s_cbranch_g_fork",
    "s_cbranch_i_fork",
    "s_setvskip",
    "s_cbranch_join",
}


@pytest.mark.parametrize("isa", ["gfx90a", "gfx942"])
def test_our_text_assembles_to_the_same_bits(isa: str, tmp_path: Path) -> None:
    need_library()
    known = []
    for op, form, code in samples(isa):
        text, used = disassemble(isa, code)
        assert used, f"{op.name} as {form} is not decoded: {code.hex()}"
        assert text.split()[0].startswith(op.name), (op.name, text)
        known.append((op, form, code[:used], text))
    assembled = assemble_all(isa, [text for *_, text in known], tmp_path, lenient=True)
    accepted: dict[str, int] = {}
    for (op, form, code, text), back in zip(known, assembled, strict=True):
        if back is None:
            continue  # LLVM's assembler refuses operand combinations that its disassembler prints
        accepted[f"{op.name} {form}"] = 1
        # A literal or a smaller encoding may be chosen by the assembler: then it must say the same.
        assert back == code or disassemble(isa, back)[0] == text, (text, code.hex(), back.hex())
    wanted = {f"{op.name} {form}" for op, form, *_ in known if op.name not in UNTOLD}
    missing = sorted(wanted - set(accepted))
    assert len(missing) <= 0.02 * len(wanted), missing[:40]


def _llvm_mc() -> str | None:
    command = assembler()
    return command[0] if command and "llvm-mc" in command[0] else None


@pytest.mark.parametrize("isa", ["gfx90a", "gfx942"])
def test_our_text_is_llvms_to_the_letter(isa: str) -> None:
    need_library()
    tool = _llvm_mc()
    if tool is None:
        pytest.skip("needs llvm-mc as a disassembler")
    items = samples(isa)
    compared = 0
    for start in range(0, len(items), 400):
        part = items[start : start + 400]
        lines = []
        for n, (_, _, code) in enumerate(part):
            marker = (0xBF800000 | 0x1000 + n).to_bytes(4, "little")
            lines += [" ".join(f"0x{b:02x}" for b in x) for x in (marker, code)]
        done = subprocess.run(
            [tool, "-triple=amdgcn", f"-mcpu={isa}", "-disassemble", "-show-encoding"], input="\n".join(lines) + "\n",
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        current: int | None = None
        for line in done.stdout.splitlines():
            match = re.match(r"\s*(.*?)\s*(?:;|//) encoding: \[(.*)\]", line)
            if match is None:
                continue
            text = re.sub(r"\s+", " ", match[1])
            bits = bytes(int(b, 16) for b in match[2].split(","))
            marker_match = re.fullmatch(r"s_nop 0x(1[0-9a-f]{3})", text)
            if marker_match:
                current = int(marker_match[1], 16) - 0x1000
                continue
            if current is None:
                continue
            op, _, code = part[current]
            current = None
            if code[: len(bits)] != bits or "/*" in text or op.name in UNTOLD:
                continue
            assert disassemble(isa, code) == (text, len(bits)), code.hex()
            compared += 1
    assert compared > 0.9 * len(items)


KERNEL = """
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define D __attribute__((device))
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
extern "C" __global__ void mixed(float* a, double* b, int* c, long n) {
  __shared__ float tile[256];
  int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  float local[24];
  for (int k = 0; k < 24; ++k) local[k] = a[i + k * n];
  tile[__builtin_amdgcn_workitem_id_x()] = __builtin_sinf(a[i]) + __builtin_expf(local[c[i] % 24]);
  __builtin_amdgcn_s_barrier();
  if (i < n) b[i] = b[i] / (double)tile[255 - __builtin_amdgcn_workitem_id_x()] + __builtin_sqrt(b[i]);
  __hip_atomic_fetch_add(&c[i & 7], (int)(n / (i + 1)), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  a[i] = local[c[i] & 15] / a[i + 1] + __builtin_fmodf(a[i], 3.0f);
}
"""


@pytest.mark.parametrize("isa", ["gfx90a", "gfx942"])
def test_whole_compiled_kernels_read_as_llvm_objdump_reads_them(isa: str, tmp_path: Path) -> None:
    need_library()
    versions = [f"-{n}" for n in range(24, 17, -1)] + [""]
    pair = next(
        (
            (clang, objdump)
            for v in versions
            if (clang := machine.which(f"clang{v}"))
            and (objdump := machine.which(f"llvm-objdump{v}"))
        ),
        None,
    )
    if pair is None:
        pytest.skip("needs clang and llvm-objdump of one version")
    source, target = tmp_path / "k.hip", tmp_path / "k.o"
    source.write_text(KERNEL)
    flags = [
        "-x",
        "hip",
        f"--offload-arch={isa}",
        "-nogpulib",
        "-nogpuinc",
        "--offload-device-only",
        "-O3",
        "-fno-gpu-rdc",
    ]
    built = subprocess.run(
        [pair[0], *flags, "-S", str(source), "-o", str(tmp_path / "k.s")],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        pytest.skip(f"this clang does not compile HIP for {isa}: {built.stderr[:200]}")
    command = [
        pair[0],
        "-x",
        "assembler",
        "-target",
        "amdgcn-amd-amdhsa",
        f"-mcpu={isa}",
        "-c",
        str(tmp_path / "k.s"),
        "-o",
        str(target),
    ]
    subprocess.run(command, check=True)
    listing = subprocess.run(
        [pair[1], "-d", str(target)], capture_output=True, text=True, check=True
    ).stdout
    compared = 0
    for line in listing.splitlines():
        match = re.match(r"\s+(\S.*?)\s+// [0-9A-F]+: ([0-9A-F ]+)", line)
        if match:
            code = b"".join(int(w, 16).to_bytes(4, "little") for w in match[2].split())
            assert disassemble(isa, code) == (re.sub(r"\s+", " ", match[1]), len(code))
            compared += 1
    assert compared > 200
