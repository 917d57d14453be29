# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the value of settings that were best for another case, for many pairs of cases.

A case is a pattern, a scale, a storage and a stack.  Patterns are random (seed 1); none of them
is used in a comparison with other tools.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import inf, log2

from stripewise.core import Value
from stripewise.core.errors import StripewiseError
from stripewise.evidence.patterns import Pattern, distance_parts
from stripewise.learning import knowledge
from stripewise.storage.machines import Storage, find_storage
from stripewise.storage.simulation import simulate, workload_from_notation
from stripewise.storage.stacks import Workload, find_stack
from stripewise.study.procedure import simulated_workload

STORAGES = (
    "hopper", "edison", "stampede", "archer", "archer2-hdd", "archer2-nvme", "cori-lustre",
    "shaheen2-lustre", "jamstec-da", "lustre-flash",
)  # fmt: skip
STACKS = ("cray", "romio-lustre", "romio", "ompio")
NODES, RANKS_PER_NODE = (4, 8, 16, 32, 64, 128), (8, 16, 32)
DISTRIBUTIONS = (
    "BLOCK", "CYCLIC(4096)",
    "BLOCK,*", "*,BLOCK", "BLOCK,BLOCK", "CYCLIC(8),*", "*,CYCLIC(64)",
    "BLOCK,BLOCK,BLOCK", "*,*,BLOCK", "*,BLOCK,BLOCK", "BLOCK,*,*", "BLOCK,BLOCK,*",
    "*,BLOCK,BLOCK,BLOCK", "*,BLOCK,*,*",
)  # fmt: skip
EQUAL = 0.02
"""Relative difference from the best time that a study could not detect."""
LEAST_GAIN = 0.07
"""Least gain of the best settings in octaves; otherwise nothing can be transferred."""
MIB = 1 << 20
COMMON: dict[str, tuple[Value | None, ...]] = {
    "mpiio.striping_factor": (None, 4, 24, -1),
    "mpiio.striping_unit": (None, 8 * MIB, 64 * MIB),
}
OWN: dict[str, dict[str, tuple[Value | None, ...]]] = {
    "cray": {
        "mpiio.cray_cb_nodes_multiplier": (None, 2, 4, 8, 16),
        "mpiio.cray_cb_write_lock_mode": (None, 2),
    },
    "romio-lustre": {
        "mpiio.cb_nodes": (None, 8, 48),
        "mpiio.romio_lustre_co_ratio": (None, 4),
        "mpiio.romio_cb_write": (None, "disable"),
    },
    "romio": {
        "mpiio.cb_nodes": (None, 8, 48),
        "mpiio.cb_buffer_size": (None, 64 * MIB),
        "mpiio.romio_cb_write": (None, "disable"),
    },
    "ompio": {
        "mca.fcoll": (None, "individual"),
        "mca.io_ompio_num_aggregators": (None, 8, 48),
        "mca.io_ompio_bytes_per_agg": (None, 64 * MIB),
    },
}
Settings = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Shape:
    """Pattern before it is distributed over ranks.

    Attributes:
        bytes: Approximate bytes of a rank in each dataset.
        form: How the block is divided into dimensions, from 0 to 1.
    """

    distributions: str
    bytes: float
    form: float
    element_bytes: int
    steps: int
    datasets: int
    writing: bool
    collective: bool

    @property
    def block(self) -> tuple[int, ...]:
        """Number of elements of a rank in each dimension, at least two."""
        parts, rng = self.distributions.split(","), random.Random(self.form)
        cuts = sorted(rng.random() for _ in parts[1:])
        shares = [b - a for a, b in itertools.pairwise([0.0, *cuts, 1.0])]
        elements = self.bytes / self.element_bytes
        return tuple(max(2, round(elements**share)) for share in shares)


@dataclass(frozen=True)
class Setting:
    """Conditions under which a shape is moved: everything but the pattern."""

    storage: str
    stack: str
    nodes: int
    ranks_per_node: int


