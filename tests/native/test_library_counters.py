# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is counted is what the program did."""

from __future__ import annotations

import os
import sys

import pytest
from native_hosts import Host, Programs, has, moved, operations

from stripewise.evidence.trace import FileFlag, IoLayer, Op, ProcessFlag


def test_every_kind_of_transfer(host: Host, programs: Programs) -> None:
    host.check(programs.executable("transfers"))
    record = host.record("all")
    assert operations(record, Op.OPEN) == 1
    assert operations(record, Op.CLOSE) == 1
    assert operations(record, Op.WRITE) == 6
    assert moved(record, Op.WRITE) == 3 * 4096 + 3 * 300
    assert operations(record, Op.READ) == 6 + 2  # copy_file_range and sendfile read it too
    assert moved(record, Op.READ) == 3 * 1000 + 3 * 300 + 2048 + 1024
    assert operations(record, Op.SYNC) == 2
    assert operations(record, Op.META) == 1
    assert record["maximum_offset"] == 16384 + 4096
    assert (record["write_min"], record["write_max"]) == (300, 4096)
    assert (record["read_min"], record["read_max"]) == (300, 2048)
    assert record["outermost_seconds"] == pytest.approx(record["seconds"].sum())
    assert has(record, FileFlag.CREATED)
    assert has(record, FileFlag.READ)
    assert has(record, FileFlag.WRITTEN)


def test_offsets_sizes_and_alignment(host: Host, programs: Programs) -> None:
    host.check(programs.executable("transfers"))
    record = host.record("all")
    # 0, 4096 | 16384 (hole) | 4096 (back) | 0 (back) | 4396 (gap after 300)
    assert record["consecutive_writes"] == 2
    assert record["sequential_writes"] == 4
    assert record["write_sizes"].tolist() == [0, 3, 3, 0, 0, 0, 0, 0, 0, 0]
    alignment = record["write_alignment"].tolist()
    assert alignment[31] == 2  # at 0, whatever their size
    assert alignment[12] == 2  # at 4096 (twice)
    assert alignment[14] == 1  # at 16384
    assert alignment[2] == 1  # 300 bytes at 4396
    assert sum(alignment) == 6


def test_copies_count_on_both_files(host: Host, programs: Programs) -> None:
    host.check(programs.executable("transfers"))
    copy = host.record("copy")
    assert moved(copy, Op.WRITE) == 2048 + 1024
    assert copy["consecutive_writes"] == 2
    process = host.profile.processes[0]
    assert process["outermost_write_bytes"] == 3 * 4096 + 3 * 300 + 3072
    assert process["outermost_read_bytes"] == 3 * 1000 + 3 * 300 + 3072


def test_streams(host: Host, programs: Programs) -> None:
    host.check(programs.executable("streams"))
    record = host.record("stream", IoLayer.STDIO)
    assert operations(record, Op.OPEN) == 1
    assert operations(record, Op.WRITE) == 3
    assert moved(record, Op.WRITE) == 10 + 7 + 5
    assert operations(record, Op.READ) == 2
    assert moved(record, Op.READ) == 17 + 10
    assert operations(record, Op.SYNC) == 1
    assert operations(record, Op.CLOSE) == 1
    assert record["consecutive_writes"] == 3
    assert not host.records("stream", IoLayer.POSIX)


def test_copies_and_bulk_closes_of_descriptors(host: Host, programs: Programs) -> None:
    host.check(programs.executable("descriptors"))
    low = host.record("low")
    assert moved(low, Op.WRITE) == 600
    assert low["consecutive_writes"] == 6  # all copies share one position
    other = host.record("other")
    assert other["maximum_offset"] == 100  # O_APPEND


def test_asynchronous_requests(host: Host, programs: Programs) -> None:
    host.check(programs.executable("asynchronous"))
    record = host.record("async")
    assert (operations(record, Op.WRITE), moved(record, Op.WRITE)) == (2, 4196)
    assert (operations(record, Op.READ), moved(record, Op.READ)) == (2, 4146)
    assert record["maximum_offset"] == 4196


def test_shared_mappings_are_said(host: Host, programs: Programs) -> None:
    host.check(programs.executable("mapped"))
    assert has(host.profile.processes[0], ProcessFlag.USES_SHARED_MMAP)
    assert "memory mappings" in host.profile.write_amount.why


def test_mappings_of_left_out_files_are_not(host: Host, programs: Programs) -> None:
    """MPI libraries map files in /dev/shm all the time."""
    name = f"/dev/shm/stripewise-test-{os.getpid()}"
    try:
        host.check(programs.executable("mapped"), name, STRIPEWISE_SYNC="1")
    finally:
        os.unlink(name)
    assert not has(host.profile.processes[0], ProcessFlag.USES_SHARED_MMAP)


def test_rings_are_said(host: Host, programs: Programs) -> None:
    done = host.run(programs.executable("ring"))
    if done.returncode == 77:
        pytest.skip("this kernel allows no io_uring")
    assert has(host.profile.processes[0], ProcessFlag.USES_IO_URING)


def test_names(host: Host, programs: Programs) -> None:
    host.check(programs.executable("names"))
    assert len(host.records("latin-\udce9\udcff")) == 1
    assert has(host.record("by-directory"), FileFlag.UNLINKED)
    assert operations(host.record("by-chdir"), Op.META) == 1
    paths = host.profile.paths
    assert str(host.directory / "sub" / "by-chdir") in paths
    assert str(host.directory / "sub" / "by-directory") in paths


def test_system_files_and_code_are_left_out(host: Host) -> None:
    (host.directory / "code.py").write_text("")
    host.check(sys.executable, "-c", "open('/etc/passwd').read(); open('code.py').read()")
    assert not [one for one in host.profile.paths if one.endswith(("passwd", ".py", ".so"))]


def test_code_is_data_for_a_program_without_python(host: Host) -> None:
    (host.directory / "code.py").write_text("pass\n")
    host.check("cat", "code.py")
    assert operations(host.record("code.py"), Op.READ) > 0


def test_include_wins_over_the_defaults(host: Host) -> None:
    host.check("cat", "/etc/passwd", STRIPEWISE_INCLUDE="/none:/etc/")
    assert host.profile.paths == ("/etc/passwd",)


def test_exclude(host: Host) -> None:
    (host.directory / "kept").write_text("x")
    (host.directory / "left").write_text("x")
    host.check("cat", "kept", "left", STRIPEWISE_EXCLUDE=str(host.directory / "left"))
    assert [path.rsplit("/", 1)[1] for path in host.profile.paths] == ["kept"]


def test_disabled_records_nothing(host: Host, programs: Programs) -> None:
    host.check(programs.executable("plain"), STRIPEWISE_DISABLE="1")
    assert list(host.containers.iterdir()) == []


def test_files_whose_old_content_goes_are_marked(host: Host, programs: Programs) -> None:
    for name in ("by_stream", "by_size", "cut"):
        (host.directory / name).write_text("old\n")
    host.check(programs.executable("emptied"))
    assert has(host.record("by_stream", IoLayer.STDIO), FileFlag.TRUNCATED)
    assert has(host.record("by_size"), FileFlag.TRUNCATED)
    assert not has(host.record("cut"), FileFlag.TRUNCATED)
