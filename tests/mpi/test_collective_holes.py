# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls that leave bytes out between what they move: simulated and real requests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.storage.stacks import Workload, find_stack
from support import real_requests as real

pytestmark = pytest.mark.mpi
PROGRAM = Path(__file__).parent / "programs" / "holes.c"
KIB = 1 << 10
SPREAD = {"mpiio.cb_config_list": "*:*"}
EXTENTS, SPAN, GRID = (256, 4096), ((8, 200), (100, 2148)), (2, 2)

CELLS = [
    real.Cell(mpi, (1, *EXTENTS), (1, *GRID), settings={**SPREAD, **settings}, stripes=stripes,
              reading=reading)
    for mpi, settings, stripes, reading in [
        ("mpich", {"mpiio.cb_nodes": 3, "mpiio.cb_buffer_size": 50_000}, (1, 1 << 20), False),
        ("mpich", {"mpiio.cb_nodes": 3, "mpiio.cb_buffer_size": 1500}, (1, 1 << 20), False),
        ("mpich", {"mpiio.cb_nodes": 4, "mpiio.cb_buffer_size": 3000}, (1, 1 << 20), True),
        ("mpich", {"mpiio.cb_nodes": 4, "mpiio.striping_unit": 64 * KIB}, (1, 1 << 20), False),
        ("lustre", {}, (4, 64 * KIB), False),
        ("lustre", {"mpiio.romio_lustre_ds_in_coll": "disable"}, (4, 64 * KIB), False),
        ("lustre", {"mpiio.romio_lustre_co_ratio": 2}, (2, 64 * KIB), False),
    ]
]  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpicc.mpich") is None:
        pytest.skip("no mpicc.mpich")
    made = tmp_path_factory.mktemp("holes") / "holes"
    subprocess.run(["mpicc.mpich", "-O1", "-o", made, PROGRAM], check=True)
    return made


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_requests_are_the_real_ones(
    cell: real.Cell, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = real.find_runtime()
    other = SimpleNamespace(
        core=runtime.core, plugin_directory=runtime.plugin_directory, kernels={"mpich": program}
    )
    monkeypatch.setattr(real, "find_runtime", lambda: other)
    words = [real.DATA, "collective", "read" if cell.reading else "write"]
    words += [str(n) for n in (*EXTENTS, *SPAN[0], *SPAN[1], *GRID)]
    words += [f"{name.removeprefix('mpiio.')}={value}" for name, value in cell.settings.items()]
    if cell.reading:
        (tmp_path / real.DATA).write_bytes(bytes(EXTENTS[0] * EXTENTS[1]))
    made = real._of_data_file(real.captured(cell, words, tmp_path))
    pattern = Pattern(
        real.DATA, "", not cell.reading, PatternKind.DISTRIBUTED, (Distribution("BLOCK"),) * 2,
        grid=GRID, extents=EXTENTS, span=SPAN, n_ranks=4, active_ranks=4, collective=1.0,
        source="view",
    )  # fmt: skip
    told = find_stack(cell.stack).requests(Workload((pattern,), 1, 4), real.setup(cell))
    assert made.size > 3
    assert not real.differences(made, told), real.differences(made, told)
