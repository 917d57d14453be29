# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.evidence.facts import observed_files, program_facts, written_files
from stripewise.evidence.trace import (
    FileFlag,
    IoLayer,
    MpiFamily,
    Op,
    PluginState,
    ProcessFlag,
    RunProfile,
    SettingsKind,
)
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

MIB = 1 << 20
POSIX, MPIIO, HDF5 = IoLayer.POSIX, IoLayer.MPIIO, IoLayer.HDF5


def rank(number: int, size: int, files: list[FakeFile], seconds: float, **more: object):
    fields = {
        "rank": number,
        "world_size": size,
        "mpi_family": MpiFamily.OPENMPI,
        "plugin_state": PluginState.LOADED,
        "flags": ProcessFlag.MPI_INITIALIZED | ProcessFlag.EXITED,
        "outermost_ns": int(seconds * 1e9),
        "outermost_write_bytes": sum(file.outermost[2] for file in files),
        "outermost_read_bytes": sum(file.outermost[1] for file in files),
        "mpi_version": "Open MPI v4.1.4, package",
        **more,
    }
    return fields, files


def shared_writer(number: int) -> list[FakeFile]:
    """MPI-IO collective on a shared file; rank 0 alone reaches the system."""
    mpiio = FakeFile(
        "/run/out.dat",
        MPIIO,
        FileFlag.WRITTEN | FileFlag.INTERLEAVED,
        {Op.WRITE_COLLECTIVE: (4, 4 * MIB, 10)},
        (1_000_000_000 * (number + 1), 0, 4 * MIB),
    )
    posix = FakeFile(
        "/run/out.dat",
        POSIX,
        FileFlag.WRITTEN | FileFlag.CREATED | FileFlag.OPENED_WRITE,
        {Op.WRITE: (8, 8 * MIB, 10)},
        write_sizes={4: 8},
        write_alignment={20: 6, 12: 2},
        extremes=(MIB, MIB),
    )
    return [mpiio, posix] if number == 0 else [mpiio]


def profile_of(*processes: FakeProcess, host: str = "node1") -> RunProfile:
    return join_containers([parse_container(build_container(processes, host=host))])


@pytest.fixture
def shared() -> RunProfile:
    settings = [
        ("/run/out.dat", MPIIO, SettingsKind.PROGRAM, "access_style=write_once\n"),
        ("/run/out.dat", MPIIO, SettingsKind.APPLIED, "cb_nodes=1\n"),
        ("/run/out.dat", MPIIO, SettingsKind.REPORTED, "cb_nodes=1\naccess_style=write_once\n"),
    ]
    launcher = FakeProcess({"outermost_ns": 9_000_000_000, "exe": "/usr/bin/orterun"})
    ranks = [rank(i, 2, shared_writer(i), i + 1) for i in range(2)]
    return profile_of(
        launcher, FakeProcess(*ranks[0], settings=settings), FakeProcess(*ranks[1], split=True)
    )


def test_io_seconds_is_the_slowest_rank(shared: RunProfile) -> None:
    assert shared.io_seconds == pytest.approx(2.0)
    assert shared.n_ranks == 2
    assert shared.write_bytes == 8 * MIB


def test_a_rank_that_occurs_twice_counts_with_its_sum() -> None:
    both = [FakeProcess(*rank(i % 2, 2, [], 1 + i)) for i in range(4)]
    assert profile_of(*both).io_seconds == pytest.approx(2 + 4)


def test_without_mpi_the_slowest_process_counts() -> None:
    found = profile_of(
        FakeProcess({"outermost_ns": 10**9}), FakeProcess({"outermost_ns": 3 * 10**9})
    )
    assert found.io_seconds == pytest.approx(3.0)
    assert found.n_ranks == 0


