# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulates a server of 100 OSTs for `monitor_agent.py`: parameters whose counters grow."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.job_stats_text import Job, render

TARGETS = 100
ENTRIES = 100
"""Number of job entries on each target."""
ACCOUNTS = {"user": 200, "group": 40, "project": 40}
_STUB = Path(__file__).with_name("stub_lctl.c")
_BEGAN = 1_700_000_000
_RPC_BYTES = 1 << 20
_BYTES_ROW = (
    b"  %-16b { samples: %%11d, unit: bytes, min:     4096, max:  1048576, sum: %%16d, "
    b"sumsq: %%18d, hist: { 4K: %%d, 64K: %%d, 1M: %%d } }\n"
)
_TIMES_ROW = (
    b"  %-16b { samples: %%11d, unit: usecs, min:        1, max:    90000, sum: %%16d, "
    b"sumsq: %%18d }\n"
)
_ACTIVE = {
    "read_bytes": _BYTES_ROW % b"read_bytes:", "write_bytes": _BYTES_ROW % b"write_bytes:",
    "read": _TIMES_ROW % b"read:", "write": _TIMES_ROW % b"write:",
    "setattr": _TIMES_ROW % b"setattr:", "punch": _TIMES_ROW % b"punch:",
}  # fmt: skip
"""Rows of operations that a job does; the other rows of its entry have no samples."""
_SECTIONS = (
    ("pages per bulk r/w", "rpcs", [str(1 << bit) for bit in range(11)]),
    ("discontiguous pages", "rpcs", [str(key) for key in range(4)]),
    ("discontiguous blocks", "rpcs", [str(key) for key in range(4)]),
    ("disk fragmented I/Os", "ios", [str(key) for key in range(1, 5)]),
    ("disk I/Os in flight", "ios", [str(key) for key in range(1, 32)]),
    ("I/O time (1/1000s)", "ios", [str(1 << bit) for bit in range(11)]),
    ("disk I/O size", "ios", ["4K", "8K", "16K", "32K", "64K", "128K", "256K", "512K", "1M"]),
)
_STATS = (
    ("read_bytes", "bytes", _RPC_BYTES), ("write_bytes", "bytes", _RPC_BYTES),
    ("read", "usecs", 900), ("write", "usecs", 900), ("setattr", "usecs", 20),
    ("punch", "usecs", 30), ("destroy", "usecs", 60), ("create", "usecs", 60),
    ("sync", "usecs", 900), ("statfs", "usecs", 3), ("get_info", "usecs", 3),
    ("set_info", "usecs", 3),
)  # fmt: skip


class Server:
    """Parameters of a server below a directory, and an `lctl` that prints them.

    Attributes:
        lctl: Path of the command.
        job_bytes: Size of the texts of all jobs.
    """

    def __init__(self, directory: Path, share: float) -> None:
        """Create the server; in each step the given share of the jobs is active."""
        self.lctl = directory / "lctl"
        self.job_bytes = 0
        self._tree = directory / "tree"
        self._every = round(1 / share)
        self._steps = [[0] * ENTRIES for _ in range(TARGETS)]
        self._changed_at = [[0] * ENTRIES for _ in range(TARGETS)]
        self._number = 0
        command = ["cc", "-O2", f'-DTREE="{self._tree}"', "-o", str(self.lctl), str(_STUB)]
        subprocess.run(command, check=True)
        self._fixed()
        self.step()

    def step(self) -> None:
        """Let the jobs work, which takes no time here."""
        self._number += 1
        self.job_bytes = 0
        self._put("ost.OSS.ost_io.stats", _stats_text(100 * self._number, _SERVICE))
        for target in range(TARGETS):
            for job in range(ENTRIES):
                if self._number == 1 or (job + target + self._number) % self._every == 0:
                    self._steps[target][job] += 1
                    self._changed_at[target][job] = int(time.time())
            self._target(target)

    def _fixed(self) -> None:
        for name, text in (("health_check", "healthy\n"), ("version", "2.16.1\n")):
            self._put(name, text)
        for state, count in (("min", 3), ("max", 512), ("started", 96)):
            self._put(f"ost.OSS.ost_io.threads_{state}", f"{count}\n")
        for target in range(TARGETS):
            name = f"scratch-OST{target:04x}"
            self._put(f"obdfilter.{name}.num_exports", "1200\n")
            self._put(f"obdfilter.{name}.recovery_status", _RECOVERY)
            self._put(f"osd-ldiskfs.{name}.kbytestotal", f"{1 << 37}\n")
            self._put(f"osd-ldiskfs.{name}.filestotal", f"{1 << 28}\n")
            for kind, value in (("lock_timeouts", 0), ("pool.limit", 1 << 20)):
                self._put(f"ldlm.namespaces.filter-{name}_UUID.{kind}", f"{value}\n")

    def _target(self, target: int) -> None:
        name, step = f"scratch-OST{target:04x}", self._number
        osd, locks = f"osd-ldiskfs.{name}", f"ldlm.namespaces.filter-{name}_UUID"
        for what, value in (
            ("kbytesfree", 1 << 36),
            ("kbytesavail", 1 << 35),
            ("filesfree", 1 << 27),
        ):
            self._put(f"{osd}.{what}", f"{value - 1000 * step - target}\n")
        for what, value in (
            ("lock_count", 9000),
            ("pool.grant_rate", 20),
            ("pool.cancel_rate", 7),
        ):
            self._put(f"{locks}.{what}", f"{value + (target + step) % 97}\n")
        self._put(f"obdfilter.{name}.stats", _stats_text(5000 * step + target, _STATS))
        self._put(f"{osd}.brw_stats", _brw_text(700 * step + target))
        for number, (kind, count) in enumerate(ACCOUNTS.items()):
            title = ("usr", "grp", "prj")[number]
            self._put(f"{osd}.quota_slave.acct_{kind}", _quota_text(title, count, step))
        text = b"job_stats:\n" + b"".join(
            _entry(target * ENTRIES + job, steps, at)
            for job, (steps, at) in enumerate(
                zip(self._steps[target], self._changed_at[target], strict=True)
            )
        )
        self.job_bytes += len(text)
        self._put(f"obdfilter.{name}.job_stats", text)

    def _put(self, name: str, text: str | bytes) -> None:
        path = self._tree / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name("." + path.name)
        new.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.replace(new, path)


