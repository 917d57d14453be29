# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models PnetCDF with its header, aligned variables and collective calls on many datasets.

Source: PnetCDF, src/drivers/ncmpio (ncmpio_enddef.c, ncmpio_header_put.c, ncmpio_wait.c); for its
    own lower library, GIO, the release notes: aggregation as in ROMIO's Lustre driver, with
    cb_buffer_size / stripe size stripes gathered before they are written.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from stripewise.evidence.patterns import Pattern
from stripewise.storage.stacks._base import Setup, Stack
from stripewise.storage.stacks._geometry import Geometry, Level, Regular, geometry_of
from stripewise.storage.stacks._hints import (
    LUSTRE_NAMES,
    NAMES,
    Aggregators,
    Hints,
    names,
    number,
    read_hints,
)
from stripewise.storage.stacks._pieces import (
    Placed,
    Ranges,
    as_requests,
    datasets,
    file_numbers,
    in_order,
    joined,
    merged,
    placed,
    ranges_of,
    sampled,
    times,
)
from stripewise.storage.stacks._romio import (
    CallFacts,
    Cray,
    Romio,
    RomioLustre,
    RomioStack,
    StripesInTurn,
    TwoPhase,
)
from stripewise.storage.stacks._workload import Flow, Phase, Requests, Workload

# Several datasets that one collective call moves together, as PnetCDF's `wait_all` does.


class Gathered(RomioStack):
    """Stack in which one call moves all datasets of one file, direction and step."""

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """See `Stack.phases`."""
        hints = read_hints(setup, config_list=self.config_list)
        phases = self.first_phases(work, setup, hints)
        for group in _groups(self.datasets(work, setup), sampled):
            made = self._call_phases(group, work, setup, hints)
            phases += [times(phase, group[0].times) for phase in made]
        return merged(phases)

    def _call_phases(
        self, group: list[Placed], work: Workload, setup: Setup, hints: Hints
    ) -> list[Phase]:
        """Return the phases of one call, or of several if it isn't collective or has holes."""
        found = [(geometry_of(one.pattern), one.base) for one in group]
        parts = [(geometry, base) for geometry, base in found if geometry is not None]
        whole = _as_one_dataset(parts)
        if whole is not None:
            geometry, base = whole
            facts = CallFacts.of(geometry, work.ranks, base)
            if self.together(geometry.pattern, facts, hints):
                return self.collective(geometry, base, work, setup, hints)
        every = [self.call(geometry, base, work, setup, hints) for geometry, base in parts]
        return list(itertools.chain.from_iterable(every))

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """See `Stack.requests`."""
        hints = read_hints(setup, config_list=self.config_list)
        numbers = file_numbers(work)
        tables, phase = self.first_requests(work, setup)
        for group in _groups(self.datasets(work, setup), placed):
            ranges = _ranges(group)
            if not ranges.rank.size:
                continue
            first = group[0]
            moves = self.call_moves(ranges, first.base, first.pattern, work, setup, hints)
            tables.append(moves.table(phase, numbers[first.pattern.file]))
            phase += moves.rounds
        return in_order(tables)


def _groups(
    datasets: Iterable[Placed], steps: Callable[[Placed], Iterable[Placed]]
) -> Iterator[list[Placed]]:
    """Yield the datasets of one call: a step of all consecutive datasets in one file."""

    def call(one: Placed) -> tuple[object, ...]:
        pattern = one.pattern
        return pattern.file, pattern.writing, pattern.collective > 0.5, pattern.steps

    for _, several in itertools.groupby(datasets, call):
        for group in zip(*(list(steps(one)) for one in several), strict=False):
            yield list(group)


def _ranges(group: list[Placed]) -> Ranges:
    """Return the ranges in the file that all ranks move of several datasets."""
    every = [
        replace(ranges, offset=ranges.offset + one.base)
        for one in group
        for ranges in (ranges_of(one.pattern),)
    ]
    return joined(Ranges.together(every))


