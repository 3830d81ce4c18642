"""Every form an instruction can be written in, and what the manual says the form means.

The law each form obeys: an instruction with a constant, a scalar, a modifier, a select or a lane
permutation gives what its plain form gives on sources changed accordingly, with its result changed
accordingly. Which forms exist, how they are encoded and what an inline constant is worth to an
operand comes from LLVM's assembler; the changes themselves are numpy's.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.virtual.isa.op import WIDTH, Op
from rocm_perf_lab.virtual.isa.table import all_ops
from support.isa_machine import LANES, assemble_all, edges
from support.isa_saturate import saturated, saturates

Words = npt.NDArray[np.uint32]  # (registers, lanes)
Change = Callable[[Words], Words]

# Sources that are no vector operand, and instructions that move registers or lanes by themselves.
_NOT_VECTOR = {"mask", "lit", "slane", "sb32", "acc"}
_KINDS = {"valu", "cmp", "cmpx", "carry_out", "carry_in", "cndmask", "div_scale", "div_fmas", "pk_mov"}  # fmt: skip
# A float constant as an exponent has no documented meaning: an integer to the manual, a half to LLVM.
UNDOCUMENTED = {("v_ldexp_f16", 1)}
# Pairs of halves without op_sel: LLVM takes one sign for both, and nobody says whose it is.
_NO_SIGN = {"b16p"}

_HALF = {"0.5": 0x3800, "-4.0": 0xC400, "0.15915494": 0x3118}
_SINGLE = {"0.5": 0x3F000000, "-4.0": 0xC0800000, "0.15915494": 0x3E22F983}
_DOUBLE = {"0.5": 0x3FE0 << 48, "-4.0": 0xC010 << 48, "0.15915494": 0x3FC45F306DC9C882}
# How the assembler is asked: the constant spelled as the bits it may stand for.
_SPELLED = {"half": 0x3800, "single": 0x3F000000, "double": 0x3FE0 << 48}


@dataclass(frozen=True)
class Form:
    name: str  # what the coverage page counts
    text: str
    changes: dict[int, Change] = field(default_factory=dict)
    scalars: dict[int, int] = field(default_factory=dict)  # source -> SGPR that holds its value
    result: Callable[[Words, Words], Words] | None = None  # (plain result, old destination)
    # (sources, plain result, old destination), where the plain result does not tell enough
    exact: Callable[[Sequence[Words], Words, Words], Words] | None = None
    keep: int = 2**LANES - 1  # lanes that are written
    mode: int | None = None


def vector_ops(isa: str) -> list[Op]:
    return [
        op
        for op in all_ops()
        if op.encoding in ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P")
        and isa in op.arches
        and op.kind in _KINDS
        and not {"acc"} & {op.dst, *op.src}
        and op.dst != "b128"
    ]


def register(prefix: str, n: int, width: int) -> str:
    return f"{prefix}{n}" if width == 1 else f"{prefix}[{n}:{n + width - 1}]"


def source_register(k: int) -> int:
    return 8 + 4 * k


def write(op: Op, sources: Sequence[str] | None = None, suffix: str = "", tail: str = "") -> str:
    """The instruction as assembly; an encoding suffix where it has several encodings."""
    registers = [
        "s[40:41]" if t == "mask" else "0x40490fdb" if t == "lit" and "f32" in op.name
        else "0x4248" if t == "lit" else register("v", source_register(k), WIDTH[t])
        for k, t in enumerate(op.src)
    ]  # fmt: skip
    given = list(sources) if sources is not None else registers
    implicit = suffix in ("_e32", "_sdwa", "_dpp")
    if op.dst == "mask":
        head = ["vcc" if implicit else "s[20:21]"]
    else:
        head = [register("v", 4, WIDTH[op.dst])]
    if op.kind in ("carry_out", "carry_in", "div_scale"):
        head.append("vcc" if implicit else "s[24:25]")
    if implicit:
        given = ["vcc" if s == "s[40:41]" else s for s in given]
    return f"{op.name}{suffix} {', '.join([*head, *given])} {tail}".strip()


def plain_suffix(op: Op) -> str:
    """The encoding of the plain form: the long one, but where there is only the short one."""
    if op.encoding in ("VOP3", "VOP3P"):
        return ""
    return "_e32" if "novop3" in op.flags else "_e64"


def registers_of(op: Op) -> list[str]:
    return [
        "s[40:41]" if t == "mask" else register("v", source_register(k), WIDTH[t])
        for k, t in enumerate(op.src)
    ]


def precision_of_constants(
    ops: Sequence[Op], isa: str, tmp_path: Path
) -> dict[tuple[str, int], str]:
    """What an inline float constant is to each source: LLVM encodes the bits it stands for the same.

    "low" is a 16-bit integer source: no bits are encoded as a float constant, and what is read is
    the low half of the single-precision one (LLVM, SIInstrInfo::isInlineConstant).
    """
    keys: list[tuple[str, int, str]] = []
    texts: list[str] = []
    for op in ops:
        for k, t in enumerate(op.src):
            if t in _NOT_VECTOR:
                continue
            for spelling in ("0.5", *map(hex, _SPELLED.values())):
                sources = registers_of(op)
                sources[k] = spelling
                keys.append((op.name, k, spelling))
                texts.append(write(op, sources, plain_suffix(op)))
    code = dict(zip(keys, assemble_all(isa, texts, tmp_path, lenient=True), strict=True))
    found = {}
    for op in ops:
        for k, t in enumerate(op.src):
            if t in _NOT_VECTOR or (op.name, k) in UNDOCUMENTED:
                continue
            constant = code[op.name, k, "0.5"]
            if constant is None:
                continue
            found[op.name, k] = "low"
            for kind, bits in _SPELLED.items():
                if code[op.name, k, hex(bits)] == constant:
                    found[op.name, k] = kind
    return found


def words_of(value: int, width: int) -> Words:
    out = np.zeros((width, LANES), dtype=np.uint32)
    for n in range(width):
        out[n] = value >> (32 * n) & 0xFFFFFFFF
    return out


def _constant(value: int, width: int) -> Change:
    return lambda _: words_of(value, width)


def _float_constant(text: str, precision: str) -> int:
    if precision == "low":
        return _SINGLE[text] & 0xFFFF
    return {"half": _HALF, "single": _SINGLE, "double": _DOUBLE}[precision][text]


def _sign(bit: int, clear: bool, flip: bool) -> Change:
    def change(x: Words) -> Words:
        out = x.copy()
        word, mask = bit // 32, np.uint32(1 << (bit % 32))
        if clear:
            out[word] &= ~mask
        if flip:
            out[word] ^= mask
        return out

    return change


def _then(*changes: Change) -> Change:
    def change(x: Words) -> Words:
        for c in changes:
            x = c(x)
        return x

    return change


def _low_half(shift: int) -> Change:
    return lambda x: (x >> np.uint32(shift)) & np.uint32(0xFFFF)


def _select_halves(low: int, high: int) -> Change:
    """op_sel and op_sel_hi: which half of each word makes the low and the high half."""

    def change(x: Words) -> Words:
        if len(x) == 2:
            return np.stack([x[low], x[high]])
        part = [x & np.uint32(0xFFFF), x >> np.uint32(16)]
        return part[low] | (part[high] << np.uint32(16))

    return change


# --- constants and scalars ---------------------------------------------------------------------


def constant_forms(op: Op, precision: dict[tuple[str, int], str]) -> Iterator[Form]:
    for k, t in enumerate(op.src):
        if t in _NOT_VECTOR:
            continue
        width, base = WIDTH[t], registers_of(op)
        # Packed singles read one word of a constant: both halves of the result from it.
        tail, whole = "", width == 2 and t in ("f32x2", "b32x2")
        if whole:
            if t == "b32x2":
                continue
            hi = [1] * len(op.src)
            hi[k] = 0
            tail = f"op_sel_hi:{hi}".replace(" ", "")

        def put(value: int, whole: bool = whole, width: int = width) -> Change:
            if whole:
                return lambda _: np.concatenate([words_of(value, 1)] * 2)
            return _constant(value, width)

        for n in (0, 1, 64, -1, -16):
            base[k] = str(n)
            yield Form("inline integer", write(op, base, plain_suffix(op), tail), {k: put(n)})
        if (op.name, k) in precision and t != "mix":
            for text in _HALF:
                base[k] = text
                value = _float_constant(text, precision[op.name, k])
                form = write(op, base, plain_suffix(op), tail)
                yield Form("inline float", form, {k: put(value)})
        if t != "mix" and not whole:
            number = 44 + 2 * k
            base[k] = register("s", number, width)
            yield Form("scalar", write(op, base, plain_suffix(op)), scalars={k: number})
    if op.encoding in ("VOP1", "VOP2", "VOPC") and op.src and op.src[0] not in _NOT_VECTOR:
        sources = ["vcc" if s == "s[40:41]" else s for s in registers_of(op)]
        if "lit" in op.src:
            return
        t = op.src[0]
        small = precision.get((op.name, 0)) in ("half", "low") and t not in ("b16p", "f16dx2")
        bits = 0x4248 if small else 0xC0490FDB
        sources[0] = hex(bits)
        value = bits << 32 if t in ("f64", "f64r") else bits
        if t == "i64":
            value = bits - 2**32
        yield Form("literal", write(op, sources, "_e32"), {0: _constant(value, WIDTH[t])})


# --- modifiers of VOP3 and VOP3P -----------------------------------------------------------------

_SIGN_BIT = {"half": 15, "single": 31, "double": 63}


def modifier_forms(op: Op, precision: dict[tuple[str, int], str]) -> Iterator[Form]:
    if op.encoding == "VOP3P" or "novop3" in op.flags:
        return
    for k, t in enumerate(op.src):
        bit = _SIGN_BIT.get(precision.get((op.name, k), ""))
        if bit is None or t in _NOT_VECTOR or t in _NO_SIGN:
            continue
        for name, text, clear, flip in (
            ("neg", "-{}", False, True), ("abs", "|{}|", True, False), ("neg of abs", "-|{}|", True, True),
        ):  # fmt: skip
            sources = registers_of(op)
            sources[k] = text.format(sources[k])
            yield Form(name, write(op, sources, plain_suffix(op)), {k: _sign(bit, clear, flip)})
        sources = registers_of(op)
        sources[k] = "-|-4.0|"
        value = _float_constant("-4.0", precision[op.name, k])
        yield Form(
            "neg of a constant", write(op, sources, plain_suffix(op)),
            {k: _then(_constant(value, WIDTH[t]), _sign(bit, True, True))},
        )  # fmt: skip
    yield from _op_sel_forms(op)
    yield from _result_forms(op, plain_suffix(op), "")


def _op_sel_forms(op: Op) -> Iterator[Form]:
    halves = "opsel" in op.flags
    if not halves:
        return
    n = len(op.src)
    half_result = op.dst in ("f16", "u16", "i16", "b16", "f16d")
    narrow = [WIDTH[t] == 1 and t in ("f16", "u16", "i16", "b16", "f16d") for t in op.src]
    for bits in range(1, 2 ** (n + 1)):
        sel = [bits >> k & 1 for k in range(n + 1)]
        if any(s and not small for s, small in zip(sel, narrow, strict=False)):
            continue
        if sel[n] and not half_result:
            continue  # there is no half to choose
        changes = {k: _low_half(16) for k in range(n) if sel[k]}
        result = _high_half_written if sel[n] else None
        text = write(op, None, plain_suffix(op), f"op_sel:{sel}".replace(" ", ""))
        yield Form("op_sel", text, changes, result=result)


def _high_half_written(plain: Words, old: Words) -> Words:
    return (old & np.uint32(0xFFFF)) | (plain << np.uint32(16))


def _result_forms(op: Op, suffix: str, tail: str) -> Iterator[Form]:
    """clamp and omod of a floating-point result; both are defined only with denormals flushed."""
    kind = {"f16": np.float16, "f16d": np.float16, "f32": np.float32, "f64": np.float64,
            "f32x2": np.float32, "f16x2": np.float16, "f16dx2": np.float16}.get(op.dst)  # fmt: skip
    if kind is None or op.kind not in ("valu", "div_fmas"):
        return

    def by(f: Callable[[Any], Any]) -> Callable[[Words, Words], Words]:
        def change(plain: Words, old: Words) -> Words:
            if kind is np.float64:
                x = np.ascontiguousarray(plain.T).view(np.float64).ravel()
                return np.asarray(f(x).astype(np.float64).view(np.uint32).reshape(LANES, 2).T)
            if kind is np.float32:
                return np.asarray(f(plain.view(np.float32)).astype(np.float32).view(np.uint32))
            if op.dst in ("f16x2", "f16dx2"):
                halves = np.ascontiguousarray(plain).view(np.float16)
                return np.asarray(f(halves).astype(np.float16).view(np.uint32))
            shift = np.uint32(16 if "dsthi" in op.flags else 0)
            value = f((plain >> shift & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16))
            half = value.astype(np.float16).view(np.uint16).astype(np.uint32)
            return np.asarray(half << shift | (plain & ~(np.uint32(0xFFFF) << shift)))

        return change

    def clamp(x: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return np.where(np.isnan(x) | (x <= 0), x.dtype.type(0), np.minimum(x, x.dtype.type(1)))

    def scaled(factor: float) -> Callable[[Any], Any]:
        def flush(x: Any) -> Any:
            if x.dtype == np.float16:
                return x  # the executor keeps denormal halves in every mode, and says so
            return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)

        return lambda x: flush(flush(x) * x.dtype.type(factor))

    yield Form("clamp", write(op, None, suffix, f"{tail} clamp"), result=by(clamp))
    for text, factor in (("mul:2", 2), ("mul:4", 4), ("div:2", 0.5)):
        yield Form(
            "omod", write(op, None, suffix, f"{tail} {text}"),
            result=by(scaled(factor)), mode=0x100,
        )  # fmt: skip


def packed_forms(op: Op, precision: dict[tuple[str, int], str]) -> Iterator[Form]:
    if op.encoding != "VOP3P":
        return
    n = len(op.src)
    packed = [t for t in op.src if t.endswith("x2")]
    mix = "mix" in op.src
    if not packed and not mix:
        return
    for k, t in enumerate(op.src):
        if t == "mix":
            yield from _mixed_forms(op, k)
            continue
        if not t.endswith("x2"):
            continue
        for low in (0, 1):
            for high in (0, 1):
                if op.kind == "pk_mov":
                    continue
                sel, hi = [0] * n, [1] * n
                sel[k], hi[k] = low, high
                tail = f"op_sel:{sel} op_sel_hi:{hi}".replace(", ", ",")
                yield Form("op_sel", write(op, None, "", tail), {k: _select_halves(low, high)})
                if WIDTH[t] > 1:
                    continue
                for text in _HALF:
                    sources = registers_of(op)
                    sources[k] = text
                    value = _float_constant(text, precision[op.name, k])
                    yield Form(
                        "op_sel of a constant", write(op, sources, "", tail),
                        {k: _then(_constant(value, 1), _select_halves(low, high))},
                    )  # fmt: skip
        if t in ("f16x2", "f16dx2", "b16x2", "f32x2"):
            for lo, hi_ in ((1, 0), (0, 1), (1, 1)):
                neg_lo, neg_hi = [0] * n, [0] * n
                neg_lo[k], neg_hi[k] = lo, hi_
                top = 63 if t == "f32x2" else 31
                change = _then(_sign(top // 2, False, bool(lo)), _sign(top, False, bool(hi_)))
                tail = f"neg_lo:{neg_lo} neg_hi:{neg_hi}".replace(", ", ",")
                yield Form("neg", write(op, None, "", tail), {k: change})
    yield from _result_forms(op, "", "")


def _mixed_forms(op: Op, k: int) -> Iterator[Form]:
    """Each source is a single, or the half op_sel names; the plain form reads singles."""

    def widen(shift: int) -> Change:
        def change(x: Words) -> Words:
            half = ((x >> np.uint32(shift)) & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16)
            return np.asarray(half.astype(np.float32).view(np.uint32))

        return change

    n = len(op.src)
    for is_half, high in ((0, 0), (1, 0), (1, 1)):
        sel, hi = [0] * n, [0] * n
        sel[k], hi[k] = high, is_half
        tail = f"op_sel:{sel} op_sel_hi:{hi}".replace(", ", ",")
        wide = widen(16 * high) if is_half else (lambda x: x)
        for name, text, clear, flip in (
            ("op_sel", "{}", False, False), ("neg", "-{}", False, True),
            ("abs", "|{}|", True, False), ("neg of abs", "-|{}|", True, True),
        ):  # fmt: skip
            sources = registers_of(op)
            sources[k] = text.format(sources[k])
            change = _then(wide, _sign(31, clear, flip))
            yield Form(name, write(op, sources, "", tail), {k: change})
        for text in (*_HALF, "1", "64", "-16"):
            sources = registers_of(op)
            sources[k] = text
            if text in _HALF:
                value = (_HALF if is_half else _SINGLE)[text]
            else:
                value = int(text)
            yield Form(
                "op_sel of a constant", write(op, sources, "", tail),
                {k: _then(_constant(value, 1), wide)},
            )  # fmt: skip


# --- SDWA and DPP --------------------------------------------------------------------------------

_SELECTS = {"BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8),
            "WORD_0": (0, 16), "WORD_1": (16, 16), "DWORD": (0, 32)}  # fmt: skip


def _extract(name: str, signed: bool) -> Change:
    shift, bits = _SELECTS[name]

    def change(x: Words) -> Words:
        if bits == 32:
            return x
        up = np.uint32(32 - bits - shift)
        if signed:
            return ((x << up).view(np.int32) >> np.int32(32 - bits)).view(np.uint32)
        return (x << up) >> np.uint32(32 - bits)

    return change


def _insert(name: str, unused: str) -> Callable[[Words, Words], Words]:
    shift, bits = _SELECTS[name]

    def change(plain: Words, old: Words) -> Words:
        if bits == 32:
            return plain
        mask = np.uint32(((1 << bits) - 1) << shift)
        value = (plain << np.uint32(shift)) & mask
        if unused == "UNUSED_PRESERVE":
            return value | (old & ~mask)
        if unused == "UNUSED_SEXT":
            up = np.uint32(32 - bits - shift)
            return ((value << up).view(np.int32) >> up.view(np.int32)).view(np.uint32)
        return value

    return change


def sdwa_forms(op: Op, precision: dict[tuple[str, int], str]) -> Iterator[Form]:
    if op.encoding not in ("VOP1", "VOP2", "VOPC") or not op.src or "lit" in op.src:
        return
    n = sum(t != "mask" for t in op.src)
    width = WIDTH.get(op.dst, 1)

    def tail(
        k: int = -1, sel: str = "DWORD", dst: str = "DWORD", unused: str = "UNUSED_PAD"
    ) -> str:
        head = "" if op.dst == "mask" or width > 1 else f"dst_sel:{dst} dst_unused:{unused} "
        return head + " ".join(f"src{j}_sel:{sel if j == k else 'DWORD'}" for j in range(n))

    for k in range(n):
        for sel in _SELECTS:
            sources = registers_of(op)
            yield Form(
                "SDWA select", write(op, sources, "_sdwa", tail(k, sel)), {k: _extract(sel, False)}
            )
            # Of a pair of halves LLVM 22 reads sext, but encodes nothing of it: floats have no such form.
            if op.src[k] != "f16dx2":
                sources[k] = f"sext({sources[k]})"
                yield Form(
                    "SDWA sext", write(op, sources, "_sdwa", tail(k, sel)), {k: _extract(sel, True)}
                )
            bit = _SIGN_BIT.get(precision.get((op.name, k), ""))
            if bit is not None:
                sources = registers_of(op)
                sources[k] = f"-|{sources[k]}|"
                change = _then(_extract(sel, False), _sign(bit, True, True))
                yield Form("SDWA neg, abs", write(op, sources, "_sdwa", tail(k, sel)), {k: change})
        sources = registers_of(op)
        sources[k] = f"s{44 + 2 * k}"
        form = write(op, sources, "_sdwa", tail(k, "WORD_1"))
        yield Form("SDWA scalar", form, {k: _extract("WORD_1", False)}, {k: 44 + 2 * k})
    if op.dst != "mask" and width == 1:
        for dst in _SELECTS:
            for unused in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"):
                form = write(op, None, "_sdwa", tail(dst=dst, unused=unused))
                yield Form("SDWA destination", form, result=_insert(dst, unused))


def _lanes(pick: Callable[[int], int]) -> tuple[npt.NDArray[np.int64], int]:
    """Where each lane reads, and the lanes that read something."""
    source = np.array([pick(lane) for lane in range(LANES)])
    return np.maximum(source, 0), sum(1 << lane for lane in range(LANES) if source[lane] >= 0)


_PERMUTATIONS: dict[str, Callable[[int], int]] = {
    "quad_perm:[2,0,3,1]": lambda i: i & ~3 | (2, 0, 3, 1)[i & 3],
    "row_shl:3": lambda i: i + 3 if (i & 15) + 3 < 16 else -1,
    "row_shr:1": lambda i: i - 1 if i & 15 else -1,
    "row_ror:5": lambda i: i & ~15 | (i - 5) & 15,
    "row_mirror": lambda i: i & ~15 | 15 - (i & 15),
    "row_half_mirror": lambda i: i & ~7 | 7 - (i & 7),
    "wave_shr:1": lambda i: i - 1,
    "wave_ror:1": lambda i: (i - 1) & 63,
    "row_bcast:15": lambda i: (i & ~15) - 1,
    "row_bcast:31": lambda i: 31 if i >= 32 else -1,
    "row_newbcast:6": lambda i: i & ~15 | 6,
}


def dpp_forms(op: Op, precision: dict[tuple[str, int], str]) -> Iterator[Form]:
    if op.encoding not in ("VOP1", "VOP2", "VOPC") or not op.src or "lit" in op.src:
        return
    for text, pick in _PERMUTATIONS.items():
        source, reads = _lanes(pick)

        def move(x: Words, source: Any = source, reads: int = reads) -> Words:
            alive = np.array([reads >> lane & 1 for lane in range(LANES)], dtype=np.uint32)
            return np.asarray(x[:, source] * alive)

        masks = "row_mask:0xf bank_mask:0xf"
        # Without bound_ctrl a lane that reads nothing is not written; with it, it reads zero.
        yield Form("DPP", write(op, None, "_dpp", f"{text} {masks}"), {0: move}, keep=reads)
        form = write(op, None, "_dpp", f"{text} {masks} bound_ctrl:0")
        yield Form("DPP bound_ctrl", form, {0: move})
        rows, banks = 0x5, 0xB
        keep = sum(
            1 << lane for lane in range(LANES)
            if rows >> (lane // 16) & 1 and banks >> (lane // 4 % 4) & 1
        )  # fmt: skip
        masked = write(op, None, "_dpp", f"{text} row_mask:0x5 bank_mask:0xb bound_ctrl:0")
        yield Form("DPP masks", masked, {0: move}, keep=keep)
        bit = _SIGN_BIT.get(precision.get((op.name, 0), ""))
        if bit is not None and op.src[0] not in _NO_SIGN:
            sources = registers_of(op)
            sources[0] = f"-|{sources[0]}|"
            change = _then(move, _sign(bit, True, True))
            signed = write(op, sources, "_dpp", f"{text} {masks} bound_ctrl:0")
            yield Form("DPP neg, abs", signed, {0: change})


def saturated_forms(op: Op, precision: dict[tuple[str, int], str]) -> Iterator[Form]:
    """clamp of an integer result."""
    if saturates(op):
        text = write(op, None, plain_suffix(op), "clamp")
        yield Form(
            "clamp of integers", text, exact=lambda s, plain, old: saturated(op, s, plain, old)
        )


def forms_of(op: Op, precision: dict[tuple[str, int], str]) -> list[Form]:
    makers = (
        constant_forms, modifier_forms, packed_forms, saturated_forms, sdwa_forms, dpp_forms,
    )  # fmt: skip
    return [form for make in makers for form in make(op, precision)]


def values_for(t: str, seed: int) -> Words:
    """Lane values of one source: corner cases of its type in every part of the register."""
    if t in ("f64", "f64r"):
        words = np.ascontiguousarray(edges(np.float64, seed)).view(np.uint32).reshape(LANES, 2)
        return np.ascontiguousarray(words.T)
    if t in ("f32", "f32r"):
        return edges(np.float32, seed).view(np.uint32).reshape(1, LANES).copy()
    if "f16" in t or t in ("mix", "b16x2"):
        low = edges(np.float16, seed).view(np.uint16).astype(np.uint32)
        high = edges(np.float16, seed + 2).view(np.uint16).astype(np.uint32)
        return (low | high[::-1] << np.uint32(16)).reshape(1, LANES)
    if t == "f32x2":
        return np.stack([edges(np.float32, seed + n).view(np.uint32) for n in range(2)])
    return np.stack([edges(np.uint32, seed + n) for n in range(WIDTH[t])])