@dataclass
class Case:
    """One shape under one setting, and its times with tunables.

    Attributes:
        pattern: Pattern of each of its datasets.
        default: Seconds without settings.
        best: Seconds with the best settings.
        winners: Settings within `EQUAL` of the best with the fewest tunables.
    """

    shape: Shape
    place: Setting
    pattern: Pattern
    work: Workload
    default: float = inf
    best: float = inf
    winners: tuple[Settings, ...] = ()

    def seconds(self, settings: Settings) -> float:
        """Return the time with settings; those that the stack does not know have no effect."""
        return _seconds(self.place.storage, self.place.stack, self.work, settings)

    @cached_property
    def known(self) -> knowledge.StudiedCase:
        """Case as which a study of it would be remembered."""
        storage = _storage(self.place.storage)
        facts = simulated_workload(storage, self.work, self.place.stack).facts
        calls = len(self.work.patterns) * self.shape.steps * self.work.ranks
        writing = self.shape.writing
        facts = replace(facts, write_calls=calls * writing, read_calls=calls * (not writing))
        machine = knowledge.Machine(filesystem=storage.kind, storage=self.place.storage)
        return knowledge.describe_case(machine, facts, program="case")

    def tune(self) -> None:
        """Find the best settings of the whole space."""
        times = {one: self.seconds(one) for one in space(self.place.stack)}
        self.default, self.best = times[()], min(times.values())
        near = [one for one, took in times.items() if took <= self.best * (1 + EQUAL)]
        fewest = min(map(len, near))
        self.winners = tuple(one for one in near if len(one) == fewest)


def space(stack: str) -> Iterator[Settings]:
    """Yield all configurations of a stack."""
    axes = {**COMMON, **OWN[stack]}
    for values in itertools.product(*axes.values()):
        yield tuple((n, v) for n, v in zip(axes, values, strict=True) if v is not None)


def families(number: int, members: int, seed: int = 1) -> list[list[Case]]:
    """Draw families of cases: one at random; the others differ in one or two properties."""
    rng, found = random.Random(seed), []
    while len(found) < number:
        first = _drawn(rng, len(found))
        others = [_changed(rng, *first, rng.choice((1, 1, 2))) for _ in range(members - 1)]
        found.append([made(shape, place) for shape, place in dict.fromkeys([first, *others])])
    return found


def _drawn(rng: random.Random, n: int) -> tuple[Shape, Setting]:
    """Draw a shape and a place: distributions in turn, sizes with any number of bytes."""
    shape = Shape(
        DISTRIBUTIONS[n % len(DISTRIBUTIONS)], 2 ** rng.uniform(16, 25), rng.random(),
        rng.choice((4, 8)), rng.choice((1, 1, 4, 10)), rng.choice((1, 1, 2, 4)),
        rng.random() < 0.75, rng.random() < 0.75,
    )  # fmt: skip
    place = Setting(
        rng.choice(STORAGES), rng.choice(STACKS), rng.choice(NODES), rng.choice(RANKS_PER_NODE)
    )
    return shape, place


def _changed(
    rng: random.Random, shape: Shape, place: Setting, number: int
) -> tuple[Shape, Setting]:
    """Return a shape and place with a number of changes."""
    changes: dict[str, Callable[[], tuple[Shape, Setting]]] = {
        "size": lambda: (
            replace(
                shape, bytes=min(max(shape.bytes * 2 ** rng.uniform(-4, 4), 1 << 14), 1 << 26)
            ),
            place,
        ),
        "form": lambda: (replace(shape, form=rng.random()), place),
        "distribution": lambda: (replace(shape, distributions=rng.choice(DISTRIBUTIONS)), place),
        "element": lambda: (replace(shape, element_bytes=12 - shape.element_bytes), place),
        "steps": lambda: (replace(shape, steps=rng.choice((1, 2, 4, 10, 20))), place),
        "datasets": lambda: (replace(shape, datasets=rng.choice((1, 2, 3, 6))), place),
        "direction": lambda: (replace(shape, writing=not shape.writing), place),
        "collective": lambda: (replace(shape, collective=not shape.collective), place),
        "nodes": lambda: (shape, replace(place, nodes=rng.choice(NODES))),
        "ranks": lambda: (shape, replace(place, ranks_per_node=rng.choice(RANKS_PER_NODE))),
        "storage": lambda: (shape, replace(place, storage=rng.choice(STORAGES))),
        "stack": lambda: (shape, replace(place, stack=rng.choice(STACKS))),
    }
    for name in rng.sample(sorted(changes), number):
        shape, place = changes[name]()
    return shape, place


