"""The two main jobs, end to end: profile a program, and analyze traces that exist."""

from rocm_perf_lab.workflow.analyze import analyze_files, analyze_recording, find_traces
from rocm_perf_lab.workflow.documents import Documents, write_documents
from rocm_perf_lab.workflow.profile import Options, profile_program

__all__ = [
    "Documents",
    "Options",
    "analyze_files",
    "analyze_recording",
    "find_traces",
    "profile_program",
    "write_documents",
]
