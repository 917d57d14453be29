# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares our kernel with IOR and benchio on the same work, in pairs of alternating runs.

    STRIPEWISE_PEERS=DIRECTORY make peers               # once: build them from source archives
    python benchmarks/peers.py                          # in memory: what the programs cost
    python benchmarks/peers.py --directory /scratch --fsync --mpi mpich

Each pair is one run of each program, ours first in every other pair; each run writes (and reads)
once with two ranks.  The figure is the median of the pairs' ratios of bandwidth, ours over the
peer's, with an interval of 95 % by bootstrap: above 1 our kernel is faster.

Both sides measure seconds by their own clock for the same span, from before the first rank opens
its file to after the last one has closed it:

* IOR: `totalTime` of its JSON, taken from the bandwidth there, which has more digits: from the
  first start of an open to the last end of a close, with barriers between open, transfer and
  close (-g).  It fills its buffers before, and removes the file after.
* benchio: `time` of its output, from a barrier before the open to one after the close.  It only
  writes.
* ours: `elapsed_seconds` of its JSON: from a barrier before the open to the agreement of all ranks
  after the close, with the agreements after open and transfer.  The kernel's own figure,
  `seconds`, is less: it leaves these out, which on a busy machine wait for a processor.

IOR's whole block is one call (-t equals -b), unless the case says otherwise: IOR sends the same
transfer buffer repeatedly, ours walks through memory like a program.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from peers_output import Figure, table

from stripewise.run.runtime import built_program, find_runtime

RANKS = 2
MIB = 1 << 20
SIDE = 192  # side of a rank's block in benchio: 54 MiB
RESAMPLES = 2000
SEED = 1
MISSING = "peers: IOR and benchio are not built; run: STRIPEWISE_PEERS=DIRECTORY make peers"


@dataclass(frozen=True)
class Case:
    """The same work for our kernel and for a peer.

    Attributes:
        peer: "ior" or "benchio".
        kernel: Options of our kernel.
        words: Options of the peer.
        mpis: MPI families with which they are compared.
    """

    name: str
    peer: str
    kernel: str
    words: str
    mpis: tuple[str, ...] = ("mpich", "openmpi")


def _ior(name: str, kernel: str, words: str, transfer: int = 0) -> Case:
    ours = f"--pattern blocks {kernel}" + (f" --transfer {transfer}" if transfer else "")
    return Case(name, "ior", ours, f"{words} -t {transfer}" if transfer else words)


def _benchio(layer: str, kernel: str, *mpis: str) -> Case:
    ours = f"--pattern array3d --type double --local {SIDE},{SIDE},{SIDE} {kernel}"
    return Case(f"3-D blocks, {layer}", "benchio", ours, layer, mpis or Case.mpis)


CASES = (
    _ior("POSIX, file per process", "--backend posix --layout per-process", "-a POSIX -F"),
    _ior("POSIX, shared file", "--backend posix", "-a POSIX"),
    _ior("POSIX, shared file, 1 MiB calls", "--backend posix", "-a POSIX", MIB),
    _ior("MPI-IO, independent", "--backend mpiio", "-a MPIIO"),
    _ior("MPI-IO, independent, 1 MiB calls", "--backend mpiio", "-a MPIIO", MIB),
    _ior("MPI-IO, collective", "--backend mpiio --mode collective", "-a MPIIO -c"),
    _ior("HDF5, independent", "--backend hdf5", "-a HDF5"),
    _ior("HDF5, collective", "--backend hdf5 --mode collective", "-a HDF5 -c"),
    _benchio("proc", "--backend posix --layout per-process"),
    _benchio("mpiio", "--backend mpiio --mode collective"),
    _benchio("hdf5", "--backend hdf5 --mode collective"),
    _benchio("netcdf", "--backend netcdf4 --mode collective", "openmpi"),
)


