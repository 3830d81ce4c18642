"""The first question of a run, without the run: profile, find the kernel, put it together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rocm_perf_lab import workflow
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.build import parse_recipe
from rocm_perf_lab.optimize.context import build_context
from rocm_perf_lab.optimize.find_source import find_source, read_text
from rocm_perf_lab.optimize.proposal import Context, Policy
from rocm_perf_lab.workflow.analyze import Choices


def first_context(
    *,
    program: str,
    arguments: Sequence[str],
    sources: Sequence[Path],
    build: str | None,
    policy: Policy,
    kernel: str | None,
    device: str,
    folder: Path,
    tell: Callable[[str], None],
) -> Context:
    """`folder` takes the profile's files."""
    from rocm_perf_lab.collect.program import resolve

    resolved = Path(resolve(program)).resolve()
    found, how = find_source(resolved, sources)
    tell(f"source: {', '.join(path.name for path in found)} ({how})")
    flags = parse_recipe(build).flags if build else ()
    options = workflow.Options(
        program=str(resolved),
        arguments=tuple(arguments),
        att=True,
        choices=Choices(kernel=kernel),
        device=device,
    )
    profile = workflow.profile_program(options, folder, tell).profile
    if profile.kernel is None:
        raise BadInput(f"{program} ran no kernel")
    problems: list[BadInput] = []
    for path in found:
        try:
            return build_context(
                path=path,
                source=read_text(path),
                kernel=profile.kernel.name,
                profile=profile,
                policy=policy,
                flags=flags,
            )
        except BadInput as problem:
            problems.append(problem)
    raise problems[0]
