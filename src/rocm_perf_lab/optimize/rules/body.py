"""Rewrites of a loop or a statement that keep every result, or say that rounding may change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rocm_perf_lab.optimize.lexer import tokens
from rocm_perf_lab.optimize.rules.edits import Edit, indentation, insert
from rocm_perf_lab.optimize.rules.facts import Access
from rocm_perf_lab.optimize.rules.idea import Idea, fresh
from rocm_perf_lab.optimize.rules.kernel_tree import KernelTree, Loop
from rocm_perf_lab.schema.prompt import PromptDocument

VECTORS = {
    "float": ("float4", 4), "int": ("int4", 4), "unsigned int": ("uint4", 4),
    "double": ("double2", 2),
}  # fmt: skip
FIELDS = "xyzw"
BANKS_BYTES = 128  # 32 banks of 4 bytes
CALL = re.compile(r"\b(?!(?:size_t|int|unsigned|long)\b)[A-Za-z_]\w*\s*\(")  # but for casts
EXACT = {"fmaxf", "fminf", "fmax", "fmin", "max", "min"}  # the order of operands does not matter


@dataclass(frozen=True)
class _Copy:
    """The loop's body once more, with other words in places."""

    tree: KernelTree
    loop: Loop

    def text(self, variable: str, replaced: Mapping[tuple[int, int], str]) -> str:
        """`variable` stands for the loop's; `replaced` maps spans of the file to new text."""
        begin, end = self.loop.body_begin, self.loop.body_end
        source = self.tree.text
        pieces, at = [], begin
        for (start, stop), words in sorted(replaced.items()):
            pieces += [self._renamed(source[at:start], variable), words]
            at = stop
        pieces.append(self._renamed(source[at:end], variable))
        return "".join(pieces)

    def _renamed(self, text: str, variable: str) -> str:
        if variable == self.loop.variable:
            return text
        edits, before = [], ""
        for token in tokens(text, trusted=True):
            if token.text == self.loop.variable and before not in (".", "->", "::"):
                edits.append(Edit(token.offset, token.offset + len(token.text), variable))
            before = token.text
        for edit in reversed(edits):
            text = text[: edit.begin] + edit.text + text[edit.end :]
        return text


def _simple(loop: Loop) -> bool:
    """A counting loop whose iterations may be written out side by side."""
    return (
        loop.canonical
        and loop.innermost
        and not loop.leaves
        and loop.crosses is None
        and not loop.wave_operations
        and loop.keyword == "for"
    )


def _stores_nothing(loop: Loop) -> bool:
    return not loop.stores


def _words(text: str) -> set[str]:
    return {token.text for token in tokens(text, trusted=True) if token.kind == "name"}


def _replace(loop: Loop, text: str) -> tuple[Edit, ...]:
    begin = loop.pragma[0] if loop.pragma else loop.begin
    return (Edit(begin, loop.end, text),)


