# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares real programs on emulated storage with their simulation.

    python benchmarks/rehearsals.py                        # all cells; some minutes
    python benchmarks/rehearsals.py blocks-romio --repeats 5
    python benchmarks/rehearsals.py --program "ior -a MPIIO -c -b 4m -t 1m -o {file}" ...

Each cell is a real MPI program that runs with `stripewise run --on`.  Its I/O time is compared
with `stripewise simulate` for the same pattern, stack and settings.  Programs other than ours are
traced first, and their patterns are simulated; cells of benchio and IOR need them on PATH.  The
motion is so slow that messages between ranks, which this host really sends, are a small share.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from record_surfaces import environment, family, launcher

from stripewise.core.errors import StripewiseError
from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import simulate, workload_from_kernel

COMMAND = (sys.executable, "-c", "from stripewise.cli import main; main()")
CLOSE = 0.15


@dataclass(frozen=True)
class Cell:
    """One program, one storage, one configuration.

    Attributes:
        name: Name for users.
        on: Storage, in slow motion.
        mpi: "openmpi", "mpich" or "lustre-mpi".
        stack: Software stack for the simulation.
        ranks: Number of ranks of the program.
        kernel: Pattern and options, which simulation knows too.
        more: Options of the kernel that change its calls but not its pattern.
        hints: MPI-IO hints, given by a configuration.
        mca: Parameters of Open MPI.
        program: Another program instead of the kernel; `{file}` is replaced.
        folders: Folders that the program expects in its directory.
        per_node: Number of ranks on each virtual node.
        reads: Whether the kernel reads what it wrote.
    """

    name: str
    on: str
    mpi: str
    stack: str
    ranks: int
    kernel: str = ""
    more: str = "--backend mpiio"
    hints: Mapping[str, object] = field(default_factory=dict)
    mca: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    per_node: int = 1
    reads: bool = False


