# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files are grouped by what is done to them, and named by globs that fit no other file."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core import FileClass
from stripewise.evidence.facts import class_phrase, file_classes
from stripewise.evidence.facts._file_classes import glob_of
from stripewise.evidence.trace import FileFlag, IoLayer, Op, RunProfile
from stripewise.present import size_text
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

ROOT = Path("/d")
KIB, MIB = 1 << 10, 1 << 20


def mpiio(
    name: str,
    *,
    size: int = MIB,
    collective: bool = False,
    flags: int = 0,
    ns: int = 100,
    hdf5: bool = False,
    system: int = 0,
    read: bool = False,
) -> list[FakeFile]:
    """One rank's part of a file: four calls."""
    together, alone = (Op.READ_COLLECTIVE, Op.READ) if read else (Op.WRITE_COLLECTIVE, Op.WRITE)
    total = 4 * size
    op = {together if collective else alone: (4, total, ns)}
    asked = (ns, total, 0) if read else (ns, 0, total)
    path = f"{ROOT}/{name}"
    low = {alone: (4, system or total, ns)}
    rows = [
        FakeFile(path, IoLayer.MPIIO, flags, op, (0, 0, 0) if hdf5 else asked),
        FakeFile(path, IoLayer.POSIX, 0, low),
    ]
    return [*rows, FakeFile(path, IoLayer.HDF5, 0, op, asked)] if hdf5 else rows


def classes_of(*files: list[FakeFile], ranks: int = 2, **given) -> tuple[FileClass, ...]:
    return file_classes(profile_of(*files, ranks=ranks, **given), ROOT)


def profile_of(*files: list[FakeFile], ranks: int = 2, by_rank=None) -> RunProfile:
    """Every rank has all files, and its own of `by_rank`."""
    processes = [
        FakeProcess(
            {"pid": 10 + rank, "ppid": 1, "rank": rank, "world_size": ranks, "exe": "/usr/bin/w"},
            [row for file in (*files, *(by_rank(rank) if by_rank else ())) for row in file],
        )
        for rank in range(ranks)
    ]
    return join_containers([parse_container(build_container(processes))])


def test_one_behaviour_is_no_class():
    assert classes_of(mpiio("a0.dat"), mpiio("b0.dat")) == ()
    assert classes_of() == ()


def test_collective_and_independent_files_are_told_apart_with_their_shares():
    found = classes_of(
        mpiio("plt00000.h5", collective=True, hdf5=True, ns=300),
        mpiio("plt00010.h5", collective=True, hdf5=True, ns=300),
        mpiio("chk_1.dat", ns=400),
    )
    assert found == (
        FileClass(
            "plt*.h5", 2, ("hdf5", "mpiio"), writes=True, collective=True, shared=True,
            call_bytes=MIB, io_share=0.6,
        ),
        FileClass(
            "chk_*.dat", 1, ("mpiio",), writes=True, shared=True, call_bytes=MIB, io_share=0.4
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        {"read": True},
        {"flags": int(FileFlag.INTERLEAVED)},
        {"size": 8 * MIB},
        {"system": 40 * MIB},
        {"collective": True},
        {"hdf5": True},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_tells_files_apart(other):
    found = classes_of(mpiio("one.dat"), mpiio("two.dat", **other))
    assert {one.match for one in found} == {"one.dat", "two.dat"}


@pytest.mark.parametrize("other", [{"size": 4 * MIB}, {"system": 24 * MIB}, {"ns": 150}])
def test_what_does_not(other):
    assert classes_of(mpiio("one.dat"), mpiio("two.dat", **other)) == ()


def test_a_file_for_each_process_is_no_shared_file():
    found = classes_of(
        mpiio("all.dat", ns=200), by_rank=lambda rank: [mpiio(f"part.{rank:04}", ns=200)]
    )
    assert [(one.match, one.shared, one.n_files) for one in found] == [
        ("all.dat", True, 1),
        ("part.*", False, 2),
    ]


def test_a_class_with_little_time_gets_no_settings():
    found = classes_of(mpiio("big.dat", ns=950), mpiio("log.txt", size=64, ns=50))
    assert found == ()


def test_equal_names_of_different_behaviour_are_said_and_have_no_glob():
    """Numbers are all that tells these apart, and a later run may number them otherwise."""
    files = [mpiio(f"out{n}.dat", collective=n % 2 == 0) for n in range(4)]
    found = classes_of(*files)
    assert [one.match for one in found] == ["", ""]
    assert [one.n_files for one in found] == [2, 2]


def test_files_without_data_stand_in_no_globs_way():
    """Open MPI makes, locks and removes `out.0010.locktest.0` beside each `out.0010`."""
    probes = [
        FakeFile(f"{ROOT}/state.00{n}0.locktest.0", IoLayer.POSIX, 0, {Op.OPEN: (1, 0, 10)})
        for n in range(2)
    ]
    files = [mpiio(f"state.00{n}0") for n in range(2)]
    found = classes_of(*files, mpiio("top.h5", collective=True), probes)
    assert [one.match for one in found] == ["state.*", "top.h5"]


def test_families_of_one_behaviour_have_rules_of_their_own_where_no_one_glob_fits():
    found = classes_of(
        mpiio("plt0.h5"), mpiio("chk0.nc"), mpiio("top.h5", collective=True, ns=200)
    )
    assert {one.match for one in found} == {"plt*.h5", "chk*.nc", "top.h5"}


@pytest.mark.parametrize(
    ("names", "others", "glob"),
    [
        (["plt00000.h5", "plt00010.h5"], ["chk.h5"], "plt*.h5"),
        (["out.7.nc4"], [], "out.*.nc4"),
        (["flash_2d.h5"], [], "flash_2d.h5"),
        (["chk_12.nc"], ["chk_map.nc"], "chk_[0-9]*.nc"),
        (["chk_12.nc"], ["chk_1x.nc", "chk_13.nc"], "chk_12.nc"),
        (["temperature.h5", "pressure.h5"], ["grid.nc"], "*ure.h5"),
        (["alpha.x", "beta.y"], [], ""),
        (["plt1.h5", "phi1.h5"], ["chk1.h5"], "p*.h5"),
        (["run1/out.dat"], ["run2/in.dat"], "out.dat"),
        (["ckpt/out.dat"], ["plot/out.dat"], "ckpt/out.dat"),
        (["a/b1/c2.dat", "a/b2/c3.dat"], ["x/c4.dat"], "b*/c*.dat"),
        (["odd[1].dat"], ["odd1.dat"], "odd[[]*].dat"),
        (["bad\n.dat"], [], ""),
        (["part.0001", "part.0002"], ["part.0003"], ""),
    ],
)
def test_globs_fit_their_files_and_no_other(names, others, glob):
    assert glob_of(names, [*names, *others]) == glob


def test_a_class_in_words():
    one = FileClass(
        "plt*.h5", 3, ("hdf5", "mpiio"), writes=True, collective=True, shared=True,
        call_bytes=MIB, amplification=4.0, io_share=0.61,
    )  # fmt: skip
    assert class_phrase(one) == (
        "plt*.h5 (3 files written through HDF5 and MPI-IO, collective, shared by ranks, 1 MiB a "
        "call, 4 times the bytes at the storage, 61 % of the I/O time)"
    )


def test_a_size_has_no_exponent():
    sizes = [(1023 << 10) + 512, 1000 << 20, 3 << 19, 767]
    assert [size_text(size) for size in sizes] == ["1024 KiB", "1000 MiB", "1.5 MiB", "767 B"]
