"""Names as the source has them, of any symbol a file may hold."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.codeobject.demangle import demangle

SYMBOLS = ["_Z5scaleIfEvPT_", "_ZN2ns4kernIiLi4EEEvPKT_S3_i", "plain", "_Z"]


def test_as_the_compilers_own_tool() -> None:
    tool = shutil.which("c++filt")
    if tool is None:
        pytest.skip("no c++filt")
    done = subprocess.run([tool, *SYMBOLS], capture_output=True, text=True, check=True)
    assert [demangle(symbol) for symbol in SYMBOLS] == done.stdout.splitlines()


@given(st.text(max_size=60))
def test_whatever_a_file_holds_gets_an_answer(rest: str) -> None:
    assert demangle("_Z" + rest)


def test_a_symbol_beyond_reason_stays_as_it_is() -> None:
    long = "_Z1f" + "i" * 4096
    assert demangle(long) == long


def test_a_symbol_whose_name_would_fill_the_memory_stays_as_it_is() -> None:
    def of(parts: str) -> str:
        """Each part is A<the one before, the one before>."""
        return f"_Z1fI1AIiE{''.join(f'S0_IS{n}_S{n}_E' for n in parts)}Evv"

    assert demangle(of("12")) == (
        "void f<A<int>, A<A<int>, A<int> >, A<A<A<int>, A<int> >, A<A<int>, A<int> > > >()"
    )
    hostile = of("123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert demangle(hostile) == hostile


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z1kI1AIS0_IiEEEvT_", "void k<A<A<int> > >(A<A<int> >)"),
        ("_Z1kIZ4mainEUliE_Evv", "void k<main::{lambda(int)#1}>()"),
        ("_Z1kIZ4mainEUlvE1_Evv", "void k<main::{lambda()#3}>()"),
        ("_Z1kIZ4mainEUlPFviE1AIS2_IiEEE0_1BEvv",
         "void k<main::{lambda(void (*)(int), A<A<int> >)#2}, B>()"),
        ("_Z1kIZ4mainEUt0_Evv", "void k<main::{unnamed type#2}>()"),
        ("_ZN1ArsIiEEvT_", "void A::operator>><int>(int)"),
    ],
)  # fmt: skip
def test_a_name_is_spelled_the_same_whatever_built_the_library(symbol: str, name: str) -> None:
    assert demangle(symbol) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z1kPDF16b", "k(__bf16*)"),
        ("_Z1kIDF16bEvPT_S1_", "void k<__bf16>(__bf16*, __bf16*)"),
        ("_Z1kPKDF16bS0_DF16_", "k(__bf16 const*, __bf16 const*, _Float16)"),
        ("_Z6kernelIDF16bLi4EEvPKT_", "void kernel<__bf16, 4>(__bf16 const*)"),
        ("_ZN2ns6kDF16bEPDF16_", "ns::kDF16b(_Float16*)"),
        ("_Z5scaleIfEvPT_", "void scale<float>(float*)"),
    ],
)
def test_the_types_of_16_bits_have_the_names_of_the_source(symbol: str, name: str) -> None:
    assert demangle(symbol) == name
