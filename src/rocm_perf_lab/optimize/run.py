"""`optimize` from what was asked to what is written: choose, search, keep, hand over."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rocm_perf_lab import beneath, scratch
from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.device import discover
from rocm_perf_lab.device.host_library import prepare
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.optimize import page, sandbox
from rocm_perf_lab.optimize.attempt import Bar
from rocm_perf_lab.optimize.build import code_objects, default_recipe, parse_recipe
from rocm_perf_lab.optimize.bundle import write_bundle
from rocm_perf_lab.optimize.find_source import find_source, has_lines
from rocm_perf_lab.optimize.included import own_files
from rocm_perf_lab.optimize.loop import Search
from rocm_perf_lab.optimize.options import Options, settings_of
from rocm_perf_lab.optimize.patch import apply as apply_text
from rocm_perf_lab.optimize.patch import how_to_apply
from rocm_perf_lab.optimize.program_output import parse_rule
from rocm_perf_lab.optimize.proposal import Policy
from rocm_perf_lab.optimize.proposers import Wanted, make_proposer
from rocm_perf_lab.optimize.sandbox import Limits, Sandbox
from rocm_perf_lab.optimize.story import Story
from rocm_perf_lab.optimize.workspace import WORK, Workspace, open_workspace
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.schema.optimize import OptimizeDocument

Tell = Callable[[str], None]
RESULT, PAGE, PATCH = "optimize.json", "report.html", "accepted.patch"


@dataclass(frozen=True)
class Asked:
    program: str
    arguments: tuple[str, ...]
    sources: tuple[Path, ...]
    build: str | None
    proposer: str
    model: str | None
    base_url: str | None
    policy: Policy
    kernel: str | None
    max_iterations: int
    budget_s: float
    min_speedup: float
    confidence: float
    apply: bool
    patch: Path | None
    bundle: Path | None
    report: Path | None
    out: Path
    device: str
    sandbox: bool
    output: str = "numbers"


@dataclass(frozen=True)
class Done:
    document: OptimizeDocument
    warnings: tuple[str, ...]
    written: tuple[str, ...]


def parse_time(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text.strip())
    seconds = float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]] if match else 0.0
    if seconds <= 0:
        raise UsageError(f"--budget {text} is not a time", hint="for example 90s, 10m or 2h")
    return seconds


def optimize(asked: Asked, tell: Tell) -> Done:
    warnings: list[str] = []
    if asked.apply and asked.patch:
        raise UsageError("--apply and --patch are two ways to have the result", hint="choose one")
    kernel_pattern(asked.kernel)
    rule = parse_rule(asked.output)
    program = Path(resolve(asked.program)).resolve()
    sources, how = find_source(program, asked.sources)
    tell(f"source: {', '.join(map(str, sources))} ({how})")
    kind = _sandbox(asked, warnings)
    architecture = discover.choose(asked.device).architecture
    if asked.build:
        recipe = parse_recipe(asked.build)
    else:
        recipe = default_recipe(architecture, debug=has_lines(program))
    options = Options(
        program=program,
        arguments=asked.arguments,
        sources=sources,
        recipe=recipe,
        policy=asked.policy,
        kernel=asked.kernel,
        max_iterations=asked.max_iterations,
        budget_s=asked.budget_s,
        bar=Bar(asked.min_speedup, asked.confidence),
        device=asked.device,
        output=rule,
    )
    wanted_proposer = Wanted(asked.proposer, asked.model, asked.base_url)
    make_proposer(wanted_proposer, tell, asked.budget_s)  # a wrong name ends here, traceless
    for path in sources:  # copies that an --apply left when it was killed
        scratch.sweep(f".{path.name}.", path.parent)
    files = own_files(sources, recipe.flags)
    settings = settings_of(options, wanted_proposer, files)
    space = open_workspace(asked.out.resolve(), program.name, settings)
    with space.ledger, _without_work(space.folder):
        if space.resumed:
            tell(f"going on with {space.folder}")
        if space.ended:
            document = _found_before(space)
        else:
            for text in files.values():
                space.keep_source(text)
            exchanges = space.folder / "exchanges"
            proposer = make_proposer(wanted_proposer, tell, asked.budget_s, exchanges)
            box = _box(kind, space, sources, program, asked.arguments, architecture, asked.budget_s)
            document = Search(options, proposer, box, space, tell).run()
            warnings += _other_build(program, space, architecture)
        written = _hand_over(asked, document, space)
        # From here on there is nothing to go on with.
        space.outcome.unlink()
    return Done(document, tuple(warnings), tuple(written))


def _sandbox(asked: Asked, warnings: list[str]) -> sandbox.Kind:
    """Rules only rearrange the user's own text; what others write is never run unconfined."""
    if asked.sandbox and asked.proposer != "rules":
        kind = sandbox.confined("install bubblewrap, or take the risk with --no-sandbox")
    else:
        kind = sandbox.available()
    if kind != "none":
        if not sandbox.processes_bounded():
            warnings.append(f"the sandbox ({kind}) has a gap here: {sandbox.UNBOUNDED}")
        return kind
    warnings.append("no sandbox works here: what was proposed ran unconfined")
    return kind


