"""Write the exported HSA functions from the preprocessed public headers.

Usage: exports.py PREPROCESSED UNSUPPORTED OUTPUT.cpp OUTPUT.h

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

TABLES = ("CoreApiTable", "AmdExtTable", "FinalizerExtTable", "ImageExtTable")
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


def slots(text: str) -> dict[str, str]:
    """Function name -> the table its slot is in."""
    found = {}
    for table in TABLES:
        body = re.search(rf"struct {table} \{{(.*?)\}};", text, re.S)
        if body is None:
            raise SystemExit(f"exports.py: no struct {table} in the headers")
        for name in re.findall(r"decltype\((\w+)\)", body[1]):
            found[name] = table
    return found


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


def render(text: str, unsupported: set[str]) -> str:
    table_of = slots(text)
    out = ['#include "hsa_impl.h"', "", "namespace impl {"]
    every = functions(text)
    unknown = unsupported - {f.name for f in every}
    if unknown:
        raise SystemExit(f"exports.py: unsupported.txt names unknown {', '.join(sorted(unknown))}")
    for f in _implemented(every, table_of):
        if f.name in unsupported:
            out.append(f"{f.result} {f.name}({_unnamed(f)}) {{ return unsupported(__func__); }}")
    out += ["}  // namespace impl", ""]
    for table in TABLES:
        out.append(f"void fill({table}& table) {{")
        out += [f"  table.{n}_fn = impl::{n};" for n, t in table_of.items() if t == table]
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


def declarations(text: str) -> str:
    own = _implemented(functions(text), slots(text))
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
    source, unsupported, output, header = (Path(arg) for arg in sys.argv[1:5])
    lines = (line.split("#")[0].strip() for line in unsupported.read_text().splitlines())
    text = source.read_text()
    output.write_text(render(text, {line for line in lines if line}))
    header.write_text(declarations(text))


if __name__ == "__main__":
    main()
