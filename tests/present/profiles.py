# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Diagnoses made by hand: rich, poor, empty, huge and hostile."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stripewise.evidence.diagnosis import profile_to_json
from stripewise.evidence.figures import (
    Diagnosis,
    Figures,
    FileRow,
    Finding,
    LayerRow,
    Periodicity,
    RequestRow,
    Severity,
    VarianceRow,
)
from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.evidence.report import profile_page
from stripewise.evidence.trace import (
    COUNTER_ROW,
    HEAT_ROW,
    SIZE_EDGES,
    Evidence,
    FileLayout,
    IoLayer,
    RunProfile,
)
from stripewise.present import finite
from stripewise.present.renderers import as_page

NAN = math.nan
N_SIZES = len(SIZE_EDGES)

FIGURES = Figures(
    run_seconds=120.0, n_ranks=64, n_processes=64, n_hosts=4, n_files=5, n_read_only=1,
    n_write_only=3, n_read_write=0, n_no_data=1, n_shared=2, read_bytes=640_000,
    write_bytes=48 << 30, meta_operations=2304, system_meta_operations=5120,
    cumulated_read_seconds=61.0, cumulated_write_seconds=1890.0, cumulated_meta_seconds=120.0,
    elapsed_read_seconds=4.1, elapsed_write_seconds=33.0, elapsed_meta_seconds=2.5,
    io_seconds=41.0, io_low_seconds=41.0, io_exact=True, io_share=41 / 120,
    rate_bytes_per_second=(48 << 30) / 41, meta_share=120 / 2071, slowest_rank=7,
)  # fmt: skip
NO_FIGURES = replace(
    FIGURES, run_seconds=0.0, n_ranks=0, n_processes=0, n_hosts=0, n_files=0, n_read_only=0,
    n_write_only=0, n_no_data=0, n_shared=0, read_bytes=0, write_bytes=0, meta_operations=0,
    system_meta_operations=0, cumulated_read_seconds=0.0, cumulated_write_seconds=0.0,
    cumulated_meta_seconds=0.0, io_seconds=0.0, io_low_seconds=0.0, io_share=NAN,
    rate_bytes_per_second=NAN, meta_share=NAN, slowest_rank=-1,
)  # fmt: skip


def sizes(**counts: int) -> tuple[int, ...]:
    """Counts by size bin: `b4=10` is ten requests in bin 4."""
    found = [0] * N_SIZES
    for name, count in counts.items():
        found[int(name[1:])] = count
    return tuple(found)


def file_row(path: str = "/scratch/me/out.h5", **changes: object) -> FileRow:
    row = FileRow(
        path=path, interface="HDF5", layer=IoLayer.HDF5, read_bytes=0, write_bytes=24 << 30,
        read_calls=0, write_calls=768, read_sizes=sizes(), write_sizes=sizes(b7=640, b2=128),
        common_sizes=((33_554_432, 640), (4096, 128)), collective=1.0, sequential=0.9,
        consecutive=0.4, opens=64, meta_operations=640, elapsed_seconds=30.0,
        cumulated_seconds=1800.0, rank_count=64, data_rank_count=64, extent_bytes=24 << 30,
        layout=FileLayout(stripe_bytes=1 << 20, stripe_count=8),
    )  # fmt: skip
    return replace(row, **changes)


def heat_rows(n_ranks: int = 64, n_bins: int = 120, step: int = 1) -> np.ndarray:
    """Bursts of HDF5 writes each twenty seconds; every eighth rank writes them to the system."""
    burst = [number for number in range(10, n_bins, step) if number % 20 < 4]
    rows = []
    for rank in range(n_ranks):
        rows.append((rank, 1, IoLayer.POSIX, 0, 10_000.0, 0.0, 0.01))
        rows += [(rank, 0, IoLayer.HDF5, at, 0.0, 1e8, 0.5) for at in burst]
        if rank % 8 == 0:
            rows += [(rank, 0, IoLayer.POSIX, at, 0.0, 8e8, 0.4) for at in burst]
    return np.array(rows, HEAT_ROW)


