"""How results are printed: JSON alone on stdout, or a summary for a person."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.text import Text

from rocm_perf_lab.cli.streams import say
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import BadInput, plain
from rocm_perf_lab.report.units import milliseconds, spread

if TYPE_CHECKING:
    from rocm_perf_lab.schema.profile import ProfileDocument


def print_profile(
    document: ProfileDocument,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    details: bool = False,
) -> None:
    # Not at the top: completion imports every command, and must be quick.
    from rocm_perf_lab.report.show import lines as hot_lines
    from rocm_perf_lab.report.text import summary
    from rocm_perf_lab.schema.common import to_json

    if as_json:
        sys.stdout.write(to_json(document))
    elif quiet:
        print(document.runtime_ms if document.runtime_ms is not None else document.host_wall_ms)
    else:
        print_rich(summary(document, Console().width, details))
        if document.thread_trace is not None and document.thread_trace.stall_sites:
            print_rich(Group(Text(), hot_lines(document.thread_trace)))
    warn_unstable(document)
    if folder is not None and not quiet:
        say(f"files: {plain(str(folder))}")


def print_rich(content: RenderableType) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as text:
        console.print(content)
    # Table cells are padded; a pipe should not see it.
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in text.get().splitlines()))


def write_page(path: Path, html: str) -> None:
    try:
        write_file(path, html)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def warn_unstable(document: ProfileDocument) -> None:
    s = document.stability
    if s is not None and s.classification == "unstable" and s.cv is not None:
        say(
            f"warning: the runtime varies by {spread(s.cv)} over {s.runs} runs "
            f"(mean {milliseconds(s.mean_ms)}); do not compare it"
        )
