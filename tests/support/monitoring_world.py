# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two hours of a monitored centre, every 15 seconds, with a value for every metric of the agent.

Two file systems ("scratch", "home") on three servers, and a login node.  In it: scratch-OST0003 is
slow, scratch-OST0005 is filling, scratch-OST0006 is gone, one collector and one sink fail.  The
numbers agree: the time of operations is their number by the mean of the target, what clients
have adds up to what the targets have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stripewise.centre.monitor import METRICS, Kind, Metric, metrics

START = 1_772_323_200
"""1 March 2026, 00:00 UTC, in seconds: a multiple of two hours, so it is one block."""
STEP = 15
COUNT = 480
END = START + (COUNT - 1) * STEP

TIB = 1 << 40
SIZE = 1 << 20
"""Bytes of every read and write."""
SCRATCH = tuple(("scratch", f"OST{number:04d}") for number in range(6))
HOME = tuple(("home", f"OST{number:04d}") for number in range(2))
MDTS = (("scratch", "MDT0000"), ("home", "MDT0000"))
GONE = ("scratch", "OST0006")
SERVERS = ("mds1", "oss1", "oss2")
LOGIN = "login1"
SLOW = ("scratch", "OST0003")
SLOW_SECONDS, MEAN_SECONDS, METADATA_SECONDS = 0.048, 0.008, 0.0004
FILLING = ("scratch", "OST0005")
FILLING_BYTES_PER_SECOND = 0.05 * TIB / 86400
FILLING_LEFT_BYTES = 0.08 * TIB
"""At the end of the two hours."""
CLIENTS = {"10.0.0.1@o2ib": 0.6, "10.0.0.2@o2ib": 0.3, "10.0.0.3@o2ib": 0.1}
"""Each one's share of all that is read, written and asked for."""
READS = {"scratch": 40.0, "home": 5.0}
"""Of each storage target, a second; half as many writes."""
METADATA = {"open": 300.0, "close": 300.0, "getattr": 900.0, "mkdir": 4.0, "unlink": 50.0}
"""Of each metadata target, a second."""


class Series(NamedTuple):
    """One series: name and labels as Prometheus has them, and a value for each step."""

    name: str
    labels: Mapping[str, str]
    values: list[float]


def _grown(step: int) -> float:
    """Return for how many seconds of its mean rate a counter has grown; it sways by a tenth."""
    seconds = step * STEP
    return 50_000 + seconds + 60 * math.sin(seconds / 600)


_GROWN = [_grown(step) for step in range(COUNT)]


def server_of(target: tuple[str, str]) -> str:
    """Return which server has a target."""
    if target[1].startswith("MDT"):
        return "mds1"
    return "oss1" if int(target[1][3:]) < (3 if target[0] == "scratch" else 1) else "oss2"


def seconds_of(target: tuple[str, str]) -> float:
    """Return the mean time of an operation of a target."""
    if target[1].startswith("MDT"):
        return METADATA_SECONDS
    return SLOW_SECONDS if target == SLOW else MEAN_SECONDS


def series() -> Iterator[Series]:
    """Yield all series."""
    yield from _targets()
    yield from _requests()
    yield from _owners()
    yield from _servers()
    yield from _client()
    yield from _hosts()
    yield from _monitoring()
    yield from _of_prometheus()


def _labelled(metric: Metric, server: str, values: tuple[str, ...]) -> dict[str, str]:
    assert metric in METRICS
    assert len(values) == len(metric.labels), metric.name
    added = {"server": server, "job": "stripewise", "instance": f"{server}:9823"}
    return {**dict(zip(metric.labels, values, strict=True)), **added}


def _counter(metric: Metric, server: str, rate: float, *values: str, every: int = 1) -> Series:
    """Return a counter; an agent that reads it only every few rounds repeats what it has."""
    assert metric.kind is Kind.COUNTER, metric.name
    grown = [round(rate * _GROWN[step - step % every], 6) for step in range(COUNT)]
    return Series(metric.name + "_total", _labelled(metric, server, values), grown)


