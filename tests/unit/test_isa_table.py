"""Properties of the table itself, and of what is generated from it."""

from __future__ import annotations

import re
from pathlib import Path

from rocm_perf_lab.virtual.isa.classes import CLASSES, COUNTERS, MOPS, instruction_class
from rocm_perf_lab.virtual.isa.coverage import page
from rocm_perf_lab.virtual.isa.generate import generate
from rocm_perf_lab.virtual.isa.table import CODES, all_ops

ROOT = Path(__file__).resolve().parents[2]


def test_every_opcode_fits_its_encoding_and_is_used_once() -> None:
    for arch in ("gfx90a", "gfx942"):
        keys = [(op.encoding, op.code) for op in all_ops() if arch in op.arches]
        assert len(keys) == len(set(keys))
    assert all(0 <= op.code < CODES[op.encoding] for op in all_ops())


def test_every_instruction_has_one_class_and_counters_use_only_classes() -> None:
    assert {instruction_class(op) for op in all_ops()} <= set(CLASSES)
    assert {c for classes in COUNTERS.values() for c in classes} <= {*CLASSES, *MOPS}
    assert len(CLASSES) + len(MOPS) <= 64


def test_classes_agree_with_recorded_counters_of_vcopy() -> None:
    """MI300X counts 3 INT32 and 2 INT64 of vcopy's 6 vector instructions, and global as FLAT."""
    by_name = {op.name: instruction_class(op) for op in all_ops()}
    vcopy = [
        "v_lshl_add_u32",
        "v_cmp_gt_i32",
        "v_ashrrev_i32",
        "v_lshlrev_b64",
        "v_lshl_add_u64",
        "v_lshl_add_u64",
    ]
    classes = [by_name[name] for name in vcopy]
    assert classes.count("VALU_INT32") == 3 and classes.count("VALU_INT64") == 2
    assert by_name["global_load_dwordx2"] in COUNTERS["SQ_INSTS_FLAT"]
    assert by_name["global_load_dwordx2"] in COUNTERS["SQ_INSTS_VMEM_RD"]
    assert by_name["s_cbranch_execz"] not in COUNTERS["SQ_INSTS_SALU"]


def test_generation_is_deterministic(tmp_path: Path) -> None:
    text, again = (
        "".join(path.read_text("utf-8") for path in generate(tmp_path / name)) for name in "ab"
    )
    assert text == again
    assert not re.search(r"/(home|work|tmp)/", text)


def test_the_coverage_page_is_current() -> None:
    current = (ROOT / "docs" / "isa-coverage.md").read_text()
    assert current == page(), (
        "run: python -m rocm_perf_lab.virtual.isa.coverage docs/isa-coverage.md"
    )
