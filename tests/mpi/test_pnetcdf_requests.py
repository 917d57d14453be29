# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated requests of PnetCDF are those that it makes over ROMIO, but for the header's size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from support import real_requests as real

pytestmark = pytest.mark.mpi
KIB = 1 << 10


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("collective", "steps", "settings"),
    [
        (True, 2, {"cb_config_list": "*:*", "cb_nodes": 3, "cb_buffer_size": 128 * KIB}),
        (False, 1, {}),
    ],
)
def test_requests_are_the_real_ones(
    collective, steps, settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = real.Cell(
        "romio321", size=(1, 512, 512), grid=(1, 2, 2), collective=collective, steps=steps,
        settings={f"mpiio.{name}": value for name, value in settings.items()},
    )  # fmt: skip
    options = real._options
    monkeypatch.setattr(
        real, "_options",
        lambda cell: ["pnetcdf" if word == "mpiio" else word for word in options(cell)],
    )  # fmt: skip
    made = real.real_requests(cell, tmp_path)
    pattern = replace(real.workload(cell).patterns[0], dataset="array", steps=steps)
    work = Workload((pattern,), nodes=1, ranks_per_node=cell.ranks)
    told = find_stack("pnetcdf").requests(work, Setup(Layout(1, 1 << 20, 1), cell.settings))
    header = made[(made["rank"] == 0) & (made["order"] == 0)][0]
    assert (int(header["offset"]), bool(header["writing"])) == (0, True)
    assert 0 < header["size"] <= 512
    told["size"][(told["rank"] == 0) & (told["order"] == 0)] = header["size"]
    assert not real.differences(made, told)
