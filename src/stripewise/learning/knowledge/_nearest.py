# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The nearest cases by their features, all rows at once; the same sums as `compare`, but coarser.

Source of every weight: `knowledge._similarity` and `patterns.distance_weights`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.patterns import (
    Distribution,
    Pattern,
    PatternKind,
    block_bytes,
    distance_parts,
    distance_weights,
    pattern_of,
    run_bytes,
)
from stripewise.learning.knowledge import _index as features
from stripewise.learning.knowledge import _similarity as similarity
from stripewise.learning.knowledge._index import ID_BYTES, MOST_TERMS
from stripewise.learning.knowledge._records import Case, Machine, Stack

Floats = NDArray[np.float32]
Distance = Callable[[Any], float]
PAGES_AT_ONCE = 4
"""Their rows are compared together, in arrays so small that their memory is used again."""
CACHE_KIB = 256
"""Of the file, for the same reason: each page is read once."""
MANY = 1 << 14
"""Once so many rows are near by scale, stack and machine, the limit is lowered to the nearest."""
SLACK = 0.03
"""Codes are coarse: so much beyond the limit is still looked at."""
_PLACES = {name: place for place, name in enumerate(features.COLUMNS)}
_PAGE = 1 << 32
"""A row is known by its page's number times this, and its place in the page."""


def nearest_rows(
    connection: sqlite3.Connection, case: Case, most: int
) -> tuple[list[tuple[str, int]], int]:
    """Return study and part of the nearest cases, the nearest first; and how many are kept.

    Args:
        connection: Of a store with an index.
        case: That is looked up.
        most: Rows that are returned; of one study only its nearest part.
    """
    limit = similarity.NEAR + SLACK
    near: list[_Table] = []
    known = 0
    for table in _tables(connection, case.stack.mpi_family):
        known += int(np.count_nonzero(table.column("part") == 0))
        near.append(table.take(np.flatnonzero(table.apart(case) <= limit)))
        if sum(one.rows.size for one in near) > MANY:
            best, limit = _joined(near).nearest(case, 2 * most, limit)
            near = [best]
    if not near:
        return [], 0
    best, _ = _joined(near).nearest(case, 2 * most, limit)
    first: dict[str, int] = {}
    for row, part in zip(best.rows.tolist(), best.column("part").tolist(), strict=True):
        first.setdefault(_study(connection, row), part)
    return list(first.items())[:most], known


def _tables(connection: sqlite3.Connection, family: str) -> Iterator[_Table]:
    """Yield all rows of an MPI family, some pages at a time."""
    terms = _Terms(connection)
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    cursor = connection.execute(
        "SELECT number, features FROM page WHERE mpi_family = ? ORDER BY number", (family,)
    )
    while found := cursor.fetchmany(PAGES_AT_ONCE):
        shape = (len(features.COLUMNS), -1)
        codes = [np.frombuffer(blob, np.uint8).reshape(shape) for _, blob in found]
        rows = [
            number * _PAGE + np.arange(page.shape[1])
            for (number, _), page in zip(found, codes, strict=True)
        ]
        yield _Table(np.concatenate(codes, axis=1), np.concatenate(rows), terms)


def _study(connection: sqlite3.Connection, row: int) -> str:
    """Return the study that a row is of."""
    number, place = divmod(row, _PAGE)
    with connection.blobopen("page_study", "studies", number, readonly=True) as studies:
        studies.seek(place * ID_BYTES)
        return studies.read(ID_BYTES).hex()


