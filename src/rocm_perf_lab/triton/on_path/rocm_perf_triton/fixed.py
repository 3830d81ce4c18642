"""``python -m rocm_perf_triton.fixed CONFIGURATION KERNEL PROGRAM ARGUMENTS``: the whole program,
one of its kernels always in this configuration (JSON)."""

from __future__ import annotations

import json
import sys
from typing import Any

from rocm_perf_triton.tune import run_program


def main(arguments: list[str]) -> None:
    configuration: dict[str, Any] = json.loads(arguments[0])

    def launched(kernel: Any, _: Any, args: Any, grid: Any, options: dict[str, Any]) -> Any:
        return kernel.run(*args, grid=grid, **{"warmup": False, **options, **configuration})

    run_program(arguments[2], arguments[2:], arguments[1], launched)


if __name__ == "__main__":
    main(sys.argv[1:])
