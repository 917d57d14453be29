# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Mappings that outlast a process: those of a storage that many jobs use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from stripewise.emulation import _mapping
from stripewise.emulation._storage import EmulatedStorage
from stripewise.errors import StorageError, UsageError

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_OWNER_ONLY = 0o600


def make_clocks(
    storage: EmulatedStorage,
    root: Path,
    path: Path,
    *,
    ranks: int = 0,
    environment: Mapping[str, str] = os.environ,
    jobid_var: str = _mapping.JOBID_VAR,
    jobid_name: str = _mapping.JOBID_NAME,
) -> None:
    """Write the mapping of a storage that lasts until somebody removes the file.

    Unlike `Emulation.begin` this claims nothing: whoever calls it sees to it that there is one
    mapping for a directory. Processes use it when `STRIPEWISE_EMULATE` names the file, alone or
    in a list with colons. Its clocks are moments of CLOCK_MONOTONIC, which begins anew when the
    host starts: a mapping does not survive that, nor can two hosts share one.

    Args:
        storage: To be emulated.
        root: Directory; files below it are on that storage.
        path: Of the file, which must not exist yet; only its owner can use it (mode 0600).
        ranks: Of the jobs: on one virtual node the network is not used; 0: not known.
        environment: Of the jobs: it can choose the transport.
        jobid_var: How clients tell jobs apart, as Lustre's parameter of that name: a variable of
            the environment, "procname_uid", "nodelocal" or "disable".
        jobid_name: What they say where that variable is not set: %e program, %u user, %g group,
            %h host, %H without its domain, %p process, %j value of the variable.

    Raises:
        UsageError: The root is no directory, its path is too long, `path` cannot be passed, or
            `jobid_var` or `jobid_name` is too long.
        StorageError: The file cannot be made, or there is no room for it.
    """
    real = Path(os.path.realpath(root))
    if not real.is_dir():
        raise UsageError(f"{root} is no directory; a storage needs one for its files")
    if ":" in str(path):
        raise UsageError(f"{path}: a file with a colon cannot be passed in a list; rename it")
    head = _mapping.header(storage, str(real), environment, "", ranks, jobid_var, jobid_name)
    try:
        descriptor = os.open(path, _NEW, _OWNER_ONLY)
    except OSError as error:
        raise StorageError(
            f"cannot make {path}: {error.strerror}; remove it, or choose another place"
        ) from error
    try:
        _mapping.write_mapping(descriptor, head)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(descriptor)


def read_clocks(path: Path) -> dict[str, int]:
    """Return the counters of a mapping: what all its processes together did so far.

    Args:
        path: Of the mapping.

    Returns:
        Name to value, times in nanoseconds; "limit.process" and so on: what requests waited for.

    Raises:
        StorageError: The file cannot be read, or is no mapping.
    """
    try:
        descriptor = os.open(path, _OLD)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    try:
        if not _mapping.read_root(descriptor):
            raise StorageError(f"{path} is no mapping of an emulated storage; make it again")
        return _mapping.read_counters(descriptor)
    finally:
        os.close(descriptor)
