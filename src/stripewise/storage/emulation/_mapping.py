# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the mapping that processes of an emulated run share, and creates lasting mappings.

The format is that of native/include/stripewise/emulate.h; a test compares the two.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stripewise.core.errors import StorageError, UsageError

if TYPE_CHECKING:
    from stripewise.storage.emulation._storage import EmulatedStorage


MAGIC = b"SWEMULAT"
VERSION = 3
HEADER_BYTES = 4096
COUNTERS_BYTES = 512
ROOT_BYTES = 3072
FIGURES_ROOM = 64
CLOCKS_FIXED = 8
FILE_BYTES = 64
OBJECT_BYTES = 64
FILES = 1024
OBJECTS = 16384
"""Maximum number of files and stripe objects with clocks of their own; others share clocks."""
JOBS = 1024
"""Maximum number of jobs that servers distinguish; others count only for the targets."""
JOB_BYTES = 64
JOB_ID_BYTES = 32
PAGE_BYTES = 4096
TARGET_BYTES = 1024
METADATA_BYTES = 640
FS_BYTES = 16
JOBID_VAR = "SLURM_JOB_ID"
JOBID_NAME = "%e.%u"
FLAG_LUSTRE = 1
FLAG_PRIVATE = 2

FIGURES = (
    "client.process_write",
    "client.process_read",
    "client.file_write",
    "client.file_read",
    "client.turns",
    "client.sharing",
    "client.node_write",
    "client.node_read",
    "client.request",
    "servers.target_write",
    "servers.target_read",
    "servers.target_request",
    "servers.jitter",
    "servers.whole_write",
    "servers.whole_read",
    "locks.revoke",
    "locks.ahead",
    "locks.hold",
    "locks.extent",
    "locks.page",
    "locks.page_size",
    "exchange.round",
    "exchange.rank",
    "exchange.bandwidth",
    "metadata.open",
    "metadata.create",
    "metadata.stat",
    "metadata.remove",
    "metadata.object",
    "metadata.latency",
    "metadata.growth",
    "servers.slow_share",
    "servers.slow_target",
)
COUNTERS = (
    "processes",
    "writes",
    "reads",
    "written_bytes",
    "read_bytes",
    "metadata",
    "exchanges",
    "held",
    "held_ns",
    "model_ns",
    "late",
    "late_ns",
    "mapped",
    "rings",
    "tables_full",
    "stripes_cut",
    "layouts_refused",
    "layouts_unkept",
    "static_programs",
    "jobs_full",
)
LIMITS = (
    "request",
    "exchange",
    "lock",
    "process",
    "file",
    "node",
    "target",
    "whole",
    "metadata",
)
"""Resources that a request may wait for."""

_BEFORE_ROOT = f"<8sIIQIIIIIIiIQdQ{FIGURES_ROOM}d"
HEADER = struct.Struct(f"{_BEFORE_ROOT}{ROOT_BYTES}s{FS_BYTES}s{JOB_ID_BYTES}s{JOB_ID_BYTES}sQII")
_WORDS = struct.Struct(f"<{len(COUNTERS) + len(LIMITS)}Q")
_NEXT_TARGET = HEADER_BYTES + COUNTERS_BYTES + 2 * 8
"""Offset of SW_CLOCK_NEXT_TARGET."""
_ROOT_OFFSET = struct.calcsize(_BEFORE_ROOT)
JOBID_VAR_OFFSET = _ROOT_OFFSET + ROOT_BYTES + FS_BYTES
JOBID_NAME_OFFSET = JOBID_VAR_OFFSET + JOB_ID_BYTES


class Places(NamedTuple):
    """Offsets of the parts of a mapping, in bytes.

    Attributes:
        factors: Factors of the targets; jobs: table of job ids; tallies: blocks of counters.
        tally_bytes: Size of one block; size: size of the mapping.
    """

    factors: int
    jobs: int
    tallies: int
    tally_bytes: int
    size: int


