# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Journals with good checksums whose records are wrong, gone, doubled or in another order."""

from __future__ import annotations

import copy
from random import Random

import pytest

from stripewise.core.errors import StripewiseError
from stripewise.run.launch import Launcher
from stripewise.study.plan import StudyOptions, parse_journal
from stripewise.study.procedure import run_study
from support.journal_checks import encode
from support.study_fakes import FakeLauncher, fake_tools, helped, lognormal

INFINITE = float("inf")
WRONG = (None, True, -1, 0, 10**30, INFINITE, -INFINITE, "", "x", "../x", [], [1], {}, {"x": 1})
COUNT = 400


def places(data, path=()):
    """Paths to everything that is in a record."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


def change(record, random):
    *path, last = random.choice(list(places(record)))
    inner = record
    for key in path:
        inner = inner[key]
    if random.random() < 0.3:
        del inner[last]
    else:
        inner[last] = random.choice(WRONG)


def mutated(records, random):
    records = copy.deepcopy(records)
    place = random.randrange(len(records))
    kind = random.choice(["change", "change", "change", "delete", "double", "move"])
    if kind == "change":
        change(records[place], random)
    elif kind == "double":
        records.insert(random.randrange(place, len(records) + 1), copy.deepcopy(records[place]))
    else:
        taken = records.pop(place)
        if kind == "move":
            records.insert(random.randrange(len(records) + 1), taken)
    return records


@pytest.fixture
def resumed(tmp_path, no_fsync):
    """Go on with a study whose journal holds these records."""
    path = tmp_path / "study" / "journal.jsonl"

    def go_on(records=None, launcher: Launcher | None = None, **given):
        if records is not None:
            path.write_bytes(encode(records))
        tools = fake_tools(launcher or FakeLauncher(helped, lognormal(0.02)))
        options = StudyOptions(
            ("prog",), path.parent, tmp_path, resume=records is not None, **given
        )
        return run_study(options, None, lambda options, ledger: tools)

    go_on.records = lambda: parse_journal(path.read_bytes(), path)[0]
    return go_on


@pytest.mark.extended
@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_every_mutation_is_refused_in_one_line_or_harmless(resumed, share):
    resumed(trials=4)
    whole = resumed.records()
    records = whole[: int(share * len(whole))]
    refused = []
    for seed in range(COUNT):
        try:
            resumed(mutated(records, Random(seed)))
        except StripewiseError as error:
            refused.append(str(error))
    assert len(refused) > COUNT // 4
    assert not any("\n" in text for text in refused)
