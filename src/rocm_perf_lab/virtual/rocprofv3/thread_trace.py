"""Thread traces as rocprofv3 --att leaves them: a ui_output folder per dispatch, code objects."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel
from rocm_perf_lab.device.disassembly import disassemble
from rocm_perf_lab.trace import att_writer
from rocm_perf_lab.trace.att_writer import CodeLine, Content, Rows, Wave
from rocm_perf_lab.virtual.rocprofv3.log import Code, Launch
from rocm_perf_lab.virtual.rocprofv3.process_rows import ProcessRows


def write(recording: ProcessRows, directory: Path, prefix: Path) -> list[Path]:
    """One folder per traced dispatch in `directory`; `prefix` names the code objects' copies."""
    folders: list[Path] = []
    used: dict[int, Code] = {}
    for launch in recording.log.launches:
        trace = recording.log.traces.get(launch.number)
        code = recording.code_of_kernel(launch.kernel)
        if trace is None or code is None:
            continue
        gpu = next(gpu for gpu in recording.gpus if gpu.number == launch.agent)
        content = _content(recording, launch, code)
        place = {"agent_handle": gpu.handle, "dispatch_id": launch.number}
        folder = directory / f"ui_output_agent_{gpu.handle}_dispatch_{launch.number}"
        if folder.exists():
            shutil.rmtree(folder)  # of an earlier run into the same place
        folders.append(att_writer.write(content, directory, **place))
        used[code.number] = code
    for code in used.values():
        owner = recording.objects.get(code.number)
        if code.file is not None and owner is not None:
            name = f"{prefix.name}_{owner.architecture.partition(':')[0]}"
            target = prefix.with_name(f"{name}_code_object_id_{code.number}.out")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(code.file, target)
    return folders


def _content(recording: ProcessRows, launch: Launch, code: Code) -> Content:
    trace = recording.log.traces[launch.number]
    row = recording.kernels[launch.kernel]
    owner = recording.objects.get(code.number)
    reached = {pc for wave in trace.waves for pc in wave["insts"][4::5]}
    lines, line_of = _code(owner, code, row.number, reached) if owner else ([], {})
    waves = [_wave(wave, line_of) for wave in trace.waves]
    engines: dict[int, list[list[int]]] = {}
    for time, engine, cu, simd, slot, start in np.reshape(trace.occupancy, (-1, 6)).tolist():
        engines.setdefault(engine, []).append([time, cu, simd, slot, start, row.number])
    clock = recording.log.modelled[launch.number].clock_mhz or 1.0
    ticks = round(recording.log.modelled[launch.number].cycles * 100 / clock)
    cycles = recording.log.modelled[launch.number].cycles
    return Content(
        code=lines,
        waves=waves,
        occupancy=engines,
        kernels={row.number: row.shown},
        # Two points of the shader clock against a clock of 100 MHz.
        realtime={engine: [[0, 0], [cycles, ticks]] for engine in engines},
    )


def _code(
    owner: CodeObject, code: Code, kernel: int, reached: set[int]
) -> tuple[list[CodeLine], dict[int, int]]:
    """The lines of every kernel that a wave went through, and the line of each loaded address."""
    lines: list[CodeLine] = []
    line_of: dict[int, int] = {}
    for entry in owner.kernels:
        begin = entry.address + code.delta
        if not any(begin <= pc < begin + len(entry.code) for pc in reached):
            continue
        lines.append(CodeLine(f"; {entry.name}", entry.name, code.number, entry.address))
        for text, source, address in _instructions(owner, entry):
            line_of[address + code.delta] = len(lines)
            lines.append(CodeLine(text, source, code.number, address))
    return lines, line_of


def _instructions(owner: CodeObject, kernel: Kernel) -> Iterable[tuple[str, str, int]]:
    for instruction in disassemble(owner, kernel):
        yield instruction.text, instruction.source, instruction.address


def _wave(wave: dict[str, Any], line_of: dict[int, int]) -> Wave:
    rows = np.reshape(np.array(wave["insts"], dtype=np.uint64), (-1, 5))
    # An instruction outside every kernel listed (a called function) is line 0, not counted.
    line = np.array([line_of.get(pc, 0) for pc in rows[:, 4].tolist()], dtype=np.int64)
    instructions: Rows = np.column_stack([rows[:, :4].astype(np.int64), line])
    states: Rows = np.reshape(np.array(wave["states"], dtype=np.int64), (-1, 2))
    waits = [
        (line_of[first], [line_of[pc] for pc in others if pc in line_of])
        for first, *others in wave["waits"]
        if first in line_of
    ]
    return Wave(
        se=wave["se"],
        simd=wave["simd"],
        slot=wave["slot"],
        cu=wave["cu"],
        begin=wave["begin"],
        end=wave["end"],
        instructions=instructions,
        timeline=states,
        waits=waits,
    )
