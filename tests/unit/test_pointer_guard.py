"""Kernels that had to do with pointers before: the same again is permitted, more is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.optimize.static_guard import Verdict, check
from support.catalogue import context

SOURCE = """\
#include <hip/hip_runtime.h>
#include <cstring>

union Word { float* pointer; unsigned long number; };
struct Rows { float* first; const float* second; int count; };
struct Nested { int n; struct { Rows rows; } inner; };
struct Plain { int a; float b[4]; };
struct Derived : Rows { int more; };
__device__ float* row_of(float* base, int i) { return base + i; }
__device__ float* const table = nullptr;

template <typename T>
__global__ void typed(const T* in, T* out, int n) {
  int i = threadIdx.x;
  out[i] = in[i];
}

__global__ void batched(float* const* batch, void* raw, Rows rows, Word word, float* out, int n) {
  int i = threadIdx.x;
  const float* own = batch[i];
  float* bytes = static_cast<float*>(raw);
  float copied;
  memcpy(&copied, bytes + i, sizeof copied);
  rows.first[i] = copied + own[i];
  word.number += 1;
  out[i] = *row_of(out, i) + reinterpret_cast<unsigned long>(out);
}

__global__ void simple(float* out, Plain plain, int n) {
  int i = threadIdx.x;
  out[i] = plain.b[i % 4];
}
"""
LAST = {
    "typed": "  out[i] = in[i];",
    "batched": "  out[i] = *row_of(out, i) + reinterpret_cast<unsigned long>(out);",
    "simple": "  out[i] = plain.b[i % 4];",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pointers") / "kernels.cpp"
    file.write_text(SOURCE)
    return file


def judged(path: Path, kernel: str, added: str) -> Verdict:
    last = LAST[kernel]
    changed = SOURCE.replace(last, f"  {added}\n{last}")
    return check(context("body", path, SOURCE, kernel), changed)


@pytest.mark.parametrize(
    ("kernel", "added"),
    [
        ("typed", "float4 v = *(const float4*)&in[4 * i]; (void)v;"),
        ("typed", "float4 v = *reinterpret_cast<const float4*>(in + 4 * i); (void)v;"),
        ("typed", "T v = in[i]; out[i] = v;"),
        ("typed", "T part[4]; for (int k = 0; k < 4; ++k) part[k] = in[k]; out[i] = part[0];"),
        ("typed", "__shared__ T tile[64]; tile[i] = in[i]; out[i] = tile[i];"),
        ("typed", "if (reinterpret_cast<size_t>(in) % 16 == 0 && n > 0) out[i] = in[i];"),
        ("batched", "const float* other = batch[i + 1]; out[i] = other[0];"),
        ("batched", "float* again = static_cast<float*>(raw); again[i] = 0.0f;"),
        ("batched", "float other; memcpy(&other, bytes, sizeof other); out[i] = other;"),
        ("batched", "float* row = row_of(out, 2); row[i] = rows.first[0];"),
        ("typed", "T* p = out; p = &out[n]; const T* q = n ? in : in + 1; *p = q[0];"),
        ("simple", "float4 v = *(float4*)plain.b; out[i] = v.x;"),
        ("simple", "const Plain* p = &plain; out[i] = p->b[1];"),
    ],
)
def test_what_makes_no_pointer_passes(path: Path, kernel: str, added: str) -> None:
    verdict = judged(path, kernel, added)
    assert verdict.allowed, verdict.reason


@pytest.mark.parametrize(
    ("kernel", "added"),
    [
        # A number seen as a pointer, where the kernel has pointers to pointers of its own.
        ("batched", "unsigned long a = n; float* p = *(float* const*)&a; out[i] = *p;"),
        ("batched", "float* const* p = (float* const*)out; out[i] = *p[0];"),
        ("batched", "unsigned long a = n; float* p; memcpy(&p, &a, 8); out[i] = *p;"),
        ("batched", "out[i] = *word.pointer;"),
        ("batched", "Word other; other.number = n; out[i] = *other.pointer;"),
        ("batched", "Rows* r = (Rows*)out; out[i] = r->first[0];"),
        ("batched", "((unsigned long*)&rows)[0] = n; out[i] = rows.first[0];"),
        ("batched", "Rows* r = static_cast<Rows*>(raw); out[i] = r->first[0];"),
        ("batched", "float** r = static_cast<float**>(raw); out[i] = r[0][0];"),
        ("batched", "void* p = &rows; memcpy(p, out, 8); out[i] = rows.first[0];"),
        ("batched", "rows = Rows{}; out[i] = rows.first[n];"),
        ("batched", "out[i] = table[n];"),
        ("simple", "Rows r{out, out, 0}; r.first[i] = 0.0f;"),
        ("simple", "Nested t; t.n = n; out[i] = t.inner.rows.first[0];"),
        ("simple", "Derived* d = (Derived*)out; out[i] = d->first[0];"),
        ("simple", "Word w; w.number = n; out[i] = *w.pointer;"),
        ("simple", "void* p = out; out[i] = *static_cast<float*>(p);"),
        ("simple", "float*& p = out; p += n;"),
        ("simple", "float* (*f)(float*, int) = nullptr; out[i] = 0.0f;"),
        ("simple", "int Plain::*m = &Plain::a; plain.*m = 3;"),
        ("typed", "out[i] = *(T*)(unsigned long)n;"),
        ("typed", "T v = in[i]; float* p = (float*)v; p[0] = 0.0f;"),
        ("typed", "float* p = (float*)(in[i] + 1); p[0] = 0.0f;"),
        ("typed", "T** p = (T**)out; out[i] = **p;"),
        ("typed", "T v = in[i]; out[i] = **(T**)&v;"),
        ("typed", "T* p = nullptr; out[i] = p[n];"),
        ("typed", "T* p = 0; out[i] = p[n];"),
        ("typed", "T* p = out; p = 0; out[i] = p[n];"),
        ("typed", "float* p = (float*)(in - in + n); p[0] = 0.0f;"),
        ("typed", "out[i] = in[(4096 - (long)in) / 4];"),
    ],
)  # fmt: skip
def test_what_makes_one_is_refused(path: Path, kernel: str, added: str) -> None:
    verdict = judged(path, kernel, added)
    assert not verdict.diagnostics, verdict.reason  # it is C++: for the guard, not for repair
    rules = {finding.rule for finding in verdict.findings}
    assert rules & {"pointers", "casts", "globals", "calls"}, verdict.reason
