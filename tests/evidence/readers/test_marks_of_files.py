# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Marks on files and notes of processes make amounts unknown, of that file and of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core import ReportedPart
from stripewise.evidence.facts import observed_files
from stripewise.evidence.trace import FileFlag, IoLayer, ProcessFlag
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

READ, WRITE = ReportedPart.READ_BYTES, ReportedPart.WRITE_BYTES
OPENED_READ, OPENED_WRITE = FileFlag.OPENED_READ, FileFlag.OPENED_WRITE
REASON = "/bin/cp: its environment drops LD_PRELOAD"
NOTE = f"not seen: {REASON}"


def joined(*processes: FakeProcess):
    return join_containers([parse_container(build_container(processes))])


@pytest.mark.parametrize(
    ("flags", "unknown"),
    [
        ([FileFlag.MAPPED], READ),
        ([FileFlag.MAPPED_SHARED], READ | WRITE),
        ([FileFlag.UNFETCHED | OPENED_READ], READ),
        ([FileFlag.UNFETCHED | OPENED_WRITE], WRITE),
        ([FileFlag.UNFETCHED, OPENED_READ | OPENED_WRITE], READ | WRITE),  # opened by the parent
        ([OPENED_READ | OPENED_WRITE], ReportedPart(0)),
    ],
)
def test_marks_of_files(flags: list[FileFlag], unknown: ReportedPart) -> None:
    mine = {"exe": "/a", "flags": ProcessFlag.EXITED}
    other = FakeFile("/r/other", IoLayer.POSIX, OPENED_READ | OPENED_WRITE)
    profile = joined(
        *(FakeProcess(mine, [FakeFile("/r/f", IoLayer.POSIX, flag), other]) for flag in flags)
    )
    places = [profile.paths.index(name) for name in ("/r/f", "/r/other")]
    for part in (READ, WRITE):
        known = [not profile.why_missing(part, place) for place in (*places, None)]
        assert known == [not part & unknown, True, not part & unknown]
    seen = observed_files(profile, Path("/r"))
    assert [file.path for file in seen] == ["f"] * bool(unknown)


def test_what_a_launcher_starts_is_not_told() -> None:
    flags = {"flags": ProcessFlag.EXITED | ProcessFlag.STARTED_UNSEEN}
    for exe, told in (("/usr/bin/prted", False), ("/usr/bin/python3", True)):
        launcher = FakeProcess({"exe": exe, **flags}, notes=[NOTE])
        profile = joined(launcher, FakeProcess({"exe": "/a", "flags": ProcessFlag.EXITED}))
        assert bool(profile.why_missing(ReportedPart.BYTES)) == told
        assert any(REASON in text for text in profile.notes) == told
