# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Room for runs, and quotas."""

from __future__ import annotations

import pytest

from stripewise.core.errors import StorageError
from stripewise.study.workspace import _copying as _disk_space


def test_a_run_that_does_not_fit_is_refused(study, workspace):
    workspace.first_run_known((), 10**18)
    with pytest.raises(StorageError, match=r"a run needs 888 PiB .*free some space"):
        workspace.prepare("1")
    assert study.inside("work").names() == ()


def test_a_quota_is_asked_for_once_per_size(workspace, monkeypatch):
    workspace.prepare("1")
    asked = []
    monkeypatch.setattr(_disk_space, "_reserve", lambda _file, size: asked.append(size) or 0)
    for needed in (8 << 20, 8 << 20, 9 << 20):
        workspace.first_run_known((), needed)
        workspace.check_after_failure("1")
    assert asked == [8 << 20, 9 << 20]


def test_a_quota_that_refuses_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(_disk_space, "_reserve", lambda *_: 122)
    with pytest.raises(StorageError, match="there is: disk quota exceeded"):
        _disk_space.check_quota(tmp_path, 5000, "a run")
    assert list(tmp_path.iterdir()) == []


def test_reserving_leaves_nothing(tmp_path):
    _disk_space.check_quota(tmp_path, 1 << 20, "a run")
    _disk_space.check_quota(tmp_path, 0, "a run")
    assert list(tmp_path.iterdir()) == []
