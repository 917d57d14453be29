# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What several cases have in common: facts, tunables, ladders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.settings.tunables import Dimension, SafetyClass, Space, find_space, get
from stripewise.study.procedure._context import merge_facts, merge_spaces
from support.strategy_suite import romio_facts


def hdf5_facts(**more):
    return replace(
        romio_facts(),
        uses_hdf5=True,
        uses_parallel_hdf5=True,
        matched_calls=True,
        matched_metadata=True,
        **more,
    )


ALL_CLASSES = frozenset(SafetyClass)


@pytest.mark.parametrize(
    ("fact", "knob", "calls"),
    [
        ("matched_calls", "hdf5.transfer", "data calls"),
        ("matched_metadata", "hdf5.all_coll_metadata_ops", "calls on objects"),
    ],
)
def test_a_contract_needs_its_proof_in_every_case(fact, knob, calls):
    facts = {"a": hdf5_facts(), "b": replace(hdf5_facts(), **{fact: False})}
    spaces = {case: find_space(own, classes=ALL_CLASSES) for case, own in facts.items()}
    space = merge_spaces(spaces, facts)
    assert space.left_out[knob] == f"class contract: no proof of matched {calls} in b"
    assert not getattr(merge_facts(list(facts.values())), fact)
    proven = {"a": hdf5_facts(), "b": romio_facts()}
    spaces = {case: find_space(own, classes=ALL_CLASSES) for case, own in proven.items()}
    assert knob in {d.tunable.name for d in merge_spaces(spaces, proven).dimensions}


def ladders(knob, **by_case):
    """Merge spaces of one tunable with these ladders; None: the tunable is left out there."""
    spaces = {
        case: Space((Dimension(get(knob), rungs),), {}) if rungs else Space((), {knob: "no"})
        for case, rungs in by_case.items()
    }
    return merge_spaces(spaces, {case: hdf5_facts() for case in by_case})


def test_sizes_that_change_the_file_must_suit_every_case():
    knob = "hdf5.alignment"
    merged = ladders(knob, small=(4096, 65536), large=(65536, 1 << 20))
    assert [d.values for d in merged.dimensions] == [(65536,)]
    merged = ladders(knob, small=(4096,), large=(1 << 20,))
    assert not merged.dimensions
    assert merged.left_out[knob] == "class layout: no value is worth trying in every case"
    merged = ladders("mpiio.ind_wr_buffer_size", small=(4096,), large=(1 << 20,))
    assert [d.values for d in merged.dimensions] == [(4096, 1 << 20)]
