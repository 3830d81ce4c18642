"""Numbers that a program passes are not built into a kernel's code."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from rocm_perf_lab.codeobject.kernels import Argument, Kernel
from rocm_perf_lab.optimize.built_in import built_in
from rocm_perf_lab.replay.launches import Launch, Launches

S_CMP_LITERAL = 0xBF04FF02  # s_cmp_lt_i32 s2, literal
S_MOVK = 0xB0020000  # s_movk_i32 s2


def code(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


KERNEL = Kernel(
    name="k", architecture="gfx942", vgprs=8, agprs=0, sgprs=8, lds_bytes=0, scratch_bytes=0,
    vgpr_spills=0, sgpr_spills=0, kernarg_bytes=16, max_threads=1024, wave_size=64,
    arguments=(
        Argument("p", "global_buffer", "", 0, 8), Argument("n", "by_value", "", 8, 4),
    ),
    address=0, code=code(0xBF810000),
)  # fmt: skip


def refused(n: int, *words: int, before: tuple[int, ...] = ()) -> str | None:
    launch = Launch("k", 3, 1, (64, 1, 1), (64, 1, 1), 0, struct.pack("<QI", 0x7F0000000000, n))
    old, new = (replace(KERNEL, code=KERNEL.code + code(*w)) for w in (before, words))
    return built_in(Launches((launch,)), {"k": old}, {"k": new})


def test_a_size_that_was_passed_is_found_however_it_is_compared() -> None:
    assert "2045" in (refused(2045, S_CMP_LITERAL, 2045) or "")
    assert refused(2045, S_CMP_LITERAL, 2044)
    assert refused(2045, S_MOVK | 2045)
    assert refused(1 << 20, S_CMP_LITERAL, 1 << 20)


@pytest.mark.parametrize("n", [64, 1024, 4095, 65536])
def test_numbers_of_tiles_and_strides_are_anybodys(n: int) -> None:
    assert refused(n, S_CMP_LITERAL, n + n % 2) is None


def test_what_was_there_before_is_none_of_the_proposals() -> None:
    assert refused(2045, S_CMP_LITERAL, 2045, before=(S_CMP_LITERAL, 2045)) is None
    assert refused(2045, S_CMP_LITERAL, 999) is None
