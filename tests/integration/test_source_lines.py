"""Whose line an instruction is: faults and costs are the program's, not a header's it calls."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.device.native import library
from rocm_perf_lab.device.sources import Sources
from rocm_perf_lab.trace.library_code import is_library_code, own_place, told
from support import machine
from support.cli import rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

pytestmark = pytest.mark.compiler

SOURCES = REPOSITORY / "tests" / "native" / "hip"
FLAGS = {
    "full": ("-O3", "-g"),
    "lines": ("-O3", "-gline-tables-only"),
    "dwarf4": ("-O2", "-g", "-gdwarf-4"),
    "unoptimised": ("-O0", "-g"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    return tmp_path_factory.mktemp("inlined")


def program(folder: Path, kind: str = "full") -> Path:
    target = folder / kind
    if not target.exists():
        hipcc(*FLAGS[kind], SOURCES / "inlined.hip", "-o", target)
    return target


def line_of(text: str, file: str = "inlined.hip") -> str:
    lines = (SOURCES / file).read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.rstrip().endswith(text)]
    return f"{file}:{number}"


# ---- against LLVM's own reader


def symbolizer() -> str:
    for name in (*(f"llvm-symbolizer-{n}" for n in range(30, 17, -1)), "llvm-symbolizer"):
        if found := machine.which(name):
            return found
    pytest.skip("no llvm-symbolizer")


@pytest.mark.parametrize("kind", FLAGS)
def test_every_chain_of_inlined_calls_is_what_llvm_says(folder: Path, kind: str) -> None:
    seen = deepest = 0
    for code in read_code_objects(program(folder, kind)):
        (folder / "code.o").write_bytes(code.elf.data)
        sources = Sources(code.elf.data)
        addresses = [k.address + at for k in code.kernels for at in range(0, len(k.code), 4)]
        done = subprocess.run(
            [symbolizer(), "--inlines", "--functions=short", f"--obj={folder / 'code.o'}"],
            input="".join(f"{address:#x}\n" for address in addresses),
            capture_output=True,
            text=True,
            check=True,
        )
        theirs = done.stdout.strip("\n").split("\n\n")
        assert len(theirs) == len(addresses)
        for address, block in zip(addresses, theirs, strict=True):
            lines = block.replace("??", "").split("\n")
            expected = [
                (function, *place.rsplit(":", 2)[:2])
                for function, place in zip(lines[::2], lines[1::2], strict=True)
            ]
            chain = [(f.function, f.file, str(f.line)) for f in sources.chain(address)]
            assert (chain or [("", "", "0")]) == expected, f"{address:#x}"
            deepest = max(deepest, len(chain))
            seen += 1
    assert seen > 1000 and deepest >= 4


def test_an_object_without_or_with_damaged_debug_information_gives_no_lines(folder: Path) -> None:
    (code,) = read_code_objects(program(folder))
    assert Sources(b"no ELF").chain(0) == ()
    data = bytearray(code.elf.data)
    for name in (".debug_info", ".debug_abbrev", ".debug_rnglists", ".debug_addr", ".debug_line"):
        section = code.elf.section(name)
        assert section is not None
        hurt = bytearray(data)
        for at in range(section.offset, section.offset + section.size):
            hurt[at] = (hurt[at] * 7 + at * 13) & 255
        sources = Sources(bytes(hurt))
        for kernel in code.kernels:
            for at in range(0, len(kernel.code), 64):
                sources.chain(kernel.address + at)  # anything but a crash


# ---- the rule


PATHS = {
    "/usr/include/c++/12/bits/stl.h": True,
    "/opt/rocm-6.4.0/include/hip/amd_detail/amd_hip_atomic.h": True,
    "/sw/rocm/include/rocprim/block.hpp": True,
    "/apps/rocm-7.0.1/lib/llvm/lib/clang/20/include/x.h": True,
    "/usr/lib/llvm-19/lib/clang/19/include/__clang_hip_math.h": True,
    "/x/site-packages/rocm_perf_lab/virtual/include/hip/detail/atomic.h": True,
    "/x/lib/python3.11/site-packages/triton/language/standard.py": True,
    "/home/me/triton/python/triton/language/standard.py": True,
    "/home/me/project/include/kernels.h": False,
    "/home/me/project/include/hip/kernels.h": False,
    "/usr/src/app/kernel.cpp": False,
    "/home/me/rocm-examples/main.hip": False,
    "/home/me/triton/kernels/softmax.py": False,
    "/x/site-packages/vllm/attention/ops.py": False,
    "kernel.cpp": False,
    "": False,
}


@pytest.mark.parametrize("path", PATHS)
def test_what_is_not_the_programs_own(path: str) -> None:
    need_virtual_gpu()
    assert is_library_code(path) is PATHS[path]
    assert bool(library().rpl_is_library_code(path.encode())) is PATHS[path]


def test_the_programs_own_line_is_the_innermost_outside_of_libraries() -> None:
    header = "/opt/rocm/include/hip/atomic.h:22"
    assert own_place(f"{header} -> /a/own.h:3 -> /a/main.cpp:9") == "/a/own.h:3"
    assert own_place(f"{header} -> /opt/rocm/include/rocprim/block.hpp:7") == header
    assert own_place("/a/main.cpp:0 -> /a/main.cpp:9") == "/a/main.cpp:9"
    assert (own_place(""), own_place("/a/main.cpp:0")) == ("", "/a/main.cpp:0")
    assert told(f"{header} -> /a/main.cpp:9") == "main.cpp:9 (inlined: atomic.h:22)"
    assert told("/a/main.cpp:9 -> /a/main.cpp:12") == "main.cpp:9"
    assert told(None) == ""


# ---- faults


@pytest.mark.parametrize("kind", ["full", "lines", "dwarf4"])
@pytest.mark.parametrize(
    ("case", "mark", "file", "inlined"),
    [
        ("null_atomic", "// mark null_atomic", "inlined.hip", " (inlined: atomicAdd, atomic.h:"),
        ("null_own", "// own atomic", "inlined.h", " (inlined: atomicAdd, atomic.h:"),
        ("null_apply", "// own header", "inlined.h", "\n"),
        ("abort", "// mark abort", "inlined.hip", " (inlined: abort, libc.h:"),
    ],
)
def test_a_fault_names_the_programs_line(
    folder: Path, kind: str, case: str, mark: str, file: str, inlined: str
) -> None:
    done = rocm_perf("run", program(folder, kind), case, cwd=folder)
    assert done.returncode == 3
    place = re.escape(line_of(mark, file) + inlined)
    assert re.search(rf"^  source +\S*/{place}", done.stderr, re.MULTILINE), done.stderr


def test_a_failed_assertion_names_its_line(folder: Path) -> None:
    done = rocm_perf("run", program(folder), "asserts", cwd=folder)
    assert f"{line_of('// mark asserts')}: void asserts(int): Device-side assertion" in done.stderr


# ---- costs


def test_a_thread_trace_charges_the_line_that_called_a_header(folder: Path) -> None:
    done = rocm_perf(
        *("profile", "--att", "--kernel", "math", "--runs", "1", "--no-counters", "--json"),
        program(folder),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    trace = json.loads(done.stdout)["thread_trace"]
    mine = {line_of(f"// mark {m}") for m in ("math", "lambda")} | {
        line_of("// own math", "inlined.h")
    }
    lines = [site["source"] for site in trace["stall_sites"] if site["source"]]
    places = {own_place(line).rpartition("/")[2] for line in lines}
    assert any(" -> " in line for line in lines)  # what was inlined stays known
    assert mine & places
    assert all(place.startswith("inlined.h") for place in places), places
    shown = rocm_perf("show", "--lines", cwd=folder)
    assert "inlined.hip:" in shown.stdout and "math.h" not in shown.stdout


def test_disasm_shows_the_programs_lines_and_what_was_inlined(folder: Path) -> None:
    done = rocm_perf("disasm", program(folder), "--kernel", "null_atomic", cwd=folder)
    assert f"{line_of('// mark null_atomic')} (inlined: atomic.h:" in done.stdout
    document = json.loads(
        rocm_perf("disasm", program(folder), "--kernel", "null_atomic", "--json", cwd=folder).stdout
    )
    places = {(i["file"], i["line"]) for i in document["kernels"][0]["instructions"]}
    assert {Path(file).name for file, _ in places if file} == {"inlined.hip"}
