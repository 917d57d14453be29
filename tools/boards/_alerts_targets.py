# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Alerts about targets and servers that are slow, missing, full or stuck."""

from __future__ import annotations

from boards._common import RECOVERING, TARGET, full_share, inode_share, unheard
from boards._queries import Scope, name
from boards._recorded import (
    AVAILABLE,
    BYTES,
    DISK_TIME,
    FREE_FILES,
    OPERATIONS,
    REQUEST_PAGES,
    TIME,
    TIME_OF_BYTE,
)  # fmt: skip
from boards._rules import Alert, shown
from stripewise.centre.monitor import metrics as m

_S = Scope()
_WHICH = "{{ $labels.fs }}-{{ $labels.target }}"
_BOARD = shown("target", fs="fs", target="target")
_PORTAL = "/storage/{{$labels.fs|urlquery}}"
_WEEK = 7 * 86400
_NO_NEW_FILES = (
    '{{ if match "^OST" $labels.target }} The target gets no new files after, on the metadata '
    f"servers: lctl set_param osp.{_WHICH}-*.max_create_count=0.{{{{ end }}}}"
)
_OPERATIONS = name(m.TARGET_OPERATIONS)


def _to_others(recorded: str, of: str = "fs, kind") -> str:
    """Return a target's value relative to the median of its kind, if there are enough targets."""
    return (
        f"{recorded}\n  / on ({of}) group_left ()\n"
        f"  (quantile by ({of}) (0.5, {recorded})\n"
        f"   and on ({of}) count by ({of}) ({recorded}) >= 4)"
    )


# A target with far more load than others takes longer as well, which is not a disk problem.
_LOADED = (
    f"({_to_others(OPERATIONS.name)} > 2\n"
    f"  or on (fs, target) {BYTES.name} / on (fs) group_left ()\n"
    f"    quantile by (fs) (0.5, {BYTES.name}) > 2)"
)


def _filling(recorded: str) -> str:
    """Return targets whose trend of a day, at least six hours long, reaches zero in a week.

    That of the last six hours must do so too: growth by one job, or before a clean-up, ends.
    """
    return (
        f"predict_linear({recorded}[1d], {_WEEK}) < 0\n"
        f"and on (fs, target) predict_linear({recorded}[6h], {_WEEK}) < 0\n"
        f"and on (fs, target) {recorded} offset 6h"
    )


