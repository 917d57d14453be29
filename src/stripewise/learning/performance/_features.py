# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes the features of models: settings in effect, and the data a program moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from stripewise.core import PatternSummary, ProgramFacts, Striping, Value
from stripewise.evidence.patterns import PatternClass, class_of, moved_in_steps
from stripewise.settings.tunables import lustre_aggregators, lustre_stripes

STRIPE_COUNT, STRIPE_SIZE = "mpiio.striping_factor", "mpiio.striping_unit"
AGGREGATORS, CO_RATIO = "mpiio.cb_nodes", "mpiio.romio_lustre_co_ratio"
MULTIPLIER, CONFIG_LIST = "mpiio.cray_cb_nodes_multiplier", "mpiio.cb_config_list"
PHYSICAL = frozenset({STRIPE_COUNT, STRIPE_SIZE, AGGREGATORS, CO_RATIO, MULTIPLIER, CONFIG_LIST})
"""Settings whose entire effect is contained in the features c, s and a."""
OF_SETTINGS = ("c", "s", "a")
RATIOS = ("a/c", "turn")
OF_PROGRAM = ("f", "ranks", "nodes", "block", "piece")
_MIB, _GB = 1 << 20, 1e9


def dominant_pattern(facts: ProgramFacts) -> PatternSummary | None:
    """Return the pattern that moved most bytes; None if no pattern was recognised."""
    return max(facts.patterns, key=lambda one: one.share, default=None)


def class_of_program(facts: ProgramFacts) -> PatternClass | None:
    """Return the class of the pattern that moved most bytes; None if none was recognised."""
    pattern = dominant_pattern(facts)
    if pattern is None:
        return None
    return class_of(pattern, mpiio=bool(facts.mpiio_implementation))


def program_features(facts: ProgramFacts) -> dict[str, float]:
    """Return the features of a program that do not depend on settings.

    f: GB moved in the direction of its pattern; ranks; nodes; block: bytes of a dataset moved by
    a rank; piece: contiguous bytes in the file within a block.
    """
    pattern = dominant_pattern(facts)
    assert pattern is not None
    first = moved_in_steps(pattern)
    moved = facts.moved_bytes(writing=pattern.writing)
    return {
        "f": max(moved, 1) / _GB,
        "ranks": float(facts.n_ranks),
        "nodes": float(max(facts.aggregator_hosts, 1)),
        "block": float(max(prod(pattern.block[first:]) * pattern.element_bytes, 1)),
        "piece": float(max(_piece(pattern), 1)),
    }


def features_of(
    facts: ProgramFacts,
    stack: str,
    settings: Mapping[str, Value],
    levels: Mapping[str, Sequence[Value]],
) -> dict[str, float]:
    """Return all features of a program with settings, including the level numbers of others.

    Two features are ratios, which are comparable between patterns and scales: aggregators per
    stripe, and turn: bytes of one stripe on all targets, relative to a dataset.
    """
    placed = {
        name: float(1 + list(values).index(settings[name])) if name in settings else 0.0
        for name, values in levels.items()
    }
    row = {**setting_features(facts, stack, settings), **program_features(facts), **placed}
    turn = row["c"] * row["s"] * _MIB / (row["block"] * row["ranks"])
    return {**row, "a/c": row["a"] / row["c"], "turn": turn}


def setting_features(
    facts: ProgramFacts, stack: str, settings: Mapping[str, Value]
) -> dict[str, float]:
    """Return stripe count c, stripe size s in MiB and number of aggregators a, as in effect."""
    striping = facts.striping or Striping(1)
    if stack == "romio-lustre":
        count = lustre_stripes(settings, striping)
    else:
        requested = _whole(settings, STRIPE_COUNT) or striping.stripe_count
        count = striping.targets if requested == -1 else min(requested, max(striping.targets, 1))
    size = _whole(settings, STRIPE_SIZE) or striping.stripe_size
    wanted = _aggregators(facts, stack, settings, max(count, 1))
    return {"c": float(max(count, 1)), "s": max(size, 1) / _MIB, "a": float(max(wanted, 1))}


def _aggregators(
    facts: ProgramFacts, stack: str, settings: Mapping[str, Value], count: int
) -> int:
    writing = "write" if facts.write_bytes >= facts.read_bytes else "read"
    if stack.startswith("posix") or settings.get(f"mpiio.romio_cb_{writing}") == "disable":
        return facts.n_ranks
    wanted = _whole(settings, AGGREGATORS)
    if stack == "cray":
        wanted = wanted or count * max(_whole(settings, MULTIPLIER), 1)
    wanted = min(wanted or max(facts.aggregator_hosts, 1), facts.n_ranks)
    if stack == "romio-lustre" and writing == "write":
        return lustre_aggregators(wanted, count, max(_whole(settings, CO_RATIO), 1))
    return wanted


def _piece(pattern: PatternSummary) -> int:
    """Return the number of contiguous bytes in the file within the block of a rank."""
    size = pattern.element_bytes
    for length, places, name in reversed(
        list(zip(pattern.block, pattern.grid, pattern.distributions, strict=True))
    ):
        if name.startswith("CYCLIC") and places > 1:
            return size * min(int(name[7:-1]) if "(" in name else 1, length)
        size *= length
        if places > 1:
            return size
    return size


def _whole(settings: Mapping[str, Value], name: str) -> int:
    value = settings.get(name, 0)
    return value if isinstance(value, int) else 0
