"""Constants, scalars, modifiers, selects and lane permutations of every vector instruction.

``PYTHONPATH=tests python tests/unit/test_isa_forms.py`` writes docs/isa-forms.md.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab.virtual.isa.op import WIDTH, Op
from support.isa_forms import (
    Form,
    Words,
    forms_of,
    plain_suffix,
    precision_of_constants,
    source_register,
    values_for,
    vector_ops,
    write,
)
from support.isa_machine import LANES, ROOT, Machine, assemble_all, assembler, lanes_of

pytestmark = pytest.mark.compiler

END = bytes.fromhex("000081bf")  # s_endpgm
VCC, SDST, CARRY, MASK = 106, 20, 24, 40
PICKED = 0x9F3C_55AA_0FF0_C3A5  # vcc and the mask operands
ISAS = ("gfx942", "gfx90a")


def run(op: Op, code: bytes, isa: str, sources: dict[int, Words], form: Form, implicit: bool) -> tuple[Words, int]:  # fmt: skip
    """The destination's registers and the mask written, VCC or a pair."""
    m = Machine(code + END, isa, agprs=0, lds=0, scratch=0)
    for k, words in sources.items():
        m.v[source_register(k) : source_register(k) + len(words)] = words
    m.v[4:8] = old_destination(op)
    for number in form.scalars.items():
        k, register = number
        for n in range(len(sources[k])):
            m.s[register + n] = sources[k][n][0]
    m.pair(VCC, PICKED)
    m.pair(MASK, PICKED)
    if form.mode is not None:
        m.mode[0] = form.mode
    assert m.run() == "end", m.fault()
    width = WIDTH.get(op.dst, 0) if op.dst != "mask" else 0
    pair = VCC if implicit else SDST if op.dst == "mask" else CARRY
    writes_mask = op.dst == "mask" or op.kind in ("carry_out", "carry_in", "div_scale")
    return m.v[4 : 4 + width].copy(), m.get_pair(pair) if writes_mask else 0


@lru_cache(maxsize=4096)
def _old(dst: str) -> Words:
    words = np.zeros((4, LANES), dtype=np.uint32)
    if dst and dst != "mask":
        values = values_for(dst, 77)
        words[: len(values)] = values
    return words


def old_destination(op: Op) -> Words:
    return _old(op.dst)


def same(op: Op, a: Words, b: Words) -> np.ndarray:
    """Lanes that agree; one NaN is as good as another."""
    equal = (a == b).all(axis=0)
    if op.dst in ("f32", "f32x2"):
        nan = np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))
        return np.asarray(((a == b) | nan).all(axis=0))
    if op.dst == "f64":
        x, y = (np.ascontiguousarray(w.T).view(np.float64).ravel() for w in (a, b))
        return np.asarray(equal | (np.isnan(x) & np.isnan(y)))
    if "f16" in op.dst:
        halves = [np.ascontiguousarray(w).view(np.uint16).reshape(LANES, 2) for w in (a, b)]
        nan = np.isnan(halves[0].view(np.float16)) & np.isnan(halves[1].view(np.float16))
        return np.asarray(((halves[0] == halves[1]) | nan).all(axis=1))
    return np.asarray(equal)


def check(op: Op, form: Form, code: bytes, plain: bytes, isa: str) -> str | None:
    """What is wrong with the form's result, if anything."""
    sources = {k: values_for(t, 3 * k) for k, t in enumerate(op.src) if t not in ("mask", "lit")}
    for k in form.scalars:
        sources[k] = np.repeat(sources[k][:, 17:18], LANES, axis=1)
    changed = {k: form.changes[k](w) if k in form.changes else w for k, w in sources.items()}
    bare = Form("plain", "", mode=form.mode)
    want, want_mask = run(op, plain, isa, changed, bare, plain_suffix(op) == "_e32")
    implicit = form.text.split()[0].endswith(("_e32", "_sdwa", "_dpp"))
    got, got_mask = run(op, code, isa, sources, form, implicit)
    old = old_destination(op)[: len(want)]
    if form.exact is not None:
        want = form.exact(list(changed.values()), want, old)
    if form.result is not None:
        with np.errstate(all="ignore"):
            want = form.result(want, old)
    keep = lanes_of(form.keep)
    want = np.where(keep, want, old)
    wrong = ~same(op, got, want) if len(want) else np.zeros(LANES, dtype=bool)
    if wrong.any():
        lane = int(np.flatnonzero(wrong)[0])
        return f"{form.text}: lane {lane} is {got[:, lane]}, not {want[:, lane]}"
    if got_mask != want_mask & form.keep:
        return f"{form.text}: mask {got_mask:#x}, not {want_mask & form.keep:#x}"
    return None


