"""Hostile programs in the sandbox: each is held, and says so."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocm_perf_lab import doctor
from rocm_perf_lab.errors import MissingTool, Refused
from rocm_perf_lab.optimize import sandbox, task_group, verify
from rocm_perf_lab.optimize.ledger import Ledger, read
from rocm_perf_lab.optimize.sandbox import Sandbox
from support.sandboxes import MECHANISMS, SMALL, box, python, works

__all__ = ["box"]  # a fixture


def test_an_honest_program_runs_and_writes_in_its_folder(box: Sandbox) -> None:
    ended = box.run(["sh", "-c", "echo made > result; cat result; exit 3"])
    assert (ended.exit_code, ended.output) == (3, "made\n")
    assert (box.work / "result").read_text() == "made\n"


def test_it_cannot_write_elsewhere(box: Sandbox, tmp_path: Path) -> None:
    victim = tmp_path / "source.cpp"
    victim.write_text("mine")
    ended = box.run(["sh", "-c", f"echo theirs > {victim}; rm -f {victim}; mv {victim} x"])
    assert victim.read_text() == "mine"
    assert not ended.ok


def test_it_cannot_read_what_was_not_named(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("secret-words")
    for path in (secret, Path("/etc/shadow"), Path.home() / ".bashrc"):
        ended = box.run(["cat", str(path)])
        assert not ended.ok, path
        assert "secret-words" not in ended.output


def test_it_can_read_what_was_named(box: Sandbox, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "data").write_text("numbers")
    seeing = Sandbox(box.kind, box.work, (given,), SMALL)
    assert seeing.run(["cat", str(given / "data")]).output == "numbers"
    assert not seeing.run(["sh", "-c", f"echo x > {given}/data"]).ok


def test_it_sees_no_secret_of_the_environment(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-words")
    monkeypatch.setenv("HIP_SECRET_TOKEN", "sk-secret-words")
    monkeypatch.setenv("SOMETHING", "sk-secret-words")
    inside = box.run(["sh", "-c", f"env; tr '\\0' '\\n' < /proc/{os.getpid()}/environ"])
    assert "PATH=" in inside.output
    assert "sk-secret-words" not in inside.output


def test_it_reaches_no_network(box: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        tcp = python(box, f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
    udp = python(
        box,
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
        "s.sendto(b'x', ('127.0.0.1', 9))",
    )
    assert not tcp.ok
    assert not udp.ok
    assert "denied" in tcp.output


def test_a_fork_bomb_is_put_out(box: Sandbox) -> None:
    if not sandbox.processes_bounded():
        pytest.skip(f"{sandbox.UNBOUNDED}: it would take the machine with it")
    started = time.monotonic()
    ended = python(
        box,
        "import os\nwhile True:\n  try:\n    os.fork()\n  except OSError:\n    pass\n",
    )
    assert ended.limit == "it started more than 40 processes"
    assert time.monotonic() - started < 25


def test_threads_are_counted_and_a_group_is_taken_away(box: Sandbox) -> None:
    if (place := task_group.where(os.geteuid())) is None:
        pytest.skip("no control group can be made here")
    ended = python(
        box,
        "import threading, time\n"
        "for _ in range(200): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    )
    assert ended.limit == "it started more than 40 processes" or not ended.ok
    mine = f"rocm-perf-{os.getpid()}-*"
    assert not list(place.glob(mine))
    with task_group.task_group(20) as group:
        assert group is not None
        assert list(place.glob(mine)) == [group.folder]
        sleeper = subprocess.Popen(group.joined(["sleep", "60"]))
        while str(sleeper.pid) not in (group.folder / "cgroup.procs").read_text().split():
            time.sleep(0.01)
    assert sleeper.wait() == -signal.SIGKILL
    assert not list(place.glob(mine))


def test_groups_that_killed_runs_left_are_swept() -> None:
    if (place := task_group.where(os.geteuid())) is None:
        pytest.skip("no control group can be made here")
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = place / f"rocm-perf-{ended.pid}-left"
    left.mkdir()
    task_group.where.cache_clear()
    assert task_group.where(os.geteuid()) == place
    assert not left.exists()


@pytest.mark.parametrize(
    ("own", "mounts", "places"),
    [
        # Version 1, as a container sees it: the mount's root is the container's own group.
        (
            "8:pids:/docker/a1\n4:memory:/other\n0::/\n",
            "30 25 0:27 /docker/a1 /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
            "31 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ["/sys/fs/cgroup/pids"],
        ),
        # Version 2: the own group, then those above it.
        (
            "0::/user.slice/user-0.slice/session-3.scope\n",
            "30 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
            [
                "/sys/fs/cgroup/user.slice/user-0.slice/session-3.scope",
                "/sys/fs/cgroup/user.slice/user-0.slice",
                "/sys/fs/cgroup/user.slice",
                "/sys/fs/cgroup",
            ],
        ),
        ("0::/\n", "30 25 0:27 / /proc rw - proc proc rw\n", []),
        (
            "8:pids:/a\n",
            "30 25 0:27 /b /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
            [],
        ),
    ],
)
def test_where_groups_can_be(own: str, mounts: str, places: list[str], tmp_path: Path) -> None:
    (tmp_path / "own").write_text(own)
    (tmp_path / "mounts").write_text(mounts)
    found = task_group._places(tmp_path / "own", tmp_path / "mounts")
    assert [str(place) for place in found] == places


def test_without_a_group_it_is_said(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocm_perf_lab.optimize.task_group.where", lambda _: None)
    monkeypatch.setattr("rocm_perf_lab.optimize.sandbox.where", lambda _: None)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert box.run(["true"]).ok
    assert not sandbox.processes_bounded()
    assert sandbox.UNBOUNDED in doctor._sandbox().found


def test_a_group_that_fails_later_is_an_error(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0 or task_group.where(0) is None:
        pytest.skip("no control group can be made here")
    monkeypatch.setattr("rocm_perf_lab.optimize.task_group._make", lambda *_: None)
    with pytest.raises(MissingTool, match="control group"):
        box.run(["true"])


def test_processes_that_leave_their_session_end_too(box: Sandbox) -> None:
    mark = f"{box.work.name}-{os.getpid()}-survivor"
    box.run(["sh", "-c", f"(setsid sh -c 'exec -a {mark} sleep 60' &); exit 0"])
    time.sleep(0.3)
    commands = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
    assert not any(mark.encode() in c and b"setsid" not in c for c in commands)


def test_endless_output_memory_and_time_are_bounded(box: Sandbox) -> None:
    loud = box.run(["yes"])
    assert loud.limit is not None and "printed" in loud.limit
    assert len(loud.output) <= SMALL.output_bytes
    greedy = python(box, "x = [bytearray(1 << 20) for _ in range(4000)]\nwhile True: pass")
    assert greedy.limit is not None and "memory" in greedy.limit
    asleep = box.run(["sleep", "60"], wall_s=0.5)
    assert asleep.limit is not None and "0.5 s" in asleep.limit
    silent = box.run(["sh", "-c", "exec >&- 2>&-; sleep 60"], wall_s=0.5)
    assert silent.limit is not None


def test_how_it_ended_is_said(box: Sandbox) -> None:
    assert box.run(["sh", "-c", "kill -SEGV $$"]).sentence() == "was killed by SIGSEGV"
    assert box.run(["false"]).sentence() == "exited with code 1"
    assert box.run(["no-such-program-here"]).exit_code == 127


def test_it_cannot_look_into_other_processes(box: Sandbox) -> None:
    ended = python(
        box,
        f"import ctypes; print(ctypes.CDLL(None).ptrace(16, {os.getpid()}, 0, 0))",
    )
    assert ended.output.strip() == "-1"


def test_what_is_here_is_tried_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox._available.cache_clear()
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert sandbox.available() in ("landlock", "none")
    monkeypatch.setattr("rocm_perf_lab.optimize.system_calls.known", lambda: False)
    sandbox._available.cache_clear()
    assert sandbox.available() == "none"
    with pytest.raises(Refused) as refused:
        sandbox.confined("install one")
    assert refused.value.exit_code == 5
    sandbox._available.cache_clear()


def test_a_stranger_s_code_is_not_run_without_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `optimize` refuses what was proposed; before anything of the bundle is opened."""
    monkeypatch.setattr(sandbox, "available", lambda: "none")
    told = SimpleNamespace(end=SimpleNamespace(claims=[object()]))
    monkeypatch.setattr(verify, "Story", lambda _: told)
    monkeypatch.setattr(verify, "check_story", lambda *_: None)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("end", {"claims": []})
    found = verify.Found(tmp_path, read(tmp_path / "ledger.jsonl"))
    with pytest.raises(Refused, match="no sandbox"):
        verify.verify_claims(found, "virtual", lambda _: None)


