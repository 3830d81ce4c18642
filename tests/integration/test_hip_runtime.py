"""libamdhip64 of the virtual GPU, by programs in tests/native/hip that check themselves."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from rocm_perf_lab.device.toolchain import include_dir, runtime_library_dir
from support.compilers import native_cc, native_cxx
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu, run
from support.native_build import programs as native_programs

PROGRAMS = REPOSITORY / "tests" / "native" / "hip"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    return tmp_path_factory.mktemp("hip")


def program(folder: Path, name: str, *flags: str) -> Path:
    target = folder / name
    if not target.exists():
        hipcc("-O2", "-g", *flags, "-I", PROGRAMS, PROGRAMS / f"{name}.hip", "-o", target)
    return target


def with_environment(program: Path, *args: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *args],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("name", ["memory", "streams", "graphs", "device"])
def test_every_case_of_the_program_passes(folder: Path, name: str) -> None:
    done = run(program(folder, name), timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
    assert done.stdout.count("PASS") == (PROGRAMS / f"{name}.hip").read_text().count("\nCASE(")


def test_events_tell_modelled_time_the_same_on_every_run(folder: Path) -> None:
    timed = program(folder, "modelled_time")
    runs = [with_environment(timed, ROCM_PERF_VIRTUAL_TIMING="model") for _ in range(3)]
    assert all(done.returncode == 0 for done in runs), runs[0].stderr
    assert len({done.stdout for done in runs}) == 1
    shorter, longer, together, copied = map(float, runs[0].stdout.split())
    assert 4 * shorter < longer + 0.01, "time follows the work"
    assert longer <= together < 1.5 * longer, "two streams run at once"
    assert 0.01 < copied < 0.1


@pytest.mark.parametrize(("name", "seeds"), [("modelled_time", 12), ("modelled_order", 3)])
def test_modelled_time_does_not_depend_on_which_thread_is_faster(
    folder: Path, name: str, seeds: int
) -> None:
    delays = next(native_programs().parent.rglob("libdelays.so"))
    model = {"ROCM_PERF_VIRTUAL_TIMING": "model"}
    held_up = [model | {"LD_PRELOAD": str(delays), "DELAYS_SEED": str(i + 1)} for i in range(seeds)]
    runs = [with_environment(program(folder, name), **each) for each in (model, *held_up)]
    assert all(done.returncode == 0 for done in runs)
    assert len({done.stdout for done in runs}) == 1


@pytest.mark.parametrize("held_up", [False, True])
def test_what_waits_for_work_behind_it_lets_that_pass(folder: Path, held_up: bool) -> None:
    delays = next(native_programs().parent.rglob("libdelays.so"))
    more = {"LD_PRELOAD": str(delays), "DELAYS_SEED": "1"} if held_up else {}
    waiting = program(folder, "modelled_waits")
    done = with_environment(waiting, ROCM_PERF_VIRTUAL_TIMING="model", **more)
    assert done.returncode == 0, done.stdout + done.stderr


def test_launches_and_modules(folder: Path) -> None:
    module = folder / "module.co"
    hipcc("--genco", PROGRAMS / "module.hip", "-o", module)
    done = with_environment(program(folder, "launches"), MODULE=str(module))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "built for at most 64 threads per block" in done.stderr


def test_a_program_runs_on_every_device_it_has_code_for(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "both"
    hipcc(
        "-O2", "--offload-arch=gfx942,gfx90a", "-I", PROGRAMS, PROGRAMS / "device.hip", "-o", target
    )
    for device in ("virtual:mi300x", "virtual:mi250x"):
        done = with_environment(target, ROCM_PERF_DEVICE=device)
        assert done.returncode == 0, done.stdout + done.stderr


def test_two_devices(folder: Path) -> None:
    done = with_environment(program(folder, "peers"), ROCM_PERF_DEVICE="virtual:mi300x*2")
    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_compiled_while_the_program_runs(folder: Path) -> None:
    command = Path(sys.executable).with_name("rocm-perf")
    done = with_environment(program(folder, "rtc", "-lhiprtc"), ROCM_PERF_HIPCC=str(command))
    assert done.returncode == 0, done.stdout + done.stderr
    missing = with_environment(program(folder, "rtc"), ROCM_PERF_HIPCC="/no/such/compiler")
    assert "cannot start the compiler /no/such/compiler" in missing.stdout


def test_the_default_stream_of_a_thread_as_a_compiler_flag(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "own"
    flag = "-fgpu-default-stream=per-thread"
    hipcc("-O2", flag, "-I", PROGRAMS, PROGRAMS / "per_thread.hip", "-o", target)
    done = run(target, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- calls from kernels


def test_device_printf(folder: Path) -> None:
    done = run(program(folder, "hostcall"), "say")
    assert done.stdout.splitlines() == [
        *(
            f"lane {lane}: hello {lane * 0.5:5.2f} 123456789abc c% [ab    ] [   7]"
            for lane in range(3)
        ),
        "sync: hipSuccess",
    ]
    long = run(program(folder, "hostcall"), "long").stdout.splitlines()[0]
    assert long == "0123456789" * 7 + " " + "abcdefghijklmnopqrstuvwxyz" * 3
    many = run(program(folder, "hostcall"), "many").stdout.splitlines()[:-1]
    assert sorted(many) == sorted(f"b{b} t{t}" for b in range(50) for t in range(128))


def test_waiting_for_a_slow_reader_is_not_work(folder: Path) -> None:
    """Naps of a kernel whose printf waits count for nothing, and nothing printed is lost."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    limit = {"ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS": "1000000"}
    with subprocess.Popen(
        [str(program(folder, "hostcall")), "many"], stdout=writer, env={**os.environ, **limit}
    ) as running:
        os.close(writer)
        time.sleep(1.5)
        with os.fdopen(reader) as pipe:
            lines = pipe.read().splitlines()
    assert running.returncode == 0
    assert sorted(lines[:-1]) == sorted(f"b{b} t{t}" for b in range(50) for t in range(128))
    assert lines[-1] == "sync: hipSuccess"


