# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The nearest cases by their features, all rows at once; the same sums as `compare`, but coarser.

Source of every weight: `stripewise.knowledge._similarity` and `patterns.distance_weights`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.knowledge import _features as features
from stripewise.knowledge import _similarity as similarity
from stripewise.knowledge._index import MOST_TERMS
from stripewise.knowledge._records import Case, Machine, Stack
from stripewise.model import Distribution, Pattern, PatternKind
from stripewise.patterns import (
    block_bytes,
    distance_parts,
    distance_weights,
    pattern_of,
    run_bytes,
)

Floats = NDArray[np.float32]
SAMPLE = 512
"""Rows that are compared first."""
SLACK = 0.03
"""Codes are coarse: so much beyond the limit is still looked at."""


def nearest_rows(
    connection: sqlite3.Connection, case: Case, most: int
) -> tuple[list[tuple[str, int]], int]:
    """Return study and part of the nearest cases, the nearest first; and how many are kept.

    Args:
        connection: Of a store with an index.
        case: That is looked up.
        most: Rows that are returned; of one study only its nearest part.
    """
    family = case.stack.mpi_family
    found = connection.execute(
        "SELECT number, features FROM page WHERE mpi_family = ? ORDER BY number", (family,)
    ).fetchall()
    width = len(features.COLUMNS)
    pages = [np.frombuffer(blob, np.uint8).reshape(width, -1) for _, blob in found]
    if not pages:
        return [], 0
    table = _Table(connection, pages)
    near = _near(table, case, 2 * most)
    heights = [page.shape[1] for page in pages]
    studies = _studies(connection, [number for number, _ in found], heights, near)
    parts = table.column("part")[near].tolist()
    first: dict[str, int] = {}
    for study, part in zip(studies, parts, strict=True):
        first.setdefault(study, part)
    return list(first.items())[:most], int((table.column("part") == 0).sum())


def _near(table: _Table, case: Case, most: int) -> NDArray[np.intp]:
    """Return the nearest rows in order.

    All rows are compared by stack, machine, counters and scale.  The patterns of the best of
    them are compared first, so that others are ruled out.
    """
    limit = similarity.NEAR + SLACK
    places = table.places(case)
    least = table.at_least(case, places)
    rows = np.flatnonzero(least <= limit)
    least = least[rows]
    if rows.size > SAMPLE:
        sample = rows[np.argpartition(least, SAMPLE)[:SAMPLE]]
        told = table.take(sample).distances(case, places[sample])
        limit = min(limit, float(np.partition(told, most)[most]))
    rows = rows[least <= limit]
    distance = table.take(rows).distances(case, places[rows])
    inside = np.flatnonzero(distance <= limit)
    order = inside[np.argsort(distance[inside], kind="stable")]
    return rows[order[:most]]


def _studies(
    connection: sqlite3.Connection, numbers: Sequence[int], heights: Sequence[int], rows: Any
) -> list[str]:
    """Return the studies that rows of all pages are of."""
    ends = np.cumsum(heights)
    pages: dict[int, bytes] = {}
    found = []
    for row, place in zip(rows.tolist(), np.searchsorted(ends, rows, "right"), strict=True):
        number = numbers[place]
        if number not in pages:
            (pages[number],) = connection.execute(
                "SELECT studies FROM page_study WHERE number = ?", (number,)
            ).fetchone() or (b"",)
        at = 16 * (row - int(ends[place]) + heights[place])
        found.append(pages[number][at : at + 16].hex())
    return found


