# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of the machine that runs the tests, as its kernel writes them."""

from __future__ import annotations

import glob
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from stripewise.centre.monitor import Host, HostError, Kind
from stripewise.centre.monitor.collectors import create_collector
from stripewise.testing.collector_suite import check_readings, take


class RealHost(Host):
    """The least that reads this machine."""

    def text(self, path: str) -> str:
        try:
            return Path(path).read_text("utf-8", "replace")
        except OSError as error:
            raise HostError("missing", f"{path}: {error.strerror}") from error

    def names(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern))

    def pieces(
        self, words: Sequence[str], timeout_seconds: float = 10.0, given: bytes = b""
    ) -> Iterator[bytes]:
        try:
            done = subprocess.run(words, input=given, capture_output=True, timeout=timeout_seconds)
        except OSError as error:
            raise HostError("missing", f"{words[0]}: {error.strerror}") from error
        yield done.stdout


@pytest.mark.parametrize("name", ["disks", "host", "nfs"])
def test_this_machine_is_read_without_problems(name: str) -> None:
    collector, host = create_collector(name), RealHost()
    first = take(collector, host)
    Path("/proc/self/stat").read_text()
    second = take(collector, host)
    for taken in (first, second):
        assert taken.error is None
        assert taken.problems == []
        check_readings(collector, taken)
    later = second.values
    for one in first.readings:
        if one.metric.kind is Kind.COUNTER:
            assert later[one.metric.name, one.labels] >= one.value, one


def test_the_host_tells_what_it_is() -> None:
    found = take(create_collector("host"), RealHost()).values
    memory = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert found["host_memory_bytes", ()] == memory
    modes = {labels[0] for name, labels in found if name == "host_cpu_seconds"}
    assert {"user", "system", "idle", "iowait"} <= modes


def test_disks_are_those_that_the_kernel_lists() -> None:
    found = take(create_collector("disks"), RealHost()).values
    listed = {path.name for path in Path("/sys/block").glob("*")}
    assert {labels[0] for _, labels in found} <= listed


@pytest.mark.parametrize(("name", "said"), [("gpfs", "is not there"), ("beegfs", "is there")])
def test_what_is_not_there_is_said(name: str, said: str) -> None:
    collector = create_collector(name)
    if not collector.missing(RealHost()):
        pytest.skip(f"this machine has {name}")
    assert said in collector.missing(RealHost())