def test_without_ranks_launchers_are_not_the_program() -> None:
    found = profile_of(
        FakeProcess({"outermost_ns": 9 * 10**9, "exe": "/usr/bin/orterun"}),
        FakeProcess({"outermost_ns": 9 * 10**9, "exe": "/usr/bin/hydra_pmi_proxy"}),
        FakeProcess({"outermost_ns": 10**9, "exe": "/usr/bin/dd"}),
    )
    assert found.io_seconds == pytest.approx(1.0)


def test_a_file_that_only_a_library_used_is_left_out() -> None:
    session = FakeFile("/tmp/session.sm", POSIX, ops={Op.WRITE: (1, 40, 9)})
    assert observed_files(profile_of(FakeProcess({}, [session])), Path("/run")) == ()


def test_empty_profile() -> None:
    empty = join_containers([])
    assert (empty.io_seconds, empty.read_bytes, empty.n_ranks) == (0.0, 0, 0)
    assert observed_files(empty, Path("/run")) == ()
    assert program_facts(empty, 1.0).mpi_family == ""
    assert not written_files(empty, Path("/run")).written


def test_observed_file(shared: RunProfile) -> None:
    (file,) = observed_files(shared, Path("/run"))
    assert (file.path, file.interface) == ("out.dat", "mpiio")
    assert (file.writers, file.system_writes) == (1, 8)
    assert file.system_write_bytes == 8 * MIB
    assert file.median_write_bytes == file.largest_write_bytes == MIB
    assert file.aligned_fraction == {4096: 1.0, 65536: 0.75, 1 << 20: 0.75}
    assert file.write_bytes == 8 * MIB
    assert file.io_seconds == pytest.approx(2.0)
    assert file.applied == {"cb_nodes": "1"}
    assert file.requested == {"access_style": "write_once"}
    assert file.reported["cb_nodes"] == "1"


def test_written_files_are_told_by_relative_paths(shared: RunProfile, tmp_path: Path) -> None:
    found = written_files(shared, Path("/run"))
    assert found.written == {Path("out.dat")}
    assert written_files(shared, tmp_path).written == {Path("/run/out.dat")}


WRITE = {Op.WRITE: (2, 10, 5)}
READ = {Op.READ: (1, 5, 5)}


@pytest.mark.parametrize(
    ("files", "replaced"),
    [
        pytest.param([(POSIX, FileFlag.TRUNCATED, WRITE, 0)], True, id="emptied"),
        pytest.param([(POSIX, FileFlag.CREATED, WRITE, 0)], True, id="removed and made anew"),
        pytest.param([(POSIX, FileFlag.TRUNCATED, WRITE | READ, 5)], False, id="emptied and read"),
        pytest.param([(POSIX, 0, WRITE, 0)], True, id="written from end to end"),
        pytest.param([(POSIX, 0, {Op.WRITE: (1, 9, 5)}, 0)], False, id="appended to"),
        pytest.param([(POSIX, 0, READ, 5)], False, id="read"),
        pytest.param(
            [(POSIX, FileFlag.CREATED, WRITE | READ, 0), (IoLayer.MPIIO, 0, WRITE, 0)],
            True,
            id="read inside a write",
        ),
        pytest.param(
            [(POSIX, FileFlag.TRUNCATED, WRITE | READ, 0), (IoLayer.HDF5, 0, WRITE, 0)],
            False,
            id="its metadata read",
        ),
        pytest.param(
            [(POSIX, FileFlag.CREATED, WRITE | READ, 0), (IoLayer.HDF5, 0, WRITE, 0)],
            True,
            id="removed, then its metadata read",
        ),
        pytest.param([(POSIX, FileFlag.CREATED, WRITE | READ, 5)], False, id="removed and read"),
    ],
)
def test_old_outputs_are_told_from_inputs(tmp_path: Path, files: list, replaced: bool) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    records = [
        FakeFile(str(path), layer, flags, ops, (1, read, 0)) for layer, flags, ops, read in files
    ]
    found = written_files(profile_of(FakeProcess({}, records)), tmp_path)
    assert found.replaced == ({Path("x")} if replaced else set())