ARCHER2, HOPPER, WARP = "archer2-hdd@1/64", "hopper@1/64", "shaheen2-datawarp@1/256"
SLOWER = "archer2-hdd@1/256"
BLOCKS = "array3d --local 64,128,128 --steps 2"
ALL = {"cb_config_list": "*:*"}
LUSTRE = ("lustre-mpi", "romio-lustre")
CELLS = (
    Cell("blocks-1-stripe", ARCHER2, *LUSTRE, 4, BLOCKS),
    Cell("blocks-4-stripes", ARCHER2, *LUSTRE, 4, BLOCKS,
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4}),
    Cell("blocks-12-stripes", ARCHER2, *LUSTRE, 4, BLOCKS,
         hints={**ALL, "cb_nodes": 4, "striping_factor": -1}),
    Cell("blocks-4-MiB", ARCHER2, *LUSTRE, 4, BLOCKS,
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4, "striping_unit": 4 << 20}),
    Cell("vpic-1-stripe", ARCHER2, *LUSTRE, 4, "vpic --local 524288"),
    Cell("vpic-4-writers", ARCHER2, *LUSTRE, 4, "vpic --local 524288",
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4, "romio_cb_write": "enable"}),
    Cell("btio-1-stripe", HOPPER, *LUSTRE, 4, "btio --size 64,64,64 --steps 4"),
    Cell("btio-4-stripes", HOPPER, *LUSTRE, 4, "btio --size 64,64,64 --steps 4",
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4}),
    Cell("gcrm-2-ratio", HOPPER, *LUSTRE, 4, "gcrm --local 1,26,40960",
         hints={**ALL, "cb_nodes": 4, "striping_factor": 2, "romio_lustre_co_ratio": 2}),
    Cell("flash-hopper", HOPPER, *LUSTRE, 4, "flash --local 32,8,8,8"),
    Cell("vorpal-hopper", HOPPER, *LUSTRE, 4, "vorpal --local 60,50,60 --steps 4",
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4}),
    Cell("blocks-romio", ARCHER2, "mpich", "romio", 2, BLOCKS),
    Cell("blocks-romio-2", ARCHER2, "mpich", "romio", 2, BLOCKS,
         hints={**ALL, "cb_nodes": 2, "striping_factor": 4}),
    Cell("blocks-ompio", ARCHER2, "openmpi", "ompio", 4, BLOCKS),
    Cell("vpic-ompio", ARCHER2, "openmpi", "ompio", 4, "vpic --local 524288"),
    Cell("gcrm-ompio", HOPPER, "openmpi", "ompio", 4, "gcrm --local 1,26,40960"),
    Cell("btio-warp", "shaheen2-datawarp@1/1024", "mpich", "romio", 2, "btio --size 64,64,64"),
    Cell("gcrm-warp", WARP, "mpich", "romio", 2, "gcrm --local 1,26,81920",
         hints={"cb_buffer_size": 1 << 20}),
    Cell("blocks-warp", WARP, "lustre-mpi", "romio", 4, BLOCKS),
    Cell("vpic-warp", WARP, "lustre-mpi", "romio", 4, "vpic --local 524288"),
    Cell("blocks-own-files", SLOWER, "openmpi", "posix-process", 4, BLOCKS,
         more="--backend posix --layout per-process"),
    Cell("vpic-own-files", HOPPER, "openmpi", "posix-process", 4, "vpic --local 524288",
         more="--backend posix --layout per-process"),
    Cell("blocks-shared", ARCHER2, "openmpi", "posix-shared", 4,
         "array3d --local 4,16,16384", more="--backend posix --layout shared"),
    Cell("vpic-per-node", HOPPER, "openmpi", "posix-node", 4, "vpic --local 262144",
         more="--backend posix --layout per-node --node-ranks 2", per_node=2),
    Cell("blocks-serial", SLOWER, "openmpi", "posix-serial", 4, "array3d --local 16,128,128",
         more="--backend posix --mode serial"),
    Cell("pieces-ompio", ARCHER2, "openmpi", "ompio", 4,
         "array3d --local 4,16,16384 --mode independent"),
    Cell("sieved-romio", WARP, "mpich", "romio", 2,
         "array3d --local 64,32,128 --mode independent"),
    Cell("cyclic-romio", HOPPER, *LUSTRE, 4, "gcrm --local 1,26,20480 --distribution "
         "'*,*,CYCLIC(4096)'", hints={**ALL, "cb_nodes": 4, "striping_factor": 4}),
    Cell("blocks-2-a-node", ARCHER2, *LUSTRE, 4, BLOCKS, per_node=2,
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4}),
    Cell("blocks-read", HOPPER, *LUSTRE, 4, "array3d --local 32,128,128", reads=True,
         hints={**ALL, "cb_nodes": 4, "striping_factor": 4}),
    Cell("vpic-read-ompio", HOPPER, "openmpi", "ompio", 4, "vpic --local 131072", reads=True),
    Cell("wrf-ompio", WARP, "openmpi", "ompio", 4, "wrf --local 10,64,64"),
    Cell("vpic-pnetcdf", WARP, "openmpi", "pnetcdf", 4, "vpic --local 262144",
         more="--backend pnetcdf", mca={"io": "romio321"}),
    Cell("benchio", ARCHER2, "openmpi", "ompio", 4, folders=("unstriped",),
         program=("benchio", "64", "128", "128", "local", "mpiio", "unstriped")),
    Cell("benchio-own-files", SLOWER, "openmpi", "posix-process", 4, folders=("unstriped",),
         program=("benchio", "32", "128", "128", "local", "proc", "unstriped")),
    Cell("ior-segments", ARCHER2, "openmpi", "ompio", 4, program=tuple(
         "ior -a MPIIO -c -w -b 4m -t 1m -s 4 -o {file}".split())),
    Cell("ior-collective", ARCHER2, "openmpi", "ompio", 4, program=tuple(
         "ior -a MPIIO -c -w -b 4m -t 4m -s 4 -o {file}".split())),
    Cell("ior-independent", ARCHER2, "openmpi", "ompio", 4, program=tuple(
         "ior -a MPIIO -w -b 4m -t 1m -s 2 -o {file}".split())),
    Cell("ior-own-files", SLOWER, "openmpi", "posix-process", 4, program=tuple(
         "ior -a POSIX -F -w -b 4m -t 1m -o {file}".split())),
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """Result of a cell.

    Attributes:
        emulated: I/O seconds of each valid run.
        simulated: Simulated I/O seconds.
        problem: Why there is no result; empty if there is one.
    """

    emulated: Sequence[float]
    simulated: float
    problem: str = ""

    @property
    def ratio(self) -> float:
        """Simulated time relative to the emulated time."""
        return self.simulated / median(self.emulated)


def main() -> int:
    """Run, simulate, and print."""
    given = _arguments()
    rows = []
    for cell in given.cells:
        found = compare(cell, given.repeats)
        rows.append((cell, found))
        print(_row(cell, found), flush=True)
    known = [found for _, found in rows if not found.problem]
    close = sum(abs(found.ratio - 1) <= CLOSE for found in known)
    print(f"within {CLOSE:.0%}: {close} of {len(known)} cells")
    return 0 if close == len(rows) else 1


