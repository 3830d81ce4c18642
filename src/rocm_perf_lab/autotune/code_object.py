"""What the compiler says about the kernels of a build before they run: registers, LDS, spills."""

from __future__ import annotations

from pathlib import Path

from rocm_perf_lab.codeobject.kernels import read_code_objects
from rocm_perf_lab.errors import BadInput

_NUMBERS = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "vgpr_spills", "sgpr_spills")
_MAX_BYTES = 256 << 20


def resources(folder: Path) -> dict[str, int]:
    """The largest of each number over the kernels in the files built; empty where none is."""
    found: dict[str, int] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not 64 <= path.stat().st_size <= _MAX_BYTES:
            continue
        try:
            kernels = [k for image in read_code_objects(path) for k in image.kernels]
        except BadInput:
            continue  # a log, an object without GPU code
        for kernel in kernels:
            for name in _NUMBERS:
                found[name] = max(found.get(name, 0), getattr(kernel, name))
    return found
