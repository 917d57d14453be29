# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lessons import MACHINE, case

from stripewise.core import PatternSummary
from stripewise.evidence.patterns import distance, pattern_of
from stripewise.learning.knowledge import (
    Fingerprint,
    LibraryVersions,
    Machine,
    StudiedCase,
    compare,
)
from stripewise.learning.knowledge._similarity import PATTERN_WEIGHT, SCALE_WEIGHT

SHARE = st.floats(0, 1)
SUMMARIES = st.builds(
    lambda shape, **more: PatternSummary(
        distributions=shape[0], grid=shape[1], block=shape[2], **more
    ),
    shape=st.sampled_from(
        [
            (("BLOCK",), (4,), (1024,)),
            (("BLOCK", "*"), (4, 1), (16, 64)),
            (("CYCLIC(8)", "BLOCK"), (2, 2), (16, 64)),
            ((), (), ()),
            ((), (), (7, 3)),
        ]
    ),
    writing=st.booleans(),
    kind=st.sampled_from(["distributed", "irregular"]),
    element_bytes=st.sampled_from([4, 8]),
    steps=st.integers(1, 100),
    collective=SHARE,
    share=st.floats(0.01, 1),
)
FINGERPRINTS = st.builds(
    Fingerprint,
    n_ranks=st.integers(1, 10_000),
    collective_share=SHARE,
    independent_share=SHARE,
    posix_share=SHARE,
    read_share=SHARE,
    noncontiguous=st.booleans(),
    bytes_per_call_log2=st.floats(-3, 40),
    calls_per_rank_log2=st.floats(-3, 40),
    shared_files=st.integers(0, 9),
    uses_hdf5=st.booleans(),
    patterns=st.lists(SUMMARIES, max_size=3).map(tuple),
    volume_log2=st.floats(0, 60),
)
STACKS = st.builds(
    LibraryVersions,
    mpi_family=st.sampled_from(["mpich", "openmpi", ""]),
    mpi_version=st.sampled_from(["4.0.2", "4.1.4", "5.0", ""]),
    mpiio=st.sampled_from(["romio", "ompio"]),
    hdf5=st.sampled_from(["so.103", "so.310", ""]),
)
MACHINES = st.builds(
    Machine,
    cpu=st.sampled_from(["a", "b"]),
    processors=st.integers(0, 512),
    filesystem=st.sampled_from(["ext4", "lustre"]),
    device=st.sampled_from(["network", "virtual"]),
)
CASES = st.builds(StudiedCase, MACHINES, STACKS, FINGERPRINTS)


@given(CASES, CASES)
def test_distances_are_symmetric_and_bounded(first, second):
    there, back = compare(first, second), compare(second, first)
    assert there == back
    for part in (there.behaviour, there.scale, there.stack, there.machine):
        assert 0 <= part <= 1.0000001
    assert 0 <= there.closeness <= 1


@given(CASES)
def test_a_case_is_like_itself(same):
    likeness = compare(same, same)
    assert likeness.distance == 0
    assert likeness.closeness == 1


def test_the_same_executable_is_the_same_program(tmp_path):
    program = tmp_path / "prog"
    program.write_bytes(b"binary")
    first = case(executable=program)
    assert compare(first, first).same_program
    assert compare(first, first).words == "same program, same stack"
    rebuilt = tmp_path / "again"
    rebuilt.write_bytes(b"binary 2")
    other = compare(first, case(executable=rebuilt))
    assert not other.same_program
    assert other.is_near


def test_other_ranks_or_behaviour_are_not_the_same_program(tmp_path):
    program = tmp_path / "prog"
    program.write_bytes(b"binary")
    first = case(executable=program)
    for change in ({"n_ranks": 64}, {"read_share": 1.0}):
        changed = replace(first, fingerprint=replace(first.fingerprint, **change))
        assert not compare(first, changed).same_program


