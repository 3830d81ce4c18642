"""How long the whole program takes, profiled in the sandbox like everything that was proposed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from rocm_perf_lab import beneath
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.program_output import place
from rocm_perf_lab.optimize.sandbox import Sandbox
from rocm_perf_lab.schema.profile import ProfileDocument

RUNS = 3
RUNS_IN = "runs"
TOLERATED = 0.02  # of the whole, beyond the spread of the runs
_LIMIT_S = 600.0
_MOST_BYTES = 256 << 20


@dataclass(frozen=True)
class WholeTime:
    ms: float  # first operation to last, kernels and gaps; kernels alone where there is no timeline
    spread_ms: float

    def worse_than(self, other: WholeTime) -> str | None:
        allowed = other.ms * (1 + TOLERATED) + max(self.spread_ms, other.spread_ms)
        if self.ms <= allowed:
            return None
        return f"the whole program takes {self.ms:.4g} ms, before {other.ms:.4g} ms"


def whole_time(
    box: Sandbox, program: Path, arguments: Sequence[str], device: str, runs: int = RUNS
) -> WholeTime:
    """BadInput where the program does not end well."""
    out = Path(tempfile.mkdtemp(prefix="whole-", dir=box.work))
    words = [
        sys.executable, "-m", "rocm_perf_lab", "profile", str(program), "--no-counters",
        "--runs", str(runs), "--device", device, "--out", str(out / RUNS_IN), "--", *arguments,
    ]  # fmt: skip
    inside = replace(box, work=out, readable=(*box.readable, program.parent))
    try:
        with place(inside) as folder:
            ended = inside.run(words, wall_s=_LIMIT_S, cwd=folder)
        if not ended.ok:
            lines = ended.output.strip().splitlines()
            raise BadInput(f"the program {ended.sentence()}: {lines[-1] if lines else ''}"[:400])
        document = ProfileDocument.model_validate_json(_profile(out))
    except (OSError, ValidationError) as error:
        raise BadInput(f"the program could not be profiled: {error}"[:400]) from None
    finally:
        beneath.remove(out.parent, out.name)
    spread = document.stability.stddev_ms if document.stability else None
    ms = document.timeline.makespan_ms if document.timeline else document.runtime_ms
    if not ms:
        raise BadInput("the program launched no kernel")
    return WholeTime(ms, spread or 0.0)


def _profile(out: Path) -> bytes:
    """Of the one run in the folder; the program could write there, too."""
    names = [f"{RUNS_IN}/{name}/profile.json" for name in beneath.folders(out, RUNS_IN)]
    found = [name for name in names if beneath.is_file(out, name)]
    if len(found) != 1:
        raise OSError(f"{len(found)} profiles where one was to be")
    return beneath.read(out, found[0], _MOST_BYTES)
