# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Findings in general words, which name no file; docs/reference/findings.md has the rules."""

from __future__ import annotations

from typing import NamedTuple


class FindingWords(NamedTuple):
    """What is said of all findings with one code; `tunes`: settings can remedy it."""

    title: str
    remedy: str
    tunes: bool = False


_WORDS = {
    "chunk-mismatch": FindingWords(
        "Chunks of a dataset are read several times",
        "Keep the dataset open with a chunk cache that is large enough, or give its chunks the "
        "shape of what is read.",
        True,
    ),
    "redundant-reads": FindingWords(
        "The same bytes are read again and again",
        "Keep what was read; let one rank read a small file and broadcast it.",
    ),
    "shredded-collective": FindingWords(
        "Collective calls reach the storage in small pieces",
        "Let MPI-IO gather the pieces: enable collective buffering, with Open MPI use its ROMIO.",
        True,
    ),
    "shredded-independent": FindingWords(
        "Independent calls through a file view reach the storage in small pieces",
        "Let Open MPI use its ROMIO, which moves pieces and what lies between them at once.",
        True,
    ),
    "small-independent": FindingWords(
        "Ranks make small independent calls to a shared file",
        "Use the collective call of the interface, which merges the pieces of all ranks.",
        True,
    ),
    "small-requests": FindingWords(
        "Each process makes many small calls without a buffer",
        "Collect the pieces in a buffer of 1 MiB.",
    ),
    "open-per-step": FindingWords(
        "Files are opened and closed again and again", "Open each file once and keep it open."
    ),
    "repeated-stat": FindingWords(
        "The program asks for the same files again and again",
        "Keep the answer, or list a directory once.",
    ),
    "name-calls": FindingWords(
        "Much time goes into making, renaming and removing files",
        "Keep in memory what does not stay, or use fewer files.",
    ),
    "sync-per-write": FindingWords(
        "Data are forced to the disk after every write",
        "Sync once at the end, unless each record must survive a crash.",
    ),
    "imbalance": FindingWords(
        "One rank spends far longer in I/O than the others",
        "Spread the I/O over the ranks; look at the node and at the storage target.",
    ),
    "idle-hints": FindingWords(
        "Some hints cannot act", "Remove them, or spell them as this MPI does.", True
    ),
}
CODES = tuple(_WORDS)


def finding_words(code: str) -> FindingWords:
    """Return what is said of a finding; of one that is not known its code."""
    return _WORDS.get(code) or FindingWords(code.replace("-", " ").capitalize(), "")
