# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The run in numbers; docs/reference/profile.md defines each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stripewise.diagnosis._records import Figures, share
from stripewise.diagnosis._usage import METADATA, READS, SYSTEM, WRITES, FileUse, Rows
from stripewise.model import RunProfile


def figures(profile: RunProfile, whole: Rows, files: Sequence[FileUse]) -> Figures:
    """All figures of a run."""
    every = whole.calls()
    io_seconds = profile.io_seconds  # with calls on names of files that were never opened
    exact = math.isclose(every.surely, every.elapsed)
    timed = not len(whole.rows) or bool((whole.rows["seconds"] > 0).any())
    known = 1.0 if timed else math.nan
    parts = [whole.calls(ops) for ops in (READS, WRITES, METADATA)]
    moved = profile.read_bytes + profile.write_bytes
    kinds = [(use.read_bytes > 0, use.write_bytes > 0) for use in files]
    run_seconds = profile.elapsed_seconds if profile.elapsed_seconds > 0 else math.nan
    return Figures(
        run_seconds=run_seconds,
        n_ranks=profile.n_ranks,
        n_processes=profile.n_processes,
        n_hosts=len(profile.hosts),
        n_files=len(files),
        n_read_only=kinds.count((True, False)),
        n_write_only=kinds.count((False, True)),
        n_read_write=kinds.count((True, True)),
        n_no_data=kinds.count((False, False)),
        n_shared=sum(use.shared for use in files),
        read_bytes=profile.read_bytes,
        write_bytes=profile.write_bytes,
        meta_operations=parts[2].count,
        system_meta_operations=whole.calls(METADATA, layers=SYSTEM, own=False).count,
        cumulated_read_seconds=known * parts[0].cumulated,
        cumulated_write_seconds=known * parts[1].cumulated,
        cumulated_meta_seconds=known * parts[2].cumulated,
        elapsed_read_seconds=known * parts[0].elapsed,
        elapsed_write_seconds=known * parts[1].elapsed,
        elapsed_meta_seconds=known * parts[2].elapsed,
        io_seconds=known * io_seconds,
        io_low_seconds=known * (io_seconds if exact else min(every.surely, io_seconds)),
        io_exact=exact,
        io_share=known * share(io_seconds, run_seconds),
        rate_bytes_per_second=share(moved, io_seconds),
        meta_share=share(parts[2].cumulated, sum(part.cumulated for part in parts)),
        slowest_rank=every.rank,
    )
