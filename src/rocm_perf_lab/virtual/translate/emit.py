"""A kernel's blocks as C++.

Vector instructions that follow each other become one loop over lanes, in which registers are
variables: they are read from the wave where it begins and written back where it ends. What one lane
does is the ISA table's body. What has no loop is a call of the interpreter's function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rocm_perf_lab.virtual.isa.generate import LANE, dst_half, salu_function, valu_struct
from rocm_perf_lab.virtual.isa.op import WIDTH, Op
from rocm_perf_lab.virtual.translate import accesses, blocks
from rocm_perf_lab.virtual.translate.blocks import Block
from rocm_perf_lab.virtual.translate.request import Instruction, Kind, Request, Source

VCC, EXEC = 106, 126
LONGEST = 160  # instructions of a loop
_INLINE = frozenset(
    {
        "valu", "cmp", "cmpx", "carry_out", "carry_in", "cndmask", "div_scale", "div_fmas",
        "mbcnt_lo", "mbcnt_hi", "pk_mov",
    }
)  # fmt: skip


def sources_of(op: Op) -> list[str]:
    """Types of a vector instruction's operands; the last may be the destination's old value."""
    types = [*op.src, *([op.dst] if "old" in op.flags else [])]
    if "f16" in op.name and op.name.startswith(("v_madmk", "v_madak")):
        types = ["f16" if t == "lit" else t for t in types]
    return types


class Loop:
    """Instructions that go through a strip of lanes together."""

    def __init__(self) -> None:
        self.before: list[str] = []  # scalars
        self.body: list[str] = []  # one lane
        self.count = 0
        self._rows: dict[int, str] = {}
        self._pairs: dict[int, str] = {}
        self._loaded: dict[int, None] = {}
        self._written: dict[int, None] = {}
        self._known: dict[str, str] = {}  # scalars that were read, and masks
        self._names = 0
        self.flags: dict[int, str] = {}  # masks that lanes have made, by scalar register

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    # ---- registers of a lane

    def row(self, number: int) -> str:
        if number not in self._rows:
            self._loaded[number] = None
            self._rows[number] = f"r{number}"
        return self._rows[number]

    def pair(self, number: int) -> str:
        if number in self._pairs:
            return self._pairs[number]
        return f"join({self.row(number)}, {self.row(number + 1)})"

    def put(self, number: int, text: str) -> None:
        name = self.name("t")
        self.body.append(f"const u32 {name} = {text};")
        self._set(number, name)
        for near in (number - 1, number):
            self._pairs.pop(near, None)

    def put_pair(self, number: int, text: str) -> None:
        name = self.name("q")
        self.body.append(f"const u64 {name} = {text};")
        for near in (number - 1, number + 1):
            self._pairs.pop(near, None)
        self._set(number, f"u32({name})")
        self._set(number + 1, f"u32({name} >> 32)")
        self._pairs[number] = name

    def _set(self, number: int, text: str) -> None:
        self._rows[number] = text
        self._written[number] = None

    def touches(self, number: int) -> bool:
        return number in self._written

    # ---- scalars and masks

    def scalar(self, code: int, wide: bool) -> str:
        text = f"pair(w, {code})" if wide else f"w.sgpr[{code}]"
        if text not in self._known:
            self._known[text] = self.name("k")
            self.before.append(f"const {'u64' if wide else 'u32'} {self._known[text]} = {text};")
        return self._known[text]

    def forget(self, codes: Iterable[int]) -> None:
        """These scalars were written."""
        for code in codes:
            for text in (f"w.sgpr[{code}]", f"pair(w, {code})", f"pair(w, {code - 1})"):
                self._known.pop(text, None)
                self._known.pop(f"mask {text}", None)

    def mask(self, code: int) -> str:
        """Of a lane, a word of ones or noughts."""
        if code in self.flags:
            return self.flags[code]
        key = f"mask pair(w, {code})"
        if key not in self._known:
            self._known[key] = name = self.name("m")
            self.before.append(f"u32 {name}[64]; expand(pair(w, {code}), {name});")
        return f"{self._known[key]}[s + l]"

    def put_flag(self, code: int, text: str) -> None:
        name = self.name("f")
        self.body.append(f"const u32 {name} = {text};")
        self.flags[code] = name

    # ---- the loop

    def lines(self) -> Iterator[str]:
        yield from self.before
        if not self.body:
            return
        for masked in (False, True):
            yield "} else {" if masked else "if (w.exec == kAll) {"
            if masked:
                yield "[[maybe_unused]] const u32* on = mask_row(w); const u64 exec = w.exec;"
            for code in self.flags:
                yield f"u64 made{code} = 0;"
            yield "STRIPS {"
            if masked:
                yield "if (!(u16(exec >> s))) continue;"
            for code in self.flags:
                yield f"u32 lane{code}[kStrip];"
            yield "LANES {"
            for row in self._loaded:
                yield f"[[maybe_unused]] const u32 r{row} = w.vgpr[{row}][s + l];"
            yield from self.body
            for row in self._written:
                new = self._rows[row]
                if masked:
                    new = f"blend(on[s + l], {new}, w.vgpr[{row}][s + l])"
                yield f"w.vgpr[{row}][s + l] = {new};"
            for code, name in self.flags.items():
                yield f"lane{code}[l] = {name};"
            yield "}"
            for code in self.flags:
                yield f"made{code} |= collect(lane{code}) << s;"
            yield "}"
            for code in self.flags:
                made = f"made{code} & exec" if masked else f"made{code}"
                yield f"write_pair(w, {code}, {made});"
        yield "}"


class Emitter:
    def __init__(self, block: Block, known: set[int]) -> None:
        self.block, self.known = block, known
        self.ops: dict[int, Op] = {}
        self.checks = accesses.checks(block.instructions)
        self.loop = Loop()
        self.text: list[str] = []

    def function(self) -> str:
        first, end = self.block.at, self.block.goes_on
        counted = Counter(i.cls for i in self.block.instructions)
        total = len(self.block.instructions)
        self.text = [
            f"if (w.executed + {total} > until) return h;",
            f"w.executed += {total};",
            *(f"w.counts[{cls}] += {count};" for cls, count in sorted(counted.items())),
        ]
        for i in self.block.instructions:
            self._one(i)
        self._end_loop()
        if self.block.instructions[-1].op.kind != "branch":
            self.text.append(self._go(end))
        lines = "\n  ".join(self.text)
        return (
            f"const Inst* {name_of(first)}(Wave& w, const Inst* h, u64 until) {{\n  {lines}\n}}\n"
        )

    # ---- where it goes on

    def _place(self, at: int) -> str:
        return f"h + {at - self.block.at}" if at >= self.block.at else f"h - {self.block.at - at}"

    def _go(self, at: int | None) -> str:
        assert at is not None
        if at in self.known:
            return f"[[clang::musttail]] return {name_of(at)}(w, {self._place(at)}, until);"
        return f"return {self._place(at)};"

    # ---- instructions

    def _one(self, i: Instruction) -> None:
        kind = i.op.kind
        if kind == "nothing" or (kind == "waitcnt" and not blocks.waits_for_memory(i)):
            return
        if kind == "waitcnt":
            self._end_loop()
            rest = f"{self._place(i.at)}, {self._place(self._end)}"
            self.text.append(f"if (w.together) return uncounted(w, {rest});")
        elif kind == "branch":
            self._end_loop()
            assert i.target is not None
            if i.op.params["cond"] in ("true", "1"):
                self.text.append(self._go(i.target))
            else:
                self.text.append(f"if ({i.op.params['cond']}) {self._go(i.target)}")
                self.text.append(self._go(i.next))
        elif kind == "salu" and "i->pc" not in i.op.body:
            self._scalar(i)
        elif kind in ("readfirstlane", "readlane") and self._read_lane(i):
            pass
        elif kind in _INLINE and self._vector(i):
            self.loop.count += 1
            if kind == "cmpx" or self.loop.count >= LONGEST:
                self._end_loop()
                if kind == "cmpx":
                    self.text.append(f"w.exec = pair(w, {i.sdst});")
        else:
            self._call(i, self._shortcut(i))

    @property
    def _end(self) -> int:
        return self.block.instructions[-1].next

    def _end_loop(self) -> None:
        lines = list(self.loop.lines())
        if lines:
            self.text += ["{", *lines, "}"]
        self.loop = Loop()

    def _call(self, i: Instruction, shortcut: str | None) -> None:
        """The interpreter's function; a shortcut says whether it was not needed."""
        self._end_loop()
        at = self._place(i.at)
        rest = f"{self._place(i.next)}, {self._place(self._end)}"
        quick = f"!({shortcut}) && " if shortcut else ""
        done = f"if ({quick}!interpreted(w, {at})) return stopped(w, {rest});"
        self.text.append(f"{done}  // {i.op.name}")

    def _shortcut(self, i: Instruction) -> str | None:
        if i.op.kind == "ds_bpermute":
            a, b, _ = i.src
            return f"permute(w, {i.dst}, {a.code}, {b.code}, {i.imm & 0xFFFF})"
        found = accesses.access(i)
        if found is None:
            return None
        check, first = self.checks[i.at]
        if check.shared == 1 and found.space == "global" and not found.write:
            return self._once(i, found)
        if first:
            self._end_loop()
            self.text.append(f"const Place {check.name} = {self._placed(i, found, check)};")
        way = "store" if found.write else "load"
        name = f"global_{way}" if found.space == "global" else way
        return " && ".join(
            f"{name}<{regs}>(w, {check.name}, {register}, {found.row}, {at - check.low})"
            for at, register, regs in found.parts
        )

    def _once(self, i: Instruction, found: accesses.Access) -> str:
        """A load with its own check; under a mask, or into its addresses, check and load apart."""
        ((at, register, regs),) = found.parts
        base = "" if found.base is None else f"pair(w, {found.base}) + "
        where = f"{found.row}, {base}u64(i64({at})), {_bool(found.base is None)}"
        checked = f"placed(w, {self._place(i.at)}, {where}, {4 * regs}, false)"
        apart = f"global_load<{regs}>(w, {checked}, {register}, {found.row}, 0)"
        used = {found.row, found.row + 1} if found.base is None else {found.row}
        if used & set(range(register, register + regs)):
            return apart
        return f"load_once<{regs}>(w, {self._place(i.at)}, {register}, {where}) || {apart}"

    def _placed(self, i: Instruction, found: accesses.Access, check: accesses.Check) -> str:
        if found.space == "lds":
            return f"in_lds(w, {found.row}, {check.low}, {check.end})"
        base = "" if found.base is None else f"pair(w, {found.base}) + "
        whole = _bool(found.base is None)
        size = check.end - check.low
        return (
            f"placed(w, {self._place(i.at)}, {found.row}, {base}u64(i64({check.low})), {whole}, "
            f"{size}, {_bool(found.write)})"
        )

    # ---- scalar instructions

    def _scalar(self, i: Instruction) -> None:
        reads, writes = set[int](), set[int]()
        for source, kind in zip(i.src, i.op.src, strict=False):
            if source.kind == Kind.SCALAR:
                reads |= {source.code, *([source.code + 1] if WIDTH[kind] == 2 else [])}
            if source.kind == Kind.SPECIAL:
                reads |= {VCC, VCC + 1}
        if i.op.dst:
            writes |= {i.dst, *([i.dst + 1] if WIDTH[i.op.dst] == 2 else [])}
        changes_exec = bool(writes & {EXEC, EXEC + 1}) or "w.exec =" in i.op.body
        made = {code + n for code in self.loop.flags for n in (0, 1)}
        if changes_exec or made & (reads | writes) or ("w.vcc" in i.op.body and made):
            self._end_loop()
        fields = ", ".join(_scalar_source(s) for s in i.src[:2])
        text = salu_function(i.op)
        self.loop.before.append(
            f"{{ static constexpr Fields fields{{{i.imm}, {i.dst}, {{{fields}}}}};"
            f" [[maybe_unused]] const Fields* i = &fields;\n{text}\n  }}"
        )
        self.loop.forget(writes)
        if changes_exec:
            self._end_loop()

    def _read_lane(self, i: Instruction) -> bool:
        source = i.src[0]
        if source.kind != Kind.VECTOR:
            return False
        lane = "w.exec ? __builtin_ctzll(w.exec) : 0"
        if i.op.kind == "readlane":
            chosen = i.src[1]
            if chosen.kind == Kind.CONSTANT:
                lane = str(chosen.value & 63)
            elif chosen.kind == Kind.SCALAR:
                lane = f"w.sgpr[{chosen.code}] & 63"
            else:
                return False
        made = {code + n for code in self.loop.flags for n in (0, 1)}
        touched = self.loop.touches(source.code) or made & {i.sdst, *(s.code for s in i.src[1:2])}
        if touched or i.sdst in (EXEC, EXEC + 1):
            self._end_loop()
        self.loop.before.append(f"w.sgpr[{i.sdst}] = w.vgpr[{source.code}][{lane}];")
        self.loop.forget([i.sdst])
        if i.sdst in (EXEC, EXEC + 1):
            self._end_loop()
        return True

    # ---- vector instructions

    def _vector(self, i: Instruction) -> bool:
        """Into the loop, where it can be; a loop that stands in its way ends before it."""
        if i.format == "DPP":
            return False
        kinds = sources_of(i.op)
        given = list(zip(i.src, kinds, strict=False))
        if any(s.kind in (Kind.SPECIAL, Kind.NONE) for s, _ in given):
            return False
        if i.omod and not i.clamp and not i.simple and i.op.kind != "valu":
            return False
        made = {code + n for code in self.loop.flags for n in (0, 1)}
        for source, kind in given:
            if source.kind != Kind.SCALAR:
                continue
            codes = {source.code, *([source.code + 1] if _wide(kind) else [])}
            if codes & made and not (kind == "mask" and source.code in self.loop.flags):
                self._end_loop()
                made = set()
        made_now = i.op.dst == "mask" or i.op.kind in ("carry_out", "carry_in", "div_scale")
        overlaps = made_now and any(i.sdst in (c - 1, c + 1) for c in self.loop.flags)
        if overlaps or (i.op.kind == "div_fmas" and made & {VCC} and VCC not in self.loop.flags):
            self._end_loop()
        if made_now and i.sdst in (EXEC, EXEC + 1):
            return False
        values = [
            self._operand(i, k, s, kind) for k, (s, kind) in enumerate(given) if kind != "mask"
        ]
        values += ["0u"] * (3 - len(values))
        a, b, c = values[:3]
        kind, op = i.op.kind, f"{i.op.name}_"
        if kind not in ("cndmask", "mbcnt_lo", "mbcnt_hi", "pk_mov"):
            self.ops[i.number] = i.op
        if kind == "valu":
            saturates = bool(i.clamp) and "sat" in i.op.params
            self._result(
                i, f"{'saturated' if saturates else 'apply'}<{op}>({a}, {b}, {c})", saturates
            )
        elif kind in ("cmp", "cmpx"):
            self._flag(i.sdst, f"compared<{op}>({a}, {b})")
        elif kind in ("carry_out", "carry_in"):
            if i.clamp or not i.plain_dst:
                return False
            took = f"{self.loop.mask(i.src[2].code)} & 1u" if kind == "carry_in" else "0u"
            name = self.loop.name("sum")
            self.loop.body.append(f"const Sum {name} = sum_of<{op}>({a}, {b}, {took});")
            self.loop.put(i.dst, f"{name}.value")
            self._flag(i.sdst, f"{name}.carry")
        elif kind == "cndmask":
            self._result(i, f"blend({self.loop.mask(i.src[2].code)}, {b}, {a})")
        elif kind == "div_scale":
            name = self.loop.name("c")
            self.loop.body.append(f"u32 {name};")
            self._result(i, f"flagged<{op}>({a}, {b}, {c}, {name})")
            self._flag(i.sdst, name)
        elif kind == "div_fmas":
            self._result(i, f"by_flag<{op}>({a}, {b}, {c}, {self.loop.mask(VCC)})")
        elif kind == "pk_mov":
            low = f"u32({a} >> 32)" if i.src[0].sel & 1 else f"u32({a})"
            high = f"u32({b} >> 32)" if i.src[1].sel & 1 else f"u32({b})"
            self.loop.put_pair(i.dst, f"join({low}, {high})")
        else:
            word = int(kind == "mbcnt_hi")
            self._result(i, f"popcount32({a} & kBelow.word[{word}][s + l]) + {b}")
        return True

    def _flag(self, code: int, text: str) -> None:
        self.loop.put_flag(code, text)
        self.loop.forget([code, code + 1])

    def _operand(self, i: Instruction, k: int, source: Source, kind: str) -> str:
        wide = _wide(kind) or i.op.kind == "pk_mov"
        if source.kind == Kind.CONSTANT:
            text = f"{source.value:#x}ull" if wide else f"{source.value & 0xFFFFFFFF:#x}u"
        elif source.kind == Kind.SCALAR:
            text = self.loop.scalar(source.code, wide)
        else:
            text = self.loop.pair(source.code) if wide else self.loop.row(source.code)
        if i.simple or i.op.kind == "pk_mov":
            return text
        mod = LANE[kind][1]
        sdwa = i.format == "SDWA"
        if i.op.kind in ("carry_out", "carry_in", "mbcnt_lo", "mbcnt_hi"):
            mod = "Int"
        if sdwa and k < 2 and source.sel < 6:
            text = f"sdwa_field({text}, {source.sel}, {_bool(bool(source.neg_hi))})"
        if not sdwa and mod in ("Packed16", "PackedF16"):
            flips = mod == "PackedF16"
            flip = (
                (0x8000 if source.neg else 0) | (0x80000000 if source.neg_hi else 0) if flips else 0
            )
            return (
                text
                if source.sel == 2 and not flip
                else f"packed_halves({text}, {source.sel}, {flip:#x}u)"
            )
        if mod == "PackedF32":
            parts = []
            for bit, negative in ((1, source.neg), (2, bool(source.neg_hi))):
                part = f"u32({text} >> 32)" if source.sel & bit else f"u32({text})"
                parts.append(f"({part} ^ 0x80000000u)" if negative else part)
            return f"join({', '.join(parts)})"
        if mod == "Mix":
            return f"mixed({text}, {source.sel}, {_bool(source.neg)}, {_bool(bool(source.neg_hi))})"
        if not sdwa and source.sel & 1:
            text = f"({text} >> 16)"
        if source.neg or source.abs:
            half = mod in ("F16", "PackedF16")
            signs = (
                f"{'0x8000u' if half else '0x80000000u'}, {_bool(source.neg)}, {_bool(source.abs)}"
            )
            if mod == "F64":
                text = f"join(u32({text}), with_sign(u32({text} >> 32), {signs}))"
            else:
                text = f"with_sign({text}, {signs})"
        return text

    def _result(self, i: Instruction, text: str, saturated: bool = False) -> None:
        """Where MODE is as usual an output modifier is without effect (exec/operand.cpp)."""
        wide = WIDTH[i.op.dst] == 2
        if i.simple:
            (self.loop.put_pair if wide else self.loop.put)(i.dst, text)
            return
        floats = i.op.dst.startswith("f") or i.op.kind == "cndmask"
        mod = LANE[i.op.dst][1] if floats else "Int"
        if i.clamp and not saturated and mod in ("F16", "F32", "F64", "PackedF16", "PackedF32"):
            text = f"clamped<Mod::{mod}>({text}, w.mode >> 8 & 1)"
        if not wide:
            half, old = dst_half(i.op), self.loop.row(i.dst)
            if i.format == "SDWA" and i.dst_sel != 6:
                text = f"sdwa_placed({text}, {old}, {i.dst_sel}, {i.dst_unused})"
            elif half in ("Opsel", "Word"):
                text = f"{'high' if i.op_sel & 8 else 'low'}_half({text}, {old})"
            elif half == "Byte":
                text = f"one_byte({text}, {old}, {8 * ((i.op_sel >> 2) & 3)})"
            elif half != "None":
                text = f"{half.lower()}_half({text}, {old})"
        (self.loop.put_pair if wide else self.loop.put)(i.dst, text)


