# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every launcher must do.

A member's test derives a class from `LauncherSuite`, says how to make the launcher and the
requests, and is collected by pytest:

    class TestMine(LauncherSuite):
        def make_launcher(self, directory): return MyLauncher()
        def make_request(self, directory, kind): return RunRequest(...)
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import ProgramError
from stripewise.run.launch import Handle, Launcher, Outcome, RunRequest


def same_handle(handle: Handle) -> Handle:
    """Return the handle as a restarted tuner reads it from its journal."""
    return Handle(**json.loads(json.dumps({**asdict(handle), "data": dict(handle.data)})))


class LauncherSuite:
    """The contract of `Launcher`, as tests."""

    def make_launcher(self, directory: Path) -> Launcher:
        """Make a launcher; called twice on one directory it stands for a restarted tuner."""
        raise NotImplementedError

    def make_request(self, directory: Path, kind: str) -> RunRequest | None:
        """Make a new request; None where the launcher has no such runs.

        Args:
            directory: For the run's directories.
            kind: "ok", "fail" (exit code 3), "slow" (a minute), "limited" (slow, with a
                time limit of a fraction of a second), "missing" (no such program).
        """
        raise NotImplementedError

    def _request(self, directory: Path, kind: str) -> RunRequest:
        request = self.make_request(directory / str(uuid4()), kind)
        if request is None:
            pytest.skip(f"this launcher has no {kind} runs")
        return request

    def _run(self, launcher: Launcher, request: RunRequest) -> tuple[Handle, Outcome]:
        handle = launcher.submit(request)
        assert launcher.wait(handle, 60)
        return handle, launcher.collect(handle)

    def test_it_has_a_name(self, tmp_path: Path) -> None:
        """Handles and journals name their launcher."""
        assert self.make_launcher(tmp_path).name

    def test_a_run_ends_well(self, tmp_path: Path) -> None:
        """Submit, wait, collect."""
        launcher = self.make_launcher(tmp_path)
        request = self._request(tmp_path, "ok")
        handle, outcome = self._run(launcher, request)
        assert (handle.launcher, handle.run_id) == (launcher.name, request.run_id)
        assert (outcome.status, outcome.exit_code) == (RunStatus.OK, 0)
        assert outcome.elapsed_seconds > 0

    def test_collect_gives_the_same_again(self, tmp_path: Path) -> None:
        """An outcome is stored, not computed anew."""
        launcher = self.make_launcher(tmp_path)
        handle, outcome = self._run(launcher, self._request(tmp_path, "ok"))
        assert launcher.poll(handle)
        assert launcher.collect(handle) == outcome

    def test_a_handle_is_durable(self, tmp_path: Path) -> None:
        """Another launcher finds the run by what the journal holds."""
        handle, outcome = self._run(self.make_launcher(tmp_path), self._request(tmp_path, "ok"))
        restarted = self.make_launcher(tmp_path)
        assert restarted.poll(same_handle(handle))
        assert restarted.collect(same_handle(handle)) == outcome

    def test_a_failure_is_a_result(self, tmp_path: Path) -> None:
        """A non-zero exit status is FAILED, with a line that says so."""
        _, outcome = self._run(self.make_launcher(tmp_path), self._request(tmp_path, "fail"))
        assert outcome.status is RunStatus.FAILED
        assert outcome.exit_code
        assert outcome.message

    def test_a_time_limit_is_kept(self, tmp_path: Path) -> None:
        """A run beyond its limit is stopped: TIMEOUT."""
        _, outcome = self._run(self.make_launcher(tmp_path), self._request(tmp_path, "limited"))
        assert outcome.status is RunStatus.TIMEOUT
        assert outcome.message
        assert outcome.elapsed_seconds < 30

    def test_cancel_ends_a_run(self, tmp_path: Path) -> None:
        """After cancel the run has ended: CANCELLED."""
        launcher = self.make_launcher(tmp_path)
        handle = launcher.submit(self._request(tmp_path, "slow"))
        assert not launcher.poll(handle)
        assert not launcher.wait(handle, 0.05)
        launcher.cancel(handle)
        assert launcher.poll(handle)
        assert launcher.collect(handle).status is RunStatus.CANCELLED

    def test_cancel_after_the_end_changes_nothing(self, tmp_path: Path) -> None:
        """A finished run stays finished."""
        launcher = self.make_launcher(tmp_path)
        handle, outcome = self._run(launcher, self._request(tmp_path, "ok"))
        launcher.cancel(handle)
        assert launcher.collect(handle) == outcome

    def test_what_cannot_be_started_is_refused(self, tmp_path: Path) -> None:
        """ProgramError from submit, before anything is started."""
        launcher = self.make_launcher(tmp_path)
        request = self._request(tmp_path, "missing")
        with pytest.raises(ProgramError):
            launcher.submit(request)
