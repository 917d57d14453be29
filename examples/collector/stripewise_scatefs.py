# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A collector of another package: counters of a ScaTeFS-like file system, from a command's text.

The command prints a line for each I/O target, "target reads=N writes=N read_kb=N write_kb=N":

    iot-0 reads=120 writes=7 read_kb=4096 write_kb=512

`stripewise centre monitor` finds it by the entry point in pyproject.toml beside this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stripewise.centre.monitor import Host, Reading, counter
from stripewise.centre.monitor.collectors import Collector, CollectorSettings, Problem

_LABELS = ("fs", "target")
READ_BYTES = counter("scatefs_read_bytes", "bytes", "Read from a target.", _LABELS)
WRITE_BYTES = counter("scatefs_write_bytes", "bytes", "Written to a target.", _LABELS)
OPERATIONS = counter(
    "scatefs_operations", "operations", "Requests of a target.", (*_LABELS, "operation")
)
_LINE = re.compile(
    r"([\w-]{1,64}) reads=(\d{1,19}) writes=(\d{1,19}) read_kb=(\d{1,19}) write_kb=(\d{1,19})",
    re.ASCII,
)


class ScateFsSettings(CollectorSettings):
    """[collectors.scatefs]: name of the file system, and the command."""

    fs: str = "scatefs"
    command: str = "/opt/scatefs/bin/scatefs_iostat"


class ScateFs(Collector):
    """Counters of I/O targets since they were started."""

    name = "scatefs"
    summary = "I/O targets of ScaTeFS, from scatefs_iostat"
    metrics = (READ_BYTES, WRITE_BYTES, OPERATIONS)
    settings_class = ScateFsSettings

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read, with the remedy."""
        command = self.settings.command
        if host.names(command):
            return ""
        return f"{command} is not there: give its path as `command` of [collectors.scatefs]"

    def collect(self, host: Host) -> Iterator[Reading | Problem]:
        """Run the command once; a line that cannot be believed is left out and told."""
        seen = set()
        for line in host.output([self.settings.command]).splitlines():
            found = _LINE.fullmatch(line)
            if found is None or found[1] in seen:
                yield Problem(f"scatefs_iostat: {line[:60]!a} is left out", "malformed")
                continue
            seen.add(found[1])
            yield from self._readings(found)

    def _readings(self, found: re.Match[str]) -> Iterator[Reading]:
        labels = (self.settings.fs, found[1])
        reads, writes, read_kb, write_kb = map(int, found.groups()[1:])
        yield Reading(READ_BYTES, labels, read_kb * 1024)
        yield Reading(WRITE_BYTES, labels, write_kb * 1024)
        yield Reading(OPERATIONS, (*labels, "read"), reads)
        yield Reading(OPERATIONS, (*labels, "write"), writes)
