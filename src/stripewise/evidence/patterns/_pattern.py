# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records the access pattern of a dataset in HPF notation, with its sizes and description.

Source: Behzad et al., "Pattern-driven parallel I/O tuning" (PDSW 2015); HPF 2.0, chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import takewhile


class PatternKind(StrEnum):
    """Kind of a pattern."""

    DISTRIBUTED = "distributed"
    """Each dimension is BLOCK, CYCLIC, CYCLIC(k) or * (not distributed)."""
    REPLICATED = "replicated"
    """Every rank moves the same elements (all read a namelist)."""
    SINGLE = "single"
    """One rank moves everything."""
    MULTIPARTITION = "multipartition"
    """Each rank owns several equal blocks, one in each diagonal (BT-IO)."""
    IRREGULAR = "irregular"
    """No regular pattern: it is described in words instead of the notation."""
    EMPTY = "empty"
    """Nothing is moved."""


class BlockRule(StrEnum):
    """How n elements are cut into p blocks of unequal length."""

    CEIL = "ceil"
    """n/p rounded up each, the last one has the rest (BLOCK in HPF)."""
    FIXED = "fixed"
    """The same other length for all, the last one has the rest (BLOCK(m) in HPF)."""
    EVEN = "even"
    """n/p rounded down, the first n mod p blocks have one more."""
    EVEN_LAST = "even-last"
    """n/p rounded down, the last n mod p blocks have one more."""
    SPREAD = "spread"
    """Block i begins at i n / p rounded down."""
    REST_LAST = "rest-last"
    """n/p rounded down, the last block has the rest as well."""
    GENERAL = "general"
    """Any lengths (GEN_BLOCK in HPF)."""


@dataclass(frozen=True)
class Distribution:
    """Distribution of one dimension.

    Attributes:
        kind: "BLOCK", "CYCLIC" or "*".
        width: k of CYCLIC(k); 0 otherwise (CYCLIC without k is CYCLIC(1)).
        rule: How blocks of unequal length are cut; empty if all are equal.
        lengths: Lengths of the blocks for `BlockRule.GENERAL`; the one length for `FIXED`.
        ghost: Elements below and above its own block that a process also moves.
        lattice: Only `lattice[1]` of every `lattice[0]` elements are moved; empty if all are.
        interleave: One call of a process moves `interleave[1]` of every `interleave[0]` elements
            of its block, and its other calls the rest; empty if each call moves whole runs.
    """

    kind: str
    width: int = 0
    rule: str = ""
    lengths: tuple[int, ...] = ()
    ghost: tuple[int, int] = (0, 0)
    lattice: tuple[int, ...] = ()
    interleave: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"CYCLIC({self.width})" if self.kind == "CYCLIC" and self.width > 1 else self.kind


@dataclass(frozen=True)
class Pattern:
    """Pattern of one dataset (or file) in one direction.

    Attributes:
        file / dataset: Path and dataset; `dataset` is empty for a whole file.
        writing: Whether the data was written; otherwise it was read.
        kind: Kind of the pattern.
        distributions: One per dimension, C order; empty if irregular.
        block: Elements per dimension that one process moves (most processes do), C order.
        grid: Processes per dimension; the product is the number of participating ranks.
        extents: Extents of the dataset; 0 if unknown.
        element_bytes: Size of one element.
        n_ranks: Number of ranks of the run; `active_ranks`: of participating ranks.
        rank_order: Order of ranks in the grid: "C" (last dimension fastest), "F", or "other".
        steps: Number of writes (reads) that together form one array, or of repetitions.
        halo: Elements per dimension by which neighbours overlap; empty if they do not.
        uneven: Whether the last blocks are smaller.
        collective: Share of the calls that are collective, 0 to 1.
        deviating_ranks: Ranks (at most 16 are listed) that differ from all others.
        n_deviating: Number of deviating ranks.
        source: "hdf5", "pnetcdf", "adios2", "view" or "offsets".
        notes: Further remarks.
        span: First element and end per dimension of the region that all ranks move; empty if it is
            from 0 to the extent.
        first_rank / rank_strides: Rank of the process at the grid's origin, and by how much it
            grows per dimension; empty if not linear.
        file_offset: Offset of the first element if no dataset is known, in bytes.
    """

    file: str
    dataset: str
    writing: bool
    kind: PatternKind
    distributions: tuple[Distribution, ...] = ()
    block: tuple[int, ...] = ()
    grid: tuple[int, ...] = ()
    extents: tuple[int, ...] = ()
    element_bytes: int = 1
    n_ranks: int = 1
    active_ranks: int = 1
    rank_order: str = "C"
    steps: int = 1
    halo: tuple[int, ...] = ()
    uneven: bool = False
    collective: float = 0.0
    deviating_ranks: tuple[int, ...] = ()
    n_deviating: int = 0
    source: str = "hdf5"
    notes: tuple[str, ...] = ()
    span: tuple[tuple[int, int], ...] = ()
    first_rank: int = 0
    rank_strides: tuple[int, ...] = ()
    file_offset: int = 0

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First element and end, per dimension, of the region that all ranks move."""
        return self.span or tuple((0, extent) for extent in self.extents)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Extents of the dataset; unknown ones extend to the end of the moved region."""
        return tuple(
            extent or end for extent, (_, end) in zip(self.extents, self.spans, strict=True)
        )

    @property
    def notation(self) -> str:
        """Notation as `<3D, (BLOCK, BLOCK, *), (60, 100, 300)>`, or else the kind in words."""
        if not self.distributions:
            return f"<{self.kind}>"
        names = ", ".join(str(part) for part in self.distributions)
        sizes = ", ".join(str(size) for size in self.block)
        return f"<{len(self.distributions)}D, ({names}), ({sizes})>"


