# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a file costs the reader, counted in calls of Python functions: no clock."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from types import FrameType

import pytest

from stripewise.evidence.facts import FilesSeen, program_facts
from stripewise.evidence.trace import FileFlag, IoLayer, Op, RunProfile
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

MOST_CALLS = 6


def container(n_files: int, directory: str, layer: IoLayer = IoLayer.POSIX) -> bytes:
    files = [
        FakeFile(
            f"{directory}/f{number}",
            layer,
            FileFlag.WRITTEN | FileFlag.CREATED,
            {Op.OPEN: (1, 0, 10), Op.WRITE: (1, 5, 10), Op.CLOSE: (1, 0, 10)},
            (30, 0, 5),
        )
        for number in range(n_files)
    ]
    return build_container([FakeProcess({"rank": -1}, files)])


def look(data: bytes, root: Path) -> tuple[RunProfile, FilesSeen]:
    """Do what `stripewise run` does with a container, but print it."""
    profile = join_containers([parse_container(data)])
    files = FilesSeen(profile, root)
    program_facts(profile)
    assert files[:4]
    return profile, files


def calls_of(data: bytes, root: Path) -> int:
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        look(data, root)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("layer", [IoLayer.POSIX, IoLayer.STDIO, IoLayer.HDF5])
@pytest.mark.parametrize("inside", [True, False])
def test_a_file_costs_few_calls(tmp_path: Path, layer: IoLayer, inside: bool) -> None:
    """A file outside of the directory is asked whether it is a link, which costs some more."""
    root = tmp_path if inside else tmp_path / "elsewhere"
    few, many = (container(n, f"{tmp_path}/data", layer) for n in (50, 550))
    calls_of(few, root)  # what is loaded at the first use
    more = calls_of(many, root) - calls_of(few, root)
    assert more <= 500 * (MOST_CALLS if inside else 2 * MOST_CALLS)


def test_a_file_costs_few_kilobytes(tmp_path: Path) -> None:
    data = container(2000, str(tmp_path))
    look(data, tmp_path)
    tracemalloc.start()
    try:
        look(data, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2000 * 6000


def test_the_largest_come_first_and_all_can_be_had(tmp_path: Path) -> None:
    profile, files = look(container(100, f"{tmp_path}/data"), tmp_path)
    assert len(files) == 100
    assert [file.path for file in files] == sorted(f"data/f{n}" for n in range(100))
    assert files[-1] == list(files)[-1] == files[:100][99]
    assert files[0].write_bytes == 5
    assert len(profile.counters) == 100


def test_names_are_those_below_the_directory_through_links_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "f0").write_text("data")
    for directory in ("real", "link", "real/../link"):
        _, files = look(container(1, f"{tmp_path}/{directory}"), tmp_path / "real")
        assert [file.path for file in files] == ["f0"]
    (tmp_path / "f0").symlink_to("real/f0")
    _, files = look(container(1, str(tmp_path)), tmp_path / "real")
    assert [file.path for file in files] == ["f0"]
    _, files = look(container(1, "/elsewhere/../else"), tmp_path)
    assert [file.path for file in files] == ["/else/f0"]