def vector_loads(tree: KernelTree, loop: Loop, unroll: int = 1) -> Idea | None:
    """x[c], x[c + 1], ... in one load of 16 bytes, where the address is seen to be aligned."""
    if not _simple(loop) or not _stores_nothing(loop) or loop.step != "1":
        return None
    loads = [
        a for a in loop.loads
        if a.index == loop.variable and not a.shared and a.base not in loop.assigned
        and a.element in VECTORS
    ]  # fmt: skip
    bases = {a.base: VECTORS[a.element] for a in loads}
    counts = {count for _, count in bases.values()}
    if not bases or len(counts) != 1:
        return None
    count = counts.pop()
    names = {base: fresh(tree, f"{base}_{count}") for base in bases}
    variable, bound, copy = loop.variable, loop.bound, _Copy(tree, loop)
    aligned = " && ".join(
        f"reinterpret_cast<size_t>({base} + {variable}) % 16 == 0" for base in bases
    )
    lines = ["{", f"  {loop.type} {variable} = {loop.init};", f"  if ({aligned}) {{"]
    if unroll > 1:
        lines.append(f"#pragma unroll {unroll}")
    lines.append(f"    for (; {variable} + {count - 1} < {bound}; {variable} += {count}) {{")
    for base, (vector, _) in bases.items():
        lines.append(
            f"      const {vector} {names[base]} = "
            f"*reinterpret_cast<const {vector}*>({base} + {variable});"
        )
    for place in range(count):
        at = variable if place == 0 else f"({variable} + {place})"
        spans = {(a.begin, a.end): f"{names[a.base]}.{FIELDS[place]}" for a in loads}
        lines.append(f"      {_braced(copy.text(at, spans))}")
    lines += ["    }", "  }", f"  for (; {variable} < {bound}; ++{variable}) "
              f"{copy.text(variable, {})}", "}"]  # fmt: skip
    more = f", unrolled {unroll} times" if unroll > 1 else ""
    return Idea(
        rule="vector_loads",
        title=f"16-byte loads in loop {loop.number}{more}",
        rationale=(
            f"{count} neighbouring elements of {', '.join(bases)} come with one load where the "
            "address is a multiple of 16, tested at run time; elsewhere the loop is as it was."
        ),
        edits=_replace(loop, _indented(tree, loop, lines)),
        details={"loop": str(loop.number), "unroll": str(unroll)},
    )


def accumulators(tree: KernelTree, loop: Loop, count: int = 4) -> Idea | None:
    """A reduction into several variables, so that one addition need not wait for the last."""
    if not _simple(loop) or not _stores_nothing(loop):
        return None
    body = tree.text[loop.body_begin : loop.body_end].strip()
    inner = body[1:-1].strip() if body.startswith("{") and body.endswith("}") else body
    if inner.count(";") != 1 or not inner.endswith(";"):
        return None
    plus = re.fullmatch(r"(\w+)\s*\+=\s*(.+);", inner, re.DOTALL)
    best = re.fullmatch(r"(\w+)\s*=\s*(\w+)\(\s*\1\s*,\s*(.+)\)\s*;", inner, re.DOTALL)
    match = plus or best
    if match is None or (best and best[2] not in EXACT):
        return None
    name, kind = match[1], tree.variables.get(match[1], "")
    value = match[2] if plus else match[3]
    if kind not in ("float", "double") or name in _words(value):
        return None
    copy = _Copy(tree, loop)
    parts = [name, *(fresh(tree, f"{name}_{i}") for i in range(1, count))]
    zero = "0.0f" if kind == "float" else "0.0"
    start = zero if plus else name
    declared = ", ".join(f"{part} = {start}" for part in parts[1:])
    step, variable = loop.step, loop.variable
    reach = f"{count - 1}" if step == "1" else f"{count - 1} * ({step})"
    stride = f"{count}" if step == "1" else f"{count} * ({step})"
    lines = ["{", f"  {loop.type} {variable} = {loop.init};", f"  {kind} {declared};"]
    lines.append(f"  for (; {variable} + {reach} < {loop.bound}; {variable} += {stride}) {{")
    for place, part in enumerate(parts):
        offset = f"{place}" if step == "1" else f"{place} * ({step})"
        at = variable if place == 0 else f"({variable} + {offset})"
        text = copy.text(at, {})
        renamed = re.sub(rf"\b{name}\b", part, text)
        lines.append(f"    {_braced(renamed)}")
    lines.append("  }")
    lines.append(f"  for (; {variable} < {loop.bound}; {variable} += {step}) "
                 f"{copy.text(variable, {})}")  # fmt: skip
    joined = name
    for part in parts[1:]:
        joined = f"{joined} + {part}" if plus else f"{best[2]}({joined}, {part})"  # type: ignore[index]
    lines += [f"  {name} = {joined};", "}"]
    return Idea(
        rule="accumulators",
        title=f"{count} accumulators in loop {loop.number}",
        rationale=(
            f"{name} is gathered in {count} variables and joined at the end. "
            + ("Sums are rounded in another order." if plus else "The result is the same bits.")
        ),
        edits=_replace(loop, _indented(tree, loop, lines)),
        details={"loop": str(loop.number), "accumulators": str(count)},
        changes_rounding=bool(plus),
    )


