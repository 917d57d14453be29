# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What follows the last block of a container is not read, however much it is, and is told."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from stripewise.core.errors import StripewiseError
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers import container_bytes, is_container
from stripewise.evidence.containers.container import Store, blocks
from stripewise.evidence.readers import collect_containers, read_evidence
from stripewise.evidence.trace import IoLayer, Op
from support.containers import FakeFile, FakeProcess, build_container

SOUND = build_container([
    FakeProcess({"pid": 7}, [FakeFile("/d/a", IoLayer.POSIX, 0, {Op.WRITE: (2, 20, 5)})])
])  # fmt: skip


def extended(path: Path, tail: bytes = b"", size: int = 0) -> Path:
    """Write a container with something behind its end, or as large as `size`."""
    path.write_bytes(SOUND + tail)
    if size:
        os.truncate(path, size)
    return path


@pytest.mark.parametrize(
    ("tail", "size", "rest"),
    [(b"", 20 << 30, "20 GiB"), (b"", 1 << 43, "8 TiB"), (b"\0" * 8192, 0, "8 KiB"),
     (b"junk", 0, "4 B"), (b"junk" * 4096, 0, "16 KiB")],
)  # fmt: skip
def test_what_is_behind_the_end_is_told_and_not_read(
    tmp_path: Path, tail: bytes, size: int, rest: str
) -> None:
    try:
        path = extended(tmp_path / "vm.sw", tail, size)
    except OSError:
        pytest.skip("this file system has no files of that size")
    assert container_bytes(path) == len(SOUND)
    profile = read_evidence(path).profile
    assert f"vm.sw: {rest} after its end are not read" in " ".join(profile.notes)
    assert [one for one in profile.paths if one == "/d/a"]


def test_a_search_for_the_next_block_ends() -> None:
    asked = 0

    def fetch(offset: int, size: int) -> bytes:
        nonlocal asked
        asked += 1
        return SOUND[offset : offset + size].ljust(size, b"\0")

    assert [one.end for one in blocks(Store("vm.sw", 1 << 62, fetch))] == [len(SOUND)]
    assert asked < 20_000


def test_a_block_behind_pages_that_were_never_written_is_found() -> None:
    gap = bytes(1 << 20)
    data = SOUND + gap + SOUND[c.PAGE :]
    found = [one.offset for one in blocks(_store(data))]
    assert found == [c.PAGE, len(SOUND) + len(gap)]


def test_gaps_add_up() -> None:
    data = bytearray()
    for _ in range(5):
        data += SOUND if not data else SOUND[c.PAGE :]
        data += bytes(20 << 20)
    assert len(list(blocks(_store(bytes(data))))) == 4


def test_blocks_that_claim_more_than_a_container_holds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vm.sw"
    head = np.frombuffer(SOUND, c.BLOCK_HEADER, 1, c.PAGE).copy()
    head["bytes"] = 256 << 20
    with path.open("wb") as file:
        file.write(SOUND[: c.PAGE])
        for number in range(70):
            os.pwrite(file.fileno(), head.tobytes(), c.PAGE + number * (256 << 20))
        file.truncate(70 << 28)
    with pytest.raises(StripewiseError, match="the budget of a container"):
        container_bytes(path)


def test_a_copy_has_no_more_than_the_container(tmp_path: Path) -> None:
    path = extended(tmp_path / "vm.sw", size=20 << 30)
    (copy,) = collect_containers([path], tmp_path / "t")
    assert copy.read_bytes() == SOUND


def test_what_is_a_container(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sw")
    assert is_container(extended(tmp_path / "vm.sw"))
    assert not is_container(tmp_path / "pipe.sw")
    assert not is_container(tmp_path / "none.sw")


def _store(data: bytes) -> Store:
    return Store("vm.sw", len(data), lambda offset, size: data[offset : offset + size])
