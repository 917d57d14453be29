# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs IOR.  Source: IOR 4.1, parse_options.c, ior-output.c, utilities.c (ShowHints)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stripewise.bench._case import ELEMENT_BYTES, Case, numbers_of
from stripewise.bench.runners._base import (
    ForeignRunner,
    Printed,
    printed_test,
    read_record,
    unless,
)
from stripewise.bench.runners._kernel import KernelRunner
from stripewise.storage.results import HintLines
from stripewise.storage.stacks import Workload

JSON = "ior.json"
_APIS = {"posix": "POSIX", "mpiio": "MPIIO", "hdf5": "HDF5", "pnetcdf": "NCMPI"}
_SHOW_HINTS = {"mpiio": "mpiio", "hdf5": "hdf5", "pnetcdf": "ncmpi"}
_DIRECT_BYTES = 4096


class IorRunner(ForeignRunner):
    """IOR: blocks of each rank, in transfers, through POSIX, MPI-IO, HDF5 or PnetCDF."""

    name = "ior"
    variable = "STRIPEWISE_IOR"
    source = "https://github.com/hpc/ior"

    def reasons(self, case: Case) -> list[str]:
        """Return what IOR does not support in a case."""
        block = block_bytes(case)
        transfer = case.transfer_bytes or block
        return [
            unless(
                case.operation != "metadata",
                "IOR moves data: operations of metadata are for the runners metadata and mdtest",
            ),
            unless(
                case.pattern == "blocks",
                f'IOR has no pattern {case.pattern}: give pattern = "blocks", or the runner '
                "kernel",
            ),
            unless(block > 0, "IOR needs its block size: give rank_size"),
            unless(
                not block or (transfer % ELEMENT_BYTES == 0 and block % transfer == 0),
                f"IOR cannot divide a block of {block} B into transfers of {transfer} B: give a "
                "transfer that divides rank_size",
            ),
            unless(
                case.backend in _APIS,
                f"IOR has no {case.backend}: give one of {', '.join(_APIS)}, or the runner kernel",
            ),
            unless(
                case.layout != "per-node",
                "IOR has no file per node: give layout shared or per-process, or the runner "
                "kernel",
            ),
            unless(
                case.mode != "serial",
                "IOR does not write through one rank: give nodes = 1 and ranks_per_node = 1, or "
                "the runner kernel",
            ),
            unless(
                case.cache != "drop" or case.operation == "write",
                "IOR cannot drop the system's cache: give cache shift or direct",
            ),
            unless(
                case.cache != "direct" or transfer % _DIRECT_BYTES == 0,
                f"direct requests are multiples of {_DIRECT_BYTES} B, not of {transfer} B: give "
                "another transfer",
            ),
        ]

    def command(self, case: Case, directory: Path, record: Path) -> list[str]:
        """Return IOR with its options; it removes its files at the end."""
        block = block_bytes(case)
        words = [str(self.program()), "-a", _APIS[case.backend], "-b", str(block)]
        words += ["-t", str(case.transfer_bytes or block), "-s", str(case.steps), "-i", "1", "-w"]
        words += ["-F"] if case.layout == "per-process" else []
        words += ["-c"] if case.mode == "collective" else []
        words += ["-e"] if case.sync else []
        if case.stonewall_seconds:
            seconds = max(round(case.stonewall_seconds), 1)  # IOR takes whole seconds
            words += ["-D", str(seconds), "-O", "stoneWallingWearOut=1"]
        if case.operation == "write-read":
            words += ["-r", *_against_caches(case)]
        if case.cache == "direct" and case.backend == "posix":
            words.append("--posix.odirect")
        if case.backend in _SHOW_HINTS:
            words.append(f"--{_SHOW_HINTS[case.backend]}.showHints")
        words += ["-o", str(directory / "data"), "-O", "summaryFormat=JSON"]
        return [*words, "-O", f"summaryFile={record / JSON}"]

    def printed(self, case: Case, record: Path, stdout: str) -> Printed:
        """Return the figures in IOR's JSON, with the hints that it printed."""
        test = printed_test(read_record(record / JSON, "IOR"), "IOR")
        whole = case.ranks * block_bytes(case) * case.steps
        samples = [
            replace(one.sample, worn_out=one.worn_out and one.amount < whole) for one in test.timed
        ]
        hints = HintLines()
        for line in stdout.splitlines():
            hints.take(line)
        return Printed(tuple(samples), hints.found, {"ior": test.version})

    def workload(self, case: Case) -> Workload:
        """Return the data that the ranks write, which equals the kernel's blocks."""
        return KernelRunner().workload(case)


def block_bytes(case: Case) -> int:
    """Return the bytes of a rank in each segment; 0 if the case does not say."""
    local, size = numbers_of(case.local), numbers_of(case.size)
    if len(local) == 1:
        return local[0] * ELEMENT_BYTES
    if len(size) == 1 and size[0] % case.ranks == 0:
        return size[0] // case.ranks * ELEMENT_BYTES
    return 0


def _against_caches(case: Case) -> list[str]:
    """Return the options with which other ranks read, on other nodes if there are some."""
    if case.cache == "none" or case.ranks == 1:
        return []
    return ["-C", "-Q", str(case.ranks_per_node)] if case.nodes > 1 else ["-C"]
