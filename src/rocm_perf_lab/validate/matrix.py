"""Every matrix instruction of AMD's table in a kernel of its own: the cycles it takes."""

from __future__ import annotations

from rocm_perf_lab.virtual.isa.op import Op
from rocm_perf_lab.virtual.isa.table import all_ops
from rocm_perf_lab.virtual.model_parameters import table

_ACCUMULATORS = 4  # so that none waits for another
_REPEATED = 8  # in a turn, each accumulator
_TURNS = 16  # more than the least that events show around a launch
# Two waves on each SIMD, so that neither the loop nor the fetching of code shows.
_PROGRAM = """
#include "hip_check.h"
{kernels}
template <class Kernel>
void show(const char* name, Kernel kernel, double clock_ghz) {{
  float took[2];
  for (int i : {{0, 1}}) {{
    hipEvent_t before, after;
    CHECK(hipEventCreate(&before));
    CHECK(hipEventCreate(&after));
    kernel<<<1, 512>>>({turns} << i);  // its code
    CHECK(hipEventRecord(before));
    kernel<<<1, 512>>>({turns} << i);
    CHECK(hipEventRecord(after));
    CHECK(hipEventSynchronize(after));
    CHECK(hipEventElapsedTime(&took[i], before, after));
  }}
  std::printf("%s %.6g\\n", name, (took[1] - took[0]) * 1e6 * clock_ghz / {each});
}}
int main() {{
  hipDeviceProp_t device;
  CHECK(hipGetDeviceProperties(&device, 0));
{calls}
}}
"""
_KERNEL = """
__global__ void __launch_bounds__(512) {name}(int turns) {{
  for (int i = 0; i < turns; ++i)
    asm volatile(".rept {repeated}\\n{lines}\\n.endr" ::: {clobbered});
}}
"""


def cycles(architecture: str) -> dict[str, int]:
    """AMD's table, as the model's parameters have it."""
    found: dict[str, int] = table()["matrix_cycles"].get(architecture, {})
    return found


def source(architecture: str, beside: int = 0) -> str:
    """A HIP program that prints a line for each: its name and the cycles it takes.

    `beside`: vector instructions after each.
    """
    listed = cycles(architecture)
    ops = [op for op in all_ops() if op.name in listed and architecture in op.arches]
    each = 2 * _TURNS * _REPEATED * _ACCUMULATORS
    return _PROGRAM.format(
        kernels="".join(_kernel(op, beside) for op in ops),
        calls="".join(f'  show("{op.name}", {op.name}, device.clockRate * 1e-6);\n' for op in ops),
        turns=_TURNS,
        each=each,
    )


def _kernel(op: Op, beside: int) -> str:
    widths = [_registers(kind) for kind in (*(op.dst,) * _ACCUMULATORS, *op.src)]
    firsts = [sum(width + width % 2 for width in widths[:i]) for i in range(len(widths))]
    names = [_named(first, width) for first, width in zip(firsts, widths, strict=True)]
    a, b, c = names[_ACCUMULATORS:]
    # A sparse instruction adds to its destination: the third operand is an index.
    sparse = op.name.startswith("v_smfmac")
    last = firsts[-1] + widths[-1]
    others = f"\\nv_mov_b32 v{last}, 1" * beside
    lines = [
        f"{op.name} {d}, {a}, {b}, {c if sparse else d}{others}" for d in names[:_ACCUMULATORS]
    ]
    return _KERNEL.format(
        name=op.name,
        repeated=_REPEATED,
        lines="\\n".join(lines),
        clobbered=", ".join(f'"v{i}"' for i in range(last + 1)),
    )


def _registers(kind: str) -> int:
    return int(kind[1:]) // 32


def _named(first: int, width: int) -> str:
    return f"v{first}" if width == 1 else f"v[{first}:{first + width - 1}]"
