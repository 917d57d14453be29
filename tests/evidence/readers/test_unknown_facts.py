# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Facts of a program of whose I/O not all is known, and what they let tunables do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.core import Gap, ProgramFacts, ReportedPart
from stripewise.evidence.facts import program_facts
from stripewise.evidence.trace import IoLayer, Op, ProcessFlag
from stripewise.settings.tunables import find_space
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

WHY = "not counted"
ROMIO = ProgramFacts(
    n_ranks=4, mpi_family="mpich", mpiio_implementation="romio", uses_hdf5=True,
    uses_parallel_hdf5=True, independent_bytes=1 << 24,
)  # fmt: skip


def two_files(flags: int = 0):
    """One of MPI-IO, another of POSIX."""
    files = [
        FakeFile("/r/a", IoLayer.MPIIO, ops={Op.WRITE: (1, 8, 1)}, outermost=(1, 0, 8)),
        FakeFile("/r/b", IoLayer.POSIX, ops={Op.WRITE: (1, 8, 1)}, outermost=(1, 0, 8)),
    ]
    fields = {"flags": flags | ProcessFlag.EXITED, "outermost_write_bytes": 16}
    process = FakeProcess(fields, files)
    return join_containers([parse_container(build_container([process]))])


def test_all_figures_of_a_program_that_maps_files_are_the_least():
    facts = program_facts(two_files(ProcessFlag.USES_SHARED_MMAP), 1.0)
    for name in ("read_bytes", "write_bytes", "io_seconds", "posix_bytes", "write_calls"):
        assert "mappings" in facts.missing[name], name
    assert facts.amount("read_bytes").value is None
    assert facts.amount("write_bytes").words(str) == "at least 16"


@pytest.mark.parametrize(("file", "lacks"), [(0, "independent_bytes"), (1, "posix_bytes")])
def test_a_file_of_one_layer_leaves_the_others_known(file, lacks):
    profile = two_files()
    profile = replace(profile, gaps=(Gap(ReportedPart.WRITE_BYTES, WHY, frozenset({file})),))
    missing = program_facts(profile, 1.0).missing
    assert lacks in missing
    assert {"independent_bytes", "posix_bytes"} - {lacks} - missing.keys()
    assert "mpiio_read_bytes" not in missing


def test_times_that_are_not_known_leave_bytes_known():
    profile = replace(two_files(), gaps=(Gap(ReportedPart.SECONDS, WHY),))
    assert program_facts(profile, 1.0).missing == {"io_seconds": WHY}


@pytest.mark.parametrize(
    ("figure", "reason", "tunable"),
    [
        ("write_bytes", "writes nothing", "hdf5.alignment"),
        ("mpiio_read_bytes", "reads nothing through MPI-IO", "mpiio.ind_rd_buffer_size"),
        ("collective_bytes", "no collective MPI-IO", "mpiio.cb_nodes"),
    ],
)
def test_what_is_not_known_to_be_nothing_may_act(figure, reason, tunable):
    assert reason in find_space(ROMIO).left_out[tunable]
    missing = {figure: WHY, "read_bytes": WHY} if "read" in figure else {figure: WHY}
    facts = replace(ROMIO, missing=missing, noncontiguous=True)
    if figure == "collective_bytes":
        facts = replace(facts, write_bytes=1 << 30)
    space = find_space(facts)
    assert reason not in space.left_out.get(tunable, "")
    assert tunable in {one.tunable.name for one in space.dimensions}


def test_sizes_are_bounded_by_what_can_have_been_moved():
    """8 MiB are known, which do not fill a buffer of 16 MiB; there may be more."""
    known = replace(ROMIO, collective_bytes=1 << 30, write_bytes=8 << 20)
    values = {
        what: next(
            one.values
            for one in find_space(facts).dimensions
            if one.tunable.name == "mpiio.cb_buffer_size"
        )
        for what, facts in (
            ("whole", known),
            ("part", replace(known, missing={"write_bytes": WHY})),
        )
    }
    assert max(values["whole"]) < 1 << 24 < max(values["part"])