def _wide(kind: str) -> bool:
    return WIDTH[kind] == 2


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _scalar_source(s: Source) -> str:
    kinds = {Kind.CONSTANT: "Constant", Kind.SPECIAL: "Special"}
    return f"{{Scalar::{kinds.get(s.kind, 'Register')}, {s.code}, {s.value:#x}ull}}"


def name_of(at: int) -> str:
    return f"block_{at}" if at >= 0 else f"block_m{-at}"


def _struct(name: str, parts: dict[str, tuple[int, str, int]], end: int) -> str:
    """A struct with these members (offset, declaration, bytes) where they have to be."""
    lines, at = [], 0
    for offset, declaration, size in sorted(parts.values()):
        if offset > at:
            lines.append(f"  char gap{at}[{offset - at}];")
        lines.append(f"  {declaration};")
        at = offset + size
    if end > at:
        lines.append(f"  char gap{at}[{end - at}];")
    body = "\n".join(lines)
    return f"struct {name} {{\n{body}\n}};\nstatic_assert(sizeof({name}) == {end});\n"


_SCALARS = (
    "union { u32 sgpr[128]; struct { u32 s_[102]; u32 flat_scratch[2]; u32 xnack_mask[2]; u64 vcc;"
    " u32 ttmp[16]; u32 m0; u32 reserved_; u64 exec; }; }"
)


