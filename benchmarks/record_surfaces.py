# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Record the surfaces that strategies are compared on: benchmarks/cases -> benchmarks/surfaces.

    python benchmarks/record_surfaces.py                  # all that are not finished
    python benchmarks/record_surfaces.py flash-hdf5-mpich --repeats 5

Cases in a folder (`emulated/vpic`) have their surfaces in a folder of the same name; those with
`on` run on that storage, emulated; those with `program` run one that is found on the path.
Nothing else may run on the machine meanwhile.  It can be interrupted and killed: the same command
goes on where it was.  The runs write below build/surfaces.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stripewise.run.runtime import find_runtime
from stripewise.study.surfaces import Surface, SurfaceRole

HERE = Path(__file__).resolve().parent
CASES, SURFACES = HERE / "cases", HERE / "surfaces"
SCRATCH = HERE.parent / "build" / "surfaces"
RANKS = 2
LUSTRE = "lustre-mpi"
"""MPICH with ROMIO's Lustre driver, of `make lustre-mpi`."""


def main() -> int:
    """Record the cases named, or all."""
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
        code = record(name, given.into.absolute(), given.scratch.absolute(), given.repeats)
        if code:
            return code
    return 0


def record(name: str, into: Path, scratch: Path, repeats: int) -> int:
    """Record one case, or go on with it; return the exit code of the recording."""
    case = tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))
    output = into / f"{name}.jsonl"
    if is_finished(output):
        print(f"{name}: finished already", flush=True)
        return 0
    print(f"{name}: {case['why']}", flush=True)
    origin = scratch / name
    origin.mkdir(parents=True, exist_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    words = [
        *(sys.executable, "-c", "from stripewise.cli import main; main()"),
        *("bench", "surface", "record", "-o", str(output), "--spec", str(CASES / f"{name}.toml")),
        *("--repeats", str(repeats), "--work-dir", str(scratch / f"{name}.stripewise")),
        *(["--resume"] if output.exists() else []),
        *(["--on", case["on"]] if "on" in case else []),
        *(["--timeout", case["timeout"]] if "timeout" in case else []),
        *("--", launcher(case["mpi"]), "-n", str(case.get("ranks", RANKS))),
        *program(case),
    ]
    with subprocess.Popen(words, cwd=origin, env=environment(case["mpi"])) as recording:
        try:
            return recording.wait()
        except KeyboardInterrupt:
            return recording.wait() or 130  # it was interrupted too, and ends in order


def program(case: Mapping[str, Any]) -> list[str]:
    """Return the command of a case: a program that is found on the path, or our kernel."""
    if "program" in case:
        return shlex.split(case["program"])
    return [f"stripewise-kernel-{family(case['mpi'])}", *shlex.split(case["kernel"])]


def is_finished(path: Path) -> bool:
    """Whether a surface holds all the runs of its plan."""
    if not path.exists():
        return False
    surface = Surface.load(path)
    points = [run for run in surface.runs if run.role is SurfaceRole.POINT]
    return len(points) >= surface.plan["configurations"] * surface.plan["repeats"]


def family(mpi: str) -> str:
    """Name of the MPI whose kernel runs: the Lustre driver comes with an MPICH."""
    return "mpich" if mpi == LUSTRE else mpi


def launcher(mpi: str) -> str:
    """Name of the launcher, to be found on the path."""
    return "mpiexec.hydra" if mpi == LUSTRE else f"mpiexec.{mpi}"


def environment(mpi: str) -> dict[str, str]:
    """Find the kernels by name, so that no path of this machine is recorded."""
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
