"""The numbers the verdicts rest on, and what follows from them alone."""

from rocm_perf_lab.arch.gpu import Gpu, Quantity
from rocm_perf_lab.arch.load import gpu, lookup
from rocm_perf_lab.arch.occupancy import Occupancy, occupancy

__all__ = ["Gpu", "Occupancy", "Quantity", "gpu", "lookup", "occupancy"]
