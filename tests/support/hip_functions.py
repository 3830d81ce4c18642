"""AMD's public list of functions, held against this project's headers.

`tests/hip_functions/*.txt` has one use of every function and overload per line:

    dhg __half = __hadd({__half}, {__half})

The letters say who may call it: device code, host code of a HIP source, a plain host compiler
such as g++. Then comes the type of the result and the use, with the types of its operands in
braces. `=~` in place of `=` is a conversion that happens without being asked for.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.device.toolchain import (
    DEFAULT_ARCH,
    device_flags,
    find_toolchain,
    header_flags,
    include_dir,
)
from support import machine

TESTS = Path(__file__).resolve().parents[1]
LIST = TESTS / "hip_functions" / "hip-7.2.txt"
ROW = re.compile(r"(?P<sides>[dhg]+) (?P<result>.+?) (?P<how>=~?) (?P<use>.+)")
OPERAND = re.compile(r"\{([^{}]+)\}")
HOST_SIDE = ("-x", "hip", "--offload-host-only", "-nogpulib", "-nogpuinc")
SIDES = {"d": "device", "h": "host", "g": "plain"}

# fp6 and fp4 have a unit of their own: AMD's headers for the two cannot be read together.
HEADERS = tuple(
    f"hip/{name}.h"
    for name in (
        "hip_runtime hip_fp16 hip_bf16 hip_bfloat16 hip_fp8 hip_complex hip_cooperative_groups "
        "hip_ext hiprtc hip_math_constants hip_vector_types channel_descriptor texture_types "
        "surface_types library_types hip_profile"
    ).split()
)
PLAIN_HEADERS = tuple(h for h in HEADERS if "cooperative" not in h)
ALONE = ("hip/hip_fp6.h", "hip/hip_fp4.h", "hip/hip_ext_ocp.h")

PREAMBLE = """
namespace listed {
template <class T> struct as { using type = T; };
template <class T> struct plain { using type = T; };
template <class T> struct plain<T&> { using type = typename plain<T>::type; };
template <class T> struct plain<T&&> { using type = typename plain<T>::type; };
template <class T> struct plain<const T> { using type = T; };
template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };
template <class T> T&& value();
}
"""


@dataclass(frozen=True)
class Use:
    header: str
    sides: str
    result: str
    implicit: bool
    text: str

    def line(self) -> str:
        return f"{self.sides} {self.result} {'=~' if self.implicit else '='} {self.text}"


def read(path: Path = LIST) -> list[Use]:
    header, uses = "", []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            header = line[1:-1]
        elif line and not line.startswith("#"):
            row = ROW.fullmatch(line)
            assert row is not None, line
            uses.append(Use(header, row["sides"], row["result"], row["how"] == "=~", row["use"]))
    return uses


def code(use: Use, name: str, mark: str, *, check_result: bool = True) -> str:
    """One function on one line that does what the row says."""
    types = OPERAND.findall(use.text)
    numbers = iter(range(len(types)))

    def operand(match: re.Match[str]) -> str:
        number = next(numbers)
        if match[1].endswith("&&"):
            return f"static_cast<listed::as<{match[1]}>::type>(a{number})"
        return f"a{number}"

    expression = OPERAND.sub(operand, use.text)
    parameters = ", ".join(f"listed::as<{t}>::type a{i}" for i, t in enumerate(types))
    if use.implicit:
        body = f"{use.result} r = {expression}; (void)r;"
    elif use.result == "void" or not check_result:
        body = f"using result = decltype({expression}); (void)({expression});"
    else:
        kind = f"listed::plain<decltype({expression})>::type"
        body = (
            f'(void)({expression}); static_assert(listed::same<{kind}, {use.result}>::value, "");'
        )
    return f"{mark} void {name}({parameters}) {{ {body} }}"


def unit(headers: Sequence[str], lines: Iterable[str]) -> tuple[str, int]:
    """The text of a translation unit and the number of the first of `lines` in it."""
    head = "".join(f"#include <{name}>\n" for name in headers) + PREAMBLE
    return head + "\n".join(lines) + "\n", head.count("\n") + 1


def failing_lines(command: Sequence[str], text: str, source: Path) -> dict[int, str]:
    """Line numbers of `text` that the compiler finds a mistake in, with its first word on each."""
    source.write_text(text)
    done = subprocess.run(
        [*command, str(source)], capture_output=True, text=True, check=False, timeout=300
    )
    found: dict[int, str] = {}
    # An error in a header stands for the line that asked for it: clang names that line in a note
    # after the error, g++ before it as "required from here".
    error, asked = "", 0
    for line in done.stderr.splitlines():
        place = re.match(r"(.+?):(\d+):\d+: +(.*)", line)
        if place is None:
            continue
        mine, number, message = place[1] == str(source), int(place[2]), place[3]
        if mine and message.startswith("required from here"):
            asked = number
        elif "error: " in message:
            error = message.split("error: ", 1)[1]
            if mine or asked:
                found.setdefault(number if mine else asked, error)
                error, asked = "", 0
        elif mine and error:
            found.setdefault(number, error)
            error = ""
    assert done.returncode == 0 or found, done.stderr[:2000]
    return found


def commands() -> dict[str, list[str]]:
    """How each side is compiled with this project's headers; `plain` where there is a g++."""
    toolchain = find_toolchain()
    flags = [*header_flags(), *toolchain.host_flags, "-std=c++17", "-fsyntax-only"]
    flags += ["-ferror-limit=0", "-Wno-everything"]
    found = {
        "device": [*toolchain.clang, *device_flags(DEFAULT_ARCH), *flags],
        "host": [*toolchain.clang, *HOST_SIDE, *flags],
    }
    if gxx := machine.which("g++"):
        plain = ["-std=c++17", "-fsyntax-only", "-w", "-fmax-errors=0", "-D__HIP_PLATFORM_AMD__=1"]
        found["plain"] = [gxx, "-x", "c++", *plain, "-isystem", str(include_dir())]
    return found


