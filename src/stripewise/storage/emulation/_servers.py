# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the counters of the servers of an emulated storage, and slows one of them down."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stripewise.core.errors import StorageError, UsageError
from stripewise.storage.emulation import _mapping
from stripewise.storage.emulation._mapping import METADATA_BYTES, TARGET_BYTES

# Counters of emulated servers: the blocks of a mapping, as values that can be added. The format is
# that of native/include/stripewise/emulate.h; a test compares the two.

SIZES = 24
TIMES = 16
TARGET_OPERATIONS = ("punch", "sync", "prealloc")
METADATA_OPERATIONS = (
    "open",
    "close",
    "mknod",
    "link",
    "unlink",
    "mkdir",
    "rmdir",
    "rename",
    "getattr",
    "setattr",
    "getxattr",
    "setxattr",
    "statfs",
    "sync",
)
_WRAPS = (1 << 64) - 1
_TALLY_WORDS = 5
_SUMS = 8
_TRANSFER_WORDS = _SUMS + SIZES + TIMES
_SPAN_WORDS = 2


class Tally(NamedTuple):
    """Samples of one quantity, in the unit that its holder names.

    Attributes:
        samples: Number of samples.
        total / least / most: Sum, minimum and maximum of the quantity.
        squares: Sum of the squares; wraps at 2^64 as in Lustre.
    """

    samples: int = 0
    total: int = 0
    squares: int = 0
    least: int = 0
    most: int = 0

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        """Return the sum of both."""
        if not (self.samples and other.samples):
            return self if self.samples else other
        return Tally(
            self.samples + other.samples,
            self.total + other.total,
            (self.squares + other.squares) & _WRAPS,
            min(self.least, other.least),
            max(self.most, other.most),
        )


class Transfers(NamedTuple):
    """Reads or writes of a target.

    Attributes:
        size_bytes: Sizes; time_us: durations at the target. Both have the same samples.
        sizes: Histogram; [i] is the number with more than 2^(i-1) and at most 2^i bytes.
        times: Histogram in whole milliseconds; [0]: below 2.
    """

    size_bytes: Tally = Tally()
    time_us: Tally = Tally()
    sizes: tuple[int, ...] = (0,) * SIZES
    times: tuple[int, ...] = (0,) * TIMES

    @property
    def samples(self) -> int:
        """Number of requests."""
        return self.size_bytes.samples

    def __add__(self, other: Transfers) -> Transfers:  # type: ignore[override]
        """Return the sum of both."""
        return Transfers(
            self.size_bytes + other.size_bytes,
            self.time_us + other.time_us,
            _added(self.sizes, other.sizes),
            _added(self.times, other.times),
        )


class Span(NamedTuple):
    """First and last time of counting, by CLOCK_MONOTONIC; 0 if there was none."""

    first_ns: int = 0
    last_ns: int = 0

    def __add__(self, other: Span) -> Span:  # type: ignore[override]
        """Return the span that covers both."""
        begun = [one.first_ns for one in (self, other) if one.first_ns]
        return Span(min(begun, default=0), max(self.last_ns, other.last_ns))


class TargetTallies(NamedTuple):
    """Counts of a target, or of one job on it; operations by Lustre's names, in microseconds."""

    span: Span
    reads: Transfers
    writes: Transfers
    operations: Mapping[str, Tally]

    def __add__(self, other: TargetTallies) -> TargetTallies:  # type: ignore[override]
        """Return the sum of both."""
        return TargetTallies(
            self.span + other.span,
            self.reads + other.reads,
            self.writes + other.writes,
            _together(self.operations, other.operations),
        )


class MetadataTallies(NamedTuple):
    """Counts of the metadata target, or of one job on it; as in `TargetTallies`."""

    span: Span
    operations: Mapping[str, Tally]

    def __add__(self, other: MetadataTallies) -> MetadataTallies:  # type: ignore[override]
        """Return the sum of both."""
        return MetadataTallies(
            self.span + other.span, _together(self.operations, other.operations)
        )


NO_TALLIES = TargetTallies(Span(), Transfers(), Transfers(), {})


def target_tallies(data: bytes) -> TargetTallies:
    """Read a target's part of a block, `TARGET_BYTES` bytes."""
    words = struct.unpack(f"<{TARGET_BYTES // 8}Q", data)
    begin = _SPAN_WORDS + 2 * _TRANSFER_WORDS
    return TargetTallies(
        Span(*words[:_SPAN_WORDS]),
        _transfers(words[_SPAN_WORDS : _SPAN_WORDS + _TRANSFER_WORDS]),
        _transfers(words[_SPAN_WORDS + _TRANSFER_WORDS : begin]),
        _operations(words[begin:], TARGET_OPERATIONS),
    )


def metadata_tallies(data: bytes) -> MetadataTallies:
    """Read the metadata target's part of a block, `METADATA_BYTES` bytes."""
    words = struct.unpack(f"<{METADATA_BYTES // 8}Q", data)
    return MetadataTallies(
        Span(*words[:_SPAN_WORDS]), _operations(words[_SPAN_WORDS:], METADATA_OPERATIONS)
    )


def _transfers(words: tuple[int, ...]) -> Transfers:
    sizes = words[_SUMS : _SUMS + SIZES]
    samples = sum(sizes)
    return Transfers(
        _tally(samples, *words[:4]),
        _tally(samples, *words[4:_SUMS]),
        sizes,
        words[_SUMS + SIZES :],
    )