SLOW = Alert(
    "LustreTargetSlow", "warning", 5,
    "an operation takes more than three times as long as at the median of the targets of its "
    "kind in the file system, over 5 minutes, and for storage targets a byte does too; with four "
    "targets or more, at over 1 operation a second and over 1 ms; it has at most twice the "
    "operations and bytes of that median, so that its load does not explain it",
    f"{_to_others(TIME.name)}\n  > 3\n"
    f"and on (fs, target) {TIME.name} > 0.001\n"
    f'and on (fs, target) ({_to_others(TIME_OF_BYTE.name)} > 3\n'
    f'  or {TIME.name}{{kind="MDT"}})\n'
    f"unless on (fs, target) {_LOADED}",
    f"{_WHICH} is slow: an operation takes {{{{ $value | humanize }}}} times as long as at its "
    "like",
    "Every program whose files lie on this target waits for it.",
    "Look at the disks and the controller behind it (a disk that fails, a RAID that is being "
    "rebuilt), at the network of its server, and how full it is." + _NO_NEW_FILES,
    _BOARD, _PORTAL,
)  # fmt: skip
_DIRECTION = "fs, kind, direction"
# The write time at a target does not include that of its disks: LustreTargetSlow cannot see it.
DISKS = Alert(
    "LustreTargetDisksSlow", "warning", 10,
    "half of the requests that reach the disks of a storage target take more than four times as "
    "long there as at the median of the others, and over 10 ms, for reads or for writes; with "
    "four targets or more, at over 1 request a second, of at most twice the size, and with at "
    "most twice the operations and bytes; ZFS reports no write times",
    f"max by (fs, target) (\n"
    f"  {_to_others(DISK_TIME.name, _DIRECTION)} > 4\n"
    f"  and {DISK_TIME.name} > 0.01\n"
    f"  unless {_to_others(REQUEST_PAGES.name, _DIRECTION)} > 2)\n"
    f"unless on (fs, target) {_LOADED}",
    f"The disks of {_WHICH} are slow: a request takes them {{{{ $value | humanize }}}} times as "
    "long as those of its like",
    "Every program whose files lie on this target waits for them.",
    "Look for a disk that fails, a RAID that is being rebuilt, a cache of a controller that is "
    "off (its battery), and how full it is." + _NO_NEW_FILES,
    _BOARD, _PORTAL,
)  # fmt: skip
_SIZE = name(m.TARGET_TOTAL_BYTES)
_SEEN = f"count by (fs, target, server) (present_over_time({_SIZE}[1d]))"
_FLAG = name(m.TARGET_MISSING)
_OK = _S.series(m.COLLECTOR_OK, 'collector="lustre-server"')
MISSING = Alert(
    "LustreTargetMissing", "critical", 2,
    "a target is gone from its server, or was seen in the last day and is not reported now "
    "although the agent of its server runs, and no other server has it, nor had it last and is "
    "silent now",
    f"((max by (fs, target, server) ({_FLAG} == 1)\n  unless on (fs, target) {_FLAG} == 0)\n"
    f"or on (fs, target)\n"
    f"({_SEEN}\n  unless on (fs, target) {_SIZE}\n"
    f"  and on (server) {name(m.INFO)}\n"
    f"  unless on (server) {_OK} == 0))\n"
    f"unless on (fs, target) ({unheard(_S)})",
    f"{_WHICH} is gone from {{{{ $labels.server }}}}",
    "Programs that use files on it stand still or fail.",
    "See on the server whether it is mounted (lctl dl, dmesg); mount it, or fail it over. If it "
    "was taken away on purpose, silence this alert for a day.",
    _BOARD, _PORTAL,
)  # fmt: skip
STOPPED = Alert(
    "LustreTargetStopped", "warning", 15,
    "no counter of a target has moved for 15 minutes, although something is connected, its agent "
    "works, it had operations in three of four quarters of an hour of the last day, and other "
    "targets of the file system still have some",
    f"sum by (fs, target, server) (changes({_OPERATIONS}[15m])) == 0\n"
    f"and on (fs, target, server) {name(m.TARGET_EXPORTS)} > 0\n"
    f"and on (server) {_OK} == 1\n"
    f"and on (fs, target) avg_over_time((sum by (fs, target)\n"
    f"  (changes({_OPERATIONS}[15m])) > bool 0)[1d:15m]) > 0.75\n"
    f"and on (fs) sum by (fs) (changes({_OPERATIONS}[15m])) > 0",
    f"{_WHICH} does nothing, although clients or other servers are connected",
    "It has neither read, written nor answered for half an hour, which it hardly ever does: its "
    "threads may hang.",
    "Look for stuck threads in dmesg of {{ $labels.server }}, and whether lctl get_param "
    "health_check answers. It may have been taken out of use: lctl get_param osp.*.active.",
    _BOARD, _PORTAL,
)  # fmt: skip
_FULL = full_share(_S, TARGET)
_NEW_FILES = (
    "Find who fills it in the portal; move files (lfs migrate), or ask for them to be deleted."
    + _NO_NEW_FILES
)
FULL = Alert(
    "LustreTargetFull", "critical", 5, "over 97 % of a target is not left to users",
    f"{_FULL} > 0.97", f"{_WHICH} is {{{{ $value | humanizePercentage }}}} full",
    "When the rest is used up, writes to files on it fail with ENOSPC, even if the file system as "
    "a whole has room.",
    _NEW_FILES, shown("capacity", fs="fs"), _PORTAL,
)  # fmt: skip
_TOLD = 'ALERTS{alertname="LustreTargetFull",alertstate="firing"}'
NEARLY_FULL = Alert(
    "LustreTargetNearlyFull", "warning", 10,
    "over 90 % of a target is not left to users, and `LustreTargetFull` does not say so",
    f"{_FULL} > 0.9 unless on (fs, target) {_TOLD}",
    f"{_WHICH} is {{{{ $value | humanizePercentage }}}} full",
    "A full target gets slow before writes to it fail.",
    _NEW_FILES, shown("capacity", fs="fs"), _PORTAL,
)  # fmt: skip
FILLING = Alert(
    "LustreTargetFilling", "warning", 60,
    "the trend of the last day, at least six hours of it, fills a target within a week, and so "
    "does that of the last six hours",
    _filling(AVAILABLE.name), f"{_WHICH} will be full within a week if it goes on like this",
    "The trend of the last day says so; a single large job may be all of it.",
    "See who grows, on the board and in the portal, before it is an outage.",
    shown("capacity", fs="fs"), _PORTAL,
)  # fmt: skip
INODES = Alert(
    "LustreInodesNearlyFull", "warning", 10, "over 90 % of the inodes of a target are in use",
    f"{inode_share(_S, TARGET)} > 0.9",
    f"{_WHICH} has {{{{ $value | humanizePercentage }}}} of its inodes in use",
    "Without inodes no file can be made, however much space is left.",
    "Find who has most files (board, quotas); ask for them to be packed or deleted.",
    shown("capacity", fs="fs"), _PORTAL,
)  # fmt: skip
INODES_FILLING = Alert(
    "LustreInodesFilling", "warning", 60,
    "the trend of the last day, at least six hours of it, takes the last inode within a week, and "
    "so does that of the last six hours",
    _filling(FREE_FILES.name), f"{_WHICH} will have no inodes left within a week",
    "The trend of the last day says so; a single job that makes many files may be all of it.",
    "See who makes files, on the board and in the portal, before it is an outage.",
    shown("capacity", fs="fs"), _PORTAL,
)  # fmt: skip
LOCKS = Alert(
    "LustreLockTimeouts", "warning", 0,
    "clients did not give back more than 5 locks of a target in time, in 15 minutes",
    f"sum by (fs, target) (increase({name(m.LOCK_TIMEOUTS)}[15m])) > 5",
    f"{_WHICH}: about {{{{ $value | humanize }}}} locks were not given back in time",
    "The clients are thrown out: their programs see I/O errors. The cause is often the network, "
    "or a client that has crashed.",
    "Look in the server's log for the clients (\"lock callback timer expired\"), then at these.",
    _BOARD,
)  # fmt: skip
RECOVERY = Alert(
    "LustreRecoveryHangs", "warning", 20, "a target has been in recovery for 20 minutes",
    "max by (fs, target, server) "
    f"({_S.series(m.RECOVERY_STATE, RECOVERING)}) == 1",
    f"{_WHICH} on {{{{ $labels.server }}}} is in recovery and does not end it",
    "Until it ends, programs that use the target stand still.",
    "See which clients are awaited: lctl get_param *.*.recovery_status on the server. If they "
    "will not come back, end it there: lctl --device " + _WHICH + " abort_recovery.",
    _BOARD,
)  # fmt: skip
UNHEALTHY = Alert(
    "LustreUnhealthy", "critical", 2, "Lustre says of a server that it is not healthy",
    f"min by (server) ({name(m.HEALTHY)}) == 0",
    "Lustre on {{ $labels.server }} is not healthy",
    "A thread hangs, or a disk below a target has failed; targets of this server may not answer.",
    "Run lctl get_param health_check on it, and look at its log. Fail its targets over if it "
    "does not get well.",
    shown("server", server="server"),
)  # fmt: skip
BEEGFS = Alert(
    "BeegfsTargetMissing", "critical", 2, "BeeGFS says that a target is offline",
    f"max by (fs, target) ({name(m.BEEGFS_TARGET_MISSING)}) == 1",
    "BeeGFS target {{ $labels.target }} of {{ $labels.fs }} is offline",
    "Programs that use files on it wait or fail, unless it is mirrored.",
    "See beegfs-ctl --listtargets --state, and the log of its storage service.",
    shown("client", fs="fs"),
)  # fmt: skip

TARGETS = (
    *(SLOW, DISKS, MISSING, STOPPED, FULL, NEARLY_FULL, FILLING, INODES, INODES_FILLING),
    *(LOCKS, RECOVERY, UNHEALTHY, BEEGFS),
)
