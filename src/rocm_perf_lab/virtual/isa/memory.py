"""LDS and vector memory: DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF."""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from rocm_perf_lab.virtual.isa.op import Op, rows

# Read-modify-write bodies over the old value m and the data x (y: second data): the new value.
_ATOMICS_32 = {
    "swap": ("u32", "x"), "cmpswap": ("u32", "m == y ? x : m"), "add": ("u32", "m + x"),
    "sub": ("u32", "m - x"), "smin": ("i32", "m < x ? m : x"), "umin": ("u32", "m < x ? m : x"),
    "smax": ("i32", "m > x ? m : x"), "umax": ("u32", "m > x ? m : x"), "and": ("u32", "m & x"),
    "or": ("u32", "m | x"), "xor": ("u32", "m ^ x"), "inc": ("u32", "m >= x ? 0 : m + 1"),
    "dec": ("u32", "m == 0 || m > x ? x : m - 1"),
}  # fmt: skip
_ATOMICS_FLOAT = {
    77: ("add_f32", "f32", "m + x"), 78: ("pk_add_f16", "u32", "pk_add_f16(m, x)"),
    79: ("add_f64", "f64", "m + x"), 80: ("min_f64", "f64", "min_f64(m, x)"),
    81: ("max_f64", "f64", "max_f64(m, x)"), 82: ("pk_add_bf16", "u32", "pk_add_bf16(m, x)"),
}  # fmt: skip

_LOADS = {
    16: ("load_ubyte", 1, "u8"), 17: ("load_sbyte", 1, "i8"), 18: ("load_ushort", 1, "u16"),
    19: ("load_sshort", 1, "i16"), 20: ("load_dword", 1, "u32"), 21: ("load_dwordx2", 2, "u32"),
    22: ("load_dwordx3", 3, "u32"), 23: ("load_dwordx4", 4, "u32"),
    32: ("load_ubyte_d16", 1, "u8_lo"), 33: ("load_ubyte_d16_hi", 1, "u8_hi"),
    34: ("load_sbyte_d16", 1, "i8_lo"), 35: ("load_sbyte_d16_hi", 1, "i8_hi"),
    36: ("load_short_d16", 1, "u16_lo"), 37: ("load_short_d16_hi", 1, "u16_hi"),
}  # fmt: skip
_STORES = {
    24: ("store_byte", 1, "u8"), 25: ("store_byte_d16_hi", 1, "u8_hi"), 26: ("store_short", 1, "u16"),
    27: ("store_short_d16_hi", 1, "u16_hi"), 28: ("store_dword", 1, "u32"),
    29: ("store_dwordx2", 2, "u32"), 30: ("store_dwordx3", 3, "u32"), 31: ("store_dwordx4", 4, "u32"),
}  # fmt: skip
_LDS_LOADS = {38: ("ubyte", "u8"), 39: ("sbyte", "i8"), 40: ("ushort", "u16"), 41: ("sshort", "i16"), 42: ("dword", "u32")}  # fmt: skip
_TYPE = {1: "b32", 2: "b64", 3: "b96", 4: "b128"}


def _vmem(prefix: str, encoding: str) -> list[Op]:
    ops: list[Op] = []
    for code, (name, regs, element) in _LOADS.items():
        ops.append(Op(f"{prefix}_{name}", encoding, code, _TYPE[regs], (), "", "load", frozenset({"load"}),
                      params={"element": element, "regs": str(regs)}))  # fmt: skip
    for code, (name, regs, element) in _STORES.items():
        ops.append(Op(f"{prefix}_{name}", encoding, code, "", (_TYPE[regs],), "", "store", frozenset({"store"}),
                      params={"element": element, "regs": str(regs)}))  # fmt: skip
    return ops


