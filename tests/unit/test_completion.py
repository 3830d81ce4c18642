"""Shell completion: what is offered, that it is quick, and that real shells take it."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.cli import completion
from rocm_perf_lab.cli.main import COMMANDS
from rocm_perf_lab.errors import UsageError
from support.cli import commands

PROGRAM = Path(sys.executable).with_name("rocm-perf")


def offered(*words: str) -> list[str]:
    return [line.partition("\t")[0] for line in completion.candidates(list(words), COMMANDS)]


def test_commands_are_offered_first_and_options_of_all_after_a_dash() -> None:
    assert offered("") == list(COMMANDS)
    assert offered("pro") == ["profile", "prompt"]
    assert offered("--ver") == ["--version"]


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_option_of_a_command_is_offered(name: str) -> None:
    there = {o for p in dict(commands())[name].params for o in p.opts if o.startswith("--")}
    assert set(offered(*name.split(), "--")) >= there


def test_subcommands_and_values_are_offered() -> None:
    assert offered("replay", "") == ["info", "reserve-check", "full-vm", "profile", "diff"]
    assert offered("profile", "--ceilings", "") == ["measured", "datasheet"]
    assert offered("optimize", "--policy", "b") == ["body"]
    assert offered("run", "--device", "v") == ["virtual"]
    assert offered("run", "--device=v") == ["--device=virtual"]
    assert offered("run", "--device", "=") == ["auto", "rocm", "virtual"]
    assert offered("run", "--device", "=", "v") == ["virtual"]


@pytest.mark.parametrize(
    "words",
    [("profile", ""), ("profile", "--report", ""), ("profile", "./app", "--", "--size"),
     ("hipcc", "-"), ("nothing", "")],
)  # fmt: skip
def test_where_we_know_nothing_the_shell_offers_files(words: tuple[str, ...]) -> None:
    assert offered(*words) == []


def test_a_word_that_breaks_us_gives_no_answer_and_no_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab", "--complete", "replay", "\udcff", "--runs", ""],
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_completing_a_command_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv=['rocm-perf','--complete', *sys.argv[1:]]\n"
        "from rocm_perf_lab.cli.main import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )

    def modules(*words: str) -> set[str]:
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
        assert done.stdout
        return set(done.stderr.split())

    assert not {"numpy", "typer", "rich", "pydantic"} & modules("pro")
    assert not {"numpy", "pydantic"} & modules("profile", "--")


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_installing_writes_one_file_and_one_line_once(shell: str, tmp_path: Path) -> None:
    script, place, loaded = completion.SHELLS[shell]
    home = {"HOME": str(tmp_path), "SHELL": f"/bin/{shell}"}
    start = tmp_path / loaded[0] if loaded else None
    if start:
        start.write_text("mine")  # without a newline at its end
    for _ in range(2):
        completion.install([], home)
    assert (tmp_path / place).read_text() == script
    if start and loaded:
        assert start.read_text() == f"mine\n{loaded[1]}\n"


def test_an_unknown_shell_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="tcsh"):
        completion.show([], {"SHELL": "/bin/tcsh"})


def test_bash_completes_with_the_script() -> None:
    ask = (
        'eval "$(rocm-perf --show-completion bash)"; complete -p rocm-perf\n'
        'COMP_WORDS=(rocm-perf profile --cei); COMP_CWORD=2; _rocm_perf; echo "${COMPREPLY[@]}"\n'
        'COMP_WORDS=(rocm-perf ana); COMP_CWORD=1; _rocm_perf; echo "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1:] == ["--ceilings", "analyze"]


def test_scripts_go_where_the_shell_looks(tmp_path: Path) -> None:
    moved = {"HOME": "/nowhere", "XDG_CONFIG_HOME": str(tmp_path / "config")}
    completion.install(["fish"], moved)
    assert (tmp_path / "config" / "fish" / "completions" / "rocm-perf.fish").exists()
    completion.install(["zsh"], {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path / "zsh")})
    assert "compinit" in (tmp_path / "zsh" / ".zshrc").read_text()


@pytest.fixture
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of a shell with our completion, in a home with a file."""
    shell: str = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    completion.install([shell], {"HOME": str(tmp_path)})
    (tmp_path / "trace.db").touch()
    gone = {"ZDOTDIR", "XDG_CONFIG_HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    return {**kept, "HOME": str(tmp_path), "PATH": path, "TERM": "dumb"}


@pytest.mark.parametrize("installed", ["fish"], indirect=True)
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rocm-perf ana", ["analyze"]),
        ("rocm-perf profile --device ", ["auto", "rocm", "virtual"]),
        ("rocm-perf profile --device=v", ["--device=virtual"]),
        ("rocm-perf analyze tr", ["trace.db"]),
    ],
)
def test_fish_completes(installed: dict[str, str], line: str, words: list[str]) -> None:
    done = subprocess.run(
        ["fish", "-c", f"complete -C '{line}'"],
        env=installed, cwd=installed["HOME"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [found.partition("\t")[0] for found in done.stdout.splitlines()] == words


@pytest.mark.parametrize("installed", ["zsh"], indirect=True)
@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("rocm-perf ana", "rocm-perf analyze "),
        ("rocm-perf profile --device v", "rocm-perf profile --device virtual "),
        ("rocm-perf profile --device=v", "rocm-perf profile --device=virtual "),
        ("rocm-perf analyze tr", "rocm-perf analyze trace.db "),
    ],
)
def test_zsh_completes(installed: dict[str, str], line: str, whole: str) -> None:
    """zsh completes only in a terminal: what stands in the line after a tab is written away."""
    zshrc = Path(installed["HOME"], ".zshrc")
    zshrc.write_text(
        zshrc.read_text()
        + 'tell() { print -rn -- "$BUFFER" > $HOME/line; exit }\nzle -N tell; bindkey "^T" tell\n'
    )
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(installed["HOME"])
        os.execvpe("zsh", ["zsh", "-i"], installed)
    os.write(terminal, f"{line}\t\x14".encode())
    said = b""
    with contextlib.suppress(OSError):  # the terminal is gone with the shell
        while select.select([terminal], [], [], 60)[0] and (piece := os.read(terminal, 4096)):
            said += piece
    os.close(terminal)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    result = Path(installed["HOME"], "line")
    assert result.exists(), said
    assert result.read_text() == whole
