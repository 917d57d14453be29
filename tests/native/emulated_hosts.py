# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs on an emulated storage, for native tests."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from native_hosts import Host

from emulated_machine import Machine, Taken, counters


def begin_together(started: Sequence[subprocess.Popen[bytes]]) -> int:
    """Tell programs that are ready a moment at which they begin; return it."""
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    begin = time.monotonic_ns() + 30_000_000
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"%d\n" % begin)
        process.stdin.flush()
    return begin


def waited_for_processors(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds in which a process could run and did not, so far.

    The kernel counts them, so that no fault of the emulation is among them.
    """
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9


def waited_until_the_end(process: subprocess.Popen[bytes]) -> float:
    """Return the same of a process that comes to its end now, and is still to be waited for."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return waited_for_processors(process)


@dataclass
class Request:
    """One that was made: moments in seconds after the common beginning."""

    start: Taken
    end: Taken

    @property
    def seconds(self) -> Taken:
        """How long it took."""
        return self.end - self.start


@dataclass
class Emulation:
    """Runs programs on an emulated storage."""

    host: Host
    machine: Machine
    program: Path

    def __post_init__(self) -> None:
        """Make the mapping."""
        self.file = self.host.directory.parent / "mapping"
        self.machine.write(self.file, self.host.directory)

    @property
    def counters(self) -> dict[str, int]:
        """All of them; those of limits by the limit's name."""
        return counters(self.file)

    def environment(self, rank: int | None = None, **variables: str) -> dict[str, str]:
        """Environment of a process."""
        own = {"STRIPEWISE_EMULATE": str(self.file)}
        if rank is not None:
            own |= {"PMI_RANK": str(rank), "PMI_SIZE": str(self.machine.nodes)}
        return self.host.environment(**own, **variables)

    def check(self, *command: str | Path, **variables: str) -> bytes:
        """Run a command that must succeed; its standard output."""
        return self.host.check(*command, STRIPEWISE_EMULATE=str(self.file), **variables)

    def together(self, *tables: Sequence[str], **variables: str) -> list[list[Request]]:
        """Run a table of requests in each of some processes, that begin at the same moment."""
        started = [
            subprocess.Popen(
                [self.program, "-", *table],
                cwd=self.host.directory,
                env=self.environment(rank, **variables),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for rank, table in enumerate(tables)
        ]
        begin = begin_together(started)
        before = sum(map(waited_for_processors, started))
        waited = sum(map(waited_until_the_end, started)) - before  # one may hold up the others
        found = []
        for process in started:
            output, _ = process.communicate(timeout=60)
            assert process.returncode == 0
            moments = [[Taken((int(word) - begin) / 1e9, waited) for word in line.split()]
                       for line in output.splitlines()]  # fmt: skip
            found.append([Request(*pair) for pair in moments])
        return found

    def alone(self, *table: str, **variables: str) -> list[Request]:
        """Run one table."""
        return self.together(table, **variables)[0]
