# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compute nodes of a fake Slurm that lack what a run needs."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import StudyError
from stripewise.run.launch.agent import _agent_files as files
from stripewise.run.launch.agent._agent import Agent


@pytest.mark.extended
def test_a_node_without_python(jobs, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    jobs.fake.set(environment={"PATH": "/nonexistent"})
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"python3.*not found"):
        jobs.launcher.collect(handle)


def test_a_node_whose_python_is_too_old(jobs, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo Python 3.6.8\nexit 1\n')
    old.chmod(0o700)
    jobs.fake.set(environment={"PATH": str(tmp_path)})
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"no Python 3\.9 or later here: Python 3\.6\.8"):
        jobs.launcher.collect(handle)


def test_a_newer_python_beside_it(jobs, monkeypatch, tmp_path):
    python = sys.executable
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    (tmp_path / "python3.11").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    (tmp_path / "python3.11").chmod(0o700)
    jobs.fake.set(environment={"PATH": str(tmp_path)})
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK


def test_a_runtime_that_the_node_does_not_see(jobs, tmp_path):
    library = tmp_path / "libstripewise.so"
    library.touch()
    jobs.launch()
    jobs.launcher.runtime = SimpleNamespace(core=library, plugin_directory=tmp_path)
    jobs.fake.set(hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    library.unlink()
    jobs.fake.set()
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"runtime library .*libstripewise.*RUNTIME_DIR=DIR"):
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


def test_what_an_agent_says_fits_into_its_file_in_any_script(tmp_path):
    agent = Agent(str(tmp_path))
    agent.errors = {str(number): "\u6587" * 400 for number in range(1000, 1010)}
    agent.tell(durable=True)
    assert "1009" in files.read(str(tmp_path / files.AGENT))["said"]
