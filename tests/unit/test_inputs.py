"""What people have lying around: folders of CSV, JSON without dispatches, sizes as totals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm_perf_lab.analyze.counters import join
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.workflow import Choices, analyze_files
from rocm_perf_lab.workflow.inputs import read_inputs
from support.recorded_data import recorded
from support.traces import TraceBuilder

TRACE = (
    "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
    "Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,"
    "Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
    "KERNEL_DISPATCH,Agent 4,1,1,1,1,k(int),1,1000,9000,0,0,32,0,16,256,1,1,131072,1,1\n"
)
AGENTS = (
    "Node_Id,Logical_Node_Id,Agent_Type,Simd_Count,Wave_Front_Size,Num_Xcc,Cu_Count,"
    "Simd_Per_Cu,Gfx_Target_Version,Max_Engine_Clk_Fcompute,Name,Vendor_Name,Product_Name\n"
    "0,0,CPU,0,0,0,0,0,0,0,AMD EPYC 9654,CPU,AMD EPYC 9654\n"
    "4,4,GPU,1216,64,8,304,4,90402,2100,gfx942,AMD,AMD Instinct MI300X\n"
)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_a_kernel_trace_knows_its_gpu_from_the_agent_info_beside_it(tmp_path: Path) -> None:
    write(tmp_path, **{"7_kernel_trace.csv": TRACE, "7_agent_info.csv": AGENTS})
    found = analyze_files([tmp_path]).profile
    assert found.gpu.architecture == "gfx942" and found.gpu.name == "AMD Instinct MI300X"
    assert found.occupancy is not None and found.occupancy.theoretical == 1.0


def test_a_gpu_can_be_named_where_nothing_tells_it(tmp_path: Path) -> None:
    path = write(tmp_path, **{"7_kernel_trace.csv": TRACE})
    unknown = analyze_files([path]).profile
    assert unknown.occupancy is not None and unknown.occupancy.theoretical is None
    found = analyze_files([path], choices=Choices(gpu="MI300X")).profile
    assert found.occupancy is not None and found.occupancy.theoretical == 1.0
    assert found.gpu.architecture == "gfx942"
    assert any("MI300X as asked" in note for note in found.notes)
    with pytest.raises(UsageError, match="no architecture file for MI9"):
        analyze_files([path], choices=Choices(gpu="MI9"))


def test_a_recording_that_knows_better_is_believed(tmp_path: Path) -> None:
    write(tmp_path, **{"7_kernel_trace.csv": TRACE, "7_agent_info.csv": AGENTS})
    found = analyze_files([tmp_path], choices=Choices(gpu="MI210")).profile
    assert found.gpu.architecture == "gfx942"
    assert any("--gpu MI210 is not used" in note for note in found.notes)


def test_json_without_dispatches_does_not_hide_the_csv_beside_it(tmp_path: Path) -> None:
    tool = {"metadata": {"pid": 7}, "agents": [], "buffer_records": {}}
    write(
        tmp_path,
        **{
            "7_results.json": json.dumps({"rocprofiler-sdk-tool": [tool]}),
            "7_kernel_trace.csv": TRACE,
        },
    )
    (trace,) = read_inputs([tmp_path])
    assert len(trace.dispatches) == 1


def test_a_folder_of_rocprof_compute_is_a_trace() -> None:
    found = analyze_files([recorded("vcopy/MI200")])
    assert found.profile.gpu.architecture == "gfx90a"
    assert found.roofline is not None
    ceilings = {c.name: c for c in found.roofline.ceilings}
    # The run's own roofline.csv: the best of its four devices.
    assert ceilings["hbm"].value == pytest.approx(1389.3043)
    assert ceilings["hbm"].source == "roofline.csv"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no trace file lies under"):
        analyze_files([tmp_path])


def test_sizes_written_as_totals_join_by_name_and_total() -> None:
    """A counter table says 131072x1x1 where the trace says 1024x1x128."""
    timing = TraceBuilder().dispatch("k", 0, 1000, grid=(1024, 1, 128), workgroup=(64, 1, 4))
    counted = TraceBuilder().dispatch(
        "k", 0, 2000, grid=(131072, 1, 1), workgroup=(256, 1, 1), counters={"SQ_WAVES": 4.0}
    )
    joined = join(timing.build(), [counted.build()])
    assert joined.kernels[0].covered == 1
    assert joined.kernels[0].passes[0].readings["SQ_WAVES"].total == 4.0
    assert any("joined by name and total" in note for note in joined.notes)


def test_totals_that_do_not_tell_shapes_apart_join_nothing() -> None:
    timing = TraceBuilder()
    for i, grid in enumerate(((1024, 1, 128), (128, 1, 1024))):
        timing.dispatch("k", 2000 * i, 2000 * i + 1000, grid=grid)
    counted = TraceBuilder().dispatch("k", 0, 9, grid=(131072, 1, 1), counters={"SQ_WAVES": 4.0})
    joined = join(timing.build(), [counted.build()])
    assert not any(kernel.passes for kernel in joined.kernels)
