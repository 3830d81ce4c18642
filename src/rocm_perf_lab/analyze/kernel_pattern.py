"""What `--kernel` says, as a regular expression over kernels' names."""

from __future__ import annotations

import re

from rocm_perf_lab.errors import UsageError


def kernel_pattern(text: str | None) -> re.Pattern[str] | None:
    """Called before anything runs; None is every kernel."""
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise UsageError(f"--kernel {text}: not a regular expression: {error}") from None
