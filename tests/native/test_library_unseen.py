# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""I/O that passes no wrapper is counted, or is unknown; it is never nothing."""

from __future__ import annotations

import os
import subprocess

import pytest
from native_hosts import Host, Programs, has, moved, operations

from stripewise.core import ReportedPart
from stripewise.evidence.trace import FileFlag, IoLayer, Op, ProcessFlag

READ, WRITE, BYTES = ReportedPart.READ_BYTES, ReportedPart.WRITE_BYTES, ReportedPart.BYTES


def lacks(host: Host, name: str) -> ReportedPart:
    """Which bytes of a file are not known; those of the run must not be then either."""
    profile = host.profile
    file = next(i for i, path in enumerate(profile.paths) if path.endswith(f"/{name}"))
    found = ReportedPart(0)
    for part in (READ, WRITE):
        if profile.why_missing(part, file):
            assert profile.why_missing(part)
            assert profile.why_missing(ReportedPart.SECONDS, file)
            found |= part
    return found


@pytest.mark.parametrize(
    ("way", "unknown"),
    [("map", READ), ("private", READ), ("both", BYTES), ("code", ReportedPart(0))],
)
def test_mappings_leave_a_file_unknown(
    host: Host, programs: Programs, way: str, unknown: ReportedPart
) -> None:
    (host.directory / "given").write_bytes(bytes(4096))
    host.check(programs.executable("unseen"), way)
    assert lacks(host, "given") == unknown
    shared = has(host.profile.processes[0], ProcessFlag.USES_SHARED_MMAP)
    assert shared == (way == "both")


@pytest.mark.parametrize(
    ("way", "requests"), [("asked", 10), ("list", 9), ("again", 3), ("many", 700), ("left", None)]
)
def test_asynchronous_requests_without_results(
    host: Host, programs: Programs, way: str, requests: int | None
) -> None:
    host.check(programs.executable("unseen"), way)
    record = host.record(way)
    if way in ("left", "many"):  # more than are remembered, or nobody asked
        assert lacks(host, way) == WRITE
        return
    assert (operations(record, Op.WRITE), moved(record, Op.WRITE)) == (requests, 100 * requests)
    assert record["outermost_write_bytes"] == 100 * requests
    assert host.profile.write_bytes == 100 * requests
    assert not lacks(host, way)


def test_formatted_text_and_words(host: Host, programs: Programs) -> None:
    host.check(programs.executable("unseen"), "format", "words")
    record = host.record("formatted")
    assert (operations(record, Op.WRITE), moved(record, Op.WRITE)) == (11, 104)
    assert record["consecutive_writes"] == 11
    record = host.record("words", IoLayer.STDIO)
    assert (operations(record, Op.WRITE), moved(record, Op.WRITE)) == (10, 40)
    assert moved(record, Op.READ) == 40
    assert not has(record, FileFlag.CHARACTERS)


def test_files_without_names(host: Host, programs: Programs) -> None:
    try:  # without the library
        os.close(os.open(host.directory, os.O_TMPFILE | os.O_RDWR))
    except OSError as error:
        pytest.skip(f"this file system has no O_TMPFILE: {error}")
    assert host.run(programs.executable("unseen"), "unnamed").returncode == 0
    record = host.record("(unnamed)")
    assert f"{host.directory}/(unnamed)" in host.profile.paths
    assert moved(record, Op.WRITE) == 1000
    assert has(record, FileFlag.CREATED)
    assert has(record, FileFlag.UNLINKED)
    assert moved(host.record("(unnamed)", IoLayer.STDIO), Op.WRITE) == 500


@pytest.mark.parametrize("way", ["fork", "vfork"])
def test_programs_without_the_library_are_named(host: Host, programs: Programs, way: str) -> None:
    host.check(programs.executable("unseen"), way)
    profile = host.profile
    assert "/bin/true: its environment" in profile.why_missing(BYTES)
    (note,) = profile.notes
    assert note == profile.why_missing(BYTES)


def test_programs_with_the_library_are_not(host: Host) -> None:
    for command in (
        "true; sh -c 'exec true'; env true; (true)",
        "python3 -c 'import ctypes.util; ctypes.util.find_library(\"m\")'",
    ):
        host.check("sh", "-c", command)
    assert not host.profile.gaps


def test_files_that_are_given_open(host: Host) -> None:
    """Standard input and others; code is data for cat; a file that is only passed on is none."""
    for name in ("given", "passed"):
        (host.directory / name).write_bytes(bytes(1000))
    (host.directory / "code.py").write_bytes(bytes(1000))
    command = "cat; cat <&5; cat <&6; sh -c 'head -c 10' <&8; echo more >&2"
    with (host.directory / "given").open("rb") as given:
        done = subprocess.run(
            ["bash", "-c", f"exec 5<given 6<code.py 7<passed 8<given; exec sh -c {command!r}"],
            cwd=host.directory, env=host.environment(), stdin=given, stdout=subprocess.DEVNULL,
            stderr=(host.directory / "said").open("wb"), check=True,
        )  # fmt: skip
    assert done.returncode == 0
    profile = host.profile
    names = [path.rsplit("/", 1)[1] for path in profile.paths]
    assert sorted(names) == ["code.py", "given", "passed"]
    read = {name: 0 for name in names}
    for row in profile.counters:
        read[names[row["file"]]] += moved(row, Op.READ)
    assert read["given"] in (2010, 3000)  # head reads a buffer
    assert read["passed"] == 0
    openers = profile.counters["process"][profile.counters["file"] == names.index("passed")]
    assert len(set(openers.tolist())) == 1