def finding(**changes: object) -> Finding:
    found = Finding(
        code="small-independent", severity=Severity.HIGH,
        phrase="many small independent writes to out.h5",
        text="64 ranks wrote 4 KiB at a time, 1.2 million times.",
        evidence={"calls": 1_200_000, "mean_bytes": 4096, "stake_seconds": 28.0, "share": 0.68},
        cost_seconds=25.0, stake_seconds=28.0,
        cost_basis="the same bytes at the rate of the run's large writes",
        remedy="Write collectively, or let MPI-IO gather the requests.",
        lines=("export MPICH_MPIIO_HINTS='*:romio_cb_write=enable'", "lfs setstripe -c 8 out/"),
        tune="stripewise tune -- mpiexec -n 64 ./program",
        files=("/scratch/me/out.h5",), n_files=1,
    )  # fmt: skip
    return replace(found, **changes)


def request(**changes: object) -> RequestRow:
    row = RequestRow(
        path="/scratch/me/out.h5", writing=True, exact=True, program_calls=768,
        collective_calls=768, program_ranks=64, program_bytes=24 << 30,
        program_mean_bytes=(24 << 30) / 768, system_calls=24_576, system_ranks=8,
        system_bytes=24 << 30, system_mean_bytes=1 << 20, modify_reads=3, modify_bytes=12_288,
        gaps=12, mean_gap_bytes=4096.0, aligned=0.98, unit_sized=0.97, unit_bytes=1 << 20,
        system_seconds=25.0,
    )  # fmt: skip
    return replace(row, **changes)


def layer(name: IoLayer) -> LayerRow:
    return LayerRow(name, 1, 10, 768, 768, 640, 10_000, 24 << 30, 1800.0, 5.0, 30.0)


VARIANCE = VarianceRow("/scratch/me/namelist.nml", 64, 63, 0.001, 9216, 0, 4.1, 9216, 0.52, 0.0)


def blocks(**changes: object) -> Pattern:
    pattern = Pattern(
        file="/scratch/me/out.h5", dataset="/pressure", writing=True,
        kind=PatternKind.DISTRIBUTED, distributions=(Distribution("BLOCK"),) * 3,
        block=(60, 100, 300), grid=(4, 4, 4), extents=(240, 400, 1200), element_bytes=8,
        n_ranks=64, active_ranks=64, collective=1.0,
    )  # fmt: skip
    return replace(pattern, **changes)


PATTERNS = (
    blocks(),
    blocks(dataset="/density"),
    blocks(
        dataset="/rows", distributions=(Distribution("BLOCK"), Distribution("*")),
        block=(6, 24), grid=(64, 1), extents=(384, 24),
    ),
    blocks(
        dataset="/cyclic", distributions=(Distribution("CYCLIC", 16),), block=(64,), grid=(4,),
        extents=(), n_ranks=64, active_ranks=4,
    ),
    blocks(
        file="bt.dat", dataset="", kind=PatternKind.MULTIPARTITION, distributions=(),
        block=(16, 16, 16), grid=(), extents=(64, 64, 64), n_ranks=16, active_ranks=16,
        source="view",
    ),
    blocks(
        dataset="/namelist", kind=PatternKind.REPLICATED, distributions=(), grid=(), writing=False,
    ),
    blocks(dataset="/header", kind=PatternKind.SINGLE, distributions=(), grid=(), block=(100,)),
    blocks(
        dataset="/points", kind=PatternKind.IRREGULAR, distributions=(), grid=(), block=(),
        notes=("17 selections of scattered points",), n_deviating=40,
        deviating_ranks=tuple(range(16)),
    ),
)  # fmt: skip