def _operations(words: tuple[int, ...], names: Iterable[str]) -> dict[str, Tally]:
    return {
        name: _tally(*words[i * _TALLY_WORDS : (i + 1) * _TALLY_WORDS])
        for i, name in enumerate(names)
    }


def _tally(samples: int, total: int, squares: int, under: int, most: int) -> Tally:
    """Return a tally; `under` is 2^64 - 1 minus the minimum, or 0 without one."""
    return Tally(samples, total, squares, _WRAPS - under if under else 0, most)


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _together(one: Mapping[str, Tally], other: Mapping[str, Tally]) -> dict[str, Tally]:
    return {name: tally + other[name] for name, tally in one.items()}


# Servers of an emulated storage: their counters, and how one of them is slowed down.

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_FACTOR = 1e6
_TRIES = 100
_REST = 0
"""Block of the requests that belong to no job."""


class JobCounters(NamedTuple):
    """Counts of one job; targets by their number, only those that it used."""

    targets: Mapping[int, TargetTallies]
    metadata: MetadataTallies


class ServerCounters(NamedTuple):
    """Counts of the servers of an emulated storage.

    Attributes:
        fs: Name of the file system.
        targets: Counts of the targets by number.
        metadata: Counts of the one metadata target.
        jobs: Counts of jobs, by id in the form of a Lustre client.
        uncounted_processes: Processes of jobs beyond the maximum, counted only by the targets.
    """

    fs: str
    targets: tuple[TargetTallies, ...]
    metadata: MetadataTallies
    jobs: Mapping[str, JobCounters]
    uncounted_processes: int


class Servers:
    """A mapping that is open for reading; every value is read when it is requested.

    Attributes:
        fs: Name of the file system; root: directory that contains its files.
        n_targets / n_nodes: Number of targets and virtual nodes.
        began_ns: Time when the mapping was created, in nanoseconds since 1970.
        jobid_var / jobid_name: How clients identify jobs.
    """

    def __init__(self, path: Path) -> None:
        """Open a mapping.

        Raises:
            StorageError: It cannot be read, or is not a mapping of this version.
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
        """Close the mapping."""
        os.close(self._descriptor)

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def job_blocks(self) -> dict[str, int]:
        """Return the numbers of the jobs' blocks by job id."""
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
        """Return the counts of a target in one block."""
        return target_tallies(
            self._read(block, number * _mapping.TARGET_BYTES, _mapping.TARGET_BYTES)
        )

    def metadata(self, block: int) -> MetadataTallies:
        """Return the counts of the metadata target in one block."""
        offset = self.n_targets * _mapping.TARGET_BYTES
        return metadata_tallies(self._read(block, offset, _mapping.METADATA_BYTES))

    def whole_target(self, number: int) -> TargetTallies:
        """Return all counts of a target, with or without a job."""
        found = self.target(number, _REST)
        for block in self.job_blocks().values():
            found += self.target(number, block)
        return found

    def whole_metadata(self) -> MetadataTallies:
        """Return all counts of the metadata target, with or without a job."""
        found = self.metadata(_REST)
        for block in self.job_blocks().values():
            found += self.metadata(block)
        return found

    def job(self, block: int) -> JobCounters:
        """Return the counts of a job."""
        targets = {number: self.target(number, block) for number in range(self.n_targets)}
        used = {number: one for number, one in targets.items() if one.span.first_ns}
        return JobCounters(used, self.metadata(block))

    def counters(self) -> dict[str, int]:
        """Return the counters of the whole storage by name, times in nanoseconds.

        Waiting times are in "limit.process" and so on.
        """
        return _mapping.read_counters(self._descriptor)

    def _read(self, block: int, offset: int, size: int) -> bytes:
        """Read until two reads agree, as the counters of one request are updated one by one."""
        at = self._places.tallies + self._places.tally_bytes * block + offset
        before, data = None, os.pread(self._descriptor, size, at)
        for _ in range(_TRIES):
            if data == before:
                break
            before, data = data, os.pread(self._descriptor, size, at)
        return data.ljust(size, b"\0")


def read_servers(path: Path) -> ServerCounters:
    """Return the counts of the servers of an emulated storage so far.

    Requests that end meanwhile may be in one counter and not yet in another.

    Args:
        path: Path of the mapping, as in `make_clocks` or `Emulation.path`.

    Raises:
        StorageError: It cannot be read, or is not a mapping of this version.
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
    """Slow one target down from now on, or restore its described speed.

    Args:
        path: Path of the mapping; processes that already use it are affected too.
        target: Number of the target, from 0.
        factor: Factor on the time of its requests: 2.0 is half as fast, 1.0 as described.

    Raises:
        UsageError: There is no such target, or the factor is not above 0 and at most 10^6.
        StorageError: The mapping cannot be changed, or has another version.
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
    """Change how new programs identify their jobs; an empty argument keeps the setting.

    Raises:
        UsageError: A value is too long.
        StorageError: The mapping cannot be changed, or has another version.
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
    """Return the difference between nanoseconds since 1970 and CLOCK_MONOTONIC."""
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
        raise StorageError(f"{path} is not a mapping of an emulated storage; make it again")
    fields = _mapping.HEADER.unpack(data)
    if fields[1] != _mapping.VERSION:
        raise StorageError(
            f"{path} is a mapping of version {fields[1]}, and this is for {_mapping.VERSION}; "
            "make it again"
        )
    return fields
