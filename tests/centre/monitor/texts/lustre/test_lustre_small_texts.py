# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Quota, recovery, single values and names."""

from __future__ import annotations

import pytest

from stripewise.centre.monitor.collectors.lustre._parameters import (
    parse_count,
    parse_export,
    parse_health,
    parse_mount,
    parse_namespace,
    parse_quota_master,
    parse_recovery_status,
    parse_target,
    parse_version,
)
from stripewise.centre.monitor.collectors.lustre._quota import (
    IdLimits,
    Usage,
    parse_quota_limits,
    parse_quota_usage,
)

USAGE = "  usage:   { inodes:                    7, kbytes:                   12 }\n"
LIMITS = "  limits:  { hard:      2000, soft:      1000, granted:      300, time:    604800 }\n"


def lines(*parts: str) -> list[str]:
    return "".join(parts).splitlines(keepends=True)


def test_quota_usage() -> None:
    found = parse_quota_usage(lines("usr_accounting:\n", "- id:      0\n", USAGE,
                                    "- id:      840000038\n", USAGE))  # fmt: skip
    assert found.by_id == {0: Usage(7, 12 << 10), 840000038: Usage(7, 12 << 10)}
    assert found.problems == ()


def test_quota_limits() -> None:
    for title in ("global_pool0_dt_usr\n", "global_pool0_md_grp:\n", "global_index_copy:\n"):
        found = parse_quota_limits(lines(title, "- id:      5\n", LIMITS))
        assert found.by_id == {5: IdLimits(2000, 1000, 300, 604800)}
        assert found.problems == ()


def test_quota_that_is_not_counted() -> None:
    found = parse_quota_usage(["not supported\n"])
    assert not found.is_supported
    assert found.problems == ()
    assert found.by_id == {}


@pytest.mark.parametrize(
    "parts",
    [
        [], ["usr_accounting:\n", "- id:      1\n"],
        ["- id:      1\n", USAGE, "- id:      1\n", USAGE],
        ["- id:      1\n", "- id:      2\n", USAGE], [USAGE], ["- id:      x\n", USAGE],
        ["- id:      1\n", USAGE[:-1]], ["- id:      1\n", USAGE.replace("7", "-7")],
        ["- id:      1\n", USAGE.replace("7", "99999999999999999999")],
        ["- id:      1\n", USAGE.replace(" }", "")], ["not supported\n", "- id:      1\n"],
        ["- id:      1\n", LIMITS],
    ],
)  # fmt: skip
def test_damaged_quota(parts: list[str]) -> None:
    found = parse_quota_usage(lines(*parts))
    assert found.problems
    assert 1 not in found.by_id


def test_recovery_that_is_done() -> None:
    found = parse_recovery_status(
        "status: COMPLETE\nrecovery_start: 1620410016\nrecovery_duration: 150\n"
        "completed_clients: 4/8\nreplayed_requests: 0\nVBR: ENABLED\nIR: ENABLED\n"
    )
    assert (found.state, found.duration_seconds) == ("complete", 150)
    assert found.clients == {"completed": 4}
    assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("status: INACTIVE\n", "inactive"),
        ("status: WAITING_FOR_CLIENTS\n", "waiting_for_clients"),
        ("status: WAITING\nnon-ready MDTs:  0000 0002\ntime_waited: 5\n", "waiting"),
    ],
)
def test_recovery_before_it_begins(text: str, state: str) -> None:
    found = parse_recovery_status(text)
    assert (found.state, found.problems) == (state, ())


@pytest.mark.parametrize(
    "text",
    [
        "", "status: COMPLETE\nstatus: RECOVERING\n", "COMPLETE\n", "status: COMPLETE",
        "status: COMPLETE\ncompleted_clients: many/8\n",
        "status: COMPLETE\ncompleted_clients: 4/x\n", "status: INACT\tIVE\nstatus: INACTIVE\n",
        "status: COMPLETE\ncompleted_clients: 1/8\ncompleted_clients: 2/8\n",
    ],
)  # fmt: skip
def test_damaged_recovery(text: str) -> None:
    found = parse_recovery_status(text)
    assert found.problems
    assert not found.clients


def test_values() -> None:
    assert parse_count("17\n") == 17
    for text in (
        "17",
        "",
        "\n",
        "17\n18\n",
        "-1\n",
        "1.5\n",
        " 17\n",
        "18446744073709551616\n",
        "017\n",
    ):
        assert parse_count(text) is None
    assert parse_version("2.15.5\n") == "2.15.5"
    assert parse_version("2.14.0_ddn145\n") == "2.14.0_ddn145"
    assert parse_version("lustre: 2.12.9\nkernel: patchless_client\n") == "2.12.9"
    assert parse_version("<b>\n") == parse_version("2.15") == ""
    assert parse_health("healthy\n") is True
    assert parse_health("device a-OST0000 reported unhealthy\nNOT HEALTHY\n") is False
    assert parse_health("LBUG\n") is False
    assert parse_health("\n") is None


def test_names() -> None:
    assert parse_target("scratch-OST0004") == ("scratch", "OST0004")
    assert parse_target("home-a-MDT00ff") == ("home-a", "MDT00ff")
    for name in ("MGS", "scratch-OST4", "-OST0004", "scratch-OST00004", "a.b-OST0004", "OST0004"):
        assert parse_target(name) is None
    assert parse_namespace("filter-home-a-OST0004_UUID") == ("home-a", "OST0004")
    assert parse_namespace("mdt-a-MDT0000_UUID") == ("a", "MDT0000")
    assert parse_namespace("a-OST0004-osc-ffff0_UUID") is None
    assert parse_mount("home-a-ffff97e895d31000") == "home-a"
    assert parse_mount("scratch") == ""
    assert parse_quota_master("home-a-QMT0000") == "home-a"
    assert parse_quota_master("home-a") == ""


def test_names_of_clients() -> None:
    assert parse_export("obdfilter.a-b-OST0001.exports.10.0.0.7@tcp.stats") == (
        ("a-b", "OST0001"), "10.0.0.7@tcp")  # fmt: skip
    assert parse_export("mdt.a-MDT0000.exports.fe80::1@tcp1.stats") == (
        ("a", "MDT0000"), "fe80::1@tcp1")  # fmt: skip
    for name in ("mdt.a-MDT0000.exports.clear.stats", "mdt.MGS.exports.0@lo.stats", "mdt.a.stats"):
        assert parse_export(name) is None


@pytest.mark.parametrize("text", ["usr_accounting:", "not supported", "usr_account"])
def test_quota_that_ends_within_its_first_line(text: str) -> None:
    found = parse_quota_usage([text])
    assert found.problems
    assert found.is_supported