def test_all_of_this_holds_for_an_ordinary_user() -> None:
    """The attacks as a user who has no rights to give up, if these tests run as root."""
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    user = pwd.getpwnam("nobody")
    ids: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="rocm-perf-nobody-") as folder:
        os.chown(folder, user.pw_uid, user.pw_gid)
        environment = {
            **os.environ, "HOME": folder, "TMPDIR": folder, "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }  # fmt: skip
        # Python may lie in root's home; then the system's own, if it is the same version.
        same = f"python{sys.version_info.major}.{sys.version_info.minor}"
        test = f"open({__file__!r}); import numpy, pytest, rocm_perf_lab"
        for python in (sys.executable, shutil.which(same, path="/usr/local/bin:/usr/bin")):
            tried = [python or "false", "-c", test]
            kept: dict[str, Any] = {
                "env": environment,
                "capture_output": True,
                "text": True,
                "check": False,
            }
            with contextlib.suppress(OSError):
                if subprocess.run(tried, **kept, **ids).returncode == 0:
                    break
        else:
            pytest.skip("another user cannot read the repository or its Python")
        tests = [__file__, str(Path(__file__).with_name("test_sandbox_attacks.py"))]
        words = [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
        words += ["--basetemp", f"{folder}/t", *tests]
        done = subprocess.run(words, cwd=Path(__file__).parents[2], **kept, **ids)
    assert done.returncode == 0, done.stdout[-4000:]
    here = {kind for kind, namespaces in MECHANISMS.values() if works(kind, namespaces)}
    assert not [kind for kind in here if f"{kind} does not work on this machine" in done.stdout]
