# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from uuid import uuid4

import pytest

from stripewise.core.errors import UsageError
from stripewise.run.launch import (
    DEFAULT_LAUNCHER,
    NullLauncher,
    RunRequest,
    create_launcher,
    register_launcher,
)
from stripewise.testing.launcher_suite import LauncherSuite


class TestNull(LauncherSuite):
    def make_launcher(self, directory):
        return NullLauncher()

    def make_request(self, directory, kind):
        if kind != "ok":
            return None
        return RunRequest(str(uuid4()), ("prog",), directory / "work", directory / "record")


def test_launchers_by_name():
    for name in (DEFAULT_LAUNCHER, "null"):
        assert create_launcher(name, None).name == name
    with pytest.raises(UsageError, match=r"no launcher 'slrum'; there are local, null"):
        create_launcher("slrum", None)


def test_a_launcher_from_outside(monkeypatch):
    from stripewise.run.launch import _registry

    monkeypatch.setattr(_registry, "_LAUNCHERS", dict(_registry._LAUNCHERS))

    class Mine(NullLauncher):
        name = "mine"

    register_launcher("mine", lambda runtime: Mine())
    assert create_launcher("mine", None).name == "mine"
