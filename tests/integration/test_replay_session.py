"""A captured dispatch runs again, at its addresses, as often as wanted.

The captures are written by hand (tests/support/kernel_captures.py); what must come out is numpy's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocm_perf_lab.codeobject.kernels import CodeObject
from rocm_perf_lab.errors import BadInput, Refused
from rocm_perf_lab.replay.session import (
    ORIGINAL,
    AddressTaken,
    Fill,
    Replace,
    ReplayFailed,
    ReplaySession,
    abba,
)
from support.hip_build import need_virtual_gpu
from support.kernel_captures import BASE, CODE, Memory, capture_kernel, compile_kernels

SOURCE = """
__device__ int counter = 5;
static __device__ float scale = 3.0f;
__device__ float* table;
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void count(int* out) {
  atomicAdd(&counter, 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = (int)scale;
}
extern "C" __global__ void through(int* variable, int* out) {
  if (threadIdx.x == 0) *out = *variable + 1;
}
extern "C" __global__ void reversed(int* data) {
  extern __shared__ int lds[];
  lds[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = lds[blockDim.x - 1 - threadIdx.x];
}
struct Node { float value; Node* next; };
extern "C" __global__ void walk(const Node* node, float* out) {
  float sum = 0;
  for (; node; node = node->next) sum += node->value;
  if (threadIdx.x == 0) *out = sum;
}
extern "C" __global__ void set(float to) { scale = to; }
extern "C" __global__ void wild(int* p) { p[1 << 28] = 1; }
"""
FASTER = SOURCE.replace("y[i] = a * x[i] + y[i];", "y[i] = __builtin_fmaf(a, x[i], y[i]);")
WRONG = SOURCE.replace("a * x[i] + y[i]", "a * x[i] - y[i]")
STRAY = SOURCE.replace("if (i < n) y[i]", "if (i == 0) y[n] = 7; if (i < n) y[i]")
OTHER_ARGUMENTS = SOURCE.replace("float* y, int n)", "float* y, long n)")

N = 1000
X, Y = BASE, BASE + 0x10100  # the second does not begin a page
SIGNATURE = "saxpy(float, float const*, float*, int)"


def word(value: int) -> bytes:
    return value.to_bytes(8, "little")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CodeObject]:
    need_virtual_gpu()
    folder = tmp_path_factory.mktemp("kernels")
    sources = {
        "original": SOURCE,
        "faster": FASTER,
        "wrong": WRONG,
        "stray": STRAY,
        "arguments": OTHER_ARGUMENTS,
    }
    return {name: compile_kernels(folder, text, name) for name, text in sources.items()}


def saxpy(folder: Path, code: CodeObject, **more: Any) -> Path:
    x = np.arange(N, dtype="<f4")
    y = np.ones(N, dtype="<f4")
    arguments = [struct.pack("<f", 2.0), word(X), word(Y), N.to_bytes(4, "little")]
    memory = [Memory(X, x.tobytes()), Memory(Y, y.tobytes(), (2 * x + y).tobytes())]
    return capture_kernel(
        folder, code, "saxpy", arguments, memory, grid=1024, demangled=SIGNATURE, **more
    )


@pytest.fixture(scope="module")
def captured(built: dict[str, CodeObject], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saxpy(tmp_path_factory.mktemp("captures") / "saxpy", built["original"])


@pytest.fixture
def session(captured: Path) -> Iterator[ReplaySession]:
    with ReplaySession(captured) as opened:
        yield opened


def test_a_hundred_iterations_give_the_same_bytes(session: ReplaySession) -> None:
    result = session.run([ORIGINAL] * 100)
    assert result.verdict() == "identical"
    assert result.distinct_outputs() == 1
    assert len(result.gpu_ns()) == 100 and min(result.gpu_ns()) > 0
    assert session.timing == "modelled"


def test_without_recopy_an_in_place_kernel_works_on_its_own_output(session: ReplaySession) -> None:
    result = session.run([ORIGINAL] * 3, recopy=False)
    verdicts = [sample.outcome["verdict"] for sample in result.samples if sample.outcome]
    assert verdicts == ["identical", "different", "different"]
    found = result.differences()[0]
    assert (found["argument"], found["type"]) == ("argument 2", "f32")
    assert found["first"][0] == {"index": 1, "expected": 3.0, "got": 5.0}
    assert session.run([ORIGINAL]).verdict() == "identical"  # the state is put back


def test_flushed_caches_are_not_faster(session: ReplaySession) -> None:
    warm = session.run([ORIGINAL] * 3).gpu_ns()[-1]
    cold = session.run([ORIGINAL] * 2, flush=True).gpu_ns()[-1]
    assert cold > warm


def test_builds_are_measured_in_turn_on_the_same_state(
    session: ReplaySession, built: dict[str, CodeObject]
) -> None:
    faster = session.load(built["faster"].elf.data)
    wrong = session.load(built["wrong"].elf.data)
    result = session.run([*abba(ORIGINAL, faster, 2), wrong])
    assert [sample.build for sample in result.samples] == [0, faster, faster, 0, wrong]
    assert result.verdict(ORIGINAL) == result.verdict(faster) == "identical"
    assert result.verdict(wrong) == "different"


def test_a_build_that_writes_elsewhere_is_seen_and_cleaned_up(
    session: ReplaySession, built: dict[str, CodeObject]
) -> None:
    stray = session.load(built["stray"].elf.data)
    result = session.run([stray, ORIGINAL, stray])
    assert result.verdict(stray) == "different"
    assert result.differences(stray)[0]["where"] == "guard"
    assert result.verdict(ORIGINAL) == "identical"


def test_other_inputs_are_judged_by_what_the_original_makes_of_them(
    session: ReplaySession, built: dict[str, CodeObject]
) -> None:
    faster, wrong = (session.load(built[name].elf.data) for name in ("faster", "wrong"))
    session.set_state(
        [Replace(X, np.full(N, 7, dtype="<f4").tobytes()), Fill(Y, 4 * N, 0x40)],
        arguments={24: (500).to_bytes(4, "little")},
        guard=0x5A,
    )
    with pytest.raises(BadInput, match="reference"):
        session.run([ORIGINAL])
    session.keep_reference(ORIGINAL)
    result = session.run([ORIGINAL, faster, wrong])
    assert result.verdict(ORIGINAL) == result.verdict(faster) == "identical"
    assert result.verdict(wrong) == "different"
    session.set_state()
    assert session.run([ORIGINAL]).verdict() == "identical"


@pytest.mark.parametrize(
    ("name", "error", "reason"), [("arguments", BadInput, "argument 3 is by_value of 8 bytes")]
)
def test_another_kernel_is_refused(
    session: ReplaySession,
    built: dict[str, CodeObject],
    name: str,
    error: type[Exception],
    reason: str,
) -> None:
    with pytest.raises(error, match=reason):
        session.load(built[name].elf.data)
    assert session.run([ORIGINAL]).verdict() == "identical"


def test_module_variables_are_put_back_and_compared(
    built: dict[str, CodeObject], tmp_path: Path
) -> None:
    out = np.full(256, 9, dtype="<i4")
    variables = {
        "counter": ((40).to_bytes(4, "little"), (40 + 256).to_bytes(4, "little")),
        "_ZL5scale": (struct.pack("<f", 9.0), struct.pack("<f", 9.0)),
    }
    folder = capture_kernel(
        tmp_path / "c", built["original"], "count", [word(X)],
        [Memory(X, bytes(1024), out.tobytes())], grid=256, variables=variables,
    )  # fmt: skip
    with ReplaySession(folder) as session:
        assert session.run([ORIGINAL] * 3).verdict() == "identical"
        # Another build has its own copy of the variables, elsewhere in its image.
        assert session.run([session.load(built["faster"].elf.data)] * 2).verdict(1) == "identical"


def test_an_argument_that_points_at_a_variable_moves_with_the_code(
    built: dict[str, CodeObject], tmp_path: Path
) -> None:
    code = built["original"]
    counter = next(symbol for symbol in code.elf.symbols() if symbol.name == "counter")
    folder = capture_kernel(
        tmp_path / "c", code, "through", [word(CODE + counter.value), word(X)],
        [Memory(X, bytes(64), (6).to_bytes(64, "little"))], grid=64,
    )  # fmt: skip
    with ReplaySession(folder) as session:
        assert session.run([ORIGINAL]).verdict() == "identical"
        assert "moved with them" in session.notes[0]
        assert session.run([session.load(built["faster"].elf.data)]).verdict(1) == "identical"


def test_dynamic_lds_is_given_back(built: dict[str, CodeObject], tmp_path: Path) -> None:
    data = np.arange(128, dtype="<i4")
    folder = capture_kernel(
        tmp_path / "c", built["original"], "reversed", [word(X)],
        [Memory(X, data.tobytes(), data[::-1].tobytes())],
        grid=128, workgroup=128, dynamic_lds=512,
    )  # fmt: skip
    with ReplaySession(folder) as session:
        assert session.run([ORIGINAL] * 2).verdict() == "identical"
        assert session.run([session.load(built["faster"].elf.data)]).verdict(1) == "identical"


def test_pointers_in_memory_hold_because_addresses_do(
    built: dict[str, CodeObject], tmp_path: Path
) -> None:
    nodes = [struct.pack("<fxxxxQ", 1.5, Y).ljust(64, b"\0"), struct.pack("<fxxxxQ", 2.25, 0)]
    first = Memory(X, nodes[0] + bytes(4), nodes[0] + struct.pack("<f", 3.75))
    folder = capture_kernel(
        tmp_path / "c", built["original"], "walk", [word(X), word(X + 64)],
        [first, Memory(Y, nodes[1])], grid=64,
    )  # fmt: skip
    with ReplaySession(folder) as session:
        assert session.run([ORIGINAL]).verdict() == "identical"


def test_memory_that_points_into_code_is_refused_unless_asked(
    built: dict[str, CodeObject], tmp_path: Path
) -> None:
    held = word(CODE + 0x100) + bytes(56)
    folder = capture_kernel(
        tmp_path / "c", built["original"], "through", [word(X + 16), word(X + 32)],
        [Memory(X, held, held[:32] + (1).to_bytes(4, "little") + held[36:])], grid=64,
    )  # fmt: skip
    with pytest.raises(Refused, match="0x7e1234000000 holds 0x7d0000000100"):
        ReplaySession(folder)
    with ReplaySession(folder, translate_pointers=True) as session:
        assert session.run([ORIGINAL] * 2).verdict() == "identical"


def test_a_fault_names_the_address_and_ends_the_session_only(
    built: dict[str, CodeObject], tmp_path: Path
) -> None:
    folder = capture_kernel(
        tmp_path / "c", built["original"], "wild", [word(X)], [Memory(X, bytes(64))], grid=1,
        workgroup=1,
    )  # fmt: skip
    with (
        ReplaySession(folder) as session,
        pytest.raises(ReplayFailed, match="memory fault at 0x7e"),
    ):
        session.run([ORIGINAL])


def test_an_address_that_is_always_taken_is_named(
    built: dict[str, CodeObject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saxpy(tmp_path / "c", built["original"])
    # Code that runs in every Python of this environment and settles on the captured page.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import ctypes\n"
        "m = ctypes.CDLL(None).mmap\n"
        "m.restype = ctypes.c_void_p\n"
        "m.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]\n"
        f"m({X}, 4096, 0, 0x100022, -1, 0)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    with pytest.raises(AddressTaken, match=f"of region {X:#x}") as caught:
        ReplaySession(folder)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("isa", ["gfx942", "amdgcn-amd-amdhsa--gfx942:xnack-", "gfx942:sramecc+"])
def test_any_spelling_of_the_isa_will_do(
    built: dict[str, CodeObject], tmp_path: Path, isa: str
) -> None:
    with ReplaySession(saxpy(tmp_path / "c", built["original"], isa=isa)) as session:
        assert session.run([ORIGINAL]).verdict() == "identical"


def test_what_cannot_be_replayed_is_refused_with_the_reason(
    built: dict[str, CodeObject], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="gfx1100"):
        ReplaySession(saxpy(tmp_path / "isa", built["original"], isa="gfx1100"))
    with pytest.raises(Refused, match="it calls the host"):
        ReplaySession(saxpy(tmp_path / "c", built["original"], reasons=["it calls the host"]))
