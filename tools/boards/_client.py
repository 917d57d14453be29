# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board of clients: the performance of each file system and disk for programs."""

from __future__ import annotations

from boards import _hosts as hosts
from boards._board import Board, Choice, Row
from boards._common import FULL
from boards._panels import FLAG_BAD, Column, Line, lines, rows, states
from boards._queries import Scope, name
from stripewise.centre.monitor import Metric, metrics

_S = Scope(("server", "fs"))
_BY = ("server", "fs")
_KIND = (*_BY, "operation")
_WHICH = "{{server}} {{fs}}"
_ANY = (
    metrics.MOUNT_READ_BYTES, metrics.NFS_READ_BYTES, metrics.GPFS_READ_BYTES,
    metrics.BEEGFS_TARGET_TOTAL_BYTES,
)  # fmt: skip


def _bytes(read: Metric, write: Metric, word: str = "") -> list[Line]:
    return [
        Line(_S.rate(read, _BY), f"{_WHICH} {word}read"),
        Line(_S.rate(write, _BY), f"{_WHICH} {word}write"),
    ]


def _kinds(metric: Metric) -> list[Line]:
    return [Line(_S.rate(metric, _KIND), _WHICH + " {{operation}}")]


def _times(seconds: Metric, count: Metric) -> list[Line]:
    return [Line(_S.mean(seconds, count, _KIND), _WHICH + " {{operation}}")]


_LUSTRE = (
    lines("Lustre: throughput", "Bytes that programs of the client read and wrote a second, also "
          "from its cache.", _bytes(metrics.MOUNT_READ_BYTES, metrics.MOUNT_WRITE_BYTES),
          "binBps", width=8),
    lines("Lustre: operations", "Operations of programs a second, by kind.",
          _kinds(metrics.MOUNT_OPERATIONS), "ops", width=8),
    lines("Lustre: time of an operation", "Mean time that a program waited, by kind (Lustre 2.13 "
          "and newer).", _times(metrics.MOUNT_OPERATION_SECONDS, metrics.MOUNT_OPERATIONS), "s",
          width=8),
)  # fmt: skip
_NFS = (
    lines("NFS: throughput", "Bytes from and to the server, and those of programs: the "
          "difference is the cache.",
          [*_bytes(metrics.NFS_READ_BYTES, metrics.NFS_WRITE_BYTES, "server "),
           *_bytes(metrics.NFS_PROGRAM_READ_BYTES, metrics.NFS_PROGRAM_WRITE_BYTES, "programs ")],
          "binBps"),
    lines("NFS: operations", "Operations a second, by kind.", _kinds(metrics.NFS_OPERATIONS),
          "ops"),
    lines("NFS: time of an operation", "Mean time from request to end, by kind.",
          _times(metrics.NFS_OPERATION_SECONDS, metrics.NFS_OPERATIONS), "s", width=8),
    lines("NFS: time before sending", "Mean time in which an operation waited in the client.",
          _times(metrics.NFS_QUEUE_SECONDS, metrics.NFS_OPERATIONS), "s", width=8),
    lines("NFS: sent again, failed", "Operations that were sent again after a timeout, and that "
          "failed, a second.",
          [Line(_S.rate(metrics.NFS_TIMEOUTS, _BY), _WHICH + " sent again"),
           Line(_S.rate(metrics.NFS_ERRORS, _BY), _WHICH + " failed")], "ops", width=8),
)  # fmt: skip
_TARGET = ("fs", "target")
_FULL = f"1 - {_S.level(metrics.BEEGFS_TARGET_FREE_BYTES, _TARGET, how='max')} / " + _S.level(
    metrics.BEEGFS_TARGET_TOTAL_BYTES, _TARGET, how="max"
)
_OTHERS = (
    lines("GPFS: throughput", "Bytes that programs of the client read and wrote a second, also "
          "from its cache.", _bytes(metrics.GPFS_READ_BYTES, metrics.GPFS_WRITE_BYTES), "binBps",
          width=8),
    lines("GPFS: operations", "Operations of programs a second, by kind.",
          _kinds(metrics.GPFS_OPERATIONS), "ops", width=8),
    rows("BeeGFS: space", "Space of each target, the fullest first.",
         [Column("in use", _FULL, "percentunit", FULL),
          Column("used", _S.level(metrics.BEEGFS_TARGET_USED_BYTES, _TARGET, how="max"), "bytes")],
         links={}, width=8),
    states("BeeGFS: targets", "Which targets were offline, and when.",
           Line(_S.level(metrics.BEEGFS_TARGET_MISSING, _TARGET, how="max"), "{{fs}} {{target}}"),
           FLAG_BAD, width=8),
)  # fmt: skip

_MOUNTS = "|".join(name(metric) for metric in _ANY)
CLIENTS = Board(
    "client", "clients",
    "What do programs on a client, or a login node, get from each file system and disk?",
    (Choice("server", "Host", name(metrics.INFO), has_all=False),
     Choice("fs", "File system", f'{{__name__=~"{_MOUNTS}",server=~"$server"}}')),
    (
        Row("Lustre", _LUSTRE),
        Row("NFS", _NFS, False),
        Row("GPFS and BeeGFS", _OTHERS, False),
        Row("Disks", (hosts.disk_bytes(), hosts.disk_busy(), hosts.disk_operations(),
                      hosts.disk_times()), False),
        Row("Host", (hosts.processors(), hosts.network()), False),
    ),
)  # fmt: skip
