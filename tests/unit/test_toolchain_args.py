"""hipcc's command line is sorted into what each step needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.device.toolchain import Toolchain, scheduling_options
from rocm_perf_lab.device.toolchain_args import Input, parse
from rocm_perf_lab.errors import UsageError


def test_sources_are_told_apart_by_their_suffix() -> None:
    command = parse(["a.cpp", "b.hip", "c.cu", "d.c", "e.s", "f.o", "libg.a", "h.so"])
    languages = [item.language for item in command.inputs]
    assert languages == ["hip", "hip", "hip", "c", "assembler", "", "", ""]
    assert command.stage == "link"


def test_x_sets_the_language_of_what_follows_until_none() -> None:
    command = parse(["-x", "hip", "a.inc", "-x", "none", "b.c", "-xc++", "c.hip"])
    assert command.inputs == (Input("a.inc", "hip"), Input("b.c", "c"), Input("c.hip", "c++"))


@pytest.mark.parametrize(
    ("words", "stage"),
    [(["-c"], "object"), (["-S"], "assembly"), (["-E"], "preprocess"), (["-M"], "dependencies")],
)
def test_the_stage_is_what_the_line_says(words: list[str], stage: str) -> None:
    assert parse([*words, "a.cpp"]).stage == stage


def test_architectures_add_up_and_repeat_once() -> None:
    command = parse(
        [
            "--offload-arch=gfx942,gfx90a",
            "--offload-arch",
            "gfx942",
            "--amdgpu-target=gfx908",
            "a.cpp",
        ]
    )
    assert command.archs == ("gfx942", "gfx90a", "gfx908")


def test_link_words_keep_their_order_among_the_inputs() -> None:
    command = parse(["a.o", "-lfoo", "b.cpp", "-L", "dir", "-Wl,--as-needed", "-lbar"])
    assert command.link_line == (
        "\0" + "0",
        "-lfoo",
        "\0" + "1",
        "-L",
        "dir",
        "-Wl,--as-needed",
        "-lbar",
    )
    assert "-lfoo" not in command.compile_flags


def test_unknown_flags_go_to_the_compiler_with_their_values() -> None:
    command = parse(["-ffast-math", "-munsafe-fp-atomics", "-mllvm", "-foo", "-I", "x", "a.cpp"])
    assert command.compile_flags == (
        "-ffast-math",
        "-munsafe-fp-atomics",
        "-mllvm",
        "-foo",
        "-I",
        "x",
    )


def test_what_names_rocm_is_taken_off() -> None:
    command = parse(["--rocm-path=/opt/rocm", "--hip-path", "/x", "-nogpulib", "a.cpp"])
    assert command.compile_flags == ()


def test_dependency_flags_reach_the_host_side_only() -> None:
    command = parse(["-MMD", "-MP", "-MF", "a.d", "-c", "a.cpp"])
    assert command.dependency_flags == ("-MMD", "-MP", "-MF", "a.d")
    assert command.compile_flags == ()


def test_flags_for_one_side() -> None:
    command = parse(["-Xarch_host", "-mavx2", "-Xarch_device", "-fno-unroll-loops", "a.cpp"])
    assert command.host_flags == ("-mavx2",)
    assert command.device_flags == ("-fno-unroll-loops",)


def test_genco_is_device_code_alone() -> None:
    command = parse(["--genco", "a.cpp", "-o", "a.co"])
    assert (command.side, command.stage, command.output) == ("device", "object", "a.co")


def test_response_files_are_read(tmp_path: Path) -> None:
    file = tmp_path / "args"
    file.write_text('-O2 "-DNAME=a b" x.cpp\n')
    command = parse([f"@{file}"])
    assert command.compile_flags == ("-O2", "-DNAME=a b")
    assert command.inputs == (Input("x.cpp", "hip"),)


def test_an_option_without_its_value_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="-o needs a value"):
        parse(["a.cpp", "-o"])


def test_response_files_that_name_themselves_end(tmp_path: Path) -> None:
    file = tmp_path / "loop"
    file.write_text(f"@{file}")
    with pytest.raises(UsageError, match="too deep"):
        parse([f"@{file}"])


def _clang(version: str) -> Toolchain:
    return Toolchain("clang", ("clang",), ("ld.lld",), ("clang++",), version)


def test_a_clang_that_waits_for_each_load_is_told_to_have_them_in_flight_together() -> None:
    options = scheduling_options(_clang("clang version 22.1.8 (ziglang)"), ("-O3",))
    assert "-amdgpu-schedule-relaxed-occupancy=true" in options
    assert scheduling_options(_clang("Debian clang version 19.1.7"), ("-O3",)) == ()


def test_scheduling_options_of_the_user_s_own_stand_alone() -> None:
    given = ("-mllvm", "-amdgpu-membound-threshold=50")
    assert scheduling_options(_clang("clang version 22.1.8"), given) == ()
