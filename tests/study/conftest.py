# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ensemble_harness import CASES

from stripewise.core import StudyResult
from stripewise.core.errors import RuntimeMissingError
from stripewise.run.launch import Launcher
from stripewise.run.runtime import find_runtime, task_program
from stripewise.study.plan import Observer, StudyOptions
from stripewise.study.procedure import run_study
from support.job_cluster import JobCluster, build_writer, job_cluster, prepared
from support.study_fakes import fake_tools, tools_by_case
from support.tuned_scripts import Left

Run = Callable[..., StudyResult]


@pytest.fixture
def run_fake(tmp_path: Path) -> Run:
    """Run a study of a fake program; keyword arguments go to the options or the tools."""

    def run(launcher: Launcher, **given: object) -> StudyResult:
        tool_names = ("facts", "space", "policy", "compare", "memory", "unreadable", "look")
        for_tools = {name: given.pop(name) for name in tool_names if name in given}
        observer = given.pop("observer", None) or Observer()
        given.setdefault("directory", tmp_path / "study")
        given.setdefault("command", ("prog",))
        options = StudyOptions(origin=tmp_path, **given)
        tools = fake_tools(launcher, **for_tools)
        return run_study(options, observer, lambda _options, _ledger: tools)

    return run


@pytest.fixture
def run_cases(tmp_path: Path, no_fsync: None) -> Run:
    """Run a study of several cases; keyword arguments go to the options or the tools."""

    def run(
        by_word: Mapping[str, Launcher],
        tools: Any = None,
        observer: Observer | None = None,
        **given: Any,
    ) -> StudyResult:
        given.setdefault("cases", CASES)
        given.setdefault("command", ())
        given.setdefault("directory", tmp_path / "study")
        given.setdefault("trials", 4)
        options = StudyOptions(origin=tmp_path, **given)
        return run_study(options, observer, tools_by_case(by_word, **(tools or {})))

    return run


@pytest.fixture
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="session")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose writes take as long as the storage would."""
    try:
        task_program(find_runtime())
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built")
    return build_writer(tmp_path_factory.mktemp("writer"))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Path) -> Iterator[JobCluster]:
    """A directory with a job script, on a fake Slurm."""
    with job_cluster(tmp_path, monkeypatch) as made:
        yield prepared(made, writer)


@pytest.fixture
def left(tmp_path: Path) -> Left:
    """A directory of a user, and what a study of a job script leaves there."""
    return Left(tmp_path)
