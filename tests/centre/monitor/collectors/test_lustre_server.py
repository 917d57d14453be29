# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is read of a server, in the texts of five versions."""

from __future__ import annotations

import math
from math import inf

import pytest

from stripewise.centre.monitor import Histogram, metrics
from stripewise.centre.monitor.collectors._lustre_server import LustreServer, LustreServerSettings
from support.lustre_servers import VERSIONS, Found, one_round, server
from support.monitor_host import FakeHost

pytestmark = pytest.mark.usefixtures("_small_jobs_reader")
NEWER = [version for version in VERSIONS if version != "2.12.9"]
OST, MDT = "OST0001", "MDT0000"


def collector(**settings: object) -> LustreServer:
    return LustreServer(LustreServerSettings.model_validate(settings))


def found(version: str = "2.15.5", **settings: object) -> Found:
    result = one_round(collector(**settings), server(version))
    assert result.error is None
    assert result.told() == []
    return result


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_bytes_and_operations_of_an_ost(version: str, fs: str) -> None:
    result = found(version)
    assert result.value(metrics.TARGET_READ_BYTES, fs, OST) == 160 * 65536
    assert result.value(metrics.TARGET_WRITE_BYTES, fs, OST) == 180 * 131072
    operations = {
        labels[2]: value for labels, value in result.of(metrics.TARGET_OPERATIONS).items()
        if labels[1] == OST
    }  # fmt: skip
    assert operations == {
        "read": 160, "write": 180, "setattr": 20, "punch": 21, "destroy": 20, "create": 2,
        "statfs": 20000, "get_info": 1,
    }  # fmt: skip
    assert result.value(metrics.METADATA_OPERATIONS, fs, OST) is None


@pytest.mark.parametrize("version", NEWER)
def test_service_times_where_lustre_counts_microseconds(version: str) -> None:
    fs = VERSIONS[version]
    result = found(version)
    seconds = (160 * 100 + 180 * 200) / 1e6
    assert result.value(metrics.SERVICE_SECONDS, fs, OST) == seconds
    assert result.value(metrics.SERVICE_OPERATIONS, fs, OST) == 340
    assert result.value(metrics.TARGET_OPERATION_SECONDS, fs, OST, "read") == 0.016
    assert result.value(metrics.SERVICE_OPERATIONS, fs, MDT) == 1551


