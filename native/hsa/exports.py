"""Write the exported HSA functions from the preprocessed public headers, and the API tables first.

Usage: exports.py SLOTS OUTPUT.h
       exports.py SLOTS PREPROCESSED UNSUPPORTED OUTPUT.cpp OUTPUT.h

Each declaration marked HSA_API becomes three things: the declaration of its implementation in
namespace `impl`, the initial value of its slot in an API table, and an exported function that
jumps through the slot. A function without a slot of its own (HSA 1.0's older names, the loader
extension) jumps to the slot or implementation it stands for. Names in UNSUPPORTED get an
implementation that says so and answers HSA_STATUS_ERROR_NOT_SUPPORTED; a function that is in
neither place fails to link, so nothing is missing silently.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ORDERS = ("relaxed", "scacquire", "screlease", "scacq_screl")
# HSA 1.0 spelt sequentially consistent orders without the "sc".
OLD_ORDERS = {"_acquire": "_scacquire", "_release": "_screlease", "_acq_rel": "_scacq_screl"}


class Function(NamedTuple):
    result: str
    name: str
    parameters: str
    arguments: str


def functions(text: str) -> list[Function]:
    found = []
    for mark in re.finditer(r"\bHSA_API\s+([\w\s*]+?)\b(hsa_\w+)\s*\(", text):
        end = _closing(text, mark.end())
        parameters = " ".join(text[mark.end() : end].split())
        names = [] if parameters in ("", "void") else [_name(p) for p in _split(parameters)]
        found.append(Function(mark[1].strip(), mark[2], parameters, ", ".join(names)))
    return sorted(set(found), key=lambda f: f.name)


def read_slots(text: str) -> dict[str, list[str]]:
    """The functions of each table, in the order of their slots."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            names = found.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            for word in line.split():
                names += [word[:-1] + order for order in ORDERS] if word[-1] == "*" else [word]
    return found


def tables(slots: dict[str, list[str]]) -> str:
    lines = ["// Written by exports.py; do not edit."]
    for table, names in slots.items():
        slot_lines = [f"  decltype({name})* {name}_fn;" for name in names]
        lines += [f"struct {table} {{", "  ApiTableVersion version;", *slot_lines, "};"]
    return "\n".join([*lines, ""])


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def _split(parameters: str) -> list[str]:
    parts, depth = [""], 0
    for char in parameters:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _name(parameter: str) -> str:
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", parameter)
    return pointer[1] if pointer else re.findall(r"\w+", parameter)[-1]


def _stands_for(name: str, table_of: dict[str, str]) -> str:
    for old, new in OLD_ORDERS.items():
        if name.endswith(old) and name.removesuffix(old) + new in table_of:
            return name.removesuffix(old) + new
    return name


def render(text: str, slots: dict[str, list[str]], unsupported: set[str]) -> str:
    table_of = _table_of(slots)
    out = ['#include "hsa_impl.h"', "", "namespace impl {"]
    every = functions(text)
    unknown = unsupported - {f.name for f in every}
    if unknown:
        raise SystemExit(f"exports.py: unsupported.txt names unknown {', '.join(sorted(unknown))}")
    for f in _implemented(every, table_of):
        if f.name in unsupported:
            out.append(f"{f.result} {f.name}({_unnamed(f)}) {{ return unsupported(__func__); }}")
    out += ["}  // namespace impl", ""]
    for table, names in slots.items():
        out.append(f"void fill({table}& table) {{")
        out += [f"  table.{name}_fn = impl::{name};" for name in names]
        out.append("}")
    out += ["", 'extern "C" {']
    for f in every:
        target = _stands_for(f.name, table_of)
        call = f"slot({table_of[target]}, {target})" if target in table_of else f"impl::{target}"
        out.append(
            f"HSA_API {f.result} {f.name}({f.parameters}) {{ return {call}({f.arguments}); }}"
        )
    out += ['}  // extern "C"', ""]
    return "\n".join(out)


def _table_of(slots: dict[str, list[str]]) -> dict[str, str]:
    return {name: table for table, names in slots.items() for name in names}


def declarations(text: str, slots: dict[str, list[str]]) -> str:
    own = _implemented(functions(text), _table_of(slots))
    lines = [f"{f.result} {f.name}({f.parameters});" for f in own]
    return "\n".join(
        [
            "#pragma once",
            '#include "api.h"',
            "",
            "namespace impl {",
            *lines,
            "}  // namespace impl",
            "",
        ]
    )


def _implemented(every: list[Function], table_of: dict[str, str]) -> list[Function]:
    return [f for f in every if _stands_for(f.name, table_of) == f.name]


def _unnamed(f: Function) -> str:
    """The parameters without their names, so that an implementation may ignore them."""
    if not f.arguments:
        return ""
    parts = []
    for parameter, name in zip(_split(f.parameters), f.arguments.split(", "), strict=True):
        at = parameter.rfind(name) if "(" not in parameter else parameter.find(name)
        parts.append(parameter[:at] + parameter[at + len(name) :])
    return ", ".join(part.strip() for part in parts)


def main() -> None:
    slots = read_slots(Path(sys.argv[1]).read_text())
    if len(sys.argv) == 3:
        header = Path(sys.argv[2])
        if not header.exists() or header.read_text() != tables(
            slots
        ):  # nobody compiles anew for nothing
            header.write_text(tables(slots))
        return
    source, unsupported, output, header = (Path(arg) for arg in sys.argv[2:6])
    lines = (line.split("#")[0].strip() for line in unsupported.read_text().splitlines())
    text = source.read_text()
    output.write_text(render(text, slots, {line for line in lines if line}))
    header.write_text(declarations(text, slots))


if __name__ == "__main__":
    main()
