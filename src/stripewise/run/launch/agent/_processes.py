# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds and ends processes through /proc.

The supervisor imports this file without the package, so it uses only modules of the standard
library that import fast.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable

RUN_ID_VARIABLE = "STRIPEWISE_RUN_ID"
SUPERVISOR_VARIABLE = "STRIPEWISE_SUPERVISOR"
"""Environment variable of a supervisor with the id of its run."""
TERM_GRACE_SECONDS = 1.0
KILL_DEADLINE_SECONDS = 20.0
_EXEC_SECONDS = 2.0
"""Time during which a process that is just being executed has no environment yet."""

_SHARED_MEMORY = "/dev/shm/"


class Process:
    """One entry of the process table."""

    __slots__ = ("parent", "pid", "session", "state")

    def __init__(self, pid: int, stat: str) -> None:
        fields = stat[stat.rindex(")") + 2 :].split()
        self.pid = pid
        self.state = fields[0]
        self.parent = int(fields[1])
        self.session = int(fields[3])

    @property
    def running(self) -> bool:
        """Whether the process is alive and not a zombie."""
        return self.state not in "ZXx"


def read_process(pid: int) -> Process | None:
    """Read one process; return None if it does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return Process(pid, stream.read())
    except (OSError, ValueError, IndexError):
        return None


def process_table() -> dict[int, Process]:
    """Read all processes."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for pid in pids if (process := read_process(pid))}


def is_supervisor(pid: int, run_id: str) -> bool:
    """Return whether a process is the running supervisor of a run, according to its environment.

    Files contain only its pid, which may belong to another process by now, or by intent.
    """
    deadline = time.monotonic() + _EXEC_SECONDS
    while (process := read_process(pid)) is not None and process.running:
        environment = _environment(pid)
        if environment != {b""} or time.monotonic() > deadline:
            return f"{SUPERVISOR_VARIABLE}={run_id}".encode() in environment
        time.sleep(0.001)
    return False


def send_to_supervisor(pid: int, run_id: str, number: int) -> None:
    """Send a signal to the supervisor of a run, but not to another process with its pid."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # gone, or a kernel before 5.3
        if is_supervisor(pid, run_id):
            send(pid, number)
        return
    try:
        if is_supervisor(pid, run_id):
            signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        os.close(descriptor)


def descendants(root: int, table: dict[int, Process]) -> list[int]:
    """Return the running descendants of `root`, without itself."""
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: list[int] = []
    pending = list(children.get(root, ()))
    while pending:
        pid = pending.pop()
        if table[pid].running:
            found.append(pid)
        pending.extend(children.get(pid, ()))
    return found


def strays(run_ids: Iterable[str], table: dict[int, Process]) -> list[int]:
    """Return the running processes of runs, anywhere in the process tree.

    A process belongs to a run if its environment names the run, if it descends from such a
    process, or if it shares a session with one.  The caller itself is never included.
    """
    wanted = {f"{RUN_ID_VARIABLE}={run_id}".encode() for run_id in run_ids}
    marked = {pid for pid in table if pid != os.getpid() and wanted & _environment(pid)}
    sessions = {table[pid].session for pid in marked}
    sessions -= {0, os.getsid(0)}
    found = set(marked)
    found.update(process.pid for process in table.values() if process.session in sessions)
    for pid in tuple(found):
        found.update(descendants(pid, table))
    found.discard(os.getpid())
    return [pid for pid in found if table[pid].running]


def end_strays(run_ids: Iterable[str]) -> None:
    """Kill all processes of runs."""
    known = [run_id for run_id in run_ids if run_id]
    if known:
        end_all(lambda: strays(known, process_table()), grace_seconds=0.0)


def _environment(pid: int) -> set[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return set(stream.read().split(b"\0"))
    except OSError:
        return set()


def shared_segments(pids: Iterable[int]) -> set[str]:
    """Return the names of the shared memory files that processes have mapped."""
    found: set[str] = set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as stream:
                lines = [line.rstrip("\n") for line in stream if _SHARED_MEMORY in line]
        except OSError:
            continue
        names = (line[line.index(_SHARED_MEMORY) :] for line in lines)
        found.update(name for name in names if not name.endswith(" (deleted)"))
    return found


def remove_segments(names: Iterable[str], since_unix_seconds: float) -> None:
    """Remove the caller's shared memory files that were created since a time.

    Killed ranks leave theirs behind, so many deadlocks would fill the memory.
    """
    for name in names:
        try:
            status = os.lstat(name)
            if status.st_uid == os.geteuid() and status.st_ctime >= since_unix_seconds:
                os.unlink(name)
        except OSError:
            continue


def send(pid: int, number: int) -> None:
    """Send a signal; ignore processes that have ended or belong to another user."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def end_all(
    find: Callable[[], list[int]],
    *,
    grace_seconds: float = TERM_GRACE_SECONDS,
    pause: Callable[[float], None] = time.sleep,
) -> list[int]:
    """End processes with SIGTERM and, after a grace period, SIGKILL until two checks find none.

    Args:
        find: Function that lists running processes; called repeatedly, since processes fork.
        grace_seconds: Time between SIGTERM and SIGKILL; 0 kills at once.
        pause: Function that waits between two checks (in which the supervisor reaps and drains).

    Returns:
        The processes that could not be ended (stuck in the kernel); normally empty.
    """
    left = find()
    if left and grace_seconds > 0:
        for pid in left:
            send(pid, signal.SIGTERM)
            send(pid, signal.SIGCONT)
        left = wait_for_end(find, grace_seconds, pause)
    deadline = time.monotonic() + KILL_DEADLINE_SECONDS
    confirmed = 0
    while confirmed < 2 and time.monotonic() < deadline:
        for pid in left:
            send(pid, signal.SIGKILL)
        pause(0.002)
        left = find()
        confirmed = 0 if left else confirmed + 1
    return left


def wait_for_end(
    find: Callable[[], list[int]], seconds: float, pause: Callable[[float], None]
) -> list[int]:
    """Check repeatedly until no process is found; return those left when the time is up."""
    deadline = time.monotonic() + seconds
    step = 0.005
    while (left := find()) and time.monotonic() < deadline:
        pause(step)
        step = min(2 * step, 0.05)
    return left
