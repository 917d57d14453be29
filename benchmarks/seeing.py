#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces programs of others: same bytes, same exit code, and which pattern they have.

    apt-get source mpich hdf5 pnetcdf netcdf   # in some directory SOURCES, with deb-src enabled
    benchmarks/seeing.py SOURCES [--only TEXT] [--python-mpich PYTHON] [--python-openmpi PYTHON]

The programs are ROMIO's tests (C and Fortran), HDF5's parallel examples, those of
other_programs.py, and Python programs with mpi4py and h5py, with MPICH and Open MPI.  Each runs
twice plainly and once with `stripewise run --trace`; then `stripewise profile --as pattern` and
`stripewise profile` show what it does.

MPICH 4.0 needs mpi4py 3: version 4 creates datatypes with large-count functions, which its ROMIO
cannot flatten.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from applying import AS_ROOT, SECONDS, markdown
from other_programs import PROGRAMS, Program, cases
from tuning import STRIPEWISE, Case

from stripewise.core import VerificationStatus
from stripewise.study.verify import BaselineOutputs
from stripewise.study.workspace import OutputSet

ROMIO = "mpich*/src/mpi/romio/test"
IN_C = (
    "noncontig", "noncontig_coll", "noncontig_coll2", "i_noncontig",
    "shared_fp", "ordered_fp", "split_coll", "async", "simple",
)  # fmt: skip
FORTRAN_NAMES = {
    "@F77MPIOINC@": "", "@FTESTDEFINE@": "", "@FORTRAN_MPI_OFFSET@": "integer*8",
    "@F77IARGC@": "iargc()", "@F77GETARG@": "call getarg(i, str)",
}  # fmt: skip
ANY_ORDER = ("shared_fp",)
"""Programs with a shared file pointer: the order of ranks is random, so bytes may differ."""
PYTHON_PROGRAMS = Path(__file__).parent.parent / "tests" / "mpi" / "programs"


def romio_programs() -> Iterator[Program]:
    """Yield ROMIO's own tests in C, for both MPIs."""
    for mpi in ("mpich", "openmpi"):
        for name in IN_C:
            yield Program(
                name, "MPI-IO", "C", mpi, f"{ROMIO}/{name}.c", f"mpicc.{mpi}", (),
                ("-fname", "out.dat"),
            )  # fmt: skip


def python_cases(mpi: str, python: str) -> Iterator[Case]:
    """Yield programs with mpi4py and h5py."""
    label = {"mpich": "MPICH", "openmpi": "Open MPI"}[mpi]
    for name, library, output in (("mpi4py", "MPI-IO", "out.dat"), ("h5py", "HDF5", "out.h5")):
        script = PYTHON_PROGRAMS / f"writer_{name}.py"
        labels = {"program": script.name, "library": library, "language": name, "MPI": label}
        yield Case(labels, (f"mpiexec.{mpi}", "-n", "2", python, str(script), output))


def see(case: Case, place: Path) -> dict[str, str]:
    """Run a case twice plainly and once traced; return column to text."""
    whole = place / case.name
    shutil.rmtree(whole, ignore_errors=True)
    directories = [whole / name for name in ("plain", "again", "traced")]
    done = []
    traces = whole / "traces"
    for directory in directories:
        directory.mkdir(parents=True)
        for path in case.inputs:
            shutil.copy(path, directory)
        words = list(case.command)
        if directory.name == "traced":
            words = [str(STRIPEWISE), "run", "--trace", str(traces), "--", *words]
        done.append(_run(words, directory))
        time.sleep(1.1)  # so that dates in the outputs of the plain runs differ too
    first, second, third = map(OutputSet.of, directories)
    said = BaselineOutputs(first, second).verify(third, layout=False)
    same = said.status in (VerificationStatus.IDENTICAL, VerificationStatus.SAME_CONTENT)
    differences = "; ".join(f"{name}: {why}" for name, why in said.differences.items())
    codes = [d.returncode for d in done]
    return {
        **case.labels,
        "exit codes": " ".join(map(str, codes)),
        "output": _order(case) or str(said.status) + ("" if same else f" {differences}"),
        "patterns": _patterns(traces),
        "profile": _profile(traces),
    }


