# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Servers where something is missing, denied, slow, damaged or new."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import HostError
from stripewise.centre.monitor.collectors._lustre_server import LustreServer, LustreServerSettings
from support.lustre_servers import one_round, server
from support.monitor_host import FakeHost, denied

pytestmark = pytest.mark.usefixtures("_small_jobs_reader")
OST, MDT = "OST0001", "MDT0000"


def collector(**settings: object) -> LustreServer:
    return LustreServer(LustreServerSettings.model_validate(settings))


def test_no_lctl() -> None:
    host = FakeHost()
    assert "no such command" in collector().missing(host)
    result = one_round(collector(), host)
    assert result.readings == []
    assert result.error is not None
    assert result.error.reason == "missing"
    assert "the setting lctl names it" in str(result.error)


def test_no_modules() -> None:
    host = FakeHost({"nis": "1\n"})
    why = collector().missing(host)
    assert why.count("\n") == 0
    assert "modprobe lustre" in why


def test_a_client_has_no_targets() -> None:
    host = FakeHost({"version": "2.15.5\n", "llite.a-ffff97e895d31000.stats": "\n"})
    assert "mount a target" in collector().missing(host)
    assert collector().missing(server()) == ""


def test_slow() -> None:
    host = server()
    host.failure = HostError("slow", "lctl: no answer within 10 s")
    result = one_round(collector(), host)
    assert result.error is not None
    assert result.error.reason == "slow"


def test_parameters_that_root_alone_may_read() -> None:
    host = server()
    for name in host.parameters:
        if name.endswith("brw_stats"):
            host.parameters[name] = denied()
    one = collector()
    for _ in range(2):
        host.asked.clear()
        result = one_round(one, host)
        (problem,) = result.problems
        assert problem.reason == "denied"
        assert "and 2 more" in problem.text
        assert "CAP_DAC_READ_SEARCH" in problem.text
        assert result.value(metrics.TARGET_READ_BYTES, "home-a", OST) == 160 * 65536
        assert result.of(metrics.IO_SIZE) == {}
    assert len(host.asked) == 1, "they are not asked again in each round"


def test_parameters_that_are_hidden() -> None:
    host = server()
    for name in list(host.parameters):
        if name.endswith(("stats", "recovery_status")):
            del host.parameters[name]
    result = one_round(collector(), host)
    assert [problem.reason for problem in result.problems] == ["denied", "denied"]
    assert "3 targets list no stats" in result.told()[0]
    assert result.of(metrics.TARGET_READ_BYTES) == {}, "missing is not zero"
    assert result.value(metrics.TARGET_USED_FILES, "home-a", OST) == 369


def test_one_target_that_hides_something_is_one() -> None:
    host = server()
    del host.parameters["osd-ldiskfs.home-a-MDT0000.brw_stats"]
    (told,) = one_round(collector(), host).told()
    assert told.startswith("1 target lists no brw_stats, which root alone may read")


def test_stats_that_cannot_be_read_are_not_zero() -> None:
    host = server("2.14.0")
    host.parameters["mdt.lustre-MDT0000.md_stats"] = HostError("error", "Input/output error")
    result = one_round(collector(), host)
    assert result.value(metrics.METADATA_OPERATIONS, "lustre", MDT) is None
    assert result.value(metrics.TARGET_READ_BYTES, "lustre", MDT) == 70000
    assert len(result.problems) == 1


def test_a_damaged_row_is_not_zero() -> None:
    host = server()
    name = "mdt.home-a-MDT0000.md_stats"
    text = str(host.parameters[name])
    host.parameters[name] = text.replace("read_bytes                7 ", "read_bytes 7x ")
    result = one_round(collector(), host)
    assert result.value(metrics.TARGET_READ_BYTES, "home-a", MDT) is None
    assert result.value(metrics.METADATA_OPERATIONS, "home-a", MDT) is None
    assert result.value(metrics.TARGET_OPERATIONS, "home-a", MDT, "open") == 100
    assert len(result.problems) == 1


