"""Loads, stores, atomics, LDS, scratch and the faults they raise."""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.isa_machine import LANES, Machine, assemble_all

U32, F32, F64 = np.uint32, np.float32, np.float64
LANE = np.arange(LANES, dtype=U32)


def machine(tmp_path: Path, text: str, isa: str = "gfx942", **keywords: Any) -> Machine:
    return Machine(assemble_all(isa, [text + "\ns_endpgm"], tmp_path)[0] or b"", isa, **keywords)


def addresses(m: Machine, register: int, base: int, stride: int) -> None:
    m.set_v(register, np.uint64(base) + np.uint64(stride) * LANE.astype(np.uint64))


def test_loads_of_every_width_and_extension(tmp_path: Path) -> None:
    loads = ["ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx2", "dwordx3", "dwordx4"]
    regs_of = [1, 1, 1, 1, 1, 2, 3, 4]
    lines = []
    for n, (name, regs) in enumerate(zip(loads, regs_of, strict=True)):
        first = 10 + 4 * n
        target = f"v{first}" if regs == 1 else f"v[{first}:{first + regs - 1}]"
        lines.append(f"global_load_{name} {target}, v[2:3], off offset:{n}")
    text = "\n".join(lines)
    for exec_mask in (2**64 - 1, 0xF00F_0000_8001_FFFE):
        m = machine(tmp_path, text)
        data = np.random.default_rng(0).integers(0, 256, 64 * 20 + 64, dtype=np.uint8)
        addresses(m, 2, m.map(data), 20)
        m.exec = exec_mask
        assert m.run() == "end"
        for lane in range(LANES):
            if not exec_mask >> lane & 1:
                assert (m.v[10:42, lane] == 0).all()
                continue
            at = 20 * lane

            def value(n: int, kind: str, at: int = at, data: Any = data) -> int:
                return int(data[at + n : at + n + np.dtype(kind).itemsize].view(kind)[0])

            assert m.v[10][lane] == value(0, "u1")
            assert m.v[14][lane] == value(1, "i1") & 0xFFFFFFFF
            assert m.v[18][lane] == value(2, "<u2")
            assert m.v[22][lane] == value(3, "<i2") & 0xFFFFFFFF
            assert m.v[26][lane] == value(4, "<u4")
            for n, regs in ((5, 2), (6, 3), (7, 4)):
                assert [m.v[10 + 4 * n + r][lane] for r in range(regs)] == [
                    value(n + 4 * r, "<u4") for r in range(regs)
                ]


def test_d16_loads_clear_the_other_half_as_with_ecc(tmp_path: Path) -> None:
    text = """
    global_load_short_d16 v10, v[2:3], off
    global_load_short_d16_hi v11, v[2:3], off
    global_load_sbyte_d16_hi v12, v[2:3], off
    global_store_short_d16_hi v[2:3], v13, off offset:2"""
    m = machine(tmp_path, text)
    data = np.random.default_rng(1).integers(0, 2**16, 128, dtype=np.uint16)
    before = data.copy()
    addresses(m, 2, m.map(data), 4)
    m.v[10:14] = 0xAAAA5555
    assert m.run() == "end"
    low = before[0::2].astype(U32)
    assert (m.v[10] == low).all()
    assert (m.v[11] == low << 16).all()
    signed = low.astype(np.uint8).view(np.int8).astype(np.int16).view(np.uint16).astype(U32)
    assert (m.v[12] == signed << 16).all()
    assert (data[1::2] == 0xAAAA).all() and (data[0::2] == before[0::2]).all()


def test_scalar_base_with_lane_offset_and_negative_immediate(tmp_path: Path) -> None:
    m = machine(
        tmp_path, "global_load_dword v10, v2, s[4:5] offset:-8\nglobal_store_dword v2, v10, s[6:7]"
    )
    source, target = np.arange(100, 300, dtype=U32), np.zeros(80, dtype=U32)
    m.pair(4, m.map(source) + 8)
    m.pair(6, m.map(target))
    m.set_v(2, 4 * LANE)
    assert m.run() == "end"
    assert (m.v[10] == source[:64]).all() and (target[:64] == source[:64]).all()


