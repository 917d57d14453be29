# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A case in few bytes: what the nearest ones are picked by, before their documents are read.

Each feature is one byte, or two, of a code: shares in 1/250, logarithms in parts of an octave.
Stacks, machines and structures of patterns are told once each, as terms with a number.  Only the
two patterns with most bytes are in; the documents that are picked are compared as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from math import log2

from stripewise.knowledge._parts import Part
from stripewise.knowledge._records import LIBRARIES, Case, Fingerprint
from stripewise.model import Pattern, PatternSummary
from stripewise.patterns import block_bytes, pattern_of, run_bytes

LAYOUT = 1
"""Changes when a feature does: pages of another layout are made again."""
MOST_PATTERNS = 2
SHARES = 250
"""Steps from 0 to 1."""
OCTAVE = 4
"""Steps in a factor of two, of bytes and calls."""
RANK_OCTAVE = 8
"""Steps in a factor of two, of ranks and nodes."""
PATTERN_COLUMNS = (
    "structure", "structure_high", "share", "run", "size", "ranks", "element", "halo",
    "collective", "shape",
)  # fmt: skip
COLUMNS = (
    "part", "stack", "stack_high", "machine", "machine_high", "libraries", "flags",
    "collective", "independent", "posix", "read", "call", "calls", "ranks", "hosts", "volume",
    "digest0", "digest1", "digest2", "digest3",
    *(f"{name}{number}" for number in range(MOST_PATTERNS) for name in PATTERN_COLUMNS),
)  # fmt: skip
NONCONTIGUOUS, SHARED, SYNCED = 1, 2, 4
WRITING = 0x80
"""Bit of a pattern's `shape`; the rest is its number of dimensions."""
Number = Callable[[str, str], int]
"""Kind and text of a term -> its number."""


def features_of(part: Part, place: int, number: Number) -> bytes:
    """Return a byte for each of `COLUMNS`.

    Args:
        part: Of a study's case.
        place: Of it among the parts of the case.
        number: Gives terms a number.
    """
    case, print_ = part.case, part.case.fingerprint
    flags = NONCONTIGUOUS * print_.noncontiguous + SHARED * bool(print_.shared_files)
    codes = [
        min(place, 255),
        *_word(number("stack", _text(case.stack))),
        *_word(number("machine", _text(case.machine))),
        libraries_of(print_),
        flags + SYNCED * case.synced,
        *(
            share_code(share)
            for share in (
                print_.collective_share,
                print_.independent_share,
                print_.posix_share,
                print_.read_share,
            )
        ),
        code(print_.bytes_per_call_log2),
        code(print_.calls_per_rank_log2),
        code(log2(max(1, print_.n_ranks)), RANK_OCTAVE),
        code(log2(max(1, print_.n_hosts)), RANK_OCTAVE),
        code(print_.volume_log2),
        *digest_of(case),
    ]
    for one in first_patterns(print_):
        codes += _pattern(one, print_.n_ranks, number)
    return bytes(codes).ljust(len(COLUMNS), b"\0")


def first_patterns(print_: Fingerprint) -> list[PatternSummary]:
    """Return the patterns with most bytes."""
    return sorted(print_.patterns, key=lambda one: -one.share)[:MOST_PATTERNS]


def code(logarithm: float, octave: int = OCTAVE) -> int:
    """Return the code of a logarithm; what is below 1 byte, call or rank counts as one."""
    return max(0, min(255, round(logarithm * octave)))


def share_code(share: float) -> int:
    """Return the code of a share from 0 to 1."""
    return round(SHARES * min(1.0, max(0.0, share)))


def libraries_of(print_: Fingerprint) -> int:
    """Return a bit for each library that was seen at work."""
    return sum(getattr(print_, name) << place for place, name in enumerate(LIBRARIES))


def digest_of(case: Case) -> bytes:
    """Return the first four bytes of the executable's digest; zeros where it is not known."""
    return bytes.fromhex(case.fingerprint.executable_sha256[:8].ljust(8, "0"))


def halo_share(pattern: Pattern) -> float:
    """Return the part of a block that neighbours have too, in the dimension with most of it."""
    return max(
        (h / max(n, 1) for h, n in zip(pattern.halo, pattern.block, strict=False)), default=0.0
    )


def structure_of(pattern: Pattern) -> str:
    """Return the term of what distributions are compared by: kind, and each dimension that counts.

    A dimension of one element that is not divided is left out, as `patterns.distance` does.  An
    irregular pattern has dimensions, and no distribution of them.
    """
    known = zip(pattern.distributions, pattern.block, strict=bool(pattern.distributions))
    parts = [str(part) for part, size in known if part.kind != "*" or size > 1]
    return json.dumps([str(pattern.kind), parts, bool(pattern.distributions)])


def _pattern(summary: PatternSummary, n_ranks: int, number: Number) -> list[int]:
    pattern = pattern_of(summary, n_ranks)
    return [
        *_word(number("structure", structure_of(pattern))),
        max(1, share_code(summary.share)),
        code(log2(max(1, run_bytes(pattern)))),
        code(log2(max(1, block_bytes(pattern)))),
        code(log2(max(1, pattern.active_ranks)), RANK_OCTAVE),
        code(log2(pattern.element_bytes)),
        share_code(halo_share(pattern)),
        share_code(pattern.collective),
        min(len(pattern.block), WRITING - 1) + WRITING * pattern.writing,
    ]


def _word(number: int) -> tuple[int, int]:
    return number & 0xFF, min(number >> 8, 0xFF)


def _text(record: object) -> str:
    return json.dumps(asdict(record), sort_keys=True)  # type: ignore[call-overload]