def made(shape: Shape, place: Setting) -> Case:
    """Distribute a shape over the ranks of a place."""
    sizes = ",".join(map(str, shape.block))
    work = workload_from_notation(
        f"<{len(shape.block)}D,({shape.distributions}),({sizes})>",
        place.nodes, place.ranks_per_node, element_bytes=shape.element_bytes, steps=shape.steps,
        datasets=shape.datasets, collective=shape.collective, writing=shape.writing,
    )  # fmt: skip
    return Case(shape, place, replace(work.patterns[0], file="", dataset=""), work)


@cache
def _storage(name: str) -> Storage:
    return find_storage(name)


def _seconds(storage: str, stack: str, work: Workload, settings: Settings) -> float:
    system, known = _storage(storage), find_stack(stack).tunables
    targets = int(system.value("servers.targets"))
    layout = {"mpiio.striping_factor", "mpiio.striping_unit"}
    given: Mapping[str, Value] = {
        name: -1 if name == "mpiio.striping_factor" and int(value) > targets else value
        for name, value in settings
        if name in known | layout
    }
    try:
        return simulate(system, work, stack, given).seconds
    except StripewiseError:
        return inf


def outcomes(numbered: tuple[int, list[Case]]) -> list[dict[str, object]]:
    """Tune all cases of a family, and try the settings of each on each other one."""
    number, members = numbered
    for one in members:
        one.tune()
    return [
        {"family": number, "cases": [n, m], **pair}
        for n, m in itertools.combinations(range(len(members)), 2)
        if (pair := _pair(members[n], members[m])) is not None
    ]


def _pair(first: Case, second: Case) -> dict[str, object] | None:
    """Return the outcome of a pair; None if settings hardly matter to one of them."""
    possible = [log2(one.default / one.best) for one in (second, first)]
    if min(possible) < LEAST_GAIN:
        return None
    lost = [_lost(first, second), _lost(second, first)]
    return {
        "parts": parts(first, second), "lost": lost, "possible": possible,
        "shipped": knowledge.compare(first.known, second.known).distance,
    }  # fmt: skip


def _lost(tuned: Case, other: Case) -> float:
    """Return the mean octaves that one case loses with the settings of the other."""
    return sum(log2(other.seconds(one) / other.best) for one in tuned.winners) / len(tuned.winners)


def parts(first: Case, second: Case) -> dict[str, float]:
    """Return each difference of two cases from 0 to 1, as in `knowledge` and `patterns`."""
    a, b = first.known, second.known
    stacks = {first.place.stack, second.place.stack}
    one, other = a.fingerprint, b.fingerprint
    return {
        **distance_parts(first.pattern, second.pattern),
        "shares": abs(one.collective_share - other.collective_share),
        "read": abs(one.read_share - other.read_share),
        "noncontiguous": float(one.noncontiguous != other.noncontiguous),
        "call": min(1.0, abs(one.bytes_per_call_log2 - other.bytes_per_call_log2) / 10),
        "calls": min(1.0, abs(one.calls_per_rank_log2 - other.calls_per_rank_log2) / 10),
        "n_ranks": min(1.0, abs(log2(one.n_ranks / other.n_ranks)) / 5),
        "n_hosts": min(1.0, abs(log2(one.n_hosts / other.n_hosts)) / 5),
        "volume": min(1.0, abs(one.volume_log2 - other.volume_log2) / 10),
        "mpi": float(a.stack.mpi_family != b.stack.mpi_family),
        "driver": float(a.stack.mpi_family == b.stack.mpi_family and len(stacks) == 2),
        "storage": float(first.place.storage != second.place.storage),
    }  # fmt: skip
