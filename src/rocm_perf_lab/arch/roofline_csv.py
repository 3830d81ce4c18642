"""roofline.csv: the ceilings rocprof-compute measured on the very device of a run."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocm_perf_lab.arch.gpu import Gpu, Quantity
from rocm_perf_lab.arch.load import best_sustained

NAME = "roofline.csv"
_COLUMNS = {
    "HBMBw": "hbm",
    "MALLBw": "mall",
    "L2Bw": "l2",
    "L1Bw": "l1",
    "LDSBw": "lds",
    "FP16Flops": "valu_f16",
    "FP32Flops": "valu_f32",
    "FP64Flops": "valu_f64",
    "MFMAF4Flops": "mfma_f6f4",
    "MFMAF6F4Flops": "mfma_f6f4",
    "MFMAF8Flops": "mfma_f8",
    "MFMAF16Flops": "mfma_f16",
    "MFMABF16Flops": "mfma_bf16",
    "MFMAF32Flops": "mfma_f32",
    "MFMAF64Flops": "mfma_f64",
    "MFMAI8Ops": "mfma_i8",
}


def read(path: Path) -> dict[str, Quantity]:
    """Ceilings by our names, the best of the devices listed; {} where the file is none of these."""
    try:
        if not path.is_file() or path.stat().st_size > 1 << 20:
            return {}
        text = path.read_bytes().decode("utf-8-sig", "replace")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, csv.Error):
        return {}
    best: dict[str, float] = {}
    for row in rows:
        for column, name in _COLUMNS.items():
            value = _number(row.get(column))
            if value > best.get(name, 0.0):
                best[name] = value
    return {name: Quantity(v, _unit(name), "measured", path.name) for name, v in best.items()}


def applied(gpu: Gpu, own: Mapping[str, Quantity]) -> Gpu:
    """The GPU with the run's own ceilings before those of its file."""
    if not own:
        return gpu
    rates = {name: q.value for name, q in gpu.datasheet.items()}
    measured = best_sustained({**gpu.measured, **own}, rates)
    note = f"measured ceilings of {', '.join(sorted(own))}: the run's own {NAME}"
    return replace(gpu, measured=measured, notes=(*gpu.notes, note))


def _unit(name: str) -> str:
    return "GIOP/s" if name == "mfma_i8" else "GFLOP/s" if "_" in name else "GB/s"


def _number(text: object) -> float:
    try:
        value = float(str(text))
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0
