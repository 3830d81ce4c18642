"""The first question of a run, without the run: profile, find the kernel, put it together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rocm_perf_lab import workflow
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.build import parse_recipe
from rocm_perf_lab.optimize.context import architecture_of, build_context
from rocm_perf_lab.optimize.find_source import find_source
from rocm_perf_lab.optimize.kernel_source import locate_among
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
    texts, how = find_source(resolved, sources)
    tell(f"source: {', '.join(path.name for path in texts)} ({how})")
    flags = parse_recipe(build).flags if build else ()
    options = workflow.ProfileOptions(
        program=str(resolved),
        arguments=tuple(arguments),
        att=True,
        choices=Choices(kernel=kernel),
        device=device,
    )
    profile = workflow.profile_program(options, folder, tell).profile
    if profile.kernel is None:
        raise BadInput(f"{program} ran no kernel")
    name = profile.kernel.name
    located = locate_among(texts, name, flags, architecture_of(profile))
    return build_context(located, kernel=name, profile=profile, policy=policy, flags=flags)
