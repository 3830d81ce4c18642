"""The patch is one that git takes; a file is replaced whole or not at all."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.patch import apply, how_to_apply, make_patch, patched

TEXTS = st.text(alphabet=st.sampled_from("ab{}\n\r\t \f\x0b\u2028é\\"), max_size=60)


def git(folder: Path, *words: str, text: str | None = None) -> None:
    subprocess.run(["git", "-C", str(folder), *words], input=text, check=True, text=True,
                   capture_output=True)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=TEXTS, after=TEXTS, name=st.sampled_from(["k.cpp", "a b.cpp", "größe.cpp", 'q"t.cpp'])
)
def test_git_applies_what_we_write(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, name: str
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    git(folder, "init", "-q")
    path = folder / "src" / name
    path.parent.mkdir()
    path.write_bytes(before.encode())
    made = make_patch(path, before, after)
    assert path.read_bytes() == before.encode()
    if before == after:
        assert made == ""
        return
    (folder / "change.patch").write_bytes(made.encode())
    git(folder, "apply", "--whitespace=nowarn", "change.patch")
    now = path.read_bytes() if path.exists() else b""
    assert now == after.encode()


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("here", [".", "below", "below/deep", "beside"])
def test_the_command_that_is_told_applies_the_patch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tree: bool, here: str
) -> None:
    root = tmp_path / "a root"
    source = root / "below" / "k.cpp"
    for folder in ("below/deep", "beside"):
        (root / folder).mkdir(parents=True)
    source.write_text("before\n")
    if tree:
        git(root, "init", "-q")
    elif shutil.which("patch") is None:
        pytest.skip("there is no patch here")
    monkeypatch.chdir(root / here)
    Path("my.patch").write_text(make_patch(source, "before\n", "after\n"))
    told = shlex.split(how_to_apply(Path("my.patch"), source))
    assert told[0] == ("git" if tree else "patch")
    subprocess.run(told, check=True, capture_output=True)
    assert source.read_text() == "after\n"


def test_from_another_place_than_the_work_tree_git_is_told_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "k.cpp").write_text("before\n")
    git(tmp_path / "tree", "init", "-q")
    monkeypatch.chdir(tmp_path)
    source = Path("tree/k.cpp")
    Path("my.patch").write_text(make_patch(source, "before\n", "after\n"))
    subprocess.run(shlex.split(how_to_apply(Path("my.patch"), source)), check=True)
    assert source.read_text() == "after\n"


LINES = st.lists(
    st.sampled_from(["a", "b", "", " x", "-y", "+z", "@@ -1 +1 @@", "\r"]), max_size=12
)


@given(
    before=LINES,
    after=LINES,
    ends=st.tuples(st.sampled_from(["", "\n"]), st.sampled_from(["", "\n"])),
)
def test_a_patch_leads_from_one_text_to_the_other_and_from_no_third(
    before: list[str], after: list[str], ends: tuple[str, str]
) -> None:
    old, new = "\n".join(before) + ends[0], "\n".join(after) + ends[1]
    diff = make_patch(Path("x"), old, new)
    assert patched(old, diff) == new
    if old != new:
        assert patched(f"another line\n{old}", diff) != new


def test_applying_replaces_the_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_text("before")
    path.chmod(0o640)
    apply(path, "before", "after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["k.cpp"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.cpp").write_text("before")
    link = tmp_path / "k.cpp"
    link.symlink_to("real.cpp")
    apply(link, "before", "after")
    assert link.is_symlink()
    assert (tmp_path / "real.cpp").read_text() == "after"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_text("edited by hand")
    with pytest.raises(BadInput, match="changed while"):
        apply(path, "before", "after")
    assert path.read_text() == "edited by hand"


def test_applying_twice_is_applying_once(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_text("after")
    apply(path, "before", "after")
    assert path.read_text() == "after"


def test_a_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k.cpp"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(BadInput, match="No space"):
        apply(path, "before", "after")
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["k.cpp"]


def test_killed_at_any_moment_the_file_is_as_it_was_or_as_accepted(tmp_path: Path) -> None:
    """The one moment a user's file is written, over and over, killed in the middle of it."""
    path = tmp_path / "k.cpp"
    texts = ["before\n" * 50_000, "after!\n" * 50_000]
    path.write_text(texts[0])
    code = (
        "import sys; from pathlib import Path; from rocm_perf_lab.optimize.patch import apply\n"
        "p, a, b = Path(sys.argv[1]), 'before\\n' * 50_000, 'after!\\n' * 50_000\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "  now = p.read_text()\n"
        "  apply(p, now, b if now == a else a)\n"
    )
    seen = set()
    for kill in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.01 + 0.013 * kill)
            writer.kill()
        seen.add(texts.index(path.read_text()))
    assert seen
    apply(path, path.read_text(), "last")
    assert [p.name for p in tmp_path.iterdir()] == ["k.cpp"]