def test_scalar_loads(tmp_path: Path) -> None:
    text = "s_load_dword s10, s[4:5], 0x4\ns_load_dwordx4 s[12:15], s[4:5], 0x10\ns_mov_b32 s8, 8\ns_load_dwordx2 s[16:17], s[4:5], s8 offset:0x20\ns_load_dwordx16 s[20:35], s[4:5], 0x40"
    m = machine(tmp_path, text)
    data = np.arange(1000, 1064, dtype=U32)
    m.pair(4, m.map(data))
    assert m.run() == "end"
    assert m.s[10] == data[1]
    assert list(m.s[12:16]) == list(data[4:8])
    assert list(m.s[16:18]) == list(data[10:12])
    assert list(m.s[20:36]) == list(data[16:32])


def test_flat_goes_to_global_lds_and_scratch_by_aperture(tmp_path: Path) -> None:
    text = "flat_store_dword v[2:3], v4\nflat_load_dword v5, v[2:3]"
    m = machine(tmp_path, text)
    data = np.zeros(64, dtype=U32)
    base = m.map(data)
    a = np.uint64(base) + 4 * LANE.astype(np.uint64)
    a[16:32] = np.uint64(1 << 52) + 4 * LANE[16:32].astype(np.uint64)
    a[32:48] = (2 << 52) + 8
    m.set_v(2, a)
    m.set_v(4, LANE + 7)
    assert m.run() == "end"
    assert (m.v[5] == LANE + 7).all()
    assert (m.lds[64:128].view(U32) == LANE[16:32] + 7).all()
    assert (data[48:] == LANE[48:] + 7).all() and (data[16:48] == 0).all()


def test_scratch_is_private_to_each_lane(tmp_path: Path) -> None:
    text = """
    s_movk_i32 s4, 0x10
    scratch_store_dwordx2 off, v[2:3], s4 offset:4
    scratch_load_dword v5, off, s4 offset:8
    scratch_store_byte v6, v2, off offset:1
    scratch_load_ubyte v7, v6, off offset:1
    scratch_load_dword v8, v6, off"""
    m = machine(tmp_path, text)
    m.set_v(2, LANE * 3)
    m.set_v(3, LANE * 5)
    m.set_v(6, LANE * 0 + 64)
    assert m.run() == "end"
    assert (m.v[5] == LANE * 5).all()
    assert (m.v[7] == (LANE * 3) & 255).all()
    assert (m.v[8] == ((LANE * 3) & 255) << 8).all()


def test_private_memory_behind_a_buffer_may_be_read_at_odd_places(tmp_path: Path) -> None:
    text = """
    buffer_store_dword v2, off, s[0:3], 0 offset:8
    buffer_store_dword v3, off, s[0:3], 0 offset:12
    buffer_load_dword v4, off, s[0:3], 0 offset:9
    buffer_store_short v2, v5, s[0:3], 0 offen offset:11
    buffer_load_dword v6, off, s[0:3], 0 offset:8
    buffer_load_dword v7, off, s[0:3], 0 offset:12"""
    m = machine(tmp_path, text, "gfx90a")
    m.pair(0, m.lib.isa_scratch(m.handle) | 1 << 63)
    m.s[2], m.s[3] = 0xFFFFFFFF, 1 << 23 | 3 << 21 | 1 << 19  # lane added, 64 lanes, 4 bytes
    m.set_v(2, LANE * 0x01010101)
    m.set_v(3, LANE * 0x01010101 ^ U32(0xF0F0F0F0))
    m.set_v(5, LANE * 0)
    assert m.run() == "end"
    assert (m.v[4] == (LANE * 0x010101 | (LANE ^ U32(0xF0)) << 24)).all()
    assert (m.v[6] == LANE * 0x01010101).all()
    assert (m.v[7] == ((LANE * 0x010101) ^ U32(0xF0F0F0)) << 8 | LANE).all()


