# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a trace adds to the facts of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stripewise.core import FileClass, ProgramFacts
from stripewise.evidence.facts import with_patterns
from stripewise.evidence.trace import Evidence, RunProfile, Selections

CLASSES = (FileClass("plt*.h5"), FileClass(""), FileClass("chk*.h5"))


def rows(file: str, steps: int) -> Selections:
    """Four ranks write a row of 8 doubles each, in `steps` calls that go on in the file."""
    order = np.repeat(np.arange(steps), 4)
    rank = np.tile(np.arange(4), steps)
    ones = np.ones((4 * steps, 1), np.int64)
    return Selections(
        file=file, writing=True, rank=rank, order=order, collective=np.ones(4 * steps, bool),
        n_ranks=4, element_bytes=8, dataset="/x", extents=(32 * steps,),
        start=(rank * 8 + order * 32)[:, None], stride=ones, count=8 * ones, block=ones,
    )  # fmt: skip


def test_without_a_trace_the_facts_stay() -> None:
    facts = ProgramFacts(n_ranks=4)
    assert with_patterns(facts, Evidence(RunProfile("")), Path("/run")) is facts


def test_patterns_have_the_traced_bytes_and_the_class_of_their_file() -> None:
    evidence = Evidence(
        RunProfile(""), accesses=(rows("/run/out/plt01.h5", 3), rows("/run/chk.h5", 1))
    )
    facts = with_patterns(ProgramFacts(4, file_classes=CLASSES), evidence, Path("/run"))
    first, second = facts.patterns
    assert (first.bytes, first.file_class) == (3 * 32 * 8, 1)
    assert (second.bytes, second.file_class) == (32 * 8, 3)
    assert (first.share, second.share) == (0.75, 0.25)
    assert facts.pattern
    assert facts.interleaved
