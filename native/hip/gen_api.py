"""Generates the exported surface of libamdhip64 from the headers and api_table.txt.

    gen_api.py HEADER_FOLDER OUTPUT_FOLDER

api_impl.h    what the runtime has to define, in namespace hip
api_entry.cpp one exported function per API: hook, call, last error; stubs for what is not supported
api_ids.h     the number of each API, and their names in that order
hip.map       the linker's version script
hiprtc_entry.cpp, hiprtc.map   the same for libhiprtc, which has no versions and no hooks
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
Prototypes = dict[str, tuple[str, list[tuple[str, str]]]]  # {name: (result, [(type, parameter)])}
PROTOTYPE = re.compile(r"^HIP_API (.+?)\b(\w+)\(([^;]*)\);", re.M | re.S)


def strip_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def parse_prototypes(text: str) -> Prototypes:
    found: Prototypes = {}
    for result, name, parameters in PROTOTYPE.findall(strip_comments(text)):
        parameters = re.sub(r"\s*HIP_DEFAULT\((?:[^()]|\([^()]*\))*\)", "", parameters)
        rows = []
        for parameter in " ".join(parameters.split()).split(", "):
            if parameter in ("", "void"):
                continue
            match = re.fullmatch(r"(.*?[\s*&])(\w+)", parameter)
            if match is None:
                sys.exit(f"gen_api.py: {name} has a parameter without a name: {parameter}")
            rows.append((match[1].strip(), match[2]))
        found[name] = (" ".join(result.split()), rows)
    return found


def parse_table(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            names = sections.setdefault(line.strip("[]"), [])
        else:
            names.extend(line.split())
    return sections


def version_script(nodes: dict[str, list[str]]) -> str:
    """The C++ names are those that ROCm 5 programs call with C++ linkage."""
    mangled = [
        "_Z22hipCreateSurfaceObject*",
        "_Z23hipDestroySurfaceObject*",
        "_Z24hipExtModuleLaunchKernel*",
        "_Z24hipHccModuleLaunchKernel*",
    ]
    previous = ""
    text = ""
    for node, names in nodes.items():
        more = [*mangled, "rocm_perf_hip_*"] if not previous else []
        local = "local:\n  *;\n" if not previous else ""
        body = "".join(f"  {name};\n" for name in sorted(names) + more)
        text += f"{node} {{\nglobal:\n{body}{local}}}{' ' + previous if previous else ''};\n\n"
        previous = node
    return text


LAST_ERRORS = ("hipGetLastError", "hipPeekAtLastError", "hipExtGetLastError")
# Answered from what the process knew before a fork, so a child may ask: compilers' workers do.
KNOWN_BEFORE = (
    "hipGetDevice",
    "hipGetDeviceCount",
    "hipGetDeviceProperties",
    "hipGetDevicePropertiesR0600",
    "hipGetDevicePropertiesR0000",
    "hipDeviceGetAttribute",
    "hipDeviceGetName",
    "hipRuntimeGetVersion",
    "hipDriverGetVersion",
)


class Forwards:
    """Which APIs are calls of something else, and of what.

    X and XAsync of [moves] run what requests::X() describes, now or in a stream; X=Y of [same] is Y. X_spt
    is X with the thread's own stream for the null stream. Of hipGraphX of [nodes], hipGraphAddX adds to a
    graph what nodes::hipGraphX() makes, and hipGraphXSetParams puts it into a node. hipGraphExec...NodeSet...
    does to the node of an instantiated graph what hipGraph...NodeSet... does to that of a graph.
    """

    def __init__(
        self, prototypes: Prototypes, table: dict[str, list[str]], supported: list[str]
    ) -> None:
        self.prototypes, self.supported = prototypes, set(supported)
        self.same = dict(pair.split("=") for pair in table["same"])
        self.moves, self.nodes = set(table["moves"]), set(table["nodes"])

    def call(self, name: str) -> str | None:
        """None: it is one by itself."""
        parameters = self.prototypes[name][1]
        kinds = [kind for kind, _ in parameters]
        passed = [identifier for _, identifier in parameters]
        if base := self.same.get(name):
            passed = passed[: len(self.prototypes[base][1])]
            return self._made(base, kinds, passed) or f"hip::{base}({', '.join(passed)})"
        if made := self._made(name, kinds, passed):
            return made
        if name.endswith("_spt") and "hipStream_t" in kinds:
            base = name.removesuffix("_spt")
            at = kinds.index("hipStream_t")
            passed[at] = f"hip::own_stream({passed[at]})"
        elif "Exec" in name and kinds[:2] == ["hipGraphExec_t", "hipGraphNode_t"]:
            base = name.replace("Exec", "", 1)
            base = base if base in self.supported else base.replace("Drv", "", 1)
            passed[:2] = [f"hip::in_exec({passed[0]}, {passed[1]})"]
            passed = passed[:-1] if kinds[-1] == "hipCtx_t" else passed
            if node := self._node(base, passed):
                return node
        else:
            return None
        return f"hip::{base}({', '.join(passed)})" if base in self.supported else None

    def _made(self, name: str, kinds: list[str], passed: list[str]) -> str | None:
        if moved := self._move(name, kinds, passed):
            return moved
        return self._node(name, [p for k, p in zip(kinds, passed, strict=False) if k != "hipCtx_t"])

    def _node(self, name: str, passed: list[str]) -> str | None:
        base = name.replace("GraphAdd", "Graph", 1).replace("SetParams", "", 1)
        if base == name or base not in self.nodes:
            return None
        known = 4 if "GraphAdd" in name else 1
        what = "add_node" if known == 4 else "set_node"
        made = f"hip::nodes::{base}({', '.join(passed[known:])})"
        return f"hip::{what}({', '.join(passed[:known])}, {made})"

    def _move(self, name: str, kinds: list[str], passed: list[str]) -> str | None:
        own = name.endswith("_spt")
        base = name.removesuffix("_spt").removesuffix("Async")
        if base not in self.moves:
            return None
        stream, blocking = "hipStreamPerThread" if own else "nullptr", "Yes"
        if kinds[-1] == "hipStream_t":
            passed, stream, blocking = passed[:-1], passed[-1], "No"
            stream = f"hip::own_stream({stream})" if own else stream
        request = f"hip::requests::{base}({', '.join(passed)})"
        return f"hip::move({request}, {stream}, hip::Blocking::{blocking})"


def entry(
    name: str, result: str, parameters: list[tuple[str, str]], supported: bool, call: str | None
) -> str:
    declared = ", ".join(f"{kind} {identifier}" for kind, identifier in parameters)
    passed = ", ".join(identifier for _, identifier in parameters)
    head = f"{result} {name}({declared}) {{\n"
    if not supported:
        unused = "".join(f"  (void){identifier};\n" for _, identifier in parameters)
        value = {"void": "", "hipError_t": " hip::finish(hipErrorNotSupported)"}.get(result, " {}")
        return f'{head}{unused}  hip::not_supported("{name}");\n  return{value};\n}}\n\n'
    call = call or f"hip::{name}({passed})"
    if result == "hipError_t" and name not in LAST_ERRORS:
        checked = call if name in KNOWN_BEFORE else f"hip::forked() ? hip::refuse_forked() : {call}"
        call = f"hip::finish({checked})"
    arguments = ", ".join(
        f'hip::argument("{identifier}", "{kind}", {identifier})' for kind, identifier in parameters
    )
    array = f"    const hip_api_argument arguments[] = {{{arguments}}};\n" if parameters else ""
    given = "arguments, " + str(len(parameters)) if parameters else "nullptr, 0"
    return (
        f"{head}  if (hip::watched()) [[unlikely]] {{\n{array}"
        f"    return hip::traced(hip::ApiId::{name}, {given}, [&] {{ return {call}; }});\n"
        f"  }}\n  return {call};\n}}\n\n"
    )


def main() -> None:
    headers, output = Path(sys.argv[1]), Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    sources = [
        *sorted(headers.glob("hip/detail/api_*.h")),
        headers / "hip/hiprtc.h",
        HERE / "internal_api.h",
    ]
    prototypes: Prototypes = {}
    for source in sources:
        prototypes.update(parse_prototypes(source.read_text()))
    nodes = parse_table((HERE / "api_table.txt").read_text())
    unsupported = set(nodes.pop("not supported"))
    made = {section: nodes.pop(section) for section in ("same", "moves", "nodes")}
    exported = [name for names in nodes.values() for name in names]
    prototypes["hipCreateChannelDesc"] = (
        "hipChannelFormatDesc",
        [("int", "x"), ("int", "y"), ("int", "z"), ("int", "w"), ("hipChannelFormatKind", "f")],
    )
    missing = (set(exported) ^ set(prototypes)) | (unsupported - set(exported))
    if missing:
        sys.exit(f"gen_api.py: table and headers disagree about {', '.join(sorted(missing))}")

    names = sorted(exported)
    note = "// Generated by gen_api.py; do not edit.\n"
    ids = "".join(f"  {name},\n" for name in names)
    quoted = "".join(f'    "{name}",\n' for name in names)
    supported = [name for name in names if name not in unsupported]
    known = Forwards(prototypes, made, supported)
    forwards = {n: known.call(n) for n in supported}
    implemented = [name for name in supported if not forwards[name]]
    (output / "api_ids.h").write_text(
        f"{note}#pragma once\n#include <cstdint>\nnamespace hip {{\n"
        f"enum class ApiId : uint32_t {{\n{ids}  count\n}};\n"
        f"inline constexpr const char* kApiNames[] = {{\n{quoted}}};\n}}  // namespace hip\n"
    )

    def declared(name: str, result: str) -> str:
        return f"{result} {name}({', '.join(f'{k} {i}' for k, i in prototypes[name][1])});\n"

    requests = "".join(
        declared(n, "FillRequest" if "Memset" in n else "CopyRequest") for n in made["moves"]
    )
    (output / "api_impl.h").write_text(
        f'{note}#pragma once\n#include "internal_api.h"\nnamespace hip {{\n'
        + "".join(declared(n, prototypes[n][0]) for n in implemented)
        + "struct CopyRequest;\nstruct FillRequest;\n"
        f"namespace requests {{\n{requests}}}  // namespace requests\n}}  // namespace hip\n"
    )
    entries = "".join(
        entry(n, *prototypes[n], n not in unsupported, forwards.get(n)) for n in names
    )
    # The cast picks the C function where C++ templates of the same name exist.
    table = "".join(
        f'    {{"{n}", (void*)({prototypes[n][0]} (*)({", ".join(k for k, _ in prototypes[n][1])}))'
        f"&::{n}}},\n"
        for n in names
    )
    (output / "api_entry.cpp").write_text(
        f'{note}#include "api_impl.h"\n#include "entry.h"\n#include "graph_work.h"\n#include "memory.h"\n\nextern "C" {{\n\n{entries}}}\n\n'
        f"namespace hip {{\nconst ApiAddress kApiAddresses[] = {{\n{table}}};\n"
        f"const unsigned kApiAddressCount = {len(names)};\n}}  // namespace hip\n"
    )
    (output / "hip.map").write_text(version_script(nodes))
    rtc = [name for name in names if name.startswith("hiprtc")]
    plain = "".join(
        f"{prototypes[n][0]} {n}({', '.join(f'{k} {i}' for k, i in prototypes[n][1])}) {{\n"
        f"  return hip::{n}({', '.join(i for _, i in prototypes[n][1])});\n}}\n"
        for n in rtc
    )
    (output / "hiprtc_entry.cpp").write_text(
        f'{note}#include "api_impl.h"\n\nextern "C" {{\n{plain}}}\n'
    )
    (output / "hiprtc.map").write_text(
        "{\nglobal:\n" + "".join(f"  {n};\n" for n in rtc) + "local:\n  *;\n};\n"
    )


if __name__ == "__main__":
    main()
