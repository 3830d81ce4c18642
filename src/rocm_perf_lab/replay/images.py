"""Code objects in a replay: loaded anew, and where their variables are now."""

from __future__ import annotations

import contextlib
import ctypes as c
from collections.abc import Iterator
from dataclasses import dataclass

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_object
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.replay import hsa as h

STT_OBJECT = 1


@dataclass(frozen=True)
class Image:
    """A code object loaded on the device. `data` must outlive it: ROCr reads it later."""

    executable: int
    base: int
    size: int
    delta: int  # loaded address = linked address + delta
    data: c.Array[c.c_char]


@dataclass(frozen=True)
class Variable:
    name: str
    address: int  # as linked
    size: int


@dataclass(frozen=True)
class Entry:
    """What a packet needs of a kernel."""

    kernel_object: int
    group_bytes: int  # without dynamic LDS
    private_bytes: int
    dynamic_stack: bool
    kernarg_bytes: int


def load(hsa: h.Hsa, agent: h.Agent, data: bytes) -> Image:
    """Each in an executable of its own: two may define the same names."""
    held = c.create_string_buffer(data, len(data))
    reader, executable, loaded = h.Handle(), h.Handle(), h.Handle()
    hsa.code_object_reader_create_from_memory(held, len(data), c.byref(reader))
    try:
        hsa.executable_create_alt(1, 0, None, c.byref(executable))
        try:
            hsa.executable_load_agent_code_object(
                executable.value, agent.handle, reader.value, None, c.byref(loaded)
            )
            hsa.executable_freeze(executable.value, None)
            base, size, delta = hsa.loaded(executable.value)[0]
        except h.HsaError:
            hsa.executable_destroy(executable.value)
            raise
    finally:
        with contextlib.suppress(h.HsaError):
            hsa.code_object_reader_destroy(reader.value)
    return Image(executable.value, base, size, delta, held)


def entry(hsa: h.Hsa, agent: h.Agent, image: Image, kernel: str) -> Entry:
    """By name: the first symbol of an object is seldom the one that ran."""
    symbol, owner = h.Handle(), h.Handle(agent.handle)
    hsa.executable_get_symbol_by_name(
        image.executable, f"{kernel}.kd".encode(), c.byref(owner), c.byref(symbol)
    )
    wide, stack = c.c_uint64(), c.c_bool()
    words = [c.c_uint32() for _ in range(3)]
    info = hsa.executable_symbol_get_info
    info(symbol.value, h.SYMBOL_KERNEL_OBJECT, c.byref(wide))
    info(symbol.value, h.SYMBOL_GROUP_SIZE, c.byref(words[0]))
    info(symbol.value, h.SYMBOL_PRIVATE_SIZE, c.byref(words[1]))
    info(symbol.value, h.SYMBOL_KERNARG_SIZE, c.byref(words[2]))
    info(symbol.value, h.SYMBOL_DYNAMIC_STACK, c.byref(stack))
    return Entry(wide.value, words[0].value, words[1].value, stack.value, words[2].value)


def parse(data: bytes, what: str) -> CodeObject:
    try:
        return read_code_object(data)
    except BadInput as error:
        raise BadInput(f"{what}: {error.message}") from None


def kernel_of(code: CodeObject, name: str, what: str) -> Kernel:
    found = next((kernel for kernel in code.kernels if kernel.name == name), None)
    if found is None:
        have = ", ".join(kernel.name for kernel in code.kernels[:5]) or "none"
        raise BadInput(f"{what} has no kernel {name}", hint=f"its kernels: {have}")
    return found


def variables(code: CodeObject) -> Iterator[Variable]:
    for symbol in code.elf.symbols():
        named = symbol.name and not symbol.name.endswith(".kd")
        if symbol.type == STT_OBJECT and symbol.defined and symbol.size and named:
            yield Variable(symbol.name, symbol.value, symbol.size)
