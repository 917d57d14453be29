# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The access pattern of one dataset over all ranks, in the notation of High Performance Fortran.

Source: Behzad et al., "Pattern-driven parallel I/O tuning" (PDSW 2015); HPF 2.0, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PatternKind(StrEnum):
    """How far a pattern could be named."""

    DISTRIBUTED = "distributed"
    """Each dimension is BLOCK, CYCLIC, CYCLIC(k) or * (not distributed)."""
    REPLICATED = "replicated"
    """Every rank moves the same elements (all read a namelist)."""
    SINGLE = "single"
    """One rank moves everything."""
    MULTIPARTITION = "multipartition"
    """Each rank owns several equal blocks, one in each diagonal (BT-IO)."""
    IRREGULAR = "irregular"
    """Described in words, not forced into the notation."""
    EMPTY = "empty"
    """Nothing is moved."""


class BlockRule(StrEnum):
    """How n elements are cut into p blocks of unequal length."""

    CEIL = "ceil"
    """n/p rounded up each, the last one has the rest (BLOCK in HPF)."""
    FIXED = "fixed"
    """Another length for all, the last one has the rest (BLOCK(m) in HPF)."""
    EVEN = "even"
    """n/p rounded down, the first n mod p have one more."""
    EVEN_LAST = "even-last"
    """The last n mod p have one more."""
    SPREAD = "spread"
    """Block i begins at i n / p rounded down."""
    REST_LAST = "rest-last"
    """n/p rounded down, the last one has the rest as well."""
    GENERAL = "general"
    """Any lengths (GEN_BLOCK in HPF)."""


@dataclass(frozen=True)
class Distribution:
    """Distribution of one dimension.

    Attributes:
        kind: "BLOCK", "CYCLIC" or "*".
        width: k of CYCLIC(k); 0 otherwise (CYCLIC alone is CYCLIC(1)).
        rule: How blocks of unequal length are cut; "": all are equal.
        lengths: Of the blocks, with `BlockRule.GENERAL`; the one length, with `FIXED`.
        ghost: Elements below and above its own block that a process moves too.
        lattice: Only `lattice[1]` elements of every `lattice[0]` are moved; empty: all are.
    """

    kind: str
    width: int = 0
    rule: str = ""
    lengths: tuple[int, ...] = ()
    ghost: tuple[int, int] = (0, 0)
    lattice: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"CYCLIC({self.width})" if self.kind == "CYCLIC" and self.width > 1 else self.kind


@dataclass(frozen=True)
class Pattern:
    """Pattern of one dataset (or file), one direction.

    Attributes:
        file / dataset: Where; `dataset` is "" for a whole file.
        writing: Written, otherwise read.
        kind: How far it could be named.
        distributions: One per dimension, C order; empty if irregular.
        block: Elements per dimension that one process moves (of most processes), C order.
        grid: Processes per dimension; its product is the number of ranks that take part.
        extents: Of the dataset; 0 where not known.
        element_bytes: Of one element.
        n_ranks: Ranks of the run; `active_ranks`: that take part.
        rank_order: How ranks lie in the grid: "C" (last dimension fastest), "F", or "other".
        steps: Writes (reads) that together make one array, or times that it is repeated.
        halo: Elements per dimension by which neighbours overlap; empty: none.
        uneven: The last blocks are smaller.
        collective: Share of the calls that are collective, 0 to 1.
        deviating_ranks: Ranks (at most 16 are named) that differ from all others.
        n_deviating: How many there are.
        source: "hdf5", "pnetcdf", "adios2", "view" or "offsets".
        notes: What else is to be said, in words.
        span: First element and end per dimension of what all ranks move together; empty: from
            0 to the extent.
        first_rank / rank_strides: Rank of the process at the grid's origin, and by how much it
            grows per dimension; empty: not linear.
        file_offset: Byte of the first element, where no dataset is known.
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
        """First element and end per dimension of what all ranks move together."""
        return self.span or tuple((0, extent) for extent in self.extents)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Extents of the dataset, to the end of what is moved where they are not known."""
        return tuple(
            extent or end for extent, (_, end) in zip(self.extents, self.spans, strict=True)
        )

    @property
    def notation(self) -> str:
        """`<3D, (BLOCK, BLOCK, *), (60, 100, 300)>`; of others the kind in words."""
        if not self.distributions:
            return f"<{self.kind}>"
        names = ", ".join(str(part) for part in self.distributions)
        sizes = ", ".join(str(size) for size in self.block)
        return f"<{len(self.distributions)}D, ({names}), ({sizes})>"
