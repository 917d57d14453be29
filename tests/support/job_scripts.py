# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts as people write them: files of them, and common headers with common bodies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HOSTILE_NAMES = [
    "a b",
    "q'\"x",
    "$(touch canary)",
    "`touch canary`",
    "n\new",
    "-dash",
    "caf\udce9",
    ";x",
]
"""Names of files that a shell or a directive would take for something else."""
_FILES = Path(__file__).parent.parent / "run/jobs" / "scripts"
_HEAD = re.compile(r"@@ (\S+)(?: \[([\w,]+)\])? ::(.*)")


@dataclass(frozen=True)
class Case:
    """A script, and the programs of its launch lines; "?" where that is not certain."""

    name: str
    data: bytes
    programs: tuple[str, ...]
    can_run: bool

    def __str__(self) -> str:
        return self.name


def written_cases() -> list[Case]:
    """The scripts of the files."""
    return [case for path in sorted(_FILES.glob("*.txt")) for case in _of_file(path)]


def _of_file(path: Path) -> list[Case]:
    parts = re.split(r"(?m)^(?=@@ )", path.read_text("utf-8"))
    return [_case(part) for part in parts if part]


def _case(part: str) -> Case:
    head, _, body = part.partition("\n")
    match = _HEAD.fullmatch(head)
    assert match, head
    flags = set((match[2] or "").split(","))
    body = body.replace("\n", "\r\n") if "crlf" in flags else body
    data = body.encode("latin-1" if "latin1" in flags else "utf-8")
    if "nonl" in flags:
        data = data.rstrip(b"\r\n")
    programs = tuple(word.strip() for word in match[3].split("|") if word.strip())
    encoding = "latin-1" if "latin1" in flags else "utf-8"
    surrogates = [p.encode(encoding).decode("utf-8", "surrogateescape") for p in programs]
    return Case(match[1], data, tuple(surrogates), "norun" not in flags)


_HEADERS = {
    "nersc": "#!/bin/bash\n#SBATCH -q regular -C haswell\n#SBATCH -N 2 -n 64\n#SBATCH -t 30\n\n",
    "kaust": "#!/bin/bash\n#SBATCH --partition=workq\n#SBATCH -t 06\n#SBATCH -A k01\n"
    "#DW jobdw type=scratch access_mode=striped capacity=200GiB\n",
    "archer2": "#!/bin/bash\n\n# Slurm job options\n#SBATCH --job-name='my job'\n"
    "#SBATCH --nodes 4\n#SBATCH --tasks-per-node=128\n#SBATCH --qos=standard # short\n\n",
    "jsc": "#!/bin/bash -x\n#SBATCH --account=zam --nodes=4 --ntasks=16\n"
    "#SBATCH --output=mpi-out.%j\n\n# start\n",
    "cscs": "#!/bin/bash -l\n#\n#SBATCH --constraint=gpu --time=00:30:00\n#\nmodule list\n",
    "sh": "#! /bin/sh\n##SBATCH -n 2\n#SBATCH -n 4\n#SBATCH --exclusive\nset -u\n",
    "array": "#!/usr/bin/env bash\n#SBATCH --array=1-10%2 --requeue\n\t\n#SBATCH -n4\n",
}
_BODIES = {
    "plain": ("./a.out\n", ()),
    "srun": ("srun -n 4 ./a.out input.nml > log.$SLURM_JOB_ID 2>&1\n", ("./a.out",)),
    "continued": (
        "time srun --ntasks=4 \\\n   -c 2 \\\n  ./a.out 'in put' || exit 3\n",
        ("./a.out",),
    ),
    "mpirun": ("mpirun -np 4 ./a.out -np 9 --map-by x\necho $?\n", ("./a.out",)),
    "mpiexec": ("cd . && mpiexec -n 4 ./a.out < /dev/null | tee log\n", ("./a.out",)),
    "aprun": ("aprun -n 4 -N 2 -d 2 -cc cpu ./a.out\n", ("./a.out",)),
    "two": (
        "srun ./prepare --nodes 3\nsrun -n 4 $SLURM_SUBMIT_DIR/solve\n",
        ("./prepare", "$SLURM_SUBMIT_DIR/solve"),
    ),
    "loop": (
        "for i in 1 2 3; do\n  srun -n $i ./a.out $i &\ndone\nwait\n",
        ("./a.out",),
    ),
    "function": (
        'go() {\n  if srun -n 2 ./a.out "$@"; then echo ok; fi\n}\ngo 1 "2 3"\n',
        ("./a.out",),
    ),
    "heredoc": (
        "cat > in.nml <<EOF\n &run srun ./no 'x /\nEOF\nsrun -n 2 ./a.out < in.nml\n",
        ("./a.out",),
    ),
    "variables": (
        'EXE="./a.out"\nN=4\nOUT=out\nsrun -n $N $EXE -o "$OUT/x y" ${N}\n',
        ("$EXE",),
    ),
    "open-end": ("srun ./a.out", ("./a.out",)),
}


def combined_cases() -> list[Case]:
    """Every header with every body, in two kinds of line ends."""
    cases = []
    for head, header in _HEADERS.items():
        for tail, (body, programs) in _BODIES.items():
            data = (header + body).encode()
            cases.append(Case(f"{head}-{tail}", data, programs, True))
            crlf = data.replace(b"\n", b"\r\n")
            cases.append(Case(f"{head}-{tail}-crlf", crlf, programs, False))
    return cases


ALL = [*written_cases(), *combined_cases()]
