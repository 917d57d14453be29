# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The clocks of runs on emulated storage: from the start of a run until its record has them."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from stripewise.core import RunStatus, from_json, to_json
from stripewise.core.errors import StripewiseError
from stripewise.run.launch import _records
from stripewise.run.launch._base import Outcome, RunRequest
from stripewise.run.runtime import ranks_of_command
from stripewise.storage.emulation import EmulatedRun, EmulatedStorage, Emulation, EmulationOptions

_RUNNING: dict[str, Emulation] = {}
"""Of the runs that this process started, by their ids."""
_GONE = "its emulated storage is gone with the tuner that began it"


def begin(request: RunRequest, environment: Mapping[str, str]) -> dict[str, str]:
    """Make the clocks of a run; return what its environment needs, nothing without a storage.

    Raises:
        StripewiseError: Its directory cannot stand for a storage.
    """
    if request.storage is None:
        return {}
    ranks = ranks_of_command(request.command) or 0
    made = Emulation.begin(request.storage, request.directory, environment, request.run_id, ranks)
    _RUNNING[request.run_id] = made
    return made.variables


def end(run_id: str) -> None:
    """Remove the clocks of a run; no error if there are none."""
    made = _RUNNING.pop(run_id, None)
    if made is not None:
        made.end()


def with_emulation(outcome: Outcome, directory: Path, run_id: str) -> Outcome:
    """Return what is known of an ended run with what its storage saw, which is then recorded.

    A run whose clocks are gone counts as never run.
    """
    request = _records.read_json(directory / _records.REQUEST) or {}
    if not request.get("storage"):
        return outcome
    seen = _recorded(directory) or _taken(directory, run_id, request)
    if seen is None and outcome.status is RunStatus.OK:
        return replace(outcome, status=RunStatus.CANCELLED, message=_GONE)
    return replace(outcome, emulated=seen)


def _recorded(directory: Path) -> EmulatedRun | None:
    data = _records.read_json(directory / _records.EMULATED)
    if data is None:
        return None
    try:
        return from_json(EmulatedRun, data)
    except ValueError:
        return None


def _taken(directory: Path, run_id: str, request: Mapping[str, object]) -> EmulatedRun | None:
    """Read the clocks of a run, of another process too if that is dead; remove them."""
    made = _RUNNING.get(run_id) or _find_again(request)
    if made is None:
        return None
    _RUNNING[run_id] = made
    seen = made.read()
    try:
        with open(_records.create(directory / _records.EMULATED), "w", encoding="ascii") as stream:
            json.dump(to_json(seen), stream)
    except OSError as error:
        raise _records.storage_error(error, directory / _records.EMULATED) from error
    end(run_id)
    return seen


def _find_again(request: Mapping[str, object]) -> Emulation | None:
    try:
        options = from_json(EmulationOptions, request["storage"])
        return Emulation.find_again(EmulatedStorage.find(options), Path(str(request["directory"])))
    except (ValueError, StripewiseError):
        return None


def _end_all() -> None:
    with suppress(OSError):
        for run_id in list(_RUNNING):
            end(run_id)


def _forget_in_child() -> None:
    """A forked copy of the tuner neither owns the clocks nor keeps them locked."""
    for made in _RUNNING.values():
        made.forget()
    _RUNNING.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_forget_in_child)