def test_device_malloc(folder: Path) -> None:
    done = run(program(folder, "hostcall"), "heap")
    assert done.stdout.splitlines() == ["sync: hipSuccess", "sums: 0 2016 127008"]


def test_a_failed_assert_ends_the_program_with_a_message(folder: Path) -> None:
    done = run(program(folder, "hostcall"), "assert")
    assert "sync: hipErrorAssert" in done.stdout
    assert "Device-side assertion `*value == 3' failed" in done.stderr
    assert done.returncode != 0


# ---- faults


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("out_of_bounds", "hipErrorIllegalAddress"),
        ("null", "hipErrorIllegalAddress"),
        ("freed", "hipErrorIllegalAddress"),
        ("pageable", "hipErrorIllegalAddress"),
        ("trap", "hipErrorLaunchFailure"),
    ],
)
def test_a_fault_is_told_and_stays(folder: Path, fault: str, error: str) -> None:
    done = run(program(folder, "faults"), fault, timeout=60)
    assert done.stdout.splitlines() == [
        "launch: hipSuccess",
        *(f"{call}: {error}" for call in ("sync", "next", "copy", "malloc")),
    ]
    assert "GPU fault in kernel" in done.stderr and "faults.hip:" in done.stderr
    assert ("host memory of the program" in done.stderr) == (fault == "pageable")
    assert done.returncode == 1  # although main returned 0


def test_a_forked_child_gets_an_error_and_a_sentence(folder: Path) -> None:
    done = run(program(folder, "faults"), "forked", timeout=30)
    assert (done.returncode, done.stdout) == (0, "hipErrorNotInitialized\n" * 12), done.stderr
    assert done.stderr.count("forked after HIP was initialised") == 1


def test_a_fault_nobody_waits_for_ends_the_program(folder: Path) -> None:
    done = run(program(folder, "faults"), "unwaited", timeout=60)
    assert "GPU fault in kernel store(int*, int)" in done.stderr
    assert done.returncode == 1


# ---- tools