# Sizes that follow from a pattern: of a process's block, of its contiguous runs, of all.


def block_bytes(pattern: Pattern) -> int:
    """Return the bytes that one process (most of them) moves."""
    return math.prod(pattern.block) * pattern.element_bytes if pattern.block else 0


def run_bytes(pattern: Pattern) -> int:
    """Return the bytes of one contiguous piece that a call moves in the array, in C order.

    The pieces of chunked storage are different.
    """
    if not pattern.distributions:
        return block_bytes(pattern)
    run = pattern.element_bytes
    for d in reversed(range(len(pattern.block))):
        distribution, size = pattern.distributions[d], pattern.block[d]
        if distribution.lattice or distribution.interleave:
            return run * (distribution.interleave or distribution.lattice)[1]
        if distribution.kind == "CYCLIC":
            return run * min(distribution.width, size)
        run *= size
        if d < len(pattern.extents) and size != pattern.extents[d]:
            return run
    return run


def all_bytes(pattern: Pattern) -> int:
    """Return approximately the bytes that all processes move together."""
    cells = math.prod(pattern.grid) if pattern.kind == PatternKind.MULTIPARTITION else 0
    return block_bytes(pattern) * max(cells, pattern.active_ranks)


def dominant(patterns: Iterable[Pattern]) -> Pattern | None:
    """Return the pattern that moves most bytes (the first of equal ones); None without bytes."""
    return max(
        (one for one in patterns if one.kind != PatternKind.EMPTY), key=all_bytes, default=None
    )


def interleaved(pattern: Pattern) -> bool:
    """Return whether a rank's part is in pieces between those of other ranks in the file.

    It is one piece if only the first dimension of more than one element is cut (C order).
    """
    if pattern.active_ranks < 2:
        return False
    if pattern.kind == PatternKind.MULTIPARTITION:
        return True
    cut = [
        d
        for d, (size, extent) in enumerate(zip(pattern.block, pattern.extents, strict=False))
        if size < extent
    ]
    if not cut:
        return False
    if any(pattern.distributions[d].kind == "CYCLIC" for d in cut):
        return True
    return any(size > 1 for size in pattern.block[: cut[-1]])


# Description of a pattern in plain words.


def describe(pattern: Pattern) -> str:
    """Describe a pattern in one sentence, followed by its notes."""
    if pattern.kind == PatternKind.EMPTY:
        return f"nothing is {'written' if pattern.writing else 'read'}"
    parts = [_who(pattern) + _array(pattern), _SAY[pattern.kind](pattern), *_extras(pattern)]
    return "; ".join([part for part in parts if part] + list(pattern.notes))


def _who(pattern: Pattern) -> str:
    verb = "write" if pattern.writing else "read"
    if not pattern.active_ranks:
        return f"ranks {verb}"
    if pattern.active_ranks == 1:
        return f"rank {pattern.first_rank} of {pattern.n_ranks} {verb}s"
    if pattern.active_ranks < pattern.n_ranks:
        return f"{pattern.active_ranks} of {pattern.n_ranks} ranks {verb}"
    return f"{pattern.n_ranks} ranks {verb}"