def compare(cell: Cell, repeats: int) -> Found:
    """Run a cell several times, and simulate it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in cell.folders:
            (home / name).mkdir()
        try:
            simulated = _simulated(cell, home)
            seconds = [one for _ in range(repeats) for one in _run(cell, home)]
        except (StripewiseError, subprocess.SubprocessError, OSError, ValueError) as error:
            return Found((), 0.0, str(error).splitlines()[0])
    return Found(seconds, simulated, "" if seconds else "the host was the limit")


def _simulated(cell: Cell, home: Path) -> float:
    """Return the simulated I/O seconds of a cell."""
    if cell.program:
        return _simulated_trace(cell, home)
    settings = {f"mpiio.{name}": value for name, value in cell.hints.items()}
    settings |= {f"mca.{name}": value for name, value in cell.mca.items()}
    work = workload_from_kernel(cell.kernel, cell.ranks // cell.per_node, cell.per_node)
    read = tuple(replace(one, writing=False) for one in work.patterns) if cell.reads else ()
    work = replace(work, patterns=work.patterns + read)
    hosts = 1 if cell.stack.startswith("ompio") else 0
    return simulate(find_storage(cell.on), work, cell.stack, settings, hosts=hosts).seconds


def _simulated_trace(cell: Cell, home: Path) -> float:
    """Return the simulated I/O seconds of a program, based on its trace."""
    trace = home / "program.trace"
    start = {"cwd": home, "env": environment(cell.mpi), "check": True, "capture_output": True}
    subprocess.run([*COMMAND, "run", "--trace", str(trace), "--", *_words(cell, home)], **start)
    told = subprocess.run(
        [*COMMAND, "simulate", "--on", cell.on, "--nodes", str(cell.ranks // cell.per_node),
         "--pattern", str(trace), "--stack", cell.stack, "--json"],
        **start,
    )  # fmt: skip
    return float(json.loads(told.stdout)["seconds"])


def _run(cell: Cell, home: Path) -> Iterator[float]:
    """Yield the I/O time of one run, if it is valid."""
    for old in home.rglob("*.dat*"):
        old.unlink()
    configured = []
    if cell.hints or cell.mca:
        file = home / "hints.toml"
        file.write_text(_toml(cell))
        configured = ["--config", str(file)]
    done = subprocess.run(
        [*COMMAND, "run", "--on", cell.on, "--ranks-per-node", str(cell.per_node), *configured,
         "--json", "--", *_words(cell, home)],
        cwd=home, env=environment(cell.mpi), check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    seen = json.loads(done.stdout.splitlines()[-1])
    if seen["emulated"]["counted"]:
        yield seen["io_seconds"]


def _words(cell: Cell, home: Path) -> list[str]:
    start = [launcher(cell.mpi), "-n", str(cell.ranks)]
    if cell.mpi == "openmpi":
        start.insert(1, "--oversubscribe")
    file = "out.dat"
    if cell.program:
        return [*start, *(word.format(file=file) for word in cell.program)]
    kernel = ["--pattern", *shlex.split(cell.kernel), *shlex.split(cell.more), "--keep"]
    own = "posix" in cell.more or "--mode" in cell.kernel
    together = [] if own else ["--mode", "collective"]
    together += ["--op", "write-read"] if cell.reads else []
    return [*start, f"stripewise-kernel-{family(cell.mpi)}", *kernel, *together, "--file", file]


def _toml(cell: Cell) -> str:
    hints = ", ".join(f"{name} = {json.dumps(value)}" for name, value in cell.hints.items())
    mca = ", ".join(f"{name} = {json.dumps(value)}" for name, value in cell.mca.items())
    text = "version = 1\n"
    text += f'[[file]]\nmatch = "*"\noverride = true\nmpiio = {{ {hints} }}\n' if hints else ""
    return text + (f"[job]\nmca = {{ {mca} }}\n" if mca else "")


def _row(cell: Cell, found: Found) -> str:
    if found.problem:
        return f"{cell.name:20} {cell.on:24} {cell.stack:14} {found.problem}"
    spread = (max(found.emulated) - min(found.emulated)) / median(found.emulated)
    return (
        f"{cell.name:20} {cell.on:24} {cell.stack:14} emulated {median(found.emulated):7.3f} s "
        f"(spread {spread:4.0%})  simulated {found.simulated:7.3f} s  ratio {found.ratio:.2f}"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="CELL", help="default: all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--program",
        action="append",
        default=[],
        metavar="COMMAND",
        help="program without its launcher; {file} stands for its output",
    )
    parser.add_argument(
        "--folder", action="append", default=[], help="that it expects to be there"
    )
    parser.add_argument("--on", default=ARCHER2)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--stack", default="ompio")
    parser.add_argument("--ranks", type=int, default=4)
    given = parser.parse_args()
    cells = [cell for cell in CELLS if not given.names or cell.name in given.names]
    if given.program and not given.names:
        cells = []
    for number, text in enumerate(given.program):
        words = tuple(shlex.split(text))
        name = f"{Path(words[0]).name}-{number + 1}"
        started = given.on, given.mpi, given.stack, given.ranks
        cells.append(Cell(name, *started, program=words, folders=tuple(given.folder)))
    given.cells = cells
    return given


if __name__ == "__main__":
    sys.exit(main())