def _level(metric: Metric, server: str, end: float, *values: str, a_second: float = 0.0) -> Series:
    """Return a level with its value at the end, and how it grew until then."""
    assert metric.kind is Kind.LEVEL, metric.name
    way = [end - a_second * (COUNT - 1 - step) * STEP for step in range(COUNT)]
    return Series(metric.name, _labelled(metric, server, values), way)


def _histogram(
    metric: Metric, server: str, rates: Mapping[float, float], *values: str
) -> Iterator[Series]:
    """Yield the series of a histogram: observations a second by upper bound."""
    assert metric.kind is Kind.HISTOGRAM, metric.name
    labels = _labelled(metric, server, values)
    below = 0.0
    for bound, rate in sorted(rates.items()):
        below += rate
        grown = [round(below * one) for one in _GROWN]
        yield Series(metric.name + "_bucket", {**labels, "le": repr(float(bound))}, grown)
    everything = [round(below * one) for one in _GROWN]
    yield Series(metric.name + "_bucket", {**labels, "le": "+Inf"}, everything)
    yield Series(metric.name + "_count", labels, everything)


def _targets() -> Iterator[Series]:
    for target in (*SCRATCH, *HOME, *MDTS):
        server, seconds = server_of(target), seconds_of(target)
        is_mdt = target in MDTS
        reads = 1.0 if is_mdt else READS[target[0]]
        data = {"read": reads, "write": reads / 2}
        kinds = METADATA if is_mdt else data
        for kind, rate in {**kinds, **data, "statfs": 0.2}.items():
            yield _counter(metrics.TARGET_OPERATIONS, server, rate, *target, kind)
            yield _counter(metrics.TARGET_OPERATION_SECONDS, server, rate * seconds, *target, kind)
        yield _counter(metrics.TARGET_READ_BYTES, server, data["read"] * SIZE, *target)
        yield _counter(metrics.TARGET_WRITE_BYTES, server, data["write"] * SIZE, *target)
        if is_mdt:
            yield _counter(metrics.METADATA_OPERATIONS, server, sum(METADATA.values()), *target)
        yield _counter(metrics.SERVICE_OPERATIONS, server, sum(kinds.values()), *target)
        yield _counter(metrics.SERVICE_SECONDS, server, sum(kinds.values()) * seconds, *target)
        yield from _space(target, server)
        yield from _states(target, server)
    yield _level(metrics.TARGET_MISSING, "oss2", 1, *GONE)


def _space(target: tuple[str, str], server: str) -> Iterator[Series]:
    free, a_second = 0.4 * TIB, 0.0
    if target == FILLING:
        free, a_second = FILLING_LEFT_BYTES, FILLING_BYTES_PER_SECOND
    yield _level(metrics.TARGET_TOTAL_BYTES, server, TIB, *target)
    for metric in (metrics.TARGET_FREE_BYTES, metrics.TARGET_AVAILABLE_BYTES):
        yield _level(metric, server, free, *target, a_second=-a_second)
    yield _level(metrics.TARGET_USED_BYTES, server, TIB - free, *target, a_second=a_second)
    yield _level(metrics.TARGET_TOTAL_FILES, server, 1e7, *target)
    yield _level(metrics.TARGET_FREE_FILES, server, 7e6, *target)
    yield _level(metrics.TARGET_USED_FILES, server, 3e6, *target)


def _states(target: tuple[str, str], server: str) -> Iterator[Series]:
    yield _level(metrics.TARGET_MISSING, server, 0, *target)
    yield _level(metrics.TARGET_EXPORTS, server, len(CLIENTS), *target)
    yield _level(metrics.TARGET_STARTED, server, START - 86400, *target)
    yield _level(metrics.JOBS, server, 12, *target)
    yield _level(metrics.RECOVERY_STATE, server, 1, *target, "COMPLETE")
    recovering = float(target == ("home", "OST0001"))
    yield _level(metrics.RECOVERY_STATE, server, recovering, *target, "RECOVERING")
    for state, number in {"connected": 3, "completed": 2, "evicted": 1}.items():
        yield _level(metrics.RECOVERY_CLIENTS, server, number, *target, state)
    yield _level(metrics.RECOVERY_REMAINING, server, 60 * recovering, *target)
    yield _level(metrics.RECOVERY_DURATION, server, 45, *target)
    yield _level(metrics.LOCKS, server, 4000, *target)
    yield _level(metrics.LOCK_LIMIT, server, 50_000, *target)
    yield _counter(metrics.LOCK_TIMEOUTS, server, 0.001, *target)
    yield _level(metrics.LOCK_GRANT_RATE, server, 25, *target)
    yield _level(metrics.LOCK_CANCEL_RATE, server, 20, *target)


