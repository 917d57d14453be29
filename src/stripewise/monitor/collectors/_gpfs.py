# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""GPFS (IBM Storage Scale) clients, from `mmpmon`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from stripewise.monitor._host import Host, HostError
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._names import Names
from stripewise.monitor.collectors._shared import Command, Seconds, damages, partial_output
from stripewise.monitor.metrics import Reading
from stripewise.monitor.metrics import others as m
from stripewise.monitor.texts import GpfsLine, read_fs_io_s

_REQUEST = b"fs_io_s\n"
_MOST_FILE_SYSTEMS = 256
"""So that labels are bounded, whatever mmpmon answers (assumed: clusters have some tens)."""
_OF_RIGHTS = ("root", "permission", "not permitted", "authori")
"""Words of messages that mmpmon gives to those who may not use it."""


class GpfsSettings(CollectorSettings):
    """[collectors.gpfs].

    Attributes:
        mmpmon: Whole path of the command.
        timeout_seconds: After which it is ended.
    """

    mmpmon: Command = "/usr/lpp/mmfs/bin/mmpmon"
    timeout_seconds: Seconds = 10.0


class Gpfs(Collector):
    """Counters of GPFS file systems on this node since they were mounted.

    They are what programs of this node asked for, so they include what its cache answered, and not
    what other nodes do.  What is counted between the last reading and an unmount is lost, and
    `mmpmon reset` by anybody sets them to zero.  Only root may run mmpmon, and at most five of
    them run on a node at once.
    """

    name = "gpfs"
    summary = "GPFS file systems of this node, from mmpmon"
    metrics = m.OF_GPFS
    settings_class = GpfsSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Take its settings."""
        super().__init__(settings)
        assert isinstance(settings, GpfsSettings)
        self._words = (settings.mmpmon, "-p")
        self._timeout_seconds = settings.timeout_seconds
        self._names = Names({}, _MOST_FILE_SYSTEMS)

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read."""
        if host.names(self._words[0]):
            return ""
        return f"{self._words[0]} is not there: give its path as `mmpmon` of [collectors.gpfs]"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Ask mmpmon once."""
        text, failure = self._ask(host)
        found, problems = read_fs_io_s(text)
        yield from damages("mmpmon", problems)
        for line in found:
            name = self._names.of(f"{line.cluster}:{line.fs}", line.fs)
            if name is None:
                yield Problem(f"mmpmon: more than {_MOST_FILE_SYSTEMS} file systems")
            else:
                yield from _readings(line, name)
        if failure is not None:
            raise _clearer(failure)

    def _ask(self, host: Host) -> tuple[str, HostError | None]:
        try:
            return partial_output(host, self._words, self._timeout_seconds, _REQUEST)
        except HostError as error:
            raise _clearer(error) from error


def _clearer(error: HostError) -> HostError:
    """Return an error that says what to do where somebody other than root asked."""
    text = str(error)
    is_of_rights = any(word in text.lower() for word in _OF_RIGHTS)
    if error.reason != "denied" and not (error.reason == "error" and is_of_rights):
        return error
    remedy = "let root run the agent"
    if os.geteuid() == 0:
        remedy = "root runs the agent without the capabilities it needs, as in a container"
    return HostError("denied", f"{text}: mmpmon is for root alone; {remedy}")


def _readings(line: GpfsLine, name: str) -> Iterator[Reading]:
    yield Reading(m.GPFS_READ_BYTES, (name,), line.read_bytes)
    yield Reading(m.GPFS_WRITE_BYTES, (name,), line.write_bytes)
    for operation, count in line.operations.items():
        yield Reading(m.GPFS_OPERATIONS, (name, operation), count)