@pytest.mark.parametrize(
    ("machine", "near"),
    [
        ({"cpu": "Other CPU", "processors": 48, "kernel": "6.1"}, True),
        ({"storage": "fedcba9876543210"}, True),
        ({"filesystem": "ext4", "device": "virtual", "storage": "", "cpu": "Laptop"}, False),
    ],
)
def test_machines(machine, near):
    likeness = compare(case(), case(replace(MACHINE, **machine)))
    assert likeness.is_near is near
    assert "another machine" in likeness.words


@pytest.mark.parametrize(
    ("stack", "near"),
    [
        ({"mpi_version": "4.0.9"}, True),
        ({"mpi_version": "3.4"}, True),
        ({"mpi_family": "openmpi"}, False),
        ({"hdf5": ""}, True),
        ({"mpiio_driver": "LUSTRE"}, True),
    ],
)
def test_stacks(stack, near):
    first = case()
    changed = replace(first, stack=replace(first.stack, **stack))
    assert compare(first, changed).is_near is near


SLABS = PatternSummary(True, ("BLOCK", "*"), (4, 1), (256, 1024), 8, 10, 1.0)
COLUMNS = replace(SLABS, distributions=("*", "BLOCK"), grid=(1, 4), block=(1024, 256))


def behaviour(first: tuple[PatternSummary, ...], second: tuple[PatternSummary, ...]) -> float:
    cases = [replace(case(), fingerprint=Fingerprint(patterns=p)) for p in (first, second)]
    return compare(*cases).behaviour


def test_programs_that_divide_their_data_otherwise_are_less_alike() -> None:
    assert behaviour((SLABS,), (SLABS,)) == 0
    weight = PATTERN_WEIGHT
    apart = distance(pattern_of(SLABS, 4), pattern_of(COLUMNS, 4))
    assert apart > 0.05
    assert behaviour((SLABS,), (COLUMNS,)) == pytest.approx(weight * apart)
    assert behaviour((SLABS,), (replace(SLABS, writing=False),)) > weight * apart
    assert behaviour((SLABS,), (replace(SLABS, collective=0.0),)) > 0


def test_the_scale_counts_in_ranks_and_bytes() -> None:
    small = Fingerprint(n_ranks=8, volume_log2=30.0)
    same, larger = (
        compare(*(replace(case(), fingerprint=p) for p in (small, other)))
        for other in (small, replace(small, n_ranks=4096, n_hosts=256, volume_log2=40.0))
    )
    assert (same.scale, same.distance) == (0, 0)
    assert larger.scale == pytest.approx(1)
    assert larger.distance == pytest.approx(SCALE_WEIGHT)
    unknown = replace(case(), fingerprint=replace(small, volume_log2=0.0))
    assert compare(replace(case(), fingerprint=small), unknown).scale == 0


def test_a_pattern_that_moves_little_counts_little() -> None:
    mostly = (replace(SLABS, share=0.99), replace(COLUMNS, share=0.01))
    assert behaviour((SLABS,), mostly) < 0.01


def test_patterns_that_are_not_known_do_not_count() -> None:
    assert behaviour((SLABS,), ()) == 0


def test_an_emulated_storage_is_another_machine_than_its_host_or_another_description() -> None:
    here = case(machine=MACHINE)
    emulated = replace(MACHINE, emulated="archer2-hdd@1/64", storage="0123456789abcdef")
    assert not compare(here, case(machine=emulated)).is_near
    assert compare(case(machine=emulated), case(machine=emulated)).is_near
    for other in (
        replace(emulated, emulated="archer2-hdd@1/16"),
        replace(emulated, storage="fedcba9876543210"),
    ):
        assert not compare(case(machine=emulated), case(machine=other)).is_near


def test_ranks_on_a_node_of_an_emulated_storage_make_no_other_storage():
    one = replace(MACHINE, emulated="hopper@1/16")
    assert (
        compare(case(one), case(replace(one, emulated="hopper@1/16, 8 ranks a node"))).machine == 0
    )
    assert compare(case(one), case(replace(one, emulated="hopper@1/16, with noise"))).machine == 1
    assert compare(case(one), case(replace(one, storage="ffffffff"))).machine == 1
    assert compare(case(one), case()).machine == 1
