# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Targets of BeeGFS, from its command-line tools."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, field_validator

from stripewise.monitor._host import Host, HostError
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._names import GivenName
from stripewise.monitor.collectors._shared import Command, Seconds, damages, partial_output
from stripewise.monitor.metrics import Reading
from stripewise.monitor.metrics import others as m
from stripewise.monitor.texts import BeeGfsTarget, read_beegfs_json, read_beegfs_table

_COMMANDS = (
    *("/usr/bin/beegfs", "/usr/sbin/beegfs", "/opt/beegfs/sbin/beegfs"),
    *("/usr/bin/beegfs-ctl", "/usr/sbin/beegfs-ctl", "/opt/beegfs/sbin/beegfs-ctl"),
)
"""Where the tools of 8.x and 7.x are installed."""
_OLD = "beegfs-ctl"
_KINDS = ("storage", "meta")


class BeeGfsSettings(CollectorSettings):
    """[collectors.beegfs].

    Attributes:
        command: Whole path of `beegfs` (8.x) or `beegfs-ctl` (7.x); "": where it usually is.
        file_systems: Name of each file system, and where it is managed: the host and port of its
            management service (8.x), or the client's configuration file (7.x); "": what the tool
            takes by itself.
        timeout_seconds: After which the tool is ended.
    """

    command: Command = ""
    file_systems: dict[GivenName, str] = Field(default_factory=lambda: {"beegfs": ""})
    timeout_seconds: Seconds = 10.0

    @field_validator("file_systems")
    @classmethod
    def _are_there(cls, places: dict[str, str]) -> dict[str, str]:
        if not places or not all(place.isprintable() for place in places.values()):
            raise ValueError("name at least one file system, each with printable text")
        return places


class BeeGfs(Collector):
    """Capacity and state of all targets of BeeGFS file systems, as their management sees them.

    One host of a file system is enough; several would tell the same.  Targets are called
    "storage-101" and "meta-1".  A target whose server does not answer has a state but no capacity.
    7.x rounds sizes to 0.1 GiB.

    Counters of reads, writes and operations are left out, since no tool gives true ones:
    `beegfs-ctl --clientstats` rounds bytes to six digits, and both it and `beegfs stats` add up
    servers that are restarted at different times; `--serverstats` and `beegfs stats server` tell
    rates of past seconds alone.  BeeGFS's own beegfs-mon has them.
    """

    name = "beegfs"
    summary = "targets of BeeGFS file systems, from beegfs or beegfs-ctl"
    metrics = m.OF_BEEGFS
    settings_class = BeeGfsSettings

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read."""
        if self._command(host):
            return ""
        command = self._settings.command
        what = f"{command} is not" if command else "neither beegfs nor beegfs-ctl is"
        return f"{what} there: give its path as `command` of [collectors.beegfs]"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Ask for the targets of each file system; what fails does not keep the others back."""
        command = self._command(host)
        if not command:
            raise HostError("missing", self.missing(host))
        errors = []
        has_any = False
        for fs in self._settings.file_systems:
            for kind in _KINDS:
                try:
                    yield from self._targets(host, command, fs, kind)
                    has_any = True
                except HostError as error:
                    errors.append(error)
                    yield Problem(f"{kind} targets of {fs}: {error}", error.reason)
                    if error.reason == "slow":  # the same management would be as slow again
                        break
        if not has_any:
            raise errors[0]

    @property
    def _settings(self) -> BeeGfsSettings:
        assert isinstance(self.settings, BeeGfsSettings)
        return self.settings

    def _command(self, host: Host) -> str:
        known = (self._settings.command,) if self._settings.command else _COMMANDS
        return next((path for path in known if host.names(path)), "")

    def _targets(
        self, host: Host, command: str, fs: str, kind: str
    ) -> Iterator[Reading | Problem]:
        is_old = command.endswith(_OLD)
        words = (old_words if is_old else words_of)(command, kind, self._settings.file_systems[fs])
        text, failure = partial_output(host, words, self._settings.timeout_seconds)
        targets, problems = (read_beegfs_table if is_old else read_beegfs_json)(text)
        yield from damages(f"{kind} targets of {fs}", problems)
        silent = [one.number for one in targets if one.total_bytes is None]
        for target in targets:
            yield from _readings(target, (fs, f"{kind}-{target.number}"))
        if silent:
            yield Problem(
                f"{kind} targets of {fs}: {len(silent)} of {len(targets)} do not tell their space",
                "error",
            )
        if failure is not None and (not silent or failure.reason == "slow"):
            raise failure


def words_of(command: str, kind: str, place: str) -> tuple[str, ...]:
    """Return the words that ask `beegfs` (8.x) for targets of a kind.

    Later versions call free space otherwise; the tool passes over a column that it has not.
    """
    where = (f"--mgmtd-addr={place}",) if place else ()
    columns = "--columns=id,reachability,space,sfree,space_free"
    return (
        *(command, "target", "list", f"--node-type={kind}", "--state", "--capacity", columns),
        *("--raw", "--output=json", *where),
    )


def old_words(command: str, kind: str, place: str) -> tuple[str, ...]:
    """Return the words that ask `beegfs-ctl` (7.x) for targets of a kind."""
    where = (f"--cfgFile={place}",) if place else ()
    return (command, "--listtargets", f"--nodetype={kind}", "--state", "--spaceinfo", *where)


def _readings(target: BeeGfsTarget, labels: tuple[str, str]) -> Iterator[Reading]:
    if target.is_online is not None:
        yield Reading(m.BEEGFS_TARGET_MISSING, labels, 0 if target.is_online else 1)
    if target.total_bytes is not None and target.free_bytes is not None:
        yield Reading(m.BEEGFS_TARGET_TOTAL_BYTES, labels, target.total_bytes)
        yield Reading(m.BEEGFS_TARGET_FREE_BYTES, labels, target.free_bytes)
        yield Reading(m.BEEGFS_TARGET_USED_BYTES, labels, target.total_bytes - target.free_bytes)
