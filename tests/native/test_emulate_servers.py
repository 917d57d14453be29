# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the servers of an emulated storage count is, to the digit, what programs did."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from emulated_hosts import Emulation
from native_hosts import Host, Programs

from emulated_machine import Machine, near
from stripewise.storage.emulation import (
    ServerCounters,
    TargetTallies,
    read_servers,
    set_target_factor,
)

KIB, MIB = 1 << 10, 1 << 20
Emulate = Callable[..., Emulation]


@pytest.fixture
def emulate(host: Host, programs: Programs) -> Emulate:
    """An emulated storage with some figures in the host's directory."""
    program = programs.executable("requests")

    def make(figures: dict[str, float] | None = None, **more: object) -> Emulation:
        return Emulation(host, Machine(figures or {}, **more), program)  # type: ignore[arg-type]

    return make


def run(storage: Emulation, *table: str, **variables: str) -> ServerCounters:
    """Make requests at once, and see what the servers counted since the beginning."""
    storage.check(storage.program, "0", *table, **variables)
    return read_servers(storage.file)


def layout(storage: Emulation, name: str) -> tuple[int, int, int]:
    """Stripes, their size and the first target."""
    text = os.getxattr(storage.host.directory / name, "user.stripewise.layout").decode()
    count, size, first = map(int, text.split())
    return count, size, first