def _structs(layout: dict[str, int]) -> str:
    plain = {
        "scc": ("u8", 1), "mode": ("u32", 4), "lds": ("u8*", 8), "lds_bytes": ("u32", 4),
        "shared_aperture": ("u64", 8), "private_aperture": ("u64", 8), "executed": ("u64", 8),
        "mask_exec": ("u64", 8), "mask_valid": ("bool", 1), "together": ("u8", 1),
        "gives_way": ("bool", 1), "stored": ("bool", 1),
    }  # fmt: skip
    wave = {n: (layout[n], f"{t} {n}", size) for n, (t, size) in plain.items()}
    wave["vgpr"] = (0, "alignas(64) u32 vgpr[512][64]", 512 * 256)
    wave["sgpr"] = (layout["sgpr"], _SCALARS, 512)
    wave["counts"] = (layout["counts"], "u64 counts[64]", 512)
    wave["mask_row"] = (layout["mask_row"], "alignas(64) u32 mask_row[64]", 256)
    inst = {
        "fn": (0, "const Inst* (*fn)(Wave&, const Inst*)", 8),
        "next": (layout["inst_next"], "const Inst* next", 8),
        "pc": (layout["inst_pc"], "u64 pc", 8),
        "cls": (layout["inst_cls"], "u8 cls", 1),
    }
    size, entries = layout["range_size"], layout["ranges"] + layout["cache_entries"]
    wave["ranges"] = (entries, "Range ranges[16]", 16 * size)
    known = {"base": "u64", "end": "u64", "readable": "bool", "writable": "bool", "slack": "u8"}
    kept = {n: (layout[f"range_{n}"], f"{t} {n}", 8 if t == "u64" else 1) for n, t in known.items()}
    made = _struct("Range", kept, size) + _struct("Wave", wave, layout["end"])
    made += _struct("Inst", inst, layout["inst_end"])
    return f"namespace gpu::translated {{\nstruct Wave;\nstruct Inst;\n{made}}}\n"


