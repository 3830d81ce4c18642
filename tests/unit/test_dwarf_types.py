"""Types of kernel parameters from debug information, as a compiler writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.codeobject.dwarf_types import Array, Pointer, Scalar, Struct, parameters
from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.layout import flatten
from support.hip_build import need_compiler
from support.kernel_captures import compile_kernels

SOURCE = """
#include <hip/hip_fp16.h>
struct Point { float3 at; int id; };
struct Node { Node* next; float4 value; unsigned char kind[8]; };
struct View { const Point* points; float* out; int count; double scale[2]; };
union Either { float number; int bits; };
template <class T> __global__ void all(
    const T* x, View view, Node* list, bool flag, __half* half, float** rows, Either either) {
  if (flag) view.out[0] = x[0] + list->value.x + rows[0][0] + __half2float(*half) + either.number;
}
template __global__ void all<double>(
    const double*, View, Node*, bool, __half*, float**, Either);
extern "C" __global__ void plain(const int* a, unsigned short b) { (void)a; (void)b; }
"""


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Elf:
    need_compiler()
    folder: Path = tmp_path_factory.mktemp("types")
    return compile_kernels(folder, SOURCE, "types", "-g").elf


def symbol(elf: Elf) -> str:
    """Of the template's instance."""
    return next(s.name for s in elf.symbols() if s.name.startswith("_Z3all") and "." not in s.name)


def test_every_parameter_of_an_instance_has_its_type(elf: Elf) -> None:
    found = parameters(elf, symbol(elf))
    assert found is not None
    x, view, nodes, flag, half, rows, either = found
    assert isinstance(x, Pointer)
    assert (x.const, x.to()) == (True, Scalar("double", 8, "float"))
    assert isinstance(view, Struct)
    assert [offset for offset, _ in view.fields] == [0, 8, 16, 24]
    assert view.fields[3][1] == Array(Scalar("double", 8, "float"), 2)
    assert flag == Scalar("bool", 1, "bool")
    assert isinstance(nodes, Pointer)
    node = nodes.to()
    assert isinstance(node, Struct)
    assert isinstance(node.fields[0][1], Pointer)
    assert node.fields[0][1].to() == node  # a type that refers to itself
    assert isinstance(rows, Pointer)
    assert isinstance(rows.to(), Pointer)
    assert isinstance(half, Pointer)
    assert isinstance(either, Struct)
    assert either.union


def test_a_type_is_laid_out_in_numbers_and_pointers(elf: Elf) -> None:
    found = parameters(elf, symbol(elf))
    assert found is not None
    _, view, nodes, _, half, _, either = found
    laid = flatten(view)
    assert [(leaf.offset, leaf.type.name) for leaf in laid.leaves] == [
        (16, "i32"), (24, "f64"), (32, "f64"),
    ]  # fmt: skip
    assert [at for at, _ in laid.pointers] == [0, 8]
    assert isinstance(nodes, Pointer)
    node = nodes.to()
    assert node is not None
    names = [leaf.type.name for leaf in flatten(node).leaves]
    assert names == ["f32"] * 4 + ["u8"] * 8
    assert isinstance(half, Pointer)
    inner = half.to()
    assert inner is not None
    assert [leaf.type.name for leaf in flatten(inner).leaves] == ["f16"]
    assert [leaf.type.name for leaf in flatten(either).leaves] == ["u32"]  # a number or bits: words


def test_an_extern_c_kernel_goes_by_its_name(elf: Elf) -> None:
    found = parameters(elf, "plain")
    assert found is not None
    assert found[1] == Scalar("unsigned short", 2, "unsigned")


def test_what_is_not_there_is_not_known(elf: Elf, tmp_path: Path) -> None:
    assert parameters(elf, "nobody") is None
    bare = compile_kernels(tmp_path, SOURCE, "bare").elf
    assert parameters(bare, symbol(bare)) is None


def test_damaged_debug_information_is_bad_input(elf: Elf) -> None:
    section = elf.section(".debug_info")
    assert section is not None
    ended = 0
    for at in range(12, section.size, max(1, section.size // 40)):
        data = bytearray(elf.data)
        data[section.offset + at] ^= 0x5F
        try:
            parameters(Elf(bytes(data)), symbol(elf))
        except BadInput:
            ended += 1
    assert ended
