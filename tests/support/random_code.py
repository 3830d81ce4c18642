"""Random instructions of the ISA table, in machine code: any operands, modifiers and encodings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from rocm_perf_lab.virtual.isa.op import WIDTH, Op
from rocm_perf_lab.virtual.isa.table import all_ops, vop3_code
from support.isa_machine import disassemble

VECTORS, SCALARS = 24, 40  # registers that are used
END = bytes.fromhex("000081bf")  # s_endpgm
KINDS = frozenset(
    {
        "valu", "salu", "cmp", "cmpx", "carry_out", "carry_in", "cndmask", "div_scale", "div_fmas",
        "mbcnt_lo", "mbcnt_hi", "pk_mov", "readfirstlane", "readlane", "writelane", "nothing",
    }
)  # fmt: skip


def _vector(rng: random.Random) -> int:
    return rng.randrange(VECTORS)


def _source(rng: random.Random) -> int:
    """A 9-bit operand: a vector register, a scalar one, a constant, vcc."""
    kind = rng.randrange(10)
    if kind < 5:
        return 256 + _vector(rng)
    if kind < 7:
        return rng.randrange(0, SCALARS, 2)
    if kind == 7:
        return 106
    return rng.choice((*range(128, 209, 5), *range(240, 249)))


def _scalar(rng: random.Random) -> int:
    kind = rng.randrange(10)
    if kind < 6:
        return rng.randrange(0, SCALARS, 2)
    if kind == 6:
        return rng.choice((106, 126, 253))
    return rng.choice((*range(128, 209, 5), *range(240, 249)))


def _short(op: Op, rng: random.Random) -> Sequence[int]:
    """VOP1, VOP2 or VOPC, now and then with SDWA or DPP."""
    tail: tuple[int, ...] = ()
    source = _source(rng)
    way = rng.randrange(6)
    if way == 0 and "nosdwa" not in op.flags:
        source = 249
        tail = (_vector(rng) | rng.getrandbits(24) << 8 & 0x3F3F_3F00 & ~0x0000_C000,)
    elif way == 1 and "nodpp" not in op.flags:
        source = 250
        control = rng.choice((0x1B, 0x4E, 0x101, 0x111, 0x121, 0x140, 0x141, 0x142, 0x150))
        masks = rng.choice((0xFF, 0xF7, 0xEF))
        tail = (_vector(rng) | control << 8 | rng.getrandbits(1) << 19 | masks << 24,)
    low = source | _vector(rng) << 9
    if op.encoding == "VOPC":
        return 0x7C000000 | op.code << 17 | low, *tail
    if op.encoding == "VOP2":
        return op.code << 25 | _vector(rng) << 17 | low, *tail
    destination = rng.randrange(0, SCALARS) if op.dst == "sgpr" else _vector(rng)
    return 0x7E000000 | destination << 17 | op.code << 9 | source, *tail


def _long(op: Op, rng: random.Random) -> Sequence[int]:
    """VOP3 and VOP3P."""
    code = op.code if op.encoding in ("VOP3", "VOP3P") else vop3_code(op)
    if code is None:
        return ()
    destination = _vector(rng)
    if op.dst in ("mask", "sgpr"):
        destination = rng.choice((*range(0, SCALARS, 2), 106))
    sources = [_source(rng) for _ in range(3)]
    for k, kind in enumerate(op.src):
        if kind == "mask":
            sources[k] = rng.choice((*range(0, SCALARS, 2), 106))
    plain = rng.random() < 0.5
    signs = 0 if plain else rng.getrandbits(3)
    if op.encoding == "VOP3P":
        first = 0xD3800000 | code << 16 | destination | (0 if plain else rng.getrandbits(3) << 11)
        first |= 0x4000 | (0 if plain else rng.getrandbits(3) << 8 | rng.getrandbits(1) << 15)
        selects = 3 if plain else rng.getrandbits(2)
        return first, _joined(sources) | selects << 27 | signs << 29
    middle = 0 if plain else rng.getrandbits(3) << 8 | rng.getrandbits(4) << 11
    if op.kind in ("carry_out", "carry_in", "div_scale"):
        middle = rng.randrange(0, SCALARS, 2) << 8
    clamp = 0 if rng.random() < 0.8 else 1
    return 0xD0000000 | code << 16 | destination | middle | clamp << 15, _joined(
        sources
    ) | signs << 29


def _joined(sources: Sequence[int]) -> int:
    return sources[0] | sources[1] << 9 | sources[2] << 18


def _scalar_op(op: Op, rng: random.Random) -> Sequence[int]:
    d, a, b = rng.randrange(0, SCALARS, 2), _scalar(rng), _scalar(rng)
    if rng.random() < 0.1:
        d = 106
    if op.encoding == "SOP1":
        return (0xBE800000 | d << 16 | op.code << 8 | a,)
    if op.encoding == "SOP2":
        return (0x80000000 | op.code << 23 | d << 16 | b << 8 | a,)
    if op.encoding == "SOPC":
        return (0xBF000000 | op.code << 16 | b << 8 | a,)
    if op.encoding == "SOPK":
        return (0xB0000000 | op.code << 23 | d << 16 | rng.getrandbits(16),)
    return ()


def _encoder(op: Op, rng: random.Random) -> Callable[[Op, random.Random], Sequence[int]]:
    if op.kind == "salu":
        return _scalar_op
    return _short if op.encoding in ("VOP1", "VOP2", "VOPC") and rng.random() < 0.6 else _long


def instructions(isa: str, count: int, seed: int) -> bytes:
    """So many that the decoder knows, with a new EXEC now and then."""
    rng = random.Random(seed)
    ops = [
        op for op in all_ops()
        if op.kind in KINDS and isa in op.arches and "i->pc" not in op.body
        and op.encoding[:2] != "DS" and all(WIDTH.get(t, 1) <= 4 for t in (op.dst, *op.src))
    ]  # fmt: skip
    code = b""
    while count:
        op = rng.choice(ops)
        words = _encoder(op, rng)(op, rng)
        text = b"".join(word.to_bytes(4, "little") for word in words)
        if not text:
            continue
        shown, used = disassemble(isa, text + END)
        if used != len(text) or "?" in shown or not shown.startswith(op.name.split("_e")[0]):
            continue
        code += text
        count -= 1
        if rng.random() < 0.08:
            pair = rng.choice((40, 42, 193, 193))  # s_mov_b64 exec, s[40:41], s[42:43] or -1
            code += (0xBE800000 | 126 << 16 | 1 << 8 | pair).to_bytes(4, "little")
    return code + END
