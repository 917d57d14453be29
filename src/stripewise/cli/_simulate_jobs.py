# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs for `stripewise simulate`: patterns to workloads, and the product of what is swept."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.cli._vary import parse_vary
from stripewise.errors import UsageError
from stripewise.model import Value
from stripewise.simulation import (
    KERNELS,
    Workload,
    workload_from_kernel,
    workload_from_notation,
)
from stripewise.tunables import size_bytes

if TYPE_CHECKING:
    from stripewise.machines import Storage
    from stripewise.simulation import Simulated

MOST_POINTS, MOST_RANKS = 100_000, 100_000_000
OF_JOB = ("nodes", "ranks-per-node", "stack", "transport", "capacity")


@dataclass(frozen=True)
class Job:
    """What is simulated on a storage.

    Attributes:
        pattern: Notation, a kernel and its options, or the path of a trace.
        nodes / ranks_per_node: Of the job; 0: `cores`, or of a trace its ranks on each node.
        element_bytes / steps / datasets / collective / writing: Of a notation; `collective` of a
            kernel too.
        stack / transport: Names; "": the storage's own.
        capacity_bytes: Of a burst buffer; 0: the default.
        private: Each node has a part of the burst buffer to itself.
        cores: Of a node.
        settings: Tunable name -> value.
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
        """Simulate the job, whose workload is known."""
        from stripewise.simulation import simulate

        return simulate(
            storage, workload, self.stack, self.settings, self.transport,
            capacity_bytes=self.capacity_bytes, private=self.private,
        )  # fmt: skip


def workload_of(job: Job) -> Workload:
    """Return what the ranks of a job move.

    Raises:
        UsageError: The pattern is none, or of a trace with another number of ranks.
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
        return work if job.writing else _reading(work)
    if not text or not Path(text).exists():
        raise UsageError(
            f"--pattern {text!r} is no trace, no kernel ({', '.join(KERNELS)}) and no notation "
            "(<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>)"
        )
    from stripewise.cli._simulate_trace import workload_of_trace

    return workload_of_trace(Path(text), job.nodes, job.ranks_per_node)


def is_notation(text: str) -> bool:
    """Whether a pattern is written in HPF notation, well or not."""
    return text.startswith("<") or (text[:1].isdigit() and not Path(text).exists())


def _check_options(job: Job, is_kernel: bool) -> None:
    """Refuse options of the notation where a kernel or a trace has its own.

    Raises:
        UsageError: One of them was given.
    """
    for name in ("element_bytes", "steps", "datasets"):
        if getattr(job, name) != getattr(Job, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} goes with a pattern in notation; a kernel takes its own options "
                "(--pattern 'vpic --steps 20'), and a trace has all of them"
            )
    for option, given in (("--read", not job.writing), ("--independent", not job.collective)):
        if given and not is_kernel:
            raise UsageError(
                f"{option} goes with a pattern in notation or a kernel; of a trace, the calls "
                "that it has are simulated: leave it out"
            )


def _reading(work: Workload) -> Workload:
    return replace(work, patterns=tuple(replace(one, writing=False) for one in work.patterns))


def parse_sweep(texts: Sequence[str]) -> dict[str, tuple[Value, ...]]:
    """Read `nodes=1,2,4`, `cb_nodes=2,4` and their like: tunables, and what a job has beside them.

    Raises:
        UsageError: It is no such text, or there are too many combinations.
    """
    found: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if equals and name in OF_JOB:
            dimension = {name: tuple(_of_job(name, word.strip()) for word in values.split(","))}
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


def _of_job(name: str, word: str) -> Value:
    if name == "capacity":
        return capacity(word)
    if name in ("stack", "transport") and word:
        return word
    if not word:
        raise UsageError(f"--sweep {name}: a value is missing between or behind the commas")
    if not word.isdecimal() or not 0 < int(word) < 10_000_000:
        raise UsageError(f"--sweep {name}: {word!r} is no number of at least 1")
    return int(word)


def capacity(text: str) -> int:
    """Return the bytes of a capacity.

    Raises:
        UsageError: It is none.
    """
    found = size_bytes(text)
    if not found:
        raise UsageError(f"capacity {text!r}: give a size such as 20TiB")
    return found


def swept(
    job: Job, sweep: Mapping[str, Sequence[Value]]
) -> Iterator[tuple[dict[str, Value], Job]]:
    """Yield every combination of what is swept, and its job."""
    for values in itertools.product(*sweep.values()):
        point = dict(zip(sweep, values, strict=True))
        settings = {name: value for name, value in point.items() if name not in OF_JOB}
        changed = replace(job, settings={**job.settings, **settings})
        for name in OF_JOB:
            if name in point:
                changed = _CHANGES[name](changed, point[name])
        yield point, changed


_CHANGES: Mapping[str, Callable[[Job, Value], Job]] = {
    "nodes": lambda job, value: replace(job, nodes=int(str(value))),
    "ranks-per-node": lambda job, value: replace(job, ranks_per_node=int(str(value))),
    "stack": lambda job, value: replace(job, stack=str(value)),
    "transport": lambda job, value: replace(job, transport=str(value)),
    "capacity": lambda job, value: replace(job, capacity_bytes=int(str(value))),
}
