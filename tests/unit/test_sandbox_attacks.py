"""What a hostile program tries from inside, by name: with each mechanism alone. As root, and from
`test_sandbox.py` as an ordinary user."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_perf_lab.optimize import sandbox
from rocm_perf_lab.optimize.build import Builder, BuildFailed, Recipe
from rocm_perf_lab.optimize.sandbox import Sandbox
from support.sandboxes import box, python

__all__ = ["box"]  # a fixture

# `tried` runs what it is given and prints whether it was held.
TRIED = """\
import ctypes, os, stat, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, attack):
    try:
        result = attack()
        held = isinstance(result, int) and not isinstance(result, bool) and result < 0
    except OSError:
        held = True
    print('held' if held else 'DONE', name, flush=True)
"""


def attacked(box: Sandbox, attacks: str, least: int) -> None:
    """Every attack was tried, and none came through."""
    ended = python(box, TRIED + attacks)
    lines = ended.output.splitlines()
    assert ended.ok, ended.output
    assert all(line.startswith("held ") for line in lines), ended.output
    assert len(lines) >= least


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    folder = tmp_path / "seen"
    folder.mkdir()
    path = folder / "victim"
    path.write_text("mine")
    path.chmod(0o644)
    os.utime(path, (1e9, 1e9))
    return path


def test_the_core_pattern_and_other_settings_of_the_kernel(box: Sandbox) -> None:
    before = Path("/proc/sys/kernel/core_pattern").read_text()
    attacked(
        box,
        """
for name in ('sys/kernel/core_pattern', 'sys/vm/drop_caches', 'sysrq-trigger',
             'sys/kernel/hostname', 'self/oom_score_adj'):
    tried(name, lambda: os.open('/proc/' + name, os.O_WRONLY))
    tried(name, lambda: os.chmod('/proc/' + name, 0o777))
""",
        least=10,
    )
    assert Path("/proc/sys/kernel/core_pattern").read_text() == before


def test_device_nodes_made(box: Sandbox) -> None:
    attacked(
        box,
        """
for kind in (stat.S_IFBLK, stat.S_IFCHR):
    for number in (os.makedev(8, 0), os.makedev(1, 1), os.makedev(254, 0)):
        tried('mknod', lambda: os.mknod('node', kind | 0o600, number))
""",
        least=6,
    )


def test_device_nodes_that_are_there(box: Sandbox) -> None:
    outside = [str(path) for path in Path("/dev").iterdir() if path.is_block_device()]
    outside += ["/dev/mem", "/dev/kmsg", "/dev/ptmx", "/dev/tty", "/dev/net/tun", "/dev/fuse"]
    attacked(
        box,
        f"""
for path in {outside!r}:
    tried(path, lambda: os.open(path, os.O_RDONLY | os.O_NONBLOCK))
""",
        least=6,
    )
    allowed = python(box, "for n in ('null','zero','full','random','urandom'): open('/dev/' + n)")
    assert allowed.ok, allowed.output


def test_sys_is_not_there(box: Sandbox) -> None:
    if Path("/dev/kfd").exists():
        pytest.skip("a GPU's topology is shown")
    attacked(box, "tried('list', lambda: os.listdir('/sys'))", least=1)


def test_no_capability_is_left(box: Sandbox) -> None:
    ended = python(
        box,
        "lines = open('/proc/self/status').readlines()\n"
        "print([line.split()[1] for line in lines if line.startswith(('Cap', 'NoNew'))])",
    )
    words = ended.output.replace("'", "").strip("[]\n").split(", ")
    assert words[5] == "1"
    sets = words[:3] + words[4:5] + (words[3:4] if os.geteuid() == 0 else [])
    assert {int(word, 16) for word in sets} == {0}, ended.output


@pytest.fixture
def neighbour() -> Iterator[subprocess.Popen[bytes]]:
    """Another program of the same user, with a secret."""
    environment = {**os.environ, "OPENAI_API_KEY": "sk-a-secret-of-a-neighbour"}
    process = subprocess.Popen(["sleep", "60"], env=environment)
    time.sleep(0.05)
    yield process
    process.kill()
    process.wait()


def test_another_process_s_environment(box: Sandbox, neighbour: subprocess.Popen[bytes]) -> None:
    ended = python(
        box,
        f"""
import glob
for path in [*glob.glob('/proc/[0-9]*/environ'), '/proc/{neighbour.pid}/environ']:
    try:
        print(open(path, 'rb').read())
    except OSError as error:
        print(error)
""",
    )
    assert ended.ok and "sk-a-secret" not in ended.output


def test_other_processes_are_out_of_reach(box: Sandbox, neighbour: subprocess.Popen[bytes]) -> None:
    attacked(
        box,
        f"""
