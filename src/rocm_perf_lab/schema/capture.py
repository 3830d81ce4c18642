"""The JSON files of a capture: one dispatch with all the memory it could reach.

docs/capture.md tells the whole format. Addresses and sizes are in bytes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocm_perf_lab.schema.common import DeviceInfo, Document, Model, Versioned

MAX_ADDRESS = 1 << 57  # what five levels of page tables can name

Address = Annotated[int, Field(ge=0, lt=MAX_ADDRESS)]
Count = Annotated[int, Field(ge=0, lt=MAX_ADDRESS)]
Size = Annotated[int, Field(gt=0, lt=MAX_ADDRESS)]
Word32 = Annotated[int, Field(ge=0, lt=1 << 32)]
Word64 = Annotated[int, Field(ge=0, lt=1 << 64)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# At most one folder deep; never "..", never absolute.
RelativePath = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,100})?$")
]

RegionKind = Literal["pool", "vmem", "managed", "host", "registered", "svm", "ipc", "interop"]
RegionFlag = Literal["fine_grained", "coarse_grained", "kernarg", "host_visible"]


class Extent(Model):
    """A run of bytes of a region and where they are stored."""

    offset: Count = Field(description="in the region")
    size: Size
    file: RelativePath | None = Field(description="null: zeros")
    at: Count = Field(default=0, description="in the file")
    stored: Size | None = Field(
        default=None, description="bytes in the file; null: as many as size"
    )
    encoding: Literal["raw", "zstd"] = "raw"


class Region(Model):
    """One piece of memory the device could reach when the kernel was launched."""

    base: Address
    size: Size
    kind: RegionKind
    agent: str | None = Field(description="gpu:0, cpu:0; null: not known")
    flags: list[RegionFlag]
    before: list[Extent] = Field(description="covers the region without gaps, in order")
    after: list[Extent] = Field(
        description="the write set: what the run changed, in order; may hold equal bytes between"
    )


class CodePointer(Model):
    """An aligned word whose value lies in a loaded code object: it dangles if the code moves."""

    address: Address = Field(description="where the word is")
    value: Address
    code_object: int = Field(ge=0, description="whose image it points into")
    where: Literal["memory", "image", "kernarg"]


class MemoryRegions(Versioned):
    regions: list[Region] = Field(description="sorted by base, never overlapping")
    code_pointers: list[CodePointer] = Field(description="the first of them, by address")
    code_pointer_count: int = Field(ge=0)


class Segment(Model):
    """A part of a loaded image that was or could be written: module variables, static ones too."""

    address: Address = Field(description="where it was loaded")
    size: Size
    linked_address: Count = Field(description="p_vaddr in the code object")
    writable: bool = Field(default=True, description="false: only the host can have written it")
    before: list[Extent]
    after: list[Extent]


class LoadedCodeObject(Model):
    index: int = Field(ge=0)
    file: RelativePath
    uri: str
    agent: str | None
    load_base: Address
    load_size: Count
    load_delta: int
    segments: list[Segment] = Field(description="writable PT_LOAD ranges, and others that changed")


class CodeObjects(Versioned):
    code_objects: list[LoadedCodeObject]


class KernelArgument(Model):
    """From the code object's metadata note; hidden ones too."""

    name: str
    offset: int = Field(ge=0)
    size: int = Field(ge=0)
    kind: str = Field(description="the note's value_kind: by_value, global_buffer, hidden_…")
    type: str | None = Field(description="the note's type_name; null: not in the note")
    address_space: str | None
    access: str | None
    hidden: bool
    value_hex: str | None = Field(description="its bytes; null: outside the argument block")


class QueueInfo(Model):
    type: int = Field(ge=0)
    size: int = Field(ge=0)
    private_segment_size: Word32 | None = None
    group_segment_size: Word32 | None = None


class KernelName(Model):
    symbol: str = Field(description="as in the code object, without .kd")
    demangled: str


class Dispatch(Versioned):
    kernel: KernelName
    index: int = Field(ge=0, description="of this launch among the launches of this kernel, from 0")
    dispatch_number: int = Field(ge=0, description="among all launches of the process, from 0")
    agent: str | None
    isa: str
    packet_hex: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$", description="the AQL packet")]
    setup: int = Field(ge=0, lt=1 << 16)
    dimensions: int = Field(ge=1, le=3)
    workgroup: tuple[int, int, int]
    grid: tuple[Word32, Word32, Word32] = Field(description="work-items")
    group_segment_size: Word32 = Field(description="LDS of a workgroup, dynamic LDS included")
    private_segment_size: Word32 = Field(description="scratch of a work-item")
    kernel_object: Word64
    kernarg_address: Address
    kernarg_size: int = Field(ge=0)
    code_object: int = Field(ge=0, description="index in code_objects.json")
    arguments: list[KernelArgument]
    queue: QueueInfo


class StoredFile(Model):
    bytes: Count
    sha256: Sha256


class Totals(Model):
    regions: int
    region_bytes: int = Field(description="memory of all regions, as the program sees it")
    stored_bytes: int = Field(description="all files except the manifest")
    zero_bytes: int = Field(description="of the regions, not stored")
    duplicate_bytes: int = Field(description="of the regions, stored elsewhere in the capture")
    changed_bytes: int = Field(description="written by the kernel, in regions and module variables")


class CaptureDocument(Document):
    """manifest.json: written last. A folder without a valid one is no capture."""

    complete: bool = Field(description="the dispatch can be run again from this capture alone")
    reasons: list[str] = Field(description="why it is not complete")
    notes: list[str] = Field(description="what a reader should know; no obstacle to replay")
    device: DeviceInfo
    isa: str
    kernel: str = Field(description="demangled")
    files: dict[RelativePath, StoredFile]
    totals: Totals
