"""The captured kernel's arguments, with what they point to.

HIP's compiler states no types in the code object, so they come from the kernel's own demangled
name where the note has none: `void k<float>(float const*, int)`.
"""

from __future__ import annotations

from rocm_perf_lab.schema.capture import Dispatch, KernelArgument

_OPEN, _CLOSE = "(<[{", ")>]}"


def signature_types(demangled: str) -> list[str]:
    """The parameter types in a demangled name; empty where it shows none."""
    text = demangled[: demangled.rfind(")") + 1]  # what follows is a clone's mark
    if not text:
        return []
    depth, at = 0, len(text)
    while at:
        at -= 1
        if text[at] in _CLOSE and not text[:at].endswith("-"):
            depth += 1
        elif text[at] in _OPEN:
            depth -= 1
            if depth == 0:
                break
    inner = text[at + 1 : -1].strip()
    if not inner or inner == "void":
        return []
    parts, depth, start = [], 0, 0
    for i, char in enumerate(inner):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and not (i and inner[i - 1] == "-"):
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(inner[start:i].strip())
            start = i + 1
    return [*parts, inner[start:].strip()]


def typed(dispatch: Dispatch) -> list[tuple[KernelArgument, str | None]]:
    """The explicit arguments, each with its type where one is known."""
    explicit = [argument for argument in dispatch.arguments if not argument.hidden]
    shown = signature_types(dispatch.kernel.demangled)
    if len(shown) != len(explicit):
        shown = [""] * len(explicit)
    return [(a, a.type or t or None) for a, t in zip(explicit, shown, strict=True)]


def pointers(dispatch: Dispatch) -> list[tuple[str, int, str | None]]:
    """(name, address, type of what it points to) of the arguments that are pointers."""
    found: list[tuple[str, int, str | None]] = []
    for number, (argument, kind) in enumerate(typed(dispatch)):
        if argument.kind != "global_buffer" or not argument.value_hex:
            continue
        address = int.from_bytes(bytes.fromhex(argument.value_hex)[:8], "little")
        found.append((argument.name or f"argument {number}", address, kind))
    return found
