"""seccomp: which system calls a program may make, from now on. By number, so by architecture."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator

from rocm_perf_lab.optimize.libc import prctl, syscall

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # as the kernel calls them
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_X32 = 0x40000000
_NONE = -1  # the architecture has no such call

# name: its number on x86_64, on aarch64. Doors of the kernel that no compiler or HIP program uses:
# other processes' memory and priority, mounts and namespaces, sockets of every family, keys,
# modules, clocks, other ways to open files, owners and extended attributes.
DENIED = {
    "socket": (41, 198), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "perf_event_open": (298, 241),
    "setpriority": (141, 140), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274), "ioprio_set": (251, 30),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "swapon": (167, 224), "swapoff": (168, 225),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "init_module": (175, 105), "delete_module": (176, 106), "finit_module": (313, 273),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "bpf": (321, 280), "userfaultfd": (323, 282), "uselib": (134, _NONE), "acct": (163, 89),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, _NONE), "ioperm": (173, _NONE), "syslog": (103, 116),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "chown": (92, _NONE), "lchown": (94, _NONE), "fchown": (93, 55), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip
# Calls that change the mode or the dates of a file, which only their supervisor may do.
ATTRIBUTES = {
    "chmod": (90, _NONE), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, _NONE), "utimes": (235, _NONE), "futimesat": (261, _NONE),
    "utimensat": (280, 88),
}  # fmt: skip
_CLONE, _CLONE3, _IOCTL, _PRLIMIT, _SET_AFFINITY = (56, 220), (435, 435), (16, 29), (302, 261), (203, 122)  # noqa: E501  # fmt: skip
_NEW_NAMESPACES = 0x7E020080
# Input put into a terminal; flags, labels and seals of files that were opened only to be read.
_IOCTLS = (
    0x5412, 0x541C, 0x40086602, 0x40046602, 0x401C5820, 0x40806685, 0x800C6613, 0x40106614,
)  # fmt: skip

_ALLOW, _ERRNO, _NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
_DENY = _ERRNO | errno.EACCES
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_SET_SECCOMP, _FILTER = 22, 2
_NEW_LISTENER, _SET_MODE_FILTER = 1 << 3, 1

Line = tuple[int, int, int, int]


def known() -> bool:
    return platform.machine() in _ARCHITECTURES


def numbers(names: dict[str, tuple[int, int]]) -> dict[int, str]:
    column = list(_ARCHITECTURES).index(platform.machine())
    return {pair[column]: name for name, pair in names.items() if pair[column] != _NONE}


def restrict(*, supervised: bool, alone: bool) -> int | None:
    """`supervised`: attributes of files go to a supervisor, who answers at the descriptor that is
    returned. `alone`: no process of anyone else can be named."""
    lines = list(_program(supervised, alone))
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(lines), ctypes.addressof(buffer))
    if not supervised:
        words = ctypes.create_string_buffer(header, len(header))
        prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(words))
        return None
    return syscall(_SECCOMP[platform.machine()], _SET_MODE_FILTER, _NEW_LISTENER, header)


def _program(supervised: bool, alone: bool) -> Iterator[Line]:
    machine = platform.machine()
    column = list(_ARCHITECTURES).index(machine)
    yield (_LOAD, 0, 0, 4)
    yield (_EQUAL, 1, 0, _ARCHITECTURES[machine])
    yield (_RETURN, 0, 0, _DENY)
    yield (_LOAD, 0, 0, 0)
    if machine == "x86_64":
        yield from _if(_AT_LEAST, _X32, _DENY)
    for number in numbers(DENIED):
        yield from _if(_EQUAL, number, _DENY)
    for number in numbers(ATTRIBUTES) if supervised else ():
        yield from _if(_EQUAL, number, _NOTIFY)
    # Its flags are in memory: the C library falls back to `clone`, whose are not.
    yield from _if(_EQUAL, _CLONE3[column], _ERRNO | errno.ENOSYS)
    yield from _argument(_CLONE[column], 0, [(_ANY_BIT, _NEW_NAMESPACES, True)])
    yield from _argument(_IOCTL[column], 1, [(_EQUAL, each, True) for each in _IOCTLS])
    yield from _argument(_PRLIMIT[column], 0, [(_EQUAL, 0, False)])
    if not alone:
        yield from _argument(_SET_AFFINITY[column], 0, [(_EQUAL, 0, False)])
    yield (_RETURN, 0, 0, _ALLOW)


def _if(test: int, value: int, action: int) -> Iterator[Line]:
    yield (test, 0, 1, value)
    yield (_RETURN, 0, 0, action)


def _argument(number: int, which: int, tests: list[tuple[int, int, bool]]) -> Iterator[Line]:
    """Deny a call by the lower half of one argument: where a test is as it says."""
    inside: list[Line] = [(_LOAD, 0, 0, 16 + 8 * which)]
    for test, value, so in tests:
        inside += [(test, 0 if so else 1, 1 if so else 0, value), (_RETURN, 0, 0, _DENY)]
    yield (_EQUAL, 0, len(inside) + 1, number)
    yield from inside
    yield (_RETURN, 0, 0, _ALLOW)