def _requests() -> Iterator[Series]:
    shares = {
        metrics.IO_SIZE: {4096.0: 0.1, 65536.0: 0.2, 1048576.0: 0.7},
        metrics.RPC_PAGES: {1.0: 0.1, 16.0: 0.2, 256.0: 0.7},
        metrics.DISCONTIGUOUS_PAGES: {0.0: 0.8, 1.0: 0.1, 31.0: 0.1},
        metrics.DISCONTIGUOUS_BLOCKS: {0.0: 0.8, 1.0: 0.1, 31.0: 0.1},
        metrics.FRAGMENTS: {0.0: 0.1, 1.0: 0.8, 2.0: 0.1},
        metrics.IN_FLIGHT: {1.0: 0.5, 4.0: 0.4, 16.0: 0.1},
    }
    for target in (*SCRATCH, *HOME):
        server, reads = server_of(target), READS[target[0]]
        times = {0.001: 0.2, seconds_of(target): 0.7, 4 * seconds_of(target): 0.1}
        for direction, rate in {"read": reads, "write": reads / 2}.items():
            for metric, parts in (*shares.items(), (metrics.IO_TIME, times)):
                rates = {bound: share * rate for bound, share in parts.items()}
                yield from _histogram(metric, server, rates, *target, direction)


def _owners() -> Iterator[Series]:
    for fs in READS:
        for server in SERVERS:
            for owner, share in {"1001": 0.5, "1002": 0.1}.items():
                key = (fs, "user", owner)
                used = share * TIB
                yield _level(metrics.QUOTA_USED_BYTES, server, used, *key, a_second=share * 1e6)
                if server.startswith("mds"):
                    yield _level(metrics.QUOTA_USED_FILES, server, share * 1e6, *key)
        for limit, factor in {"soft": 1.0, "hard": 2.0}.items():
            key = (fs, "user", "1001", limit)
            yield _level(metrics.QUOTA_LIMIT_BYTES, "mds1", factor * TIB, *key)
            yield _level(metrics.QUOTA_LIMIT_FILES, "mds1", factor * 1e6, *key)
    for fs in READS:
        for client, share in CLIENTS.items():
            yield _counter(
                metrics.EXPORT_METADATA_OPERATIONS, "mds1", share * sum(METADATA.values()),
                fs, client, every=4,
            )  # fmt: skip
            for server in ("oss1", "oss2"):
                targets = [one for one in (*SCRATCH, *HOME) if one[0] == fs]
                mine = sum(server_of(one) == server for one in targets)
                read = share * mine * READS[fs] * SIZE
                key = (fs, client)
                yield _counter(metrics.EXPORT_READ_BYTES, server, read, *key, every=4)
                yield _counter(metrics.EXPORT_WRITE_BYTES, server, read / 2, *key, every=4)


def _servers() -> Iterator[Series]:
    services = {"mds1": ("mdt", "mds_getattr"), "oss1": ("ost_io", "ost_read")}
    services["oss2"] = services["oss1"]
    for server, (service, operation) in services.items():
        yield _level(metrics.HEALTHY, server, float(server != "oss2"))
        yield _level(metrics.VERSION, server, 1, "2.15.5")
        yield _counter(metrics.SERVICE_REQUESTS, server, 200.0, service)
        yield _counter(metrics.SERVICE_WAIT_SECONDS, server, 200 * 0.0005, service)
        yield _counter(metrics.SERVICE_QUEUE_SUM, server, 200 * 2.0, service)
        yield _counter(metrics.SERVICE_ACTIVE_SUM, server, 200 * 8.0, service)
        yield _counter(metrics.SERVICE_TIMEOUT_SUM, server, 200 * 40.0, service)
        for state, number in {"started": 64, "min": 16, "max": 512}.items():
            yield _level(metrics.SERVICE_THREADS, server, number, service, state)
        yield _counter(metrics.SERVICE_OPERATION_COUNT, server, 200.0, service, operation)
        yield _counter(metrics.SERVICE_OPERATION_SECONDS, server, 200 * 0.008, service, operation)


