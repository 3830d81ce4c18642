"""Make `tests/hip_functions/hip-7.2.txt` from a folder of AMD's headers.

    PYTHONPATH=tests python -m support.hip_functions_extract \\
        --include /opt/rocm/include --clang /usr/lib/llvm-19 --source "..." > FILE

Every function, member and template that the headers declare is turned into a use, the uses are
compiled with AMD's own headers, and those that compile there are the list. What is implementation
(namespaces called internal, names of the device library) is left out by the tables below.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import CursorKind as Kind

from support import hip_functions as listed

FUNCTIONS = (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.CONVERSION_FUNCTION)
SCOPES = (
    Kind.NAMESPACE, Kind.LINKAGE_SPEC, Kind.UNEXPOSED_DECL, Kind.STRUCT_DECL, Kind.CLASS_DECL,
    Kind.CLASS_TEMPLATE, Kind.UNION_DECL,
)  # fmt: skip
INTERNAL_FILES = (
    "device_library_decls.h", "__clang_hip_libdevice_declares.h", "ockl_image.h", "math_fwd.h",
    "hip_fp16_math_fwd.h", "amd_hip_ocp_host.hpp", "host_defines.h", "hip_assert.h",
    "hip_cooperative_groups_helper.h", "__clang_hip_runtime_wrapper.h", "algorithm", "new",
    "complex",
)  # fmt: skip
INTERNAL_SCOPES = re.compile(
    r"\b(internal|impl|hip_impl|__hip|__hip_internal|fcbx|HIP_vector_base|Native_vec_|unnamed|"
    r"parent_group_info|__hip_builtin_\w+)\b"
)
INTERNAL_NAMES = re.compile(
    r"__ocml_|__ockl_|__llvm_|__hipMap|get_native_|hip_cas_|pArgs|validateArgs|__reduce_op|"
    r"__hip_(get|ds_bpermute|ds_permute|hc|move_dpp_N|ds_swizzle\w*_N)|__make_mantissa|"
    r"(half|half2|hipbf16|hipbf162)_to_|make_vector_type|__builtin_|__asm_|__barrier|"
    r"__work_group|__assert|^abort$|_spt$|amd_dbgapi|__hipGetPixelAddr|__internal_|__clamp_01|"
    r"__(mul|div)[sd]c3"
)
# The classes a program names in place of the bases that hold their members.
NAMED = {
    "cooperative_groups::thread_block_tile_base": "cooperative_groups::thread_block_tile<32>",
    "cooperative_groups::thread_block_tile_type": "cooperative_groups::thread_block_tile<32>",
    "cooperative_groups::thread_block_tile": "cooperative_groups::thread_block_tile<32>",
    "cooperative_groups::tile_base": "cooperative_groups::thread_block_tile<32>",
    "HIP_vector_type": "HIP_vector_type<T, n>",
}
# What stands for a template's parameters, by their names; the first value that compiles, or all.
VALUES = {
    "MaskT": ("unsigned long long",),
    "U": ("float", "int"),
    "n": ("1", "2", "3", "4"),
    "rank": ("4",),
    "dim": ("2",),
    "size": ("32",),
    "readMode": ("hipReadModeElementType",),
    "CGTy": (
        "cooperative_groups::thread_block",
        "cooperative_groups::grid_group",
        "cooperative_groups::coalesced_group",
        "cooperative_groups::thread_block_tile<32>",
        "cooperative_groups::thread_group",
        "cooperative_groups::multi_grid_group",
    ),
    "ParentCGTy": ("cooperative_groups::thread_block",),
    "parent": ("cooperative_groups::thread_block",),
    "F": ("void (*)(float *)",),
    "UnaryFunction": ("unsigned long (*)(int)",),
    **dict.fromkeys(("__T", "__T1", "__T2", "__T3", "__U", "__V"), ("float", "int", "double")),
}
KERNEL = "void (*)(float *)"
TAKES_A_KERNEL = re.compile(r"hip(Occupancy|LaunchCooperative)")  # fmt: skip
# Where a template is tried with every type below; elsewhere the first that compiles will do.
MANY_TYPES = ("amd_warp_sync_functions.h", "amd_hip_cooperative_groups.h")
ELEMENTS = (
    "float", "int", "double", "unsigned int", "unsigned long long", "float4", "__half", "__half2",
    "__hip_bfloat16", "void (*)(float *)",
)  # fmt: skip
BINARY = "+ - * / % & | ^ << >> == != < > <= >= && || = += -= *= /= %= &= |= ^= <<= >>=".split()


def parse(text: str, flags: list[str], plain: bool) -> Any:
    name = "list.cpp" if plain else "list.hip"
    return cindex.Index.create().parse(name, args=flags, unsaved_files=[(name, text)])


def scope_of(cursor: Any) -> str:
    names = []
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != Kind.TRANSLATION_UNIT:
        if parent.spelling and parent.kind != Kind.LINKAGE_SPEC:
            names.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(reversed(names))


def declarations(cursor: Any, roots: tuple[str, ...]) -> Iterator[Any]:
    for child in cursor.get_children():
        file = child.location.file
        if file is None or not file.name.startswith(roots):
            continue
        if Path(file.name).name in INTERNAL_FILES:
            continue
        if child.kind in FUNCTIONS or child.kind == Kind.FUNCTION_TEMPLATE:
            yield child
        elif child.kind in SCOPES:
            yield from declarations(child, roots)


def type_text(kind: Any) -> str:
    """As a program writes it: public names stay, what only the headers know is spelled out."""
    text = kind.spelling
    # AMD's own spellings of the fixed-width types, and types of unnamed scopes.
    if re.search(r"__hip_(u?int\d+_t|size_t)|__hip_internal|unnamed|std::u?int|MAYBE", text):
        text = kind.get_canonical().spelling
    return str(re.sub(r"\b(struct|enum|class) ", "", text))


def uses_of(cursor: Any, plain: bool) -> Iterator[tuple[str, bool, list[str]]]:
    """(text, implicit, template parameters) of every way to use one declaration."""
    scope, name = scope_of(cursor), cursor.spelling
    if INTERNAL_SCOPES.search(scope) or INTERNAL_NAMES.search(name):
        return
    if cursor.access_specifier.name in ("PRIVATE", "PROTECTED") or cursor.is_deleted_method():
        return
    member = cursor.semantic_parent.kind in (
        Kind.STRUCT_DECL, Kind.CLASS_DECL, Kind.CLASS_TEMPLATE, Kind.UNION_DECL,
        Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
    )  # fmt: skip
    template = [
        child.spelling
        for child in cursor.get_children()
        if child.kind in (Kind.TEMPLATE_TYPE_PARAMETER, Kind.TEMPLATE_NON_TYPE_PARAMETER)
        and child.spelling
    ]
    types = [type_text(p.type) for p in cursor.get_children() if p.kind == Kind.PARM_DECL]
    if any("..." in t for t in types) or cursor.type.is_function_variadic():
        return
    types = [re.sub(r"\s*\[\d*\]$", " *", t) for t in types]
    operands = [f"{{{t}}}" for t in types]
    owner = NAMED.get(scope, scope)
    if member and owner == "HIP_vector_type<T, n>":
        template = [*template, "T", "n"]
    defaults = sum(
        any(token.spelling == "=" for token in p.get_tokens())
        for p in cursor.get_children()
        if p.kind == Kind.PARM_DECL
    )
    constructor = cursor.kind == Kind.CONSTRUCTOR or name.split("<")[0] == scope.split("::")[-1]
    if constructor:
        for count in range(len(operands) - defaults, len(operands) + 1):
            yield f"{owner}({', '.join(operands[:count])})", False, template
        explicit = any(t.spelling == "explicit" for t in cursor.get_tokens())
        if len(operands) == 1 and not explicit and types[0].strip(" &") != f"const {owner}":
            yield operands[0], True, [*template, f"\0{owner}"]
        return
    if member:
        const = "const " if cursor.is_const_method() or cursor.kind != Kind.CXX_METHOD else ""
        const += "volatile " if cursor.type.spelling.endswith("volatile") else ""
        this = f"{{{const}{owner} &}}"
        if cursor.kind == Kind.CONVERSION_FUNCTION:
            target = type_text(cursor.result_type)
            yield f"static_cast<{target}>({this})", False, template
            if not any(t.spelling == "explicit" for t in cursor.get_tokens()):
                yield this, True, [*template, f"\0{target}"]
            return
        if name.startswith("operator"):
            yield from operator(name, [this, *operands], template)
            return
        call = f"{owner}::{name}" if cursor.is_static_method() else f"{this}.{name}"
    else:
        if name.startswith("operator"):
            yield from operator(name, operands, template)
            return
        call = f"{scope}::{name}" if scope else name
    for count in range(len(operands) - defaults, len(operands) + 1):
        arguments = ", ".join(operands[:count])
        yield f"{call}({arguments})", False, template
        if template and not member and not all(re.search(rf"\b{n}\b", arguments) for n in template):
            yield f"{call}<{', '.join(template)}>({arguments})", False, template


def operator(
    name: str, operands: list[str], template: list[str]
) -> Iterator[tuple[str, bool, list[str]]]:
    sign = name.removeprefix("operator").strip()
    if sign in ("++", "--"):
        text = f"{operands[0]}{sign}" if len(operands) == 2 else f"{sign}{operands[0]}"
        yield text, False, template
    elif sign == "[]":
        yield f"{operands[0]}[{operands[1]}]", False, template
    elif len(operands) == 1:
        yield f"{sign}{operands[0]}", False, template
    elif sign in BINARY:
        yield f"{operands[0]} {sign} {operands[1]}", False, template


def concrete(text: str, template: list[str]) -> Iterator[tuple[str, str]]:
    """(the use with types in place of the template's parameters, the same less its types)."""
    names = [n for n in template if not n.startswith("\0") and re.search(rf"\b{n}\b", text)]
    choices = [VALUES.get(name, ELEMENTS) for name in names]
    vector = "HIP_vector_type<T" in text
    fixed = (KERNEL,) if TAKES_A_KERNEL.match(text) else ("float", "int") if vector else ()
    choices = [fixed if fixed and n == "T" else c for n, c in zip(names, choices, strict=True)]
    for values in itertools.product(*choices):
        made = group = text
        for name, value in zip(names, values, strict=True):
            made = re.sub(rf"\b{name}\b", value, made)
            group = group if name in ("T", "U", "F") else re.sub(rf"\b{name}\b", value, group)
        yield made, group


def sides_of(cursor: Any, plain: bool) -> str:
    if plain:
        return "g"
    kinds = {child.kind for child in cursor.get_children()}
    device, host = Kind.CUDADEVICE_ATTR in kinds, Kind.CUDAHOST_ATTR in kinds
    return "dh" if device and host else "d" if device else "h"


def results(text: str, flags: list[str], plain: bool) -> dict[str, str]:
    """The type of each use's result, by the name of its function."""
    found = {}
    for function in parse(text, flags, plain).cursor.get_children():
        if function.kind == Kind.FUNCTION_DECL and re.fullmatch(r"u\d+", function.spelling):
            for node in function.walk_preorder():
                if node.kind == Kind.TYPE_ALIAS_DECL:
                    kind = node.underlying_typedef_type.get_canonical()
                    if kind.spelling.endswith("&"):
                        kind = kind.get_pointee()
                    spelled = re.sub(r"\b(struct|enum|class) ", "", kind.spelling)
                    if kind.is_const_qualified() and "*" not in spelled:
                        spelled = spelled.removeprefix("const ")
                    found[function.spelling] = spelled
    return found


def collect(
    headers: tuple[str, ...], flags: list[str], command: list[str], roots: tuple[str, ...],
    plain: bool,
) -> list[listed.Use]:  # fmt: skip
    unit = parse("".join(f"#include <{h}>\n" for h in headers), flags, plain)
    candidates: dict[tuple[str, str, bool, str], tuple[str, str]] = {}
    for cursor in declarations(unit.cursor, roots):
        for text, implicit, template in uses_of(cursor, plain):
            file = Path(cursor.location.file.name)
            header = "clang" if "__clang" in file.name else file.name
            target = next((t[1:] for t in template if t.startswith("\0")), "")
            for use, group in concrete(f"{target} <- {text}" if implicit else text, template):
                result = use.split(" <- ")[0] if implicit else ""
                made = use.split(" <- ")[-1]
                key = made if header in MANY_TYPES else group
                for side in sides_of(cursor, plain):
                    candidates.setdefault((side, made, implicit, result), (header, key))
    rows, groups = [], []
    for (side, made, implicit, result), (header, group) in candidates.items():
        rows.append(listed.Use(header, side, result or "void", implicit, made))
        groups.append((side, implicit, group))
    marks = {"d": "__device__", "h": "__host__", "g": ""}
    lines = [
        listed.code(row, f"u{i}", marks[row.sides], check_result=False)
        for i, row in enumerate(rows)
    ]
    text, first = listed.unit(headers, lines)
    with tempfile.TemporaryDirectory() as folder:
        bad = listed.failing_lines(command, text, Path(folder) / "list.cpp")
    chosen: dict[tuple[str, bool, str], int] = {}
    for i in range(len(rows)):
        if first + i not in bad:
            chosen.setdefault(groups[i], i)
    good = sorted(chosen.values())
    text, _ = listed.unit(headers, [lines[i] for i in good])
    types = results(text, flags, plain)
    made_rows = []
    for i in good:
        row = rows[i]
        result = row.result if row.implicit else types.get(f"u{i}", "void")
        made_rows.append(listed.Use(row.header, row.sides, result, row.implicit, row.text))
    print(f"{len(rows)} uses tried, {len(good)} compile", file=sys.stderr)
    return made_rows


def own_files(include: str, header: str) -> tuple[str, ...]:
    """The file under amd_detail that one of the headers read alone stands for."""
    names = re.findall(r"<(hip/amd_detail/[^>]+)>", Path(include, header).read_text())
    return tuple(str(Path(include, name)) for name in names)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", required=True)
    parser.add_argument("--clang", required=True, help="LLVM's folder")
    parser.add_argument("--source", required=True, help="what the headers are, for the first lines")
    options = parser.parse_args()
    llvm = Path(options.clang)
    library = next((llvm / "lib").glob("libclang-[0-9]*.so.[0-9]*"))
    cindex.Config.set_library_file(str(library))
    resource = next((llvm / "lib" / "clang").iterdir())
    wrapper = resource / "include" / "__clang_hip_runtime_wrapper.h"
    common = ["-isystem", options.include, "-D__HIP_PLATFORM_AMD__=1", "-std=c++17"]
    common += ["-resource-dir", str(resource), "-ferror-limit=0", "-Wno-everything"]
    hip = ["-x", "hip", "--offload-arch=gfx942", "--offload-device-only", "-nogpulib", "-nogpuinc"]
    hip += ["-isystem", str(resource / "include" / "cuda_wrappers"), "-include", str(wrapper)]
    roots = (options.include, str(resource))
    clang = [str(llvm / "bin" / "clang"), "-fsyntax-only"]
    found: list[listed.Use] = []
    for headers in (listed.HEADERS, *((h,) for h in listed.ALONE)):
        flags = [*hip, *common]
        here = roots if headers == listed.HEADERS else own_files(options.include, headers[0])
        found += collect(headers, flags, [*clang, *flags], here, False)
    # What counts as known to a host compiler is what g++ takes.
    gxx = ["g++", "-fsyntax-only", "-x", "c++", *common[:4], "-w", "-fmax-errors=0"]
    found += collect(listed.PLAIN_HEADERS, ["-x", "c++", *common], gxx, roots, True)
    merged: dict[tuple[str, str, bool], dict[str, str]] = {}
    for use in found:
        sides = merged.setdefault((use.text, use.result, use.implicit), {})
        sides.setdefault(use.sides, use.header)
    by_header: dict[str, list[str]] = {}
    for (text, result, implicit), sides in merged.items():
        letters = "".join(letter for letter in "dhg" if letter in sides)
        use = listed.Use("", letters, result, implicit, text)
        by_header.setdefault(next(iter(sides.values())), []).append(use.line())
    print(f"# Every function of HIP's public headers, from {options.source}.")
    print("# Made by tests/support/hip_functions_extract.py, which says how; do not edit.")
    for header in sorted(by_header):
        print(f"[{header}]")
        print("\n".join(sorted(by_header[header], key=lambda line: line.split(" ", 1)[1])))


if __name__ == "__main__":
    main()
