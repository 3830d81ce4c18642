"""Wave-instructions per second of one core: a register-only loop, a mixed kernel, MFMA.

    python benchmarks/isa_speed.py

Needs `make native` and LLVM's assembler. Counters are on, as always.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.isa_machine import LANES, Machine, assemble_all

LOOP_END = "s_sub_u32 s2, s2, 1\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 loop\ns_endpgm"
KERNELS = {
    "registers only": """
    loop:
      v_fma_f32 v4, v1, v2, v3
      v_add_f32 v5, v4, v1
      v_mul_f32 v6, v5, v2
      v_add_u32 v7, 1, v0
      v_lshlrev_b32 v8, 2, v7
      v_xor_b32 v9, v8, v7
      v_fma_f32 v10, v6, v2, v3
      v_max_f32 v11, v10, v4""",
    "mixed": """
    loop:
      global_load_dword v4, v0, s[0:1]
      global_load_dwordx4 v[20:23], v0, s[0:1] offset:2048
      s_waitcnt vmcnt(0)
      v_fma_f32 v4, v1, v2, v3
      ds_write_b32 v0, v4
      ds_read_b32 v5, v0
      s_waitcnt lgkmcnt(0)
      v_add_f32 v6, v5, v4
      v_cmp_gt_f32 vcc, v6, v3
      v_cndmask_b32 v7, v6, v3, vcc
      v_lshlrev_b32 v8, 2, v0
      v_lshl_add_u64 v[10:11], s[0:1], 0, v[12:13]
      v_mad_u64_u32 v[14:15], s[4:5], v8, s2, v[10:11]
      v_fma_f64 v[16:17], v[14:15], v[14:15], v[16:17]
      v_exp_f32 v9, v6
      s_and_saveexec_b64 s[6:7], vcc
      v_add_f32 v9, v9, v9
      s_or_b64 exec, exec, s[6:7]
      global_store_dword v0, v7, s[0:1] offset:1024
      s_load_dwordx2 s[8:9], s[0:1], 0x0""",
    "MFMA 32x32x8 f16": """
    loop:
      v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[4:5], v[32:47]""",
}


def measure(name: str, folder: Path, loops: int) -> str:
    code = assemble_all("gfx942", [f"{KERNELS[name]}\n{LOOP_END}"], folder)[0]
    machine = Machine(code or b"")
    memory = np.zeros(1 << 16, dtype=np.uint32)
    machine.pair(0, machine.map(memory))
    machine.s[2] = loops
    machine.set_v(0, 4 * np.arange(LANES, dtype=np.uint32))
    for register, value in ((1, 1.5), (2, 1.0000001), (3, 1.0)):
        machine.set_v(register, np.full(LANES, value, dtype=np.float32))
    start = time.process_time()
    stop = machine.run(budget=1 << 40)
    seconds = time.process_time() - start
    if stop != "end":
        raise SystemExit(f"{name}: stopped by {stop}: {machine.fault()}")
    return f"{name:20} {machine.executed / seconds / 1e6:8.1f} M wave-instructions/s"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, loops in (
            ("registers only", 1_000_000),
            ("mixed", 200_000),
            ("MFMA 32x32x8 f16", 50_000),
        ):
            sys.stdout.write(measure(name, Path(folder), loops) + "\n")


if __name__ == "__main__":
    main()