def test_no_times_in_2_12() -> None:
    result = found("2.12.9")
    for metric in (metrics.SERVICE_SECONDS, metrics.SERVICE_OPERATIONS):
        assert result.of(metric) == {}
    assert result.of(metrics.TARGET_OPERATION_SECONDS) == {}
    assert result.of(metrics.TARGET_STARTED) == {}


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_metadata_target(version: str, fs: str) -> None:
    result = found(version)
    kinds = 100 + 90 + 30 + 1 + 20 + 5 + 4 + 6 + 200 + 40 + 50 + 3 + 1000 + 2
    assert result.value(metrics.METADATA_OPERATIONS, fs, MDT) == kinds
    assert result.value(metrics.TARGET_OPERATIONS, fs, MDT, "samedir_rename") == 4
    on_metadata = 0 if version == "2.12.9" else 70000
    assert result.value(metrics.TARGET_READ_BYTES, fs, MDT) == on_metadata


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_state_of_targets(version: str, fs: str) -> None:
    result = found(version)
    assert result.value(metrics.TARGET_TOTAL_BYTES, fs, OST) == 4108389 * 1024
    assert result.value(metrics.TARGET_FREE_BYTES, fs, OST) == 4106852 * 1024
    assert result.value(metrics.TARGET_USED_BYTES, fs, OST) == 1537 * 1024
    assert result.value(metrics.TARGET_AVAILABLE_BYTES, fs, OST) == 4038040 * 1024
    assert result.value(metrics.TARGET_USED_FILES, fs, OST) == 369
    assert result.value(metrics.TARGET_EXPORTS, fs, OST) == 6
    assert result.value(metrics.RECOVERY_STATE, fs, OST, "recovering") == 1
    assert result.value(metrics.RECOVERY_STATE, fs, OST, "complete") == 0
    assert result.value(metrics.RECOVERY_CLIENTS, fs, OST, "connected") == 3
    assert result.value(metrics.RECOVERY_CLIENTS, fs, OST, "evicted") == 1
    assert result.value(metrics.RECOVERY_REMAINING, fs, OST) == 119
    assert result.value(metrics.RECOVERY_DURATION, fs, "OST0000") == 13
    assert result.value(metrics.LOCKS, fs, OST) == 44
    assert result.value(metrics.LOCK_TIMEOUTS, fs, OST) == 1
    assert result.value(metrics.LOCK_LIMIT, fs, MDT) == 88000
    assert result.value(metrics.HEALTHY) == 1
    assert result.value(metrics.VERSION, version) == 1
    assert set(result.of(metrics.TARGET_MISSING).values()) == {0}
    assert all(labels[0] == fs for labels in result.of(metrics.TARGET_TOTAL_BYTES))
    assert len(result.of(metrics.TARGET_TOTAL_BYTES)) == 3, "the MGS is not a target"


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_histograms(version: str, fs: str) -> None:
    result = found(version)
    size = result.value(metrics.IO_SIZE, fs, OST, "read")
    assert size == Histogram(((4096, 40), (8192, 0), (16384, 120)))
    time = result.value(metrics.IO_TIME, fs, OST, "write")
    assert time == Histogram(((0.001, 80), (0.002, 0), (0.004, 100), (0.008, 1)))
    pages = result.value(metrics.DISCONTIGUOUS_PAGES, fs, OST, "read")
    assert pages == Histogram(((0, 140), (1, 20)))
    flight = result.value(metrics.IN_FLIGHT, fs, OST, "write")
    last = 4 if version == "2.17.0" else 3
    assert flight == Histogram(((1, 140), (2, 0), (last, 40)))


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_services(version: str, fs: str) -> None:
    result = found(version)
    assert result.value(metrics.SERVICE_REQUESTS, "ost_io") == 170
    assert result.value(metrics.SERVICE_WAIT_SECONDS, "ost_io") == 0.051
    assert result.value(metrics.SERVICE_QUEUE_SUM, "ost_io") == 17
    assert result.value(metrics.SERVICE_TIMEOUT_SUM, "ost_io") == 1700
    assert result.value(metrics.SERVICE_THREADS, "mdt", "max") == 512
    assert result.value(metrics.SERVICE_OPERATION_COUNT, "ost_io", "ost_write") == 90
    assert result.value(metrics.SERVICE_OPERATION_SECONDS, "ost_io", "ost_write") == 0.0027
    assert result.value(metrics.SERVICE_REQUESTS, "ost_seq") == 0, "absent in a whole text: none"


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_quota_is_the_sum_over_targets(version: str, fs: str) -> None:
    result = found(version)
    assert result.value(metrics.QUOTA_USED_BYTES, fs, "user", "1000") == 200030 * 1024
    assert result.value(metrics.QUOTA_USED_FILES, fs, "user", "0") == 331, "of the MDT alone"
    assert result.value(metrics.QUOTA_USED_FILES, fs, "group", "1000") == 0
    projects = [labels for labels in result.of(metrics.QUOTA_USED_BYTES) if labels[1] == "project"]
    assert len(projects) == (0 if version == "2.12.9" else 3)
    assert result.value(metrics.QUOTA_LIMIT_BYTES, fs, "user", "1000", "hard") == 2000 * 1024
    assert result.value(metrics.QUOTA_LIMIT_FILES, fs, "group", "1000", "soft") == 1000
    assert {labels[2] for labels in result.of(metrics.QUOTA_LIMIT_BYTES)} == {"1000"}


def test_objects_of_storage_targets_are_no_inodes_of_a_user() -> None:
    usage = "usr_accounting:\n- id: 7\n  usage: { inodes: 40, kbytes: 2 }\n"
    name = "osd-ldiskfs.{}.quota_slave.acct_user"
    oss = {"obdfilter.a-OST0000.num_exports": "1\n", name.format("a-OST0000"): usage}
    mds = {"mdt.a-MDT0000.num_exports": "1\n", name.format("a-MDT0000"): usage}
    of_oss = one_round(collector(), FakeHost({**oss, "version": "2.15.5\n"}))
    assert of_oss.value(metrics.QUOTA_USED_BYTES, "a", "user", "7") == 2048
    assert not of_oss.of(metrics.QUOTA_USED_FILES), "a file has several objects"
    both = one_round(collector(), FakeHost({**oss, **mds, "version": "2.15.5\n"}))
    assert both.value(metrics.QUOTA_USED_BYTES, "a", "user", "7") == 4096
    assert both.value(metrics.QUOTA_USED_FILES, "a", "user", "7") == 40
    silent = {**oss, **mds, name.format("a-MDT0000"): "not supported\n", "version": "2.15.5\n"}
    assert not one_round(collector(), FakeHost(silent)).of(metrics.QUOTA_USED_FILES)


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_clients_are_summed_over_targets(version: str, fs: str) -> None:
    result = found(version, exports=True)
    assert result.value(metrics.EXPORT_READ_BYTES, fs, "10.0.0.8@o2ib1") == 60 * 65536
    assert result.value(metrics.EXPORT_WRITE_BYTES, fs, "10.0.0.7@tcp") == 30 * 131072
    assert result.value(metrics.EXPORT_METADATA_OPERATIONS, fs, "10.0.0.7@tcp") == 11
    assert result.of(metrics.EXPORT_METADATA_OPERATIONS).keys() == {
        (fs, "10.0.0.7@tcp"), (fs, "0@lo")}  # fmt: skip
    assert found(version).of(metrics.EXPORT_READ_BYTES) == {}


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_jobs_of_each_target(version: str, fs: str) -> None:
    result = found(version)
    jobs = {(each.fs, each.target): each for each in result.jobs}
    assert jobs.keys() == {(fs, "OST0000"), (fs, OST), (fs, MDT)}
    assert [entry.tag for entry in jobs[fs, OST].changed] == ["471120", "python3.10020"]
    assert jobs[fs, OST].is_first
    assert result.value(metrics.JOBS, fs, OST) == 2
    assert found(version, jobs=False).jobs == []


