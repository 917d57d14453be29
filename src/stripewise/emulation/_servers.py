# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The servers of an emulated storage: what they counted, and one of them made slow."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stripewise.emulation import _mapping
from stripewise.emulation._tallies import (
    MetadataTallies,
    TargetTallies,
    metadata_tallies,
    target_tallies,
)
from stripewise.errors import StorageError, UsageError

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_FACTOR = 1e6
_TRIES = 100
_REST = 0
"""Block of the requests that are no job's."""


class JobCounters(NamedTuple):
    """What one job did; targets by their number, those that it used."""

    targets: Mapping[int, TargetTallies]
    metadata: MetadataTallies


class ServerCounters(NamedTuple):
    """What the servers of an emulated storage counted.

    Attributes:
        fs: Name of the file system.
        targets: By their number.
        metadata: Of the one metadata target.
        jobs: By their ids as a client of Lustre makes them.
        uncounted_processes: Whose job had no room: they are in the targets' counters alone.
    """

    fs: str
    targets: tuple[TargetTallies, ...]
    metadata: MetadataTallies
    jobs: Mapping[str, JobCounters]
    uncounted_processes: int


class Servers:
    """A mapping that is open for reading; what is asked for is read at that moment.

    Attributes:
        fs: Name of the file system; root: directory below which its files are.
        n_targets / n_nodes: How many there are.
        began_ns: When the mapping was made, in nanoseconds since 1970.
        jobid_var / jobid_name: How clients tell jobs apart.
    """

    def __init__(self, path: Path) -> None:
        """Open a mapping.

        Raises:
            StorageError: It cannot be read, or is no mapping of this version.
        """
        self._descriptor = _open(path, os.O_RDONLY)
        try:
            fields = _header(self._descriptor, path)
        except BaseException:
            self.close()
            raise
        self.n_targets, self.n_nodes = fields[4], fields[5]
        self._jobs = fields[-2]
        self._places = _mapping.places(
            self.n_targets, self.n_nodes, fields[8], fields[9], self._jobs
        )
        self.began_ns: int = fields[-3]
        texts = (os.fsdecode(one.partition(b"\0")[0]) for one in fields[-7:-3])
        self.root, self.fs, self.jobid_var, self.jobid_name = texts

    def close(self) -> None:
        """Let go of the mapping."""
        os.close(self._descriptor)

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def job_blocks(self) -> dict[str, int]:
        """Return the ids of jobs with the numbers of their blocks."""
        size = _mapping.JOB_BYTES * self._jobs
        table = os.pread(self._descriptor, size, self._places.jobs)
        found = {}
        for number in range(self._jobs):
            at = number * _mapping.JOB_BYTES + 8
            name = table[at : at + _mapping.JOB_ID_BYTES].partition(b"\0")[0]
            if name:
                found[os.fsdecode(name)] = number + 1
        return found

    def target(self, number: int, block: int) -> TargetTallies:
        """Return what one block has of a target."""
        return target_tallies(
            self._read(block, number * _mapping.TARGET_BYTES, _mapping.TARGET_BYTES)
        )

    def metadata(self, block: int) -> MetadataTallies:
        """Return what one block has of the metadata target."""
        offset = self.n_targets * _mapping.TARGET_BYTES
        return metadata_tallies(self._read(block, offset, _mapping.METADATA_BYTES))

    def whole_target(self, number: int) -> TargetTallies:
        """Return what a target counted, of jobs and of others."""
        found = self.target(number, _REST)
        for block in self.job_blocks().values():
            found += self.target(number, block)
        return found

    def whole_metadata(self) -> MetadataTallies:
        """Return what the metadata target counted, of jobs and of others."""
        found = self.metadata(_REST)
        for block in self.job_blocks().values():
            found += self.metadata(block)
        return found

    def job(self, block: int) -> JobCounters:
        """Return what a job did."""
        targets = {number: self.target(number, block) for number in range(self.n_targets)}
        used = {number: one for number, one in targets.items() if one.span.first_ns}
        return JobCounters(used, self.metadata(block))

    def counters(self) -> dict[str, int]:
        """Return the counters of the whole storage, as `read_clocks` does."""
        return _mapping.read_counters(self._descriptor)

    def _read(self, block: int, offset: int, size: int) -> bytes:
        """Read until nothing changes meanwhile: counters of one request are added one by one."""
        at = self._places.tallies + self._places.tally_bytes * block + offset
        before, data = None, os.pread(self._descriptor, size, at)
        for _ in range(_TRIES):
            if data == before:
                break
            before, data = data, os.pread(self._descriptor, size, at)
        return data.ljust(size, b"\0")


