"""timeline.json: the run as it is drawn, with neighbours too short to be seen merged."""

from __future__ import annotations

from pydantic import Field

from rocm_perf_lab.analyze.graph.finding import Blocks, Timeline
from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.schema.common import Document, Model, Provenance

Block = tuple[int, int, int, int, int, int]
_BLOCK = "rows of start_ns, duration_ns, busy_ns, name (index), operations, of them on the path"


class TimelineLane(Model):
    label: str
    is_copy: bool
    is_host: bool = Field(default=False, description="a thread's HIP calls, not a stream's work")
    operations: int
    busy_ns: int
    blocks: list[Block] = Field(description=_BLOCK)


class TimelineDocument(Document):
    span_ns: int
    names: list[str] = Field(
        description="kernels, then kinds of copy, then causes of waiting, then HIP calls"
    )
    kernel_names: int = Field(description="how many of names are kernels")
    copy_names: int
    call_names: int = 0
    lanes: list[TimelineLane]
    lanes_left_out: int = Field(description="the least busy ones")
    path: list[Block] = Field(description=f"the critical path: {_BLOCK}")
    merged_below_ns: int = Field(
        description="operations shorter than this may be merged with their neighbours; 0: none is"
    )
    modelled_error: ModelledError | None = Field(
        default=None,
        description="of the kernels' time, as in profile.json, null on hardware; what calls and "
        "gaps take is assumed",
    )


def to_document(
    found: Timeline, provenance: Provenance, error: ModelledError | None = None
) -> TimelineDocument:
    lanes = [TimelineLane.of(lane, blocks=_rows(lane.blocks)) for lane in found.lanes]
    return TimelineDocument.of(
        found, provenance=provenance, lanes=lanes, path=_rows(found.path), modelled_error=error
    )


def _rows(b: Blocks) -> list[Block]:
    columns = (b.start, b.duration, b.busy, b.name, b.count, b.on_path)
    return list(zip(*(column.tolist() for column in columns), strict=True))
