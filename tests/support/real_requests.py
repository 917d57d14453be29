# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The requests that a real MPI makes of a file system, taken with our own capture.

A `Cell` is a run of the benchmark kernel: what is moved, by how many ranks, through which MPI-IO,
under which settings.  `real_requests` runs it and returns what reached the data file; `workload`
and `setup` say the same to `stripewise.storage.simulation`.

Left out of both: opening, closing, and whatever does not concern the data file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op, Trace, expand
from stripewise.run.runtime import find_runtime
from stripewise.storage import emulation
from stripewise.storage.emulation import EmulatedStorage, Emulation, EmulationOptions, set_layout
from stripewise.storage.simulation import workload_from_kernel
from stripewise.storage.stacks import REQUEST_DTYPE, Layout, Requests, Setup, Workload

DATA = "data.dat"
_TARGETS = 58  # of lustre-flash
_LARGEST = 1 << 28
_TYPES = {"int64": 8, "double": 8, "float": 4}
_MPI_OF = {"mpich": "mpich", "lustre": "mpich", "romio321": "openmpi", "ompio": "openmpi"}
_STACK_OF = {"mpich": "romio", "lustre": "romio-lustre", "romio321": "romio", "ompio": "ompio"}


@dataclass(frozen=True)
class Cell:
    """One run of the kernel.

    Attributes:
        mpi: "mpich" and "romio321": ROMIO's generic driver (in MPICH, in Open MPI); "lustre":
            ROMIO's Lustre driver; "ompio".
        size: Elements of the array per dimension (three), the last one fastest.
        grid / cut: Parts per dimension, and BLOCK, CYCLIC(n) or * for each.
        collective: Otherwise each rank calls by itself.
        settings: Tunable -> value: "mpiio." hints and "mca." parameters.
        stripes: Count and size of the file's stripes, where no setting gives them.
        type: Of the elements.
        reading: A file of zeros that is there already.
        calls: A call for each contiguous piece instead of one through a file view.
        halo: Cells around each block in memory.
        node_ranks: Ranks on a virtual node of emulated storage; 0: all on one, and storage is
            emulated where the driver is Lustre's only.
        holes: Stride and length: of every so many elements so many are written.  It is another
            program then; the array has one dimension, and is cut into blocks.
        kernel: Name and options of another kernel, "vpic --local 4096": then `size` and `cut` do
            not count, and `grid` only for the number of ranks.
    """

    mpi: str
    size: tuple[int, int, int]
    grid: tuple[int, int, int]
    cut: tuple[str, str, str] = ("BLOCK", "BLOCK", "BLOCK")
    collective: bool = True
    settings: Mapping[str, str | int] = field(default_factory=dict)
    stripes: tuple[int, int] = (1, 1 << 20)
    type: str = "int64"
    reading: bool = False
    steps: int = 1
    calls: bool = False
    kernel: str = ""
    halo: int = 0
    node_ranks: int = 0
    holes: tuple[int, int] = (0, 0)

    @property
    def ranks(self) -> int:
        """Ranks of the run."""
        return int(np.prod(self.grid))

    @property
    def nodes(self) -> int:
        """Nodes that MPI-IO finds."""
        return self.ranks // self.node_ranks if self.node_ranks else 1

    @property
    def stack(self) -> str:
        """Name of the simulated stack."""
        return _STACK_OF[self.mpi]

    def __str__(self) -> str:
        said = [
            self.mpi,
            *(
                [self.kernel.replace(" --", ":").replace(" ", "="), str(self.ranks)]
                if self.kernel
                else ["x".join(map(str, self.size)), "x".join(map(str, self.grid))]
            ),
            *([] if self.kernel else ["-".join(self.cut)]),
            "coll" if self.collective else "pieces" if self.calls else "indep",
            "read" if self.reading else "write",
        ]
        said += [f"stripes={self.stripes[0]}x{self.stripes[1]}"] if self.mpi == "lustre" else []
        said += ["holes={}:{}".format(*self.holes)] if self.holes[0] else []
        said += [f"node_ranks={self.node_ranks}"] if self.node_ranks else []
        said += [f"halo={self.halo}"] if self.halo else []
        said += [f"steps={self.steps}"] if self.steps > 1 else []
        said += [f"{name.rpartition('.')[2]}={value}" for name, value in self.settings.items()]
        return ",".join(said)


