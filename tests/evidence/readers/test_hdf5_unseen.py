# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 that is linked into a program: no call of it is seen, and that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.evidence.containers import handshake
from stripewise.evidence.trace import ProcessFlag, RunProfile
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

SIGNATURE = b"\x89HDF\r\n\x1a\n"
LINKED = b"\x7fELF...HDF5 library version: 1.14.3..."


def profile_of(where: Path, program: bytes, content: bytes | None, flags: int = 0) -> RunProfile:
    exe, path = where / "app", where / "out.h5"
    exe.write_bytes(program)
    if content is not None:
        path.write_bytes(content)
    file = FakeFile(str(path), outermost=(1000, 0, 4096))
    process = FakeProcess({"exe": str(exe), "flags": flags}, (file,))
    return join_containers([parse_container(build_container([process]))])


def test_it_is_told_with_the_remedy(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, LINKED, SIGNATURE + b"data")
    assert [profile.paths[file] for file in profile.hdf5_unseen] == [str(tmp_path / "out.h5")]
    (said,) = [text for text in handshake(profile, ()).warnings if "HDF5" in text]
    assert "out.h5" in said
    assert "dynamically" in said


@pytest.mark.parametrize(
    ("program", "content", "flags", "count"),
    [
        (LINKED, None, 0, 1),  # removed by now: its name counts
        (LINKED, b"CDF\x01data", 0, 0),
        (LINKED, SIGNATURE, ProcessFlag.HDF5, 0),
        (b"\x7fELF: cp copies any file", SIGNATURE, 0, 0),
        (b"", SIGNATURE, 0, 0),
    ],
)
def test_only_where_the_program_holds_hdf5(
    tmp_path: Path, program: bytes, content: bytes | None, flags: int, count: int
) -> None:
    assert len(profile_of(tmp_path, program, content, flags).hdf5_unseen) == count