def _as_one_dataset(parts: list[tuple[Geometry, int]]) -> tuple[Geometry, int] | None:
    """Return several datasets as one, and where it begins; None if they have holes.

    Gaps between variables of different sizes, less than their alignment, count as data.
    """
    if not parts or not all(geometry.union.is_contiguous for geometry, _ in parts):
        return None
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts, key=lambda part: part[1] + part[0].union.first)
    begins = [base + geometry.union.first for geometry, base in parts]
    sizes = {geometry.union.size for geometry, _ in parts}
    apart = {after - before for before, after in itertools.pairwise(begins)}
    ranks = max(geometry.ranks for geometry, _ in parts)
    if len(sizes) == len(apart) == 1 and min(apart) > min(sizes):
        size, step = min(sizes), min(apart)
        outer = Level(0, 0, 1, len(parts), len(parts), step)
        union = Regular((outer, Level(0, 0, 1, size, size, 1)))
    else:
        end = max(base + geometry.union.end for geometry, base in parts)
        union = Regular((Level(0, 0, 1, end - begins[0], end - begins[0], 1),))
    first = parts[0][0]
    return replace(
        first, union=union, ranks=ranks, bytes=sum(geometry.bytes for geometry, _ in parts),
        classes=tuple(one for geometry, _ in parts for one in geometry.classes),
        extent=union.end, interleaved=ranks > 1,
    ), begins[0]  # fmt: skip


# PnetCDF: a header by rank 0, aligned variables, and the stack below it.

_ALIGNMENT, _HEADER_CHUNK = 512, 262144
_NAME_BYTES = 8
"""Size of the name of a dimension, which a pattern does not have (assumed)."""
_OWN = frozenset(
    f"pnetcdf.{name}"
    for name in (
        "nc_var_align_size",
        "nc_header_read_chunk_size",
        "nc_num_aggrs_per_node",
        "nc_driver",
    )
)


