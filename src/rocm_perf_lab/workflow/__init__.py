"""The two main jobs, end to end: profile a program, and analyze traces that exist."""

from rocm_perf_lab.workflow.analyze import Choices, analyze_files, analyze_recording
from rocm_perf_lab.workflow.documents import Documents, write_documents
from rocm_perf_lab.workflow.profile import Profiled, ProfileOptions, profile_program, profile_so_far

__all__ = [
    "Choices",
    "Documents",
    "ProfileOptions",
    "Profiled",
    "analyze_files",
    "analyze_recording",
    "profile_program",
    "profile_so_far",
    "write_documents",
]