def test_lds_is_read_as_zero_a_little_past_its_end_and_where_libraries_mean_it(
    tmp_path: Path,
) -> None:
    m = machine(tmp_path, "ds_read_b64 v[4:5], v2\nds_read_b32 v6, v3")
    m.lds[:] = 0xAB
    m.set_v(2, 64 * LANE + 60)
    m.set_v(3, LANE * 0 + 0xF00000)
    m.v[4:7] = 77
    assert m.run() == "end"
    assert (m.v[4] == 0xABABABAB).all() and (m.v[6] == 0).all()
    assert (m.v[5][:63] == 0xABABABAB).all() and m.v[5][63] == 0
    for beyond in (4096 + 61, 0x10000, 0xFFFFFFFC):
        m = machine(tmp_path, "ds_read_b32 v4, v2")
        m.set_v(2, LANE * 0 + U32(beyond))
        assert m.run() == "fault" and m.fault()["kind"] == "lds_out_of_range"


def test_buffer_loads_check_their_range(tmp_path: Path) -> None:
    text = """
    buffer_load_dword v10, v2, s[4:7], 0 offen
    buffer_store_dword v3, v2, s[4:7], 0 offen offset:4
    buffer_load_dword v11, v4, s[4:7], 0 idxen"""
    m = machine(tmp_path, text)
    data = np.arange(64, dtype=U32)
    m.pair(4, m.map(data))
    m.s[6], m.s[7] = 40 * 4, 0x00027000
    m.set_v(2, 4 * LANE)
    m.set_v(3, LANE + 1000)
    m.v[10:12] = 77
    assert m.run() == "end"
    assert (m.v[10][:40] == LANE[:40]).all() and (m.v[10][40:] == 0).all()
    assert (data[1:40] == LANE[:39] + 1000).all() and (data[40:] == LANE[40:]).all()


INTEGER_ATOMICS: dict[str, Callable[[int, int], int]] = {
    "swap": lambda m, x: x, "add": lambda m, x: m + x, "sub": lambda m, x: m - x,
    "smin": lambda m, x: m if _s(m) < _s(x) else x, "umax": max, "and": lambda m, x: m & x,
    "or": lambda m, x: m | x, "xor": lambda m, x: m ^ x, "inc": lambda m, x: 0 if m >= x else m + 1,
    "dec": lambda m, x: x if m == 0 or m > x else m - 1,
}  # fmt: skip


def _s(x: int) -> int:
    return x - 2**64 if x >> 63 else x


