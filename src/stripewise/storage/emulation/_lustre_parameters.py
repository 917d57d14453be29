# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows emulated servers as the parameters of Lustre's servers, in the texts of its releases."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from stripewise.core.errors import StorageError, UsageError
from stripewise.storage.emulation._servers import (
    NO_TALLIES,
    MetadataTallies,
    Servers,
    Span,
    Tally,
    TargetTallies,
    clock_offset_ns,
)

# Texts of Lustre's servers, as releases 2.12, 2.14, 2.15 and 2.16 print them.
#
# Source of the formats: lustre/obdclass/lprocfs_status.c and lprocfs_jobstats.c, lustre/ofd and
# lustre/mdt lproc files, lustre/osd-ldiskfs/osd_lproc.c of these releases. Rows of operations that
# an emulation does not know are left out, though Lustre prints some of them as zero.

VERSIONS = {"2.12": "2.12.9", "2.14": "2.14.0", "2.15": "2.15.5", "2.16": "2.16.1"}
"""Version that each release reports."""
LATEST = "2.16"
_NAME_WIDTH = 15
_SECOND = 10**9
_PLAIN = ".@-_:/"
"""Characters of a job's id, besides letters and digits, that 2.16 does not escape."""


class Row(NamedTuple):
    """Statistics of one operation.

    Attributes:
        name: Lustre's name of the operation; unit: "bytes", "usecs" or "reqs".
        tally: Samples in that unit.
        sizes: Histogram by powers of two, if the release has one.
    """

    name: str
    unit: str
    tally: Tally
    sizes: tuple[int, ...] = ()


# ---- rows --------------------------------------------------------------------------------------


def target_rows(found: TargetTallies, release: str) -> list[Row]:
    """Return the operations of an OST in Lustre's order."""
    both = (("read", found.reads), ("write", found.writes))
    rows = [Row(f"{name}_bytes", "bytes", one.size_bytes, one.sizes) for name, one in both]
    if release != "2.12":
        rows += [_timed(name, one.time_us, release) for name, one in both]
    known = ("punch", "sync") if release == "2.12" else ("punch", "sync", "prealloc")
    return rows + [_timed(name, found.operations[name], release) for name in known]


def metadata_rows(found: MetadataTallies, release: str) -> list[Row]:
    """Return the operations of an MDT in Lustre's order."""
    return [_timed(name, tally, release) for name, tally in found.operations.items()]


def _timed(name: str, tally: Tally, release: str) -> Row:
    """Return a row of times, which Lustre reports since 2.13.55."""
    if release == "2.12":
        return Row(name, "reqs", tally)
    return Row(name, "usecs", tally)


# ---- stats and md_stats ------------------------------------------------------------------------


def stats_text(rows: Iterable[Row], began_ns: int, release: str) -> str:
    """Return `stats` or `md_stats`; operations that never happened have no row."""
    lines = _header(time.time_ns(), began_ns, release, width=25, colon="", indent="")
    for name, unit, tally, _ in rows:
        if not tally.samples:
            continue
        words = [f"{name:<25} {tally.samples} samples [{unit}]"]
        if unit != "reqs":
            words += [str(tally.least), str(tally.most), str(tally.total)]
        if unit == "usecs" or (unit == "bytes" and release != "2.12"):
            words.append(str(tally.squares))
        lines.append(" ".join(words))
    return _joined(lines)


def _header(
    now_ns: int, began_ns: int, release: str, *, width: int, colon: str, indent: str
) -> list[str]:
    """Return the header; it contains start and age since 2.14.56."""
    moments = [("snapshot_time", now_ns)]
    if release not in ("2.12", "2.14"):
        moments += [("start_time", began_ns), ("elapsed_time", max(now_ns - began_ns, 0))]
    return [
        f"{indent}{name + colon:<{width}} {ns // _SECOND}.{ns % _SECOND:09} secs.nsecs"
        for name, ns in moments
    ]


# ---- job_stats ---------------------------------------------------------------------------------


