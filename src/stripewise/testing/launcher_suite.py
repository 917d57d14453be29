# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Contains the conformance suite for launchers.

A launcher's test derives a class from `LauncherSuite`, defines how to create the launcher and the
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
    """Return a handle as a restarted tuner reads it from its journal."""
    return Handle(**json.loads(json.dumps({**asdict(handle), "data": dict(handle.data)})))


class LauncherSuite:
    """Conformance suite for `Launcher`."""

    def make_launcher(self, directory: Path) -> Launcher:
        """Create a launcher; a second call with the same directory simulates a restarted tuner."""
        raise NotImplementedError

    def make_request(self, directory: Path, kind: str) -> RunRequest | None:
        """Create a new request; return None if the launcher has no such runs.

        Args:
            directory: Parent of the run's directories.
            kind: Kind of run: "ok", "fail" (exit code 3), "slow" (a minute), "limited" (slow, with
                a time limit of a fraction of a second), "missing" (no such program).
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
        """The launcher has a name, which handles and journals contain."""
        assert self.make_launcher(tmp_path).name

    def test_a_run_ends_well(self, tmp_path: Path) -> None:
        """A run can be submitted, awaited and collected."""
        launcher = self.make_launcher(tmp_path)
        request = self._request(tmp_path, "ok")
        handle, outcome = self._run(launcher, request)
        assert (handle.launcher, handle.run_id) == (launcher.name, request.run_id)
        assert (outcome.status, outcome.exit_code) == (RunStatus.OK, 0)
        assert outcome.elapsed_seconds > 0

    def test_collect_gives_the_same_again(self, tmp_path: Path) -> None:
        """Collecting a run again gives the same stored outcome."""
        launcher = self.make_launcher(tmp_path)
        handle, outcome = self._run(launcher, self._request(tmp_path, "ok"))
        assert launcher.poll(handle)
        assert launcher.collect(handle) == outcome

    def test_a_handle_is_durable(self, tmp_path: Path) -> None:
        """Another launcher finds the run by its handle in the journal."""
        handle, outcome = self._run(self.make_launcher(tmp_path), self._request(tmp_path, "ok"))
        restarted = self.make_launcher(tmp_path)
        assert restarted.poll(same_handle(handle))
        assert restarted.collect(same_handle(handle)) == outcome

    def test_a_failure_is_a_result(self, tmp_path: Path) -> None:
        """A non-zero exit status gives FAILED, with a message."""
        _, outcome = self._run(self.make_launcher(tmp_path), self._request(tmp_path, "fail"))
        assert outcome.status is RunStatus.FAILED
        assert outcome.exit_code
        assert outcome.message

    def test_a_time_limit_is_kept(self, tmp_path: Path) -> None:
        """A run that exceeds its limit is stopped with TIMEOUT."""
        _, outcome = self._run(self.make_launcher(tmp_path), self._request(tmp_path, "limited"))
        assert outcome.status is RunStatus.TIMEOUT
        assert outcome.message
        assert outcome.elapsed_seconds < 30

    def test_cancel_ends_a_run(self, tmp_path: Path) -> None:
        """After cancel the run has ended with CANCELLED."""
        launcher = self.make_launcher(tmp_path)
        handle = launcher.submit(self._request(tmp_path, "slow"))
        assert not launcher.poll(handle)
        assert not launcher.wait(handle, 0.05)
        launcher.cancel(handle)
        assert launcher.poll(handle)
        assert launcher.collect(handle).status is RunStatus.CANCELLED

    def test_cancel_after_the_end_changes_nothing(self, tmp_path: Path) -> None:
        """Cancelling a finished run does not change its outcome."""
        launcher = self.make_launcher(tmp_path)
        handle, outcome = self._run(launcher, self._request(tmp_path, "ok"))
        launcher.cancel(handle)
        assert launcher.collect(handle) == outcome

    def test_what_cannot_be_started_is_refused(self, tmp_path: Path) -> None:
        """Submit raises ProgramError before anything is started."""
        launcher = self.make_launcher(tmp_path)
        request = self._request(tmp_path, "missing")
        with pytest.raises(ProgramError):
            launcher.submit(request)
