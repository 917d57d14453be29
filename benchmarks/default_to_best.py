#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tunes every kernel from its default, on every I/O stack of this machine.

    make default-to-best       or: benchmarks/default_to_best.py [--only TEXT] [--list]

Each row is one `stripewise tune` of a kernel, decided by confirmation pairs; if nothing can be
gained the answer is "no improvement".  Rows are saved as they come; a second start continues.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tuning import NO_KNOB, STRIPEWISE, Case, Row, table, tune_all

# 16 to 32 MiB per rank: a run of 2 ranks takes some tenths of a second on a local disk.
SIZES = {
    "array3d": ("--local", "128,128,128"),
    "flash": ("--local", "80,8,8,8"),
    "btio": ("--size", "102,102,102"),
    "vpic": ("--local", "1048576"),
    "vorpal": ("--local", "60,100,150", "--steps", "4"),
    "gcrm": ("--local", "1,26,131072"),
    "wrf": ("--local", "20,256,256"),
}
STACKS = {
    "mpich": (
        ("posix", "independent"),
        ("mpiio", "independent"),
        ("mpiio", "collective"),
        ("hdf5", "independent"),
        ("hdf5", "collective"),
    ),
    "openmpi": (
        ("posix", "independent"),
        ("mpiio", "independent"),
        ("mpiio", "collective"),
        ("hdf5", "independent"),
        ("hdf5", "collective"),
        ("netcdf4", "independent"),
        ("pnetcdf", "collective"),
        ("adios2", "independent"),
    ),
}
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}


def cases(ranks: int) -> list[Case]:
    """Return every kernel with every stack, except back ends without which a kernel was built."""
    found = []
    for mpi, stacks in STACKS.items():
        kernel = _kernel(mpi)
        for backend, mode in stacks:
            if not kernel or not _has(kernel, backend):
                print(f"left out: {backend} under {NAMES[mpi]}: the kernel is built without it")
                continue
            for pattern, size in SIZES.items():
                labels = {
                    "kernel": pattern, "library": backend, "mode": mode, "MPI": NAMES[mpi],
                }  # fmt: skip
                words = [f"mpiexec.{mpi}", "-n", str(ranks), kernel, "--pattern", pattern]
                words += ["--backend", backend, "--mode", mode, *size, "--keep"]
                words += ["--file", "out.dat"]
                found.append(Case(labels, tuple(words)))
    return found


def _kernel(mpi: str) -> str:
    done = subprocess.run(
        [str(STRIPEWISE), "bench", "kernel", "--path", "--mpi", mpi],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else ""


def _has(kernel: str, backend: str) -> bool:
    words = [kernel, "--backend", backend, "--pattern", "vpic", "--local", "8", "--file"]
    done = subprocess.run(
        [*words, "/dev/shm/stripewise-probe.dat"], capture_output=True, text=True, check=False
    )
    return done.returncode == 0


def matrix(rows: Sequence[Row]) -> str:
    """Return speed-ups as a Markdown table: one row per stack, one column per kernel.

    One dash means no improvement that pairs confirm; two mean that no tunable has an effect.
    """
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        labels = row.labels
        stack = f"{labels['MPI']}, {labels['library']}, {labels['mode']}"
        found.setdefault(stack, {})[labels["kernel"]] = _gain(row)
    lines = ["| stack | " + " | ".join(SIZES) + " |", "|---" * (len(SIZES) + 1) + "|"]
    for stack, gains in found.items():
        lines.append("| " + " | ".join([stack, *(gains.get(name, "") for name in SIZES)]) + " |")
    return "\n".join(lines) + "\n"


def _gain(row: Row) -> str:
    if row.answer != "improved" or not row.speedup:
        return "––" if row.answer.endswith(NO_KNOB) else "–"
    return "{median:.2f}x [{low:.2f}–{high:.2f}]".format(**row.speedup)


def main() -> None:
    """Tune the requested cases and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has TEXT")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--directory", type=Path, default=Path("build/default-to-best"))
    options = parser.parse_args()
    chosen = [case for case in cases(options.ranks) if options.only in case.name]
    if not chosen:
        parser.error(f"no case has {options.only!r} in its name; --list names them")
    if options.list:
        print("\n".join(case.name for case in chosen))
        return
    options.directory.mkdir(parents=True, exist_ok=True)
    record = options.directory / "rows.jsonl"
    rows = tune_all(
        chosen, options.directory / "work", record, trials=options.trials, limit_seconds=600
    )
    print(matrix(rows))
    print(table(rows))


if __name__ == "__main__":
    main()
