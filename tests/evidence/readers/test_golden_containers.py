# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers of released versions stay readable and give the same summary.

container-v1-mpich: tests/run/runtime/data/comb.c on two ranks of MPICH 4.0.2, with cb_nodes=2,
cb_config_list=*:*, cb_buffer_size=524288 and bogus_hint=1 applied.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stripewise.evidence.containers import handshake
from stripewise.evidence.facts import observed_files, program_facts, written_files
from stripewise.evidence.trace import RunProfile
from support.containers import join_containers, parse_container

DATA = Path(__file__).parent / "data"
MIB = 1 << 20


@pytest.fixture(scope="module")
def golden() -> RunProfile:
    data = gzip.decompress((DATA / "container-v1-mpich.sw.gz").read_bytes())
    return join_containers([parse_container(data)])


def test_summary(golden: RunProfile) -> None:
    assert (golden.n_ranks, golden.read_bytes, golden.write_bytes) == (2, 0, 2 * MIB)
    assert golden.io_seconds == pytest.approx(0.159, abs=0.001)


def test_observed(golden: RunProfile) -> None:
    (file,) = observed_files(golden, Path("/scratch/demo"))
    assert (file.path, file.interface) == ("shared.dat", "mpiio")
    assert (file.writers, file.system_writes, file.system_write_bytes) == (2, 4, 2 * MIB)
    assert file.median_write_bytes == file.largest_write_bytes == MIB // 2
    assert file.aligned_fraction == {4096: 1.0, 65536: 1.0, MIB: 0.0}
    assert file.requested == {"access_style": "write_once"}
    assert file.applied == {
        "bogus_hint": "1",
        "cb_buffer_size": "524288",
        "cb_config_list": "*:*",
        "cb_nodes": "2",
    }
    assert file.reported["cb_nodes"] == "2"
    assert "bogus_hint" not in file.reported


def test_facts(golden: RunProfile) -> None:
    facts = program_facts(golden, 0.39)
    assert (facts.mpi_family, facts.mpiio_implementation) == ("mpich", "romio")
    assert "4.0.2" in facts.mpi_version
    assert facts.mpiio_alternatives == ()
    assert (facts.collective_bytes, facts.independent_bytes) == (2 * MIB, 0)
    assert (facts.noncontiguous, facts.shared_files, facts.write_calls) == (True, 1, 2)


def test_handshake_and_opened(golden: RunProfile) -> None:
    assert handshake(golden, ["mpiexec", "-n", "2", "./shared"]).ok
    assert Path("shared.dat") in written_files(golden, Path("/scratch/demo")).written
