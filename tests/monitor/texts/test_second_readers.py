# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of hosts, disks, NFS, GPFS and BeeGFS: nothing is raised or invented.

What is believed is what a second reader finds there; what is lost is told.
"""

from __future__ import annotations

import pytest

from support.amounts import share_of
from support.second_readings import damage, whole
from support.strict_hosts import FORMATS as HOSTS
from support.strict_storage import FORMATS as STORAGE

FORMATS = {**HOSTS, **STORAGE}
MUTATIONS = 100_000


@pytest.mark.parametrize("name", FORMATS)
def test_right_texts_are_believed_by_both(name: str) -> None:
    whole(FORMATS[name])


@pytest.mark.parametrize("name", FORMATS)
def test_some_damaged_texts(name: str) -> None:
    damage(FORMATS[name], 400, seed=1)


@pytest.mark.long
@pytest.mark.ci
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_texts(name: str) -> None:
    damage(FORMATS[name], share_of(MUTATIONS), seed=2)
