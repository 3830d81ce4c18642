"""Files in a folder that somebody hostile could write: reached by descriptors, no link followed.

Every function takes the folder, which is trusted to be itself, and a name inside it, which is not:
each step is opened in the step before, so a folder that became a link ends the way there.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def _opened(folder: Path, inside: PurePath) -> Iterator[int]:
    """The folder `inside`; an OSError where there is none, or a link on the way."""
    if inside.is_absolute() or ".." in inside.parts:
        raise OSError(errno.EINVAL, f"{inside} is not inside")
    place = os.open(folder, _FOLDER)
    try:
        for part in inside.parts:
            below = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = below
        yield place
    finally:
        os.close(place)


def make_folder(folder: Path, inside: str | PurePath) -> None:
    """With those above it; it may be there."""
    path = PurePath(inside)
    for depth in range(len(path.parts)):
        above = PurePath(*path.parts[:depth])
        with _opened(folder, above) as place, contextlib.suppress(FileExistsError):
            os.mkdir(path.parts[depth], dir_fd=place)
    with _opened(folder, path):
        pass


def folders(folder: Path, inside: str | PurePath = ".") -> list[str]:
    """Names of the real folders in a folder."""
    with _opened(folder, PurePath(inside)) as place, os.scandir(place) as entries:
        return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))


def read(folder: Path, inside: str | PurePath, most: int) -> bytes:
    """A plain file's bytes; an OSError where it is none, or larger."""
    path = PurePath(inside)
    with _opened(folder, path.parent) as place:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path.name, flags, dir_fd=place), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "not a plain file", str(inside))
            data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {most} bytes", str(inside))
    return data


def file_size(folder: Path, inside: str | PurePath) -> int | None:
    """Of a plain file; None where there is none."""
    path = PurePath(inside)
    try:
        with _opened(folder, path.parent) as place:
            found = os.stat(path.name, dir_fd=place, follow_symlinks=False)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def is_file(folder: Path, inside: str | PurePath) -> bool:
    return file_size(folder, inside) is not None


def write(folder: Path, inside: str | PurePath, data: bytes) -> None:
    """A new file; what had the name is gone before."""
    path = PurePath(inside)
    with _opened(folder, path.parent) as place:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path.name, flags, 0o666, dir_fd=place), "wb") as file:
            file.write(data)


def remove(folder: Path, inside: str | PurePath) -> None:
    """A file, a link, or a folder with all in it; what cannot be removed stays.

    However deep: a folder found inside is moved to the top before it is looked into, so there are
    never more than two open. Folders that shut their owner out are opened again.
    """
    path = PurePath(inside)
    with contextlib.suppress(OSError), _opened(folder, path.parent) as top:
        prefix, waiting = f".{path.name[:60]}-{os.getpid()}-", [path.name]
        while waiting:
            with contextlib.suppress(OSError):
                _remove_one(top, waiting.pop(), prefix, waiting)


_numbers = itertools.count()


def _remove_one(top: int, name: str, prefix: str, waiting: list[str]) -> None:
    """A folder's own folders get new names in `top`, and wait there."""
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return
    _let_in(top, name)
    place = os.open(name, _FOLDER, dir_fd=top)
    try:
        for each in os.listdir(place):  # noqa: PTH208
            if _is_folder(place, each):
                _let_in(place, each)
                other = f"{prefix}{next(_numbers)}"
                os.rename(each, other, src_dir_fd=place, dst_dir_fd=top)
                waiting.append(other)
            else:
                os.unlink(each, dir_fd=place)
    finally:
        os.close(place)
    os.rmdir(name, dir_fd=top)


def _is_folder(place: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode)


def _let_in(place: int, name: str) -> None:
    """Give its owner a folder's rights back, by a descriptor of it."""
    found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        if stat.S_IMODE(os.fstat(found).st_mode) & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{found}", 0o700)  # noqa: PTH101
    finally:
        os.close(found)
