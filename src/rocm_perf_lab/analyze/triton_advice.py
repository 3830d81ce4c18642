"""What to try next, in Triton's words, for a kernel that Triton compiled.

From AMD's guide to optimising Triton kernels for MI300X: spills, LDS and registers against waves,
1,024 workgroups or more, wide loads from memory and LDS, and 16 before 32 for the matrix
instruction. Each sentence carries the number it rests on.
"""

from __future__ import annotations

from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.thread_trace.finding import Access
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.trace.library_code import told
from rocm_perf_lab.trace.trace import KernelSymbol
from rocm_perf_lab.trace.triton_log import parameters_of

_ENOUGH_WORKGROUPS = 1024
_JUST_OVER = 1.15  # registers over the next step: within the compiler's reach
_WORTH_A_WORD = 0.02  # of the waves' time


def advice(
    symbol: KernelSymbol,
    key: KernelKey,
    occupancy: Occupancy,
    att: ThreadTraceFinding | None = None,
    grid_limited: bool = False,
) -> tuple[str, ...]:
    """Sentences, the surest first; empty for a kernel that is not Triton's.

    `grid_limited`: the grid brings fewer workgroups than LDS and registers let be resident.
    """
    made = parameters_of(symbol.name)
    if "num_warps" not in made:
        return ()
    blocks = [name for name in made if name.upper().startswith("BLOCK")]
    smaller = f"a smaller {' or '.join(blocks[:3])}" if blocks else "smaller blocks"
    found = []
    if symbol.scratch_bytes:
        found.append(
            f"It spills: {symbol.scratch_bytes} bytes a lane go to memory. Try {smaller}, or more "
            f"than num_warps={made['num_warps']}."
        )
    stages = made.get("num_stages", "0")
    if "lds" in occupancy.limiters and key.lds_bytes and not grid_limited:
        less = (
            f", or fewer than num_stages={stages}" if stages.isdigit() and int(stages) > 1 else ""
        )
        found.append(
            f"LDS ({key.lds_bytes:,} bytes a workgroup) allows {occupancy.waves_per_simd:g} waves "
            f"per SIMD. Try {smaller}{less}."
        )
    step, used = occupancy.steps.get("vgpr"), symbol.total_vgprs
    near = step is not None and used and used <= _JUST_OVER * step.at_most
    if near and step and "vgpr" in occupancy.limiters and not grid_limited:
        found.append(
            f"{used} registers are just over a step: at {step.at_most} it would have "
            f"{step.gives:g} waves per SIMD. Try waves_per_eu={step.gives:g}, which asks the "
            "compiler to stay below."
        )
    if 0 < key.workgroups < _ENOUGH_WORKGROUPS:
        found.append(
            f"The grid has {key.workgroups:,} programs; AMD's guide asks for 1,024 or more. Try "
            f"{smaller}, or split the reduction over programs."
        )
    small = att.small_reads if att else ()
    narrow = [a for a in att.accesses if "narrow" in a.kinds] if att else []
    loads = [a for a in small if not a.isa.startswith("ds_")] or narrow
    if loads and loads[0].share >= _WORTH_A_WORD:
        found.append(
            f"{_told(loads[0])} loads less than 16 bytes a lane. Let the fastest dimension be "
            "contiguous and its block a multiple of 16 bytes, or say so with tl.multiple_of and "
            "tl.max_contiguous."
        )
    reads = [a for a in small if a.isa.startswith("ds_")]
    share = sum(a.share for a in reads)
    if share >= _WORTH_A_WORD:
        packed = "" if made.get("kpack", "1") != "1" else "kpack=2, or "
        found.append(
            f"LDS is read in a loop by {_told(reads[0])}, {reads[0].bytes_per_lane} bytes a lane "
            f"where ds_read_b128 brings 16: {100 * share:.1f} % of the waves' time goes to such "
            f"reads. Try {packed}operands whose contiguous dimension is the one that tl.dot sums."
        )
    if made.get("matrix_instr_nonkdim") == "32":
        found.append("matrix_instr_nonkdim=32 is set: 16 is usually quicker on MI300X.")
    return tuple(found)


def _told(access: Access) -> str:
    """An instruction with its line."""
    where = f" ({told(access.source)})" if access.source else ""
    return f"{access.isa.split(None, 1)[0]}{where}"
