# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of hosts and storage: nothing is raised, invented, or lost without a word.

What is believed is what a second reader finds there.  job_stats have their own in
`lustre/test_job_stats_damage.py`.
"""

from __future__ import annotations

import pytest

from support.amounts import share_of
from support.second_readings import damage, whole
from support.strict_hosts import FORMATS as HOSTS
from support.strict_lustre import FORMATS as LUSTRE
from support.strict_lustre_words import FORMATS as WORDS
from support.strict_storage import FORMATS as STORAGE

EVERY = (HOSTS, STORAGE, LUSTRE, WORDS)
FORMATS = {name: form for some in EVERY for name, form in some.items()}
MUTATIONS = 100_000


@pytest.mark.parametrize("name", FORMATS)
def test_right_texts_are_believed_by_both(name: str) -> None:
    assert FORMATS[name].texts
    whole(FORMATS[name])


@pytest.mark.parametrize("name", FORMATS)
def test_some_damaged_texts(name: str) -> None:
    damage(FORMATS[name], 300, seed=1)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_texts(name: str) -> None:
    damage(FORMATS[name], share_of(MUTATIONS), seed=2)


def test_no_two_formats_have_one_name() -> None:
    assert len(FORMATS) == sum(map(len, EVERY))