def bulk(
    at: tuple[int, int, int], targets: int, offset: int, size: int
) -> Counter[tuple[int, int]]:
    """Requests at targets, (target, bytes), of one call: stripe by stripe, the slow way."""
    count, stripe, first = at
    objects: Counter[int] = Counter()
    while size > 0:
        step = min(size, stripe - offset % stripe)
        objects[offset // stripe % count] += step
        offset, size = offset + step, size - step
    found: Counter[tuple[int, int]] = Counter()
    for number, moved in objects.items():
        for begin in range(0, moved, 4 * MIB):
            found[(first + number) % targets, min(4 * MIB, moved - begin)] += 1
    return found


def counted(servers: ServerCounters, writes: bool) -> dict[int, tuple[int, ...]]:
    """Samples, sum, sum of squares, least and most of the requests of each target."""
    found = {}
    for number, target in enumerate(servers.targets):
        one = (target.writes if writes else target.reads).size_bytes
        if one.samples:
            found[number] = (one.samples, one.total, one.squares, one.least, one.most)
    return found


def expected(requests: Counter[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    found = {}
    for target in {target for target, _ in requests}:
        sizes = [size for (at, size), n in requests.items() if at == target for _ in range(n)]
        squares = sum(size**2 for size in sizes) % 2**64
        found[target] = (len(sizes), sum(sizes), squares, min(sizes), max(sizes))
    return found


# ---- data --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_data_is_counted_where_its_stripes_are(emulate: Emulate, seed: int) -> None:
    chance = random.Random(seed)
    targets = chance.choice([1, 3, 5])
    storage = emulate(
        targets=targets, stripe_count=chance.choice([1, 2, -1]), stripe_size=64 * KIB
    )
    calls = [(chance.randrange(4 * MIB), chance.randrange(1, 12 * MIB)) for _ in range(12)]
    table = [f"pwrite:{offset}:{size}" for offset, size in calls]
    reads = [(offset, size) for offset, size in calls[:4]]
    table += [f"pread:{offset}:{size}" for offset, size in reads]
    servers = run(storage, "create:data", *table)
    at = layout(storage, "data")
    written = sum((bulk(at, targets, *call) for call in calls), Counter())
    read = sum((bulk(at, targets, *call) for call in reads), Counter())
    assert counted(servers, writes=True) == expected(written)
    assert counted(servers, writes=False) == expected(read)
    for target in servers.targets:
        for one in (target.reads, target.writes):
            assert sum(one.sizes) == sum(one.times) == one.samples


def test_sizes_are_counted_by_powers_of_two(emulate: Emulate) -> None:
    servers = run(
        emulate(targets=1),
        *("create:data", "pwrite:0:1", "pwrite:0:4096", "pwrite:0:4097", "pwrite:0:9437184"),
    )
    sizes = servers.targets[0].writes.sizes
    found = {power: count for power, count in enumerate(sizes) if count}
    assert found == {0: 1, 12: 1, 13: 1, 20: 1, 22: 2}  # 9 MiB are 4 + 4 + 1


def test_only_what_moved_counts(emulate: Emulate) -> None:
    storage = emulate(targets=1)
    run(storage, "create:data", "pwrite:0:1000")
    servers = run(
        storage, "append:data", "!pread:0:100", "open:data", "pread:900:5000", "pread:2000:10"
    )
    assert counted(servers, writes=True) == {0: (1, 1000, 1000**2, 1000, 1000)}
    assert counted(servers, writes=False) == {0: (1, 100, 100**2, 100, 100)}


@pytest.mark.parametrize(
    ("table", "size"),
    [
        (["write:1048577", "write:5"], MIB + 6),
        (["writev:3000000"], 3_000_000),
        (["aio:1048570:100"], 100),
        (["fopen:data", "fwrite:2000000"], 2_000_000),
        (["fopen:data", "fwrite:2000000", "fclose"], 2_000_000),
        (["copy:source:700000"], 700_000),
    ],
)
def test_every_way_to_write_is_counted(emulate: Emulate, table: list[str], size: int) -> None:
    storage = emulate(targets=3, stripe_count=3)
    (storage.host.directory / "source").write_bytes(b"x" * 700_000)
    servers = run(storage, "create:data", *table)
    total = sum(target.writes.size_bytes.total for target in servers.targets)
    assert total == size == storage.counters["written_bytes"]


def test_times_are_from_the_arrival_at_the_target_to_its_end(emulate: Emulate) -> None:
    storage = emulate({"servers.target_write": 10 * MIB, "client.request": 0.05}, targets=1)
    servers = run(storage, "create:data", "pwrite:0:1048576")
    assert servers.targets[0].writes.time_us.total == pytest.approx(1e5, rel=1e-3)
    both = storage.together(*[["create:data", "pwrite:0:1048576"]] * 2)
    assert max(one[-1].end for one in both) == near(0.25)
    times = read_servers(storage.file).targets[0].writes.time_us
    assert (times.samples, times.least) == (3, pytest.approx(1e5, rel=1e-3))
    assert 1.5e5 < times.most <= 2e5 + 1000, "who waits at the target is there already"


def test_requests_of_one_part_share_its_time(emulate: Emulate) -> None:
    servers = run(emulate({"servers.target_write": 10 * MIB}, targets=1),
                  "create:data", "pwrite:0:5242880")  # fmt: skip
    times = servers.targets[0].writes.time_us
    assert times.total == pytest.approx(5e5, abs=2)
    assert (times.samples, times.least, times.most) == (
        2, pytest.approx(1e5, abs=1), pytest.approx(4e5, abs=1))  # fmt: skip


def test_a_target_can_become_slow_and_fast_again(emulate: Emulate) -> None:
    storage = emulate({"servers.target_write": 20 * MIB}, targets=2)
    table = ["create:data", "pwrite:0:1048576"]
    assert storage.alone(*table)[-1].seconds == near(0.05)
    _, _, first = layout(storage, "data")
    set_target_factor(storage.file, first, 4.0)
    assert storage.alone(*table)[-1].seconds == near(0.2)
    times = read_servers(storage.file).targets[first].writes.time_us
    assert (times.least, times.most) == (
        pytest.approx(5e4, rel=1e-3), pytest.approx(2e5, rel=1e-3))  # fmt: skip
    set_target_factor(storage.file, first, 1.0)
    set_target_factor(storage.file, 1 - first, 9.0)
    assert storage.alone(*table)[-1].seconds == near(0.05)


# ---- metadata ----------------------------------------------------------------------------------


def test_metadata_calls_are_counted_by_lustres_names(emulate: Emulate, programs: Programs) -> None:
    storage = emulate(targets=3, stripe_count=2)
    storage.check(programs.executable("serves"))
    servers = read_servers(storage.file)
    found = {name: one.samples for name, one in servers.metadata.operations.items()}
    assert found == {
        "open": 6, "close": 6, "mknod": 4, "link": 1, "unlink": 2, "mkdir": 2, "rmdir": 2,
        "rename": 1, "getattr": 3, "setattr": 5, "getxattr": 2, "setxattr": 3, "statfs": 1,
        "sync": 1,
    }  # fmt: skip
    at_targets = Counter[str]()
    for target in servers.targets:
        at_targets += Counter({name: one.samples for name, one in target.operations.items()})
    assert at_targets == {"punch": 3 * 2, "sync": 2, "prealloc": 2}
    assert servers.jobs.keys() == {f"serves.{os.geteuid()}"}


def traced(
    storage: Emulation, path: str | Path, inject: str, *table: str
) -> subprocess.Popen[bytes]:
    """Start requests; something happens to a system call of theirs on a path."""
    environment = storage.environment(SLURM_JOB_ID="1")
    library = environment.pop("LD_PRELOAD")
    options = ["-qq", "-o", os.devnull, *("-P", path), "-e", f"trace={inject.partition(':')[0]}"]
    options += ["-e", f"inject={inject}", "-E", f"LD_PRELOAD={library}"]
    return subprocess.Popen(
        ["strace", *options, storage.program, "0", *table],
        cwd=storage.host.directory,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def slowly(storage: Emulation, seconds: float, *table: str) -> subprocess.Popen[bytes]:
    """The same; between looking for "data" and opening it, time passes."""
    return traced(storage, "data", f"openat:delay_enter={round(seconds * 1e6)}", *table)


def all_end(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        _, said = process.communicate(timeout=60)
        if b"ptrace" in said:
            pytest.skip("strace may not trace here")
        assert process.returncode == 0, said.decode()


def test_a_file_that_two_processes_create_at_once_is_made_once(emulate: Emulate) -> None:
    storage = emulate(targets=1)
    all_end(*(slowly(storage, 0.4, "create:data", "close") for _ in range(2)))
    operations = read_servers(storage.file).metadata.operations
    assert operations["open"].samples == 2
    assert operations["mknod"].samples == 1


def test_a_file_that_another_made_meanwhile_is_not_made_again(emulate: Emulate) -> None:
    storage = emulate(targets=1)
    late = slowly(storage, 2.0, "create:data")
    time.sleep(0.4)
    storage.alone("exclusive:data")
    all_end(late)
    assert read_servers(storage.file).metadata.operations["mknod"].samples == 1


def test_each_file_is_made_even_where_the_table_of_files_is_full(emulate: Emulate) -> None:
    storage = emulate({"metadata.create": 0.02}, files=4)
    made = storage.alone(*(f"create:{number}" for number in range(20)))
    assert read_servers(storage.file).metadata.operations["mknod"].samples == 20
    assert made[-1].end == near(0.4)


def test_times_of_metadata_leave_the_network_out(emulate: Emulate) -> None:
    figures = {"metadata.create": 0.02, "metadata.open": 0.01, "metadata.latency": 0.03}
    servers = run(emulate(figures), "create:data", "close", "open:data")
    operations = servers.metadata.operations
    assert operations["mknod"].total == pytest.approx(2e4, rel=1e-3)
    assert (operations["open"].least, operations["open"].most) == (
        pytest.approx(1e4, rel=1e-3), pytest.approx(2e4, rel=1e-3))  # fmt: skip


# ---- jobs --------------------------------------------------------------------------------------


def written(found: dict[int, TargetTallies]) -> int:
    return sum(target.writes.size_bytes.total for target in found.values())


def test_jobs_side_by_side_are_told_apart(emulate: Emulate) -> None:
    storage = emulate(targets=2, stripe_count=2)
    started = [
        subprocess.Popen(
            [storage.program, "0", f"create:{job}{rank}", *[f"write:{size}"] * 200],
            cwd=storage.host.directory,
            env=storage.environment(rank, SLURM_JOB_ID=job),
            stdout=subprocess.DEVNULL,
        )
        for job, size in (("17", 1000), ("18", 70_000))
        for rank in range(2)
    ]
    assert [process.wait(60) for process in started] == [0] * 4
    servers = read_servers(storage.file)
    assert servers.jobs.keys() == {"17", "18"}
    assert written(dict(servers.jobs["17"].targets)) == 2 * 200 * 1000
    assert written(dict(servers.jobs["18"].targets)) == 2 * 200 * 70_000
    assert written(dict(enumerate(servers.targets))) == 2 * 200 * 71_000
    assert [servers.jobs[job].metadata.operations["mknod"].samples for job in ("17", "18")] == [
        2,
        2,
    ]


def test_where_jobs_have_no_room_targets_still_count(emulate: Emulate) -> None:
    storage = emulate(targets=1, jobs=2)
    for job in "abcd":
        servers = run(storage, "create:data", "pwrite:0:1000", SLURM_JOB_ID=job)
    assert servers.jobs.keys() == {"a", "b"}
    assert servers.targets[0].writes.size_bytes.total == 4000
    assert servers.metadata.operations["open"].samples == 4
    assert servers.uncounted_processes == 2


def test_a_killed_process_leaves_what_it_did_and_nothing_locked(emulate: Emulate) -> None:
    storage = emulate(targets=1)
    words = [storage.program, "0", "create:data", *["pwrite:0:1000"] * 3, "sleep:60000000"]
    environment = storage.environment(SLURM_JOB_ID="9")
    with subprocess.Popen(
        words, cwd=storage.host.directory, env=environment, stdout=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = read_servers(storage.file).targets[0].writes.samples
            if found == 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    servers = run(storage, "open:data", "pwrite:0:500", SLURM_JOB_ID="9")
    assert servers.jobs["9"].targets[0].writes.size_bytes.total == 3500
    assert servers.jobs["9"].metadata.operations["close"].samples == 1  # of the second one


def test_a_signal_amid_the_first_request_costs_nobody_his_job(emulate: Emulate) -> None:
    storage = emulate(targets=1)
    all_end(traced(storage, storage.file, "fallocate:error=EINTR:when=1..3", "create:data"))
    assert read_servers(storage.file).jobs["1"].metadata.operations["mknod"].samples == 1


def test_a_mapping_that_is_gone_costs_nobody_his_job(emulate: Emulate, tmp_path: Path) -> None:
    storage = emulate(targets=1)
    kept = tmp_path / "kept"
    os.link(storage.file, kept)
    words = [storage.program, "-", "create:data", "pwrite:0:1000"]
    process = subprocess.Popen(
        words,
        cwd=storage.host.directory,
        env=storage.environment(SLURM_JOB_ID="9"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    assert storage.counters["processes"] == 1
    storage.file.unlink()
    process.communicate(b"0\n", timeout=30)
    assert process.returncode == 0
    servers = read_servers(kept)
    assert servers.targets[0].writes.size_bytes.total == 1000
    assert servers.uncounted_processes == 1


USER = os.geteuid()


@pytest.mark.parametrize(
    ("kind", "name", "variables", "job"),
    [
        ("SLURM_JOB_ID", "%e.%u", {"SLURM_JOB_ID": "123"}, "123"),
        ("SLURM_JOB_ID", "%e.%u", {"SLURM_JOB_ID": ""}, f"requests.{USER}"),
        ("SLURM_JOB_ID", "%e.%u", {"SLURM_JOB_ID": "x" * 40}, "x" * 31),
        ("SLURM_JOB_ID", "%j:%u:%H", {"SLURM_JOB_ID": "7"}, f"7:{USER}:{{short}}"),
        ("SLURM_JOB_ID", "%j-%e", {"SLURM_JOB_ID": ""}, "-requests"),
        ("procname_uid", "%H", {"procname_uid": "no"}, f"requests.{USER}"),
        ("nodelocal", "all of it %x%g%", {"nodelocal": "no"}, f"allofit{os.getegid()}"),
        ("nodelocal", "%h", {}, "{long}"),
        ("disable", "%e", {}, None),
        ("", "%e", {}, None),
    ],
)
def test_a_job_is_named_as_a_client_of_lustre_does(
    emulate: Emulate, kind: str, name: str, variables: dict[str, str], job: str | None
) -> None:
    storage = emulate(targets=1, jobid_var=kind, jobid_name=name)
    servers = run(storage, "create:data", "pwrite:0:10", **variables)
    host = socket.gethostname()
    names = {} if job is None else {job.format(short=host.partition(".")[0], long=host)[:31]}
    assert servers.jobs.keys() == set(names)
    assert servers.targets[0].writes.samples == 1
    assert servers.uncounted_processes == 0


def test_a_program_that_starts_another_gives_it_its_own_job(
    emulate: Emulate, programs: Programs
) -> None:
    storage = emulate(targets=1)
    command = '"$0" 0 create:a write:10; SLURM_JOB_ID=2 "$0" 0 create:b write:20'
    storage.check("sh", "-c", command, storage.program, SLURM_JOB_ID="1")
    servers = read_servers(storage.file)
    found = {job: written(dict(one.targets)) for job, one in servers.jobs.items()}
    assert found == {"1": 10, "2": 20}
