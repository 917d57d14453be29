# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An emulated storage as the parameters of its Lustre servers, and as a tree of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from stripewise.emulation import _lustre_texts as texts
from stripewise.emulation._servers import Servers, clock_offset_ns
from stripewise.emulation._tallies import NO_TALLIES
from stripewise.errors import StorageError, UsageError

Parameters = dict[str, Callable[[], str]]
"""Name with dots to its text, which is made when it is asked for."""


def parameters(servers: Servers, release: str = texts.LATEST) -> Parameters:
    """Return the parameters that the servers of a Lustre of this release would have.

    Raises:
        UsageError: The release is not known.
    """
    if release not in texts.VERSIONS:
        known = ", ".join(texts.VERSIONS)
        raise UsageError(f"Lustre {release}: its texts are not known; there are {known}")
    found: Parameters = {
        "version": lambda: f"{texts.VERSIONS[release]}\n",
        "health_check": lambda: "healthy\n",
        "jobid_var": lambda: f"{servers.jobid_var}\n",
        "jobid_name": lambda: f"{servers.jobid_name}\n",
    }
    for number in range(servers.n_targets):
        found |= _of_target(servers, number, release)
    return found | _of_metadata(servers, release)


def write_tree(mapping: Path, directory: Path, release: str = texts.LATEST) -> None:
    """Write what the servers counted as files: DIRECTORY/obdfilter/FS-OST0000/stats and so on.

    Each file is replaced as a whole.

    Args:
        mapping: Of the storage.
        directory: Made if it is not there.
        release: Of Lustre, whose formats are used: "2.12", "2.14", "2.15" or "2.16".

    Raises:
        UsageError: The release is not known.
        StorageError: The mapping cannot be read, or a file not be written.
    """
    with Servers(mapping) as servers:
        for name, text in parameters(servers, release).items():
            path = directory.joinpath(*name.split("."))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                written = path.with_name(f".{path.name}.{os.getpid()}")
                written.write_text(text(), encoding="utf-8")
                written.replace(path)
            except OSError as error:
                raise StorageError(
                    f"cannot write {path}: {error.strerror}; choose another directory"
                ) from error


# ---- targets -----------------------------------------------------------------------------------


def _of_target(servers: Servers, number: int, release: str) -> Parameters:
    name = f"{servers.fs}-OST{number:04x}"
    front, back = f"obdfilter.{name}", f"osd-ldiskfs.{name}"
    found: Parameters = {
        f"{front}.stats": partial(_target_stats, servers, number, release),
        f"{front}.job_stats": partial(_target_jobs, servers, number, release),
        f"{front}.num_exports": lambda: f"{servers.n_nodes}\n",
        f"{front}.job_cleanup_interval": lambda: "0\n",
        f"{back}.brw_stats": partial(_brw_stats, servers, number, release),
    }
    for place in (front, back):
        found |= _space(servers, place, servers.n_targets, _BYTES)
        found |= _space(servers, place, servers.n_targets, _FILES)
    return found


def _target_stats(servers: Servers, number: int, release: str) -> str:
    rows = texts.target_rows(servers.whole_target(number), release)
    return texts.stats_text(rows, servers.began_ns, release)


def _target_jobs(servers: Servers, number: int, release: str) -> str:
    jobs = []
    for name, block in servers.job_blocks().items():
        one = servers.target(number, block)
        if one.span.first_ns:
            jobs.append((name, one.span, texts.target_rows(one, release)))
    return texts.job_stats_text(jobs, clock_offset_ns(), release)


def _brw_stats(servers: Servers, number: int, release: str) -> str:
    return texts.brw_stats_text(servers.whole_target(number), servers.began_ns, release)


# ---- the metadata target -----------------------------------------------------------------------


def _of_metadata(servers: Servers, release: str) -> Parameters:
    name = f"{servers.fs}-MDT0000"
    front = f"mdt.{name}"
    return {
        f"{front}.md_stats": partial(_metadata_stats, servers, release),
        f"{front}.job_stats": partial(_metadata_jobs, servers, release),
        f"{front}.num_exports": lambda: f"{servers.n_nodes}\n",
        f"{front}.job_cleanup_interval": lambda: "0\n",
        f"osd-ldiskfs.{name}.brw_stats": partial(_no_brw_stats, servers, release),
        **_space(servers, f"osd-ldiskfs.{name}", 1, _FILES),
    }


def _no_brw_stats(servers: Servers, release: str) -> str:
    """The metadata target has no data."""
    return texts.brw_stats_text(NO_TALLIES, servers.began_ns, release)


def _metadata_stats(servers: Servers, release: str) -> str:
    rows = texts.metadata_rows(servers.whole_metadata(), release)
    return texts.stats_text(rows, servers.began_ns, release)


def _metadata_jobs(servers: Servers, release: str) -> str:
    jobs = []
    for name, block in servers.job_blocks().items():
        one = servers.metadata(block)
        if one.span.first_ns:
            jobs.append((name, one.span, texts.metadata_rows(one, release)))
    return texts.job_stats_text(jobs, clock_offset_ns(), release)


# ---- space -------------------------------------------------------------------------------------

_BYTES = ("kbytestotal", "kbytesfree", "kbytesavail")
_FILES = ("filestotal", "filesfree")


def _space(servers: Servers, place: str, shares: int, names: tuple[str, ...]) -> Parameters:
    return {f"{place}.{name}": partial(_amount, servers.root, name, shares) for name in names}


def _amount(root: str, name: str, shares: int) -> str:
    """Return a target's share of what the file system below the root really has."""
    try:
        found = os.statvfs(root)
    except OSError as error:
        raise StorageError(
            f"cannot ask for the space of {root}: {error.strerror}; see that it is there"
        ) from error
    amounts = {
        "kbytestotal": found.f_blocks * found.f_frsize >> 10,
        "kbytesfree": found.f_bfree * found.f_frsize >> 10,
        "kbytesavail": found.f_bavail * found.f_frsize >> 10,
        "filestotal": found.f_files,
        "filesfree": found.f_ffree,
    }
    return f"{amounts[name] // shares}\n"