class _Table:
    """All rows, and what their terms mean."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        pages: Sequence[NDArray[np.uint8]],
    ) -> None:
        self._connection = connection
        self._pages = pages
        self._place = {name: place for place, name in enumerate(features.COLUMNS)}
        self._rows: NDArray[np.intp] | None = None
        self._columns: dict[str, NDArray[np.uint8]] = {}
        self._known: dict[str, dict[int, Any]] = {}
        self._tables: dict[object, Floats] = {}

    def take(self, rows: NDArray[np.intp]) -> _Table:
        """Return some rows of all."""
        some = _Table(self._connection, self._pages)
        some._rows, some._columns = rows, self._columns
        some._known, some._tables = self._known, self._tables
        return some

    def column(self, name: str) -> NDArray[np.uint8]:
        """Return the codes of one feature."""
        if name not in self._columns:
            place = self._place[name]
            self._columns[name] = np.concatenate([page[place] for page in self._pages])
        codes = self._columns[name]
        return codes if self._rows is None else codes[self._rows]

    def places(self, case: Case) -> Floats:
        """Return what stack and machine add to the distance; infinite if synced otherwise."""
        stack = self._of_terms("stack", self._stack(case))
        machine = self._of_terms("machine", self._machine(case))
        distance = similarity.STACK_WEIGHT * stack + similarity.MACHINE_WEIGHT * machine
        synced = (self.column("flags") & features.SYNCED) > 0
        distance[synced != case.synced] = np.inf
        return distance

    def distances(self, case: Case, places: Floats) -> Floats:
        """Return about the distance of each row.

        Args:
            case: That is looked up.
            places: As `places` returned them.
        """
        behaviour = self._behaviour(case)
        behaviour[self._same_program(case, behaviour)] = 0
        distance: Floats = behaviour + similarity.SCALE_WEIGHT * self._scale(case) + places
        return distance

    def at_least(self, case: Case, places: Floats) -> Floats:
        """Return what the distance of each row is at least, without its patterns."""
        counted = similarity.counted_sum(self._counted_differences(case))
        least = np.asarray((1 - similarity.PATTERN_WEIGHT) * counted, np.float32)
        least[least <= similarity.SAME] = 0
        distance: Floats = least + similarity.SCALE_WEIGHT * self._scale(case) + places
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
                total += share * self._of_terms("structure", _distribution(mine), row, mine)
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
        self,
        kind: str,
        distance: Callable[[Any], float],
        row: int | None = None,
        key: object = None,
    ) -> Floats:
        """Return the distance of each row's term; that of terms that cannot be read is whole.

        Args:
            kind: Of the terms.
            distance: From what is looked up to a term.
            row: Place of the pattern whose structure it is.
            key: Tells what is looked up from others of the kind.
        """
        key = (kind, key)
        if key not in self._tables:
            terms = self._terms(kind)
            self._tables[key] = np.ones(1 + max(terms, default=0), np.float32)
            for number, term in terms.items():
                with suppress(ValueError, TypeError, KeyError, IndexError):
                    self._tables[key][number] = distance(term)
        table = self._tables[key]
        place = "" if row is None else str(row)
        low = self.column(f"{kind}{place}").astype(np.uint16)
        high = self.column(f"{kind}_high{place}").astype(np.uint16)
        found: Floats = table[np.minimum(low | (high << 8), table.size - 1)]
        return found

    def _terms(self, kind: str) -> dict[int, Any]:
        if kind not in self._known:
            query = "SELECT number, text FROM term WHERE kind = ? AND number BETWEEN 0 AND ?"
            self._known[kind] = known = {}
            for number, text in self._connection.execute(query, (kind, MOST_TERMS)):
                with suppress(ValueError):
                    known[number] = json.loads(text)
        return self._known[kind]

    def _stack(self, case: Case) -> Callable[[Any], float]:
        return lambda text: similarity.stack_distance(case.stack, Stack(**text))

    def _machine(self, case: Case) -> Callable[[Any], float]:
        return lambda text: similarity.machine_distance(case.machine, Machine(**text))


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


def _distribution(mine: Pattern) -> Callable[[Any], float]:
    def distance(term: Any) -> float:
        kind, parts, _ = term
        distributions = tuple(_parsed(text) for text in parts)
        other = Pattern("", "", mine.writing, PatternKind(kind), distributions, (2,) * len(parts))
        return distance_parts(mine, other)["distribution"]

    return distance


def _parsed(text: str) -> Distribution:
    kind, _, width = text.partition("(")
    return Distribution(kind, int(width.rstrip(")")) if width else int(kind == "CYCLIC"))
