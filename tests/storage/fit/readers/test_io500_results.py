# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IO500's results: both files, a directory, and what they do not say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foreign.rendered.io500 import io500_directory, io500_result, io500_summary
from stripewise.core.errors import UsageError
from stripewise.storage.results import Data, MetadataTest, read_tests

GIVEN: dict[str, Any] = {
    "procs": 64, "nodes": 4, "version": "io500-sc22",
    "phases": {"ior-easy-write": [6.0, 310.0], "mdtest-hard-write": [9.5, 305.0],
               "find": [255.0, 46.0], "ior-easy-read": [7.0, 280.0],
               "mdtest-hard-delete": [4.5, 110.0]},
}  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_phases_of_one_test_are_one_test(tmp_path: Path) -> None:
    found = read_tests([written(tmp_path / "result.txt", io500_result(GIVEN))], 16)
    easy, hard = found.tests
    assert (easy.program, easy.nodes, easy.ranks, easy.version) == ("ior", 4, 64, "io500-sc22")
    assert easy.rates("write") == pytest.approx((6.0 * 2**30,))
    assert easy.rates("read") == pytest.approx((7.0 * 2**30,))
    assert isinstance(easy.work, Data)
    assert easy.work.transfer_bytes == 2 << 20
    assert isinstance(hard.work, MetadataTest)
    assert (hard.work.sharing, hard.work.file_bytes) == ("shared", 3901)
    assert hard.rates("create") == pytest.approx((9500.0,))
    assert {one.operation for one in hard.timed} == {"create", "remove"}
    assert any("find is left out" in one for one in found.notes)


def test_the_summary_needs_the_ranks_and_the_nodes(tmp_path: Path) -> None:
    path = written(tmp_path / "copied.txt", io500_summary(GIVEN))
    with pytest.raises(UsageError, match="how many ranks there were: give --ranks"):
        read_tests([path])
    with pytest.raises(UsageError, match="give --ranks-per-node"):
        read_tests([path], ranks=64)
    assert {one.nodes for one in read_tests([path], 16, 64).tests} == {4}


def test_a_directory_has_them_in_the_outputs_of_ior_and_mdtest(tmp_path: Path) -> None:
    directory = io500_directory(GIVEN, tmp_path / "2024.05.11")
    for path in (directory, directory / "result_summary.txt", tmp_path):
        tests = read_tests([path]).tests
        assert {(one.nodes, one.ranks) for one in tests} == {(4, 64)}
    io500_directory(GIVEN, tmp_path / "2024.05.12")
    with pytest.raises(UsageError, match="results of 2 runs of IO500"):
        read_tests([tmp_path])


def test_invalid_phases_are_read_and_named(tmp_path: Path) -> None:
    for mark in ("after", "tag"):
        text = io500_summary({**GIVEN, "invalid": ["ior-easy-write"], "mark": mark})
        found = read_tests([written(tmp_path / "copied.txt", text)], 16, 64)
        assert [one for one in found.notes if "marks ior-easy-write as invalid" in one]
        assert found.tests[0].rates("write")


def test_a_score_of_zero_is_no_figure(tmp_path: Path) -> None:
    phases = {**GIVEN["phases"], "mdtest-hard-delete": [0.0, 0.0]}
    path = written(tmp_path / "copied.txt", io500_summary({**GIVEN, "phases": phases}))
    found = read_tests([path], 16, 64)
    assert found.tests[1].rates("remove") == ()
    assert any("mdtest-hard-delete is left out" in one for one in found.notes)


def test_scores_that_do_not_give_the_total_are_said(tmp_path: Path) -> None:
    names = ("easy-write", "hard-write", "easy-read", "hard-read")
    phases = {f"ior-{name}": [float(score), 300.0] for score, name in enumerate(names, 2)}
    for render in (io500_summary, io500_result):
        text = render({**GIVEN, "phases": phases})
        path = written(tmp_path / "copied.txt", text)
        assert not any("may be damaged" in one for one in read_tests([path], 16, 64).notes)
        path.write_text(text.replace("3.000000", "33.00000"))
        (note,) = [one for one in read_tests([path], 16, 64).notes if "may be damaged" in one]
        assert "IO500 says BW = 3.30975" in note
