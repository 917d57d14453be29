# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directories: file system, striping, room, clock."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from stripewise.inputs import parse_json
from stripewise.machines import mount_in
from stripewise.site._base import Answer, Host, Probe, Section

LOOK = """
import json, os, sys, tempfile, time
place = os.path.realpath(sys.argv[1])
found = {"real": place}
try:
    room = os.statvfs(place)
    found["free_bytes"] = room.f_bavail * room.f_frsize
    found["total_bytes"] = room.f_blocks * room.f_frsize
    handle, name = tempfile.mkstemp(prefix=".stripewise-clock-", dir=place)
    try:
        before = time.time()
        os.write(handle, b"x")
        os.fsync(handle)
        changed = os.fstat(handle).st_mtime
        found["clock"] = [before, changed, time.time()]
    finally:
        os.close(handle)
        os.unlink(name)
except OSError as error:
    found["problem"] = error.strerror
print(json.dumps(found))
"""
"""Run as a process of its own: a file system that does not answer holds only that one up."""
_STRIPE = re.compile(r"(\w+):\s*(\S+)")
_DF = re.compile(r"(?:\S*[-_])?(OST|MDT)[0-9a-f]{4}\S*\s+(\d+)?")
_GRAIN_SECONDS = 0.011
"""File systems stamp with the kernel's tick; assumed: 100 Hz."""


class DirectoriesProbe(Probe):
    """Each of the user's directories."""

    name = "directories"
    summary = "file system, default striping, room and clock of each directory"

    def run(self, host: Host) -> Section:
        """Look at each; a file is made in it and removed again."""
        return {"list": [_directory(host, path) for path in host.directories]}


def _directory(host: Host, path: Path) -> Section:
    answer = host.ask(sys.executable, "-I", "-c", LOOK, str(path))
    found = {"path": str(path), **looked(answer)}
    mount = mount_in(host.read("/proc/self/mountinfo"), found.pop("real", "") or str(path))
    found["file_system"] = mount.kind
    found["source"] = mount.source.rpartition(":")[2]
    found["parallel"] = mount.is_parallel
    if "problem" in found:
        return found
    if mount.kind == "lustre":
        layout = host.ask("lfs", "getstripe", "-d", str(path))
        found["striping"] = {**stripe_facts(layout.text), **layout.failure()}
        room = host.ask("lfs", "df", str(path))
        found["targets"] = {**target_facts(room.text), **room.failure()}
    elif mount.kind.startswith("beegfs"):
        found["striping"] = _said(host.ask("beegfs-ctl", "--getentryinfo", str(path)))
    elif mount.kind == "gpfs":
        found["striping"] = _said(host.ask("mmlsattr", "-L", str(path)))
    return found


def looked(answer: Answer) -> Section:
    """Return what the look at a directory printed, its clock's offset as seconds."""
    if not answer.ok:
        return answer.failure()
    try:
        found = parse_json(answer.text)
    except ValueError:
        return {"problem": "unreadable answer"}
    if not isinstance(found, dict):
        return {"problem": "unreadable answer"}
    if clock := found.pop("clock", None):
        found["clock_offset_seconds"] = clock_offset(*clock)
    return dict(found)


def clock_offset(before: float, changed: float, after: float) -> float:
    """Return by how much a file server's clock is ahead of ours, seconds; 0: cannot be told apart.

    A write between `before` and `after` was stamped `changed`.
    """
    if changed > after:
        return round(changed - after, 3)
    late = before - _GRAIN_SECONDS - changed
    return round(-late, 3) if late > 0 else 0.0


def stripe_facts(text: str) -> Section:
    """Return the figures of `lfs getstripe -d`, and its text for layouts of several parts."""
    pairs = dict(_STRIPE.findall(text.replace("lmm_", "")))
    keys = ("stripe_count", "stripe_size", "stripe_offset", "pool")
    found: Section = {key: pairs[key] for key in keys if key in pairs}
    found["text"] = text[:4000]
    return found


def target_facts(text: str) -> Section:
    """Return how many targets `lfs df` lists, and those that do not answer."""
    kinds = {"OST": 0, "MDT": 0}
    silent = 0
    for line in text.splitlines():
        if found := _DF.match(line):
            kinds[found.group(1)] += 1
            silent += found.group(2) is None
    return {"osts": kinds["OST"], "mdts": kinds["MDT"], "inactive": silent}


def _said(answer: Answer) -> Section:
    return {"text": answer.text[:4000], **answer.failure()}