def _template() -> bytes:
    """Return the text of an entry, as printed by 2.16, with placeholders for numbers."""
    _head, *rows = render([Job(b"7", 10**9, 2 * 10**9)], "2.16").split(b"\n  snapshot_time", 1)
    lines = (b"  snapshot_time" + rows[0]).splitlines(keepends=True)[3:]
    times = b"".join(
        b"  %-16b %%d.123456789 secs.nsecs\n" % name
        for name in (b"snapshot_time:", b"start_time:", b"elapsed_time:")
    )
    kept = [_ACTIVE.get(line.split(b":")[0].strip().decode(), line) for line in lines]
    return b"- job_id:          %d\n" + times + b"".join(kept)


_ENTRY = _template()
_SERVICE = (
    ("req_waittime", "usecs", 60), ("req_qdepth", "reqs", 1), ("req_active", "reqs", 20),
    ("req_timeout", "secs", 10), ("reqbuf_avail", "bufs", 62), ("ost_read", "usecs", 900),
    ("ost_write", "usecs", 900), ("ost_punch", "usecs", 90),
)  # fmt: skip
_RECOVERY = (
    "status: COMPLETE\nrecovery_start: 1700000000\nrecovery_duration: 31\n"
    "completed_clients: 1200/1200\nreplayed_requests: 7\nlast_transno: 4294967297\n"
    "VBR: DISABLED\nIR: ENABLED\n"
)


def _entry(number: int, steps: int, at: int) -> bytes:
    small, middle, large = 3 * steps, 2 * steps + number % 7, 40 * steps + number % 11
    count = small + middle + large
    moved = small * 4096 + middle * 65536 + large * _RPC_BYTES
    data = (count, moved, moved * 4096, small, middle, large)
    times = (count, count * 900, count * 900**2)
    few = (steps, steps * 20, steps * 400)
    return _ENTRY % (
        *(1_000_000 + number, at, _BEGAN, at - _BEGAN),
        *(*data, *data, *times, *times, *few, *few),
    )


def _stats_text(count: int, rows: tuple[tuple[str, str, int], ...]) -> str:
    lines = [f"snapshot_time             {int(time.time())}.123456789 secs.nsecs\n"]
    for name, unit, mean in rows:
        numbers = f"1 {2 * mean} {count * mean} {count * mean * mean}"
        lines.append(f"{name:<25} {count} samples [{unit}] {numbers}\n")
    return "".join(lines)


def _brw_text(count: int) -> str:
    lines = [f"snapshot_time:            {int(time.time())}.123456789 secs.nsecs\n"]
    for title, unit, keys in _SECTIONS:
        lines.append(f"\n{'':27}read      |     write\n")
        lines.append(f"{title:<22} {unit:<5} % cum % |  {unit:<11} % cum %\n")
        counts = [count * (3 + place % 5) for place in range(len(keys))]
        share = [100 * each // sum(counts) for each in counts]
        for key, each, part, sums in zip(keys, counts, share, accumulate(share), strict=True):
            lines.append(f"{key + ':':<17}{each:10} {part:3} {sums:3}   |"
                         f" {each:10} {part:3} {sums:3}\n")  # fmt: skip
    return "".join(lines)


def _quota_text(title: str, count: int, step: int) -> str:
    lines = [f"{title}_accounting:\n"]
    for key in range(count):
        files, kib = 1000 + 7 * key + step, 500_000 + 1000 * (step + key)
        lines.append(f"- id:      {1000 + key}\n"
                     f"  usage:   {{ inodes: {files:20}, kbytes: {kib:16} }}\n")  # fmt: skip
    return "".join(lines)
