"""Timing on the virtual GPU: one warm-up, one timed launch, by the model's clock.

The model is deterministic, so more launches would only say the same again; and hundreds of
milliseconds of modelled time are minutes of emulation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from rocm_perf_triton import hip

_told: set[str] = set()


def tell(once: str) -> None:
    if once not in _told:
        _told.add(once)
        sys.stderr.write(f"rocm-perf: {once}\n")


def tell_modelled() -> None:
    name = hip.properties(hip.current_device())["name"]
    tell(f"times are modelled ({name}), not measured")


def milliseconds_of(fn: Callable[[], Any]) -> float:
    """Modelled device time of one call, after one to warm up and with cold caches."""
    fn()
    hip.synchronize()
    hip.forget_caches()
    hip.modelled_time(True)
    try:
        start, end, before = hip.Event(), hip.Event(), hip.launches
        start.record()
        fn()
        end.record()
        if hip.launches == before:
            tell(
                "something that launches no kernel was timed: what torch computes is done by the "
                "CPU here, and its modelled time says nothing about a GPU"
            )
        return start.elapsed_time(end)
    finally:
        hip.modelled_time(False)


def do_bench(
    fn: Callable[[], Any], grad_to_none: Any = None, quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:  # fmt: skip
    tell_modelled()
    for tensor in grad_to_none or ():
        tensor.grad = None
    took = milliseconds_of(fn)
    if quantiles is not None:
        return took if len(quantiles) == 1 else [took] * len(quantiles)
    return [took] if return_mode == "all" else took


def install(triton: Any) -> None:
    """Replace what `do_bench` does, also for those who imported it already."""

    def bench(
        fn: Any, warmup: Any = 25, rep: Any = 100, grad_to_none: Any = None,
        quantiles: Any = None, return_mode: Any = "mean", **_: Any,
    ) -> Any:  # fmt: skip
        from rocm_perf_triton.benchmark import do_bench as modelled

        return modelled(fn, grad_to_none, quantiles, return_mode)

    def bench_graph(
        fn: Any, rep: Any = 20, grad_to_none: Any = None, quantiles: Any = None,
        return_mode: Any = "mean", **_: Any,
    ) -> Any:  # fmt: skip
        from rocm_perf_triton.benchmark import do_bench as modelled

        return modelled(fn, grad_to_none, quantiles, return_mode)

    for name, replacement in (("do_bench", bench), ("do_bench_cudagraph", bench_graph)):
        original = getattr(triton.testing, name)
        original.__code__ = replacement.__code__
        original.__defaults__ = replacement.__defaults__