def places(targets: int, nodes: int, files: int, objects: int, jobs: int) -> Places:
    """Return the offsets of the parts; the numbers are those of the header."""
    clocks = 8 * (CLOCKS_FIXED + targets + nodes + files * nodes)
    factors = HEADER_BYTES + COUNTERS_BYTES + _padded(clocks, 64)
    factors += FILE_BYTES * files + OBJECT_BYTES * objects
    table = factors + _padded(8 * targets, 64)
    tallies = _padded(table + JOB_BYTES * jobs, PAGE_BYTES)
    block = _padded(TARGET_BYTES * targets + METADATA_BYTES, PAGE_BYTES)
    return Places(factors, table, tallies, block, tallies + block * (1 + jobs))


def _padded(size: int, grain: int) -> int:
    return (size + grain - 1) // grain * grain


def mapping_bytes(targets: int, nodes: int) -> int:
    """Return the size of a mapping; most of it takes no memory before jobs use it."""
    return places(targets, nodes, FILES, OBJECTS, JOBS).size


def header(
    storage: EmulatedStorage,
    root: str,
    environment: Mapping[str, str],
    run_id: str,
    ranks: int = 0,
    jobid_var: str = JOBID_VAR,
    jobid_name: str = JOBID_NAME,
) -> bytes:
    """Return the header of a mapping.

    Args:
        storage: Storage to emulate.
        root: Real path of the directory that contains its files.
        environment: Environment of the run, which can choose the transport.
        run_id: Identifier of the run; the noise depends on it.
        ranks: Number of ranks of the run, as one virtual node uses no network; 0 if unknown.
        jobid_var: How clients identify jobs: Lustre's parameter of that name.
        jobid_name: Lustre's parameter of that name, likewise.

    Raises:
        UsageError: The path is too long.
    """
    path = os.fsencode(root)
    if len(path) >= ROOT_BYTES:
        raise UsageError(f"{root}: the path is too long to be emulated; give a shorter --root")
    options = storage.options
    nodes = ceil(ranks / options.ranks_per_node)
    described = storage.storage.over(storage.transport(environment), nodes)
    lustre = FLAG_LUSTRE if storage.has_driver else 0
    figures = [described.value(name) for name in FIGURES]
    return HEADER.pack(
        MAGIC,
        VERSION,
        lustre | (FLAG_PRIVATE if options.private else 0),
        mapping_bytes(storage.targets, storage.nodes),
        storage.targets,
        storage.nodes,
        options.ranks_per_node,
        0,
        FILES,
        OBJECTS,
        storage.striping.stripe_count,
        len(FIGURES),
        storage.striping.stripe_size,
        storage.noise_factor(run_id),
        options.seed % (1 << 64),
        *figures,
        *[0.0] * (FIGURES_ROOM - len(FIGURES)),
        path,
        file_system_name(options.machine).encode(),
        job_id_text("jobid_var", jobid_var),
        job_id_text("jobid_name", jobid_name),
        time.time_ns(),
        JOBS,
        0,
    )


def file_system_name(machine: str) -> str:
    """Return a valid name of a Lustre file system, at most 8 letters and digits: "archer2h"."""
    stem = os.path.basename(machine.partition("@")[0]).partition(".")[0]
    return "".join(c for c in stem if c.isascii() and c.isalnum())[:8] or "emulated"


def job_id_text(name: str, value: str) -> bytes:
    """Return the bytes of `jobid_var` or `jobid_name` in a header.

    Raises:
        UsageError: The value is too long.
    """
    data = os.fsencode(value)
    if len(data) >= JOB_ID_BYTES:
        raise UsageError(
            f"{name} = {value}: longer than {JOB_ID_BYTES - 1} characters, which Lustre does not "
            "take; give a shorter one"
        )
    return data