def prefetch(tree: KernelTree, loop: Loop) -> Idea | None:
    """The next iteration's loads are asked for before this one's are used."""
    if not _simple(loop) or not _stores_nothing(loop):
        return None
    if loop.trip_count is not None and loop.trip_count <= 8:
        return None
    loads = [a for a in loop.loads if not a.shared and _movable(a, loop)]
    by_text: dict[tuple[str, str], list[Access]] = {}
    for access in loads:
        by_text.setdefault((access.base, access.index), []).append(access)
    if not by_text or len(by_text) > 4:
        return None
    variable, step, copy = loop.variable, loop.step, _Copy(tree, loop)
    ahead = f"({variable} + {step})"
    lines = ["{", f"  {loop.type} {variable} = {loop.init};",
             f"  if ({variable} < {loop.bound}) {{"]  # fmt: skip
    use: dict[tuple[int, int], str] = {}
    now, after = [], []
    for (base, index), group in by_text.items():
        upcoming, current = fresh(tree, f"{base}_next"), fresh(tree, f"{base}_now")
        if any(upcoming in line for line in lines):
            return None  # the same array twice with other indices
        lines.append(f"    {group[0].element} {upcoming} = {base}[{index}];")
        now.append(f"const {group[0].element} {current} = {upcoming};")
        following = _renamed_index(index, variable, ahead)
        after.append(f"{upcoming} = {base}[{following}];")
        use.update({(a.begin, a.end): current for a in group})
    used = copy.text(variable, use)
    lines += [
        f"    for (; {variable} + {step} < {loop.bound}; {variable} += {step}) {{",
        f"      {' '.join(now)}",
        f"      {' '.join(after)}",
        f"      {_braced(used)}",
        "    }",
        f"    {' '.join(now)}",
        f"    {_braced(used)}",
        "  }",
        "}",
    ]
    return Idea(
        rule="prefetch",
        title=f"prefetched loads in loop {loop.number}",
        rationale="Each iteration asks for the next one's data before it uses its own.",
        edits=_replace(loop, _indented(tree, loop, lines)),
        details={"loop": str(loop.number)},
    )


def _movable(access: Access, loop: Loop) -> bool:
    words = _words(access.index)
    return (
        access.element in VECTORS
        and access.base not in loop.assigned
        and loop.variable in words
        and not words & loop.assigned
        and not CALL.search(access.index)
    )


def _renamed_index(index: str, variable: str, by: str) -> str:
    return re.sub(rf"(?<![\w.]){variable}\b", by, index)


def reciprocal(tree: KernelTree, loop: Loop) -> Idea | None:
    """`/ s` with the same s in every iteration becomes a multiplication."""
    usable = [
        d for d in loop.divisions if d.divisor not in loop.assigned and d.divisor != loop.variable
    ]
    if not usable or loop.follows not in (";", "{", "}"):
        return None
    edits: list[Edit] = []
    made: dict[str, str] = {}
    for division in usable:
        name = made.setdefault(division.divisor, fresh(tree, f"{division.divisor}_inverse"))
        edits.append(Edit(division.slash, division.end, f"* {name}"))
    kinds = {d.divisor: d.type for d in usable}
    place = loop.pragma[0] if loop.pragma else loop.begin
    indent = indentation(tree.text, loop.begin)
    for divisor, name in made.items():
        one = "1.0f" if kinds[divisor] == "float" else "1.0"
        line = f"const {kinds[divisor]} {name} = {one} / {divisor};\n"
        at = tree.text.rfind("\n", 0, place) + 1 if not tree.text[
            tree.text.rfind("\n", 0, place) + 1 : place
        ].strip() else place  # fmt: skip
        edits.append(insert(at, f"{indent}{line}" if at != place else f"{line}{indent}"))
    names = ", ".join(made)
    return Idea(
        rule="reciprocal",
        title=f"one division by {names} before loop {loop.number}",
        rationale=(
            f"{names} does not change in the loop: its reciprocal is taken once. The quotient may "
            "differ by one unit in the last place."
        ),
        edits=tuple(edits),
        details={"loop": str(loop.number)},
        changes_rounding=True,
    )


