"""Shell completion: `rocm-perf --show-completion` prints a script that asks us for each word.

The script runs `rocm-perf --complete WORDS...` with the words after the program up to the one being
typed; the answer is a line a candidate, its help after a tab. No answer: the shell offers files.

Not Typer's own completion: that asks every command for its help, so it imports them all. A TAB
after `rocm-perf` took 840 ms of CPU with it and takes 58 ms so, one after `rocm-perf profile --`
227 and 135 ms (typer 0.29, medians of 15).
"""

from __future__ import annotations

import importlib
import inspect
import os
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import BadInput, UsageError

_BASH = """# bash completion of rocm-perf
_rocm_perf() {
    mapfile -t COMPREPLY < <(
        "${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
}
complete -o default -o bashdefault -F _rocm_perf rocm-perf rocm-perf-lab
"""
_ZSH = """#compdef rocm-perf rocm-perf-lab
# zsh completion of rocm-perf
_rocm_perf() {
    local -a found
    found=("${(@f)$("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z "${found[*]}" ]]; then
        _files
        return
    fi
    found=("${(@)found//:/\\\\:}")
    found=("${(@)found/$'\\t'/:}")
    _describe 'rocm-perf' found
}
if [[ "${funcstack[1]}" == _rocm_perf ]]; then
    _rocm_perf "$@"
else
    compdef _rocm_perf rocm-perf rocm-perf-lab
fi
"""
_FISH = """# fish completion of rocm-perf
function __rocm_perf_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] --complete $words[2..-1] 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c rocm-perf -f -a '(__rocm_perf_complete)'
complete -c rocm-perf-lab -f -a '(__rocm_perf_complete)'
"""

# shell -> (the script, where it goes, the file that must load it and how; None: the shell does).
# Paths are below $HOME, or, from a folder named in _MOVED, below what its variable says.
SHELLS: dict[str, tuple[str, str, tuple[str, str] | None]] = {
    "bash": (
        _BASH,
        ".local/share/rocm-perf/completion.bash",
        (".bashrc", '. "$HOME/.local/share/rocm-perf/completion.bash"'),
    ),
    "zsh": (
        _ZSH,
        ".local/share/rocm-perf/completion.zsh",
        (
            ".zshrc",
            "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -C }; "
            '. "$HOME/.local/share/rocm-perf/completion.zsh"',
        ),
    ),
    "fish": (_FISH, ".config/fish/completions/rocm-perf.fish", None),
}
_MOVED = {".zshrc": ("ZDOTDIR", "."), ".config/fish": ("XDG_CONFIG_HOME", ".config")}
GLOBAL = {
    "--help": "Show the commands.",
    "--version": "Print the version and exit.",
    "--debug": "Show the Python traceback of an error.",
    "--show-completion": "Print the script for a shell.",
    "--install-completion": "Install it for your shell.",
}


def show(words: list[str], environment: Mapping[str, str] = os.environ) -> str:
    return SHELLS[_shell(words, environment)][0]


def install(words: list[str], environment: Mapping[str, str] = os.environ) -> str:
    """What was done. Nothing is written twice, and no line of the user's is changed."""
    name = _shell(words, environment)
    script, place, loaded = SHELLS[name]
    try:
        path = _place(place, environment)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, "utf-8")
        if loaded is not None:
            start, line = _place(loaded[0], environment), loaded[1]
            before = start.read_text("utf-8") if start.exists() else ""
            if line not in before.splitlines():
                start.parent.mkdir(parents=True, exist_ok=True)
                gap = "" if before.endswith("\n") or not before else "\n"
                with start.open("a", encoding="utf-8") as file:
                    file.write(f"{gap}{line}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"completion for {name} cannot be installed: {error}",
            hint=f"`rocm-perf --show-completion {name}` prints the script",
        ) from None
    also = f", loaded by {_place(loaded[0], environment)}" if loaded else ""
    return f"completion for {name}: {path}{also}; it works in new shells"


def _place(path: str, environment: Mapping[str, str]) -> Path:
    for start, (variable, instead_of) in _MOVED.items():
        if path.startswith(start) and (moved := environment.get(variable)):
            return Path(moved) / Path(path).relative_to(instead_of)
    return Path(environment.get("HOME") or Path.home()) / path


def _shell(words: list[str], environment: Mapping[str, str]) -> str:
    known = ", ".join(SHELLS)
    name = words[0] if words else Path(environment.get("SHELL", "")).name
    if name not in SHELLS or len(words) > 1:
        said = " ".join(words) or name or "which shell it is"
        raise UsageError(f"no completion for {said}", hint=f"there is one for {known}")
    return name


def candidates(words: list[str], commands: Mapping[str, tuple[str, str]]) -> list[str]:
    """Lines for the last of the words, which may be empty."""
    # bash makes three words of --device=virtual, other shells leave it one.
    *before, typed = [word for word in words[:-1] if word != "="] + [words[-1] if words else ""]
    option, equals, value = typed.partition("=")
    if typed == "=":
        typed = ""
    elif equals and option.startswith("--"):
        found_values = candidates([*before, option, value], commands)
        return [f"{option}={line}" for line in found_values]
    if not before:
        found = {name: summary for name, (_, summary) in commands.items()} | GLOBAL
        shown = {k: v for k, v in found.items() if typed.startswith("-") or k[0] != "-"}
    elif before[0] in ("--show-completion", "--install-completion"):
        shown = dict.fromkeys(SHELLS, "")
    elif before[0] in commands:
        shown = dict(_of_command(commands[before[0]][0], before[1:], typed))
    else:
        shown = {}
    return [f"{k}\t{v}" if v else k for k, v in shown.items() if k.startswith(typed)]


def _of_command(module: str, before: list[str], typed: str) -> Iterator[tuple[str, str]]:
    app = importlib.import_module(module).app
    if "--" in before or not hasattr(app, "registered_commands"):
        return  # the program's own words, or hipcc's
    import typer

    command: Any = typer.main.get_command(app)
    subcommands: Mapping[str, Any] = getattr(command, "commands", {})
    inner = next((word for word in before if word in subcommands), None)
    if inner is not None:
        command = subcommands[inner]
    elif subcommands and not typed.startswith("-"):
        for name, sub in subcommands.items():
            yield name, sub.get_short_help_str(60)
        return
    options = {
        name: parameter
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    last = options.get(before[-1]) if before else None
    if last is not None and not getattr(last, "is_flag", False):
        for value in _values(before[-1], command, last):
            yield value, ""
    elif typed.startswith("-"):
        for name, parameter in options.items():
            yield name, str(parameter.help or "").partition(". ")[0]
        yield "--help", "Show this command's options."


def _values(option: str, command: Any, parameter: Any) -> list[str]:
    """Of an option with a fixed set of them, a Literal in its annotation."""
    if option == "--device":
        return ["auto", "rocm", "virtual"]
    hints = typing.get_type_hints(inspect.unwrap(command.callback))
    kind = hints[parameter.name]
    for one in (kind, *typing.get_args(kind)):
        if typing.get_origin(one) is typing.Literal:
            return [str(value) for value in typing.get_args(one)]
    return []
