# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stripes against ranks, lengths and targets: the fact, the finding and its line."""

import pytest
from runs import GIB, KIB, MIB, RunBuilder
from storages import LOCAL

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.trace import IoLayer, Op

SHARED = "/scratch/run 1/out.nc"


def shared(stripes, unit=MIB, length=GIB, n_ranks=64, targets=0, emulated=False, seconds=20.0):
    run = RunBuilder(n_ranks=n_ranks, elapsed=30.0)
    ops = {Op.WRITE: (max(length // n_ranks // MIB, 1), length // n_ranks, seconds)}
    run.everyone(SHARED, IoLayer.POSIX, ops, maximum_offset=length)
    run.layouts[SHARED] = (unit, stripes, (), targets, emulated)
    return run


def single_files(stripes, n_files=16, targets=0, length=64 * MIB):
    run = RunBuilder(n_ranks=n_files, elapsed=30.0)
    for rank in range(n_files):
        path = f"/scratch/part.{rank}"
        ops = {Op.WRITE: (length // MIB, length, 20.0)}
        run.add(path, IoLayer.POSIX, rank, ops, maximum_offset=length)
        run.layouts[path] = (MIB, stripes, (), targets)
    return run


def stripes_of(run):
    """The fact and the finding, None where there is none."""
    about = diagnose(run.evidence(), storage=LOCAL)
    fact = [one for one in about.facts if one.code == "stripes" and one.unusual]
    found = [one for one in about.findings if one.code == "stripes"]
    return (fact or [None])[0], (found or [None])[0]


def test_one_stripe_for_many_ranks():
    fact, found = stripes_of(shared(1, n_ranks=4096, length=64 * GIB))
    assert fact.text == "out.nc lies on 1 stripe, used by 4096 ranks (64 GiB)."
    assert found.cost_seconds is None
    (line,) = found.lines
    assert line.startswith("lfs setstripe -c -1 '/scratch/run 1'")
    assert "acts only on new files" in found.remedy
    assert found.tune


@pytest.mark.parametrize(
    ("stripes", "fields", "option"),
    [
        (1, {"n_ranks": 16}, "-c 16 "),
        (4, {"n_ranks": 64, "targets": 12}, "-c -1 "),
        (1, {"n_ranks": 64, "length": 8 * MIB}, "-c 8 "),
        (2, {"n_ranks": 8, "unit": 0}, "-c 8 "),  # the size is not known
        (2, {"n_ranks": 8, "targets": 5}, "-c -1 "),
        (48, {"n_ranks": 64, "length": 12 * MIB}, "-c 48 -S 256K "),
        (4, {"n_ranks": 4, "unit": 64 * MIB, "length": 128 * MIB}, "-c 4 -S 32768K "),
    ],
)
def test_other_stripes_are_advised(stripes, fields, option):
    fact, found = stripes_of(shared(stripes, **fields))
    assert fact is not None
    assert option in found.lines[0]


@pytest.mark.parametrize(
    ("stripes", "fields"),
    [
        (64, {}),
        (40, {}),  # more than half as many
        (12, {"targets": 12}),  # all that there are
        (1, {"length": 4 * MIB}),
        (1, {"n_ranks": 1}),
        (1, {"seconds": 0.2}),  # no matter for this run
        (4, {"n_ranks": 64, "length": 4 * MIB, "unit": MIB}),
    ],
)
def test_stripes_that_fit_are_no_matter(stripes, fields):
    assert stripes_of(shared(stripes, **fields))[1] is None


def test_files_of_one_process_over_many_stripes():
    fact, found = stripes_of(single_files(8, n_files=40))
    assert fact.text.startswith("40 files of one process each lie over 8 stripes each")
    assert found.lines[0].startswith("lfs setstripe -c 1 /scratch ")
    assert stripes_of(single_files(1)) == (None, None)
    assert stripes_of(single_files(2, targets=48)) == (None, None)  # targets are left over
    assert stripes_of(single_files(8, n_files=8)) == (None, None)  # too few to know
    few = stripes_of(single_files(156, n_files=4, targets=156))[1]
    assert few.lines[0].startswith("lfs setstripe -c 39 ")  # all targets, each for one file


def test_stripes_that_were_asked_for_and_not_given():
    run = shared(1)
    run.hints[SHARED] = {"requested": {"striping_factor": "32"}}
    assert "; 32 stripes were requested." in stripes_of(run)[0].text


def test_emulated_storage_has_its_own_command():
    found = stripes_of(shared(2, targets=156, emulated=True))[1]
    assert found.lines[0].startswith("stripewise machine layout set -c 64 ")


def test_without_a_layout_nothing_is_told():
    run = shared(1)
    run.layouts.clear()
    about = diagnose(run.evidence(), storage=LOCAL)
    (check,) = [one for one in about.checks if one.code == "stripes"]
    assert check.why_unknown == "the layout of the files is not known"


def test_small_files_are_not_judged():
    assert stripes_of(shared(1, length=100 * KIB))[1] is None
