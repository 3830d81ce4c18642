"""The program as it is: built, profiled, and the GPU it ran on."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.load import gpu
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.optimize.build import Builder, BuildFailed, Built
from rocm_perf_lab.optimize.layout import Debug
from rocm_perf_lab.optimize.options import OptimizeOptions
from rocm_perf_lab.replay.capture import CaptureOptions
from rocm_perf_lab.replay.launches import Launches, record_launches
from rocm_perf_lab.schema.profile import ProfileDocument

Tell = Callable[[str], None]


def build(builder: Builder, path: Path, text: str, folder: Path) -> Built:
    try:
        return builder.build(path, text, folder)
    except BuildFailed as error:
        raise BadInput(
            f"{path.name} as it is cannot be built: {error.reason}",
            hint=_tail(error.log) or "say how with --build",
        ) from None


def debug_types(builder: Builder, path: Path, text: str, folder: Path) -> Debug:
    """Code objects with debug information, by kernel; built when first asked for."""

    @functools.cache
    def built() -> Built | None:
        return builder.debug_build(path, text, folder)

    def find(symbol: str) -> bytes | None:
        try:
            return None if (found := built()) is None else found.code_of(symbol).elf.data
        except BuildFailed:
            return None

    return find


def profile(original: Built, options: OptimizeOptions, folder: Path, tell: Tell) -> ProfileDocument:
    """Kept in the run's folder: a run that goes on goes by the same one."""
    from rocm_perf_lab import workflow
    from rocm_perf_lab.workflow.analyze import Choices

    kept = folder / "profile" / "profile.json"
    if kept.is_file():
        return ProfileDocument.model_validate_json(kept.read_bytes())
    partial = folder / ".profile"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    documents = workflow.profile_program(
        workflow.ProfileOptions(
            program=str(original.program),
            arguments=options.arguments,
            att=True,
            choices=Choices(kernel=options.kernel),
            device=options.device,
        ),
        partial,
        tell,
    )
    workflow.write_documents(documents, partial)
    partial.rename(kept.parent)
    return documents.profile


def launches(original: Built, options: OptimizeOptions, tell: Tell) -> Launches:
    """How it launches its kernels: what a sample is chosen from and promises are held against."""
    asked = CaptureOptions(str(original.program), options.arguments, "", device=options.device)
    return record_launches(asked, tell)


def gpu_of(profile: ProfileDocument) -> Gpu | None:
    try:
        return gpu(profile.gpu.architecture or "")
    except UsageError:
        return None


def _tail(log: str) -> str:
    return "\n  ".join(log.strip().splitlines()[-12:])
