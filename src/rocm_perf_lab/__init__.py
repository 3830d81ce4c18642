"""GPU performance engineering for AMD: from a trace to a verdict. See `rocm_perf_lab.api`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

__all__ = ["Run", "__version__", "analyze", "compare", "disassemble", "load", "profile"]

if TYPE_CHECKING:
    from rocm_perf_lab.api import Run, analyze, compare, disassemble, load, profile


class _Package(ModuleType):
    """Imports the interface when it is used: the command line must not pay for it.

    `analyze` is also a room of the package; importing a module of that room binds the room here,
    and `rpl.analyze(...)` must stay the function.
    """

    @property
    def analyze(self) -> Any:
        from rocm_perf_lab.api import analyze

        return analyze

    @analyze.setter
    def analyze(self, room: ModuleType) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name in ("Run", "compare", "disassemble", "load", "profile"):
            from rocm_perf_lab import api

            return getattr(api, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


sys.modules[__name__].__class__ = _Package