class _Table:
    """Rows of features, and what their terms mean."""

    def __init__(self, codes: NDArray[np.uint8], rows: NDArray[np.int64], terms: _Terms) -> None:
        self.codes = codes
        self.rows = rows
        self.terms = terms

    def take(self, places: NDArray[np.intp]) -> _Table:
        """Return some of the rows."""
        return _Table(self.codes[:, places], self.rows[places], self.terms)

    def nearest(self, case: Case, most: int, limit: float) -> tuple[_Table, float]:
        """Return the nearest rows within a limit, in order, and the limit for others."""
        table = self.take(np.flatnonzero(self.at_least(case) <= limit))
        distance = table.distances(case)
        inside = np.flatnonzero(distance <= limit)
        order = inside[np.argsort(distance[inside], kind="stable")][:most]
        return table.take(order), float(distance[order[-1]]) if order.size == most else limit

    def column(self, name: str) -> NDArray[np.uint8]:
        """Return the codes of one feature."""
        codes: NDArray[np.uint8] = self.codes[_PLACES[name]]
        return codes

    def distances(self, case: Case) -> Floats:
        """Return about the distance of each row."""
        behaviour = self._behaviour(case)
        behaviour[self._same_program(case, behaviour)] = 0
        return self.apart(case, behaviour)

    def at_least(self, case: Case) -> Floats:
        """Return what the distance of each row is at least, whatever its patterns are."""
        counted = similarity.counted_sum(self._counted_differences(case))
        least = np.asarray((1 - similarity.PATTERN_WEIGHT) * counted, np.float32)
        least[least <= similarity.SAME] = 0
        return self.apart(case, least)

    def apart(self, case: Case, behaviour: Floats | float = 0) -> Floats:
        """Return the distance of each row to a case that behaves so differently.

        That is behaviour, scale, stack and machine; infinite if synced otherwise.
        """
        stack = self._of_terms("stack", _stack(case))
        machine = self._of_terms("machine", _machine(case))
        places = similarity.STACK_WEIGHT * stack + similarity.MACHINE_WEIGHT * machine
        distance: Floats = behaviour + similarity.SCALE_WEIGHT * self._scale(case) + places
        synced = (self.column("flags") & features.SYNCED) > 0
        distance[synced != case.synced] = np.inf
        return distance

    def _same_program(self, case: Case, behaviour: Floats) -> NDArray[np.bool_]:
        print_ = case.fingerprint
        same: NDArray[np.bool_] = behaviour <= similarity.SAME
        if not print_.executable_sha256:
            return np.zeros_like(same)
        for place, byte in enumerate(features.digest_of(case)):
            same &= self.column(f"digest{place}") == byte
        same &= self.column("ranks") == _ranks(print_.n_ranks)
        same &= self.column("hosts") == _ranks(print_.n_hosts)
        return same

    def _behaviour(self, case: Case) -> Floats:
        counted = similarity.counted_sum(self._counted_differences(case))
        mine = features.first_patterns(case.fingerprint)
        known = self.column("share0") > 0
        if not mine or not known.any():
            return np.asarray(counted, np.float32)
        weight = similarity.PATTERN_WEIGHT * known
        return np.asarray((1 - weight) * counted + weight * self._divided(case), np.float32)

    def _counted_differences(self, case: Case) -> dict[str, Any]:
        print_ = case.fingerprint
        shares = sum(
            self._difference(name, features.share_code(getattr(print_, f"{name}_share")))
            for name in ("collective", "independent", "posix")
        )
        flags = self.column("flags")
        octaves = features.OCTAVE * similarity.CALL_OCTAVES
        return {
            "shares": np.minimum(1.0, shares / (2 * features.SHARES)),
            "read": self._difference("read", features.share_code(print_.read_share))
            / features.SHARES,
            "noncontiguous": ((flags & features.NONCONTIGUOUS) > 0) != print_.noncontiguous,
            "call": self._least("call", features.code(print_.bytes_per_call_log2), octaves),
            "calls": self._least("calls", features.code(print_.calls_per_rank_log2), octaves),
            "shared": ((flags & features.SHARED) > 0) != bool(print_.shared_files),
            "libraries": self.column("libraries") != features.libraries_of(print_),
        }

    def _scale(self, case: Case) -> Any:
        print_ = case.fingerprint
        octaves = features.RANK_OCTAVE * similarity.RANK_OCTAVES
        volume = features.code(print_.volume_log2)
        octaves_of_volume = features.OCTAVE * similarity.VOLUME_OCTAVES
        known = (self.column("volume") > 0) & (volume > 0)
        return similarity.scale_sum(
            self._least("ranks", _ranks(print_.n_ranks), octaves),
            self._least("hosts", _ranks(print_.n_hosts), octaves),
            self._least("volume", volume, octaves_of_volume) * known,
        )

    def _difference(self, name: str, mine: int) -> Floats:
        found = self.column(name).astype(np.float32)
        found -= mine
        return np.abs(found, out=found)

    def _least(self, name: str, mine: int, whole: float) -> Floats:
        found = self._difference(name, mine)
        found /= np.float32(whole)
        return np.minimum(found, np.float32(1.0), out=found)

    def _divided(self, case: Case) -> Floats:
        """Return how differently the first patterns are divided, as `pattern_distance` does."""
        print_ = case.fingerprint
        mine = features.first_patterns(print_)
        whole = sum(one.share for one in mine) or 1.0
        rows = range(features.MOST_PATTERNS)
        there = [
            [self._unlike(pattern_of(one, print_.n_ranks), row) for row in rows] for one in mine
        ]
        forth = sum(
            one.share / whole * np.minimum.reduce(row)
            for one, row in zip(mine, there, strict=True)
        )
        shares = [self.column(f"share{row}").astype(np.float32) for row in rows]
        back = sum(
            share * np.where(share > 0, np.minimum.reduce([row[place] for row in there]), 0)
            for place, share in enumerate(shares)
        )
        total = np.maximum(sum(shares), 1)
        return np.asarray((forth + back / total) / 2, np.float32)

    def _unlike(self, mine: Pattern, row: int) -> Floats:
        """Return the distance of one pattern to the one in this place of each row."""
        numbers = {
            "run": features.code(log2(max(1, run_bytes(mine)))),
            "size": features.code(log2(max(1, block_bytes(mine)))),
            "ranks": _ranks(mine.active_ranks),
            "element": features.code(log2(mine.element_bytes)),
            "halo": features.share_code(features.halo_share(mine)),
            "collective": features.share_code(mine.collective),
        }
        shape = self.column(f"shape{row}")
        total = np.zeros(shape.size, np.float32)
        for name, (share, octaves) in distance_weights().items():
            if name == "distribution":
                total += share * self._of_terms("structure", _distribution(mine), mine, str(row))
            elif name == "dimensions":
                total += share * _dimensions(len(mine.block))[shape]
            elif name in numbers:
                whole = octaves * _per_octave(name) or features.SHARES
                total += share * self._least(f"{name}{row}", numbers[name], whole)
            elif name == "direction":
                total += share * (((shape & features.WRITING) > 0) != mine.writing)
        total[self.column(f"share{row}") == 0] = np.inf
        return total

    def _of_terms(
        self, kind: str, distance: Distance, key: object = None, row: str = ""
    ) -> Floats:
        """Return the distance of each row's term; arguments as of `_Terms.distances`."""
        high = self.column(f"{kind}_high{row}").astype(np.uint16) << 8
        numbers = self.column(f"{kind}{row}") | high
        found: Floats = self.terms.distances(kind, distance, key).take(numbers, mode="clip")
        return found