def test_a_symbolic_link_to_the_root(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    inside = FakeFile(str(link / "x"), POSIX, FileFlag.WRITTEN, {Op.WRITE: (1, 5, 5)})
    assert written_files(profile_of(FakeProcess({}, [inside])), real).written == {Path("x")}


def test_facts(shared: RunProfile, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "stripewise.evidence.facts._facts.mpiio_components"
    monkeypatch.setattr(asked, lambda *_: ("ompio", "romio321"))
    facts = program_facts(shared, 10.0, environment={})
    assert (facts.n_ranks, facts.n_hosts) == (2, 1)
    assert (facts.mpi_family, facts.mpiio_implementation) == ("openmpi", "ompio")
    assert facts.mpi_version.startswith("Open MPI v4.1.4")
    assert facts.mpiio_alternatives == ("ompio", "romio321")
    assert (facts.collective_bytes, facts.independent_bytes) == (8 * MIB, 0)
    assert facts.noncontiguous
    assert facts.shared_files == 1
    assert facts.write_calls == 8
    assert facts.elapsed_seconds == 10.0
    assert not facts.uses_hdf5


def test_several_hosts() -> None:
    raws = [
        parse_container(build_container([FakeProcess(*rank(i, 2, [], 1))], host=f"node{i}"))
        for i in range(2)
    ]
    assert program_facts(join_containers(raws), 1.0).n_hosts == 2


@pytest.mark.parametrize(("second", "expected"), [(4, True), (3, False)])
def test_matched_calls(second: int, expected: bool) -> None:
    counts = [4, second]
    processes = [
        FakeProcess(*rank(i, 2, [FakeFile("/r/a.h5", HDF5, ops={Op.WRITE: (counts[i], 8, 8)})], 1))
        for i in range(2)
    ]
    facts = program_facts(profile_of(*processes), 1.0)
    assert facts.matched_calls is expected
    assert facts.uses_hdf5


def test_matched_calls_needs_every_rank() -> None:
    one = FakeProcess(*rank(0, 2, [FakeFile("/r/a.h5", HDF5, ops={Op.WRITE: (1, 8, 8)})], 1))
    assert not program_facts(profile_of(one, FakeProcess(*rank(1, 2, [], 1))), 1.0).matched_calls


def test_the_median_is_that_of_nearly_all_writes() -> None:
    write = FakeFile(
        "/run/x",
        POSIX,
        FileFlag.WRITTEN,
        {Op.WRITE: (1001, 1000 * 512 + 40, 10)},
        write_sizes={0: 1, 1: 1000},
        extremes=(40, 544),
    )
    write.outermost = (10, 0, 1000 * 512 + 40)
    (file,) = observed_files(profile_of(FakeProcess({}, [write])), Path("/run"))
    assert 511 <= file.median_write_bytes <= 512


def test_readers_are_the_ranks_that_issued_system_reads() -> None:
    def reads(number: int) -> list[FakeFile]:
        ops = {Op.READ: (2, 22528, 10)}
        return [FakeFile("/run/namelist.input", POSIX, ops=ops, outermost=(10, 22528, 0))]

    everyone = profile_of(*(FakeProcess(*rank(i, 3, reads(i), i + 1)) for i in range(3)))
    (file,) = observed_files(everyone, Path("/run"))
    assert (file.readers, file.writers, file.system_reads) == (3, 0, 6)


def test_one_of_several_ranks_reads() -> None:
    ops = {Op.READ: (1, 4096, 10)}
    first = [FakeFile("/run/in.dat", POSIX, ops=ops, outermost=(10, 4096, 0))]
    found = profile_of(*(FakeProcess(*rank(i, 3, [] if i else first, i + 1)) for i in range(3)))
    assert observed_files(found, Path("/run"))[0].readers == 1