def job_stats_text(
    jobs: Sequence[tuple[str, Span, list[Row]]], offset_ns: int, release: str
) -> str:
    """Return `job_stats`.

    Args:
        jobs: Id, time of counting and operations of the jobs that the target knows.
        offset_ns: Difference between nanoseconds since 1970 and CLOCK_MONOTONIC.
        release: Release of Lustre.
    """
    lines = ["job_stats:"]
    for name, span, rows in sorted(jobs, key=lambda job: job[1]):
        lines.append(f"- {'job_id:':<16} {_job_id(name, release)}")
        lines += _job_header(span, offset_ns, release)
        lines += [_job_row(row, release) for row in rows]
    return _joined(lines)


def _job_header(span: Span, offset_ns: int, release: str) -> list[str]:
    """Return the header of a job, which until 2.15.52 was not indented, so not valid YAML."""
    first_ns, last_ns = span.first_ns + offset_ns, span.last_ns + offset_ns
    if release in ("2.12", "2.14"):
        return [f"  {'snapshot_time:':<16} {last_ns // _SECOND}"]
    indent = "" if release == "2.15" else "  "
    return _header(last_ns, first_ns, release, width=16, colon=":", indent=indent)


def _job_row(row: Row, release: str) -> str:
    name, unit, tally, sizes = row
    text = f"  {name}:{' ' * max(_NAME_WIDTH - len(name), 0)} {{ samples: {tally.samples:11}"
    text += f", unit: {unit:>5}"
    if unit != "reqs":
        text += f", min: {tally.least:8}, max: {tally.most:8}, sum: {tally.total:16}"
    if unit == "usecs" or (unit == "bytes" and release != "2.12"):
        text += f", sumsq: {tally.squares:18}"
    if release == "2.16" and sizes:
        counts = (f"{_power(i)}: {count}" for i, count in enumerate(sizes) if count)
        text += f", hist: {{ {', '.join(counts)} }}"
    return text + " }"


def _job_id(name: str, release: str) -> str:
    """Return a job's id; special characters are escaped since 2.15.55, and ? before."""
    data = name.encode("utf-8", "surrogateescape")
    if release != "2.16":
        return "".join(chr(c) if 32 <= c < 127 else "?" for c in data)
    plain = [c for c in data if c < 128 and (chr(c).isalnum() or chr(c) in _PLAIN)]
    text = "".join(
        chr(c) if c < 128 and (chr(c).isalnum() or chr(c) in _PLAIN) else f"\\x{c:02X}"
        for c in data
    )
    quote = '"' if len(plain) < len(data) or ":" in text or text.startswith("@") else ""
    return f"{quote}{text}{quote}"


# ---- brw_stats ---------------------------------------------------------------------------------

_PAGE_POWER = 12


def brw_stats_text(found: TargetTallies, began_ns: int, release: str) -> str:
    """Return `brw_stats`; sections of what an emulation does not have are empty."""
    reads, writes = found.reads, found.writes
    pages: list[Sequence[int]] = [_pages(one.sizes) for one in (reads, writes)]
    requests: list[Sequence[int]] = [[reads.samples], [writes.samples]]
    none: list[Sequence[int]] = [(), ()]
    sections: list[tuple[str, str, list[Sequence[int]], bool]] = [
        ("pages per bulk r/w", "rpcs", pages, True),
        ("discontiguous pages", "rpcs", requests, False),
        ("discontiguous blocks", "rpcs", none, False),
        ("disk fragmented I/Os", "ios", none, False),
        ("disk I/Os in flight", "ios", none, False),
        ("I/O time (1/1000s)", "ios", [reads.times, writes.times], True),
        ("disk I/O size", "ios", [reads.sizes, writes.sizes], True),
    ]
    now_ns = time.time_ns()
    if release in ("2.12", "2.14"):
        lines = [f"snapshot_time:         {now_ns // _SECOND}.{now_ns % _SECOND:09} (secs.nsecs)"]
    else:
        lines = _header(now_ns, began_ns, release, width=25, colon=":", indent="")
    for title, unit, counts, scaled in sections:
        lines += ["", f"{'':27}read      |     write"]
        lines.append(f"{title:<22} {unit:<5} % cum % |  {unit:<11} % cum %")
        lines += _histogram(counts, scaled)
    return _joined(lines)


def _pages(sizes: Sequence[int]) -> list[int]:
    """Return sizes as pages: a request of up to 2^i bytes has up to 2^(i-12) pages."""
    return [sum(sizes[: _PAGE_POWER + 1]), *sizes[_PAGE_POWER + 1 :]]


