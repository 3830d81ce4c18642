"""Our standard input for a program that is run several times: every run reads all of it.

A file is opened again for each run, at the place where it stood. What comes through a pipe is kept
as the runs ask for it: a run gets what earlier ones had, then what is new. Nothing is read ahead of
the first run, so a pipe that nobody ever closes holds up no program that does not read. A terminal
is not given on: a run in a session of its own could not read it.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from rocm_perf_lab.errors import BadInput

MOST_BYTES = 256 << 20  # of a pipe are kept
_CHUNK = 1 << 16

Feed = Callable[[], contextlib.AbstractContextManager[BinaryIO | None]]  # one call a run


class Given:
    """What the runs of one program read; `source` is a descriptor, None: there is nothing."""

    def __init__(self, source: int | None, kept: BinaryIO, most_bytes: int = MOST_BYTES) -> None:
        self._source, self._kept, self._most = source, kept, most_bytes
        self._size, self._ended = 0, False
        self._problem: str | None = None

    @contextlib.contextmanager
    def for_a_run(self) -> Iterator[BinaryIO | None]:
        """A handle of the run's own, from the first byte on. BadInput in the end where the
        program asked for more than is kept."""
        if self._source is None:
            yield None
            return
        again = _opened_again(self._source)
        if again is not None:
            with again:
                yield again
            return
        with self._pumped(self._source) as handle:
            yield handle
        if self._problem is not None:
            raise BadInput(self._problem, hint="let the program read a file: PROGRAM < FILE")

    @contextlib.contextmanager
    def _pumped(self, source: int) -> Iterator[BinaryIO]:
        outlet, inlet = os.pipe()
        over, end = os.pipe()
        thread = threading.Thread(target=self._pump, args=(source, inlet, over), daemon=True)
        thread.start()
        try:
            with os.fdopen(outlet, "rb") as handle:
                yield handle
        finally:  # now nobody reads: a pump that waits for a reader ends too
            os.close(end)
            thread.join()
            os.close(over)

    def _pump(self, source: int, inlet: int, over: int) -> None:
        try:
            with os.fdopen(inlet, "wb", buffering=0) as into:
                self._kept.seek(0)
                while chunk := self._kept.read(_CHUNK):
                    _write(into, chunk)
                while not self._ended and _ready(source, over):
                    chunk = os.read(source, _CHUNK)
                    if self._size + len(chunk) > self._most:
                        self._problem = (
                            f"the program read more than {self._most >> 20} MiB of its standard "
                            "input, which is a pipe: no more is kept for its other runs"
                        )
                        return
                    self._ended = not chunk
                    self._kept.write(chunk)
                    self._size += len(chunk)
                    _write(into, chunk)
        except BrokenPipeError:  # the run is over
            pass
        except OSError as error:
            self._problem = f"standard input cannot be kept: {error.strerror}"


@contextlib.contextmanager
def given(descriptor: int = 0) -> Iterator[Given]:
    """Our own standard input, if it is something that can be given on."""
    source = descriptor if _can_be_read(descriptor) else None
    with tempfile.TemporaryFile() as kept:
        yield Given(source, kept)


@contextlib.contextmanager
def nothing() -> Iterator[BinaryIO | None]:
    yield None


def _can_be_read(descriptor: int) -> bool:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    if os.isatty(descriptor) or os.path.samestat(found, Path(os.devnull).stat()):
        return False
    kinds = (stat.S_ISREG, stat.S_ISFIFO, stat.S_ISSOCK, stat.S_ISCHR)
    return any(kind(found.st_mode) for kind in kinds)


def _opened_again(descriptor: int) -> BinaryIO | None:
    """A file with a place of its own in it; None: it is a pipe, or nobody may open it again."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    try:
        again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    os.lseek(again, os.lseek(descriptor, 0, os.SEEK_CUR), os.SEEK_SET)
    return os.fdopen(again, "rb", buffering=0)


def _ready(source: int, over: int) -> bool:
    """Waits until something came, or its end; False: the run is over."""
    poll = select.poll()
    for descriptor in (source, over):
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return over not in [descriptor for descriptor, _ in poll.poll()]


def _write(into: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[into.write(view) :]