def _array(pattern: Pattern) -> str:
    sizes = " x ".join(map(str, pattern.extents))
    if not sizes or 0 in pattern.extents:
        return ""
    if pattern.element_bytes == 1:
        return f" an array of {sizes} bytes"
    return f" an array of {sizes} elements of {pattern.element_bytes} bytes"


def _sizes(pattern: Pattern) -> str:
    block = " x ".join(map(str, pattern.block))
    whole, run = block_bytes(pattern), run_bytes(pattern)
    pieces = "in one piece" if run == whole else f"in pieces of {run} bytes"
    return f"{block} ({whole} bytes, {pieces})"


def _distributed(pattern: Pattern) -> str:
    cuts = [
        f"dimension {d} in {_CUT[part.kind].format(k=part.width)} over {n_parts}"
        for d, (part, n_parts) in enumerate(zip(pattern.distributions, pattern.grid, strict=True))
        if part.kind != "*"
    ]
    return f"{', '.join(cuts)}; each process has {_sizes(pattern)}"


_CUT = {"BLOCK": "blocks", "CYCLIC": "turns of {k}"}

_SAY: dict[PatternKind, Callable[[Pattern], str]] = {
    PatternKind.DISTRIBUTED: _distributed,
    PatternKind.REPLICATED: lambda pattern: f"each the same: {_sizes(pattern)}",
    PatternKind.SINGLE: lambda pattern: f"alone: {_sizes(pattern)}",
    PatternKind.MULTIPARTITION: lambda pattern: (
        f"each has several cells of {_sizes(pattern)} on diagonals of "
        f"{' x '.join(map(str, pattern.grid))} cells"
    ),
    PatternKind.IRREGULAR: lambda pattern: "no regular pattern",
}


def _extras(pattern: Pattern) -> list[str]:
    extras = []
    if pattern.rank_order == "F" and pattern.kind == PatternKind.DISTRIBUTED:
        extras.append("ranks in Fortran order")
    if pattern.steps > 1:
        extras.append(f"in {pattern.steps} steps")
    if pattern.halo:
        extras.append(f"neighbours overlap by {' x '.join(map(str, pattern.halo))}")
    if pattern.uneven:
        extras.append("not all blocks are equal")
    if pattern.n_deviating:
        named = ", ".join(map(str, pattern.deviating_ranks))
        more = pattern.n_deviating - len(pattern.deviating_ranks)
        extras.append(f"exceptions: rank {named}" + (f" and {more} more" if more else ""))
    extras.append(_calls(pattern.collective))
    return extras


def _calls(collective: float) -> str:
    if collective in (0.0, 1.0):
        return "collective calls" if collective else "independent calls"
    return f"{100 * collective:.0f} % of the calls are collective"


# Datasets with the same pattern, combined under one name.


@dataclass(frozen=True)
class PatternGroup:
    """Datasets, or files, with the same pattern.

    Attributes:
        pattern: Pattern of the first one.
        members: (file, dataset) of each.
    """

    pattern: Pattern
    members: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Name such as `out.h5:/unk_*`; the path of the file is given in full."""
        files = [file for file, _ in self.members]
        datasets = [dataset for _, dataset in self.members]
        if not any(datasets):
            return common_name(files)
        return f"{common_name(files)}:{common_name(datasets)}"


def group_patterns(patterns: Iterable[Pattern]) -> list[PatternGroup]:
    """Group the datasets, of one file or of several, whose patterns are equal."""
    groups: dict[Pattern, list[Pattern]] = {}
    for pattern in patterns:
        anywhere = replace(pattern, file="", dataset="", file_offset=0)
        groups.setdefault(anywhere, []).append(pattern)
    return [
        PatternGroup(members[0], tuple((one.file, one.dataset) for one in members))
        for members in groups.values()
    ]


def common_name(names: Sequence[str]) -> str:
    """Return the common parts of names, with * for the parts that differ."""
    different = sorted(set(names))
    if len(different) == 1:
        return different[0]
    before = _common_start(different)
    after = _common_start([name[len(before) :][::-1] for name in different])[::-1]
    return f"{before}*{after}"


def _common_start(names: Sequence[str]) -> str:
    alike = takewhile(lambda column: len(set(column)) == 1, zip(*names, strict=False))
    return "".join(column[0] for column in alike)
