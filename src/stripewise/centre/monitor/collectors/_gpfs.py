# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads clients of GPFS (IBM Storage Scale) from mmpmon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    Collector,
    CollectorSettings,
    Command,
    Names,
    Problem,
    Seconds,
    damages,
    once,
    partial_output,
    shown,
    whole,
    whole_lines,
)

_REQUEST = b"fs_io_s\n"
_MOST_FILE_SYSTEMS = 256
"""Limit on the number of labels, whatever mmpmon answers (assumed: clusters have some tens)."""
_OF_RIGHTS = ("root", "permission", "not permitted", "authori")
"""Words in mmpmon's messages to users who lack permission."""


class GpfsSettings(CollectorSettings):
    """Settings in [collectors.gpfs].

    Attributes:
        mmpmon: Absolute path of the command.
        timeout_seconds: Time after which it is killed.
    """

    mmpmon: Command = "/usr/lpp/mmfs/bin/mmpmon"
    timeout_seconds: Seconds = 10.0


class Gpfs(Collector):
    """Counters of GPFS file systems on this node since they were mounted.

    They count what programs of this node requested, including what the node's cache answered, but
    not what other nodes do. What is counted between the last reading and an unmount is lost, and
    `mmpmon reset` by anybody sets the counters to zero. Only root may run mmpmon, and at most five
    instances of it run on a node at once.
    """

    name = "gpfs"
    summary = "GPFS file systems of this node, from mmpmon"
    metrics = metrics.metrics_named("gpfs_")
    settings_class = GpfsSettings
    settings: GpfsSettings

    def __init__(self, settings: GpfsSettings) -> None:
        """Store the settings."""
        super().__init__(settings)
        self._names = Names({}, _MOST_FILE_SYSTEMS)

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read, or ""."""
        command = self.settings.mmpmon
        if host.names(command):
            return ""
        return f"{command} is not there: give its path as `mmpmon` of [collectors.gpfs]"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Query mmpmon once."""
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
            words = (self.settings.mmpmon, "-p")
            return partial_output(host, words, self.settings.timeout_seconds, _REQUEST)
        except HostError as error:
            raise _clearer(error) from error


def _clearer(error: HostError) -> HostError:
    """Return an error that contains the remedy if a user other than root ran mmpmon."""
    text = str(error)
    is_of_rights = any(word in text.lower() for word in _OF_RIGHTS)
    if error.reason != "denied" and not (error.reason == "error" and is_of_rights):
        return error
    remedy = "let root run the agent"
    if os.geteuid() == 0:
        remedy = "root runs the agent without the capabilities it needs, as in a container"
    return HostError("denied", f"{text}: mmpmon is for root alone; {remedy}")


def _readings(line: GpfsLine, name: str) -> Iterator[Reading]:
    yield Reading(metrics.GPFS_READ_BYTES, (name,), line.read_bytes)
    yield Reading(metrics.GPFS_WRITE_BYTES, (name,), line.write_bytes)
    for operation, count in line.operations.items():
        yield Reading(metrics.GPFS_OPERATIONS, (name, operation), count)


# Answer of `mmpmon -p` to `fs_io_s`: counters of GPFS file systems on this node.
#
# There is one line for each mounted file system, with keywords and values: `_n_` and `_nn_` the
# node, `_rc_` the status, `_cl_` and `_fs_` cluster and file system, `_d_` disks, `_br_` and
# `_bw_` bytes read and written, `_oc_`, `_cc_`, `_rdc_`, `_wc_`, `_dir_`, `_iu_` calls. The
# counters start when the file system is mounted, and at `reset`. Lines with other keywords
# (`_ver_`, `_response_`, `_mmpmon::`) belong to other requests.
#
# Source: IBM Storage Scale 6.0.1, "Display I/O statistics per mounted file system".

_KEYWORD = "_fs_io_s_"
_OPERATIONS = {
    "_oc_": "open", "_cc_": "close", "_rdc_": "read", "_wc_": "write", "_dir_": "readdir",
    "_iu_": "inode_update",
}  # fmt: skip
_NONE = "-"
_OTHERS = ("_ver_", "_response_", "_mmpmon", "_io_s_", "_reset_", "_nlist_", "_rhist_", "_error_")


class GpfsLine(NamedTuple):
    """Counters of one file system.

    Attributes:
        cluster / fs: Names of cluster and file system in GPFS, the latter without "/dev/".
        read_bytes, write_bytes: Bytes moved for programs, including those from and to the cache.
        operations: Counts by our names: open, close, read, write, readdir, inode_update.
    """

    cluster: str
    fs: str
    read_bytes: int
    write_bytes: int
    operations: dict[str, int]


def read_fs_io_s(text: str) -> tuple[list[GpfsLine], list[str]]:
    """Parse the answer.

    Returns:
        File systems, and what was left out, one sentence each; both are [] if none is mounted.
    """
    found: list[GpfsLine] = []
    lines, problems = whole_lines(text)
    for number, line in enumerate(lines, 1):
        words = line.strip(" ").split(" ")
        if not words[0] or words[0].startswith(_OTHERS):
            continue
        try:
            if words[0] != _KEYWORD:
                raise ValueError(f"{shown(words[0])} is not an answer to fs_io_s")
            if (one := _line(words[1:])) is not None:
                found.append(one)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: f"{one.cluster}:{one.fs}")
    return kept, problems + doubled


def _line(words: list[str]) -> GpfsLine | None:
    """Return the counters in one line, or None if no file system is mounted."""
    values = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or len(values) < len(words) // 2:
        raise ValueError("keywords and values that are not pairs")
    if values.get("_fs_") == _NONE:
        return None
    if values.get("_rc_") != "0":
        raise ValueError(f"status {shown(values.get('_rc_', 'none'))}")
    fs = values.get("_fs_", "").removeprefix("/dev/")
    cluster = values.get("_cl_", "")
    if not (_is_name(fs) and _is_name(cluster)):
        raise ValueError(f"{shown(fs)} of {shown(cluster)} is not the name of a file system")
    return GpfsLine(
        *(cluster, fs, whole(values.get("_br_", "")), whole(values.get("_bw_", ""))),
        {name: whole(values.get(key, "")) for key, name in _OPERATIONS.items()},
    )


def _is_name(word: str) -> bool:
    return 0 < len(word) <= 128 and "/" not in word and word.isprintable()
