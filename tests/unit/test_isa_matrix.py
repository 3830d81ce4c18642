"""MFMA and SMFMAC against numpy's matrix product, with the lane layouts AMD publishes.

For A (M x K, blocks B): element (i, k) of block b is in lane i + M * (b + B * (k // n)), item
k % n of that lane's registers, where n is the number of items a lane holds. B is the same with
j for i. Results of 32 bits: lane j + N * g, register r holds row r % 4 + 4 g + 4 (64 / N) (r // 4)
of its block; 4 x 4: lane j + 4 b, register i; doubles: lane j + N * (i % 4), register i // 4.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rocm_perf_lab.virtual.isa.matrix import matrix_ops
from rocm_perf_lab.virtual.isa.op import Op
from support.isa_machine import LANES, Machine, assemble_all

Array = npt.NDArray[Any]
PER_WORD = {"f32": 1, "xf32": 1, "f16": 2, "bf16": 2, "i8": 4, "fp8": 4, "bf8": 4}
OPS = {f"{op.arches[0]} {op.name}": op for op in matrix_ops()}
DENSE = [name for name, op in OPS.items() if op.kind == "mfma"]
SPARSE = [name for name, op in OPS.items() if op.kind == "smfmac"]


def encode(values: Array, kind: str) -> Array:
    """Small integers as the bits of a type, which holds all of them exactly."""
    if kind == "i8":
        return values.astype(np.int8).view(np.uint8).astype(np.uint32)
    if kind in ("f32", "xf32"):
        return values.astype(np.float32).view(np.uint32)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint32)
    if kind == "bf16":
        return values.astype(np.float32).view(np.uint32) >> 16
    mantissa, bias = (3, 8) if kind == "fp8" else (2, 16)
    out = np.zeros(values.shape, np.uint32)
    for at, v in np.ndenumerate(values):
        if v:
            e = int(np.floor(np.log2(abs(v))))
            fraction = int(abs(v) / 2.0**e * (1 << mantissa)) - (1 << mantissa)
            out[at] = (0x80 if v < 0 else 0) | (e + bias) << mantissa | fraction
    return out


def pack(matrix: Array, kind: str) -> Array:
    """Registers of an operand: matrix is (blocks, rows, K) with rows across lanes."""
    blocks, rows, depth = matrix.shape
    per_lane = depth * rows * blocks // LANES
    if kind == "f64":
        out64 = np.zeros((LANES, per_lane), np.float64)
        for b, i, k in np.ndindex(matrix.shape):
            out64[i + rows * (b + blocks * (k // per_lane)), k % per_lane] = matrix[b, i, k]
        return out64.view(np.uint32).reshape(LANES, -1).T.copy()
    per_word = PER_WORD[kind]
    bits = encode(matrix, kind)
    words = np.zeros((max(1, per_lane // per_word), LANES), np.uint32)
    for b, i, k in np.ndindex(matrix.shape):
        item = k % per_lane
        words[item // per_word, i + rows * (b + blocks * (k // per_lane))] |= bits[b, i, k] << (
            32 // per_word * (item % per_word)
        )
    return words


def place(op: Op, r: int, lane: int) -> tuple[int, int, int]:
    m, n = int(op.params["m"]), int(op.params["n"])
    if op.params["d"] == "f64":
        return (
            ((lane // 4) % 4, lane // 16, lane % 4)
            if n == 4
            else (0, lane // 16 + 4 * r, lane % 16)
        )
    if n == 4:
        return lane // 4, r, lane % 4
    per_block = m * n // 64
    q = r % per_block
    return r // per_block, q % 4 + 4 * (lane // n) + 4 * (64 // n) * (q // 4), lane % n


def unpack(op: Op, registers: Array) -> Array:
    m, n, blocks = (int(op.params[x]) for x in ("m", "n", "blocks"))
    kind = {"f64": np.float64, "i32": np.int32}.get(op.params["d"], np.float32)
    wide = 2 if op.params["d"] == "f64" else 1
    out = np.zeros((blocks, m, n), kind)
    for r in range(m * n * blocks // 64):
        if wide == 2:
            lane_values = (
                np.ascontiguousarray(registers[2 * r : 2 * r + 2].T).view(np.float64).ravel()
            )
        else:
            lane_values = registers[r].copy().view(kind)
        for lane in range(LANES):
            out[place(op, r, lane)] = lane_values[lane]
    return out


def scatter(op: Op, matrix: Array) -> Array:
    rows = []
    for r in range(matrix.size // 64):
        values = np.array([matrix[place(op, r, lane)] for lane in range(LANES)])
        if op.params["d"] == "f64":
            rows += list(values.astype(np.float64).view(np.uint32).reshape(LANES, 2).T)
        else:
            kind = np.int32 if op.params["d"] == "i32" else np.float32
            rows.append(values.astype(kind).view(np.uint32))
    return np.array(rows)


def registers(letter: str, start: int, count: int) -> str:
    return f"{letter}{start}" if count == 1 else f"{letter}[{start}:{start + count - 1}]"


def width(t: str) -> int:
    return int(t[1:]) // 32


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out: dict[str, bytes] = {}
    for isa in ("gfx90a", "gfx942"):
        names = [name for name, op in OPS.items() if op.arches[0] == isa]
        texts = []
        for name in names:
            op = OPS[name]
            a, b, d = width(op.src[0]), width(op.src[1]), width(op.dst)
            c = registers("a", 0, d) if op.kind == "mfma" else "v100"
            texts.append(
                f"{op.name} {registers('a', 0, d)}, {registers('v', 0, a)}, {registers('v', 40, b)}, {c}\ns_endpgm"
            )
        found = assemble_all(isa, texts, tmp_path_factory.mktemp(isa))
        out |= {name: code for name, code in zip(names, found, strict=True) if code}
    return out


def operands(op: Op, seed: int) -> tuple[Array, Array, Array]:
    m, n, k, blocks = (int(op.params[x]) for x in ("m", "n", "k", "blocks"))
    rng = np.random.default_rng(seed)
    a = rng.integers(-4, 5, (blocks, m, k))
    b = rng.integers(-4, 5, (blocks, n, k))
    c = rng.integers(-50, 50, (blocks, m, n))
    return a, b, c


@pytest.mark.parametrize("name", DENSE)
def test_mfma_is_a_matrix_product(codes: dict[str, bytes], name: str) -> None:
    op = OPS[name]
    a, b, c = operands(op, 1)
    machine = Machine(codes[name], op.arches[0])
    machine.exec = 1  # MFMA works on all lanes whatever EXEC says
    for start, values, kind in ((0, a, op.params["a"]), (40, b, op.params["b"])):
        words = pack(values, kind)
        machine.v[start : start + len(words)] = words
    accumulator = scatter(op, c)
    machine.a[: len(accumulator)] = accumulator
    assert machine.run() == "end"
    got = unpack(op, machine.a[: len(accumulator)])
    assert (got == c + np.einsum("bik,bjk->bij", a, b)).all()


@pytest.mark.parametrize("name", SPARSE)
def test_smfmac_multiplies_the_two_of_four_that_the_index_names(
    codes: dict[str, bytes], name: str
) -> None:
    op = OPS[name]
    a, b, c = operands(op, 2)
    m, k = int(op.params["m"]), int(op.params["k"])
    rng = np.random.default_rng(3)
    groups = 64 // m  # lanes that share a row
    dense_per_lane = k // groups
    kept = dense_per_lane // 2
    packed = np.zeros((1, m, k // 2), dtype=a.dtype)
    sparse = np.zeros_like(a)
    index = np.zeros(LANES, np.uint32)
    for lane in range(LANES):
        i, g = lane % m, lane // m
        for quad in range(dense_per_lane // 4):
            first, second = sorted(rng.choice(4, 2, replace=False))
            for slot, position in ((0, first), (1, second)):
                item = 2 * quad + slot
                at = g * dense_per_lane + 4 * quad + position
                sparse[0, i, at] = a[0, i, at]
                packed[0, i, g * kept + item] = a[0, i, at]
                index[lane] |= np.uint32(position << (2 * item))
    machine = Machine(codes[name], op.arches[0])
    for start, values, kind in ((0, packed, op.params["a"]), (40, b, op.params["b"])):
        words = pack(values, kind)
        machine.v[start : start + len(words)] = words
    machine.set_v(100, index)
    accumulator = scatter(op, c)
    machine.a[: len(accumulator)] = accumulator
    assert machine.run() == "end"
    got = unpack(op, machine.a[: len(accumulator)])
    assert (got == c + np.einsum("bik,bjk->bij", sparse, b)).all()


def test_broadcast_of_a_blocks_and_constant_accumulators(tmp_path: Path) -> None:
    op = OPS["gfx942 v_mfma_f32_4x4x1_16b_f32"]
    text = f"{op.name} v[20:23], v0, v1, 2.0 cbsz:2 abid:1\ns_endpgm"
    machine = Machine(assemble_all("gfx942", [text], tmp_path)[0] or b"")
    a, b, _ = operands(op, 4)
    machine.v[0], machine.v[1] = pack(a, "f32")[0], pack(b, "f32")[0]
    assert machine.run() == "end"
    shared = np.stack([a[(block & ~3) + 1] for block in range(16)])
    assert (unpack(op, machine.v[20:24]) == 2.0 + np.einsum("bik,bjk->bij", shared, b)).all()


def test_matrix_operations_are_counted_in_units_of_512(codes: dict[str, bytes]) -> None:
    machine = Machine(codes["gfx942 v_mfma_f32_32x32x8_f16"])
    machine.run()
    assert machine.count("MFMA_F16") == 1
    assert machine.count("MOPS_F16") == 2 * 32 * 32 * 8 // 512
