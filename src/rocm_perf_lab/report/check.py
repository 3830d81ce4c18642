"""What `rocm-perf check` tells a person."""

from __future__ import annotations

from collections.abc import Iterator

from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.units import size, thousands
from rocm_perf_lab.schema.check import Access, CheckDocument, Finding, HostFrame

_MOST_FRAMES = 6


def summary(document: CheckDocument) -> str:
    lines = [line for number, f in enumerate(document.findings, 1) for line in _finding(number, f)]
    return "\n".join([*lines, *_coverage(document), verdict(document)]) + "\n"


def verdict(document: CheckDocument) -> str:
    many = len(document.findings)
    let_pass = f"; {document.suppressed} let pass by suppressions" if document.suppressed else ""
    if many:
        return f"{many} finding{'s' * (many != 1)}{let_pass}"
    if document.clean:
        return f"nothing found{let_pass}"
    return f"nothing found in what was checked{let_pass}; not everything was: see above"


def _finding(number: int, finding: Finding) -> Iterator[str]:
    times = f", {thousands(finding.count)} times" if finding.count > 1 else ""
    yield f"{number}. {finding.title} [{finding.kind}{times}]"
    if finding.detail is not None:
        yield f"     {plain(finding.detail)}"
    for name, side in zip(("first", "then"), finding.sides, strict=False):
        label = name if len(finding.sides) > 1 else "where"
        for at, line in enumerate(_side(side)):
            yield f"     {label if at == 0 else '':<8}{line}"
    if finding.buffer is not None:
        for at, line in enumerate(_memory(finding)):
            yield f"     {'memory' if at == 0 else '':<8}{line}"
    for at, frame in enumerate(finding.called[:_MOST_FRAMES]):
        yield f"     {'called' if at == 0 else '':<8}{host_line(frame)}"
    yield f"     {'do':<8}{finding.advice}"
    yield ""


def _side(side: Access) -> Iterator[str]:
    what = side.access
    if side.bytes and what:
        what += f" of {side.bytes} byte{'s' * (side.bytes != 1)}"
    yield f"{what + ' in ' if what else ''}{plain(side.kernel)}"
    if side.instruction or not side.called:
        yield place(side)
    for frame in inlined(side):
        yield f"  {frame}"
    if side.workgroup is not None:
        yield who(side)
    for at, called in enumerate(side.called[:_MOST_FRAMES]):
        yield f"{asked(side) if at == 0 else 'called at'} {host_line(called)}"


def asked(side: Access) -> str:
    return "launched at" if side.code else "called at"


def place(side: Access) -> str:
    where = side.source or f"no line numbers (-g): {side.code}"
    return f"{plain(where)}   {plain(side.instruction)}".rstrip()


def inlined(side: Access) -> list[str]:
    """How the program's line came there, where calls were inlined."""
    if len(side.frames) < 2:
        return []
    return [
        plain(f"{'in' if at == 0 else 'called at'} {f.function or '?'}, {f.file}:{f.line}")
        for at, f in enumerate(side.frames[:_MOST_FRAMES])
    ]


def who(side: Access) -> str:
    if side.workgroup is None:
        return ""
    item = f"work-item {side.work_item}" if side.work_item else f"a work-item of wave {side.wave}"
    return f"workgroup {side.workgroup}, {item}"


def _memory(finding: Finding) -> Iterator[str]:
    buffer = finding.buffer
    assert buffer is not None
    if buffer.size is None:
        yield buffer.kind
    elif not finding.bytes:
        yield f"{size(buffer.size)} of {buffer.kind}"
    elif finding.tool in ("race", "init", "hazards"):
        whole = f"{size(buffer.size)} of {buffer.kind}"
        yield f"{finding.bytes} bytes at offset {buffer.offset} of {whole}"
    else:
        yield f"nearest: {size(buffer.size)} of {buffer.kind}"
    if buffer.arguments:
        yield plain("kernel argument " + ", ".join(buffer.arguments))
    for at, frame in enumerate(buffer.allocated[:_MOST_FRAMES]):
        yield f"{'allocated at ' if at == 0 else 'called at '}{host_line(frame)}"


def host_line(frame: HostFrame) -> str:
    function = f" in {frame.function}" if frame.function else ""
    where = f"{frame.file}:{frame.line}" if frame.file else frame.module
    return plain(f"{where}{function}")


def approximate(document: CheckDocument) -> str:
    each = ", ".join(
        f"{one.instruction} {thousands(one.executed)}x" for one in document.coverage.approximate
    )
    return f"hardware may round otherwise: {each}; whether one decides anything was not looked at"


def _coverage(document: CheckDocument) -> Iterator[str]:
    coverage = document.coverage
    kernels, launches = len(coverage.kernels), sum(k.launches for k in coverage.kernels)
    accesses = sum(k.accesses + k.lds_accesses for k in coverage.kernels)
    yield f"checked: {', '.join(coverage.tools)}; the program {document.ended}"
    if kernels:
        watched = f"{kernels} kernel{'s' * (kernels != 1)} in {thousands(launches)} "
        watched += f"launch{'es' * (launches != 1)}"
        if "race" in coverage.tools:
            watched += f", {thousands(accesses)} accesses of waves, every one"
        yield f"  watched: {watched}"
    repeated = sum(k.repeated for k in coverage.kernels)
    if repeated:
        yield f"  {thousands(repeated)} more launches repeated one of these, and were not run again"
    same = sum(k.same_value for k in coverage.kernels)
    if same:
        yield f"  {thousands(same)} unordered writes changed nothing: no findings"
    if coverage.approximate:
        yield f"  {approximate(document)}"
    for what in coverage.not_covered:
        yield f"  not checked: {plain(what)}"