def _box(
    kind: sandbox.Kind,
    space: Workspace,
    sources: tuple[Path, ...],
    program: Path,
    arguments: Sequence[str],
    architecture: str,
    budget_s: float,
) -> Sandbox:
    prepare(architecture)
    named = [path.resolve() for word in arguments if (path := Path(word)).is_file()]
    seen = {program, *named, *sandbox.shown(Path.cwd().resolve())}
    for folder in {path.parent for path in sources} | {program.parent}:
        seen |= sandbox.shown(folder, [path for path in sources if path.parent == folder])
    work = space.folder / WORK
    work.mkdir(exist_ok=True)
    limits = Limits(wall_s=max(budget_s, Limits.wall_s))
    return Sandbox(kind, work, tuple(sorted(seen)), limits)


def _other_build(program: Path, space: Workspace, architecture: str) -> list[str]:
    """The gain is of a build of ours; the user's own may have been made in another way."""
    try:
        theirs = {k.name: k.code for c in code_objects(program, architecture) for k in c.kernels}
        ours = {
            k.name: k.code
            for c in code_objects(space.builds / "original" / "program", architecture)
            for k in c.kernels
        }
    except BadInput as error:
        return [error.message]
    if set(theirs) != set(ours):
        return [f"{program.name} has other kernels than its source: was it built from it?"]
    differing = [name for name in theirs if theirs[name] != ours[name]]
    if differing:
        return [
            f"{program.name} was built in another way than here ({len(differing)} kernels differ): "
            "say how with --build"
        ]
    return []


@contextlib.contextmanager
def _without_work(run: Path) -> Iterator[None]:
    try:
        yield
    finally:
        beneath.remove(run, WORK)


def _found_before(space: Workspace) -> OptimizeDocument:
    """What a run found that was killed before it handed that over."""
    try:
        document = OptimizeDocument.model_validate_json(space.outcome.read_bytes())
    except (OSError, ValidationError):
        raise BadInput(
            f"{space.outcome} cannot be read", hint="remove it to search again"
        ) from None
    return document.model_copy(update={"resumed": True, "ledger_head": space.ledger.head})


def _hand_over(asked: Asked, document: OptimizeDocument, space: Workspace) -> list[str]:
    """Each step may be done again: a run that is killed here does them all another time."""
    folder, story = space.folder, Story(space.ledger.entries)
    write_file(folder / RESULT, to_json(document))
    write_file(folder / PAGE, page.render(document))
    written = [f"report: {folder / PAGE}"]
    if document.patch:
        write_file(folder / PATCH, document.patch)
    try:
        if asked.report:
            write_file(asked.report, page.render(document))
        if asked.patch and document.patch:
            write_file(asked.patch, document.patch)
            written.append(f"patch: {asked.patch}; {_apply_with(asked.patch, story)}")
    except OSError as error:
        raise BadInput(f"cannot write {error.filename}: {error.strerror}") from None
    if asked.bundle and document.accepted:
        write_bundle(folder, story, asked.bundle)
        written.append(f"bundle: {asked.bundle}")
    for path, texts in story.end.sources.items() if asked.apply else ():
        apply_text(Path(path), space.source(texts.before), space.source(texts.after))
        written.append(f"applied to {path}")
    if document.patch and not asked.apply and not asked.patch:
        written.append(f"the source is untouched; {_apply_with(folder / PATCH, story)}")
    return written


def _apply_with(patch: Path, story: Story) -> str:
    return f"apply it with: {how_to_apply(patch, Path(next(iter(story.end.sources))))}"
