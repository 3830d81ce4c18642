"""Translated code against the interpreter: random instructions leave the same registers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rocm_perf_lab.device import translation, translator
from rocm_perf_lab.virtual.translate import accesses, blocks, request
from support.isa_machine import Machine, assemble_all, disassemble
from support.random_code import END, SCALARS, VECTORS, instructions

pytestmark = pytest.mark.compiler

SEEDS = range(8)
LENGTH = 90
# Zeros, ones, infinities, denormals and ends of ranges, of singles, halves and doubles.
SPECIAL = np.array(
    [0, 1 << 31, 0x3F800000, 0x7F800000, 0xFF800000, 1, 0x807FFFFF, 0x7F7FFFFF, 0x3C003C00,
     0x7C000000, 0x00010001, 0x3FF00000, 0x12345678, 0x40490FDB],
    dtype=np.uint32,
)  # fmt: skip


def without_nans(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Which of two NaNs survives depends on how a compiler orders a sum (docs/translate.md)."""
    for shift in (0, 16):
        halves = (words >> np.uint32(shift)) & np.uint32(0x7C00)
        words = np.where(halves == 0x7C00, words & ~np.uint32(0x4000 << shift), words)
    return words


def prepared(code: bytes, isa: str, seed: int) -> Machine:
    machine = Machine(code, isa)
    rng = np.random.default_rng(seed)
    for row in range(VECTORS + 4):
        words = rng.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
        numbers = (rng.standard_normal(64) * 10.0 ** rng.integers(-5, 6, 64)).astype(np.float32)
        words = np.where(rng.random(64) < 0.5, numbers.view(np.uint32), words)
        chosen = rng.random(64) < 0.2
        words[chosen] = rng.choice(SPECIAL, chosen.sum())
        machine.v[row] = without_nans(words)
    scalars = rng.integers(0, 2**32, SCALARS + 4, dtype=np.uint64).astype(np.uint32)
    machine.s[: SCALARS + 4] = without_nans(scalars)
    machine.pair(40, 0x0000_FFFF_FFFF_0000)
    machine.pair(106, int(rng.integers(0, 2**63)))
    machine.exec = 2**64 - 1
    return machine


def both(code: bytes, isa: str, seed: int, folder: Path) -> tuple[Machine, Machine]:
    """Interpreted and translated, after they have run."""
    plain, host = prepared(code, isa, seed), prepared(code, isa, seed)
    library = folder / f"{seed}-{len(code)}.so"
    translator.translate(host.description(), library)
    assert host.install(library) > 0
    assert plain.run() == host.run() == "end"
    return plain, host


def differing(plain: Machine, host: Machine) -> list[str]:
    rows = np.flatnonzero((plain.v != host.v).any(axis=1))
    found = [f"v{row}" for row in rows]
    found += [f"s{n}" for n in np.flatnonzero(plain.s != host.s)]
    found += ["scc"] * (plain.scc != host.scc) + ["counts"] * (plain.counts != host.counts)
    return found


def ends(code: bytes, isa: str) -> list[int]:
    at = [0]
    while at[-1] < len(code):
        at.append(at[-1] + disassemble(isa, code[at[-1] :])[1])
    return at