def counters() -> np.ndarray:
    rows = np.zeros(2, COUNTER_ROW)
    rows["layer"] = (IoLayer.MPIIO, IoLayer.POSIX)
    rows["write_sizes"][0] = sizes(b2=4000, b7=640)
    rows["write_sizes"][1] = sizes(b5=24_576)
    return rows


PROFILE = RunProfile(
    source="stripewise trace", command="./program out.h5", job_id="4711", user="me", n_ranks=64,
    n_processes=64, hosts=("n1", "n2", "n3", "n4"), start=1.8e9, elapsed_seconds=120.0,
    paths=("/scratch/me/out.h5", "/scratch/me/namelist.nml"), counters=counters(),
    layers=("POSIX", "MPI-IO", "HDF5"), heat=heat_rows(), heat_bin_seconds=1.0,
)  # fmt: skip


def rich() -> tuple[Diagnosis, Evidence, tuple[Pattern, ...]]:
    """A run with everything."""
    files = (
        file_row(),
        file_row(
            "/scratch/me/namelist.nml", interface="POSIX + stdio", layer=IoLayer.POSIX,
            read_bytes=640_000, write_bytes=0, read_calls=640, write_calls=0,
            read_sizes=sizes(b1=600, b2=40), write_sizes=sizes(), common_sizes=(), collective=NAN,
            consecutive=1.0, elapsed_seconds=4.1, cumulated_seconds=61.0,
            layout=FileLayout(),
        ),
    )  # fmt: skip
    diagnosis = Diagnosis(
        source="stripewise trace", command="./program out.h5", job_id="4711", figures=FIGURES,
        files=files, layers=(layer(IoLayer.HDF5), layer(IoLayer.MPIIO), layer(IoLayer.POSIX)),
        variance=(VARIANCE,),
        phases=(
            Periodicity("write", True, 20.0, 0.93, 6, 4.0, 2.5e10, 1.0),
            Periodicity("read", False, NAN, 0.1, 1, 1.0, 640_000.0, 1.0),
        ),
        requests=(request(), request(writing=False, exact=False, system_ranks=None, gaps=None,
                                     modify_reads=None, modify_bytes=None, aligned=None)),
        findings=(
            finding(),
            finding(code="slow-open", severity=Severity.INFO, cost_seconds=None,
                    phrase="opens that take long", lines=(), tune="",
                    cost_basis="no faster opens seen"),
        ),
        headline="34 % of the run was I/O: 28 of 41 s in 4 KiB independent writes to out.h5.",
    )  # fmt: skip
    return diagnosis, Evidence(PROFILE), PATTERNS


def balanced() -> tuple[Diagnosis, Evidence, tuple[Pattern, ...]]:
    """Nothing to complain about."""
    diagnosis, evidence, patterns = rich()
    return replace(diagnosis, findings=(), headline="5 % of the run was I/O."), evidence, patterns


def poor() -> tuple[Diagnosis, Evidence, tuple[Pattern, ...]]:
    """Counters of a few files, no time, no requests, times reduced over ranks."""
    figures = replace(
        FIGURES, io_exact=False, io_low_seconds=12.0, n_hosts=0, slowest_rank=-1,
        cumulated_meta_seconds=NAN,
    )  # fmt: skip
    row = file_row(
        layer=IoLayer.POSIX, interface="POSIX", collective=NAN, sequential=NAN, consecutive=NAN,
        elapsed_seconds=NAN, extent_bytes=-1, rank_count=0, layout=FileLayout(),
    )  # fmt: skip
    diagnosis = Diagnosis(
        source="Darshan 3.1.3 log",
        command="",
        job_id="",
        figures=figures,
        files=(row,),
        partial=True,
        notes=("records of 12 files are missing: the module ran out of memory",),
    )
    profile = replace(
        PROFILE, source="Darshan 3.1.3 log", counters=counters()[1:], layers=("POSIX", "stdio"),
        hosts=(), partial=True, heat=np.zeros(0, HEAT_ROW), heat_bin_seconds=0.0,
    )  # fmt: skip
    return diagnosis, Evidence(profile), ()


