"""A recording as rocprofv3's rocpd database, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path

from rocm_perf_lab import __version__
from rocm_perf_lab.trace.rocpd import DETAILED_TAG, SAMPLING_TAG
from rocm_perf_lab.trace.rocpd_writer import RocpdWriter
from rocm_perf_lab.virtual.rocprofv3.options import ROCM_VERSION
from rocm_perf_lab.virtual.rocprofv3.process_rows import ProcessRows


def write(r: ProcessRows, path: Path, hostname: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {
        "rocm_version": ROCM_VERSION,
        "producer": f"rocm-perf-lab {__version__}, virtual GPU: times and counters are modelled",
        DETAILED_TAG: json.dumps(r.detailed),
        SAMPLING_TAG: json.dumps(r.sampling_error),
    }
    with RocpdWriter(path, guid=guid(r), virtual=True, metadata=metadata) as db:
        db.process(
            pid=r.pid,
            parent=r.parent,
            command=" ".join(r.log.command),
            start=r.log.start,
            end=r.log.end,
            hostname=hostname,
            extdata={"virtual": True},
        )
        db.agent(0, "CPU", "CPU", product="Virtual host", extdata={"id": {"handle": 4096}})
        for gpu in r.gpus:
            db.agent(
                gpu.number,
                "GPU",
                gpu.spec.architecture,
                model=gpu.spec.marketing_name,
                product=gpu.spec.marketing_name,
                type_index=gpu.index,
                device_id=gpu.spec.chip_id,
                extdata=gpu.extdata,
            )
        for code in r.log.codes:
            uri = f"memory://{r.pid}#size={code.size}"
            db.code_object(code.number, code.agent, uri=uri, base=code.base, size=code.size)
        for kernel in r.kernels.values():
            db.kernel(
                kernel.number,
                kernel.display,
                code_object=kernel.code,
                mangled=kernel.name,
                sgprs=kernel.sgprs,
                arch_vgprs=kernel.arch_vgprs,
                accum_vgprs=kernel.accum_vgprs,
                lds=kernel.lds,
                scratch=kernel.scratch,
                kernarg=kernel.kernarg,
            )
        for agent in sorted({d.agent for d in r.dispatches if d.values}):
            for wanted in r.counted:
                db.counter(wanted.name, agent, block=wanted.block, derived=bool(wanted.formula))
        db.calls(r.calls)
        db.dispatches(r.dispatches)
        db.copies(r.copies)
        db.allocations(r.allocations)


def guid(r: ProcessRows) -> str:
    """From the content alone: the same recording has the same one."""
    digest = hashlib.sha256()
    for part in (r.log.command, r.pid, r.log.start, r.calls, r.dispatches, r.copies):
        digest.update(repr(part).encode())
    digest.update(repr((r.allocations, r.wanted.pmc, [g.spec.name for g in r.gpus])).encode())
    return str(uuid.UUID(bytes=digest.digest()[:16], version=4))
