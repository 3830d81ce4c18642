"""The table of wait states between instructions holds together."""

from __future__ import annotations

import pytest

from rocm_perf_lab.virtual.isa import hazards
from rocm_perf_lab.virtual.isa.op import ARCHES
from rocm_perf_lab.virtual.isa.table import all_ops
from rocm_perf_lab.virtual.model_parameters import table

REMEMBERED = 32  # instructions, in native/gpu/check/wait_states.h


def test_rules_name_what_there_is_and_say_where_it_is_from() -> None:
    for rule in (*hazards.RULES, hazards.SHORT):
        assert set(rule.first) <= set(hazards.DID)
        assert set(rule.second) <= set(hazards.NEEDS)
        assert set(rule.source.split(", ")) <= {"manual", "llvm"}


def test_every_kind_of_instruction_has_a_rule() -> None:
    first = {name for rule in hazards.RULES for name in rule.first}
    assert first == set(hazards.DID) - {"none"}
    second = {name for rule in (*hazards.RULES, hazards.SHORT) for name in rule.second}
    assert second == set(hazards.NEEDS)


@pytest.mark.parametrize("arch", ARCHES)
def test_passes_of_matrix_instructions_are_known(arch: str) -> None:
    cycles = table()["matrix_cycles"][arch]
    for op in all_ops():
        if "matrix" in op.flags and arch in op.arches:
            assert cycles[op.name] // 4 in (2, 4, 8, 16), op.name


def test_the_longest_wait_is_remembered() -> None:
    most = 0
    for rule in hazards.RULES:
        for waits in rule.waits:
            passes = 16 if waits.startswith("p") else 0
            most = max(most, passes + int(waits.removeprefix("p") or 0))
    assert most < REMEMBERED


@pytest.mark.parametrize(
    ("name", "arch", "did"),
    [
        ("v_exp_f32", "gfx942", "trans"),
        ("v_add_f32", "gfx942", "valu"),
        ("v_dot4_i32_i8", "gfx942", "dot"),
        ("v_accvgpr_write_b32", "gfx90a", "valu"),
        ("v_mfma_f32_16x16x4_f32", "gfx942", "sgemm"),
        ("v_mfma_f32_16x16x4f32", "gfx90a", "xdl"),
        ("v_mfma_f32_16x16x8_xf32", "gfx942", "xdl"),
        ("v_smfmac_f32_16x16x32_f16", "gfx942", "xdl"),
        ("v_mfma_f64_4x4x4_4b_f64", "gfx942", "dgemm4"),
        ("v_mfma_f64_16x16x4f64", "gfx90a", "dgemm16"),
        ("global_load_dword", "gfx942", "none"),
    ],
)
def test_what_an_instruction_is(name: str, arch: str, did: str) -> None:
    (op,) = (op for op in all_ops() if op.name == name and arch in op.arches)
    assert hazards.did(op) == did
