"""Findings of all processes of a run, each place once, as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.check import host_stack, words
from rocm_perf_lab.check.log import ProcessLog, text
from rocm_perf_lab.check.suppressions import Suppressions
from rocm_perf_lab.errors import plain
from rocm_perf_lab.schema.check import (
    Access,
    ApproximateInstruction,
    Buffer,
    CheckDocument,
    CheckedKernel,
    Coverage,
    Finding,
    HostFrame,
    SourceFrame,
    Tool,
)
from rocm_perf_lab.schema.common import Provenance
from rocm_perf_lab.trace.library_code import is_library_code

# Memory that these give out goes back to a pool, which keeps it.
_POOLED = ("hipMallocAsync", "hipMallocFromPoolAsync")


_WATCHING = {"init", "race", "sync", "hazards"}


@dataclass(frozen=True)
class Ran:
    program: Sequence[str]
    executable: Path
    ended: str  # how, in words
    well: bool
    tools: Sequence[Tool]
    kernels: str | None  # only those that match were watched
    arguments: Mapping[str, Mapping[int, str]]  # names by kernel and offset, where they are known


def make(
    logs: Sequence[ProcessLog],
    ran: Ran,
    suppressions: Suppressions,
    provenance: Provenance,
) -> CheckDocument:
    all_of_them = _merged(
        found for log in logs for found in (*_of_device(log, ran), *_of_host(log, ran.executable))
    )
    found = [finding for finding in all_of_them if not suppressions.match(finding)]
    coverage = Coverage(
        tools=list(ran.tools),
        kernels=_kernels(logs),
        approximate=_approximate(logs),
        not_covered=list(_not_covered(logs, ran)),
    )
    return CheckDocument(
        provenance=provenance,
        program=list(ran.program),
        ended=ran.ended,
        findings=found,
        suppressed=len(all_of_them) - len(found),
        coverage=coverage,
        clean=not found and not coverage.not_covered,
    )


def _not_covered(logs: Sequence[ProcessLog], ran: Ran) -> Iterator[str]:
    yield from dict.fromkeys(what for log in logs for what in log.not_covered)
    if not ran.well:
        yield f"what came after: the program {ran.ended}"
    elif any(not log.ended for log in logs):
        yield "what came after: a process was ended before it had written all"
    if ran.kernels is not None:
        yield f"kernels that do not match {ran.kernels}"
    if not logs:
        yield "everything: the program did not use the virtual GPU"
    elif set(ran.tools) & _WATCHING and not any(log.launches for log in logs):
        yield "what kernels do: none was watched"


def _approximate(logs: Sequence[ProcessLog]) -> list[ApproximateInstruction]:
    executed: dict[str, int] = {}
    kernels: dict[str, set[str]] = {}
    for record in (record for log in logs for record in log.approximate):
        name = record["instruction"]
        executed[name] = executed.get(name, 0) + record["executed"]
        kernels.setdefault(name, set()).add(text(record["kernel"]))
    return [
        ApproximateInstruction(
            instruction=name, executed=executed[name], kernels=sorted(kernels[name])
        )
        for name in sorted(executed)
    ]


def _kernels(logs: Sequence[ProcessLog]) -> list[CheckedKernel]:
    by_name: dict[str, list[dict[str, Any]]] = {}
    for log in logs:
        for launch in log.launches:
            by_name.setdefault(text(launch["kernel"]), []).append(launch)
    return [
        CheckedKernel(
            kernel=name,
            launches=len(launches),
            repeated=sum(log.repeated.get(name, 0) for log in logs),
            workgroups=sum(one["workgroups"] for one in launches),
            accesses=sum(one["accesses"] for one in launches),
            lds_accesses=sum(one["lds_accesses"] for one in launches),
            bytes=max(one["bytes"] for one in launches),
            same_value=sum(one["same_value"] for one in launches),
        )
        for name, launches in by_name.items()
    ]


def _merged(found: Iterable[Finding]) -> list[Finding]:
    """One place is often many instructions: a loop unrolled, a function inlined."""
    places: dict[object, Finding] = {}
    for finding in found:
        key = (
            finding.tool,
            "race" if finding.tool == "race" else finding.kind,
            tuple(sorted(_place(side) for side in finding.sides)),
            tuple((f.module, f.offset) for f in finding.called[:1]),
            finding.title if finding.called else "",
        )
        known = places.get(key)
        if known is None:
            places[key] = finding
            continue
        said = max(known, finding, key=_strength)
        places[key] = said.model_copy(update={"count": known.count + finding.count})
    return list(places.values())


def _place(side: Access) -> tuple[str, ...]:
    called = next((f"{f.module} {f.offset}" for f in side.called), "")
    return side.kernel, side.access, side.source or side.code, called


def _strength(finding: Finding) -> int:
    return words.STRENGTH.index(finding.kind) if finding.kind in words.STRENGTH else 0


def _of_device(log: ProcessLog, ran: Ran) -> Iterator[Finding]:
    for record in log.findings:
        kind, title, advice = words.of(record)
        yield Finding(
            tool=record["tool"],
            kind=kind,
            title=title,
            advice=advice,
            detail=text(record["text"]) if "text" in record else None,
            count=max(1, log.counts.get(record["id"], 1)),
            bytes=record["bytes"],
            sides=[_side(side) if "kernel" in side else _call(side) for side in record["sides"]],
            buffer=_buffer(record, log, ran),
            called=host_stack.frames(record.get("stack", [])),
        )


def _side(side: dict[str, Any]) -> Access:
    frames = [
        SourceFrame(function=text(f["function"]), file=text(f["file"]), line=f["line"])
        for f in side["frames"]
    ]
    own = next((f for f in frames if not is_library_code(f.file)), frames[0] if frames else None)
    return Access(
        access=side["access"],
        bytes=side["bytes"],
        kernel=text(side["kernel"]),
        source=f"{own.file}:{own.line}" if own else None,
        frames=frames,
        instruction=text(side.get("instruction", "")),
        code=side.get("at", "not known where").strip("()"),
        workgroup=side.get("workgroup"),
        wave=side.get("wave"),
        work_item=side.get("item"),
        called=host_stack.frames(side.get("stack", [])),
    )


def _call(side: dict[str, Any]) -> Access:
    """Work that the host asked for by a call: a copy, a fill, memory given out or taken back."""
    called = host_stack.frames(side["stack"])
    own = next((frame for frame in called if frame.file), None)
    function, module = host_stack.asked_by(side["stack"])
    return Access(
        access=side["access"],
        bytes=side["bytes"],
        kernel=function or (Path(module).name if module else "a call of the host"),
        source=f"{own.file}:{own.line}" if own else None,
        frames=[],
        instruction="",
        code="",
        workgroup=None,
        wave=None,
        work_item=None,
        called=called,
    )


def _buffer(record: dict[str, Any], log: ProcessLog, ran: Ran) -> Buffer | None:
    if "memory" not in record:
        return None
    base = record.get("base")
    names = ran.arguments.get(text(record["sides"][0].get("kernel", "")), {})
    return Buffer(
        kind=record["memory"],
        size=record.get("size"),
        offset=record["address"] - (base or 0),
        arguments=[plain(names.get(at, f"offset {at}")) for at in record.get("arguments", [])],
        allocated=host_stack.frames(log.stacks.get(base, [])) if base is not None else [],
    )


@dataclass
class _Leak:
    bytes: int = 0
    blocks: int = 0
    called: list[HostFrame] = field(default_factory=list)
    function: str = ""


def _of_host(log: ProcessLog, executable: Path) -> Iterator[Finding]:
    for record in log.refused:
        yield _called(
            "refused-call",
            words.REFUSED[record["tool"]],
            f"{text(record['call'])}: {text(record['why'])}",
            host_stack.frames(record["stack"]),
            record["tool"],
        )
    leaks: dict[object, _Leak] = {}
    stopped = any(record["why"] == "stopped" for record in log.findings)
    for base in log.live if log.ended and not stopped else ():
        stack = log.stacks[base]
        function, module = host_stack.asked_by(stack)
        if function is None or function in _POOLED or not function.startswith(_GIVES):
            continue
        # What a framework keeps for later is no leak of the program.
        if module is None or Path(module).resolve() != executable.resolve():
            continue
        called = host_stack.frames(stack)
        where = tuple((f.module, f.offset) for f in called)
        leak = leaks.setdefault(where, _Leak(called=called))
        leak.bytes += log.sizes[base]
        leak.blocks += 1
        leak.function = function
    for leak in leaks.values():
        many = "" if leak.blocks == 1 else f" in {leak.blocks} blocks"
        yield _called(
            "leak", words.LEAK, f"{leak.bytes} bytes{many} of {leak.function}", leak.called
        )


_GIVES = ("hipMalloc", "hipHostMalloc", "hipHostAlloc", "hipExtMalloc", "hipMemAlloc", "hipArray")


def _called(
    kind: str,
    said: tuple[str, str],
    detail: str,
    called: list[HostFrame],
    tool: Tool = "memory",
) -> Finding:
    return Finding(
        tool=tool,
        kind=kind,
        title=said[0],
        advice=said[1],
        detail=detail,
        count=1,
        bytes=None,
        sides=[],
        buffer=None,
        called=called,
    )