import resource, signal
for pid in ({neighbour.pid}, {os.getpid()}):
    tried('ptrace', lambda: libc.ptrace(16, pid, 0, 0))
    tried('kill', lambda: os.kill(pid, signal.SIGTERM))
    tried('limit', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)))
    tried('memory', lambda: os.open(f'/proc/{{pid}}/mem', os.O_RDWR))
    tried('affinity', lambda: os.sched_setaffinity(pid, {{0}}))
    tried('nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    local = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(local), 8)
    tried('read', lambda: libc.process_vm_readv(pid, vector, 1, vector, 1, 0))
""",
        least=14,
    )
    assert neighbour.poll() is None


def test_real_time_priority(box: Sandbox) -> None:
    attacked(
        box,
        """
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    tried('real time', lambda: os.sched_setscheduler(0, policy, os.sched_param(1)))
tried('nice', lambda: os.setpriority(os.PRIO_PROCESS, 0, -10))
""",
        least=3,
    )


def test_namespaces_mounts_and_other_doors(box: Sandbox) -> None:
    attacked(
        box,
        """
tried('unshare', lambda: libc.unshare(0x10000000))
tried('clone', lambda: libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0))
tried('mount', lambda: libc.mount(b'none', b'tmp', b'tmpfs', 0, None))
tried('chroot', lambda: os.chroot('.'))
tried('keys', lambda: libc.syscall(250, 0, -3, 0))
tried('bpf', lambda: libc.syscall(321, 0, 0, 0))
tried('io_uring', lambda: libc.syscall(425, 1, ctypes.create_string_buffer(256)))
tried('perf', lambda: libc.syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0))
tried('shared memory', lambda: libc.shmget(0, 4096, 0o1600))
""",
        least=9,
    )


def test_mode_and_dates_of_files_outside(box: Sandbox, victim: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.write_text("mine")
    hidden.chmod(0o644)
    os.utime(hidden, (1e9, 1e9))
    attacked(
        replace(box, readable=(victim.parent,)),
        f"""
os.symlink({str(victim)!r}, 'link')
os.symlink({str(victim.parent)!r}, 'folder')
opened = os.open({str(victim)!r}, os.O_RDONLY)
place = os.open({str(victim.parent)!r}, os.O_RDONLY)
for path in ({str(victim)!r}, {str(hidden)!r}, 'link', 'folder/victim', 'folder'):
    tried(path + ' chmod', lambda: os.chmod(path, 0o777))
    tried(path + ' utime', lambda: os.utime(path, (1, 1)))
    tried(path + ' chown', lambda: os.chown(path, os.getuid(), os.getgid()))
    tried(path + ' xattr', lambda: os.setxattr(path, 'user.x', b'y'))
    tried(path + ' fchmodat2', lambda: libc.syscall(452, -100, path.encode(), 0o777, 0))
for number in (opened, place):
    tried('fchmod', lambda: os.fchmod(number, 0o777))
    tried('futimens', lambda: os.utime(number, (1, 1)))
    tried('by its descriptor', lambda: os.chmod(f'/proc/self/fd/{{number}}', 0o777))
    tried('empty path', lambda: libc.syscall(452, number, b'', 0o777, 0x1000))
    flags = ctypes.c_long(0x10)
    tried('flags', lambda: libc.ioctl(number, 0x40086602, ctypes.byref(flags)))
tried('in a folder', lambda: os.chmod('victim', 0o777, dir_fd=place))
tried('hard link', lambda: os.link({str(victim)!r}, 'mine'))
tried('truncate', lambda: os.truncate({str(victim)!r}, 0))
""",
        least=38,
    )
    for path in (victim, hidden):
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        assert path.stat().st_mtime == 1e9
        assert path.read_text() == "mine"


def test_mode_and_dates_of_its_own_files(box: Sandbox) -> None:
    ended = python(
        box,
        """
import os, shutil, stat
open('file', 'w').close()
os.mkdir('folder')
mode = lambda path: stat.S_IMODE(os.stat(path).st_mode)
os.chmod('file', 0o755); assert mode('file') == 0o755
here = os.open('.', os.O_RDONLY)
os.chmod('file', 0o700, dir_fd=here); assert mode('file') == 0o700
number = os.open('file', os.O_RDWR)
os.fchmod(number, 0o640); assert mode('file') == 0o640
os.utime('file', ns=(5, 7)); assert os.stat('file').st_mtime_ns == 7
os.utime(number, ns=(5, 9)); assert os.stat('file').st_mtime_ns == 9
os.utime('file'); assert os.stat('file').st_mtime > 1e9
os.chmod(os.path.abspath('folder'), 0o711); assert mode('folder') == 0o711
shutil.copy2('file', 'folder/copy')
try:
    os.chmod('not there', 0o700)
except FileNotFoundError:
    print('all')
