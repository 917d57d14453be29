# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of Lustre: nothing is raised, invented, or lost without a word.

What is believed is what a second reader finds there.  job_stats have their own in
`test_job_stats_damage.py`.
"""

from __future__ import annotations

import pytest

from support.amounts import share_of
from support.second_readings import damage, whole
from support.strict_lustre import FORMATS as TEXTS
from support.strict_lustre_words import FORMATS as WORDS

FORMATS = {**TEXTS, **WORDS}
MUTATIONS = 100_000


@pytest.mark.parametrize("name", FORMATS)
def test_right_texts_are_believed_by_both(name: str) -> None:
    assert FORMATS[name].texts
    whole(FORMATS[name])


@pytest.mark.parametrize("name", FORMATS)
def test_some_damaged_texts(name: str) -> None:
    damage(FORMATS[name], 200, seed=1)


@pytest.mark.long
@pytest.mark.ci
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_texts(name: str) -> None:
    damage(FORMATS[name], share_of(MUTATIONS), seed=2)
