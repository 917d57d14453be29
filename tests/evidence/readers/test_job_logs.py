# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Darshan's logs of a job in a tree as sites keep it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from stripewise.core.errors import TraceError
from stripewise.evidence.readers import find_job_logs, logs_of_steps, read_evidence

START = time.mktime((2026, 3, 31, 23, 50, 0, 0, 0, -1))


@pytest.fixture
def tree(tmp_path):
    for place in (
        "2026/3/31/user_wrf.exe_id4711-99_3-31-86000-123_100.darshan",
        "2026/4/1/user_wrf.exe_id4711-120_4-1-300-124_50.darshan",
        "2026/4/1/user_small_id12_id4711-121_4-1-20-125_1.darshan",
        "2026/4/1/user_wrf.exe_id47110-1_4-1-20-125_1.darshan",
        "2026/4/1/user_wrf.exe_id4711-5_4-1-400-126.darshan_partial",
        "2026/4/1/unrelated.txt",
        "2026/1/1/user_wrf.exe_id4711-7_1-1-300-127_50.darshan",
        "2025/4/1/user_wrf.exe_id4711-7_4-1-300-128_50.darshan",
    ):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_logs_of_a_job_over_midnight_come_in_order_of_time(tree) -> None:
    logs = find_job_logs(tree, 4711, START, START + 3600)
    assert [(log.program, log.elapsed_seconds) for log in logs] == [
        ("user_wrf.exe", 100),
        ("user_small_id12", 1),
        ("user_wrf.exe", 50),
    ]
    assert logs[0].started_unix_seconds == START + 200
    assert logs[1].started_unix_seconds == START + 620
    assert find_job_logs(tree, 471, START, START + 3600) == ()


def test_a_flat_directory_and_folders_with_zeros_are_read_too(tmp_path) -> None:
    (tmp_path / "2026/04/01").mkdir(parents=True)
    for place in ("2026/04/01/u_a_id7_4-1-9-1_2.darshan", "u_b_id7_4-1-3-1_2.darshan"):
        (tmp_path / place).touch()
    logs = find_job_logs(tmp_path, 7, START, START)
    assert [log.program for log in logs] == ["u_b", "u_a"]


def test_links_and_directories_are_no_logs(tree) -> None:
    day = tree / "2026/4/1"
    os.symlink("/etc/hostname", day / "user_link_id4711-1_4-1-30-1_1.darshan")
    (day / "user_dir_id4711-1_4-1-31-1_1.darshan").mkdir()
    assert len(find_job_logs(tree, 4711, START, START + 3600)) == 3


def test_logs_are_told_apart_by_step(tree) -> None:
    logs = find_job_logs(tree, 4711, START, START + 3600)
    assert logs_of_steps(logs) == {0: (logs[0],), 1: (logs[1],), 2: (logs[2],)}
    steps = {
        0: (START + 190, START + 310),
        1: (START + 400, START + 410),  # no MPI: no log
        2: (START + 615, START + 625),
        3: (START + 890, START + 960),
    }
    assert logs_of_steps(logs, steps) == {0: (logs[0],), 1: (), 2: (logs[1],), 3: (logs[2],)}
    together = {0: (START + 190, START + 310), 1: (START + 600, START + 960)}
    assert logs_of_steps(logs, together)[1] == (logs[1], logs[2])


def test_a_directory_that_is_not_there_is_said(tmp_path) -> None:
    with pytest.raises(TraceError, match="darshan-config --log-path"):
        find_job_logs(tmp_path / "nowhere", 1, START, START)


def test_a_real_log_is_found_and_read(tmp_path) -> None:
    package = Path(pytest.importorskip("darshan").__file__).parent
    (real,) = package.glob("examples/darshan-graph/pq_app_write_id71303_*.darshan")
    start = read_evidence(real).profile.start
    day = tmp_path / time.strftime("%Y/", time.localtime(start)) / "7" / "31"
    day.mkdir(parents=True)
    shutil.copy(real, day)
    (log,) = find_job_logs(tmp_path, 71303, start, start + 3600)
    assert log.program == "pq_app_write"
    assert log.elapsed_seconds == 55623
    assert read_evidence(log.path).profile.job_id == "71303"
