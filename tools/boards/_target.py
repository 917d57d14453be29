# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board of targets: the load, performance and requests of each."""

from __future__ import annotations

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from boards._board import Board, Choice, Row
from boards._common import (
    CHOOSE_FS,
    CHOOSE_TARGET,
    FULL,
    RECOVERING,
    SLOW,
    TARGET,
    full_share,
    inode_share,
    service_time,
    service_time_to_others,
)  # fmt: skip
from boards._panels import Line, heat_map, lines, states
from boards._queries import Scope
from stripewise.centre.monitor import Metric, metrics

_S = Scope(("fs", "target"))
_D = Scope(("fs", "target", "direction"))
_OPERATION = (*TARGET, "operation")
_WHICH = "{{fs}}-{{target}}"

_TOP = (
    lines("Throughput", "Bytes that a target read and wrote a second.",
          [Line(_S.rate(metrics.TARGET_READ_BYTES, TARGET), _WHICH + " read"),
           Line(_S.rate(metrics.TARGET_WRITE_BYTES, TARGET), _WHICH + " write")], "binBps"),
    lines("Operations by kind", "Operations of a target a second, as Lustre names them.",
          [Line(_S.rate(metrics.TARGET_OPERATIONS, _OPERATION), _WHICH + " {{operation}}")],
          "ops"),
    lines("Time of an operation", "Mean time of reads and writes (OST) or metadata operations "
          "(MDT). That of a write does not hold its disks: see the times of I/O below.",
          [Line(service_time(_S), _WHICH)], "s", width=8),
    lines("Time compared with others", "The same, by the median of the targets of its kind in "
          "the file system. Over 3 for long: look at its disks, its network and its load. There "
          "is no figure for fewer than four targets that do something.",
          [Line(service_time_to_others(_S), _WHICH)], "none",
          steps=SLOW, width=8),
    lines("Time by kind", "Mean time of each kind of operation.",
          [Line(_S.mean(metrics.TARGET_OPERATION_SECONDS, metrics.TARGET_OPERATIONS, _OPERATION),
                _WHICH + " {{operation}}")], "s", width=8),
    lines("Space and inodes in use", "Share that is in use; full targets are slow before they "
          "fail.", [Line(full_share(_S, TARGET), _WHICH + " space"),
                    Line(inode_share(_S, TARGET), _WHICH + " inodes")],
          "percentunit", steps=FULL, most=1, width=8),
    lines("Clients and jobs", "Connections, of clients and of other servers, and jobs that the "
          "target has counters of.",
          [Line(_S.level(metrics.TARGET_EXPORTS, TARGET), _WHICH + " connections"),
           Line(_S.level(metrics.JOBS, TARGET), _WHICH + " jobs")], "none", width=8),
    lines("Counting since", "How long a target has counted: it falls to zero when the target is "
          "started or its counters are cleared. Lustre 2.14.56 and newer.",
          [Line(f"time() - {_S.series(metrics.TARGET_STARTED)}", _WHICH)], "s", width=8),
)  # fmt: skip


def _quantiles(title: str, description: str, metric: Metric, unit: str) -> Builder[Panel]:
    return lines(
        title, description + " Half of them, and 95 % of them, are at most this.",
        [Line(_D.quantile(share, metric, (*TARGET, "direction")),
              f"{_WHICH} {{{{direction}}}} {share:.0%}") for share in (0.5, 0.95)],
        unit, width=6,
    )  # fmt: skip


_REQUESTS = (
    heat_map("Sizes of I/O to the disks", "How large the I/O to the disks is. Much small I/O "
             "makes any disk slow; the programs, or their striping, are where to look.",
             _D.rate(metrics.IO_SIZE, ()), "bytes"),
    heat_map("Times of I/O to the disks", "How long the disks take for a request. A second, "
             "higher band is a disk in trouble, or a RAID that is being rebuilt. ZFS reports "
             "no write times.",
             _D.rate(metrics.IO_TIME, ()), "s"),
    heat_map("Pages of a request", "Pages of a bulk request of a client: 256 are 1 MiB.",
             _D.rate(metrics.RPC_PAGES, ()), "none"),
    _quantiles("Discontiguous pages", "File offsets in a request that do not follow one another.",
               metrics.DISCONTIGUOUS_PAGES, "none"),
    _quantiles("Discontiguous blocks", "Disk blocks in a request that do not follow one another: "
               "the disk is fragmented, or nearly full.", metrics.DISCONTIGUOUS_BLOCKS, "none"),
    _quantiles("Fragments", "I/Os to the disks that a request became.", metrics.FRAGMENTS, "none"),
    _quantiles("I/O in flight", "I/Os that were in flight when one began, itself among them.",
               metrics.IN_FLIGHT, "none"),
)  # fmt: skip
_STATES = {"1": ("recovering", "orange"), "0": ("no", "green")}
_RECOVERING = _S.level(metrics.RECOVERY_STATE, TARGET, RECOVERING, how="max")
_LOCKS = (
    states("In recovery", "When a target waited for its clients after a restart.",
           Line(_RECOVERING, _WHICH), _STATES, width=8),
    lines("Clients and time of recovery", "Clients by what became of them in the last recovery, "
          "the time that it still has, and how long the last one took, in seconds.",
          [Line(_S.level(metrics.RECOVERY_CLIENTS, (*TARGET, "state")), _WHICH + " {{state}}"),
           Line(_S.level(metrics.RECOVERY_REMAINING, TARGET), _WHICH + " seconds left"),
           Line(_S.level(metrics.RECOVERY_DURATION, TARGET), _WHICH + " seconds taken")], "none",
          width=8),
    lines("Locks that clients did not give back", "Lock timeouts a second. Lustre evicts a client "
          "for each.",
          [Line(_S.rate(metrics.LOCK_TIMEOUTS, TARGET), _WHICH)], "cps", width=8),
    lines("Locks", "Locks of a target, granted or waited for, and what its pool allows.",
          [Line(_S.level(metrics.LOCKS, TARGET), _WHICH + " there"),
           Line(_S.level(metrics.LOCK_LIMIT, TARGET), _WHICH + " allowed")], "short"),
    lines("Locks a second", "Locks granted and cancelled within the running second: a low "
          "estimate. Many cancels: clients take locks from one another, often on one shared file.",
          [Line(_S.level(metrics.LOCK_GRANT_RATE, TARGET), _WHICH + " granted"),
           Line(_S.level(metrics.LOCK_CANCEL_RATE, TARGET), _WHICH + " cancelled")], "cps"),
)  # fmt: skip

TARGETS = Board(
    "target", "targets",
    "What does a target do, is it slower than the others, and what requests does it get?",
    (CHOOSE_FS, CHOOSE_TARGET,
     Choice("direction", "Direction", values=("read", "write"))),
    (Row("", _TOP), Row("Requests at the disks", _REQUESTS, False),
     Row("Recovery and locks", _LOCKS, False)),
)  # fmt: skip