def write_mapping(descriptor: int, head: bytes, first: int = 0) -> None:
    """Turn an empty file into a mapping; its space is allocated at once, except for jobs.

    Args:
        descriptor: Descriptor of the file.
        head: Header as returned by `header`.
        first: Target of the first new file.

    Raises:
        StorageError: There is not enough space for it.
    """
    fields = HEADER.unpack(head)
    found = places(fields[4], fields[5], fields[8], fields[9], fields[-2])
    size = found.tallies + found.tally_bytes
    try:
        os.posix_fallocate(descriptor, 0, size)
        os.ftruncate(descriptor, found.size)
        os.pwrite(descriptor, head, 0)
        os.pwrite(descriptor, struct.pack("<Q", first), _NEXT_TARGET)
    except OSError as error:
        raise StorageError(
            f"no space for the clocks of an emulation ({size >> 10} KiB of shared memory): "
            f"{error.strerror}"
        ) from error


def read_root(descriptor: int) -> str:
    """Return the root of a mapping; empty if it is not one, or not complete yet."""
    data = os.pread(descriptor, HEADER.size, 0)
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        return ""
    return os.fsdecode(data[_ROOT_OFFSET : _ROOT_OFFSET + ROOT_BYTES].rstrip(b"\0"))


def read_counters(descriptor: int) -> dict[str, int]:
    """Return the counters by name; those of the limits are named "limit.process" and so on."""
    data = os.pread(descriptor, _WORDS.size, HEADER_BYTES)
    values = _WORDS.unpack(data.ljust(_WORDS.size, b"\0"))
    return dict(zip((*COUNTERS, *(f"limit.{name}" for name in LIMITS)), values, strict=True))


# Mappings that outlast a process: those of a storage that many jobs use.

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OWNER_ONLY = 0o600


def make_clocks(
    storage: EmulatedStorage,
    root: Path,
    path: Path,
    *,
    ranks: int = 0,
    environment: Mapping[str, str] = os.environ,
    jobid_var: str = JOBID_VAR,
    jobid_name: str = JOBID_NAME,
) -> None:
    """Write the mapping of a storage that lasts until somebody removes the file.

    Unlike `Emulation.begin` this claims nothing: the caller must ensure that there is one mapping
    per directory. Processes use it when `STRIPEWISE_EMULATE` names the file, either by itself or
    in a list with colons. Its clocks are moments of CLOCK_MONOTONIC, which restarts with the host:
    a mapping does not survive that, nor can two hosts share one.

    Args:
        storage: Storage to emulate.
        root: Directory; files below it are on that storage.
        path: Path of the file, which must not exist yet; only its owner can use it (mode 0600).
        ranks: Number of ranks of the jobs, as one virtual node uses no network; 0 if unknown.
        environment: Environment of the jobs, which can choose the transport.
        jobid_var: How clients identify jobs, as Lustre's parameter of that name: a variable of the
            environment, "procname_uid", "nodelocal" or "disable".
        jobid_name: Identification of jobs if that variable is not set: %e program, %u user, %g
            group, %h host, %H without its domain, %p process, %j value of the variable.

    Raises:
        UsageError: The root is not a directory, its path is too long, `path` cannot be passed, or
            `jobid_var` or `jobid_name` is too long.
        StorageError: The file cannot be created, or there is not enough space for it.
    """
    real = Path(os.path.realpath(root))
    if not real.is_dir():
        raise UsageError(f"{root} is not a directory; a storage system needs one for its files")
    if ":" in str(path):
        raise UsageError(f"{path}: a file with a colon cannot be passed in a list; rename it")
    head = header(storage, str(real), environment, "", ranks, jobid_var, jobid_name)
    try:
        descriptor = os.open(path, _NEW, _OWNER_ONLY)
    except OSError as error:
        raise StorageError(
            f"cannot make {path}: {error.strerror}; remove it, or choose another place"
        ) from error
    try:
        write_mapping(descriptor, head)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(descriptor)
