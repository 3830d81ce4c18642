"""MFMA and SMFMAC: matrix instructions over a whole wave.

One row per instruction: opcode, shape MxNxK, blocks, type of A and B, type of C and D. The names
of gfx90a and gfx942 differ for the same opcode.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from rocm_perf_lab.virtual.isa.op import Op

# code, arches, M, N, K, blocks, A type, B type, D type
_MFMA = """
62 942 16 16 8  1 xf32 xf32 f32
63 942 32 32 4  1 xf32 xf32 f32
64 all 32 32 1  2 f32 f32 f32
65 all 16 16 1  4 f32 f32 f32
66 all 4  4  1 16 f32 f32 f32
68 all 32 32 2  1 f32 f32 f32
69 all 16 16 4  1 f32 f32 f32
72 all 32 32 4  2 f16 f16 f32
73 all 16 16 4  4 f16 f16 f32
74 all 4  4  4 16 f16 f16 f32
76 all 32 32 8  1 f16 f16 f32
77 all 16 16 16 1 f16 f16 f32
80 all 32 32 4  2 i8 i8 i32
81 all 16 16 4  4 i8 i8 i32
82 all 4  4  4 16 i8 i8 i32
84 90a 32 32 8  1 i8 i8 i32
85 90a 16 16 16 1 i8 i8 i32
86 942 32 32 16 1 i8 i8 i32
87 942 16 16 32 1 i8 i8 i32
93 942 32 32 4  2 bf16 bf16 f32
94 942 16 16 4  4 bf16 bf16 f32
95 942 4  4  4 16 bf16 bf16 f32
96 942 32 32 8  1 bf16 bf16 f32
97 942 16 16 16 1 bf16 bf16 f32
99 90a 32 32 4  2 bf16_1k bf16_1k f32
100 90a 16 16 4 4 bf16_1k bf16_1k f32
101 90a 4  4  4 16 bf16_1k bf16_1k f32
102 90a 32 32 8  1 bf16_1k bf16_1k f32
103 90a 16 16 16 1 bf16_1k bf16_1k f32
104 90a 32 32 2 2 bf16 bf16 f32
105 90a 16 16 2 4 bf16 bf16 f32
107 90a 4 4 2 16 bf16 bf16 f32
108 90a 32 32 4 1 bf16 bf16 f32
109 90a 16 16 8 1 bf16 bf16 f32
110 all 16 16 4 1 f64 f64 f64
111 all 4 4 4 4 f64 f64 f64
112 942 16 16 32 1 bf8 bf8 f32
113 942 16 16 32 1 bf8 fp8 f32
114 942 16 16 32 1 fp8 bf8 f32
115 942 16 16 32 1 fp8 fp8 f32
116 942 32 32 16 1 bf8 bf8 f32
117 942 32 32 16 1 bf8 fp8 f32
118 942 32 32 16 1 fp8 bf8 f32
119 942 32 32 16 1 fp8 fp8 f32
"""

_SMFMAC = """
98 942 16 16 32 1 f16 f16 f32
100 942 32 32 16 1 f16 f16 f32
102 942 16 16 32 1 bf16 bf16 f32
104 942 32 32 16 1 bf16 bf16 f32
106 942 16 16 64 1 i8 i8 i32
108 942 32 32 32 1 i8 i8 i32
120 942 16 16 64 1 bf8 bf8 f32
121 942 16 16 64 1 bf8 fp8 f32
122 942 16 16 64 1 fp8 bf8 f32
123 942 16 16 64 1 fp8 fp8 f32
124 942 32 32 32 1 bf8 bf8 f32
125 942 32 32 32 1 bf8 fp8 f32
126 942 32 32 32 1 fp8 bf8 f32
127 942 32 32 32 1 fp8 fp8 f32
"""

_BITS = {
    "xf32": 32,
    "f32": 32,
    "f64": 64,
    "f16": 16,
    "bf16": 16,
    "bf16_1k": 16,
    "i8": 8,
    "fp8": 8,
    "bf8": 8,
}
_OF_WIDTH = {1: "b32", 2: "b64", 4: "b128", 8: "b256", 16: "b512", 32: "b1024"}


def _type(registers: int) -> str:
    return _OF_WIDTH[registers]


def _name(
    arch: str, sparse: bool, m: int, n: int, k: int, blocks: int, a: str, b: str, d: str
) -> str:
    shape = f"{m}x{n}x{k}"
    if sparse:
        types = a if a == b and a not in ("fp8", "bf8") else f"{a}_{b}"
        return f"v_smfmac_{d}_{shape}_{types}"
    if arch == "gfx90a":
        return f"v_mfma_{d}_{shape}{a}"
    types = a if a == b and a not in ("fp8", "bf8") else f"{a}_{b}"
    return f"v_mfma_{d}_{shape}_{f'{blocks}b_' if blocks > 1 else ''}{types}"


def _read(text: str, sparse: bool) -> list[Op]:
    ops = []
    for line in text.strip().splitlines():
        code, arches, m, n, k, blocks, a, b, d = line.split()
        mi, ni, ki, bi = int(m), int(n), int(k), int(blocks)
        for arch in {"all": ("gfx90a", "gfx942"), "942": ("gfx942",), "90a": ("gfx90a",)}[arches]:
            element = {"bf16_1k": "bf16"}
            a_regs = max(1, mi * ki * bi * _BITS[a] // 64 // 32) // (2 if sparse else 1)
            b_regs = max(1, ni * ki * bi * _BITS[b] // 64 // 32)
            d_regs = mi * ni * bi * (64 if d == "f64" else 32) // 64 // 32
            params = {
                "m": m, "n": n, "k": k, "blocks": blocks, "a": element.get(a, a), "b": element.get(b, b),
                "d": d, "mops": str(2 * mi * ni * ki * bi // 512), "dst_regs": str(d_regs),
            }  # fmt: skip
            src = (_type(a_regs), _type(b_regs), "b32" if sparse else _type(d_regs))
            ops.append(
                Op(
                    _name(arch, sparse, mi, ni, ki, bi, a, b, d), "VOP3P", int(code), _type(d_regs), src,
                    "", "smfmac" if sparse else "mfma", frozenset({"matrix"}), (arch,), params,
                )
            )  # fmt: skip
    return ops


def matrix_ops() -> list[Op]:
    return _read(_MFMA, False) + _read(_SMFMAC, True)