def test_a_hook_sees_every_call_with_its_arguments(folder: Path, tmp_path: Path) -> None:
    compiler = native_cxx()
    if compiler is None:
        pytest.skip("no host C++ compiler: make native")
    tool, calls = tmp_path / "tool.so", tmp_path / "calls.txt"
    libraries = runtime_library_dir()
    subprocess.run(
        [
            *(*compiler, "-shared", "-fPIC", f"-I{REPOSITORY / 'native' / 'hip'}"),
            *(str(PROGRAMS / "hook_tool.cpp"), "-o", str(tool)),
            *(f"-L{libraries}", "-Wl,--no-as-needed", "-lamdhip64", f"-Wl,-rpath,{libraries}"),
        ],
        check=True,
    )
    done = with_environment(program(folder, "faults"), LD_PRELOAD=str(tool), HIP_CALLS=str(calls))
    assert done.returncode == 0
    lines = calls.read_text().splitlines()
    entered = [line.split()[1] for line in lines if line.startswith("enter")]
    assert entered == sorted(entered, key=int) and len(set(entered)) == len(entered)
    assert sum(line.startswith("exit") for line in lines) == len(entered)
    text = "\n".join(lines)
    assert re.search(r"hipMalloc\(void\*\* ptr=0x\w+, size_t size=4096\)", text)
    assert re.search(
        r"hipLaunchKernel\(const void\* function_address=0x\w+, dim3 numBlocks=\{1, 1, 1\}, "
        r"dim3 dimBlocks=\{1, 1, 1\}, .*size_t sharedMemBytes=0, hipStream_t stream=\(nil\)\)",
        text,
    )


# ---- code objects in their wrappings


def bundle_of(folder: Path) -> bytes:
    target = folder / "bundle.co"
    if not target.exists():
        hipcc("--genco", PROGRAMS / "module.hip", "-o", target)
    return target.read_bytes()


def compressed(plain: bytes, version: int, method: int, packed: bytes) -> bytes:
    """clang's CCOB container."""
    head = struct.pack("<4sHH", b"CCOB", version, method)
    size = {1: 20, 2: 24, 3: 32}[version] + len(packed)
    if version == 1:
        head += struct.pack("<I", len(plain))
    elif version == 2:
        head += struct.pack("<II", size, len(plain))
    else:
        head += struct.pack("<QQ", size, len(plain))
    return head + b"\0" * 8 + packed


def launch_module(folder: Path, image: bytes) -> subprocess.CompletedProcess[str]:
    path = folder / "image.co"
    path.write_bytes(image)
    return with_environment(program(folder, "launches"), "modules", MODULE=str(path))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_compressed_bundles_load(folder: Path, version: int) -> None:
    plain = bundle_of(folder)
    done = launch_module(folder, compressed(plain, version, 0, zlib.compress(plain)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_zstd_bundles_load(folder: Path) -> None:
    zstd = shutil.which("zstd")
    if zstd is None:
        pytest.skip("the zstd command is not installed")
    plain = bundle_of(folder)
    packed = subprocess.run([zstd, "-c", "-q"], input=plain, capture_output=True, check=True).stdout
    for version in (1, 2, 3):
        done = launch_module(folder, compressed(plain, version, 1, packed))
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_missing_architecture_names_what_is_there(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "other.co"
    hipcc("--genco", "--offload-arch=gfx90a", PROGRAMS / "module.hip", "-o", target)
    done = launch_module(folder, target.read_bytes())
    assert "hipErrorNoBinaryForGpu" in done.stdout
    assert "no code object for gfx942" in done.stderr and "the program has gfx90a" in done.stderr


@pytest.mark.parametrize("cut", [3, 40, 200, 5000])
def test_a_cut_image_is_refused(folder: Path, cut: int) -> None:
    done = launch_module(folder, bundle_of(folder)[:cut])
    assert "FAIL modules" in done.stdout  # and no crash
    assert "hipErrorInvalidImage" in done.stdout, done.stdout + done.stderr


# ---- headers


@pytest.mark.parametrize(
    ("compiler", "language"), [("cc", "c11"), ("c++", "c++11"), ("c++", "c++20")]
)
def test_the_host_header_needs_no_device_compiler(
    tmp_path: Path, compiler: str, language: str
) -> None:
    found = native_cc() if compiler == "cc" else native_cxx()
    if found is None:
        pytest.skip("no host compiler: make native")
    source = tmp_path / ("x.c" if compiler == "cc" else "x.cpp")
    source.write_text(
        "#include <hip/hip_runtime_api.h>\n#include <hip/hiprtc.h>\nint main(void) { return 0; }\n"
    )
    subprocess.run(
        [
            *found,
            f"-std={language}",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{include_dir()}",
            "-c",
            str(source),
            "-o",
            str(tmp_path / "x.o"),
        ],
        check=True,
    )
