"""Run a program on the virtual GPU with its accesses watched, and make a document of the finds."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from rocm_perf_lab import __version__, scratch
from rocm_perf_lab.check import document, log, suppressions
from rocm_perf_lab.collect import process
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.collect.standard_input import Feed, nothing
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.schema.check import CheckDocument, Tool
from rocm_perf_lab.schema.common import DeviceInfo, Provenance
from rocm_perf_lab.trace import triton_log
from rocm_perf_lab.workflow.provenance import command_line

TOOLS: tuple[Tool, ...] = ("memory", "init", "race", "sync", "hazards")
# What compilers answer for is not looked at unless it is asked for.
USUAL: tuple[Tool, ...] = ("memory", "init", "race", "sync")


@dataclass(frozen=True)
class Options:
    program: str
    arguments: Sequence[str] = ()
    tools: Sequence[Tool] = USUAL
    kernel: str | None = None
    suppress: Path | None = None
    device: str = "virtual"
    timeout_s: float = 3600.0
    stdin: Feed = field(default=nothing)


@dataclass(frozen=True)
class Checked:
    document: CheckDocument
    output: str  # the last lines that the program wrote


def check(options: Options, tell: Callable[[str], None] = lambda _: None) -> Checked:
    let_pass = suppressions.read(options.suppress)
    program = resolve(options.program)
    device = discover.choose(options.device)
    if device.kind != "virtual":
        raise UsageError(
            f"{device.name} cannot be checked: only the virtual GPU sees every access",
            hint="--device virtual",
        )
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with scratch.folder("rocm-perf-") as folder:
        logs = folder / "check"
        logs.mkdir()
        made_by = folder / "triton"
        made_by.mkdir()
        environment = {
            **discover.environment_for(device, options.device),
            "ROCM_PERF_CHECK": ",".join(options.tools),
            "ROCM_PERF_VIRTUAL_TRANSLATE": "off",  # the interpreter tells of every access
            "ROCM_PERF_CHECK_LOG": str(logs),
            triton_log.VARIABLE: str(made_by),
        }
        if options.kernel is not None:
            environment["ROCM_PERF_CHECK_KERNEL"] = options.kernel
        if "memory" in options.tools:
            environment["ROCM_PERF_VIRTUAL_BOUNDS"] = "report"
        tell(f"checking {Path(program).name}")
        command = [program, *options.arguments]
        try:
            with options.stdin() as given:
                ended = process.run(
                    command, folder / "output", environment, options.timeout_s, given
                )
        except OSError as error:
            raise BadInput(f"cannot run {program}: {error.strerror}") from None
        ran = document.Ran(
            program=[options.program, *options.arguments],
            executable=Path(program),
            ended=ended.sentence(options.timeout_s),
            well=ended.ok,
            tools=options.tools,
            kernels=options.kernel,
            arguments=triton_log.argument_names(made_by),
        )
        origin = Provenance(
            tool_version=__version__,
            command=command_line(),
            started=started,
            host=platform.node(),
            device=DeviceInfo(kind="virtual", name=device.name, architecture=device.architecture),
            rocm=None,
            inputs=[],
        )
        tell("reading what was found")
        made = document.make(log.read_logs(logs), ran, let_pass, origin)
        return Checked(made, ended.tail())
