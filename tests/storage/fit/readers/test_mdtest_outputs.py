# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""mdtest's outputs, with the figures that are printed in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreign.rendered.mdtest import mdtest_text
from stripewise.core.errors import UsageError
from stripewise.storage.results import MetadataTest, Test, read_results, read_tests

DATA = Path(__file__).parent / "data"


def only(name: str) -> Test:
    (test,) = read_tests([DATA / name]).tests
    return test


def rates(test: Test, operation: str) -> tuple[float, ...]:
    return tuple(sorted(round(rate, 3) for rate in test.rates(operation)))


def test_one_iteration_of_files_and_directories() -> None:
    test = only("mdtest-once.txt")
    assert test.work == MetadataTest(20, "shared")
    assert (test.version, test.nodes, test.ranks, test.cache) == ("4.1.0+dev", 1, 2, "none")
    assert rates(test, "create") == (83302.959,)
    assert {one.operation for one in test.timed} == {
        "create", "stat", "read-file", "remove", "create-directory", "stat-directory",
        "rename-directory", "remove-directory", "create-tree", "remove-tree",
    }  # fmt: skip
    assert test.timed[0].amount == 40
    assert test.notes == ()


def test_two_iterations_are_the_least_and_the_greatest() -> None:
    test = only("mdtest-files-twice.txt")
    assert test.work == MetadataTest(20, "own")
    assert rates(test, "create") == (18779.064, 76190.808)
    assert test.notes == ("the order of the iterations is not reported.",)


def test_three_iterations_follow_from_the_mean() -> None:
    test = only("mdtest-tree.txt")
    assert test.work == MetadataTest(28, "shared", depth=2, width=2)
    assert rates(test, "create") == (2799.168, 2801.137, 4343.054)
    assert sum(rates(test, "create")) / 3 == pytest.approx(3314.453, abs=0.001)
    assert test.timed[-1].amount == 7  # directories of the tree


def test_no_iteration_is_the_slowest_of_all_operations() -> None:
    """Where their order is not told, an ascending one would look like a slow first round."""
    test = only("mdtest-tree.txt")
    slowest = {
        min((one for one in test.timed if one.operation == name), key=lambda one: one.rate).repeat
        for name in ("create", "stat", "read-file", "remove")
    }
    assert slowest == {1, 2, 3}


def test_of_four_iterations_only_the_mean_is_told() -> None:
    test = only("mdtest-directories.txt")
    assert isinstance(test.work, MetadataTest)
    assert len(test.rates("create-directory")) == 1
    low, mean, high = test.work.spread["create-directory"]
    assert low < mean < high
    assert test.rates("create-directory")[0] == pytest.approx(mean)
    assert "only the mean of 4 iterations is reported" in test.notes[0]
    with pytest.raises(UsageError, match="no bandwidth and no rate of files"):
        read_results([DATA / "mdtest-directories.txt"])


def test_options_become_the_work() -> None:
    test = only("mdtest-shifted.txt")
    assert test.work == MetadataTest(20, "shared", file_bytes=3901, sync=True)
    assert test.cache == "shift"


def test_a_stonewall_says_how_much_was_made() -> None:
    test = only("mdtest-stonewall.txt")
    assert test.stonewall_seconds == 1
    create = test.timed[0]
    assert (create.operation, create.amount, create.worn_out) == ("create", 2 * 2807, True)
    assert create.rate == pytest.approx(5581.937)


@pytest.mark.parametrize("name", ["mdtest-by-rank.txt", "mdtest-rates-and-times.txt",
                                  "mdtest-verbose.txt"])  # fmt: skip
def test_columns_of_ranks_times_and_messages_are_told_apart(name: str) -> None:
    test = only(name)
    text = (DATA / name).read_text()
    summary = text[text.index("SUMMARY rate") :]
    row = next(line for line in summary.splitlines() if line.startswith("   File creation"))
    high, low = map(float, row.split()[-4:-2])
    assert (min(rates(test, "create")), max(rates(test, "create"))) == (low, high)


@pytest.mark.parametrize("version", ["1.9.1", "1.9.3"])
def test_old_versions_mix_ranks_and_iterations(version: str) -> None:
    test = only(f"mdtest-{version}-as-documented.txt")
    assert (test.version, test.nodes, test.ranks) == (version, 2, 72)
    assert test.work.spread["create"] == (7999.5, 8000.0, 8000.5)  # type: ignore[union-attr]
    assert rates(test, "create") == (8000.0,)
    work = test.work
    assert isinstance(work, MetadataTest)
    assert (work.files, work.sharing, work.depth, work.width) == (400, "own", 3, 3)
    assert (work.file_bytes, work.sync) == (1024, True)


def test_version_3_has_colons() -> None:
    assert rates(only("mdtest-3.3.0-as-documented.txt"), "stat") == (100000.0,)


def test_times_alone_have_too_few_digits() -> None:
    with pytest.raises(UsageError, match=r"\(-Z\) with 3 digits only: use -P"):
        read_tests([DATA / "mdtest-times.txt"])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("83302.959", "93302.959", "is not between"),
        ("      83302.959", "            nan", "something else than numbers"),
        ("      83302.959", "     -83302.959", "something else than numbers"),
        ("          0.000\n   File stat", "          5.000\n   File stat", "no deviation"),
    ],
)
def test_a_damaged_row_is_left_out_and_named(tmp_path: Path, old, new, says) -> None:
    text = (DATA / "mdtest-once.txt").read_text()
    assert old in text
    file = tmp_path / "out"
    place = text.index("   File creation")
    file.write_text(text[:place] + text[place:].replace(old, new, 2))
    (test,) = read_tests([file]).tests
    assert test.rates("create") == ()
    assert says in " ".join(test.notes)


@pytest.mark.parametrize("version", ["1.9.3", "3.3.0", "3.4.0+dev"])
def test_up_to_3_4_a_row_has_the_figures_of_all_tasks(tmp_path: Path, version: str) -> None:
    """One iteration then has a deviation, which says nothing of the iterations."""
    rates = {"create": [29343.5], "remove": [0.0], "create-tree": [120.5]}
    text = mdtest_text({"version": version, "layout": "3", "tasks": 96, "nodes": 96,
                        "items": 60000, "jitter": 0.01, "rates": rates})  # fmt: skip
    path = tmp_path / "mdtest.txt"
    path.write_text(text)
    (test,) = read_tests([path]).tests
    assert rates_of(test) == {"create": 29343.5, "create-tree": 120.5}
    assert isinstance(test.work, MetadataTest)
    low, mean, high = test.work.spread["create"]
    assert (low, mean, high) == pytest.approx((29050.065, 29343.5, 29636.935), abs=1e-3)

    path.write_text(text.replace("96 total", "1 total").replace("on 96", "on 1"))
    (test,) = read_tests([path]).tests  # one task of one iteration has no deviation
    assert rates_of(test) == {"create-tree": 120.5}


def rates_of(test: Test) -> dict[str, float]:
    return {one.operation: round(one.rate, 3) for one in test.timed}
