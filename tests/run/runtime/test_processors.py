# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.run.site._doctor import cgroup_processors, parse_cpu_max, usable_processors


@pytest.mark.parametrize(
    ("text", "expected"),
    [("max 100000", None), ("150000 100000", 1.5), ("", None), ("junk", None)],
)
def test_cpu_max(text: str, expected: float | None) -> None:
    assert parse_cpu_max(text) == expected


def test_the_tightest_group_counts(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/a/b\n")
    group = tmp_path / "sys/fs/cgroup/a/b"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("max 100000\n")
    (group.parent / "cpu.max").write_text("300000 100000\n")
    assert cgroup_processors(tmp_path) == 3.0


def test_version_one_groups(tmp_path: Path) -> None:
    (tmp_path / "sys/fs/cgroup/cpu").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_period_us").write_text("100000\n")
    assert cgroup_processors(tmp_path) == 0.5


def test_at_least_one_processor() -> None:
    assert usable_processors() >= 1
