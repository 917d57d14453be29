# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulates a job: turns its pattern or trace into a workload, and sweeps its numbers."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

import numpy as np

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import Pattern, PatternKind, find_patterns
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import READS, WRITES, Evidence, IoLayer, Op, Pieces, Selections
from stripewise.present import plural
from stripewise.settings.tunables import parse_vary, size_bytes
from stripewise.storage.machines import Storage
from stripewise.storage.simulation._notation import (
    KERNELS,
    workload_from_kernel,
    workload_from_notation,
)
from stripewise.storage.simulation._programs import PatternKey, in_steps
from stripewise.storage.simulation._report import Simulation, SimulationRow
from stripewise.storage.simulation._simulate import Simulated, simulate
from stripewise.storage.simulation._trace_classes import traced_program
from stripewise.storage.stacks import Workload

Say = Callable[[str], None]
"""Function that receives remarks for the user on a workload."""
MOST_POINTS, MOST_RANKS = 100_000, 100_000_000
OF_JOB = ("nodes", "ranks-per-node", "stack", "transport", "capacity")


@dataclass(frozen=True)
class SimulatedJob:
    """Job that is simulated on a storage.

    Attributes:
        pattern: Notation, a kernel and its options, or the path of a trace.
        nodes / ranks_per_node: Size of the job; 0: `cores`, or for a trace its ranks on each node.
        element_bytes / steps / datasets / collective / writing: Properties of a notation;
            `collective` also of a kernel.
        stack / transport: Names; if empty, those of the storage.
        capacity_bytes: Capacity of a burst buffer; 0 for the default.
        private: Whether each node has its own part of the burst buffer.
        cores: Number of cores of a node.
        settings: Values by tunable name.
    """

    pattern: str
    nodes: int
    ranks_per_node: int = 0
    cores: int = 1
    element_bytes: int = 8
    steps: int = 1
    datasets: int = 1
    collective: bool = True
    writing: bool = True
    stack: str = ""
    transport: str = ""
    capacity_bytes: int = 0
    private: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)

    def simulated(self, storage: Storage, workload: Workload) -> Simulated:
        """Simulate the job with a known workload."""
        return simulate(
            storage, workload, self.stack, self.settings, self.transport,
            capacity_bytes=self.capacity_bytes, private=self.private,
        )  # fmt: skip


def simulate_job(
    storage: Storage, job: SimulatedJob, sweep: Mapping[str, Sequence[Value]], say: Say
) -> Simulation:
    """Simulate a job on a storage, once for each combination of swept values.

    Raises:
        UsageError: The pattern is invalid, or of a trace with another number of ranks.
        ConfigurationError: The job is impossible on the storage.
    """
    rows, works = [], {}
    for point, one in swept(job, sweep):
        key = one.nodes, one.ranks_per_node
        if key not in works:
            works[key] = workload_of(one, say)
        rows.append(SimulationRow(point, works[key], one.simulated(storage, works[key])))
    return Simulation(storage, job.pattern, {name: tuple(v) for name, v in sweep.items()}, rows)


def workload_of(job: SimulatedJob, say: Say = lambda text: None) -> Workload:
    """Return the workload of a job.

    Args:
        job: Job that is simulated.
        say: Function that receives remarks on parts of a trace that cannot be simulated.

    Raises:
        UsageError: The pattern is invalid, or of a trace with another number of ranks.
    """
    text, per_node = job.pattern.strip(), job.ranks_per_node or job.cores
    if job.nodes * per_node > MOST_RANKS:
        raise UsageError(
            f"{job.nodes:,} nodes with {per_node:,} ranks each are more than "
            f"{MOST_RANKS:,} ranks: give fewer"
        )
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    if is_notation(text):
        return workload_from_notation(
            text, job.nodes, per_node, element_bytes=job.element_bytes, steps=job.steps,
            datasets=job.datasets, collective=job.collective, writing=job.writing,
        )  # fmt: skip
    is_kernel = bool(words) and words[0] in KERNELS
    _check_options(job, is_kernel)
    if is_kernel:
        work = workload_from_kernel(words, job.nodes, per_node, collective=job.collective)
        return work if job.writing else _as_reads(work)
    if not text or not Path(text).exists():
        raise UsageError(
            f"--pattern {text!r} is neither a trace nor a kernel ({', '.join(KERNELS)}) nor in "
            "notation (<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>)"
        )

    return workload_of_trace(Path(text), job.nodes, job.ranks_per_node, say)