""",
    )
    assert ended.output == "all\n"


def test_the_home_folder_because_a_program_lies_in_it(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("secret-words")
    (home / "notes.txt").write_text("secret-words")
    for name in ("app", "app.cpp", "app.h"):
        (home / name).write_text("shown")
    monkeypatch.setenv("HOME", str(home))
    sandbox._homes.cache_clear()
    try:
        careless = replace(box, readable=(home, home.parent))
        files = sandbox.shown(home, [home / "app"])
        careful = replace(box, readable=tuple(sorted(files)))
        for seeing in (careless, careful):
            for path in (home / ".ssh/id_rsa", home / "notes.txt"):
                ended = seeing.run(["cat", str(path)])
                assert not ended.ok and "secret-words" not in ended.output
        shown = careful.run(["cat", *(str(home / name) for name in ("app", "app.cpp", "app.h"))])
        assert shown.output == "shown" * 3
    finally:
        sandbox._homes.cache_clear()


def test_the_disk_filled(box: Sandbox) -> None:
    for code in (
        "for n in range(99):\n  open(str(n), 'wb').write(bytes(8 << 20))\n",
        "f = open('x', 'wb'); os.unlink('x')\nwhile True: f.write(bytes(1 << 20))\n",
        "f = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))\n",
        "fs = []\nfor n in range(99):\n  fs.append(open(str(n), 'wb')); os.unlink(str(n))\n"
        "  fs[-1].write(bytes(8 << 20)); fs[-1].flush()\n",
    ):
        ended = python(box, f"import os, time\n{code}time.sleep(20)")
        stopped = ended.limit == "it wrote more than 96 MiB to disk"
        # A single file meets its limit first.
        assert stopped or "File too large" in ended.output, (code, ended)
        for path in box.work.iterdir():
            if path.is_file():
                path.unlink()


def test_memory_filled_by_way_of_tmp(box: Sandbox) -> None:
    ended = python(
        box,
        """
import os
total = 0
for folder in ('/tmp', '/dev/shm', '/dev', '/var/tmp', '/run'):
    try:
        with open(folder + '/x', 'wb') as f:
            while total < 1 << 30:
                total += f.write(bytes(1 << 20))
    except OSError:
        pass
print(total >> 20)
""",
    )
    assert int(ended.output) <= 130


def test_a_folder_swapped_for_a_link_while_it_is_built_in(box: Sandbox, tmp_path: Path) -> None:
    """The tool takes builds away afterwards: not what a build made links to."""
    outside = tmp_path / "outside"
    (outside / "program").mkdir(parents=True)
    (outside / "kept").write_text("mine")
    (outside / "k.cpp").write_text("mine")
    source = tmp_path / "source" / "k.cpp"
    source.parent.mkdir()
    source.write_text("text")
    script = f"""
here=$(pwd); up=$(dirname $here)
rm -rf k.cpp tmp; ln -s {outside} tmp; ln -s {outside}/k.cpp k.cpp
ln -s {outside}/kept program
mv $here $up/elsewhere; ln -s {outside} $here; ln -s {outside} $up/other
mkdir deep; ln -s {outside} deep/a; true
"""
    recipe = Recipe(("sh", "-c", script, "{source}", "{output}"))
    builder = Builder(recipe, replace(box, readable=(source.parent,)), (source,), "gfx942")
    folder = box.work / "builds" / "0001"
    for _ in range(2):  # the second takes away what the first left
        with pytest.raises(BuildFailed, match="wrote no program"):
            builder.build(source, "changed", folder)
        assert (outside / "kept").read_text() == "mine"
        assert (outside / "k.cpp").read_text() == "mine"
        assert (outside / "program").is_dir()
    assert sorted(path.name for path in folder.parent.iterdir()) == ["0001"]
    assert not folder.is_symlink()


def test_what_another_build_made_is_not_written(box: Sandbox, tmp_path: Path) -> None:
    other = box.work / "builds" / "original"
    other.mkdir(parents=True)
    (other / "program").write_text("built before")
    source = tmp_path / "k.cpp"
    source.write_text("text")
    recipe = Recipe(("sh", "-c", f"echo mine > {other}/program; rm -rf {other}", "{source}"))
    builder = Builder(recipe, box, (source,), "gfx942")
    with pytest.raises(BuildFailed):
        builder.build(source, "changed", box.work / "builds" / "0001")
    assert (other / "program").read_text() == "built before"


def test_a_program_too_large_to_be_looked_at(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocm_perf_lab.optimize.build.MOST_BYTES", 1 << 20)
    source = tmp_path / "k.cpp"
    source.write_text("text")
    recipe = Recipe(("truncate", "-s", "2M", "{output}"))
    with pytest.raises(BuildFailed, match="2,097,152 bytes"):
        Builder(recipe, box, (source,), "gfx942").build(source, "changed", box.work / "b")


def test_it_is_this_python_that_was_confined(box: Sandbox) -> None:
    """So that a failure above is not one of starting it."""
    assert python(box, "import sys; print(sys.executable)").output.strip() == sys.executable
