"""The `rocm-perf` command: find the subcommand, run it, print errors, exit.

Command modules are imported only when called: `rocm-perf --help` must not pay for numpy.
A command module exposes `app`, called as `app(args=[...], prog_name="rocm-perf NAME")`.
"""

from __future__ import annotations

import difflib
import gc
import importlib
import os
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from rocm_perf_lab import __version__, signals
from rocm_perf_lab.cli import settings, streams
from rocm_perf_lab.errors import BadInput, PerfLabError, UsageError, plain, plain_lines

PROGRAM = "rocm-perf"

# name -> (module, one-line summary)
COMMANDS: dict[str, tuple[str, str]] = {
    "profile": ("rocm_perf_lab.cli.profile", "Run a program under rocprofv3: what limits it?"),
    "analyze": ("rocm_perf_lab.cli.analyze", "The same for existing traces; needs no GPU."),
    "report": ("rocm_perf_lab.cli.report", "Write a run as one HTML page."),
    "show": ("rocm_perf_lab.cli.show", "Print a kept run again, whole or by part."),
    "runs": ("rocm_perf_lab.cli.runs", "List the runs that are kept, and remove them."),
    "export": ("rocm_perf_lab.cli.export", "Write a run for Perfetto, pandas, speedscope …"),
    "compare": ("rocm_perf_lab.cli.compare", "Is B faster than A? With a gate for CI."),
    "arch": ("rocm_perf_lab.cli.arch", "Show the numbers the verdicts rest on, with sources."),
    "explain": ("rocm_perf_lab.cli.explain", "Say what a bottleneck verdict means."),
    "doctor": ("rocm_perf_lab.cli.doctor", "What works on this machine, and what to do."),
    "run": ("rocm_perf_lab.cli.run", "Run a HIP program on a GPU, real or virtual."),
    "check": ("rocm_perf_lab.cli.check", "Find races and wrong accesses, without a GPU."),
    "device": ("rocm_perf_lab.cli.device", "List the GPUs there are, real and virtual."),
    "capture": ("rocm_perf_lab.cli.capture", "Keep one dispatch with all its memory."),
    "replay": ("rocm_perf_lab.cli.replay", "Run a captured kernel again, alone; compare captures."),
    "autotune": ("rocm_perf_lab.cli.autotune", "Find the fastest configuration of a program."),
    "optimize": ("rocm_perf_lab.cli.optimize", "Make kernels faster; keep only what is proved."),
    "prompt": ("rocm_perf_lab.cli.prompt", "Show what a language model would be sent."),
    "ledger": ("rocm_perf_lab.cli.ledger", "What an optimiser run tried, and the proof."),
    "mcp": ("rocm_perf_lab.cli.mcp", "Serve these commands to coding agents (MCP)."),
    "skill": ("rocm_perf_lab.cli.skill", "Print what teaches a coding agent the workflow."),
    "hipcc": ("rocm_perf_lab.cli.hipcc", "Compile HIP programs, with hipcc's own options."),
    "disasm": (
        "rocm_perf_lab.cli.disasm",
        "Show the kernels in a binary: resources, instructions.",
    ),
}

# Commands that hand their arguments to another program untouched, `--debug` included.
PASS_THROUGH = frozenset({"hipcc"})

EXIT_CODES = (
    "0 done; 1 a gate failed; 2 usage; 3 bad input; 4 a tool or device is missing; "
    "5 refused for safety"
)


