# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.postgres import postgres  # noqa: F401  # one server for all directories

pytest_plugins = ["support.choice"]

# A shell's background jobs ignore Ctrl-C, and all that they start does too; the programs under
# test are to meet it as in a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

# An example that meets a busy moment of the host is no find, nor is one that was made slowly.
# What a change must pass has the same examples each time; with --all, new ones are tried.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", _PATIENT)
settings.register_profile("suite", _PATIENT, derandomize=True)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Try new examples of properties where all tests run."""
    if config.getoption("--all"):
        settings.load_profile("explore")


@pytest.fixture(scope="session", autouse=True)
def _no_memory_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep studies away from the user's own store and descriptions, in wider fixtures too."""
    directory = tmp_path_factory.mktemp("knowledge")
    os.environ["STRIPEWISE_KNOWLEDGE"] = str(directory / "session.sqlite")
    os.environ["XDG_CONFIG_HOME"] = str(directory / "config")
    os.environ["XDG_DATA_HOME"] = str(directory / "data")
    os.environ["STRIPEWISE_SITE_PACKS"] = str(directory / "packs")
    os.environ.pop("STRIPEWISE_SITE_KNOWLEDGE", None)
    return directory


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Return a temporary directory that other users can enter.

    It is none of pytest's: each pytest that begins closes the directory above all of those.
    """
    directory = Path(tempfile.mkdtemp(prefix="sw-open-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(autouse=True)
def knowledge_path(_no_memory_of_the_user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a store of its own, so that none begins with what another found."""
    path = _no_memory_of_the_user / f"{uuid.uuid4().hex}.sqlite"
    monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", str(path))
    return path