def _client() -> Iterator[Series]:
    yield _level(metrics.VERSION, LOGIN, 1, "2.16.0")
    pairs = {
        "scratch": (metrics.MOUNT_READ_BYTES, metrics.MOUNT_WRITE_BYTES),
        "nfshome": (metrics.NFS_READ_BYTES, metrics.NFS_WRITE_BYTES),
        "gpfs1": (metrics.GPFS_READ_BYTES, metrics.GPFS_WRITE_BYTES),
    }
    for fs, (read, write) in pairs.items():
        yield _counter(read, LOGIN, 20 * SIZE, fs)
        yield _counter(write, LOGIN, 10 * SIZE, fs)
    yield _counter(metrics.NFS_PROGRAM_READ_BYTES, LOGIN, 40 * SIZE, "nfshome")
    yield _counter(metrics.NFS_PROGRAM_WRITE_BYTES, LOGIN, 10 * SIZE, "nfshome")
    for kind, rate in {"read": 20.0, "write": 10.0}.items():
        yield _counter(metrics.MOUNT_OPERATIONS, LOGIN, rate, "scratch", kind)
        yield _counter(metrics.MOUNT_OPERATION_SECONDS, LOGIN, rate * 0.01, "scratch", kind)
        yield _counter(metrics.NFS_OPERATIONS, LOGIN, rate, "nfshome", kind)
        yield _counter(metrics.NFS_OPERATION_SECONDS, LOGIN, rate * 0.004, "nfshome", kind)
        yield _counter(metrics.NFS_QUEUE_SECONDS, LOGIN, rate * 0.001, "nfshome", kind)
        yield _counter(metrics.NFS_TIMEOUTS, LOGIN, 0.001, "nfshome", kind)
        yield _counter(metrics.NFS_ERRORS, LOGIN, 0.002, "nfshome", kind)
        yield _counter(metrics.GPFS_OPERATIONS, LOGIN, rate, "gpfs1", kind)
    for target, is_missing in {"101": 0, "102": 1}.items():
        yield _level(metrics.BEEGFS_TARGET_TOTAL_BYTES, LOGIN, TIB, "bee", target)
        yield _level(metrics.BEEGFS_TARGET_FREE_BYTES, LOGIN, 0.25 * TIB, "bee", target)
        yield _level(metrics.BEEGFS_TARGET_USED_BYTES, LOGIN, 0.75 * TIB, "bee", target)
        yield _level(metrics.BEEGFS_TARGET_MISSING, LOGIN, is_missing, "bee", target)


def _hosts() -> Iterator[Series]:
    for server in (*SERVERS, LOGIN):
        for mode, share in {"user": 0.2, "system": 0.1, "iowait": 0.1, "idle": 0.6}.items():
            yield _counter(metrics.HOST_CPU_SECONDS, server, 16 * share, mode)
        yield _level(metrics.HOST_BUSY_SHARE, server, 0.3)
        yield _level(metrics.HOST_LOAD, server, 5.2)
        yield _level(metrics.HOST_MEMORY_BYTES, server, 64 << 30)
        yield _level(metrics.HOST_AVAILABLE_BYTES, server, 48 << 30)
        yield _level(metrics.HOST_DIRTY_BYTES, server, 1 << 30)
        yield _level(metrics.HOST_BOOT, server, START - 30 * 86400)
        yield _counter(metrics.NETWORK_RECEIVED, server, 5e7, "eth0")
        yield _counter(metrics.NETWORK_SENT, server, 8e7, "eth0")
        yield _counter(metrics.NETWORK_ERRORS, server, 0.01, "eth0", "receive")
        yield _counter(metrics.DISK_READ_BYTES, server, 4e6, "nvme0n1")
        yield _counter(metrics.DISK_WRITE_BYTES, server, 2e6, "nvme0n1")
        for direction in ("read", "write"):
            yield _counter(metrics.DISK_OPERATIONS, server, 50, "nvme0n1", direction)
            yield _counter(metrics.DISK_OPERATION_SECONDS, server, 0.1, "nvme0n1", direction)
        yield _counter(metrics.DISK_BUSY_SECONDS, server, 0.15, "nvme0n1")
        yield _level(metrics.DISK_IN_FLIGHT, server, 2, "nvme0n1")


