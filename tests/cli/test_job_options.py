# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise tune run.sh`: its command line."""

from __future__ import annotations

import pytest

from stripewise.cli._options import NodeHours
from support.job_cluster import refused


@pytest.mark.parametrize("text", ["0", "0nh", "-1", "1e3", "nan", "inf", "9" * 400, "40h", ""])
def test_budgets_that_are_none(cluster, text) -> None:
    refused(cluster, cluster.tune("run.sh", f"--budget={text}"), "40node-hours")


@pytest.mark.parametrize(
    ("text", "hours"),
    [("40node-hours", 40), ("40 node-hours", 40), ("1 nodehour", 1), ("2.5nh", 2.5), ("3", 3)],
)
def test_budgets(text, hours) -> None:
    assert NodeHours().convert(text, None, None) == hours


def test_words_behind_the_script(cluster) -> None:
    said = cluster.tune("run.sh", "extra", "words")
    refused(cluster, said, "'extra'", "tune run.sh -- extra")
    refused(cluster, cluster.tune("run.sh", "--dry-run", "extra"), "'extra'")
    refused(cluster, cluster.tune("run.sh", "--nonsense"), "--nonsense")
    done = cluster.tune("run.sh", "--dry-run", "--", "extra", "--words")
    assert done.code == 0, done


@pytest.mark.parametrize(
    "words",
    [("--step", "1"), ("--budget", "1"), ("--bb-nodes", "2"), ("--bb-capacity", "1GiB"),
     ("--tier", "none"), ("--job-per-run",), ("--allocation-time", "1h"), ("--dry-run",)],
)  # fmt: skip
def test_options_of_job_scripts_without_one(cluster, words) -> None:
    line = cluster.tune(*words, "--", "./writer", "out.dat").error("requires a job script")
    assert words[0] in line
    assert cluster.fake.calls == []


@pytest.mark.parametrize("before", [(), ("--budget", "1nh"), ("--dry-run",), ("--trials", "2")])
def test_a_script_behind_the_dashes_is_refused(cluster, before) -> None:
    said = cluster.tune(*before, "--", "./run.sh")
    refused(cluster, said, "./run.sh is a job script", "give stripewise tune ./run.sh to tune")
    said = cluster.tune(*before, "--", "run.sh", "a b")
    refused(cluster, said, "stripewise tune run.sh -- 'a b'", "tune -- bash run.sh 'a b'")
    assert cluster.fake.calls == []


def test_a_script_behind_the_dashes_that_is_insisted_on(cluster) -> None:
    """The shell is a program as any other: what is refused is not the script."""
    cluster.tune("--budget", "1nh", "--", "bash", "run.sh").error("--budget requires a job")
    (cluster.work / "plain.sh").write_text("#!/bin/bash\n./writer out.dat\n")
    cluster.tune("--budget", "1nh", "--", "./plain.sh").error("--budget requires a job")
    assert cluster.fake.calls == []