def _atomics(prefix: str, encoding: str) -> list[Op]:
    ops: list[Op] = []
    for index, (name, (element, body)) in enumerate(_ATOMICS_32.items()):
        for base, suffix, bits in ((64, "", 32), (96, "_x2", 64)):
            t = element.replace("32", str(bits))
            d = _TYPE[bits // 32]
            data = _TYPE[bits // 16] if name == "cmpswap" else d
            ops.append(Op(f"{prefix}_atomic_{name}{suffix}", encoding, base + index, d, (data,), body, "atomic",
                          frozenset({"atomic"}), params={"element": t}))  # fmt: skip
    for code, (name, element, body) in _ATOMICS_FLOAT.items():
        only_942 = code == 82 or (prefix == "flat" and code in (77, 78))
        d = "b64" if element == "f64" else "b32"
        if encoding == "MUBUF" and code == 82:
            continue
        ops.append(Op(f"{prefix}_atomic_{name}", encoding, code, d, (d,), body, "atomic",
                      frozenset({"atomic"}), ("gfx942",) if only_942 else ("gfx90a", "gfx942"),
                      params={"element": element}))  # fmt: skip
    return ops


def _to_lds(prefix: str, encoding: str) -> list[Op]:
    return [
        Op(f"{prefix}_load_lds_{name}", encoding, code, "", (), "", "load_lds", frozenset({"load", "to_lds"}),
           ("gfx942",), params={"element": element, "regs": "1"})
        for code, (name, element) in _LDS_LOADS.items()
    ]  # fmt: skip


_CACHE = """
40 buffer_wbl2 : :: :: kind=nothing bare
41 buffer_invl2 : :: :: kind=nothing bare @gfx90a
41 buffer_inv : :: :: kind=nothing bare @gfx942
62 buffer_wbinvl1 : :: :: kind=nothing bare
63 buffer_wbinvl1_vol : :: :: kind=nothing bare
"""


def _formatted(prefix: str, encoding: str) -> list[Op]:
    """Typed buffer accesses: decoded, not executed (no compiler emits them for compute)."""
    ops = []
    for base, d16 in ((0, ""), (8, "d16_")):
        for n, parts in enumerate(("x", "xy", "xyz", "xyzw")):
            t = _TYPE[(n + 2) // 2 if d16 else n + 1]
            ops.append(Op(f"{prefix}_load_format_{d16}{parts}", encoding, base + n, t, (), "", "unmodelled",
                          frozenset({"load"})))  # fmt: skip
            ops.append(Op(f"{prefix}_store_format_{d16}{parts}", encoding, base + 4 + n, "", (t,), "", "unmodelled",
                          frozenset({"store"})))  # fmt: skip
    if encoding == "MUBUF":
        ops.append(
            Op(
                "buffer_load_format_d16_hi_x",
                encoding,
                38,
                "b32",
                (),
                "",
                "unmodelled",
                frozenset({"load"}),
            )
        )
        ops.append(
            Op(
                "buffer_store_format_d16_hi_x",
                encoding,
                39,
                "",
                ("b32",),
                "",
                "unmodelled",
                frozenset({"store"}),
            )
        )
    return ops


# Data-share read-modify-write: offset from the first opcode of the group, name, element, body.
_DS_RMW = {
    0: ("add", "u", "m + x"), 1: ("sub", "u", "m - x"), 2: ("rsub", "u", "x - m"),
    3: ("inc", "u", "m >= x ? 0 : m + 1"), 4: ("dec", "u", "m == 0 || m > x ? x : m - 1"),
    5: ("min", "i", "m < x ? m : x"), 6: ("max", "i", "m > x ? m : x"),
    7: ("min", "u", "m < x ? m : x"), 8: ("max", "u", "m > x ? m : x"),
    9: ("and", "b", "m & x"), 10: ("or", "b", "m | x"), 11: ("xor", "b", "m ^ x"),
    12: ("mskor", "b", "(m & ~x) | y"), 16: ("cmpst", "b", "m == x ? y : m"),
    17: ("cmpst", "f", "m == x ? y : m"), 18: ("min", "f", "ds_min(m, x)"), 19: ("max", "f", "ds_max(m, x)"),
}  # fmt: skip


def _ds_rmw() -> list[Op]:
    ops = []

    def add(name: str, t: str, code: int, body: str, rtn: bool, arches: tuple[str, ...]) -> None:
        bits = t[1:]
        register = "b64" if bits == "64" else "b32"
        two = name in ("mskor", "cmpst", "wrap")
        element = t.replace("b", "u")
        ops.append(Op(f"ds_{name}{'_rtn' if rtn else ''}_{t}", "DS", code, register if rtn else "",
                      (register,) * (2 if two else 1), body, "ds_rmw", frozenset({"atomic"}), arches,
                      {"element": element}))  # fmt: skip

    both = ("gfx90a", "gfx942")
    for bits, base in (("32", 0), ("64", 64)):
        for offset, (name, letter, body) in _DS_RMW.items():
            for rtn in (False, True):
                add(name, letter + bits, base + offset + (32 if rtn else 0), body, rtn, both)
        add("wrxchg", "b" + bits, base + 45, "x", True, both)
    add("wrap", "b32", 52, "m >= x ? m - x : m + y", True, both)
    for rtn in (False, True):
        add("add", "f32", 21 + 32 * rtn, "m + x", rtn, both)
        add("add", "f64", 92 + 32 * rtn, "m + x", rtn, both)
        rt = "_rtn" if rtn else ""
        for code, rcode, t in ((23, 183, "f16"), (24, 184, "bf16")):
            ops.append(Op(f"ds_pk_add{rt}_{t}", "DS", rcode if rtn else code, "b32" if rtn else "", ("b32",),
                          f"pk_add_{t}(m, x)", "ds_rmw", frozenset({"atomic"}), ("gfx942",),
                          {"element": "u32"}))  # fmt: skip
    return ops


_DS = """
13 ds_write_b32 : b32 :: :: kind=ds_write element=u32 regs=1
14 ds_write2_b32 : b32 b32 :: :: kind=ds_write2 stride=4 regs=1 two
15 ds_write2st64_b32 : b32 b32 :: :: kind=ds_write2 stride=256 regs=1 two
29 ds_write_addtid_b32 : b32 :: :: kind=ds_write_addtid noaddr
30 ds_write_b8 : b32 :: :: kind=ds_write element=u8 regs=1
31 ds_write_b16 : b32 :: :: kind=ds_write element=u16 regs=1
46 ds_wrxchg2_rtn_b32 b64: b32 b32 :: :: kind=ds_xchg2 stride=4 regs=1 two
47 ds_wrxchg2st64_rtn_b32 b64: b32 b32 :: :: kind=ds_xchg2 stride=256 regs=1 two
54 ds_read_b32 b32: :: :: kind=ds_read element=u32 regs=1
55 ds_read2_b32 b64: :: :: kind=ds_read2 stride=4 regs=1 two
56 ds_read2st64_b32 b64: :: :: kind=ds_read2 stride=256 regs=1 two
57 ds_read_i8 b32: :: :: kind=ds_read element=i8 regs=1
58 ds_read_u8 b32: :: :: kind=ds_read element=u8 regs=1
59 ds_read_i16 b32: :: :: kind=ds_read element=i16 regs=1
60 ds_read_u16 b32: :: :: kind=ds_read element=u16 regs=1
61 ds_swizzle_b32 b32: :: :: kind=ds_swizzle swizzle
62 ds_permute_b32 b32: b32 :: :: kind=ds_permute
63 ds_bpermute_b32 b32: b32 :: :: kind=ds_bpermute
77 ds_write_b64 : b64 :: :: kind=ds_write element=u32 regs=2
78 ds_write2_b64 : b64 b64 :: :: kind=ds_write2 stride=8 regs=2 two
79 ds_write2st64_b64 : b64 b64 :: :: kind=ds_write2 stride=512 regs=2 two
84 ds_write_b8_d16_hi : b32 :: :: kind=ds_write element=u8_hi regs=1
85 ds_write_b16_d16_hi : b32 :: :: kind=ds_write element=u16_hi regs=1
86 ds_read_u8_d16 b32: :: :: kind=ds_read element=u8_lo regs=1
87 ds_read_u8_d16_hi b32: :: :: kind=ds_read element=u8_hi regs=1
88 ds_read_i8_d16 b32: :: :: kind=ds_read element=i8_lo regs=1
89 ds_read_i8_d16_hi b32: :: :: kind=ds_read element=i8_hi regs=1
90 ds_read_u16_d16 b32: :: :: kind=ds_read element=u16_lo regs=1
91 ds_read_u16_d16_hi b32: :: :: kind=ds_read element=u16_hi regs=1
110 ds_wrxchg2_rtn_b64 b128: b64 b64 :: :: kind=ds_xchg2 stride=8 regs=2 two
111 ds_wrxchg2st64_rtn_b64 b128: b64 b64 :: :: kind=ds_xchg2 stride=512 regs=2 two
118 ds_read_b64 b64: :: :: kind=ds_read element=u32 regs=2
119 ds_read2_b64 b128: :: :: kind=ds_read2 stride=8 regs=2 two
120 ds_read2st64_b64 b128: :: :: kind=ds_read2 stride=512 regs=2 two
126 ds_condxchg32_rtn_b64 b64: b64 :: :: kind=unmodelled
152 ds_gws_sema_release_all : :: :: kind=unmodelled noaddr
153 ds_gws_init : b32 :: :: kind=unmodelled noaddr gwsdata
154 ds_gws_sema_v : :: :: kind=unmodelled noaddr
155 ds_gws_sema_br : b32 :: :: kind=unmodelled noaddr gwsdata
156 ds_gws_sema_p : :: :: kind=unmodelled noaddr
157 ds_gws_barrier : b32 :: :: kind=unmodelled noaddr gwsdata
182 ds_read_addtid_b32 b32: :: :: kind=ds_read_addtid noaddr
189 ds_consume b32: :: :: kind=ds_append noaddr sign=-
190 ds_append b32: :: :: kind=ds_append noaddr sign=+
222 ds_write_b96 : b96 :: :: kind=ds_write element=u32 regs=3
223 ds_write_b128 : b128 :: :: kind=ds_write element=u32 regs=4
254 ds_read_b96 b96: :: :: kind=ds_read element=u32 regs=3
255 ds_read_b128 b128: :: :: kind=ds_read element=u32 regs=4
"""


def memory_ops() -> list[Op]:
    ops = rows(_DS, "DS", "") + _ds_rmw()
    for prefix, encoding in (("flat", "FLAT"), ("global", "GLOBAL")):
        ops += _vmem(prefix, encoding) + _atomics(prefix, encoding)
    ops += _vmem("scratch", "SCRATCH") + _to_lds("global", "GLOBAL") + _to_lds("scratch", "SCRATCH")
    ops += _vmem("buffer", "MUBUF") + _atomics("buffer", "MUBUF") + rows(_CACHE, "MUBUF", "")
    ops += _formatted("buffer", "MUBUF") + _formatted("tbuffer", "MTBUF")
    return ops