def workload(cell: Cell) -> Workload:
    """What the kernel asks for."""
    if cell.kernel:
        op = "--op read" if cell.reading else "--op write"
        words = f"{cell.kernel} {op} --steps {cell.steps} --halo {cell.halo}"
        return workload_from_kernel(
            words, cell.nodes, cell.ranks // cell.nodes, collective=cell.collective
        )
    element = _TYPES[cell.type]
    step = int(np.prod(cell.size)) * element
    parts = tuple(map(_distribution, cell.cut))
    if cell.holes[0]:
        parts = (*parts[:-1], replace(parts[-1], lattice=cell.holes))
    block = tuple(
        extent if cut == "*" else -(-extent // parts)
        for extent, cut, parts in zip(cell.size, cell.cut, cell.grid, strict=True)
    )
    patterns = tuple(
        Pattern(
            file=DATA,
            dataset="",
            writing=not cell.reading,
            kind=PatternKind.DISTRIBUTED,
            distributions=parts,
            block=block,
            grid=cell.grid,
            extents=cell.size,
            element_bytes=element,
            n_ranks=cell.ranks,
            active_ranks=cell.ranks,
            uneven=any(n % p for n, p in zip(cell.size, cell.grid, strict=True)),
            collective=float(cell.collective),
            source="view",
            file_offset=number * step,
        )
        for number in range(cell.steps)
    )
    row = cell.size[-1] * element if cell.halo else 0
    return Workload(patterns, cell.nodes, cell.ranks // cell.nodes, memory_run=row)


def _distribution(cut: str) -> Distribution:
    kind, _, width = cut.partition("(")
    if kind == "CYCLIC":
        return Distribution(kind, int(width.rstrip(")") or 1))
    return Distribution(kind, rule="even" if kind == "BLOCK" else "")


def setup(cell: Cell) -> Setup:
    """Under which settings, on which stripes; a file that is there keeps its own."""
    count, unit = cell.stripes
    if not cell.reading:
        # The driver asks for all targets where only the size of stripes is given.
        only_size = cell.mpi == "lustre" and "mpiio.striping_unit" in cell.settings
        count = int(cell.settings.get("mpiio.striping_factor", _TARGETS if only_size else count))
        unit = int(cell.settings.get("mpiio.striping_unit", unit))
    return Setup(Layout(count, unit, max(count, 64)), cell.settings, hosts=cell.nodes)


def real_requests(cell: Cell, where: Path) -> Requests:
    """Run the kernel; what its ranks asked of the data file.

    Shape (n,), `REQUEST_DTYPE`, by rank and order; `phase` and `file` are 0.
    """
    if cell.reading:
        with open(where / DATA, "wb") as file:
            file.truncate(_LARGEST)
    return _of_data_file(captured(cell, _options(cell), where))


def captured(cell: Cell, options: Sequence[str], where: Path) -> Trace:
    """Run the kernel with these options under capture, call by call; its trace."""
    containers = where / f"containers-{uuid.uuid4().hex}"
    containers.mkdir()
    runtime = find_runtime()
    variables = {
        "LD_PRELOAD": str(runtime.core),
        "STRIPEWISE_DIRECTORY": str(containers),
        "STRIPEWISE_RUN_ID": containers.name,
        "STRIPEWISE_PLUGIN_PATH": str(runtime.plugin_directory),
        "STRIPEWISE_CAPTURE": "all",
    }
    with _lustre(cell, where) as more:
        _run(cell, options, where, variables | more)
    trace = read_evidence(containers).trace
    assert trace is not None
    assert trace.lost_calls == 0
    return trace


@contextmanager
def _lustre(cell: Cell, where: Path) -> Iterator[dict[str, str]]:
    """Variables under which a directory is on a Lustre; none where that changes nothing."""
    if cell.mpi != "lustre" and not cell.node_ranks:
        yield {}
        return
    set_layout(where, emulation.Layout(*cell.stripes))
    storage = EmulatedStorage.find(EmulationOptions("lustre-flash", cell.node_ranks or cell.ranks))
    with Emulation.begin(storage, where) as emulated:
        yield emulated.variables
        assert emulated.read().requests


def differences(real: Requests, simulated: Requests, most: int = 6) -> str:
    """In words, rank by rank: where requests differ in who, how many, offset, size, direction.

    A read that serves a write (data sieving) returns what the file holds at that moment, which
    other ranks decide: it may have been shorter than the read that was asked for.
    """
    writing = bool(simulated["writing"].any()) or bool(real["writing"].any())
    said = []
    for rank in sorted({*real["rank"].tolist(), *simulated["rank"].tolist()}):
        ours, theirs = (_told(some[some["rank"] == rank]) for some in (real, simulated))
        ours = _merged(ours) if writing else ours
        if len(ours) != len(theirs):
            said.append(f"rank {rank}: {len(ours)} real requests, {len(theirs)} simulated")
        for turn, (a, b) in enumerate(zip(ours, theirs, strict=False)):
            same_size = a[2] <= b[2] if writing and a[0] == "read" else a[2] == b[2]
            if a[:2] != b[:2] or not same_size:
                said.append(f"rank {rank}, request {turn}: real {a}, simulated {b}")
    more = len(said) - most
    return "\n".join(said[:most] + ([f"and {more} more"] if more > 0 else []))


_Told = tuple[str, int, int]


def _told(requests: Requests) -> list[_Told]:
    order = np.argsort(requests["order"], kind="stable")
    return [
        ("write" if row["writing"] else "read", int(row["offset"]), int(row["size"]))
        for row in requests[order]
    ]


def _merged(requests: list[_Told]) -> list[_Told]:
    """A read that was cut off and its rest are one."""
    found: list[_Told] = []
    for kind, offset, size in requests:
        last = found[-1] if found else ("", 0, 0)
        if kind == last[0] == "read" and last[1] + last[2] == offset and last[2]:
            found[-1] = (kind, last[1], last[2] + size)
            continue
        found.append((kind, offset, size))
    return found


def _of_data_file(trace: Trace) -> Requests:
    rows = expand(trace)
    named = [number for number, path in enumerate(trace.paths) if Path(path).name == DATA]
    rows = rows[
        (rows["layer"] == IoLayer.POSIX)
        & np.isin(rows["op"], (Op.READ, Op.WRITE))
        & np.isin(rows["file"], named)
        & (rows["rank"] >= 0)
    ]
    found = np.zeros(len(rows), REQUEST_DTYPE)
    for name, source in (("rank", "rank"), ("offset", "offset"), ("size", "bytes")):
        found[name] = rows[source]
    found["writing"] = rows["op"] == Op.WRITE
    found = found[np.argsort(found["rank"], kind="stable")]
    begins = np.searchsorted(found["rank"], found["rank"])
    found["order"] = np.arange(len(found)) - begins
    return found


def _run(cell: Cell, options: Sequence[str], where: Path, variables: Mapping[str, str]) -> None:
    command = [*_launcher(cell), _program(cell), *options]
    done = subprocess.run(
        command,
        cwd=where,
        env=_environment(cell) | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def _program(cell: Cell) -> str:
    family = _MPI_OF[cell.mpi]
    if cell.holes[0]:
        return _lattice_program(family)
    kernel = find_runtime().kernels.get(family)
    if kernel is None:
        pytest.skip(f"no kernel for {family}: stripewise doctor build")
    return str(kernel)


@cache
def _lattice_program(family: str) -> str:
    source = Path(__file__).resolve().parents[1] / "mpi" / "programs" / "lattice.c"
    directory = tempfile.mkdtemp(prefix="stripewise-lattice-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    program = f"{directory}/lattice-{family}"
    subprocess.run([f"mpicc.{family}", str(source), "-o", program], check=True)
    return program


def _hint_options(cell: Cell) -> list[str]:
    words = []
    for name, value in cell.settings.items():
        if name.startswith("mpiio."):
            words += ["--hint", f"{name.removeprefix('mpiio.')}={value}"]
    return words


def _options(cell: Cell) -> list[str]:
    if cell.holes[0]:
        words = [cell.size[-1] // cell.ranks, *cell.holes, int(cell.collective)]
        return [*map(str, words), *_hint_options(cell)]
    pattern, *own = (cell.kernel or "array3d").split()
    words = ["--pattern", pattern, "--backend", "mpiio", "--halo", str(cell.halo)]
    words += ["--file", DATA]
    words += ["--mode", "collective" if cell.collective else "independent", "--keep"]
    words += ["--op", "read" if cell.reading else "write", "--steps", str(cell.steps)]
    words += ["--open-once", *(["--no-view"] if cell.calls else [])]
    words += own or _array_options(cell)
    return words + _hint_options(cell)


def _array_options(cell: Cell) -> list[str]:
    words = ["--type", cell.type]
    for option, values in (("size", cell.size), ("grid", cell.grid), ("distribution", cell.cut)):
        words += [f"--{option}", ",".join(map(str, values))]
    return words


def _launcher(cell: Cell) -> list[str]:
    words = [_mpiexec(cell.mpi), "-n", str(cell.ranks)]
    if _MPI_OF[cell.mpi] == "openmpi":
        words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    return words


def _mpiexec(mpi: str) -> str:
    """Launcher; MPICH's is the one that does not spin, if it is there: the ROMIO is the same."""
    if mpi in ("lustre", "mpich"):
        path = lustre_mpi() / "bin" / "mpiexec"
        if path.is_file():
            return str(path)
        if mpi == "lustre":
            pytest.skip(f"no {path}: make lustre-mpi")
    name = f"mpiexec.{_MPI_OF[mpi]}"
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def lustre_mpi() -> Path:
    """Where `make lustre-mpi` puts MPICH with ROMIO's Lustre driver."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "stripewise")
    return Path(os.environ.get("STRIPEWISE_CACHE") or usual, "lustre-mpi")


def _environment(cell: Cell) -> dict[str, str]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("STRIPEWISE_", "LD_PRE"))}
    plain.pop("MPICH_MPIIO_HINTS", None)
    if _MPI_OF[cell.mpi] == "openmpi":
        plain |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        plain["OMPI_MCA_io"] = cell.mpi
        for name, value in cell.settings.items():
            if name.startswith("mca."):
                plain[f"OMPI_MCA_{name.removeprefix('mca.')}"] = str(value)
    return plain
