# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the facts that are looked for, and tells those of a run, most important first."""

from __future__ import annotations

from stripewise.evidence.diagnosis._facts_base import FactRule, SeenRun
from stripewise.evidence.diagnosis._facts_hdf5 import Conversion, Fallback
from stripewise.evidence.diagnosis._facts_metadata import Metadata, Opens, Syncs
from stripewise.evidence.diagnosis._facts_ranks import (
    Independent,
    Interfaces,
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
    "metadata": ("open-per-step", "repeated-stat", "hdf5-metadata", "name-calls"),
    "opens": ("open-per-step",),
    "sync": ("sync-per-write",),
}
"""Findings that can be the cause of a fact, by its code."""


def tell(run: SeenRun) -> tuple[tuple[Fact, ...], tuple[Check, ...]]:
    """Return the facts of a run, and what was looked for besides."""
    facts: list[Fact] = []
    checks: list[Check] = []
    for rule in FACT_RULES:
        why = rule.why_unknown(run)
        found = list(rule.look(run))
        facts += found
        if not any(fact.unusual for fact in found):
            checks.append(Check(rule.code, rule.subject, why))
    facts.sort(key=lambda fact: (not fact.unusual, -round(fact.weight, 1)))
    first = {fact.code: fact for fact in reversed(facts)}
    again = [fact for fact in facts if fact.unusual and first[fact.code] is not fact]
    facts.sort(key=lambda fact: (not fact.unusual, any(fact is one for one in again)))
    return tuple(facts), tuple(checks)