def _joined(tables: Sequence[_Table]) -> _Table:
    codes = np.concatenate([table.codes for table in tables], axis=1)
    return _Table(codes, np.concatenate([table.rows for table in tables]), tables[0].terms)


class _Terms:
    """What rows name by number: stacks, machines, structures of patterns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._distances: dict[object, Floats] = {}

    def distances(self, kind: str, distance: Distance, key: object) -> Floats:
        """Return the distance of each term; that of those that cannot be read is whole.

        Args:
            kind: Of the terms.
            distance: From what is looked up to a term.
            key: Tells what is looked up from others of the kind.
        """
        if (kind, key) not in self._distances:
            query = "SELECT number, text FROM term WHERE kind = ? AND number BETWEEN 0 AND ?"
            texts = dict(self._connection.execute(query, (kind, MOST_TERMS)))
            found = np.ones(1 + max(texts, default=0), np.float32)
            for number, text in texts.items():
                with suppress(ValueError, TypeError, KeyError, IndexError):
                    found[number] = distance(json.loads(text))
            self._distances[kind, key] = found
        return self._distances[kind, key]


def _stack(case: Case) -> Distance:
    return lambda term: similarity.stack_distance(case.stack, Stack(**term))


def _machine(case: Case) -> Distance:
    return lambda term: similarity.machine_distance(case.machine, Machine(**term))


def _ranks(number: int) -> int:
    return features.code(log2(max(1, number)), features.RANK_OCTAVE)


def _per_octave(name: str) -> int:
    return features.RANK_OCTAVE if name == "ranks" else features.OCTAVE


@lru_cache(64)
def _dimensions(mine: int) -> Floats:
    """Return the difference in number of dimensions for each code of a shape."""
    numbers = [code & ~features.WRITING for code in range(256)]
    shares = [abs(mine - other) / max(mine, other, 1) for other in numbers]
    return np.asarray(shares, np.float32)


def _distribution(mine: Pattern) -> Distance:
    def distance(term: Any) -> float:
        kind, parts, _ = term
        distributions = tuple(_parsed(text) for text in parts)
        other = Pattern("", "", mine.writing, PatternKind(kind), distributions, (2,) * len(parts))
        return distance_parts(mine, other)["distribution"]

    return distance


def _parsed(text: str) -> Distribution:
    kind, _, width = text.partition("(")
    return Distribution(kind, int(width.rstrip(")")) if width else int(kind == "CYCLIC"))
