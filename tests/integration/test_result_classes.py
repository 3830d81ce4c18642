"""Wrong results by class, on kernels of many kinds, and honest changes beside them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.optimize.build import LINES
from rocm_perf_lab.optimize.reached import Piece, Source, differs
from rocm_perf_lab.optimize.result_check import Plan, check, of_its_own, prepare
from rocm_perf_lab.optimize.sandbox import Sandbox, available
from rocm_perf_lab.optimize.target import open_confined
from rocm_perf_lab.replay.capture import CaptureOptions, capture_program
from rocm_perf_lab.replay.session import ReplaySession
from support.catalogue import PROGRAMS
from support.hip_build import hipcc, need_virtual_gpu

SOURCE = (PROGRAMS / "result_classes.cpp").read_text("utf-8")
HONEST = None
LOOP = (
    "float s = 0;\n  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
    "i += gridDim.x * blockDim.x) s += x[i];"
)
ROW = "float s = 0;\n  for (int j = rowptr[r]; j < rowptr[r + 1]; ++j) s += val[j] * x[col[j]];"


@dataclass(frozen=True)
class Change:
    """`where`: the input set on which it must be refused, or the start of its name."""

    kernel: str
    name: str
    old: str
    new: str
    where: str | None

    @property
    def source(self) -> str:
        at = SOURCE.index(f"void {self.kernel}(")
        assert self.old in SOURCE[at:], self.name
        return SOURCE[:at] + SOURCE[at:].replace(self.old, self.new, 1)


QUICK = [
    Change("copyi", "does nothing, the output is there already", "if (i < n) b[i] = a[i];", "",
           "captured, outputs poisoned"),
    Change("hist", "+= for an atomic", "atomicAdd(&bins[data[i]], 1u)", "bins[data[i]] += 1", ""),
    Change("spmv", "a read past the end that no result depends on", "y[r] = s;",
           "if (rowptr[r + 5] == 123456789) s = s + 0.0f;\n  y[r] = s;", "captured: it fails"),
    Change("bodies", "a field of a structure by its captured value", "v.in[i].m", "1.5f",
           "another seed"),
    Change("spmv", "two sums", ROW,
           "float s = 0, t = 0; int j = rowptr[r]; for (; j + 1 < rowptr[r + 1]; j += 2) { "
           "s += val[j] * x[col[j]]; t += val[j + 1] * x[col[j + 1]]; } "
           "if (j < rowptr[r + 1]) s += val[j] * x[col[j]]; s += t;", HONEST),
]  # fmt: skip
MORE = [
    Change("total", "three of a million left out", "i < n; i += gridDim.x * blockDim.x) s",
           "i < n - 3; i += gridDim.x * blockDim.x) s", ""),
    Change("hist", "index computed, not read", "bins[data[i]]", "bins[i * 7 % 64]", "another seed"),
    Change("hist", "stops at the captured count", "atomicAdd(&bins[data[i]], 1u)",
           "if (bins[data[i]] != 64) atomicAdd(&bins[data[i]], 1u)", "another seed"),
    Change("hist", "the byte read first", "atomicAdd(&bins[data[i]], 1u)",
           "{ unsigned char d = data[i]; atomicAdd(&bins[d], 1u); }", HONEST),
    Change("copyi", "the captured size", "i < n", "i < 4096", "sizes one less"),
    Change("copyi", "the captured values", "b[i] = a[i]", "b[i] = i * 13 % 1000", "another seed"),
    Change("copyi", "the last one left out", "i < n", "i < n - 1", "captured, outputs poisoned"),
    Change("gather", "the captured indices", "table[idx[i]]", "table[i * 5 % 4096]",
           "another seed"),
    Change("spmv", "the captured length of rows", "j < rowptr[r + 1]", "j < rowptr[r] + 16",
           "another seed"),
    Change("bodies", "a scalar in a structure by its value", "v.k *", "0.5f *", "another seed"),
    Change("bodies", "an integer in a structure by its value", "v.in[i].id", "i", "another seed"),
    Change("bodies", "terms in another order", "v.in[i].x * v.in[i].y + v.k * v.in[i].m",
           "v.k * v.in[i].m + v.in[i].x * v.in[i].y", HONEST),
    Change("total", "+= for an atomic across workgroups", "atomicAdd(sum, part[0])",
           "*sum += part[0]", "captured, outputs poisoned, interleaving"),
    Change("total", "one of a million left out", "s += x[i]", "s += i == 500000 ? 0 : x[i]", ""),
    Change("total", "two sums", LOOP,
           "float s = 0, t = 0; int st = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + "
           "threadIdx.x; for (; i + st < n; i += 2 * st) { s += x[i]; t += x[i + st]; } "
           "if (i < n) s += x[i]; s += t;", HONEST),
    Change("axpy", "a scalar by its value", "a * x[i]", "2.0f * x[i]", "another seed"),
    Change("axpy", "what is added to by its value", "+ y[i]", "+ (float)(i % 5)", "another seed"),
    Change("axpy", "the sign of a scalar", "a * x[i]", "fabsf(a) * x[i]",
           "scalars of the other sign"),
    Change("axpy", "what is multiplied by nought", "a * x[i] + y[i]",
           "a == 0.0f ? y[i] : a * x[i] + y[i]", "scalars of nought"),
    Change("axpy", "three and fewer", "if (i < n)", "if (i < n && n > 3)", "sizes of"),
    Change("copyi", "an integer's sign", "b[i] = a[i]", "b[i] = a[i] & 0x7fffffff", "another seed"),
    Change("axpy", "one element left out", "if (i < n)", "if (i < n && i != 777)", "captured"),
    Change("norm", "a small term left out", "+ eps", "", ""),
    Change("norm", "the captured columns", "c < cols; ++c) y", "c < 64; ++c) y", "sizes one less"),
    Change("norm", "a variance that cancels", "float d = x[r * cols + c] - m;\n    v += d * d;",
           "float d = x[r * cols + c];\n    v += d * d - m * m;", ""),
    Change("norm", "a reciprocal root", "1.0f / sqrtf(v / cols + eps)", "rsqrtf(v / cols + eps)",
           HONEST),
]  # fmt: skip


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir()
        hipcc("-O3", PROGRAMS / "result_classes.cpp", "-o", folder / "program")

    def open(self, kernel: str, seed: int) -> ReplaySession:
        capture = self.capture(kernel)
        return open_confined(capture, "virtual", Sandbox(available(), self.work, (capture,)), seed)

    @functools.cache  # noqa: B019  as long as the module's tests
    def capture(self, kernel: str) -> Path:
        out = self.folder / f"capture-{kernel}"
        program = str(self.folder / "program")
        capture_program(CaptureOptions(program, (), rf"^{kernel}\(", out=out, device="virtual"))
        return out

    @functools.cache  # noqa: B019
    def plan(self, kernel: str) -> Plan:
        return prepare(functools.partial(self.open, kernel), lambda _: self.image(SOURCE, "-g"))

    def image(self, source: str, *flags: str, name: str = "changed.cpp") -> bytes:
        path = self.folder / name
        path.write_text(source)
        target = self.folder / "changed.hsaco"
        hipcc("-O3", *flags, "--genco", "--offload-arch=gfx942", path, "-o", target)
        return read_code_objects(target)[0].elf.data


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    need_virtual_gpu()
    return Bench(tmp_path_factory.mktemp("classes"))


def judged(bench: Bench, change: Change) -> None:
    plan = bench.plan(change.kernel)
    assert plan.blocked is None
    found = check(functools.partial(bench.open, change.kernel), plan, bench.image(change.source))
    if change.where is HONEST:
        assert found.reason is None
    else:
        assert found.reason is not None
        assert found.reason.startswith(change.where), found.reason


def unreached(bench: Bench, change: Change) -> str | None:
    """What is not known of it for want of an input."""
    sides = [Source(bench.folder / f"{n}.cpp", s) for n, s in enumerate((SOURCE, change.source))]
    lines = [bench.image(each.text, *LINES, name=each.path.name) for each in sides]
    opening, plan = functools.partial(bench.open, change.kernel), bench.plan(change.kernel)
    sets = [*plan.sets, *of_its_own(opening, plan, bench.image(change.source))]
    return differs(sides[0], sides[1], [Piece(opening, plan, sets, *lines)])


def named(change: Change) -> str:
    return f"{change.kernel}: {change.name}"


@pytest.mark.parametrize("change", QUICK, ids=named)
def test_a_class_of_wrong_results(bench: Bench, change: Change) -> None:
    judged(bench, change)


def test_a_special_case_that_is_none_of_the_inputs_is_not_known_to_be_right(bench: Bench) -> None:
    """Which no number in the code names: the inputs cannot be made for it."""
    line = "if (i * 37 + n * 5 == 1013904223) y[i] = 0;"
    special = Change("axpy", "a computed case", "if (i < n)", f"{line}\n  if (i < n)", HONEST)
    judged(bench, special)
    why = unreached(bench, special)
    assert why is not None and line in why


@pytest.mark.parametrize("change", [c for c in QUICK if c.where is HONEST], ids=named)
def test_every_line_of_an_honest_kernel_is_reached(bench: Bench, change: Change) -> None:
    assert unreached(bench, change) is None


@pytest.mark.slow
@pytest.mark.parametrize("change", MORE, ids=named)
def test_more_of_the_same(bench: Bench, change: Change) -> None:
    judged(bench, change)
