# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names in a directory that a thread knows are counted as those in one that it has not seen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from native_hosts import Host, Programs

from stripewise.evidence.trace import Action, FileFlag, Op

TIMES = 30
LONG = "l" * 120
GROUPS = [
    ["s:plain"], ["s:./plain"], ["s:.//./plain"], ["s:sub/plain"], ["s:sub//plain"],
    ["s:sub/./plain"], ["s:sub/../plain"], ["s:sub/deep/plain"], ["a:sub/deep/plain"],
    ["s:absent"], ["s:sub/absent"], ["a:none/absent"], ["u:absent"], ["s:sub/"], ["s:."], ["s:.."],
    ["s:sub/.."], ["s:sub/.hidden"], ["s:"], ["s:/"], ["s:/usr"], ["s:/usr/lib/x"], ["s:/var/tmp"],
    ["s:/var/lib"], ["s:/proc/self/stat"], ["s:/tmp"], ["s:module.py"], ["s:sub/module.pyc"],
    ["s:sub/lib.so"], ["s:sub/lib.so.1"], ["s:sub/lib.so.x"], ["s:sub/no.so.1.txt"], ["s:so"],
    ["s:.so"], ["s:om"], ["s:p"], ["s:prte"], ["s:ompi.here"],
    [f"s:{LONG}/{LONG}/plain"], [f"s:{LONG}/plain"], ["c:sub", "s:plain", "c:.."],
    ["c:sub", "s:deep/plain", "c:.."], ["c:sub/deep", "s:plain", "c:../.."],
]  # fmt: skip
"""Each with one name that is looked at."""
FILTERS = [
    {},
    {"STRIPEWISE_EXCLUDE": "{work}/sub"},
    {"STRIPEWISE_EXCLUDE": "{work}/sub/plain:{work}/sub/deep"},
    {"STRIPEWISE_INCLUDE": "{work}/sub/deep:/usr/lib", "STRIPEWISE_EXCLUDE": "{work}"},
    {"STRIPEWISE_INCLUDE": "{work}/module.py:/proc/self"},
]

Counts = Counter[tuple[str, int]]


@pytest.fixture
def tree(host: Host) -> Host:
    (host.directory / "sub" / "deep").mkdir(parents=True)
    (host.directory / LONG / LONG).mkdir(parents=True)
    for name in ("plain", "sub/plain", "sub/deep/plain", f"{LONG}/{LONG}/plain"):
        (host.directory / name).write_text("data")
    return host


def counted(host: Host, *command: str | Path, **variables: str) -> Counts:
    """Calls and failed calls by directory, with what comes of starting the program."""
    host.check(*command, **variables)
    profile, found = host.profile, Counts()
    for row in profile.names:
        directory = profile.directories[row["directory"]]
        for action in Action:
            found[directory, action] += int(row["count"][action])
            found[f"{directory} failed", action] += int(row["failed"][action])
    for path in host.containers.glob("*.sw"):
        path.unlink()
    return found


@pytest.mark.parametrize("filters", FILTERS, ids=range(len(FILTERS)))
def test_known_directories_count_as_new_ones(
    tree: Host, programs: Programs, filters: dict[str, str]
) -> None:
    looks = programs.executable("looks")
    variables = {name: text.format(work=tree.directory) for name, text in filters.items()}
    begin = counted(tree, looks, "plain", "0", **variables)
    actions = [action for group in GROUPS for action in ("--", *group)][1:]
    once = counted(tree, looks, "each", "1", *actions, **variables)  # none knows a directory
    for how, factor in (("plain", TIMES), ("threads", 2 * TIMES), ("forked", 2 * TIMES)):
        found = counted(tree, looks, how, str(TIMES), *actions, **variables)
        for key in once.keys() | found.keys():
            assert found[key] - begin[key] == factor * (once[key] - begin[key]), key


def test_files_that_are_known_have_calls_on_their_names_too(
    host: Host, programs: Programs
) -> None:
    """The table of files grows meanwhile."""
    names = [f"n{number}" for number in range(1100)]
    actions = [f"{action}:{name}" for action in "msau" for name in names]
    host.check(programs.executable("looks"), "plain", "1", *actions)
    rows = host.profile.counters
    assert len(rows) == len(set(rows["file"].tolist())) == len(names)
    assert set(rows["count"][:, Op.META].tolist()) == {3}
    assert set(rows["count"][:, [Op.WRITE, Op.CLOSE]].ravel().tolist()) == {1}
    assert (rows["flags"] & FileFlag.UNLINKED).all()


def test_a_directory_that_takes_the_place_of_another_is_itself(
    tree: Host, programs: Programs
) -> None:
    """The working directory changes between the same relative names."""
    looks = programs.executable("looks")
    ways = ["c:sub", "s:plain", "s:plain", "c:deep", "s:plain", "c:../..", "s:plain"]
    found = counted(tree, looks, "plain", "10", *ways)
    work = str(tree.directory)
    assert found[f"{work}/sub", Action.STAT] == 20
    assert found[f"{work}/sub/deep", Action.STAT] == 10
    assert found[work, Action.STAT] == 10


def test_the_time_of_calls_is_theirs_by_whatever_clock(host: Host, programs: Programs) -> None:
    """After some 20 ms the counter of the processor is asked in place of the clock."""
    hold_ns = 2_000_000
    host.check(
        programs.executable("looks"), "plain", "40", "s:plain", STRIPEWISE_HOLD=f"stat={hold_ns}"
    )
    profile = host.profile
    seconds = sum(float(row["seconds"][Action.STAT]) for row in profile.names)
    assert 40 * hold_ns * 1e-9 * 0.999 <= seconds <= profile.elapsed_seconds
    assert seconds <= profile.io_seconds <= profile.elapsed_seconds