class Bench:
    """Both programs with one MPI, in one directory."""

    def __init__(self, family: str, directory: Path, *, block_mib: int, fsync: bool) -> None:
        """Find the programs.

        Raises:
            RuntimeMissingError: No kernel is built for this MPI.
        """
        runtime = find_runtime()
        self.family = family
        self.kernel = built_program(runtime, runtime.kernels, "kernel", family)[1]
        self.peers = peers_of(family)
        self.directory = directory
        self.block = block_mib * MIB
        self.fsync = fsync

    def run(self, *words: str) -> str:
        """Run a program on all ranks and return its output."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STRIPEWISE_")}
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(
            [f"mpiexec.{self.family}", "-n", str(RANKS), *words],
            cwd=self.directory, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"peers: {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def ours(self, case: Case) -> dict[str, float]:
        """Return our seconds, by operation."""
        words = [*case.kernel.split(), "--json", "-", "--file", "ours"]
        if case.peer == "ior":
            words += ["--local", str(self.block // 8), "--op", "write-read"]
            words += ["--fsync"] if self.fsync else []
        return seconds_of_ours(self.run(str(self.kernel), *words))

    def theirs(self, case: Case) -> dict[str, float]:
        """Return the peer's seconds, by operation."""
        program = str(self.peers / case.peer)
        if case.peer == "benchio":
            (self.directory / "unstriped").mkdir(exist_ok=True)
            sides = [str(SIDE)] * 3
            return seconds_of_benchio(
                self.run(program, *sides, "local", "unstriped", *case.words.split())
            )
        words = [*case.words.split(), *([] if "-t" in case.words else ["-t", str(self.block)])]
        words += ["-b", str(self.block), "-g", "-o", "theirs", *(["-e"] if self.fsync else [])]
        words += ["-O", "summaryFormat=JSON", "-O", "summaryFile=ior.json"]
        self.run(program, *words)
        return seconds_of_ior((self.directory / "ior.json").read_text(), RANKS * self.block)


def seconds_of_ours(text: str) -> dict[str, float]:
    """Return the seconds of each operation from our JSON."""
    totals = json.loads(text)["totals"]
    return {name: one["elapsed_seconds"] for name, one in totals.items() if one}


def seconds_of_ior(text: str, amount_bytes: int) -> dict[str, float]:
    """Return the seconds of each operation from IOR's JSON summary."""
    results = json.loads(text)["tests"][0]["Results"]
    return {one["access"]: amount_bytes / (one["bwMiB"] * MIB) for one in results}


def seconds_of_benchio(text: str) -> dict[str, float]:
    """Return the seconds of benchio's only write."""
    found = re.search(r"time =\s*([0-9.Ee+-]+)", text)
    if not found:
        sys.exit(f"peers: benchio printed no time:\n{text}")
    return {"write": float(found[1])}


def peers_of(family: str) -> Path:
    """Return the directory of the peers' programs, as tools/peers.sh leaves them."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = os.environ.get("STRIPEWISE_CACHE") or Path(base, "stripewise")
    return Path(cache, f"peers-{family}", "bin")


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median by bootstrap."""
    chance = random.Random(SEED)
    medians = sorted(
        statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


def compare(bench: Bench, case: Case, n_pairs: int) -> Iterator[Figure]:
    """Run alternating pairs, after one run of each that does not count."""
    bench.ours(case)
    bench.theirs(case)
    pairs = []
    for number in range(n_pairs):
        if number % 2:
            ours, theirs = bench.ours(case), bench.theirs(case)
        else:
            theirs, ours = bench.theirs(case), bench.ours(case)
        pairs.append((ours, theirs))
    for operation in pairs[0][1]:
        own = [ours[operation] for ours, _ in pairs]
        other = [theirs[operation] for _, theirs in pairs]
        ratios = [b / a for a, b in zip(own, other, strict=True)]
        low, high = interval(ratios)
        yield Figure(
            name=case.name,
            peer=case.peer,
            mpi=bench.family,
            operation=operation,
            ratio=statistics.median(ratios),
            low=low,
            high=high,
            best=min(other) / min(own),
            ours=statistics.median(own),
            theirs=statistics.median(other),
            pairs=n_pairs,
        )


def main() -> int:
    """Measure, and print the table or JSON."""
    given = _arguments()
    families = [f for f in given.mpi.split(",") if (peers_of(f) / "ior").exists()]
    if not families:
        print(MISSING)
        return 0
    load = os.getloadavg()[0]
    figures = []
    with tempfile.TemporaryDirectory(dir=given.directory) as scratch:
        for family in families:
            bench = Bench(family, Path(scratch), block_mib=given.block, fsync=given.fsync)
            for case in CASES:
                if family in case.mpis and given.only in case.name:
                    for figure in compare(bench, case, given.pairs):
                        figures.append(figure)
                        if not given.json:
                            print(table([figure], header=len(figures) == 1), flush=True)
    note = f"{given.block} MiB a rank, {given.directory}{', synced' if given.fsync else ''}"
    note += f"; load before: {load:.1f} on {os.cpu_count()} processors"
    if given.json:
        print(json.dumps({"note": note, "figures": [asdict(one) for one in figures]}, indent=2))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--directory", type=Path, default=Path("/dev/shm"), help="where to write")
    parser.add_argument("--fsync", action="store_true", help="sync before each close (IOR's -e)")
    parser.add_argument("--mpi", default="mpich,openmpi", help="families, with commas")
    parser.add_argument("--pairs", type=int, default=31, help="of runs, per case")
    parser.add_argument("--block", type=int, default=64, help="MiB a rank, of IOR's cases")
    parser.add_argument("--only", default="", help="cases whose name has this")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
