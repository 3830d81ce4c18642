"""The rebuilt program beside the one before: only the chosen kernel's code may differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.optimize.program_guard import check_program
from support.catalogue import PROGRAMS, TARGET

SYMBOL = "_Z6targetPKfPfii"
EDITS = {
    "as it is": ("", ""),
    "kernel": ("  for (int c", "#pragma unroll 8\n  for (int c"),
    "bystander": ("out[i] = in[i] + 1.0f", "out[i] = in[i] + 2.0f"),
    "helper": ("v * 0.5f + 1.0f", "v * 0.5f + 2.0f"),
    "constructor": (
        "int host_calls = 0;",
        "struct Early { Early() { setenv(\"A\", \"B\", 1); } } early;",
    ),
    "system": ("int main() {", "int main() { if (host_calls) return std::system(\"id\");"),
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    programs = {}
    for name, (find, replace) in EDITS.items():
        # The same file name each time: the compiler names some symbols after it.
        home = folder / name.replace(" ", "_")
        home.mkdir()
        source, program = home / "app.cpp", home / "app"
        source.write_text(TARGET.read_text("utf-8").replace(find, replace, 1))
        words = [sys.executable, "-m", "rocm_perf_lab", "hipcc", "-O3", "-I", str(PROGRAMS)]
        subprocess.run([*words, str(source), "-o", str(program)], check=True)
        programs[name] = program
    return programs


def test_a_changed_kernel_is_what_is_expected(built: dict[str, Path]) -> None:
    assert check_program(built["as it is"], built["as it is"], SYMBOL) is None
    assert check_program(built["as it is"], built["kernel"], SYMBOL) is None
    codes = [
        next(k.code for k in read_code_objects(built[n])[0].kernels if k.name == SYMBOL)
        for n in ("as it is", "kernel")
    ]
    assert codes[0] != codes[1]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("bystander", "another kernel changed"),
        ("constructor", "changed"),
        ("system", "imported functions changed: system"),
    ],
)
def test_anything_else_is_refused(built: dict[str, Path], edit: str, why: str) -> None:
    reason = check_program(built["as it is"], built[edit], SYMBOL)
    assert reason is not None and why in reason


def test_what_is_not_the_chosen_kernel_is_another(built: dict[str, Path]) -> None:
    reason = check_program(built["as it is"], built["kernel"], "_Z9bystanderPKfPfi")
    assert reason is not None and "target" in reason
