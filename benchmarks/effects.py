# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reproduces published effects of storage with real programs on emulated storage.

    python benchmarks/effects.py                          # all; two or three minutes
    python benchmarks/effects.py requests metadata

Each run is a kernel with `stripewise run --on` and MPICH with ROMIO's Lustre driver (`make
lustre-mpi`), whose generic driver is used for burst buffers.  Figures are those of the storage at
full speed: times of the run divided by the slow motion.  They are shown beside the published
figures, which are from more ranks and data, and those of `stripewise simulate` for the same run.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from effects_cases import EFFECTS, Case, Effect
from effects_output import table
from record_surfaces import LUSTRE, environment, family, launcher

from stripewise.storage.machines import Storage, find_storage
from stripewise.storage.simulation import Simulated, simulate, workload_from_kernel

COMMAND = (sys.executable, "-c", "from stripewise.cli import main; main()")
LIMIT_SECONDS = 120
ATTEMPTS = 3
GIB = 1 << 30


class Lost(Exception):
    """Raised for a run that shows nothing, with the reason."""


class HostLimit(Lost):
    """Raised if this host was slower than the storage."""


@dataclass(frozen=True)
class Figure:
    """Result of one case.

    Attributes:
        emulated: MB/s, or seconds for the small file, of the storage at full speed.
        simulated: The same from simulation; None if it cannot be simulated.
        requests: Number of system writes of the emulated run.
    """

    emulated: float
    simulated: float | None
    requests: int


def main() -> int:
    """Run, simulate and print; return 1 if an effect is not reproduced."""
    given = _arguments()
    missing = 0
    for effect in EFFECTS:
        if given.names and effect.name not in given.names:
            continue
        try:
            figures = measure(effect.cases)
        except Lost as lost:
            print(f"{effect.name}: {lost}", flush=True)
            return 1
        shown = shows(effect, figures)
        missing += not shown
        print(table(effect, figures, shown), flush=True)
    return 1 if missing else 0


def measure(cases: Sequence[Case], mpi: str = LUSTRE) -> list[Figure]:
    """Run each case and simulate it.

    Raises:
        Lost: A run failed, or this host was the limit.
    """
    found = []
    for case in cases:
        value, requests = _again(case, mpi)
        found.append(Figure(value, simulated(case), requests))
    return found


def _again(case: Case, mpi: str) -> tuple[float, int]:
    """Repeat a case until this host is not the limit, which depends on its other load."""
    for _ in range(ATTEMPTS - 1):
        try:
            return emulated(case, mpi)
        except HostLimit:
            pass
    return emulated(case, mpi)


def shows(effect: Effect, figures: Sequence[Figure]) -> bool:
    """Return whether the effect is visible in the emulated figures."""
    requests = [one.requests for one in figures]
    return effect.shows([one.emulated for one in figures], requests)


def emulated(case: Case, mpi: str = LUSTRE) -> tuple[float, int]:
    """Run a case; return its figure and the number of its system writes.

    Raises:
        HostLimit: This host was the limit.
        Lost: The run failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "root").mkdir()
        done = subprocess.run(
            [*COMMAND, *_run(case), "--", *_program(case, mpi)],
            cwd=home, env=environment(mpi), capture_output=True, text=True, check=False,
            timeout=LIMIT_SECONDS,
        )  # fmt: skip
        if done.returncode:
            raise Lost(f"{case.setting}: exit code {done.returncode}: {done.stderr[-500:]}")
        seen = json.loads(done.stdout.splitlines()[-1])
        kernel = json.loads((home / "kernel.json").read_text(encoding="utf-8"))
    if not seen["emulated"]["counted"]:
        raise HostLimit(f"{case.setting}: {seen['emulated']['problem']}")
    written = (file for file in seen["files"] if Path(file["path"]).name.startswith("out.dat"))
    slow = float(seen["emulated"]["slowdown"])
    return _figure(case, slow, kernel), sum(file["system_writes"] for file in written)


def simulated(case: Case) -> float | None:
    """Simulate a case at full speed; return None if its figure is not of this storage."""
    if case.outside:
        return None
    looked = _simulate(case, case.kernel)
    if case.figure == "small":
        without = case.kernel.partition(" --namelist")[0] + " --namelist 0"
        return looked.seconds - _simulate(case, without).seconds
    transfers = sum(phase.seconds for phase in looked.phases if phase.flows)
    seconds = looked.seconds if case.figure == "all" else transfers
    return looked.bytes / seconds / 1e6


def _simulate(case: Case, kernel: str) -> Simulated:
    return simulate(
        _storage(case),
        workload_from_kernel(kernel, case.nodes, case.per_node),
        case.stack,
        {f"mpiio.{name}": value for name, value in case.hints.items()},
        capacity_bytes=_capacity(case) * GIB,
        hosts=1,
    )


def _storage(case: Case) -> Storage:
    """Return the storage at full speed."""
    return find_storage(case.on.partition("@")[0])


def _figure(case: Case, slow: float, kernel: dict[str, Any]) -> float:
    if case.figure == "small":
        return float(kernel["namelist"]["max_seconds"]) / slow
    whole = kernel["totals"]["write"]
    transfers = sum(step["phases"]["transfer"]["max_seconds"] for step in kernel["steps"])
    seconds = whole["seconds"] if case.figure == "all" else transfers
    return float(whole["bytes"]) * slow / float(seconds) / 1e6


def _run(case: Case) -> list[str]:
    words = ["run", "--json", "--on", case.on, "--root", "root"]
    words += ["--ranks-per-node", str(case.per_node)]
    return words + (["--capacity", f"{_capacity(case)}GiB"] if case.buffers else [])


def _capacity(case: Case) -> int:
    """Return the GiB to request for the case's number of burst-buffer nodes."""
    if not case.buffers:
        return 0
    return int(case.buffers * _storage(case).value("layout.granularity")) // GIB - 1


def _program(case: Case, mpi: str) -> list[str]:
    words = [launcher(mpi), "-n", str(case.nodes * case.per_node)]
    if mpi == "openmpi":
        words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "io", "^ompio"]
    words += [f"stripewise-kernel-{family(mpi)}", "--pattern", *shlex.split(case.kernel)]
    mode = "independent" if "posix" in case.more else "collective"
    words += [*shlex.split(case.more), "--mode", mode, "--halo", "0"]
    words += ["--file", "root/out.dat", "--json", "kernel.json"]
    words += ["--namelist-file", "small"] if case.outside else []
    for name, value in case.hints.items():
        words += ["--hint", f"{name}={value}"]
    return words


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [effect.name for effect in EFFECTS]
    parser.add_argument("names", nargs="*", metavar="EFFECT", help=f"of {', '.join(names)}")
    given = parser.parse_args()
    for name in given.names:
        if name not in names:
            parser.error(f"there is no effect {name!r}; there are: {', '.join(names)}")
    return given


if __name__ == "__main__":
    sys.exit(main())
