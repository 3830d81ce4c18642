"""The `llm` proposer: a language model over HTTP. The only part of the project that sends a
source anywhere, and it says so first."""

from rocm_perf_lab.optimize.llm.proposer import LlmProposer, messages

__all__ = ["LlmProposer", "messages"]
