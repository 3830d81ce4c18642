"""A promise to the compiler holds in every launch that was seen, or is refused."""

from __future__ import annotations

import struct

import pytest

from rocm_perf_lab.codeobject.kernels import Argument, Kernel
from rocm_perf_lab.optimize import promises
from rocm_perf_lab.replay.launches import Launch, Launches

SYMBOL = "_Z1kPKfPfi"
HEAD = "__global__ void k(const float* in, float* out, int n) { out[0] = in[0]; }"
BOTH = HEAD.replace("* in", "* __restrict__ in").replace("* out", "* __restrict__ out")
A, B = (0x1000, 0x800), (0x2000, 0x800)


def kernel(symbol: str = SYMBOL, max_threads: int = 1024) -> Kernel:
    arguments = (
        Argument("", "global_buffer", "", 0, 8),
        Argument("", "global_buffer", "", 8, 8),
        Argument("", "by_value", "", 16, 4),
    )
    return Kernel(symbol, "gfx942", 8, 0, 8, 0, 0, 0, 0, 24, max_threads, 64, arguments, 0, b"")


def launch(
    first: int, second: int, *, block: int = 64, index: int = 0, symbol: str = SYMBOL
) -> Launch:
    where = {
        at: piece
        for at, address in ((0, first), (8, second))
        for piece in (A, B)
        if piece[0] <= address < sum(piece)
    }
    data = struct.pack("<QQi", first, second, 7)
    return Launch(symbol, index, 1, (256, 1, 1), (block, 1, 1), 0, data, where)


def broken(after: str, *every: Launch, complete: bool = True, symbol: str = SYMBOL) -> str | None:
    known = promises.seen(Launches(every, complete), {symbol: kernel(symbol)})
    return promises.broken(known, "k", HEAD, after)


def test_restrict_holds_where_every_launch_has_its_own_buffers() -> None:
    assert broken(BOTH, launch(0x1000, 0x2000), launch(0x2000, 0x1000)) is None


@pytest.mark.parametrize("second", [0x1000, 0x1004, 0x1400])
def test_restrict_is_refused_where_one_launch_points_into_one_allocation_twice(second: int) -> None:
    why = broken(BOTH, launch(0x1000, 0x2000), launch(0x1000, second, index=9))
    assert why is not None
    assert "in and out point into the same memory in launch 9" in why


def test_what_is_only_read_may_overlap() -> None:
    head = HEAD.replace("float* out", "const float* out")
    known = promises.seen(Launches((launch(0x1000, 0x1000),)), {"k": kernel()})
    assert known.launches == 0  # another symbol's
    symbol = "_Z1kPKfS0_i"
    known = promises.seen(
        Launches((launch(0x1000, 0x1000, symbol=symbol),)), {symbol: kernel(symbol)}
    )
    assert promises.broken(known, "k", head, head.replace("* in", "* __restrict__ in")) is None


def test_restrict_is_refused_where_the_launches_are_not_known() -> None:
    apart = launch(0x1000, 0x2000)
    assert "not known" in str(broken(BOTH, apart, complete=False))
    assert "not known" in str(broken(BOTH))
    assert "allocated on its own" in str(broken(BOTH, launch(0x1000, 0x9000)))


def test_restrict_is_refused_where_pointers_may_hide_in_what_is_pointed_to() -> None:
    symbol = "_Z1kPKfPP4Nodei"
    why = broken(BOTH, launch(0x1000, 0x2000, symbol=symbol), symbol=symbol)
    assert "further pointers" in str(why)


def test_restrict_in_the_body_is_never_provable() -> None:
    after = HEAD.replace("out[0] = in[0];", "float* __restrict__ x = out; x[0] = in[0];")
    assert "in the body" in str(broken(after, launch(0x1000, 0x2000)))


@pytest.mark.parametrize(
    ("cast", "address", "holds"),
    [
        ("*(float4*)in", 0x1004, False),
        ("*(float4*)in", 0x1010, True),
        ("*reinterpret_cast<const float2*>(in)", 0x1008, True),
        ("*reinterpret_cast<const float2*>(in)", 0x1004, False),
        ("*(const Vec*)in", 0x1008, False),
        ("*(const float4* const)in", 0x1008, False),
        ("*static_cast<const float4*>(in)", 0x1008, False),
        ("*(int*)in", 0x1004, True),
        ("reinterpret_cast<size_t>(in) % 16 == 0 ? *(float4*)in : 0", 0x1004, True),
    ],
)
def test_a_wider_load_needs_pointers_that_allow_it(cast: str, address: int, holds: bool) -> None:
    after = HEAD.replace("in[0];", f"{cast};")
    assert (broken(after, launch(address, 0x2000)) is None) is holds


def test_bounds_hold_for_the_largest_block_of_any_instance() -> None:
    launches = Launches((launch(0x1000, 0x2000), launch(0x1000, 0x2000, block=256, index=3)))
    assert promises.bounds_broken(launches, {SYMBOL: kernel(max_threads=256)}) is None
    why = promises.bounds_broken(launches, {SYMBOL: kernel(max_threads=128)})
    assert "launch 3" in str(why)
    assert "256" in str(why)


def test_a_proposer_is_told_what_would_be_refused() -> None:
    known = promises.seen(Launches((launch(0x1004, 0x1400, block=128),)), {SYMBOL: kernel()})
    text = "\n".join(promises.told(known, promises.parameters(HEAD, "k")))
    assert "below 128" in text
    assert "__restrict__ on in is refused" in text
    assert "in is a multiple of 4 bytes" in text
