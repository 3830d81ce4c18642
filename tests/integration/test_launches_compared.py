"""Wrong on a launch that was not captured first, or only in what the program prints: refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.cli import rocm_perf
from support.hip_build import hipcc, need_virtual_gpu

PROGRAMS = Path(__file__).parent / "programs"

UNROLLED = ("for (int c", "#pragma unroll 8\n  for (int c")
# Title -> (edits of the kernel's text, the stage that refuses it, words of the reason).
WRONG: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "hard-coded columns": ([UNROLLED, ("c < columns", "c < 96")], "result_check", "elements"),
    "hard-coded rows": ([UNROLLED, ("row >= rows", "row >= 256")], "result_check", "elements"),
    "a dropped scalar": ([UNROLLED, ("sum * factor", "sum * 0.5f")], "result_check", "elements"),
    "a sibling that breaks": (
        [UNROLLED, ("sum * factor", "(STEP == 2 ? 0.0f : sum * factor)")],
        "result_check",
        "blend<2>",
    ),
    "a branch on the shape": (
        [UNROLLED, ("sum * factor", "(blockDim.x == 64 ? sum * factor : 0.0f)")],
        "result_check",
        "launch 4",
    ),
    "bounds of the first launch": (
        [("void blend", "void __launch_bounds__(64) blend")],
        "static_guard",
        "128",
    ),
}
HONEST = "unrolled by 8"

PROPOSER = """
import json, sys
prompt = json.load(sys.stdin)
if prompt["attempts"]:
    print(json.dumps({"proposals": []}))
    sys.exit()
text = prompt["kernel"]["text"]
made = []
for title, edits in json.load(open(sys.argv[1])):
    kernel = text
    for old, new in edits:
        assert old in kernel, (title, old)
        kernel = kernel.replace(old, new)
    made.append({"title": title, "rationale": "", "kernel": kernel})
print(json.dumps({"proposals": made}))
"""


def optimize(folder: Path, program: str, edits: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    """The whole command in a folder of its own, with these proposals."""
    (folder / "proposer.py").write_text(PROPOSER)
    (folder / "edits.json").write_text(json.dumps(list(edits.items())))
    (folder / "app.cpp").write_text((PROGRAMS / program).read_text())
    hipcc("-O3", folder / "app.cpp", "-o", folder / "app")
    done = rocm_perf(
        "optimize", str(folder / "app"), "--source", str(folder / "app.cpp"), "--policy", "body",
        "--device", "virtual", "--out", str(folder / "runs"), "--json", "--max-iterations",
        str(len(edits)), "--proposer",
        f"command:{sys.executable} {folder / 'proposer.py'} {folder / 'edits.json'}",
        cwd=folder, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_virtual_gpu()
    edits = {title: entry[0] for title, entry in WRONG.items()}
    return optimize(
        tmp_path_factory.mktemp("compared"),
        "optimize_launches.cpp",
        {**edits, HONEST: [UNROLLED]},
    )


@pytest.mark.slow
@pytest.mark.parametrize("title", WRONG)
def test_what_is_wrong_on_another_launch_is_refused(document: dict[str, Any], title: str) -> None:
    row = next(row for row in document["iterations"] if row["proposal"] == title)
    _, stage, words = WRONG[title]
    assert row["decision"] == "refused", row
    assert row["stage"] == stage, row
    assert words in row["reason"]


@pytest.mark.slow
def test_what_is_right_on_all_launches_is_accepted(document: dict[str, Any]) -> None:
    row = next(row for row in document["iterations"] if row["proposal"] == HONEST)
    assert row["decision"] == "accepted", row
    compared = " ".join(row["input_sets"])
    assert "launch 4 of blend<1>" in compared
    assert "launch 0 of blend<2>" in compared
    launches = document["kernels"][0]["launches"]
    assert launches["recorded"] == 3
    assert launches["compared"] == 3
    assert launches["not_compared"] == []
    assert document["patch"].startswith(
        "# holds for launches as seen: blend<1>, different launches: 3; "
    )
    assert "128 threads" in document["patch"]


@pytest.mark.slow
def test_the_programs_own_output_was_compared(document: dict[str, Any]) -> None:
    output = document["output"]
    assert output["agrees"] is True
    assert output["compared"] == ["last.txt", "stderr", "stdout"]
    assert output["masked"] == ["stdout: line 2 differs between runs of the original"]


def test_a_promise_that_a_later_launch_breaks_is_refused(tmp_path: Path) -> None:
    """The tool's own rules had made it, 3.4 times faster, and the output changed."""
    need_virtual_gpu()
    found = optimize(
        tmp_path,
        "optimize_aliased.cpp",
        {
            "restrict": [
                (
                    "const float* in, float* out",
                    "const float* __restrict__ in, float* __restrict__ out",
                )
            ]
        },
    )
    (row,) = found["iterations"]
    assert (row["decision"], row["stage"]) == ("refused", "promise_guard")
    assert "same memory in launch 5" in row["reason"]
    assert found["patch"] == ""