def nans(words: npt.NDArray[np.uint32], above: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Words in which a single, a half or the high word of a double is none."""
    single = (words & 0x7FFFFFFF) > 0x7F800000
    low, high = (words & 0x7FFF) > 0x7C00, ((words >> 16) & 0x7FFF) > 0x7C00
    wide = ((above & 0x7FF00000) == 0x7FF00000) | ((words & 0x7FF00000) == 0x7FF00000)
    return single | low | high | wide


def first_difference(
    code: bytes, isa: str, seed: int, folder: Path
) -> tuple[str, Machine, Machine, list[str]]:
    """The instruction after which registers differ, found by halves."""
    at = ends(code[: -len(END)], isa)
    low, high = 0, len(at) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if differing(*both(code[: at[middle]] + END, isa, seed, folder)):
            high = middle
        else:
            low = middle
    plain, host = both(code[: at[high]] + END, isa, seed, folder)
    text, _ = disassemble(isa, code[at[high - 1] :])
    return text, plain, host, differing(plain, host)


@pytest.mark.parametrize("isa", ["gfx942", "gfx90a"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_instructions_leave_the_same(isa: str, seed: int, tmp_path: Path) -> None:
    code = instructions(isa, LENGTH, seed)
    if not differing(*both(code, isa, seed, tmp_path)):
        return
    text, plain, host, found = first_difference(code, isa, seed, tmp_path)
    assert all(name.startswith("v") for name in found), (text, found)
    for row in (int(name[1:]) for name in found):
        lanes = plain.v[row] != host.v[row]
        ok = nans(plain.v[row], plain.v[row + 1]) & nans(host.v[row], host.v[row + 1])
        assert ok[lanes].all(), (text, found)


@pytest.mark.slow
@pytest.mark.parametrize("level", translation.LEVELS)
@pytest.mark.parametrize("seed", range(100, 140))
def test_every_vector_width_leaves_the_same(
    level: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if level == "avx512" and "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this machine has no AVX-512")
    monkeypatch.setenv("ROCM_PERF_TRANSLATE_FOR", level)
    test_random_instructions_leave_the_same("gfx942", seed, tmp_path)


def test_a_turn_ends_at_the_same_instruction(tmp_path: Path) -> None:
    code = instructions("gfx942", 60, 3)
    plain, host = prepared(code, "gfx942", 3), prepared(code, "gfx942", 3)
    translator.translate(host.description(), tmp_path / "k.so")
    host.install(tmp_path / "k.so")
    stop = "budget"
    while stop == "budget":
        stop = plain.run(7)
        assert host.run(7) == stop
        assert plain.pc_offset == host.pc_offset
    assert stop == "end" and plain.counts == host.counts


def test_a_library_that_is_not_whole_is_not_loaded(tmp_path: Path) -> None:
    code = instructions("gfx942", 10, 1)
    machine = prepared(code, "gfx942", 1)
    good = tmp_path / "k.so"
    translator.translate(machine.description(), good)
    data = bytearray(good.read_bytes())
    for name, spoilt in (
        ("cut.so", data[:-1]),
        ("changed.so", data[:4096] + bytes([data[4096] ^ 1]) + data[4097:]),
        ("unsealed.so", data[:-16]),
        ("empty.so", b""),
    ):
        (tmp_path / name).write_bytes(spoilt)
        (tmp_path / name).chmod(0o600)
        assert machine.install(tmp_path / name) == 0, name
    (tmp_path / "link.so").symlink_to(good)
    assert machine.install(tmp_path / "link.so") == 0
    good.chmod(0o666)
    assert machine.install(good) == 0, "others could have written it"
    good.chmod(0o600)
    assert machine.install(good) > 0


def test_the_seal_is_a_hash_of_words() -> None:
    assert translation.word_hash(b"") == 0xCBF29CE484222325
    assert translation.word_hash(b"a") == translation.word_hash(b"a" + bytes(7))
    assert translation.word_hash(struct.pack("<QQ", 1, 2)) != translation.word_hash(
        struct.pack("<QQ", 2, 1)
    )


def assembled(words: Sequence[int]) -> request.Request:
    code = b"".join(word.to_bytes(4, "little") for word in words) + END
    return request.read(Machine(code, "gfx942").description())


# v_mov_b32 v1, v0; s_branch to it; and loads by one row at two offsets.
MOVE, BACK = 0x7E020300, 0xBF82FFFE
LOAD = (0xDC508000, 0x02000001)  # global_load_dword v2, v1, s[0:1]
LOAD_LATER = (0xDC508010, 0x03000001)  # global_load_dword v3, v1, s[0:1] offset:16


def test_blocks_begin_where_branches_go() -> None:
    found = blocks.find(assembled([MOVE, MOVE, BACK]))
    assert [block.at for block in found] == [0, 1]
    assert found[0].goes_on == 1


def test_accesses_with_the_same_offsets_are_checked_once() -> None:
    loads = assembled([*LOAD, *LOAD_LATER, MOVE, *LOAD]).instructions
    found = accesses.checks(loads)
    first, second, third = (found[i.at] for i in loads if accesses.access(i))
    assert first[0] is second[0] and (first[1], second[1]) == (True, False)
    assert (first[0].low, first[0].end) == (0, 20)
    assert third[0] is not first[0], "the row was written between them"


# ---- memory

ACCESSES = """
global_load_dword v20, v0, s[0:1]
global_load_dwordx2 v[20:21], v0, s[0:1] offset:16
global_load_dwordx3 v[20:22], v0, s[0:1] offset:-8
global_load_dwordx4 v[20:23], v0, s[0:1]
global_load_dword v2, v[2:3], off offset:4
global_load_dwordx2 v[2:3], v[2:3], off
global_load_dwordx4 v[24:27], v[2:3], off offset:32
global_store_dword v0, v10, s[0:1]
global_store_dwordx2 v0, v[10:11], s[0:1] offset:64
global_store_dwordx3 v0, v[10:12], s[0:1]
global_store_dwordx4 v[2:3], v[10:13], off
global_load_ubyte v20, v0, s[0:1]
global_atomic_add v20, v0, v10, s[0:1] sc0
ds_read_b32 v20, v1 offset:8
ds_read_b64 v[20:21], v1
ds_read_b96 v[20:22], v1
ds_read_b128 v[20:23], v1 offset:16
ds_read2_b32 v[20:21], v1 offset1:7
ds_read2_b64 v[20:23], v1 offset0:1 offset1:2
ds_read2_b32 v[0:1], v1 offset1:3
ds_read2st64_b32 v[20:21], v1 offset1:1
ds_write_b32 v1, v10
ds_write_b64 v1, v[10:11] offset:8
ds_write_b128 v1, v[10:13]
ds_write2_b32 v1, v10, v11 offset1:5
ds_write2st64_b64 v1, v[10:11], v[12:13] offset1:1
ds_add_rtn_u32 v20, v1, v10
ds_bpermute_b32 v20, v1, v10
""".strip().splitlines()
LAYOUTS = ("row", "one", "anyhow", "pairs", "past the end")
BYTES, LDS = 65536, 4096


def offsets(layout: str, limit: int, rng: np.random.Generator) -> npt.NDArray[np.uint32]:
    if layout == "row":
        return np.arange(64, dtype=np.uint32) * 4 + 256
    if layout == "pairs":
        return np.arange(64, dtype=np.uint32) * 8 + 256
    if layout == "one":
        return np.full(64, 512, np.uint32)
    found = rng.integers(64, limit // 4 - 256, 64).astype(np.uint32) * np.uint32(4)
    if layout == "past the end":
        found[32] = limit + 4096
    return found


def fill(machine: Machine, memory: npt.NDArray[np.uint32], layout: str, mask: int) -> None:
    rng = np.random.default_rng(5)
    memory[:] = rng.integers(0, 2**32, len(memory), dtype=np.uint64)
    machine.v[:30] = rng.integers(0, 2**32, (30, 64), dtype=np.uint64)
    machine.lds[:] = rng.integers(0, 256, LDS)
    machine.v[0] = offsets(layout, BYTES, rng)
    machine.v[1] = offsets(layout, LDS, rng)
    whole = memory.ctypes.data + machine.v[0].astype(np.uint64)
    machine.v[2], machine.v[3] = whole & np.uint64(0xFFFFFFFF), whole >> np.uint64(32)
    machine.pair(0, memory.ctypes.data)
    machine.exec = mask


@pytest.fixture(scope="module")
def translated_accesses(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bytes, Path]]:
    folder = tmp_path_factory.mktemp("accesses")
    found = []
    codes = assemble_all("gfx942", [text + "\ns_endpgm" for text in ACCESSES], folder)
    for number, code in enumerate(codes):
        assert code is not None
        found.append((code, folder / f"{number}.so"))
        translator.translate(Machine(code, lds=LDS).description(), found[-1][1])
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_accesses_read_and_leave_the_same(
    layout: str, translated_accesses: list[tuple[bytes, Path]]
) -> None:
    memory = np.zeros(BYTES // 4, np.uint32)
    for text, (code, library) in zip(ACCESSES, translated_accesses, strict=True):
        for mask in (2**64 - 1, 0xFFFF_0F0F_0000_8421, 0):
            seen = []
            for translated in (False, True):
                machine = Machine(code, lds=LDS)
                machine.map(memory)
                assert not translated or machine.install(library) == 1
                for _ in range(2):  # the first finds the allocation, the second remembers it
                    fill(machine, memory, layout, mask)
                    machine.restart()
                    stop = machine.run()
                    told = machine.fault() if stop == "fault" else None
                    left = (memory.tobytes(), machine.lds.tobytes(), machine.v.tobytes())
                    seen.append((stop, told, machine.counts, machine.executed, *left))
            assert seen[:2] == seen[2:], (text, hex(mask))