def program(request: Request) -> str:
    """The whole text."""
    here = Path(__file__).parent
    prelude = "".join((here / name).read_text("utf-8") for name in ("prelude.h", "memory.h"))
    found = blocks.find(request)
    known = {block.at for block in found}
    emitters = [Emitter(block, known) for block in found]
    functions = [emitter.function() for emitter in emitters]
    ops = {number: op for emitter in emitters for number, op in emitter.ops.items()}
    headers = ("division", "modifiers", "packed", "scalars", "transcendentals")
    text = "#define GPU_EXEC_NS translated\n"
    text += "".join(f'#include "{name}.h"\n' for name in headers)
    # The table's bodies come first: nothing of ours may stand before the functions that they name.
    bodies = "".join(valu_struct(op) for _, op in sorted(ops.items()))
    text += f"namespace gpu::translated {{\n{bodies}}}\n"
    text += _structs(request.layout) + prelude + "namespace {\n"
    text += "".join(f"BLOCK {name_of(at)}(Wave&, const Inst*, u64);\n" for at in sorted(known))
    text += "".join(functions)
    rows = "".join(f"  {{{block.at}, {name_of(block.at)}}},\n" for block in found)
    shown = 'extern "C" __attribute__((visibility("default"))) const'
    return text + (
        "}  // namespace\n"
        "struct Entry { long at; const Inst* (*run)(Wave&, const Inst*, u64); };\n"
        f"{shown} Entry rpl_blocks[] = {{\n{rows}}};\n"
        f"{shown} u64 rpl_block_count = {len(found)};\n"
    )
