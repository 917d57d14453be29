# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records the surfaces on which strategies are compared: benchmarks/cases to surfaces.

    python benchmarks/record_surfaces.py                  # all that are not finished
    python benchmarks/record_surfaces.py flash-hdf5-mpich --repeats 5

Cases in a folder (`emulated/vpic`) have their surfaces in a folder of the same name; those with
`on` run on that emulated storage; those with `program` run one that is found on PATH.  Nothing
else may run on the machine meanwhile.  It can be interrupted and killed: the same command
continues.  The runs write below build/surfaces.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stripewise.core import RunStatus
from stripewise.run.runtime import find_runtime
from stripewise.storage.emulation import EmulationOptions
from stripewise.study.training import (
    RecordingObserver,
    RecordingOptions,
    Surface,
    SurfaceRun,
    is_finished,
    record_surface,
)

HERE = Path(__file__).resolve().parent
CASES, SURFACES = HERE / "cases", HERE / "surfaces"
SCRATCH = HERE.parent / "build" / "surfaces"
RANKS = 2
LUSTRE = "lustre-mpi"
"""MPICH with ROMIO's Lustre driver, from `make lustre-mpi`."""


def main() -> int:
    """Record the named cases, or all."""
    known = sorted(str(path.relative_to(CASES))[:-5] for path in CASES.rglob("*.toml"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(known)}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--into", type=Path, default=SURFACES, metavar="DIR")
    parser.add_argument("--scratch", type=Path, default=SCRATCH, metavar="DIR")
    given = parser.parse_args()
    for name in given.cases or known:
        if name not in known:
            parser.error(f"there is no case {name!r}; there are: {', '.join(known)}")
        record(name, given.into.absolute(), given.scratch.absolute(), given.repeats)
    return 0


def record(name: str, into: Path, scratch: Path, repeats: int) -> None:
    """Record one case, or continue to do so."""
    case = tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))
    output = into / f"{name}.jsonl"
    if is_finished(output):
        print(f"{name}: finished already", flush=True)
        return
    print(f"{name}: {case['why']}", flush=True)
    origin = scratch / name
    origin.mkdir(parents=True, exist_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    os.environ.update(environment(case["mpi"]))
    ranks = str(case.get("ranks", RANKS))
    record_surface(
        RecordingOptions(
            command=(launcher(case["mpi"]), "-n", ranks, *program(case)),
            output=output,
            vary=values_of(case["vary"]),
            origin=origin,
            work_directory=scratch,
            repeats=repeats,
            timeout_seconds=case.get("timeout_seconds"),
            storage=EmulationOptions(case["on"]) if "on" in case else None,
        ),
        Progress(),
    )


def values_of(table: Mapping[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    """Return the values to measure of each tunable; TOML's lists become tuples."""
    return {
        name: tuple(tuple(one) if isinstance(one, list) else one for one in values)
        for name, values in table.items()
    }


class Progress(RecordingObserver):
    """Prints the progress of a recording, one line every 20 runs."""

    def planned(self, surface: Surface, total_runs: int, done: int) -> None:
        """Print the number of runs."""
        self.total, self.done = total_runs, done
        print(f"{surface.plan['configurations']} configurations, {total_runs} runs", flush=True)

    def recorded(self, run: SurfaceRun) -> None:
        """Print failed runs, and every 20th."""
        self.done += 1
        if run.status is not RunStatus.OK:
            self.noted(f"run {run.sequence} {run.status}: {dict(run.settings)}")
        if self.done % 20 == 0 or self.done == self.total:
            print(f"{self.done} of {self.total} runs", flush=True)

    def noted(self, text: str) -> None:
        """Print a remark."""
        print(text, flush=True)


def program(case: Mapping[str, Any]) -> list[str]:
    """Return the command of a case: a program found on PATH, or our kernel."""
    if "program" in case:
        return shlex.split(case["program"])
    return [f"stripewise-kernel-{family(case['mpi'])}", *shlex.split(case["kernel"])]


def family(mpi: str) -> str:
    """Return the MPI whose kernel runs: the Lustre driver comes with an MPICH."""
    return "mpich" if mpi == LUSTRE else mpi


def launcher(mpi: str) -> str:
    """Return the name of the launcher, which must be on PATH."""
    return "mpiexec.hydra" if mpi == LUSTRE else f"mpiexec.{mpi}"


def environment(mpi: str) -> dict[str, str]:
    """Return an environment in which kernels are found by name, so that no path is recorded."""
    places = {str(path.parent) for path in find_runtime().kernels.values()}
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    libraries = {}
    if mpi == LUSTRE:
        built = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        built = built / "stripewise" / "lustre-mpi"
        places.add(str(built / "bin"))
        libraries = {"LD_LIBRARY_PATH": str(built / "lib")}
    path = os.pathsep.join([*places, os.environ.get("PATH", os.defpath)])
    return {**os.environ, **allowed, **libraries, "PATH": path}


if __name__ == "__main__":
    sys.exit(main())