def read_servers(path: Path) -> ServerCounters:
    """Return what the servers of an emulated storage counted so far.

    Requests that end meanwhile may be in one counter and not yet in another.

    Args:
        path: Of the mapping, as `make_clocks` wrote it or as `Emulation.path` names it.

    Raises:
        StorageError: It cannot be read, or is no mapping of this version.
    """
    with Servers(path) as servers:
        jobs = {name: servers.job(block) for name, block in servers.job_blocks().items()}
        targets = [servers.target(number, _REST) for number in range(servers.n_targets)]
        metadata = servers.metadata(_REST)
        for job in jobs.values():
            metadata += job.metadata
            for number, one in job.targets.items():
                targets[number] += one
        return ServerCounters(
            servers.fs, tuple(targets), metadata, jobs, servers.counters()["jobs_full"]
        )


def set_target_factor(path: Path, target: int, factor: float) -> None:
    """Make one target slower from now on, or as fast as it is described again.

    Args:
        path: Of the mapping; processes that use it already follow.
        target: Its number, from 0.
        factor: How many times as long its requests take: 2.0 is half as fast, 1.0 as described.

    Raises:
        UsageError: There is no such target, or the factor is not above 0 and at most 10^6.
        StorageError: The mapping cannot be changed, or is none of this version.
    """
    if not 0 < factor <= _MOST_FACTOR:
        raise UsageError(f"factor {factor:g}: it must be above 0 and at most 1e6")
    descriptor = _open(path, os.O_RDWR)
    try:
        fields = _header(descriptor, path)
        if not 0 <= target < fields[4]:
            raise UsageError(f"target {target}: the storage has 0 to {fields[4] - 1}")
        found = _mapping.places(fields[4], fields[5], fields[8], fields[9], fields[-2])
        os.pwrite(descriptor, struct.pack("<d", factor), found.factors + 8 * target)
    finally:
        os.close(descriptor)


def set_job_names(path: Path, *, jobid_var: str = "", jobid_name: str = "") -> None:
    """Change how programs that begin from now on tell their jobs; "": as it is.

    Raises:
        UsageError: One is too long.
        StorageError: The mapping cannot be changed, or is none of this version.
    """
    wanted = (
        (_mapping.JOBID_VAR_OFFSET, "jobid_var", jobid_var),
        (_mapping.JOBID_NAME_OFFSET, "jobid_name", jobid_name),
    )
    texts = [(at, _mapping.job_id_text(name, text)) for at, name, text in wanted if text]
    descriptor = _open(path, os.O_RDWR)
    try:
        _header(descriptor, path)
        for offset, text in texts:
            os.pwrite(descriptor, text.ljust(_mapping.JOB_ID_BYTES, b"\0"), offset)
    finally:
        os.close(descriptor)


def clock_offset_ns() -> int:
    """Return what is added to a moment of CLOCK_MONOTONIC to get nanoseconds since 1970."""
    return time.time_ns() - time.monotonic_ns()


def _open(path: Path, mode: int) -> int:
    try:
        return os.open(path, mode | _FLAGS)
    except OSError as error:
        raise StorageError(
            f"cannot read {path}: {error.strerror}; see that the emulated storage is there"
        ) from error


def _header(descriptor: int, path: Path) -> tuple[Any, ...]:
    data = os.pread(descriptor, _mapping.HEADER.size, 0)
    if len(data) < _mapping.HEADER.size or not data.startswith(_mapping.MAGIC):
        raise StorageError(f"{path} is no mapping of an emulated storage; make it again")
    fields = _mapping.HEADER.unpack(data)
    if fields[1] != _mapping.VERSION:
        raise StorageError(
            f"{path} is a mapping of version {fields[1]}, and this is for {_mapping.VERSION}; "
            "make it again"
        )
    return fields
