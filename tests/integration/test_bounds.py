"""Accesses out of bounds: a fault, passed as on hardware, or told once and counted."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from rocm_perf_lab.collect import findings
from support.cli import rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

SOURCE = REPOSITORY / "tests" / "native" / "hip" / "bounds.hip"
EXIT = 7  # of the program, when all its calls succeeded


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    target = tmp_path_factory.mktemp("bounds") / "bounds"
    hipcc("-O2", "-g", SOURCE, "-o", target)
    return target


def run(program: Path, bounds: str, *args: str) -> subprocess.CompletedProcess[str]:
    return rocm_perf("run", "--bounds", bounds, program, *args, cwd=program.parent)


def line_of(text: str) -> int:
    (number,) = [n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return number


# case, size; what of the source each place is, and how often; sums of the two arrays afterwards
CASES = [
    ("store", 1000, {("fill", "off by one", "write of 4 bytes"): 3}, (2000, 0)),
    ("store", 1001, {("fill", "off by one", "write of 4 bytes"): 3}, (2002, 0)),
    ("store", 1024, {("fill", "off by one", "write of 4 bytes"): 3}, (2048, 0)),
    ("load", 512, {("sum_past", "a block past", "read of 4 bytes"): 512}, (0, 0)),
    ("far", 1000, {("no_mask", "no end at all", "write of 4 bytes"): 65536 - 1000}, (1000, 0)),
    (
        "kept",
        1000,
        {
            ("keep", "padding is memory", "write of 4 bytes"): 64,
            ("sum_past", "a block past", "read of 4 bytes"): 64,
        },
        (0, 192),
    ),
    (
        "negative",
        1000,
        {
            ("before", "p[-1]", "read of 4 bytes"): 1,
            ("before", "p[-1]", "write of 4 bytes"): 1,
        },
        (0, 0),
    ),
    (
        "lds",
        3000,
        {
            ("shared_past", "LDS written past", "write of 4 bytes of LDS"): 128,
            ("shared_past", "and read", "read of 4 bytes of LDS"): 128,
        },
        (0, 2016),
    ),
    (
        "direct",
        2000,
        {
            ("shared_direct", "two words", "write of 8 bytes of LDS"): 64,
            ("shared_direct", "int(pairs[", "read of 8 bytes of LDS"): 64,
            ("shared_direct", "int(pairs[", "read of 4 bytes of LDS"): 64,
        },
        (0, 64),
    ),
    (
        "private",
        4,
        {
            ("private_past", "private memory past", "write of 4 bytes of private memory"): 1,
            ("private_past", "values[at & 3]", "read of 4 bytes of private memory"): 1,
        },
        (0, 1),
    ),
    ("streams", 1000, {("fill", "off by one", "write of 4 bytes"): 32}, (2000, 0)),
    ("graph", 1000, {("fill", "off by one", "write of 4 bytes"): 5}, (2000, 0)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "size", "places", "sums"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES]
)
def test_a_place_is_told_once_and_counted_and_the_program_goes_on(
    program: Path,
    case: str,
    size: int,
    places: dict[tuple[str, str, str], int],
    sums: tuple[int, int],
) -> None:
    done = run(program, "report", case, str(size))
    assert done.returncode == EXIT, done.stderr
    printed = dict(re.findall(r"^(data|out) (-?\d+)$", done.stdout, re.MULTILINE))
    assert (int(printed["data"]), int(printed["out"])) == sums
    for (kernel, text, kind), count in places.items():
        place = rf"kernel {kernel}\([^)]*\), \S*bounds\.hip:{line_of(text)}, {kind}"
        assert len(re.findall(rf"out of bounds in {place}: ", done.stderr)) == 1
        assert re.search(rf"^rocm-perf: +{count} in {place}$", done.stderr, re.MULTILINE)
    total = sum(int(n) for n in re.findall(r"^rocm-perf: +(\d+) in ", done.stderr, re.MULTILINE))
    assert f"rocm-perf: {total} accesses out of bounds in " in done.stderr
    quiet = run(program, "page", case, str(size))
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (EXIT, done.stdout, "")
    strict = run(program, "strict", case, str(size))
    assert "GPU fault in kernel" in strict.stderr and strict.returncode == 3


def test_an_atomic_out_of_bounds_is_told(program: Path) -> None:
    done = run(program, "report", "atomic")
    assert done.returncode == EXIT
    assert "rocm-perf: 4 accesses out of bounds in 1 place\n" in done.stderr


def test_several_kernels_are_several_places(program: Path) -> None:
    done = run(program, "report", "several")
    assert done.returncode == EXIT
    assert "rocm-perf: 66 accesses out of bounds in 3 places\n" in done.stderr


@pytest.mark.parametrize("case", ["wild", "freed"])
def test_what_hardware_does_not_map_is_a_fault_in_every_mode(program: Path, case: str) -> None:
    for bounds in ("page", "report"):
        done = run(program, bounds, case)
        assert "GPU fault in kernel" in done.stderr and done.returncode == 3
        assert "out of bounds" not in done.stderr


def test_a_program_without_a_fault_is_told_nothing(program: Path) -> None:
    done = run(program, "report", "fine")
    assert (done.returncode, done.stderr) == (EXIT, "")


def test_launches_within_bounds_need_not_run_again(program: Path) -> None:
    for bounds in ("strict", "page", "report"):
        assert "was not run again" in run(program, bounds, "again").stderr
    assert "was not run again" not in run(program, "report", "store").stderr


def test_what_was_written_between_allocations_is_not_in_the_next_one(program: Path) -> None:
    assert "fresh 0\n" in run(program, "report", "later").stdout


def test_an_offset_below_the_lds_is_told_as_such(program: Path) -> None:
    done = run(program, "report", "direct", "0")
    assert "8 bytes before the start of the 768 bytes this workgroup has" in done.stderr


def test_places_are_bounded(tmp_path: Path) -> None:
    need_virtual_gpu()
    stores = "".join(f"  p[n + {i}] = {i};\n" for i in range(130))
    source = tmp_path / "many.cpp"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        f"__global__ void many(volatile int* p, int n) {{\n{stores}}}\n"
        "int main() {\n  int* p;\n  (void)hipMalloc(&p, 64);\n  many<<<1, 1>>>(p, 16);\n"
        "  return hipDeviceSynchronize();\n}\n"
    )
    hipcc("-O1", "-g", source, "-o", tmp_path / "many")
    done = run(tmp_path / "many", "report")
    assert done.returncode == 0
    assert done.stderr.count("out of bounds in kernel many") == 100
    assert done.stderr.count("more than 100 places") == 1
    assert "130 accesses out of bounds in 100 places and more\n" in done.stderr
    assert re.search(r"^rocm-perf: +30 in other places$", done.stderr, re.MULTILINE)


def test_a_profile_keeps_what_was_found_among_its_notes(program: Path, tmp_path: Path) -> None:
    done = rocm_perf(
        *("profile", "--bounds", "report", "--runs", "1", "--no-counters", "--ignore-failure"),
        *("--json", program, "--", "store"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (note,) = [n for n in json.loads(done.stdout)["notes"] if "out of bounds" in n]
    assert note.endswith(f"bounds.hip:{line_of('off by one')}, write of 4 bytes: 3 accesses")
    clean = rocm_perf(
        *("profile", "--bounds", "report", "--runs", "1", "--no-counters", "--ignore-failure"),
        *("--json", program, "--", "fine"),
        cwd=tmp_path,
    )
    assert not any("out of bounds" in note for note in json.loads(clean.stdout)["notes"])
    assert len(list(tmp_path.glob(".rocpd_profile/2*/findings"))) == 1  # the clean run has none


def test_notes_of_hostile_findings(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(b"no tab\nx\tplace\n3\tevil \x1b[31m\xff place\n2\tb\n")
    (tmp_path / "2.txt").write_text("5\tb\n" + "".join(f"1\tplace {i}\n" for i in range(200)))
    found = findings.notes(tmp_path)
    assert found[1] == "b: 5 accesses" and "\x1b" not in found[0]
    assert len(found) == 101 and found[-1] == "102 more places out of bounds"