@pytest.mark.parametrize("bits", [32, 64])
def test_integer_atomics_return_the_old_value_in_lane_order(tmp_path: Path, bits: int) -> None:
    mask = 2**bits - 1
    kind = np.dtype(f"u{bits // 8}")
    suffix, value, old = ("", "v4", "v10") if bits == 32 else ("_x2", "v[4:5]", "v[10:11]")
    names = list(INTEGER_ATOMICS)
    texts = [
        f"global_atomic_{n}{suffix} {old}, v[2:3], {value}, off sc0\nglobal_atomic_{n}{suffix} v[2:3], {value}, off\ns_endpgm"
        for n in names
    ]
    for name, code in zip(names, assemble_all("gfx942", texts, tmp_path), strict=True):
        m = Machine(code or b"")
        memory = np.array([5, 1000], dtype=kind)
        base = m.map(memory)
        m.set_v(2, np.uint64(base) + (LANE.astype(np.uint64) % 2) * (bits // 8))
        x = np.random.default_rng(3).integers(0, 2000, LANES).astype(kind)
        m.set_v(4, x)
        assert m.run() == "end"
        state = [5, 1000]
        f = INTEGER_ATOMICS[name]
        olds = []
        for lane in range(LANES):
            olds.append(state[lane % 2])
            state[lane % 2] = f(state[lane % 2], int(x[lane])) & mask
        for lane in range(LANES):
            state[lane % 2] = f(state[lane % 2], int(x[lane])) & mask
        assert list(m.get_v(10, kind)) == olds, name
        assert list(memory) == state, name


def test_compare_and_swap(tmp_path: Path) -> None:
    m = machine(tmp_path, "global_atomic_cmpswap v10, v[2:3], v[4:5], off sc0")
    data = np.arange(64, dtype=U32)
    addresses(m, 2, m.map(data), 4)
    m.set_v(4, LANE + 500)
    m.set_v(5, np.where(LANE % 2 == 0, LANE, 9999).astype(U32))
    assert m.run() == "end"
    assert (m.v[10] == LANE).all()
    assert (data == np.where(LANE % 2 == 0, LANE + 500, LANE)).all()


def test_float_atomics(tmp_path: Path) -> None:
    text = """
    global_atomic_add_f32 v10, v[2:3], v4, off sc0
    global_atomic_add_f64 v[6:7], v[8:9], off
    global_atomic_max_f64 v[12:13], v[8:9], off
    global_atomic_pk_add_f16 v[14:15], v16, off"""
    m = machine(tmp_path, text)
    single, double, top, half = (
        np.zeros(1, F32),
        np.zeros(1, F64),
        np.full(1, -9.0),
        np.zeros(2, np.float16),
    )
    for register, array in ((2, single), (6, double), (12, top), (14, half)):
        addresses(m, register, m.map(array), 0)
    x = np.random.default_rng(2).standard_normal(LANES)
    m.set_v(4, x.astype(F32))
    m.set_v(8, x)
    m.set_v(16, np.full(LANES, np.array([1.0, 0.5], np.float16).view(U32)[0]))
    assert m.run() == "end"
    total = F32(0)
    for lane, value in enumerate(x.astype(F32)):
        assert m.get_v(10, F32)[lane] == total
        total += value
    assert single[0] == total
    sequential = 0.0
    for value in x:
        sequential += value
    assert double[0] == sequential and top[0] == x.max()
    assert list(half) == [64.0, 32.0]


def test_lds_reads_writes_and_strides(tmp_path: Path) -> None:
    text = """
    ds_write_b32 v2, v4 offset:16
    ds_write2_b32 v2, v4, v5 offset0:100 offset1:200
    ds_read_b32 v10, v2 offset:16
    ds_read2_b32 v[12:13], v2 offset0:100 offset1:200
    ds_write_b128 v6, v[20:23] offset:2048
    ds_read_b96 v[24:26], v6 offset:2048
    ds_read_u16_d16_hi v14, v6 offset:2048
    ds_read2st64_b32 v[16:17], v7 offset0:8 offset1:9"""
    m = machine(tmp_path, text)
    m.set_v(2, 4 * LANE)
    m.set_v(4, LANE + 1)
    m.set_v(5, LANE + 9)
    m.set_v(6, 16 * LANE)
    m.set_v(7, 0 * LANE)
    for n in range(4):
        m.set_v(20 + n, LANE * 4 + n)
    m.v[14] = 0x1234
    assert m.run() == "end"
    assert (m.v[10] == LANE + 1).all()
    assert (m.v[12] == LANE + 1).all() and (m.v[13] == LANE + 9).all()
    assert all((m.v[24 + n] == LANE * 4 + n).all() for n in range(3))
    assert (m.v[14] == (LANE * 4) << 16).all()
    words = m.lds.view(U32)
    assert m.v[16][0] == words[512] and m.v[17][0] == words[576]


def test_lds_atomics(tmp_path: Path) -> None:
    text = """
    ds_add_rtn_u32 v10, v2, v4
    ds_max_u32 v2, v4 offset:4
    ds_add_f32 v2, v5 offset:8
    ds_add_f64 v2, v[6:7] offset:16
    ds_cmpst_rtn_b32 v11, v2, v8, v9 offset:12
    ds_add_rtn_u64 v[12:13], v2, v[14:15] offset:24
    ds_pk_add_f16 v2, v16 offset:32"""
    m = machine(tmp_path, text)
    m.set_v(4, LANE)
    m.set_v(5, np.full(LANES, 0.5, F32))
    m.set_v(6, np.full(LANES, 0.25))
    m.set_v(8, LANE)  # lane n expects n and stores n + 1
    m.set_v(9, LANE + 1)
    m.set_v(14, np.full(LANES, 2**33, np.uint64))
    m.set_v(16, np.full(LANES, np.array([2.0, -1.0], np.float16).view(U32)[0]))
    assert m.run() == "end"
    assert m.lds[:4].view(U32)[0] == LANE.sum() and (m.v[10] == np.cumsum(LANE) - LANE).all()
    assert m.lds[4:8].view(U32)[0] == 63 and m.lds[8:12].view(F32)[0] == 32.0
    assert m.lds[16:24].view(F64)[0] == 16.0
    assert m.lds[12:16].view(U32)[0] == 64 and (m.v[11] == LANE).all()
    assert m.lds[24:32].view(np.uint64)[0] == 64 * 2**33
    assert list(m.lds[32:36].view(np.float16)) == [128.0, -64.0]


def test_lane_exchange_through_lds_hardware(tmp_path: Path) -> None:
    text = """
    ds_bpermute_b32 v10, v2, v4
    ds_permute_b32 v11, v2, v4
    ds_swizzle_b32 v12, v4 offset:swizzle(QUAD_PERM,1,0,3,2)
    ds_swizzle_b32 v13, v4 offset:swizzle(SWAP,16)
    ds_swizzle_b32 v14, v4 offset:swizzle(BROADCAST,8,3)
    ds_swizzle_b32 v15, v4 offset:swizzle(REVERSE,32)"""
    m = machine(tmp_path, text)
    target = (LANE * 7 + 3) % 64
    m.set_v(2, 4 * target)
    m.set_v(4, LANE + 100)
    m.exec = 2**64 - 1 - (1 << 10)
    assert m.run() == "end"
    live = LANE != 10
    assert (m.v[10][live] == np.where(target == 10, 0, target + 100)[live]).all()
    pushed = np.zeros(LANES, U32)
    pushed[target[live]] = LANE[live] + 100
    assert (m.v[11][live] == pushed[live]).all()

    def swizzled(source: Any) -> Any:
        return np.where(source == 10, 0, source + 100)[live]

    assert (m.v[12][live] == swizzled(LANE ^ 1)).all()
    assert (m.v[13][live] == swizzled(LANE ^ 16)).all()
    assert (m.v[14][live] == swizzled((LANE & ~np.uint32(7)) | 3)).all()
    assert (m.v[15][live] == swizzled(LANE ^ 31)).all()


def test_faults_name_lane_address_and_size(tmp_path: Path) -> None:
    m = machine(tmp_path, "v_mov_b32 v9, 1\nglobal_load_dwordx2 v[4:5], v[2:3], off")
    data = np.zeros(64, dtype=U32)
    base = m.map(data)
    addresses(m, 2, base, 4)
    assert m.run() == "fault"
    assert m.fault() == {
        "kind": "unmapped",
        "pc": 4,
        "address": base + 252,
        "size": 8,
        "lane": 63,
        "write": False,
    }

    m = machine(tmp_path, "global_store_dword v[2:3], v4, off")
    addresses(m, 2, m.map(data, writable=False), 4)
    assert m.run() == "fault" and m.fault()["kind"] == "read_only" and m.fault()["write"]

    m = machine(tmp_path, "global_atomic_add v[2:3], v4, off")
    addresses(m, 2, m.map(data) + 2, 0)
    assert m.run() == "fault" and m.fault()["kind"] == "misaligned"

    m = machine(tmp_path, "ds_write_b64 v2, v[4:5]")
    m.set_v(2, 64 * LANE + 60)
    assert m.run() == "fault"
    assert {k: m.fault()[k] for k in ("kind", "address", "size", "lane")} == {
        "kind": "lds_out_of_range", "address": 64 * 63 + 60, "size": 8, "lane": 63,
    }  # fmt: skip

    m = machine(tmp_path, "scratch_load_dword v4, v2, off")
    m.set_v(2, np.where(LANE == 5, 254, 0).astype(U32))
    assert (
        m.run() == "fault"
        and m.fault()["kind"] == "scratch_out_of_range"
        and m.fault()["lane"] == 5
    )

    m = machine(tmp_path, "s_load_dword s4, s[2:3], 0x0")
    assert m.run() == "fault" and m.fault()["kind"] == "unmapped"


def test_an_inactive_lane_may_point_anywhere(tmp_path: Path) -> None:
    m = machine(tmp_path, "global_load_dword v4, v[2:3], off\nds_read_b32 v5, v6")
    data = np.arange(64, dtype=U32)
    addresses(m, 2, m.map(data), 4)
    m.v[2][40:] = 3
    m.v[6][40:] = 0xFFFFFFF0
    m.exec = 2**40 - 1
    assert m.run() == "end"
    assert (m.v[4][:40] == LANE[:40]).all()