def padding(tree: KernelTree, prompt: PromptDocument) -> Idea | None:
    """One more element per row of an LDS array, where bank conflicts were measured."""
    measured = prompt.measurement
    fractions = measured.stall_fractions
    waiting = fractions.stall_lds + fractions.wait_lds if fractions else 0.0
    text = " ".join(measured.bottleneck.evidence)
    if measured.bottleneck.bottleneck != "lds_bound" and "bank" not in text and waiting < 0.2:
        return None
    sizes = {"float": 4, "int": 4, "unsigned int": 4, "double": 8}
    chosen = [
        a for a in tree.arrays
        if a.plain_subscripts and a.element in sizes
        and (a.sizes[-1] * sizes[a.element]) % BANKS_BYTES == 0
    ]  # fmt: skip
    if not chosen:
        return None
    names = ", ".join(a.name for a in chosen)
    return Idea(
        rule="padding",
        title=f"a column of padding for {names}",
        rationale=f"Rows of {names} begin in the same LDS bank; one more element moves them on.",
        edits=tuple(insert(a.inner_size[1], " + 1") for a in chosen),
    )


def non_temporal(tree: KernelTree, prompt: PromptDocument) -> Idea | None:
    """Data touched once need not stay in the caches."""
    if prompt.measurement.bottleneck.bottleneck != "memory_bandwidth_bound":
        return None
    uses: dict[str, int] = {}
    for access in tree.accesses:
        uses[access.base] = uses.get(access.base, 0) + 1
    parameters = {p.name for p in tree.parameters if p.pointer}
    once = [
        a for a in tree.accesses
        if a.base in parameters and uses[a.base] == 1 and a.element in VECTORS
    ]  # fmt: skip
    edits: list[Edit] = []
    for access in once:
        if not access.stored:
            words = tree.text[access.begin : access.end]
            edits.append(Edit(access.begin, access.end, f"__builtin_nontemporal_load(&{words})"))
    for assignment in tree.assignments:
        target = assignment.target
        inside = any(assignment.value[0] <= e.begin < assignment.value[1] for e in edits)
        if target in once and not inside:
            begin, end = assignment.value
            words = tree.text[target.begin : target.end]
            edits.append(Edit(target.begin, begin, "__builtin_nontemporal_store("))
            edits.append(insert(end, f", &{words})"))
    if not edits:
        return None
    return Idea(
        rule="non_temporal",
        title="non-temporal loads and stores",
        rationale="Each element is touched once: it may pass the caches by.",
        edits=tuple(edits),
    )


def loop_ideas(tree: KernelTree, loop: Loop) -> Iterator[Idea]:
    makers: tuple[Callable[[], Idea | None], ...] = (
        lambda: vector_loads(tree, loop, 2),
        lambda: vector_loads(tree, loop),
        lambda: accumulators(tree, loop),
        lambda: prefetch(tree, loop),
        lambda: reciprocal(tree, loop),
    )
    for make in makers:
        idea = make()
        if idea is not None:
            yield idea


def _braced(text: str) -> str:
    text = text.strip()
    return text if text.startswith("{") else f"{{ {text} }}"


def _indented(tree: KernelTree, loop: Loop, lines: list[str]) -> str:
    indent = indentation(tree.text, loop.begin)
    return "\n".join(
        line if number == 0 or line.startswith("#") else f"{indent}{line}"
        for number, line in enumerate(lines)
    )
