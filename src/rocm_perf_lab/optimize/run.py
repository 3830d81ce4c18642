"""`optimize` from what was asked to what is written: choose, search, keep, hand over."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rocm_perf_lab import beneath, scratch
from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.device.host_library import prepare
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.optimize import page, sandbox
from rocm_perf_lab.optimize.build import code_objects
from rocm_perf_lab.optimize.bundle import write_bundle
from rocm_perf_lab.optimize.loop import Search
from rocm_perf_lab.optimize.options import OptimizeOptions, Program, find_program, settings_of
from rocm_perf_lab.optimize.patch import apply as apply_text
from rocm_perf_lab.optimize.patch import how_to_apply
from rocm_perf_lab.optimize.proposers import find_proposer
from rocm_perf_lab.optimize.sandbox import Limits, Sandbox
from rocm_perf_lab.optimize.story import Story
from rocm_perf_lab.optimize.workspace import WORK, Workspace, open_workspace
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.schema.optimize import OptimizeDocument

Tell = Callable[[str], None]
RESULT, PAGE, PATCH = "optimize.json", "report.html", "accepted.patch"


@dataclass(frozen=True)
class Done:
    document: OptimizeDocument
    warnings: tuple[str, ...]
    written: tuple[str, ...]


def optimize(options: OptimizeOptions, tell: Tell) -> Done:
    warnings: list[str] = []
    if options.apply and options.patch:
        raise UsageError("--apply and --patch are two ways to have the result", hint="choose one")
    kernel_pattern(options.kernel)
    program = find_program(options, tell)
    kind = _sandbox(options, warnings)
    make_proposer = find_proposer(options.proposer, tell, options.budget_s)
    for path in program.sources:  # copies that an --apply left when it was killed
        scratch.sweep(f".{path.name}.", path.parent)
    settings = settings_of(options, program)
    space = open_workspace(options.out.resolve(), program.path.name, settings)
    with space.ledger, _without_work(space.folder):
        if space.resumed:
            tell(f"going on with {space.folder}")
        if space.ended:
            document = _found_before(space)
        else:
            for text in program.files.values():
                space.keep_source(text)
            proposer = make_proposer(space.folder / "exchanges")
            box = _box(kind, space, options, program)
            document = Search(options, program, proposer, box, space, tell).run()
            warnings += _other_build(program, space)
        written = _hand_over(options, document, space)
        # From here on there is nothing to go on with.
        space.outcome.unlink()
    return Done(document, tuple(warnings), tuple(written))


def _sandbox(options: OptimizeOptions, warnings: list[str]) -> sandbox.Kind:
    """Rules only rearrange the user's own text; what others write is never run unconfined."""
    if options.sandbox and options.proposer.name != "rules":
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
    kind: sandbox.Kind, space: Workspace, options: OptimizeOptions, program: Program
) -> Sandbox:
    prepare(program.architecture)
    named = [path.resolve() for word in options.arguments if (path := Path(word)).is_file()]
    seen = {program.path, *named, *sandbox.shown(Path.cwd().resolve())}
    for folder in {path.parent for path in (*program.sources, program.path)}:
        seen |= sandbox.shown(folder, [path for path in program.sources if path.parent == folder])
    work = space.folder / WORK
    work.mkdir(exist_ok=True)
    limits = Limits(wall_s=max(options.budget_s, Limits.wall_s))
    return Sandbox(kind, work, tuple(sorted(seen)), limits)


def _other_build(program: Program, space: Workspace) -> list[str]:
    """The gain is of a build of ours; the user's own may have been made in another way."""
    name = program.path.name
    try:
        theirs, ours = (
            {k.name: k.code for c in code_objects(path, program.architecture) for k in c.kernels}
            for path in (program.path, space.builds / "original" / "program")
        )
    except BadInput as error:
        return [error.message]
    if set(theirs) != set(ours):
        return [f"{name} has other kernels than its source: was it built from it?"]
    differing = [name for name in theirs if theirs[name] != ours[name]]
    if differing:
        return [
            f"{name} was built in another way than here ({len(differing)} kernels differ): "
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


def _hand_over(options: OptimizeOptions, document: OptimizeDocument, space: Workspace) -> list[str]:
    """Each step may be done again: a run that is killed here does them all another time."""
    folder, story = space.folder, Story(space.ledger.entries)
    write_file(folder / RESULT, to_json(document))
    write_file(folder / PAGE, page.render(document))
    written = [f"report: {folder / PAGE}"]
    if document.patch:
        write_file(folder / PATCH, document.patch)
    try:
        if options.report:
            write_file(options.report, page.render(document))
        if options.patch and document.patch:
            write_file(options.patch, document.patch)
            written.append(f"patch: {options.patch}; {_apply_with(options.patch, story)}")
    except OSError as error:
        raise BadInput(f"cannot write {error.filename}: {error.strerror}") from None
    if options.bundle and document.accepted:
        write_bundle(folder, story, options.bundle)
        written.append(f"bundle: {options.bundle}")
    for path, texts in story.end.sources.items() if options.apply else ():
        apply_text(Path(path), space.source(texts.before), space.source(texts.after))
        written.append(f"applied to {path}")
    if document.patch and not options.apply and not options.patch:
        written.append(f"the source is untouched; {_apply_with(folder / PATCH, story)}")
    return written


def _apply_with(patch: Path, story: Story) -> str:
    return f"apply it with: {how_to_apply(patch, Path(next(iter(story.end.sources))))}"