ROWS = """
__global__ void NAME(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += in[row * columns + c];
  for (int c = 0; c < columns; ++c) out[row * columns + c] = in[row * columns + c] / sum * 2.0f;
}
"""
FIRST = """#include <hip/hip_runtime.h>
void run_first(const float* in, float* out) { first<<<1, 64>>>(in, out, 64, 96); }
"""
SECOND = """#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
void run_first(const float* in, float* out);
int main() {
  std::vector<float> x(64 * 96);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.5f + float(i % 7);
  float *in, *out;
  if (hipMalloc(&in, x.size() * 4) || hipMalloc(&out, x.size() * 4)) return 2;
  (void)hipMemcpy(in, x.data(), x.size() * 4, hipMemcpyHostToDevice);
  run_first(in, out);
  second<<<1, 64>>>(out, in, 64, 96);
  (void)hipMemcpy(x.data(), in, x.size() * 4, hipMemcpyDeviceToHost);
  std::printf("%.4f %.4f\\n", x[0], x[96 * 63 + 5]);
}
"""


@pytest.mark.slow
def test_changes_of_two_files_are_built_and_compared_together(tmp_path: Path) -> None:
    need_virtual_gpu()
    for name, rest in (("first", FIRST), ("second", SECOND)):
        head, _, tail = rest.partition("void run_first" if name == "first" else "int main")
        word = "void run_first" if name == "first" else "int main"
        text = head + ROWS.replace("NAME", name) + word + tail
        (tmp_path / f"{name}.cpp").write_text(text)
    hipcc("-O3", tmp_path / "first.cpp", tmp_path / "second.cpp", "-o", tmp_path / "app")
    (tmp_path / "proposer.py").write_text(PROPOSER)
    (tmp_path / "edits.json").write_text(json.dumps([["unrolled", [UNROLLED]]]))
    done = rocm_perf(
        "optimize", str(tmp_path / "app"), "--source", str(tmp_path / "first.cpp"), "--source",
        str(tmp_path / "second.cpp"), "--build",
        "rocm-perf hipcc -O3 --offload-arch=gfx942 {source} -o {output}",
        "--device", "virtual", "--out", str(tmp_path / "runs"), "--json", "--proposer",
        f"command:{sys.executable} {tmp_path / 'proposer.py'} {tmp_path / 'edits.json'}",
        cwd=tmp_path, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the result as a whole" in done.stderr
    document = json.loads(done.stdout)
    assert [row["decision"] for row in document["iterations"]] == ["accepted", "accepted"]
    assert document["output"]["agrees"] is True
    assert document["patch"].count("# holds for launches as seen: ") == 2
    assert document["patch"].count("diff --git") == 2
    assert document["end_to_end"]["speedup"] > 1.0
