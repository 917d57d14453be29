# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compute nodes of a fake Slurm that lack what a run needs."""

from __future__ import annotations

import sys

import pytest

from stripewise.errors import StudyError


def test_a_node_without_python(jobs, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    jobs.fake.set(environment={"PATH": "/nonexistent"})
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"python3.*not found"):
        jobs.launcher.collect(handle)


def test_a_record_that_the_node_does_not_see(jobs):
    jobs.fake.set(hold=True)
    request = jobs.runs.shell(":")
    handle = jobs.launcher.submit(request)
    request.directory.rename(request.directory.with_name("elsewhere"))
    jobs.fake.set()
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"does not see .*work.*--study-dir"):
        jobs.launcher.collect(handle)


def test_a_spool_that_the_node_does_not_see(jobs):
    jobs.fake.set(hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    (agent,) = (jobs.directory / "jobs").glob("agent-*")
    agent.rename(jobs.directory / "elsewhere")
    jobs.fake.set()
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"_agent\.py.*must see"):
        jobs.launcher.collect(handle)
