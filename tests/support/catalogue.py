"""Hostile and wrong proposals as data, and a context to judge them in without a profile."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.optimize.kernel_source import locate
from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.schema.profile import BottleneckSummary, Resources, RooflineSummary
from rocm_perf_lab.schema.prompt import (
    Policy,
    PromptAttempt,
    PromptDevice,
    PromptDocument,
    PromptKernel,
    PromptMeasurement,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TESTS = Path(__file__).parents[1]
CATALOGUE = TESTS / "catalogue"
PROGRAMS = TESTS / "integration" / "programs"
TARGET = PROGRAMS / "optimize_target.cpp"
# All that must not be accepted and is an edit of the target's source.
HOSTILE = ("text.toml", "body.toml", "pointers.toml", "bounds.toml", "results.toml")


@dataclass(frozen=True)
class Entry:
    name: str
    source: str
    policy: Policy
    stage: str  # static, syntax, results, gate, honest; "any": whichever comes first
    rule: str | None


def entries(*files: str) -> list[Entry]:
    base = TARGET.read_text("utf-8")
    found = []
    for file in files:
        for raw in tomllib.loads((CATALOGUE / file).read_text("utf-8"))["proposal"]:
            if "append" in raw:
                source = base + raw["append"]
            elif "kernel_body" in raw:
                extent = context().extent
                head = base.encode()[extent.begin : extent.body].decode()
                source = extent.splice(base, head + raw["kernel_body"])
            else:
                assert raw["find"] in base, raw["name"]
                text = raw["replace"]
                for number, piece in enumerate(raw.get("fill", ())):
                    text = text.replace(f"@{number}", piece * raw["times"])
                source = base.replace(raw["find"], text, 1)
            found.append(
                Entry(raw["name"], source, raw.get("policy", "body"), raw["stage"], raw.get("rule"))
            )
    return found


@functools.lru_cache(maxsize=16)
def context(
    policy: Policy = "body",
    path: Path = TARGET,
    source: str | None = None,
    kernel: str = "target",
    block: tuple[int, int, int] = (64, 1, 1),
    attempts: tuple[PromptAttempt, ...] = (),
) -> Context:
    text = path.read_text("utf-8") if source is None else source
    located = locate(path, text, kernel, (), "gfx942")
    return Context(
        prompt=PromptDocument(
            task="",
            policy=policy,
            rules=[],
            kernel=PromptKernel(
                name=located.kernel,
                file=path.name,
                first_line=located.first_line,
                last_line=located.last_line,
                text=located.extent.text(text),
                used=list(located.used),
            ),
            device=PromptDevice(
                kind="virtual",
                name="virtual",
                architecture="gfx942",
                wave_size=64,
                compute_units=304,
            ),
            measurement=_measurement(block),
            attempts=list(attempts),
            max_proposals=8,
        ),
        path=path,
        source=text,
        kernel=located.kernel,
        extent=located.extent,
        flags=(),
        architecture="gfx942",
    )


def _measurement(block: tuple[int, int, int]) -> PromptMeasurement:
    return PromptMeasurement(
        grid=(256, 1, 1),
        block=block,
        dispatches=1,
        runtime_ms=1.0,
        share=1.0,
        resources=Resources(
            vgpr_per_thread=16,
            agpr_per_thread=0,
            total_vgpr_per_thread=16,
            sgpr_per_wave=16,
            lds_bytes=0,
            scratch_bytes=0,
            notes=[],
        ),
        occupancy=Occupancy(
            theoretical=1.0, limiter=None, waves_per_simd=8.0, threads_per_block=64, wave_size=64
        ),
        roofline=RooflineSummary(
            operational_intensity=None,
            achieved_gflops=None,
            achieved_bandwidth_gbps=None,
            roofline_position=None,
            fraction_of_roof=None,
            reason="not measured",
        ),
        bottleneck=BottleneckSummary(
            bottleneck="unknown", confidence="low", evidence=[], next_steps=[]
        ),
        stall_fractions=None,
        stall_sites=[],
    )