def _monitoring() -> Iterator[Series]:
    for server in (*SERVERS, LOGIN):
        yield _level(metrics.INFO, server, 1, "1.0")
        collectors = ("host", "lustre-client" if server == LOGIN else "lustre-server")
        for collector in collectors:
            fails = (server, collector) == ("oss2", "host")
            yield _level(metrics.COLLECTOR_OK, server, float(not fails), collector)
            yield _level(metrics.COLLECTOR_SECONDS, server, 0.2, collector)
            yield _level(metrics.COLLECTOR_LAST, server, END - 5, collector, a_second=1.0)
            yield _counter(metrics.COLLECTOR_FAILURES, server, 0.06 * fails, collector, "denied")
            yield _counter(metrics.COLLECTOR_SKIPPED, server, 0.01, collector)
            yield _counter(metrics.PROBLEMS, server, 0.02, collector)
        yield _counter(metrics.CLOCK_STEPS, server, 0.0005)
        yield _level(metrics.JOBS_TRACKED, server, 40)
        yield _counter(metrics.JOBS_UNTRACKED, server, 0.01)
        fails = server == "oss1"
        yield _level(metrics.SINK_OK, server, float(not fails), "influx")
        yield _level(metrics.SINK_LAST, server, END - 7, "influx", a_second=1.0)
        yield _level(metrics.SINK_QUEUED, server, 120.0 * fails, "influx")
        yield _counter(metrics.SINK_LOST, server, 0.05 * fails, "influx")
        yield _counter(metrics.SINK_FAILURES, server, 0.02 * fails, "influx")
        yield _counter(metrics.SINK_PROBLEMS, server, 0.01 * fails, "influx")


def _of_prometheus() -> Iterator[Series]:
    """Yield what Prometheus itself writes of its agents and rules."""
    for server in (*SERVERS, LOGIN, "oss9"):
        labels = {"job": "stripewise", "instance": f"{server}:9823"}
        yield Series("up", labels, [float(server != "oss9")] * COUNT)
        yield Series("scrape_duration_seconds", labels, [0.03] * COUNT)
        yield Series("scrape_samples_scraped", labels, [800.0] * COUNT)
    fires = {"alertname": "LustreTargetSlow", "alertstate": "firing", "severity": "warning"}
    fires |= {"source": "stripewise", "fs": SLOW[0], "target": SLOW[1], "kind": "OST"}
    yield Series("ALERTS", fires, [1.0] * COUNT)
    recorded = "fs_target:lustre_target_available_bytes:max"
    yield Series(recorded, {"fs": SLOW[0], "target": SLOW[1]}, [0.4 * TIB] * COUNT)


def openmetrics() -> str:
    """Return the world for `promtool tsdb create-blocks-from openmetrics`."""
    return _text(1.0) + "# EOF\n"


def exposition() -> str:
    """Return the world for VictoriaMetrics' /api/v1/import/prometheus."""
    return _text(1000.0)


def _text(ticks_per_second: float) -> str:
    stamps = [str(int((START + step * STEP) * ticks_per_second)) for step in range(COUNT)]
    lines = []
    for one in series():
        inside = ",".join(f'{label}="{value}"' for label, value in one.labels.items())
        head = f"{one.name}{{{inside}}} "
        pairs = zip(one.values, stamps, strict=True)
        lines.append("".join(f"{head}{value!r} {stamp}\n" for value, stamp in pairs))
    return "".join(lines)
