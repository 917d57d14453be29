# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The container: growth, limits, and every way in which it cannot be had."""

from __future__ import annotations

import concurrent.futures
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from native_hosts import Host, Programs, moved, operations

from stripewise.evidence.containers import read_containers
from stripewise.evidence.trace import Op


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"tmpfs cannot be mounted here: {done.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_grows_by_blocks(host: Host, programs: Programs) -> None:
    host.check(programs.executable("many"), "500")
    profile = host.profile
    assert len(profile.counters) == 500
    assert all(operations(record, Op.WRITE) == 1 for record in profile.counters)
    assert profile.processes[0]["lost_records"] == 0


def test_mode_and_header(host: Host, programs: Programs) -> None:
    host.check(programs.executable("plain"))
    (container,) = host.containers.iterdir()
    assert container.name == f"{os.uname().nodename}.sw"
    assert container.stat().st_mode & 0o777 == 0o600
    assert container.stat().st_blocks * 512 >= container.stat().st_size  # no holes
    assert host.profile.hosts == (os.uname().nodename,)


def test_many_processes_at_once_share_one_file(host: Host, programs: Programs) -> None:
    program = programs.executable("many")
    command = f"mkdir $1 && cd $1 && {program} 60 >/dev/null"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(host.check, "sh", "-c", command, "sh", str(i)) for i in range(12)]
        for run in runs:
            run.result()
    profile = host.profile
    assert len(profile.counters) == 12 * 60
    assert len(set(profile.paths)) == 12 * 60


def test_most_bytes_of_a_process(host: Host, programs: Programs) -> None:
    done = host.run(
        programs.executable("many"), "500", STRIPEWISE_MAX_BYTES="65536", STRIPEWISE_VERBOSE="1"
    )
    assert done.stdout == b"done\n"
    assert done.stderr.count(b"\n") == 1
    assert b"STRIPEWISE_MAX_BYTES" in done.stderr
    process = host.profile.processes[0]
    assert len(host.profile.counters) + int(process["lost_records"]) == 500
    (container,) = host.containers.iterdir()
    assert container.stat().st_size <= 65536 + 4096


def test_full_disk(host: Host, programs: Programs, small_disk: Path) -> None:
    for files in ("10", "2000"):
        done = host.run(
            programs.executable("many"),
            files,
            STRIPEWISE_DIRECTORY=str(small_disk),
            STRIPEWISE_VERBOSE="1",
        )
        assert (done.returncode, done.stdout) == (0, b"done\n")
    assert done.stderr.count(b"\n") == 1
    profile = read_containers(sorted(small_disk.glob("*.sw")))
    assert 10 < len(profile.counters) < 2000


def test_disk_that_was_full_at_the_start(host: Host, programs: Programs, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(60 * 1024))
    done = host.run(
        programs.executable("plain"),
        STRIPEWISE_DIRECTORY=str(small_disk),
        STRIPEWISE_VERBOSE="1",
    )
    assert done.returncode == 0
    assert b"no space left" in done.stderr


def test_file_size_limit(host: Host, programs: Programs) -> None:
    """The limit's signal must not reach the host on our account."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    done = subprocess.run(
        [programs.executable("many"), "200"],
        cwd=host.directory,
        env=host.environment(),
        preexec_fn=limit,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")


@pytest.mark.parametrize("kind", ["missing", "file", "foreign", "read-only"])
def test_no_place_for_the_container(host: Host, programs: Programs, kind: str) -> None:
    place = host.containers / kind
    if kind == "file":
        place.write_text("")
    elif kind == "foreign":
        place.mkdir()
        (place / f"{os.uname().nodename}.sw").write_bytes(b"precious" * 1000)
    elif kind == "read-only":
        if os.geteuid() == 0:
            place = Path("/proc/1")
        else:
            place.mkdir(mode=0o500)
    done = host.run(programs.executable("plain"), STRIPEWISE_DIRECTORY=str(place))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    if kind == "foreign":
        (foreign,) = place.iterdir()
        assert foreign.read_bytes() == b"precious" * 1000


def test_programs_that_empty_their_environment(host: Host, programs: Programs) -> None:
    host.check(programs.executable("clears"))
    assert len(host.profile.counters) == 200


def test_removed_container_is_no_trouble(host: Host) -> None:
    host.check("sh", "-c", f"rm -r {host.containers}; echo x > after; cat after")


def test_many_children(host: Host) -> None:
    append = "dd if=/dev/zero of=log bs=3 count=1 oflag=append conv=notrunc status=none"
    host.check("bash", "-c", f"for i in $(seq 50); do ({append}) & done; wait")
    total = sum(moved(record, Op.WRITE) for record in host.records("log"))
    assert total == 150 == (host.directory / "log").stat().st_size


@pytest.mark.parametrize("capture", ["", "fold"])
def test_the_container_of_all_processes_has_a_bound(
    host: Host, programs: Programs, capture: str
) -> None:
    bound = 128 << 10
    host.check(
        programs.executable("crowd"), STRIPEWISE_RUN_BYTES=str(bound), STRIPEWISE_CAPTURE=capture
    )
    (container,) = host.containers.iterdir()
    assert container.stat().st_size <= bound
    profile = host.profile
    (told,) = [text for text in profile.notes if "not recorded: the container" in text]
    lost = int(told.split()[1])
    assert lost > 0
    assert len(profile.processes) + lost == 1 + 64


@pytest.mark.parametrize(("capture", "most"), [("", 1), ("fold", 4)])
def test_a_process_that_does_little_leaves_little(host: Host, capture: str, most: int) -> None:
    append = "dd if=/dev/zero of=log bs=3 count=1 oflag=append conv=notrunc status=none"
    host.check("bash", "-c", f"for i in 1 2 3 4; do ({append}); done", STRIPEWISE_CAPTURE=capture)
    (container,) = host.containers.iterdir()
    n_processes = len(host.profile.processes)
    assert n_processes >= 5
    # bash itself looks at more files, for which its blocks grow
    room = (n_processes * most + 32) * 4096
    assert container.stat().st_size <= room
