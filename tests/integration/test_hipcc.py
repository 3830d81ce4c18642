"""`rocm-perf hipcc` as Makefiles call it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rocm_perf_lab as rpl
from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.device.toolchain import real_hipcc
from support import machine
from support.cli import complaint, rocm_perf
from support.hip_build import REPOSITORY, build, hipcc, need_compiler, need_virtual_gpu, run

KERNEL = """
#include <hip/hip_runtime.h>
__global__ void scale(float* x, float f) { x[threadIdx.x] *= f; }
__global__ void __launch_bounds__(128) other(float* x) {
  __shared__ float t[64];
  t[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = t[63 - threadIdx.x];
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    need_compiler()
    if real_hipcc() is not None:
        pytest.skip("ROCm's hipcc is installed and would be used instead")
    path = tmp_path / "kernel.cpp"
    path.write_text(KERNEL)
    return path


def test_an_object_carries_one_code_object_per_architecture(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "k.o"
    hipcc("--offload-arch=gfx942,gfx90a", "-c", source, "-o", target)
    objects = read_code_objects(target)
    assert [o.architecture for o in objects] == ["gfx942", "gfx90a"]
    assert [k.name for k in objects[0].kernels] == ["_Z5otherPf", "_Z5scalePff"]


def test_launch_bounds_reach_the_compiler(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "k.co"
    hipcc("--genco", source, "-o", target)
    bounds = {k.name: k.max_threads for k in read_code_objects(target)[0].kernels}
    assert bounds == {"_Z5otherPf": 128, "_Z5scalePff": 1024}


def test_assembly_of_both_sides(source: Path, tmp_path: Path) -> None:
    hipcc("-S", source, "-o", tmp_path / "k.s")
    text = (tmp_path / "k.s").read_text()
    assert "__CLANG_OFFLOAD_BUNDLE____START__ hipv4-amdgcn-amd-amdhsa--gfx942" in text
    assert "v_mul_f32" in text and "__device_stub__scale" in text


def test_dependencies_name_the_headers(source: Path, tmp_path: Path) -> None:
    hipcc("-c", "-MMD", "-MP", source, "-o", tmp_path / "k.o", cwd=tmp_path)
    text = (tmp_path / "k.d").read_text()
    assert text.startswith(f"{tmp_path / 'k.o'}:") and "kernel.cpp" in text


def test_preprocessor_and_definitions(tmp_path: Path, source: Path) -> None:
    source.write_text("#ifdef __HIP_PLATFORM_AMD__\nint platform = VALUE;\n#endif\n")
    assert "int platform = 42;" in hipcc("-E", "-DVALUE=42", source).stdout


def test_errors_are_the_compilers_own(source: Path, tmp_path: Path) -> None:
    source.write_text("__global__ void k() { undeclared = 1; }\n")
    done = hipcc("-c", source, "-o", tmp_path / "k.o", code=1)
    assert "use of undeclared identifier 'undeclared'" in done.stderr
    assert not (tmp_path / "k.o").exists()


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    need_compiler()
    done = hipcc("-c", tmp_path / "nothing.cpp", code=3)
    assert (
        done.stderr.startswith("rocm-perf: hipcc: no such file") and "Traceback" not in done.stderr
    )


def test_version_says_what_it_is() -> None:
    need_compiler()
    text = hipcc("--version").stdout
    assert text.startswith("HIP version: ") and "clang version" in text


def test_save_temps_keeps_the_steps(source: Path, tmp_path: Path) -> None:
    hipcc("-c", "-save-temps", source, "-o", "k.o", cwd=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert "kernel-hip-amdgcn-amd-amdhsa-gfx942.s" in names and "kernel.hipfb" in names


def test_standard_headers_in_device_code(source: Path, tmp_path: Path) -> None:
    source.write_text(
        """
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
template <typename T> __global__ void k(T* x, std::complex<T>* z, int n) {
  x[0] = std::sin(x[1]) + std::abs(x[2]) + std::pow(x[3], 2) + std::max(x[4], T(1)) + std::sqrt(n);
  x[1] = std::isnan(x[0]) ? std::numeric_limits<T>::infinity() : std::fma(x[1], x[2], x[3]);
  z[0] = z[1] * z[2] / z[3] + std::exp(z[4]);
}
template __global__ void k(float*, std::complex<float>*, int);
template __global__ void k(double*, std::complex<double>*, int);
"""
    )
    for standard in ("c++14", "c++17", "c++20"):
        hipcc(f"-std={standard}", "-c", source, "-o", tmp_path / "k.o")


def test_sources_may_lean_on_what_amds_compiler_includes_by_itself(
    source: Path, tmp_path: Path
) -> None:
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void k(int* p) { *p = std::max(*p, 1); }\n"
        "std::string text(std::complex<float> z) {\n"
        "  float parts[] = {z.real(), z.imag()};\n"
        "  std::sort(parts, parts + 2);\n"
        "  std::ostringstream out;\n"
        "  out << parts[0] << std::numeric_limits<int>::max();\n"
        "  return out.str();\n"
        "}\n"
    )
    for standard in ("c++11", "c++14", "c++17", "c++20"):
        hipcc(f"-std={standard}", "-c", source, "-o", tmp_path / "k.o")


IMAGES = """
#include <hip/hip_runtime.h>
#include <cstdio>
texture<float, 2, hipReadModeElementType> image;
__global__ void sample(hipTextureObject_t object, float* out) {
#if GUARDED && __HIP_NO_IMAGE_SUPPORT
  out[0] = 1;
#else
  out[0] = tex2D<float>(object, 0.5f, 0.5f) + tex2D(image, 1, 2) + tex1Dfetch<float>(object, 3);
#endif
}
int main() {
  image.filterMode = hipFilterModeLinear;
  int images = 1;
  (void)hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0);
  hipTextureObject_t object = nullptr;
  hipResourceDesc what = {};
  hipTextureDesc how = {};
  const hipError_t status = hipCreateTextureObject(&object, &what, &how, nullptr);
  std::printf("%d %d\\n", images, status == hipErrorNotSupported);
}
"""


def test_textures_are_refused_as_on_the_hardware(tmp_path: Path) -> None:
    """No image instructions: a program that asks is told, one that does not does not build."""
    need_virtual_gpu()
    (tmp_path / "images.cpp").write_text(IMAGES)
    hipcc("-DGUARDED=1", tmp_path / "images.cpp", "-o", tmp_path / "images")
    assert run(tmp_path / "images").stdout == "0 1\n"
    done = hipcc("-DGUARDED=0", "-c", tmp_path / "images.cpp", "-o", tmp_path / "k.o", code=1)
    assert "image/texture API not supported on the device" in done.stderr


def test_disasm_lists_kernels_with_their_lines(source: Path, tmp_path: Path) -> None:
    need_virtual_gpu()
    hipcc("--genco", "-g", source, "-o", tmp_path / "k.co")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rocm_perf_lab",
            "disasm",
            tmp_path / "k.co",
            "--json",
            "--kernel=scale",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    same = rpl.disassemble(tmp_path / "k.co", kernel="scale")
    assert json.loads(done.stdout) == json.loads(same.model_dump_json())
    (kernel,) = json.loads(done.stdout)["kernels"]
    texts = [i["text"] for i in kernel["instructions"]]
    assert any(text.startswith("v_mul_f32") for text in texts)
    assert any(text.startswith("s_endpgm") for text in texts)
    multiply = next(i for i in kernel["instructions"] if i["text"].startswith("v_mul_f32"))
    assert (multiply["file"].rpartition("/")[2], multiply["line"]) == ("kernel.cpp", 3)


def test_disasm_shows_what_it_knows_of_a_program_for_several_gpus(
    source: Path, tmp_path: Path
) -> None:
    need_virtual_gpu()
    hipcc(
        "--genco",
        "--offload-arch=gfx1030",
        "--offload-arch=gfx90a",
        source,
        "-o",
        "k.co",
        cwd=tmp_path,
    )
    done = rocm_perf("disasm", "k.co", "--json", cwd=tmp_path)
    listed = {k["architecture"]: k for k in json.loads(done.stdout)["kernels"]}
    assert listed["gfx90a"]["instructions"] and listed["gfx90a"]["instructions_reason"] is None
    assert listed["gfx1030"]["instructions"] is None
    assert "no disassembler for gfx1030" in listed["gfx1030"]["instructions_reason"]
    text = rocm_perf("disasm", "k.co", "--arch", "gfx90a", cwd=tmp_path).stdout
    assert "gfx1030" not in text and "s_endpgm" in text
    assert "it is for gfx1030, gfx90a" in complaint(
        rocm_perf("disasm", "k.co", "--arch", "gfx942", cwd=tmp_path), 2
    )


NAMED = """
#include <hip/hip_runtime.h>
template <typename T> __global__ void scale(T* p) { p[threadIdx.x] *= 2; }
__global__ void other(int* p) { *p = 1; }
int main() {
  float* d;
  (void)hipMalloc(&d, 256);
  for (int i = 0; i < 3; ++i) { scale<float><<<1, 64>>>(d); other<<<1, 1>>>((int*)d); }
  return hipDeviceSynchronize() != hipSuccess || hipGetLastError() != hipSuccess;
}
"""


def test_kernels_are_asked_for_and_shown_by_the_name_in_the_source(tmp_path: Path) -> None:
    need_virtual_gpu()
    build(tmp_path, NAMED)
    words = ("disasm", "program", "--summary", "--kernel")
    text = rocm_perf(*words, "scale<float>", cwd=tmp_path).stdout.splitlines()
    assert text[:2] == ["void scale<float>(float*)  (gfx942)", "  symbol _Z5scaleIfEvPT_"]
    assert rocm_perf(*words, "^_Z5other", cwd=tmp_path).stdout.startswith("other(int*)  (gfx942)")
    missed = complaint(rocm_perf(*words, "scale<double>", cwd=tmp_path), 2)
    assert "other(int*), void scale<float>(float*)" in missed
    done = rocm_perf(*words, "other", "--json", cwd=tmp_path)
    (kernel,) = json.loads(done.stdout)["kernels"]
    assert (kernel["name"], kernel["demangled"]) == ("_Z5otherPi", "other(int*)")


@pytest.mark.parametrize(
    ("architecture", "answer"),
    [
        ("gfx90a", "it would run with `rocm-perf run --device virtual:mi250x`"),
        ("gfx1100", "no virtual device runs that: build with --offload-arch=gfx942"),
    ],
)
def test_a_program_for_another_gpu_is_told_once(
    tmp_path: Path, architecture: str, answer: str
) -> None:
    need_virtual_gpu()
    build(tmp_path, NAMED, [f"--offload-arch={architecture}"])
    done = rocm_perf("run", "./program", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count(f"the program has {architecture}") == 1
    assert done.stderr.count(answer) == 1
    if "mi250x" in answer:
        other = rocm_perf("run", "--device", "virtual:mi250x", "./program", cwd=tmp_path)
        assert (other.returncode, other.stderr) == (0, "")


MAIN = """
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ int twice(int);
__global__ void k(int* p) { *p = twice(*p); }
int helper();
int main() {
  int *d, h = 20 + helper();
  (void)hipMalloc(&d, 4); (void)hipMemcpy(d, &h, 4, hipMemcpyHostToDevice);
  k<<<1, 1>>>(d);
  (void)hipMemcpy(&h, d, 4, hipMemcpyDeviceToHost);
  std::printf("%d\\n", h);
}
"""


def test_relocatable_device_code_across_files(tmp_path: Path) -> None:
    need_virtual_gpu()
    (tmp_path / "main.cpp").write_text(MAIN)
    (tmp_path / "twice.cpp").write_text("__device__ int twice(int x) { return 2 * x; }\n")
    (tmp_path / "helper.c").write_text("int helper_c(void) { return 1; }\n")
    (tmp_path / "glue.cpp").write_text(
        'extern "C" int helper_c(); int helper() { return helper_c(); }\n'
    )
    for name in ("main.cpp", "twice.cpp"):
        hipcc("-fgpu-rdc", "-c", name, cwd=tmp_path)
    hipcc("-fgpu-rdc", "main.o", "twice.o", "glue.cpp", "helper.c", "-o", "app", cwd=tmp_path)
    assert run(tmp_path / "app").stdout == "42\n"


UNIT = """
#include <hip/hip_runtime.h>
static __global__ void fill(int* p) { *p = VALUE; }
int NAME() {
  int *p, h = 0;
  if (hipMalloc(&p, 4) != hipSuccess) return -1;
  fill<<<1, 1>>>(p);
  return hipMemcpy(&h, p, 4, hipMemcpyDeviceToHost) == hipSuccess ? h : -2;
}
"""
CALLER = """
#include <cstdio>
int first();
int second();
int main() { std::printf("%d %d\\n", first(), second()); }
"""


def test_one_source_twice_and_another_link_to_one_program(tmp_path: Path) -> None:
    need_virtual_gpu()
    (tmp_path / "unit.cpp").write_text(UNIT)
    (tmp_path / "main.cpp").write_text(CALLER)
    hipcc("-c", "-DNAME=first", "-DVALUE=3", "unit.cpp", "-o", "first.o", cwd=tmp_path)
    hipcc("-c", "-DNAME=second", "-DVALUE=4", "unit.cpp", "-o", "second.o", cwd=tmp_path)
    hipcc("main.cpp", "first.o", "second.o", "-o", "app", cwd=tmp_path)
    assert run(tmp_path / "app").stdout == "3 4\n"


def test_a_static_library_of_kernels(tmp_path: Path) -> None:
    need_virtual_gpu()
    (tmp_path / "a.cpp").write_text(f"#define NAME first\n#define VALUE 5\n{UNIT}")
    (tmp_path / "b.cpp").write_text(f"#define NAME second\n#define VALUE 6\n{UNIT}")
    (tmp_path / "main.cpp").write_text(CALLER)
    hipcc("--emit-static-lib", "-fPIC", "a.cpp", "b.cpp", "-o", "libunits.a", cwd=tmp_path)
    hipcc("main.cpp", "-L.", "-lunits", "-o", "app", cwd=tmp_path)
    assert run(tmp_path / "app").stdout == "5 6\n"


def test_a_makefile_that_calls_hipcc_and_hipconfig(tmp_path: Path) -> None:
    need_virtual_gpu()
    shims = hipcc("--print-shim-dir").stdout.strip()
    (tmp_path / "app.cpp").write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n__global__ void k(int* p) { *p = 7; }\n"
        "int main() { int* p; (void)hipHostMalloc(&p, 4, 0); k<<<1, 1>>>(p);"
        ' (void)hipDeviceSynchronize(); std::printf("%d\\n", *p); }\n'
    )
    (tmp_path / "Makefile").write_text(
        "HIP_PATH ?= $(shell hipconfig --path)\nCC = $(HIP_PATH)/bin/hipcc\nobj = app.o\n"
        "app: $(obj)\n\t$(CC) -O2 $(obj) -o $@\n%.o: %.cpp\n\t$(CC) -O2 -Wall -c $< -o $@\n"
    )
    env = {"PATH": f"{shims}:/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())}
    done = subprocess.run(
        ["make", "-C", str(tmp_path)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(tmp_path / "app").stdout == "7\n"


CMAKE_SOURCES = {
    "main.cpp": "#include <hip/hip_runtime.h>\n#include <cstdio>\n#include <value.h>\n"
    "void other(int*);\n__global__ void k(int* p) { *p = VALUE; }\n"
    "int main() { int* p; (void)hipHostMalloc(&p, 4, 0); k<<<1, 1>>>(p);\n"
    '(void)hipDeviceSynchronize(); std::printf("%d ", *p); other(p); std::printf("%d\\n", *p); }\n',
    "other.cpp": "#include <hip/hip_runtime.h>\n__global__ void k(int* p, int v) { *p += v; }\n"
    "void other(int* p) { k<<<1, 1>>>(p, 2); (void)hipDeviceSynchronize(); }\n",
    "include/value.h": "#define VALUE 7\n",
}
CMAKE_PROJECTS = {
    "language": """
project(app LANGUAGES CXX HIP)
set_source_files_properties(main.cpp other.cpp PROPERTIES LANGUAGE HIP)
add_library(other STATIC other.cpp)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE other)
""",
    "module": """
set(CMAKE_MODULE_PATH "$ENV{HIP_PATH}/lib/cmake/hip")
project(app LANGUAGES CXX)
find_package(HIP 6.0 REQUIRED)
hip_add_executable(app main.cpp other.cpp HIPCC_OPTIONS -O2 CLANG_OPTIONS NVCC_OPTIONS -x)
""",
    "package": """
project(app LANGUAGES CXX)
list(APPEND CMAKE_PREFIX_PATH "$ENV{HIP_PATH}")
find_package(hip 6.0 REQUIRED)
find_package(hiprtc REQUIRED)
set(CMAKE_CXX_COMPILER ${HIP_HIPCC_EXECUTABLE})
add_executable(app main.cpp other.cpp)
target_link_libraries(app PRIVATE hip::device hiprtc::hiprtc)
""",
}


# Sources that g++ compiles use the host's interface alone; the kernels are elsewhere.
HOST_SOURCES = {
    "main.cpp": "#include <hip/hip_bf16.h>\n#include <hip/hip_complex.h>\n"
    "#include <hip/hip_fp16.h>\n#include <hip/hip_fp8.h>\n#include <hip/hip_runtime.h>\n"
    "#include <hip/hip_runtime_api.h>\n#include <hip/hiprtc.h>\n#include <value.h>\n"
    "#include <iostream>\nvoid launch(int*, int);\n"
    "int main() { int* p; int got; hipDeviceProp_t properties;\n"
    "  if (hipGetDeviceProperties(&properties, 0) || hipMalloc(&p, sizeof(int))) return 1;\n"
    "  launch(p, VALUE); if (hipMemcpy(&got, p, 4, hipMemcpyDeviceToHost)) return 2;\n"
    "  float4 v = make_float4(1, 2, 3, 4) * 2.0f; hipFloatComplex z(3, 4);\n"
    "  __half h = __float2half(0.5f); __hip_bfloat16 b(0.25f); __hip_fp8_e4m3 e(0.25f);\n"
    "  got += (int)(v.x + hipCabsf(z) - 7 + 4 * (float(h) + float(b) + float(e)) - 4);\n"
    '  std::cout << VALUE << " " << got + 2 << std::endl; return hipFree(p); }\n',
    "other.hip": "#include <hip/hip_runtime.h>\n"
    "__global__ void k(int* p, int v) { *p = v; }\n"
    "void launch(int* p, int v) { k<<<1, 1>>>(p, v); }\n",
    "include/value.h": "#define VALUE 7\n",
}
for target in ("hip::host", "hip::device"):
    CMAKE_PROJECTS[f"g++ with {target}"] = f"""
project(app LANGUAGES CXX HIP)
find_package(hip REQUIRED)
add_executable(app main.cpp other.hip)
target_link_libraries(app PRIVATE {target})
set_target_properties(app PROPERTIES CXX_STANDARD 17)
"""


@pytest.mark.parametrize("way", CMAKE_PROJECTS)
def test_a_cmake_project_finds_hip(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_virtual_gpu()
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no cmake")
    if machine.which("c++") is None:
        pytest.skip("CMake would find no C++ compiler")
    if way.startswith("g++") and machine.which("g++") is None:
        pytest.skip("no g++")
    shims = Path(hipcc("--print-shim-dir").stdout.strip())
    for name, text in (HOST_SOURCES if way.startswith("g++") else CMAKE_SOURCES).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.21)\n{CMAKE_PROJECTS[way]}"
        "target_include_directories(app PRIVATE include)\n"
    )
    if way.startswith("g++"):
        monkeypatch.setenv("CXX", "g++")
        monkeypatch.setenv("CMAKE_PREFIX_PATH", str(shims.parent))
    env = {**os.environ, "PATH": f"{shims}:{machine.path()}", "HIP_PATH": str(shims.parent)}
    for words in (["-S", ".", "-B", "build"], ["--build", "build"]):
        done = subprocess.run(
            [cmake, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert run(tmp_path / "build" / "app").stdout == "7 9\n"


EXAMPLES = sorted(path.stem for path in (REPOSITORY / "examples").glob("*.cpp"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path) -> None:
    need_virtual_gpu()
    hipcc("-O3", REPOSITORY / "examples" / f"{name}.cpp", "-o", tmp_path / name)
    small = {"vcopy": ["-n", "65536"], "attention": ["-s", "64"], "gemm": ["-n", "128"]}
    done = run(tmp_path / name, *small.get(name, []))
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
    assert "PASS" in done.stdout
