"""``python -m rocm_perf_lab.virtual.isa.coverage FILE``: the coverage page of the docs."""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import sys
from pathlib import Path

from rocm_perf_lab.virtual.isa.classes import COUNTERS, instruction_class
from rocm_perf_lab.virtual.isa.op import ARCHES, Op
from rocm_perf_lab.virtual.isa.table import ENCODINGS, all_ops

_SUBJECT = {
    "SOP1": "scalar, one source", "SOP2": "scalar, two sources", "SOPK": "scalar with a 16-bit constant",
    "SOPC": "scalar compares", "SOPP": "control: branches, waits, barriers", "SMEM": "scalar memory",
    "VOP1": "vector, one source", "VOP2": "vector, two sources", "VOPC": "vector compares",
    "VOP3": "vector, three sources", "VOP3P": "packed math, dot products, matrix (MFMA, SMFMAC)",
    "DS": "LDS", "FLAT": "flat memory", "GLOBAL": "global memory", "SCRATCH": "scratch memory",
    "MUBUF": "buffer memory", "MTBUF": "typed buffer memory",
}  # fmt: skip

_NOTES = """\
## What the executor promises

- Integer and IEEE operations are exact to the bit, in the rounding and denormal modes of MODE
  for f32 and f64. f16 results round to nearest even whatever MODE says.
- `v_exp`, `v_log`, `v_sin`, `v_cos`, `v_rsq` are computed in double and rounded once: within 1 ulp
  of the exact value. Like the hardware's, the f32 ones flush denormals; `v_rcp_f64`, `v_rsq_f64` and
  `v_sqrt_f64` are better than the hardware's first approximations.
- A NaN result is a NaN; which payload survives is not modelled. `v_min` and `v_max` follow IEEE mode.
- MFMA accumulates in order of k with one rounding per step (f32, f64) or wraps (i32); xf32 inputs are
  rounded to 10 mantissa bits; 8-bit floats are the FNUZ formats of gfx942, where overflow is NaN.
- `omod` is ignored where the type's denormals are kept, as the manual says.
- Atomics on global memory are host atomics; lanes go in order, so float sums are the same every run.
- Waits, cache controls, priorities and messages do nothing: memory is always coherent here.
- `s_memtime` advances four clocks per instruction of the wave unless a timing model says otherwise.

Executing an instruction marked *decoded only* is a fault that names it.
"""


def _table(ops: tuple[Op, ...]) -> list[str]:
    lines = [
        "| encoding | what | " + " | ".join(ARCHES) + " | executed | decoded only |",
        "|---|---|---|---|---|---|",
    ]
    for encoding in ENCODINGS:
        mine = [op for op in ops if op.encoding == encoding]
        counts = [str(sum(arch in op.arches for op in mine)) for arch in ARCHES]
        done = len({op.name for op in mine if op.modelled})
        rest = len({op.name for op in mine if not op.modelled})
        lines.append(
            f"| {encoding} | {_SUBJECT[encoding]} | {' | '.join(counts)} | {done} | {rest or ''} |"
        )
    return lines


def _name(op: Op) -> str:
    only = f" ({op.arches[0]})" if len(op.arches) == 1 else ""
    return f"`{op.name}`{only}" + ("" if op.modelled else " *decoded only*")


def page() -> str:
    """The page as Markdown."""
    ops = all_ops()
    executed = [
        len({op.name for op in ops if arch in op.arches and op.modelled}) for arch in ARCHES
    ]
    lines = [
        "# Instructions of the virtual GPU",
        "",
        "Generated from the ISA table (`src/rocm_perf_lab/virtual/isa`); do not edit.",
        "",
        *(
            f"- {arch}: {count} instructions executed"
            for arch, count in zip(ARCHES, executed, strict=True)
        ),
        "- VOP1, VOP2 and VOPC instructions also in their VOP3, SDWA and DPP forms",
        "",
        *_table(ops),
        "",
        _NOTES,
        "## Not in the table",
        "",
        "Scalar atomics (`s_atomic_*`, `s_buffer_atomic_*`), `s_atc_probe*`, `s_rfe_restore_b64`: no compiler",
        "emits them. Image and export instructions do not exist on these chips.",
        "",
        "## Counters",
        "",
        "Every instruction belongs to one class; AMD's counters are sums of classes.",
        "",
        "| counter | classes |",
        "|---|---|",
        *(
            f"| {name} | {'all' if name == 'SQ_INSTS' else ', '.join(classes)} |"
            for name, classes in sorted(COUNTERS.items())
        ),
        "",
        "## Instructions",
        "",
    ]
    for encoding in ENCODINGS:
        mine = [op for op in ops if op.encoding == encoding]
        lines += [f"### {encoding}: {_SUBJECT[encoding]}", ""]
        groups: dict[str, list[str]] = {}
        for op in mine:
            groups.setdefault(instruction_class(op), []).append(_name(op))
        lines += [f"- {kind}: {', '.join(names)}" for kind, names in sorted(groups.items())]
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m rocm_perf_lab.virtual.isa.coverage FILE\n")
        return 2
    Path(arguments[0]).write_text(page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
