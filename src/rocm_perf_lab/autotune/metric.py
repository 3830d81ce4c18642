"""What a tuning run makes small: a time, or any number a profile or a command gives.

runtime           the kernels' time, by rocprofv3
wall              the whole program, by the host's clock
fabric_read_bytes any metric of a profile's table, of the dominant kernel
SQ_INSTS_VALU     any hardware counter, of the dominant kernel, per dispatch
CMD               a command that reads the program's output and prints a number
"""

from __future__ import annotations

import difflib
import re
import shutil
from dataclasses import dataclass

from rocm_perf_lab.arch.counters import base_name, metric_set, metric_sets
from rocm_perf_lab.autotune.template import Template, parse
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.workflow.documents import Documents

_COUNTER = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+(_sum)?")


@dataclass(frozen=True)
class Metric:
    text: str  # as asked for
    unit: str = "ms"
    profiled: bool = False
    counters: tuple[str, ...] = ()  # metrics or counters the profile must collect
    command: Template | None = None

    def of(self, documents: Documents) -> float:
        """Its value in a profile."""
        value, why = self._value(documents)
        if value is None:
            failed = [note for note in documents.profile.notes if "counter pass" in note]
            raise BadInput(
                f"the profile has no {self.text}: {why or 'it was not counted'}",
                hint="; ".join(failed) or None,
            )
        if not 0 < value < float("inf"):
            raise BadInput(f"{self.text} is {value:g}: a search goes by ratios, so it must be > 0")
        return value

    def _value(self, documents: Documents) -> tuple[float | None, str | None]:
        shown = documents.profile
        if not self.counters:
            return shown.runtime_ms, shown.reasons.get("runtime_ms")
        roofs = documents.roofline.kernels if documents.roofline else []
        name = shown.kernel.name if shown.kernel else None
        kernel = next((k for k in roofs if k.kernel == name), None)
        if kernel is None:
            return None, "no kernel was counted"
        (asked,) = self.counters
        found = {**kernel.flops_by_type, **kernel.metrics}.get(asked)
        if found is not None:
            return found.value, found.reason
        return kernel.counters.get(base_name(asked)), kernel.reasons.get(asked)


RUNTIME = Metric("runtime", profiled=True)
WALL = Metric("wall")


def parse_metric(text: str, names: frozenset[str], shell: bool) -> Metric:
    """`--metric`: a name we know, else a command."""
    plain = {metric.text: metric for metric in (RUNTIME, WALL)}
    if text in plain:
        return plain[text]
    units = {n: m.unit for each in metric_sets() for n, m in metric_set(each).metrics.items()}
    if text in units or _COUNTER.fullmatch(text):
        unit = units.get(text, "").removeprefix("1")  # of a share or rate: none
        return Metric(text, unit, profiled=True, counters=(text,))
    command = parse(text, "--metric", names, shell)
    program = command.arguments[0]
    if not shell and "{" not in program and shutil.which(program) is None:
        close = difflib.get_close_matches(text, [*plain, *units], n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else None
        raise UsageError(
            f"--metric {text!r} is neither a metric nor a program",
            hint=hint or "runtime, wall, a metric or counter of the profile, or a command",
        )
    return Metric(text, command=command)