class _Variables(RomioStack):
    """Stack in which datasets are variables behind a header."""

    def datasets(self, work: Workload, setup: Setup) -> Iterable[Placed]:
        """See `RomioStack.datasets`."""
        align = max(number(setup, "pnetcdf.nc_var_align_size", _ALIGNMENT), 4)
        longest = max((header_bytes(work, name) for name in file_numbers(work)), default=0)
        return datasets(work, longest, align)

    def first_phases(self, work: Workload, setup: Setup, hints: Hints) -> list[Phase]:
        """Return the opens with the header, written or read by rank 0."""
        phases = super().first_phases(work, setup, hints)
        for one in _first_patterns(work):
            size = _header_request(work, setup, one)
            objects = min(setup.layout.stripe_count, -(-size // setup.layout.stripe_size))
            flow = Flow(one.writing, 1, 1, 1.0, size, objects=objects, objects_per_process=objects)
            phases.append(Phase("write header" if one.writing else "read header", 1.0, (flow,)))
        return phases

    def first_requests(self, work: Workload, setup: Setup) -> tuple[list[Requests], int]:
        """Return the requests for the headers."""
        tables = []
        for phase, one in enumerate(_first_patterns(work)):
            size = np.array([_header_request(work, setup, one)])
            none = np.zeros(1, np.int64)
            file = file_numbers(work)[one.file]
            header = Ranges(none, none, size)
            tables.append(as_requests(header, phase=phase, file=file, writing=one.writing))
        return tables, len(tables)


class _OverUfs(_Variables, Romio):
    """PnetCDF over ROMIO's generic driver."""


class _OverLustre(_Variables, RomioLustre):
    """PnetCDF over ROMIO's Lustre driver."""


class _OverCray(_Variables, Cray):
    """PnetCDF over Cray MPICH."""


class _OverGio(_Variables, RomioStack):
    """PnetCDF over its own library: stripes in turn, several written at once."""

    def buffers(self, facts: CallFacts, hints: Hints) -> bool:
        """Return True: calls are buffered as by ROMIO's Lustre driver (assumed)."""
        return True

    def aggregators(self, work: Workload, hints: Hints, setup: Setup) -> Aggregators:
        """Return the aggregators: on all nodes in turn, one for each stripe by default."""
        wanted = hints.cb_nodes or setup.layout.stripe_count
        each = work.ranks_per_node
        return Aggregators(min(wanted, work.ranks), each, each, each, work.ranks, in_turn=True)

    def _used(self, work: Workload, hints: Hints, setup: Setup) -> Aggregators:
        """Return the aggregators in use: if fewer than stripes, a divisor of the stripes."""
        chosen = self.aggregators(work, hints, setup)
        stripes = setup.layout.stripe_count
        if chosen.count >= stripes:
            return replace(chosen, count=chosen.count // stripes * stripes)
        best = max(n for n in range(1, chosen.count + 1) if stripes % n == 0)
        return replace(chosen, count=best)

    def two_phase(self, writing: bool, work: Workload, setup: Setup, hints: Hints) -> TwoPhase:
        """Move stripes in turn, several of them at once."""
        each_node = number(setup, "pnetcdf.nc_num_aggrs_per_node", 0)
        flush = max(hints.cb_buffer_size // setup.layout.stripe_size, 1)
        return StripesInTurn(
            self._used(work, hints, setup), hints.ds_in_coll, flush=flush,
            ranks=min(work.nodes * each_node, work.ranks),
        )  # fmt: skip


_PLAIN: dict[str, Stack] = {"ufs": _OverUfs(), "lustre": _OverLustre(), "gio": _OverGio()}


_CRAY: dict[str, Stack] = {"ufs": _OverCray(), "lustre": _OverCray(), "gio": _PLAIN["gio"]}


class _UfsGathered(Gathered, _OverUfs):
    """PnetCDF over ROMIO's generic driver, variables gathered."""


class _LustreGathered(Gathered, _OverLustre):
    """PnetCDF over ROMIO's Lustre driver, variables gathered."""


class _GioGathered(Gathered, _OverGio):
    """PnetCDF over its own library, variables gathered."""


_GATHERED: dict[str, Stack] = {
    "ufs": _UfsGathered(),
    "lustre": _LustreGathered(),
    "gio": _GioGathered(),
}


class Pnetcdf(Stack):
    """PnetCDF over ROMIO, or over its own library GIO if `nc_driver` selects it.

    ROMIO uses its Lustre driver if the storage has several targets.
    """

    name = "pnetcdf"
    summary = "PnetCDF: header by rank 0, aligned variables, over ROMIO or its own library"
    tunables = names(*NAMES, *LUSTRE_NAMES) | _OWN
    members = _PLAIN

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """See `Stack.phases`."""
        return self._lower_stack(setup).phases(_through_views(work), setup)

    def requests(self, work: Workload, setup: Setup) -> Requests:
        """See `Stack.requests`."""
        return self._lower_stack(setup).requests(_through_views(work), setup)

    def _lower_stack(self, setup: Setup) -> Stack:
        members = self.members
        if setup.settings.get("pnetcdf.nc_driver") == "gio":
            return members["gio"]
        return members["lustre" if setup.layout.targets > 1 else "ufs"]


class PnetcdfCray(Pnetcdf):
    """PnetCDF over Cray MPICH, or over its own library."""

    name = "pnetcdf-cray"
    summary = "PnetCDF over Cray MPICH, or over its own library"
    tunables = Cray.tunables | _OWN
    members = _CRAY


class PnetcdfNonblocking(Pnetcdf):
    """PnetCDF with nonblocking calls: one `wait_all` moves a step of all variables."""

    name = "pnetcdf-nonblocking"
    summary = "PnetCDF with nonblocking calls: all variables of a step in one collective call"
    members = _GATHERED


def header_bytes(work: Workload, file: str) -> int:
    """Return the size of a file's header, without attributes, in the format CDF-5.

    Source: PnetCDF, file format specification of CDF-5: 12 bytes, then lists of dimensions,
        attributes (absent) and variables.
    """
    variables = {one.dataset: one for one in work.patterns if one.file == file}
    dimensions = {n for one in variables.values() for n in enumerate(one.extents)}
    size = 12 + 12 + len(dimensions) * (8 + _NAME_BYTES + 8) + 12 + 12
    for name, one in variables.items():
        size += 8 + -(-len(name.encode()) // 4) * 4 + 8 + 8 * len(one.extents) + 12 + 4 + 8 + 8
    return size


def _first_patterns(work: Workload) -> list[Pattern]:
    """Return the first pattern of each file and direction."""
    found: dict[tuple[str, bool], Pattern] = {}
    for one in work.patterns:
        found.setdefault((one.file, one.writing), one)
    return list(found.values())


def _header_request(work: Workload, setup: Setup, one: Pattern) -> int:
    if one.writing:
        return header_bytes(work, one.file)
    return number(setup, "pnetcdf.nc_header_read_chunk_size", _HEADER_CHUNK)


def _through_views(work: Workload) -> Workload:
    """Return the workload with PnetCDF as source, whose independent calls have file views."""
    return replace(work, patterns=tuple(replace(p, source="pnetcdf") for p in work.patterns))