def is_notation(text: str) -> bool:
    """Return whether a pattern is written in HPF notation, correctly or not."""
    return text.startswith("<") or (text[:1].isdigit() and not Path(text).exists())


def _check_options(job: SimulatedJob, is_kernel: bool) -> None:
    """Raise an error for options of the notation if a kernel or a trace has its own.

    Raises:
        UsageError: One of them was given.
    """
    for name in ("element_bytes", "steps", "datasets"):
        if getattr(job, name) != getattr(SimulatedJob, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} requires a pattern in notation; a kernel takes its own options "
                "(--pattern 'vpic --steps 20'), and a trace has all of them"
            )
    for option, given in (("--read", not job.writing), ("--independent", not job.collective)):
        if given and not is_kernel:
            raise UsageError(
                f"{option} requires a pattern in notation or a kernel; for a trace, its own calls "
                "are simulated: leave it out"
            )


def _as_reads(work: Workload) -> Workload:
    return replace(work, patterns=tuple(replace(one, writing=False) for one in work.patterns))


def parse_sweep(texts: Sequence[str]) -> dict[str, tuple[Value, ...]]:
    """Parse `nodes=1,2,4`, `cb_nodes=2,4` etc.: tunables, and other properties of a job.

    Raises:
        UsageError: The text has another form, or there are too many combinations.
    """
    found: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if equals and name in OF_JOB:
            dimension = {name: tuple(_job_value(name, word.strip()) for word in values.split(","))}
        else:
            dimension = parse_vary([text], "--sweep")
        if dimension.keys() & found.keys():
            raise UsageError(f"--sweep names {name} twice; give all its values at once")
        found |= dimension
    points = prod(map(len, found.values()))
    if points > MOST_POINTS:
        raise UsageError(
            f"--sweep makes {points:,} combinations; {MOST_POINTS:,} are the most: give fewer "
            "values"
        )
    return found


def _job_value(name: str, word: str) -> Value:
    if name == "capacity":
        return parse_capacity(word)
    if name in ("stack", "transport") and word:
        return word
    if not word:
        raise UsageError(f"--sweep {name}: a value is missing between or after the commas")
    if not word.isdecimal() or not 0 < int(word) < 10_000_000:
        raise UsageError(f"--sweep {name}: {word!r} is not a number of at least 1")
    return int(word)


def parse_capacity(text: str) -> int:
    """Return the bytes of a capacity.

    Raises:
        UsageError: The text is not a capacity.
    """
    found = size_bytes(text)
    if not found:
        raise UsageError(f"capacity {text!r}: give a size such as 20TiB")
    return found


def swept(
    job: SimulatedJob, sweep: Mapping[str, Sequence[Value]]
) -> Iterator[tuple[dict[str, Value], SimulatedJob]]:
    """Yield every combination of swept values, and its job."""
    for values in itertools.product(*sweep.values()):
        point = dict(zip(sweep, values, strict=True))
        settings = {name: value for name, value in point.items() if name not in OF_JOB}
        changed = replace(job, settings={**job.settings, **settings})
        for name in OF_JOB:
            if name in point:
                changed = _CHANGES[name](changed, point[name])
        yield point, changed


_CHANGES: Mapping[str, Callable[[SimulatedJob, Value], SimulatedJob]] = {
    "nodes": lambda job, value: replace(job, nodes=int(str(value))),
    "ranks-per-node": lambda job, value: replace(job, ranks_per_node=int(str(value))),
    "stack": lambda job, value: replace(job, stack=str(value)),
    "transport": lambda job, value: replace(job, transport=str(value)),
    "capacity": lambda job, value: replace(job, capacity_bytes=int(str(value))),
}


# Workload of a traced run.


