"""The original on other inputs: does it stand them, and what does it leave?"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import TracebackType

from rocm_perf_lab.optimize.input_sets import Change
from rocm_perf_lab.replay.compare import Bytes
from rocm_perf_lab.replay.session import ORIGINAL, ReplayFailed, ReplaySession

# What takes so much longer than the captured run has lost its way; so has a candidate.
LEAST_LIMIT_S, SLOWER = 20.0, 30
BRISK_S = 2.0

OpenSession = Callable[[int], ReplaySession]  # by the seed of the interleaving; 0: as it comes


def limit_s(run_s: float) -> float:
    return _patience() * max(LEAST_LIMIT_S, SLOWER * run_s)


def _patience() -> float:
    """How many processes share a core: a check must not be weaker on a busy machine."""
    return 2 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Trial:
    """A session that is opened again after the original failed in it."""

    def __init__(self, open_session: OpenSession, seed: int = 0, run_s: float = 0.0) -> None:
        self._open, self._seed = open_session, seed
        self.session = open_session(seed)
        self._usual = self.session.timeout_s
        self.run_s = run_s

    def __enter__(self) -> Trial:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.session.close()

    def attempt(self, do: Callable[[], None], brisk: bool = False) -> str | None:
        """Why the original does not stand it; None: it does. `brisk`: it is not waited for long."""
        try:
            brief = _patience() * (BRISK_S + SLOWER * self.run_s)
            self.session.timeout_s = brief if brisk else limit_s(self.run_s)
            do()
        except ReplayFailed as error:
            self.session.close()
            self.session = self._open(self._seed)
            return f"the original fails on it ({error.message})"
        finally:
            self.session.timeout_s = self._usual
        return None

    def leaves(
        self, given: Sequence[Change], ranges: Sequence[tuple[int, int]]
    ) -> list[Bytes] | None:
        """What the original leaves there, begun with these changes; None: it fails."""
        found: list[list[Bytes]] = []

        def do() -> None:
            self.session.set_state(given)
            self.session.run([ORIGINAL], compare=False)
            found.append(self.session.read(ranges))

        return None if self.attempt(do) else found[0]
