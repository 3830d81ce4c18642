"""`rocm-perf check --tool hazards`: what is used before it is ready is found, and nothing else.

The programs hold each kernel twice: `name<false>` has the mistake, `name<true>` has not; those
called `clean_…` have none either way.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.check.run import TOOLS, USUAL
from rocm_perf_lab.check.words import HAZARDS
from support.checked_programs import PROGRAMS, Document, built, by_name, check, planted
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu
from support.removed_waits import removals, rounds, without

DEVICE = {"gfx942": "virtual:mi300x", "gfx90a": "virtual:mi210"}
WAITS, STATES = "check_hazards_waits", "check_hazards_states"
COMPILED = "check_hazards_compiled"
# Between vector instructions gfx90a forwards these.
ONLY_GFX942 = {
    "scalar_to_vector",
    "exec_to_lane",
    "vector_to_lane",
    "transcendental",
    "moved_half",
    "matrix_short_chain",
}


def compiled(folder: Path, name: str, architecture: str) -> Path:
    need_virtual_gpu()
    target = folder / f"{name}-{architecture}"
    hipcc(
        "-O2", "-g", f"--offload-arch={architecture}", PROGRAMS / f"{name}.cpp", "-o", target
    )  # fmt: skip
    return target


@pytest.fixture(scope="module", params=sorted(DEVICE))
def architecture(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def waits(tmp_path_factory: pytest.TempPathFactory, architecture: str) -> Document:
    program = compiled(tmp_path_factory.mktemp("waits"), WAITS, architecture)
    return check(program, "--tool", "hazards", "--device", DEVICE[architecture])


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory, architecture: str) -> Document:
    program = compiled(tmp_path_factory.mktemp("states"), STATES, architecture)
    return check(program, "--tool", "hazards", "--device", DEVICE[architecture])


def wrong(source: str) -> set[str]:
    return {name for name in planted(source) if not name.startswith("clean_")}


def statement(source: str, name: str) -> str:
    return (PROGRAMS / f"{name}.cpp").read_text().splitlines()[int(source.rpartition(":")[2]) - 1]


def test_whatever_is_not_waited_for_is_found_and_no_twin(waits: Document) -> None:
    assert len(wrong(WAITS)) >= 30
    assert by_name(waits, "false").keys() == wrong(WAITS)
    assert by_name(waits, "true") == {}
    kinds = {finding["kind"] for finding in waits["findings"]}
    assert kinds == set(HAZARDS) - {"wait-states"}


def test_every_lack_of_one_wait_state_is_found_and_no_twin(
    states: Document, architecture: str
) -> None:
    assert len(wrong(STATES)) >= 35
    expected = wrong(STATES) - (ONLY_GFX942 if architecture == "gfx90a" else set())
    assert by_name(states, "false").keys() == expected
    assert by_name(states, "true") == {}
    assert {finding["kind"] for finding in states["findings"]} == {"wait-states"}


@pytest.mark.parametrize(
    ("kernel", "kind", "waits_for"),
    [
        ("load_counted", "early-read", "vmcnt(0)"),
        ("load_behind_stores", "early-read", "vmcnt(2)"),
        ("load_overwritten", "early-write", "vmcnt(0)"),
        ("load_over_lds", "early-write", "lgkmcnt(0)"),
        ("scalar_counted", "early-read", "lgkmcnt(0)"),
        ("flat_in_lds_used", "early-read", "vmcnt(0) lgkmcnt(0)"),
        ("loaded_to_lds", "early-lds", "vmcnt(0)"),
        ("written_for_others", "early-lds", "lgkmcnt(0)"),
    ],
)
def test_what_would_have_waited_is_said(
    waits: Document, kernel: str, kind: str, waits_for: str
) -> None:
    (finding,) = by_name(waits, "false")[kernel]
    assert finding["kind"] == kind
    assert f"s_waitcnt {waits_for}" in finding["detail"]


def test_both_sides_are_named_and_the_buffer(waits: Document) -> None:
    (finding,) = by_name(waits, "false")["load_counted"]
    load, use = finding["sides"]
    assert "global_load_dword" in load["instruction"] and "offset:4" in load["instruction"]
    assert "v_add_u32" in use["instruction"]
    assert "PLANT" in statement(use["source"], WAITS)
    assert load["access"] == "read" and load["bytes"] == 4
    assert load["work_item"] == use["work_item"] == [0, 0, 0]
    assert finding["count"] == 4  # two waves of two workgroups
    assert finding["buffer"]["offset"] == 4
    assert finding["buffer"]["arguments"] == ["offset 0"]


def test_the_lane_is_one_that_loaded(waits: Document) -> None:
    (finding,) = by_name(waits, "false")["lanes_used"]
    assert finding["sides"][1]["work_item"] == [7, 0, 0]


def test_lds_that_another_wave_wrote_is_told_with_both_waves(waits: Document) -> None:
    (finding,) = by_name(waits, "false")["written_for_others"]
    write, read = finding["sides"]
    assert (write["access"], read["access"]) == ("write", "read")
    assert write["wave"] != read["wave"]
    assert finding["buffer"]["kind"] == "LDS"


def test_wait_states_are_counted(states: Document, architecture: str) -> None:
    (finding,) = by_name(states, "false")["matrix_read_2"]
    assert finding["detail"].startswith("a matrix instruction writes v20, then a vector")
    assert "5 wait states are needed between them, there are 4" in finding["detail"]
    (finding,) = by_name(states, "false")["accumulator_overwritten"]
    needed = 7 if architecture == "gfx942" else 15
    assert f"{needed} wait states are needed between them" in finding["detail"]


@pytest.mark.parametrize("optimised", ["-O0", "-O3"])
@pytest.mark.parametrize("name", ["gemm", "reduction"])
def test_what_a_compiler_made_has_no_hazards(
    tmp_path: Path, architecture: str, name: str, optimised: str
) -> None:
    need_virtual_gpu()
    target = tmp_path / name
    source = REPOSITORY / "examples" / f"{name}.cpp"
    hipcc(optimised, "-g", f"--offload-arch={architecture}", source, "-o", target)
    device = ("--device", DEVICE[architecture])
    found = check(target, "--tool", "hazards", *device, arguments=("-n", "128"), code=0)
    assert found["findings"] == [] and found["clean"]


# For a matrix instruction's result the compiler puts wait states even where another instruction
# has written the register since.
MORE_THAN_NEEDED = {"doubles_to_vector", "small_doubles_to_vector"}


def test_each_wait_that_a_compiler_put_is_missed_when_it_is_taken_out(
    tmp_path: Path, architecture: str
) -> None:
    program = compiled(tmp_path, COMPILED, architecture)
    device = ("--device", DEVICE[architecture])
    assert check(program, "--tool", "hazards", *device, code=0)["clean"]
    every = removals(program)
    assert {"one less", "behind the next", "no vmcnt", "no lgkmcnt"} >= {r.what for r in every}
    assert len(every) >= 30
    missed = set()
    for taken_out in rounds(every):
        changed = without(program, taken_out, tmp_path / "changed")
        found = check(changed, "--tool", "hazards", *device)
        kernels = {side["kernel"] for finding in found["findings"] for side in finding["sides"]}
        missed |= {
            (one.kernel.partition("(")[0], one.instruction[:5])
            for one in taken_out
            if one.kernel not in kernels
        }
    assert missed <= {(kernel, "s_nop") for kernel in MORE_THAN_NEEDED}


def test_hazards_are_looked_for_when_asked(tmp_path: Path) -> None:
    program = built(tmp_path, WAITS)
    chosen = ("--kernel", "load_used", "--device", "virtual:mi300x")
    usual = check(program, *chosen, code=0)
    assert tuple(usual["coverage"]["tools"]) == USUAL
    every = check(program, *chosen, "--tool", "all")
    assert tuple(every["coverage"]["tools"]) == TOOLS
    assert {finding["tool"] for finding in every["findings"]} == {"hazards"}
