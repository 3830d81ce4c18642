"""Triton asks every backend for a compiler; AMD's compiles, this one declines."""

from __future__ import annotations

from typing import Any

from triton.backends.compiler import BaseBackend as _Base


class DecliningBackend(_Base):  # type: ignore[misc]
    @staticmethod
    def supports_target(target: Any) -> bool:
        return False

    def hash(self) -> str:
        return "rocm-perf"

    def parse_options(self, options: dict[str, Any]) -> object:
        raise NotImplementedError

    def add_stages(self, *_: Any) -> None:
        raise NotImplementedError

    def load_dialects(self, context: Any) -> None:
        raise NotImplementedError

    def get_module_map(self) -> dict[str, Any]:
        raise NotImplementedError

    def pack_metadata(self, metadata: Any) -> Any:
        raise NotImplementedError

    def get_codegen_implementation(self, *_: Any) -> Any:
        raise NotImplementedError


# Triton wants exactly one backend class in this module.
del _Base
