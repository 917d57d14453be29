# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs benchio.  Source: github.com/davidhenty/benchio at 0c682b6, benchio.f90."""

from __future__ import annotations

from pathlib import Path

from stripewise.bench._case import Case, numbers_of
from stripewise.bench.runners._base import (
    ForeignRunner,
    Printed,
    printed_test,
    unless,
)
from stripewise.bench.runners._kernel import KernelRunner
from stripewise.core.errors import UsageError
from stripewise.storage.stacks import Workload

FOLDER = "unstriped"
"""One of benchio's three folders; inside the case's directory it inherits its stripes."""
_METHODS = {
    ("posix", "shared", "serial"): "serial",
    ("posix", "per-process", "independent"): "proc",
    ("posix", "per-node", "independent"): "node",
    ("mpiio", "shared", "collective"): "mpiio",
    ("hdf5", "shared", "collective"): "hdf5",
    ("netcdf4", "shared", "collective"): "netcdf",
    ("adios2", "shared", "independent"): "adios",
}
_ENTER = 'mkdir -p "$1/{folder}" && cd "$1" && shift && {more}exec "$@"'
"""Shell command that starts benchio in the directory below which it writes."""
_ADIOS = 'cp "$(dirname "$1")/adios2.xml" . && '
"""Shell command that copies the settings of ADIOS2, which come with benchio."""


class BenchioRunner(ForeignRunner):
    """benchio: a 3-D array that is written once, with a block for each rank."""

    name = "benchio"
    variable = "STRIPEWISE_BENCHIO"
    source = "https://github.com/davidhenty/benchio"

    def reasons(self, case: Case) -> list[str]:
        """Return what benchio does not support in a case."""
        way = (case.backend, case.layout, case.mode)
        return [
            unless(
                case.operation == "write",
                'benchio only writes: give operation = "write", or the runner kernel',
            ),
            unless(
                case.pattern == "array3d",
                f'benchio has no pattern {case.pattern}: give pattern = "array3d"',
            ),
            unless(
                way in _METHODS,
                f"benchio has no {' '.join(way)}: it has "
                + ", ".join(" ".join(one) for one in _METHODS),
            ),
            unless(
                len(numbers_of(case.local)) == 3,
                "benchio rounds the sizes of whole arrays down: give local, as 128,128,128",
            ),
            unless(not case.sync, "benchio does not sync: give sync = false"),
            unless(case.steps == 1, "benchio writes its array once: leave out steps"),
            unless(not case.transfer_bytes, "benchio writes blocks whole: leave out transfer"),
            unless(not case.stonewall_seconds, "benchio has no stonewall: leave it out"),
        ]

    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return benchio with its arguments, started in the directory."""
        del record
        method = _METHODS[case.backend, case.layout, case.mode]
        sizes = [str(one) for one in reversed(numbers_of(case.local))]  # Fortran's order
        words = [str(self.program()), *sizes, "local", method, FOLDER]
        enter = _ENTER.format(folder=FOLDER, more=_ADIOS if method == "adios" else "")
        return ["/bin/sh", "-c", enter, "benchio", str(directory), *words]

    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the one rate that benchio prints."""
        del record
        (one, *more) = printed_test(stdout, "benchio", case.ranks_per_node).timed
        if more:
            raise UsageError("benchio's output is incomplete: check that the run ended")
        serial = "benchio's serial method writes the block of rank 0 as often as there are ranks."
        notes = (serial,) if case.mode == "serial" or case.layout == "per-node" else ()
        return Printed((one.sample,), notes=notes)

    def workload(self, case: Case) -> Workload:
        """Return the data that the ranks write, which equals the kernel's array."""
        return KernelRunner().workload(case)