def workload_of_trace(
    path: Path, nodes: int, ranks_per_node: int = 0, say: Say = lambda text: None
) -> Workload:
    """Return what the ranks of a traced run moved, with and without MPI-IO.

    Args:
        path: Path of the trace.
        nodes: Number of nodes of the job.
        ranks_per_node: Ranks per node; if 0, the run's ranks are spread evenly.
        say: Function that receives remarks on parts that are left out.

    Raises:
        UsageError: It contains no I/O that can be simulated, or has another number of ranks.
    """
    evidence = read_evidence([path])
    accesses = evidence.accesses
    ranks = max([traced_program(evidence).ranks, *(one.n_ranks for one in accesses)])
    per_node = ranks_per_node or -(-ranks // nodes)
    own = traced_program(evidence, per_node)
    through = [one for one in accesses if not _is_known(one.file, own.files)]
    patterns = _patterns(path, through, say)
    if not patterns and not own.stretches:
        raise UsageError(
            f"{path}: no I/O was found in it; `stripewise profile {path} --as info` says more"
        )
    if ranks != nodes * per_node:
        raise UsageError(
            f"{path} is of {ranks} ranks, not of {nodes * per_node}: give --nodes "
            f"and --ranks-per-node whose product is {ranks}"
        )
    if own.left_out:
        say(
            f"{plural(own.left_out, 'file')} of {path} left out of the simulation, since not in "
            "the directories of the program's data"
        )
    found = in_steps(patterns, _moved(through), _calls(evidence))
    opened = tuple(_opened(evidence, found))
    return Workload(tuple(found), nodes, per_node, own=own.stretches, opened=opened, flowing=True)


def _is_known(file: str, known: Iterable[str]) -> bool:
    """Return whether a file, or files in a directory that represents one, are among the known."""
    return file in known or any(one.startswith(f"{file}/") for one in known)


def _patterns(path: Path, accesses: Iterable[Selections | Pieces], say: Say) -> list[Pattern]:
    """Return the regular patterns, and report the number of the others.

    Raises:
        UsageError: There are only others.
    """
    found = [one for one in find_patterns(accesses) if one.kind != PatternKind.EMPTY]
    patterns = [one for one in found if one.distributions]
    if found and not patterns:
        raise UsageError(
            f"{path}: all its patterns are irregular; `stripewise profile {path} --as pattern` "
            "shows more"
        )
    if len(patterns) < len(found):
        say(
            f"warning: {len(found) - len(patterns)} of {len(found)} patterns in {path} are "
            "irregular and are left out of the simulation"
        )
    return patterns


def _calls(evidence: Evidence) -> dict[tuple[str, bool], int]:
    """Return the maximum number of MPI-IO data calls of a rank, by file and direction."""
    profile = evidence.profile
    table = profile.counters[profile.counters["layer"] == IoLayer.MPIIO]
    found: dict[tuple[str, bool], int] = {}
    for row in table:
        for writing, ops in ((True, WRITES), (False, READS)):
            key = (profile.paths[int(row["file"])], writing)
            found[key] = max(found.get(key, 0), int(row["count"][list(ops)].sum()))
    return found


def _opened(evidence: Evidence, patterns: Iterable[Pattern]) -> Iterator[tuple[str, bool, int]]:
    """Yield how often a rank opened each file by MPI-IO at most, divided among directions."""
    table = evidence.profile.counters
    table = table[table["layer"] == IoLayer.MPIIO]
    ways = sorted({(one.file, one.writing) for one in patterns})
    for file, writing in ways:
        named = [evidence.profile.paths[int(one)] == file for one in table["file"]]
        opens = int(table["count"][np.array(named, bool), Op.OPEN].max(initial=1))
        both = sum(one == file for one, _ in ways)
        yield file, writing, max((opens + both - 1) // both, 1)


def _moved(accesses: Iterable[Selections | Pieces]) -> Counter[PatternKey]:
    """Return the bytes that were moved of each dataset in each direction."""
    moved: Counter[PatternKey] = Counter()
    for one in accesses:
        if isinstance(one, Selections):
            size = int((one.count * one.block).prod(axis=1).sum()) * one.element_bytes
            moved[one.file, one.dataset, one.writing] += size
        else:
            moved[one.file, "", one.writing] += int((one.size * one.repeat).sum())
    return moved