@pytest.mark.parametrize("version", VERSIONS)
def test_older_and_newer_forms_of_lctl_say_the_same(version: str) -> None:
    host = server(version)
    host.is_older = True
    result = one_round(collector(exports=True), host)
    assert result.told() == []
    assert result.readings == found(version, exports=True).readings


def test_start_of_counters() -> None:
    assert found().value(metrics.TARGET_STARTED, "home-a", OST) == 1690000000.5
    host = server()
    name = "obdfilter.home-a-OST0001.stats"
    host.parameters[name] = str(host.parameters[name]).replace("1690000000.500000000", "9540.5")
    result = one_round(collector(), host)
    assert result.value(metrics.TARGET_STARTED, "home-a", OST) is None, "time since boot: LU-16231"


def test_parts_that_are_switched_off_are_not_asked() -> None:
    host = server()
    one_round(collector(jobs=False, quota=False, services=False, locks=False), host)
    words = {word for command in host.asked for word in command}
    for part in ("job_stats", "quota_slave", "glb-", "OSS", "MDS", "namespaces", ".exports."):
        assert not any(part in word for word in words), part


def test_many_parameters_are_asked_in_few_calls() -> None:
    host = FakeHost({"version": "2.15.5\n"})
    for index in range(100):
        root = f"scratch-OST{index:04x}"
        for name in ("stats", "num_exports", "recovery_status"):
            host.parameters[f"obdfilter.{root}.{name}"] = "1\n"
        for name in ("kbytestotal", "kbytesfree", "filestotal", "filesfree", "brw_stats"):
            host.parameters[f"osd-zfs.{root}.{name}"] = "1\n"
    one = collector(jobs=False)
    one_round(one, host)
    assert len(host.asked) == 1 + 2 + 1, "one list, two calls for 700 parameters, one for 100"
    one_round(one, host)
    assert len(host.asked) == 1 + 2 + 1 + 2, "histograms are not due"


def test_empty_sections_count_nothing() -> None:
    host = server()
    text = str(host.parameters["osd-ldiskfs.home-a-OST0000.brw_stats"])
    head = text[: text.index("\n1:") + 1]
    host.parameters["osd-ldiskfs.home-a-OST0000.brw_stats"] = head
    result = one_round(collector(), host)
    assert result.value(metrics.RPC_PAGES, "home-a", "OST0000", "read") == Histogram(((inf, 0),))
    assert result.value(metrics.IO_SIZE, "home-a", "OST0000", "read") is None


def test_a_target_that_goes_and_comes() -> None:
    host, one = server(), collector()
    whole = dict(host.parameters)
    one_round(one, host)
    host.parameters = {name: text for name, text in whole.items() if "OST0001" not in name}
    gone = one_round(one, host)
    assert gone.value(metrics.TARGET_MISSING, "home-a", "OST0001") == 1
    assert gone.value(metrics.TARGET_MISSING, "home-a", "OST0000") == 0
    assert gone.value(metrics.TARGET_READ_BYTES, "home-a", "OST0001") is None
    assert gone.value(metrics.TARGET_READ_BYTES, "home-a", "OST0000") is not None
    assert gone.told() == [], "it is a fact, not a fault of reading"
    host.parameters = whole
    one.monotonic = lambda: 1e9
    back = one_round(one, host)
    assert back.value(metrics.TARGET_MISSING, "home-a", "OST0001") == 0
    assert back.value(metrics.TARGET_READ_BYTES, "home-a", "OST0001") is not None


def test_jobs_and_quota_are_read_at_their_own_interval() -> None:
    host, one = server(), collector(job_interval_seconds=60)
    clock = [1000.0]
    one.monotonic = lambda: clock[0]
    first = one_round(one, host)
    clock[0] += 15
    host.asked.clear()
    second = one_round(one, host)
    assert not any("job_stats" in word for command in host.asked for word in command)
    assert second.jobs == []
    assert second.of(metrics.QUOTA_USED_BYTES) == first.of(metrics.QUOTA_USED_BYTES)
    assert second.of(metrics.JOBS) == first.of(metrics.JOBS)
    clock[0] += 44.5
    assert len(one_round(one, host).jobs) == 3


