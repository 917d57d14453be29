# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where calls are in their files: positions of streams, extents, alignment; directories."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from native_hosts import Host, Programs, operations

from stripewise.evidence.trace import IoLayer, Op

EXTENTS = {
    "records": 64 + 50 * 448,
    "back": 9200,
    "characters": 35,
    "appended": 900,
    "read_and_appended": 2070,
    "within": 300,
    "to_the_end": 640,
    "pushed_back": 10,
    "left": 20,
    "left_at_the_end": 120,
    "put": 10_000,
    "left_characters": 5000,
}
SEQUENTIAL = {
    "dd": ["dd", "if=/dev/zero", "of=out", "bs=512", "count=20"],
    "tar": ["tar", "-cf", "out", "given"],
    "stdio": ["sort", "-o", "out", "given"],
    "once": ["dd", "if=/dev/zero", "of=out", "bs=300", "count=1"],
}


def aligned_by_strace(command: Sequence[str], directory: Path) -> tuple[int, int]:
    """Return how many of the writes to "out", one after the other, begin at 4 KiB; and all."""
    log = directory / "log"
    strace = ["strace", "-f", "-y", "-s", "0", "-e", "trace=write", "-o", str(log)]
    subprocess.run([*strace, *command], cwd=directory, check=True, capture_output=True)
    offset, aligned = 0, []
    for size in re.findall(r"write\(\d+<[^>]*/out>.* = (\d+)$", log.read_text(), re.M):
        aligned.append(offset % 4096 == 0)
        offset += int(size)
    assert offset == (directory / "out").stat().st_size
    return sum(aligned), len(aligned)


def test_extents_of_streams(host: Host, programs: Programs) -> None:
    host.check(programs.executable("places"))
    found = {name: int(host.record(name, IoLayer.STDIO)["maximum_offset"]) for name in EXTENTS}
    assert found == EXTENTS


def test_records_follow_each_other_at_the_end(host: Host, programs: Programs) -> None:
    host.check(programs.executable("places"))
    record = host.record("records", IoLayer.STDIO)
    places = [place for i in range(50) for place in (64 + 448 * i, 0)]
    assert sum(record["write_alignment"]) == 1 + len(places)
    assert sum(record["write_alignment"][12:]) == 1 + sum(place % 4096 == 0 for place in places)
    ends = [64, *(place + (448 if place else 64) for place in places)]
    assert record["consecutive_writes"] == 1 + sum(
        place == end for place, end in zip(places, ends[:-1], strict=True)
    )


def writes_by_strace(program: Path, directory: Path) -> dict[str, Counter[int]]:
    """Return how many writes to each file begin at a multiple of each power of two, at most 31."""
    log = directory / "log"
    strace = ["strace", "-y", "-s", "0", "-e", "trace=openat,read,write,lseek", "-o", str(log)]
    subprocess.run([*strace, str(program)], cwd=directory, check=True)
    place: Counter[str] = Counter()
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    pattern = r"^(?:(read|write|lseek)\(\d+<([^>]+)>.*|(openat)\(.*) = (\d+)(?:<(.*)>)?$"
    for call, path, _, value, opened in re.findall(pattern, log.read_text(), re.M):
        name, number = Path(path or opened).name, int(value)
        if call == "write" and number:
            start = place[name]
            found[name][min((start & -start).bit_length() - 1, 31) if start else 31] += 1
        place[name] = number if call == "lseek" else place[name] + number if call else 0
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_libc_writes_where_strace_sees_it(host: Host, programs: Programs, tmp_path: Path) -> None:
    program = programs.executable("places")
    (tmp_path / "traced").mkdir()
    seen = writes_by_strace(program, tmp_path / "traced")
    host.check(program)
    profile = host.profile
    for name in ("records", "back", "characters", "within"):
        number = next(i for i, path in enumerate(profile.paths) if path.endswith(f"/{name}"))
        bins = profile.issued[profile.issued["file"] == number]["write_alignment"].sum(axis=0)
        assert {place: int(bins[place]) for place in np.flatnonzero(bins).tolist()} == seen[name]


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("name", SEQUENTIAL)
def test_alignment_is_that_of_the_offset(host: Host, name: str, tmp_path: Path) -> None:
    traced = tmp_path / "traced"
    traced.mkdir()
    for directory in (traced, host.directory):
        (directory / "given").write_bytes(b"some line\n" * 10_000)
    aligned, writes = aligned_by_strace(SEQUENTIAL[name], traced)
    host.check(*SEQUENTIAL[name])
    records = [row for row in host.records("out") if operations(row, Op.WRITE)]
    if not records:
        number = next(i for i, p in enumerate(host.profile.paths) if p.endswith("/out"))
        records = list(host.profile.issued[host.profile.issued["file"] == number])
    (record,) = records
    assert operations(record, Op.WRITE) == writes
    known = int(record["write_alignment"].sum())
    assert known in (0, writes)
    assert int(record["write_alignment"][12:].sum()) == (aligned if known else 0)
    if known and name != "stdio":
        assert record["unaligned"] == writes - aligned


def test_what_is_only_read_has_no_known_alignment(host: Host) -> None:
    (host.directory / "given").write_bytes(b"some line\n" * 10_000)
    host.check("dd", "if=given", "of=/dev/null", "bs=1000")
    assert host.record("given")["unaligned"] == -1


def test_syncs_of_a_directory_are_counted(host: Host, programs: Programs) -> None:
    host.check(programs.executable("durable"))
    record = host.record("kept")
    assert operations(record, Op.SYNC) == 5
    assert record["seconds"][Op.SYNC] > 0
    assert record["count"].sum() == 5
    assert sum(operations(host.record(str(i)), Op.SYNC) for i in range(5)) == 5
