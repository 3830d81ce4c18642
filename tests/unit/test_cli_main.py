"""`rocm-perf` itself: help, version, typos, errors and exit codes."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable

import pytest

from rocm_perf_lab import __version__, errors
from rocm_perf_lab.cli import main as cli


def run(argv: list[str]) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main(argv)
    assert isinstance(stop.value.code, int)
    return stop.value.code


App = Callable[[list[str], str], None]


class Command(types.ModuleType):
    app: App


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """A command called `probe` whose `app` the test sets."""
    module = Command("probe_command")
    monkeypatch.setitem(sys.modules, "probe_command", module)
    monkeypatch.setitem(cli.COMMANDS, "probe", ("probe_command", "For this test."))
    return module


def raising(error: BaseException) -> App:
    def app(args: list[str], prog_name: str) -> None:
        raise error

    return app


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"rocm-perf {__version__}\n"


def test_help_lists_every_command_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name}" in out for name in cli.COMMANDS)
    assert max(map(len, out.splitlines())) <= 80


def test_no_arguments_is_a_usage_error_that_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Usage: rocm-perf" in capsys.readouterr().out


def test_a_typo_is_answered_with_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["anlyze"]) == 2
    assert "did you mean `rocm-perf analyze`?" in capsys.readouterr().err
    assert run(["--versoin"]) == 2
    assert "did you mean `rocm-perf --version`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.GateFailed("x"), 1),
        (errors.UsageError("x"), 2),
        (errors.BadInput("x"), 3),
        (errors.MissingTool("x"), 4),
        (errors.Refused("x"), 5),
    ],
)
def test_an_error_is_one_sentence_and_its_exit_code(
    command: Command,
    capsys: pytest.CaptureFixture[str],
    error: errors.PerfLabError,
    code: int,
) -> None:
    command.app = raising(error)
    assert run(["probe"]) == code
    assert capsys.readouterr().err == "rocm-perf: x\n"


def test_debug_shows_the_traceback_wherever_it_stands(command: Command) -> None:
    command.app = raising(errors.BadInput("x"))
    with pytest.raises(errors.BadInput):
        cli.main(["probe", "--debug"])


def test_debug_after_two_dashes_belongs_to_the_program(command: Command) -> None:
    seen: list[list[str]] = []
    command.app = lambda args, prog_name: seen.append(args)
    assert run(["probe", "--", "--debug"]) == 0
    assert seen == [["--", "--debug"]]


def test_a_defect_is_reported_without_a_traceback(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command.app = raising(ZeroDivisionError("oops"))
    assert run(["probe"]) == 70
    assert "internal error: ZeroDivisionError: oops" in capsys.readouterr().err


def test_help_does_not_pay_for_numpy() -> None:
    code = (
        "import sys; sys.argv=['rocm-perf','--help']\n"
        "from rocm_perf_lab.cli.main import main\n"
        "try: main()\n"
        "finally: assert not {'numpy','typer','rich','pydantic'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_command_module_exists_and_has_an_app() -> None:
    import importlib

    for module, _ in cli.COMMANDS.values():
        assert callable(importlib.import_module(module).app)