PAGE = ROOT / "docs" / "isa-forms.md"


@pytest.mark.parametrize(
    "isa", [pytest.param("gfx942"), pytest.param("gfx90a", marks=pytest.mark.slow)]
)
def test_every_form_of_every_vector_instruction(isa: str, tmp_path: Path) -> None:
    counts, wrong = check_all(isa, tmp_path)
    assert not wrong, f"{len(wrong)} forms, among them:\n" + "\n".join(wrong[:40])
    if llvm_version() != PAGE_LLVM:
        return
    rows = {(c[0].strip(), c[1].strip()): c for c in table_rows(PAGE.read_text())}
    column = 2 + ISAS.index(isa)
    shown = {key: int(cells[column]) for key, cells in rows.items() if cells[column].strip()}
    assert shown == dict(counts), "docs/isa-forms.md is not current: run this file"


def check_all(isa: str, tmp_path: Path) -> tuple[Counter[tuple[str, str]], list[str]]:
    ops = vector_ops(isa)
    precision = precision_of_constants(ops, isa, tmp_path)
    cases = [(op, form) for op in ops for form in forms_of(op, precision)]
    codes = assemble_all(isa, [form.text for _, form in cases], tmp_path, lenient=True)
    plains = assemble_all(isa, [write(op, None, plain_suffix(op)) for op in ops], tmp_path)
    plain_of = {op.name: code for op, code in zip(ops, plains, strict=True)}
    counts: Counter[tuple[str, str]] = Counter()
    wrong = []
    for (op, form), code in zip(cases, codes, strict=True):
        if code is None:
            continue  # LLVM says that there is no such form
        counts[op.encoding, form.name] += 1
        plain = plain_of[op.name]
        assert plain is not None
        try:
            problem = check(op, form, code, plain, isa)
        except AssertionError as error:
            problem = f"{form.text}: {error}"
        if problem:
            wrong.append(problem)
    return counts, wrong


# Which forms exist is LLVM's word, and differs a little between its versions.
PAGE_LLVM = "22"


def llvm_version() -> str | None:
    command = assembler()
    if command is None:
        return None
    # Of clang and of ziglang's, which ends before its options; llvm-mc has none before --version.
    program = command[
        : next(n for n, word in enumerate(command) if word.startswith("-") and word != "-m")
    ]
    said = subprocess.run([*program, "--version"], capture_output=True, text=True, check=False)
    return said.stdout.partition("version ")[2].partition(".")[0]


def table_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| VOP")]
    return [line.strip("| ").split("|") for line in lines]


def page(counts: dict[str, Counter[tuple[str, str]]]) -> str:
    keys = sorted({key for one in counts.values() for key in one})
    totals = ", ".join(f"{isa} {sum(one.values()):,}" for isa, one in counts.items())
    return "\n".join(
        [
            "# Forms of the vector instructions",
            "",
            "Every vector instruction in every form LLVM's assembler accepts: constants, scalars,",
            "modifiers, selects and lane permutations. Each form is run on the virtual GPU and must give",
            "what the instruction's plain form gives on sources changed as the ISA manual says, which numpy",
            "does. What an inline constant is worth to an operand is read from LLVM: it encodes the bits",
            "that the constant stands for as that constant. The plain forms have their own tests, against",
            "numpy and Python's integers.",
            "",
            f"Written by `PYTHONPATH=tests python tests/unit/test_isa_forms.py` with LLVM {PAGE_LLVM}: {totals} forms.",
            "",
            "| encoding | form | " + " | ".join(counts) + " |",
            "|---|---|" + "---|" * len(counts),
            *(
                f"| {encoding} | {form} | "
                + " | ".join(str(one[encoding, form] or "") for one in counts.values())
                + " |"
                for encoding, form in keys
            ),
            "",
            "Not checked, because no source says what they mean: a float constant as the exponent of",
            "`v_ldexp_f16`, the signs of `v_dot2c_f32_f16`, and clamp of carries, of 24-bit products, of shifts",
            "and of `v_sad_hi_u8`, `v_qsad` and `v_mqsad`; clamp of other integers is checked against exact sums",
            "and products. Half-precision results keep their denormals in every mode, where hardware would",
            "flush them if MODE asked; no compiler asks. The signs of `v_pk_fmac_f16` with SDWA or DPP, forms that",
            "assemblers know from LLVM 21 on, are taken to be its lower half's, as of any half-precision source.",
            "",
        ]
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        counts = {isa: check_all(isa, Path(folder))[0] for isa in ISAS}
    PAGE.write_text(page(counts))


if __name__ == "__main__":
    main()
