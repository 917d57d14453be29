# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An ADIOS2 file is a directory; a PnetCDF file passes the program's hints on."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.evidence.facts import observed_files, program_facts, written_files
from stripewise.evidence.trace import FileFlag, IoLayer, Op, ProcessFlag, RunProfile
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

MIB = 1 << 20


def put(path: str) -> FakeFile:
    """A MiB put into an ADIOS2 file."""
    operations = {Op.WRITE: (1, MIB, 10)}
    return FakeFile(path, IoLayer.ADIOS2, FileFlag.WRITTEN, operations, (50, 0, MIB))


def written(path: str, outermost: int = 0) -> FakeFile:
    """A MiB written to the system; by a thread of the library if outermost."""
    flags = FileFlag.WRITTEN | FileFlag.CREATED
    operations = {Op.WRITE: (1, MIB, 10)}
    return FakeFile(path, IoLayer.POSIX, flags, operations, (10, 0, outermost))


def profile(*files: FakeFile) -> RunProfile:
    fields = {
        "flags": ProcessFlag.EXITED | ProcessFlag.ADIOS2,
        "outermost_write_bytes": sum(file.outermost[2] for file in files),
    }
    process = FakeProcess(fields, list(files))
    return join_containers([parse_container(build_container([process]), "a.sw")])


@pytest.mark.parametrize("by_thread", [0, MIB])
def test_the_directory_is_one_file_and_counts_once(by_thread: int) -> None:
    found = profile(
        put("/run/out.bp"),
        written("/run/out.bp/data.0", by_thread),
        written("/run/out.bp/data.1", by_thread),
        written("/run/out.bp/md.0", by_thread),
    )
    assert found.write_bytes == MIB
    (file,) = observed_files(found, Path("/run"))
    assert (file.path, file.interface, file.write_bytes) == ("out.bp", "adios2", MIB)
    assert (file.system_writes, file.system_write_bytes) == (3, 3 * MIB)
    assert file.reported == {"NumSubFiles": "2"}
    facts = program_facts(found)
    assert (facts.uses_adios2, facts.write_calls, facts.posix_bytes) == (True, 1, 0)


def test_files_beside_it_are_files_of_their_own() -> None:
    found = profile(put("/run/out.bp"), written("/run/out.bpx/data.0", MIB))
    assert found.write_bytes == 2 * MIB
    assert {f.path for f in observed_files(found, Path("/run"))} == {"out.bp", "out.bpx/data.0"}


def test_what_the_system_sees_is_what_was_opened() -> None:
    found = written_files(profile(put("/run/out.bp"), written("/run/out.bp/data.0")), Path("/run"))
    assert found.written == {Path("out.bp/data.0")}