def _order(case: Case) -> str:
    return "in any order" if case.labels["program"] in ANY_ORDER else ""


def _patterns(traces: Path) -> str:
    done = _run(
        [str(STRIPEWISE), "profile", "--as", "pattern", "--json", str(traces)], traces.parent
    )
    if done.returncode:
        return _last(done.stderr)
    found = json.loads(done.stdout)
    rows = found["patterns"] if isinstance(found, dict) else found
    texts = []
    for row in rows:
        name = Path(row["file"]).name + (f":{row['dataset']}" if row["dataset"] else "")
        texts.append(f"{name} {'write' if row['writing'] else 'read'} `{row['notation']}`")
    return "; ".join(texts[:4]) + (f"; {len(texts) - 4} more" if len(texts) > 4 else "")


def _profile(traces: Path) -> str:
    done = _run([str(STRIPEWISE), "profile", "--json", str(traces)], traces.parent)
    return json.loads(done.stdout)["summary"] if not done.returncode else _last(done.stderr)


def _run(words: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False,
        stdin=subprocess.DEVNULL, env={**os.environ, **AS_ROOT},
    )  # fmt: skip


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["nothing was said"])[-1]


def fortran(sources: Path, place: Path) -> Iterator[Case]:
    """Yield ROMIO's test of collective Fortran I/O, with its configure-time names filled in."""
    found = sorted(sources.glob(f"{ROMIO}/fcoll_test.f.in"))
    if not found:
        return
    text = found[0].read_text()
    for name, value in FORTRAN_NAMES.items():
        text = text.replace(name, value)
    place.mkdir(parents=True, exist_ok=True)
    (place / "fcoll_test.f").write_text(text)
    for mpi, label in (("mpich", "MPICH"), ("openmpi", "Open MPI")):
        target = place / f"{mpi}-fcoll_test"
        words = [f"mpif77.{mpi}", "-w", "-fallow-argument-mismatch", "fcoll_test.f", "-o"]
        done = subprocess.run([*words, str(target)], cwd=place, capture_output=True, text=True)
        if done.returncode:
            print(f"left out: fcoll_test ({mpi}): {_last(done.stderr)}", file=sys.stderr)
            continue
        labels = {"program": "fcoll_test", "library": "MPI-IO", "language": "Fortran",
                  "MPI": label}  # fmt: skip
        yield Case(labels, (f"mpiexec.{mpi}", "-n", "2", str(target), "-fname", "out.dat"))


def main() -> None:
    """Build, run, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name has TEXT")
    parser.add_argument("--python-mpich", default="", metavar="PYTHON")
    parser.add_argument("--python-openmpi", default="/usr/bin/python3", metavar="PYTHON")
    parser.add_argument("--directory", type=Path, default=Path("build/seeing"))
    options = parser.parse_args()
    place = options.directory.absolute()
    sources = options.sources.absolute()
    programs = [*romio_programs(), *PROGRAMS]
    chosen = [p for p in programs if options.only in f"{p.name} {p.library} {p.mpi}"]
    found = cases(chosen, sources, place / "bin")
    found += [c for c in fortran(sources, place / "bin") if options.only in c.name]
    for mpi, python in (("mpich", options.python_mpich), ("openmpi", options.python_openmpi)):
        if python:
            found += [c for c in python_cases(mpi, python) if options.only in c.name]
    rows = []
    for case in found:
        try:
            rows.append(see(case, place / "runs"))
        except subprocess.TimeoutExpired as error:
            traced = "--trace" in error.cmd
            text = f"{'traced' if traced else 'plainly'}: not over in {SECONDS} s"
            rows.append({**case.labels, "exit codes": text})
        print(markdown(rows[-1:]).splitlines()[-1], flush=True)
    print(markdown(rows))


if __name__ == "__main__":
    main()
