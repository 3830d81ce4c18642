"""Mutants of kernels: each operator makes the edit it is named for, and nothing is left open."""

from __future__ import annotations

import pytest

from rocm_perf_lab.optimize.lexer import check_balance, tokens
from support.mutate import OPERATORS, Kernel, mutants
from support.mutated_programs import PROGRAMS, chosen, constants, equivalent
from support.proposal_runs import honest

KERNEL = """__global__ void f(const float* x, float* y, int n, float a) {
  __shared__ float part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a * x[k] - x[i] / a;
  part[threadIdx.x] = fmaxf(sum, 1.0f);
  __syncthreads();
  if (i < n) y[i] = i > 0 ? part[threadIdx.x] : 0.0f;
  if (i == 0) atomicAdd(&y[0], sum);
}"""

EDITS = [
    ("drop a term", "sum += a * x[k] - x[i] / a", "sum += a * x[k] "),
    ("drop a term", "blockIdx.x * blockDim.x + threadIdx.x", " threadIdx.x"),
    ("drop a factor", "a * x[k]", "a "),
    ("drop an update", "part[threadIdx.x] = fmaxf(sum, 1.0f);", ";"),
    ("skip the tail", "k < n;", "k < n - 3;"),
    ("skip the tail", "i < n)", "i < (n & ~3))"),
    ("swap operands", "x[i] / a", "(a) / (x[i])"),
    ("swap operands", "a * x[k] - x[i] / a", "(x[i] / a) - (a * x[k])"),
    ("shift an index", "x[k]", "x[k + 1]"),
    ("remove a barrier", "  __syncthreads();", "  "),
    ("narrow a type", "float sum", "int sum"),
    ("shift a comparison", "k < n", "k <= n"),
    ("exchange an operator", "a * x[k]", "a + x[k]"),
    ("hard code an argument", "a * x[k]", "2.5f * x[k]"),
    ("hard code an argument", "* blockDim.x", "* 64"),
    ("update without an atomic", "atomicAdd(&y[0], sum)", "y[0] += sum"),
    ("add to a stale output", "y[i] = i > 0", "y[i] += i > 0"),
    ("drop an initialisation", "float sum = 0.0f;", "float sum ;"),
    ("return early", "float a) {", "float a) { if (blockIdx.x == 1) return;"),
    ("special case a place", "part[threadIdx.x] = f",
     "if ((threadIdx.x) != 5) part[threadIdx.x] = f"),
    ("special case a value", "fmaxf(sum, 1.0f);",
     "(fmaxf(sum, 1.0f)) > 0 ? (fmaxf(sum, 1.0f)) : 0;"),
    ("reorder statements", "part[threadIdx.x] = fmaxf(sum, 1.0f);\n  __syncthreads();",
     "__syncthreads(); part[threadIdx.x] = fmaxf(sum, 1.0f);"),
    ("wrong identity", "sum = 0.0f", "sum = 1.0f"),
    ("take the neighbour lane", "+ threadIdx.x;", "+ (threadIdx.x + 1);"),
    ("take the neighbour block", "= blockIdx.x", "= (blockIdx.x / 2 * 2)"),
    ("take larger steps", "++k)", "k += 2)"),
    ("drop a condition", "if (i == 0) atomicAdd", "atomicAdd"),
    ("drop a condition", "i > 0 ? part[threadIdx.x] : 0.0f", "part[threadIdx.x]"),
    ("exchange a function", "fmaxf", "fminf"),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "old", "new"), EDITS)
def test_an_operator_makes_the_edit_it_is_named_for(operator: str, old: str, new: str) -> None:
    assert old in KERNEL
    made = mutants(Kernel(KERNEL, {"a": "2.5f", "blockDim.x": "64"}))[operator]
    assert KERNEL.replace(old, new, 1) in [mutant.text for mutant in made]


def test_every_operator_is_tried_above() -> None:
    assert {operator for operator, _, _ in EDITS} == set(OPERATORS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_mutants_are_whole_texts_with_names_of_their_own(program: str) -> None:
    text = honest(program).kernel
    every = [m for made in mutants(Kernel(text, constants(program))).values() for m in made]
    assert len({m.text for m in every} | {text}) == len(every) + 1
    assert len({m.name for m in every}) == len(every)
    for mutant in every:
        check_balance(tokens(mutant.text))
    # What is on the list of edits that change nothing is an edit that would be made.
    assert set(equivalent(program)) <= {m.name for m in every}


def test_there_are_300_of_8_kernels_and_always_the_same() -> None:
    some = {program: chosen(program, 30) for program in PROGRAMS}
    assert len(some) >= 8
    assert sum(map(len, some.values())) >= 300
    assert some == {program: chosen(program, 30) for program in PROGRAMS}
