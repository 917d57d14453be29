# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the facts that are looked for, and tells those of a run, most important first."""

from __future__ import annotations

from dataclasses import replace

from stripewise.evidence.diagnosis._facts_base import FactRule, SeenRun
from stripewise.evidence.diagnosis._facts_hdf5 import Conversion, Fallback
from stripewise.evidence.diagnosis._facts_metadata import Metadata, Opens, Syncs
from stripewise.evidence.diagnosis._facts_ranks import (
    Independent,
    Interfaces,
    LibraryTime,
    ManyFiles,
    SingleWriter,
    SlowestRank,
    Waiting,
)
from stripewise.evidence.diagnosis._facts_requests import (
    Amplification,
    Order,
    RequestSize,
    ReReads,
    SplitCalls,
    Unaligned,
)
from stripewise.evidence.diagnosis._stripes import StripesFact
from stripewise.evidence.figures import Check, Fact

FACT_RULES: tuple[FactRule, ...] = (
    Fallback(),
    Conversion(),
    ReReads(),
    Amplification(),
    SplitCalls(),
    StripesFact(),
    RequestSize(),
    Independent(),
    Metadata(),
    Syncs(),
    LibraryTime(),
    Opens(),
    ManyFiles(),
    SlowestRank(),
    SingleWriter(),
    Order(),
    Unaligned(),
    Interfaces(),
    Waiting(),
)
"""All facts; of those with the same weight, the first explains most."""

_PIECES = ("chunk-mismatch", "shredded-collective", "shredded-independent", "small-independent")
CAUSES: dict[str, tuple[str, ...]] = {
    "re-reads": ("redundant-reads", "chunk-mismatch"),
    "amplification": _PIECES,
    "split-calls": _PIECES,
    "request-size": (*_PIECES, "small-requests"),
    "independent": _PIECES,
    "gaps": _PIECES,
    "unaligned": ("stripes",),
    "stripes": ("stripes",),
    "slowest-rank": ("imbalance",),
    "single-writer": ("imbalance",),
    "metadata": ("open-per-step", "repeated-stat", "hdf5-metadata", "name-calls"),
    "opens": ("open-per-step",),
    "sync": ("sync-per-write",),
}
"""Findings that can be the cause of a fact, by its code."""

ADVICE = {
    "re-reads": "Read once and keep the data in memory; let one rank read a small file and "
    "broadcast it",
    "re-writes": "Write each part once, after its last change",
    "amplification": "Move contiguous pieces, so that nothing else must be read or rewritten",
    "split-calls": "Lay data out so that a call is contiguous in the file, or gather the pieces "
    "with collective calls",
    "request-size": "Collect small pieces in a buffer and move 1 MiB or more at once",
    "independent": "Use collective calls, if all ranks make the same number of calls",
    "metadata": "Open, close and query fewer files, less often",
    "sync": "Sync once for many records; in a database, put many changes into one transaction",
    "opens": "Open the file once and keep it open",
    "many-files": "Put the data of many files into one: a file for each rank, a container such "
    "as HDF5, or an archive",
    "slowest-rank": "Give all ranks the same share; if the bytes are equal, look at the node and "
    "the storage target of the slow one",
    "single-writer": "Let all ranks move their own part",
    "random": "Access in the order of the file, or read larger parts into memory",
    "gaps": "Move what lies side by side with one call, or use collective calls",
    "unaligned": "Align requests to the stripes of the file (HDF5: H5Pset_alignment)",
    "library-time": "Look at what the library does with the data: compression, conversion, "
    "exchange between ranks",
    "stdio": "Give the streams larger buffers (setvbuf with 1 MiB)",
}
"""What to try where a fact matters, by its code."""


def tell(run: SeenRun) -> tuple[tuple[Fact, ...], tuple[Check, ...]]:
    """Return the facts of a run, and what was looked for besides."""
    facts: list[Fact] = []
    checks: list[Check] = []
    for rule in FACT_RULES:
        if not rule.concerns(run):
            continue
        why = rule.why_unknown(run)
        found = [replace(one, advice=ADVICE.get(one.code, "")) for one in rule.look(run)]
        facts += found
        if not any(fact.unusual for fact in found):
            checks.append(Check(rule.code, rule.subject, why))
    facts.sort(key=lambda fact: (not fact.unusual, -round(fact.weight, 1)))
    first = {fact.code: fact for fact in reversed(facts)}
    again = [fact for fact in facts if fact.unusual and first[fact.code] is not fact]
    facts.sort(key=lambda fact: (not fact.unusual, any(fact is one for one in again)))
    return tuple(facts), tuple(checks)