def test_a_sum_over_targets_is_left_out_if_one_is_damaged() -> None:
    host = server()
    name = "osd-ldiskfs.home-a-OST0000.quota_slave.acct_user"
    host.parameters[name] = str(host.parameters[name])[:-9]
    result = one_round(collector(), host)
    assert {labels[1] for labels in result.of(metrics.QUOTA_USED_BYTES)} == {"group", "project"}
    assert any("quota of home-a: users are left out" in text for text in result.told())


def test_quota_of_many_targets_is_asked_together() -> None:
    host, one = server(), collector(jobs=False, exports=False, quota_interval_seconds=60)
    clock = [0.0]
    one.monotonic = lambda: clock[0]
    first = one_round(one, host)
    host.asked.clear()
    clock[0] = 61.0
    assert one_round(one, host).of(metrics.QUOTA_USED_BYTES) == first.of(metrics.QUOTA_USED_BYTES)
    assert sum("quota_slave" in " ".join(words) for words in host.asked) == 1 + 3
    host.parameters["osd-ldiskfs.home-a-OST0000.quota_slave.acct_user"] = denied()
    clock[0] = 122.0
    third = one_round(one, host)
    assert {labels[1] for labels in third.of(metrics.QUOTA_USED_BYTES)} == {"group", "project"}
    assert third.problems[0].reason == "denied"


def test_quota_that_is_slow_ends_the_round_with_what_was_read() -> None:
    host = server()
    name = "osd-ldiskfs.home-a-OST0000.quota_slave.acct_user"
    host.parameters[name] = HostError("slow", "no answer")
    result = one_round(collector(), host)
    assert result.error is not None
    assert result.error.reason == "slow"
    assert result.value(metrics.TARGET_READ_BYTES, "home-a", OST) is not None


def test_job_stats_that_fail_do_not_stop_the_rest() -> None:
    host = server()
    host.parameters["obdfilter.home-a-OST0000.job_stats"] = HostError("error", "I/O error")
    result = one_round(collector(), host)
    assert {each.target for each in result.jobs} == {OST, MDT}
    assert result.value(metrics.JOBS, "home-a", "OST0000") is None
    assert len(result.problems) == 1


def test_job_stats_that_are_slow_end_the_round() -> None:
    """Each further call would wait its whole time as well; what was due is read in the next."""
    host, one = server(), collector(exports=True)
    clock = [0.0]
    one.monotonic = lambda: clock[0]
    assert one_round(one, host).of(metrics.QUOTA_USED_BYTES)
    name = "obdfilter.home-a-OST0000.job_stats"
    host.parameters[name] = HostError("slow", "no answer")
    host.asked.clear()
    clock[0] = 61.0
    result = one_round(one, host)
    assert result.error is not None
    assert result.error.reason == "slow"
    assert name in str(result.error)
    assert host.asked[-1][-1] == name
    assert result.value(metrics.TARGET_READ_BYTES, "home-a", OST) is not None
    clock[0] = 75.0
    host.asked.clear()
    assert one_round(one, host).of(metrics.EXPORT_READ_BYTES)
    assert any("exports" in " ".join(words) for words in host.asked)


def test_unknown_versions_are_said_once() -> None:
    host, one = server("2.17.0"), collector()
    host.parameters["version"] = "2.19.51_3_g12\n"
    first, second = one_round(one, host), one_round(one, host)
    assert len(first.problems) == 1
    assert "2.19.51" in first.told()[0]
    assert second.problems == []
    assert first.value(metrics.TARGET_READ_BYTES, "data", OST) == 160 * 65536


def test_ill_health() -> None:
    host = server()
    host.parameters["health_check"] = "device home-a-OST0000 reported unhealthy\nNOT HEALTHY\n"
    assert one_round(collector(), host).value(metrics.HEALTHY) == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"lctl": "lctl --verbose"}, {"lctl": "-n"}, {"lctl": ""}, {"lctl": "a\0b"},
        {"interval_seconds": 120, "job_interval_seconds": 60}, {"most_ids": 0}, {"jobss": True},
    ],
)  # fmt: skip
def test_settings_that_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LustreServerSettings.model_validate(settings)


def test_metadata_kinds_are_those_of_the_statistics_database() -> None:
    from stripewise.centre.database.queries import _series as _metrics
    from stripewise.centre.monitor.collectors.lustre._stats import METADATA_KINDS

    assert METADATA_KINDS == _metrics.KINDS
