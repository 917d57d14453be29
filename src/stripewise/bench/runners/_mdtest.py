# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs mdtest.  Source: IOR 4.1, mdtest.c."""

from __future__ import annotations

from pathlib import Path

from stripewise.bench._case import Case
from stripewise.bench.runners._base import (
    ForeignRunner,
    Printed,
    metadata_samples,
    printed_test,
    unless,
)
from stripewise.core.errors import UsageError

_END = "-- finished at"


class MdtestRunner(ForeignRunner):
    """mdtest: files that are created, inspected, read and removed."""

    name = "mdtest"
    variable = "STRIPEWISE_MDTEST"
    source = "part of https://github.com/hpc/ior"

    def reasons(self, case: Case) -> list[str]:
        """Return what mdtest does not support in a case."""
        tree = case.depth > 0
        return [
            unless(
                case.operation == "metadata",
                'mdtest moves no data: give operation = "metadata", or the runner ior',
            ),
            unless(case.files > 0, "mdtest needs its number of files: give files = 1000"),
            unless(
                case.cache in ("shift", "none"),
                f"mdtest cannot keep caches from answering by cache = {case.cache}: give shift, "
                "with which other ranks look at the files",
            ),
            unless(
                not tree or case.width > 0,
                "a tree needs directories in each directory: give width = 2",
            ),
            unless(
                not (tree and case.sharing == "own" and case.cache == "shift" and case.ranks > 1),
                "mdtest fails with trees of each rank that other ranks look at: give sharing "
                "shared, cache none, or depth 0",
            ),
            unless(not case.settings, "mdtest calls POSIX alone: leave out settings"),
        ]

    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return mdtest with its options; it removes the files that it created."""
        del record
        words = [str(self.program()), "-n", str(case.files), "-i", "1"]
        words += ["-u"] if case.sharing == "own" else []
        words += ["-z", str(case.depth), "-b", str(case.width)] if case.depth else []
        if case.file_bytes:
            words += ["-w", str(case.file_bytes), "-e", str(case.file_bytes)]
            words += ["-y"] if case.sync else []
        if case.cache == "shift" and case.ranks > 1:
            words += ["-N", str(case.ranks_per_node if case.nodes > 1 else 1)]
        if case.stonewall_seconds:
            words += ["-W", str(max(round(case.stonewall_seconds), 1)), "-F"]
        return [*words, "-d", str(directory)]

    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the rates of mdtest's table."""
        del record
        if _END not in stdout:
            raise UsageError("mdtest's output is incomplete: check that the run ended")
        test = printed_test(stdout, "mdtest")
        notes = ("mdtest reports means only: it has no percentiles of single operations.",)
        del case
        return Printed(metadata_samples(test), versions={"mdtest": test.version}, notes=notes)

    def workload(self, case: Case) -> None:
        """Return None: no significant data is moved."""
        del case