def _histogram(counts: list[Sequence[int]], scaled: bool) -> list[str]:
    """Return the rows from the first to the last that is not empty, with both directions."""
    totals = [sum(one) for one in counts]
    lines, so_far = [], [0, 0]
    for i, pair in enumerate(zip(*counts, strict=True)):
        so_far = [before + count for before, count in zip(so_far, pair, strict=True)]
        if not any(so_far):
            continue
        shares = [
            (count, _percent(count, total), _percent(cumulated, total))
            for count, cumulated, total in zip(pair, so_far, totals, strict=True)
        ]
        read, write = shares
        key = _power(i) if scaled else str(i)
        lines.append(
            f"{key}:\t\t{read[0]:10} {read[1]:3} {read[2]:3}   | "
            f"{write[0]:4} {write[1]:3} {write[2]:3}"
        )
        if so_far == totals:
            break
    return lines


def _percent(part: int, whole: int) -> int:
    return 100 * part // whole if whole else 0


def _power(exponent: int) -> str:
    scale = min(exponent // 10, 3)
    return f"{1 << (exponent - 10 * scale)}{('', 'K', 'M', 'G')[scale]}"


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


# An emulated storage as the parameters of its Lustre servers, and as a tree of files.

Parameters = dict[str, Callable[[], str]]
"""Function that makes the text of each parameter, by dotted name."""


def parameters(servers: Servers, release: str = LATEST) -> Parameters:
    """Return the parameters that the servers of a Lustre of this release would have.

    Raises:
        UsageError: The release is not supported.
    """
    if release not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise UsageError(f"Lustre {release}: its texts are not known; there are {known}")
    found: Parameters = {
        "version": lambda: f"{VERSIONS[release]}\n",
        "health_check": lambda: "healthy\n",
        "jobid_var": lambda: f"{servers.jobid_var}\n",
        "jobid_name": lambda: f"{servers.jobid_name}\n",
    }
    for number in range(servers.n_targets):
        found |= _of_target(servers, number, release)
    return found | _of_metadata(servers, release)


def write_tree(mapping: Path, directory: Path, release: str = LATEST) -> None:
    """Write the counters of the servers as files: DIRECTORY/obdfilter/FS-OST0000/stats and so on.

    Each file is replaced as a whole.

    Args:
        mapping: Path of the storage's mapping.
        directory: Directory for the files; created if it does not exist.
        release: Release of Lustre whose formats are used: "2.12", "2.14", "2.15" or "2.16".

    Raises:
        UsageError: The release is not supported.
        StorageError: The mapping cannot be read, or a file cannot be written.
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
    rows = target_rows(servers.whole_target(number), release)
    return stats_text(rows, servers.began_ns, release)


def _target_jobs(servers: Servers, number: int, release: str) -> str:
    jobs = []
    for name, block in servers.job_blocks().items():
        one = servers.target(number, block)
        if one.span.first_ns:
            jobs.append((name, one.span, target_rows(one, release)))
    return job_stats_text(jobs, clock_offset_ns(), release)


def _brw_stats(servers: Servers, number: int, release: str) -> str:
    return brw_stats_text(servers.whole_target(number), servers.began_ns, release)


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
    """Return empty statistics, as the metadata target has no data."""
    return brw_stats_text(NO_TALLIES, servers.began_ns, release)


def _metadata_stats(servers: Servers, release: str) -> str:
    rows = metadata_rows(servers.whole_metadata(), release)
    return stats_text(rows, servers.began_ns, release)


def _metadata_jobs(servers: Servers, release: str) -> str:
    jobs = []
    for name, block in servers.job_blocks().items():
        one = servers.metadata(block)
        if one.span.first_ns:
            jobs.append((name, one.span, metadata_rows(one, release)))
    return job_stats_text(jobs, clock_offset_ns(), release)


# ---- space -------------------------------------------------------------------------------------

_BYTES = ("kbytestotal", "kbytesfree", "kbytesavail")
_FILES = ("filestotal", "filesfree")


def _space(servers: Servers, place: str, shares: int, names: tuple[str, ...]) -> Parameters:
    return {f"{place}.{name}": partial(_amount, servers.root, name, shares) for name in names}


def _amount(root: str, name: str, shares: int) -> str:
    """Return a target's share of the real space of the file system below the root."""
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