def help_text() -> str:
    """The text of `rocm-perf --help`; docs/commands.md holds a checked copy."""
    width = max((len(name) for name in COMMANDS), default=0)
    rows = [f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(
        [
            f"Usage: {PROGRAM} [--version] [--help] [--debug] COMMAND [ARGS]...",
            "",
            "GPU performance engineering for AMD: measure a HIP program, say what limits it.",
            "",
            "Commands:",
            *rows,
            "",
            "Options:",
            "  --version  Print the version and exit.",
            "  --debug    Show the Python traceback of an error (also ROCM_PERF_DEBUG=1).",
            "  --help     Show this text; `rocm-perf COMMAND --help` shows a command's own.",
            "  --show-completion, --install-completion [bash|zsh|fish]",
            "             Print the shell's completion script, or install it.",
            "",
            *textwrap.wrap(f"Exit codes: {EXIT_CODES}.", 80),
        ]
    )


def main(argv: list[str] | None = None) -> None:
    args = list(sys.argv[1:] if argv is None else argv)
    streams.prepare()
    if args[:1] == ["--complete"]:
        _complete(args[1:])
    debug = _take_debug(args)
    try:
        with signals.end_like_interrupts():
            code = _run(args)
        sys.stdout.flush()
    except PerfLabError as error:
        if debug:
            raise
        _print_error(error)
        code = error.exit_code
    except KeyboardInterrupt as stop:
        if debug:
            raise
        streams.say(str(stop) or "interrupted")
        code = signals.exit_code(stop)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error worth a sentence.
        streams.give_up(sys.stdout)
        code = 0
    except OSError as error:
        # A full disk, a file that went away: the machine's condition, not a defect.
        if debug:
            raise
        streams.give_up(sys.stdout)
        where = plain(str(error.filename)) if error.filename is not None else "cannot write"
        streams.say(f"{PROGRAM}: {where}: {error.strerror or error}")
        code = BadInput.exit_code
    except MemoryError:
        if debug:
            raise
        streams.say(f"{PROGRAM}: there is not enough memory for this")
        code = BadInput.exit_code
    except Exception as error:
        if debug:
            raise
        kind = type(error).__name__
        streams.say(
            f"{PROGRAM}: internal error: {kind}: {plain_lines(str(error))}",
            "  This is a defect; --debug shows where. Please report it.",
        )
        code = 70
    sys.exit(code)


def _run(args: list[str]) -> int:
    if not args or args[0] in ("--help", "-h", "help"):
        print(help_text())
        return 0 if args else UsageError.exit_code
    if args[0] in ("--version", "-V"):
        print(f"{PROGRAM} {__version__}")
        return 0
    if args[0] in ("--show-completion", "--install-completion"):
        from rocm_perf_lab.cli import completion

        if args[0] == "--show-completion":
            sys.stdout.write(completion.show(args[1:]))
        else:
            print(completion.install(args[1:]))
        return 0
    name = args[0]
    if name not in COMMANDS:
        from rocm_perf_lab.cli.completion import GLOBAL

        close = difflib.get_close_matches(name, [*COMMANDS, *GLOBAL], n=1)
        what = "option" if name.startswith("-") else "command"
        raise UsageError(
            f"no such {what}: {name}",
            hint=f"did you mean `{PROGRAM} {close[0]}`?" if close else f"see `{PROGRAM} --help`",
        )
    try:
        Path.cwd()
    except OSError:
        raise BadInput("the working folder does not exist any more", "cd to another") from None
    settings.check(os.environ)
    # Most objects live to the end of a command: looking for garbage among them as often as usual
    # costs a tenth of the time.
    gc.set_threshold(200_000, 20, 20)
    module = importlib.import_module(COMMANDS[name][0])
    try:
        return _call(module, args[1:], f"{PROGRAM} {name}")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


def _complete(words: list[str]) -> NoReturn:
    """For a shell, while somebody types: whatever goes wrong, no answer is the answer."""
    from rocm_perf_lab.cli import completion

    try:
        found = completion.candidates(words, COMMANDS)
    except Exception:
        found = []
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(0)


def _call(module: ModuleType, args: list[str], name: str) -> int:
    """A command's `app`. Of Typer only parsing and help are used: its way of running a command
    has other ideas of what Ctrl-C and a closed pipe mean."""
    if not hasattr(module.app, "registered_commands"):
        module.app(args=args, prog_name=name)
        return 0
    import typer

    kinds = typer.BadParameter.__mro__
    failure: Any = next(kind for kind in kinds if kind.__name__ == "ClickException")
    command = typer.main.get_command(module.app)
    if hasattr(module, "arrange"):
        args = module.arrange(command, args)
    try:
        with command.make_context(name, args, help_option_names=["-h", "--help"]) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except failure as error:
        error.show()
        return int(error.exit_code)
    return 0


def _take_debug(args: list[str]) -> bool:
    """Remove `--debug` wherever it stands before `--`; it is the same for every command."""
    end = args.index("--") if "--" in args else len(args)
    if args and args[0] in PASS_THROUGH:
        end = 0
    found = "--debug" in args[:end]
    args[:end] = [arg for arg in args[:end] if arg != "--debug"]
    return found or os.environ.get("ROCM_PERF_DEBUG", "") not in ("", "0")


def _print_error(error: PerfLabError) -> None:
    lines = [f"{PROGRAM}: {plain_lines(error.message)}"]
    if error.hint:
        lines.append(f"  {plain_lines(error.hint)}")
    streams.say(*lines)