def missing(uses: Sequence[Use], folder: Path) -> dict[Use, dict[str, str]]:
    """What does not compile, and on which sides: {use: {side: the compiler's first word}}."""
    found: dict[Use, dict[str, str]] = {}
    marks = {"device": "__device__", "host": "__host__", "plain": ""}
    for letter, side in SIDES.items():
        command = commands().get(side)
        if command is None:
            continue
        mine = [use for use in uses if letter in use.sides]
        lines = [code(use, f"u{i}", marks[side]) for i, use in enumerate(mine)]
        headers = PLAIN_HEADERS if side == "plain" else HEADERS + ALONE
        there = [name for name in headers if (include_dir() / name).exists()]
        text, first = unit(there, lines)
        for number, error in failing_lines(command, text, folder / f"{side}.cpp").items():
            found.setdefault(mine[number - first], {})[side] = error
    return found


PAGE = TESTS.parent / "docs" / "hip-functions.md"
HEAD = """# AMD's list of HIP functions

Every function and overload that AMD's public headers declare, tried with this project's: each is
called with arguments of the types declared there, and its result has to have the type it has
there. {total} uses, {there} as in AMD's headers, {other} with another result type, {missing}
missing. Generated by `PYTHONPATH=tests python -m support.hip_functions`, and held to the headers by
`tests/integration/test_hip_functions.py`. The list is `tests/hip_functions/hip-7.2.txt`, made from
{source}

What AMD's own headers refuse for gfx942 (reading images) is not in it, nor is what begins with
`__ocml_` or `__ockl_` or lives in namespaces called internal. `clang` are the mathematics that
AMD's compiler has built in. Letters of a line in the list, and words at the end of a line here:
device code, host code of a HIP source, a plain host compiler (g++).

| header | uses | missing | another result |
|---|---|---|---|
"""


def page(uses: Sequence[Use], found: dict[Use, dict[str, str]]) -> str:
    other = {use for use, errors in found.items() if _only_results_differ(errors)}
    gone = set(found) - other
    source = LIST.read_text("utf-8").split("\n", 1)[0].split(", from ", 1)[1]
    text = HEAD.format(
        total=len(uses), there=len(uses) - len(found), other=len(other), missing=len(gone),
        source=source,
    )  # fmt: skip
    for header in sorted({use.header for use in uses}):
        mine = [use for use in uses if use.header == header]
        counts = (len(mine), len(gone.intersection(mine)), len(other.intersection(mine)))
        text += f"| `{header}` | {' | '.join(str(n) if n else '' for n in counts)} |\n"
    for title, which in (("Missing", gone), ("There, with another result", other)):
        text += f"\n## {title}\n```text\n"
        for use in uses:
            if use in which:
                sides = ", ".join(side for side in SIDES.values() if side in found[use])
                text += f"{use.line().split(' ', 1)[1]}    [{sides}]\n"
        text += "```\n"
    return text


def _only_results_differ(errors: dict[str, str]) -> bool:
    return all("static assertion failed" in error for error in errors.values())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        everything = read()
        PAGE.write_text(page(everything, missing(everything, Path(folder))), "utf-8")