def empty() -> tuple[Diagnosis, Evidence, tuple[Pattern, ...]]:
    """A log without any record."""
    diagnosis = Diagnosis(
        source="Darshan 3.4.0 log",
        command="",
        job_id="",
        figures=NO_FIGURES,
        notes=("the log has no records",),
    )
    return diagnosis, Evidence(RunProfile("Darshan 3.4.0 log")), ()


EVIL = "</title><script>alert('x')</script><img src=x onerror=alert(1)>\x07\udcff\"'&{{ 7 }}"


def hostile() -> tuple[Diagnosis, Evidence, tuple[Pattern, ...]]:
    """Every text is an attack."""
    diagnosis, evidence, patterns = rich()
    diagnosis = replace(
        diagnosis, source=EVIL, command=EVIL, job_id=EVIL, headline=EVIL, notes=(EVIL,),
        files=(file_row(EVIL, interface=EVIL),), variance=(replace(VARIANCE, path=EVIL),),
        requests=(request(path=EVIL),),
        findings=(
            finding(code=EVIL, phrase=EVIL, text=EVIL, evidence={EVIL: EVIL}, cost_basis=EVIL,
                    remedy=EVIL, lines=(EVIL,), tune=EVIL, files=(EVIL,)),
        ),
    )  # fmt: skip
    profile = replace(
        evidence.profile,
        source=EVIL,
        command=EVIL,
        user=EVIL,
        job_id=EVIL,
        hosts=(EVIL,),
        layers=(EVIL,),
        paths=(EVIL, EVIL + "2"),
    )
    evil = tuple(replace(one, file=EVIL, dataset=EVIL, notes=(EVIL,)) for one in patterns)
    return diagnosis, Evidence(profile), evil


def huge() -> tuple[Diagnosis, Evidence, tuple[Pattern, ...]]:
    """10^5 ranks, 10^4 files, noise everywhere."""
    random = np.random.default_rng(1)
    n = 400_000
    rows = np.zeros(n, HEAT_ROW)
    rows["rank"] = np.arange(n) % 100_000
    rows["file"] = random.integers(0, 10_000, n)
    rows["layer"] = random.choice([IoLayer.POSIX, IoLayer.HDF5], n)
    rows["bin"] = random.integers(0, 3600, n)
    for name in ("read_bytes", "write_bytes", "busy_seconds"):
        rows[name] = random.lognormal(0, 3, n)
    diagnosis, evidence, _ = rich()
    path = "/scratch/project_with_a_long_name/run-0001/output/checkpoint-{:06d}.h5"
    diagnosis = replace(
        diagnosis, figures=replace(FIGURES, n_ranks=100_000, n_files=10_000),
        files=tuple(file_row(path.format(n)) for n in range(10_000)),
        variance=tuple(replace(VARIANCE, path=path.format(n)) for n in range(10_000)),
        requests=tuple(request(path=path.format(n)) for n in range(10_000)),
        findings=tuple(finding() for _ in range(12)),
    )  # fmt: skip
    patterns = tuple(
        blocks(dataset=f"/v{n}", block=(n + 1, 10, 10), grid=(100, 100, 10), extents=())
        for n in range(1000)
    )
    profile = replace(
        evidence.profile, n_ranks=100_000, paths=tuple(path.format(n) for n in range(10_000)),
        heat=rows, elapsed_seconds=3600.0,
    )  # fmt: skip
    return diagnosis, Evidence(profile), patterns


ALL = {
    "rich": rich,
    "balanced": balanced,
    "poor": poor,
    "empty": empty,
    "hostile": hostile,
}


def render(diagnosis: Diagnosis, evidence: Evidence, patterns: tuple[Pattern, ...] = ()) -> str:
    """Return the page of a run."""
    return as_page(profile_page(finite(profile_to_json(diagnosis, patterns)), evidence))