@pytest.mark.parametrize(("seconds", "each"), [(0, 1), (60, 1), (300, 5), (math.inf, 1440)])
def test_all_that_jobs_did_is_given_as_often_as_it_is_wanted(seconds: float, each: int) -> None:
    host, one = server(), collector(job_interval_seconds=60)
    clock = [1000.0]
    one.monotonic = lambda: clock[0]
    one.settled_seconds = seconds
    found = []
    for _ in range(min(2 * each, 10)):
        found.append({jobs.is_settled for jobs in one_round(one, host).jobs})
        clock[0] += 60
    assert found == [{(number + 1) % each == 0} for number in range(len(found))]


def test_histograms_are_read_with_jobs_and_quota_less_often() -> None:
    host, one = server(), collector(job_interval_seconds=60, quota_interval_seconds=300)
    clock = [1000.0]
    one.monotonic = lambda: clock[0]
    first = one_round(one, host)
    asked = []
    for _ in range(20):
        clock[0] += 15
        host.asked.clear()
        result = one_round(one, host)
        assert result.of(metrics.IO_SIZE) == first.of(metrics.IO_SIZE)
        assert result.of(metrics.QUOTA_USED_FILES) == first.of(metrics.QUOTA_USED_FILES)
        words = " ".join(" ".join(each) for each in host.asked if each[1] == "get_param")
        asked.append(("brw_stats" in words, "quota_slave" in words))
    assert [at for at, (histograms, _) in enumerate(asked, 1) if histograms] == [4, 8, 12, 16, 20]
    assert [at for at, (_, quota) in enumerate(asked, 1) if quota] == [20]


def test_ids_and_clients_are_bounded() -> None:
    result = one_round(collector(exports=True, most_clients=2, most_ids=1), server())
    users = [labels for labels in result.of(metrics.QUOTA_USED_BYTES) if labels[1] == "user"]
    assert users == [("home-a", "user", "1001")], "the largest"
    assert len(result.of(metrics.EXPORT_READ_BYTES)) == 2
    told = " ".join(result.told())
    assert "3 users of home-a use space" in told
    assert "raise most_ids" in told
    assert "3 clients are connected" in told


def test_a_client_that_connects_again_counts_on() -> None:
    host, one = server("2.12.9"), collector(exports=True, job_interval_seconds=1)
    clock = [0.0]
    one.monotonic = lambda: clock[0]
    name = "obdfilter.scratch-OST0001.exports.10.0.0.7@tcp.stats"

    def read() -> object:
        clock[0] += 100.0
        found = one_round(one, host)
        return found.value(metrics.EXPORT_READ_BYTES, "scratch", "10.0.0.7@tcp")

    assert read() == 30 * 65536
    text = str(host.parameters.pop(name))
    assert read() == 30 * 65536
    host.parameters[name] = text.replace(f" {20 * 65536}\n", f" {65536}\n").replace(
        "read_bytes                20", "read_bytes                1"
    )
    assert read() == 31 * 65536


def test_sums_of_clients_begin_with_the_agent() -> None:
    """Else they would fall with it where clients have left, which reads as a restart."""
    host, one = server("2.12.9"), collector(exports=True, job_interval_seconds=1)
    clock = [0.0]
    one.monotonic, one.is_repeated = lambda: clock[0], True
    name = "obdfilter.scratch-OST0001.exports.10.0.0.7@tcp.stats"
    new = name.replace("10.0.0.7", "10.0.0.99")

    def read(client: str) -> object:
        clock[0] += 100.0
        return one_round(one, host).value(metrics.EXPORT_READ_BYTES, "scratch", f"{client}@tcp")

    assert read("10.0.0.7") == 0
    host.parameters = {new: host.parameters[name], **host.parameters}
    assert read("10.0.0.99") == 20 * 65536, "it was not there before, and counts from zero"
    assert read("10.0.0.7") == 0


@pytest.mark.parametrize(("seconds", "is_told"), [("600", False), ("119", True), ("0", False)])
def test_jobs_that_disappear_between_two_readings_are_told_of(seconds: str, is_told: bool) -> None:
    host = server()
    host.parameters["obdfilter.home-a-OST0000.job_cleanup_interval"] = f"{seconds}\n"
    result = one_round(collector(job_interval_seconds=60), host)
    assert [("is 119 s, and jobs are read every 60 s" in text) for text in result.told()] == (
        [True] if is_told else []
    )
    assert len(result.jobs) == 3
