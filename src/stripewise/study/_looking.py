# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From the evidence of an ended run to a measurement, and to what the program does."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.errors import ContainerError
from stripewise.launch import Outcome
from stripewise.model import Measurement, ObservedFile, RunStatus
from stripewise.readers import HandshakeState, handshake, read_containers
from stripewise.runtime import filesystem_type
from stripewise.study._pattern_facts import with_pattern
from stripewise.study._tools import FirstLook, Place
from stripewise.study._workspace import SandboxWorkspace, shown

_NOT_STORAGE = ("/dev", "/proc", "/sys", "/run")


def look(run_id: str, place: Place, outcome: Outcome) -> Measurement:
    """Return what one run gave; its profile is dropped at once."""
    if outcome.io_seconds is not None or not outcome.containers:
        return _without_containers(run_id, outcome)
    try:
        profile = read_containers(outcome.containers)
    except ContainerError as error:
        return _unseen(run_id, outcome, str(error))
    status, message = outcome.status, outcome.message
    if status is RunStatus.OK:
        seen = handshake(profile, place.command, place.directory)
        if not seen.ok:
            status, message = RunStatus.UNSEEN, _as_given(seen.message, place)
    return Measurement(
        run_id=run_id,
        status=status,
        exit_code=outcome.exit_code,
        elapsed_seconds=outcome.elapsed_seconds,
        io_seconds=profile.io_seconds,
        read_bytes=profile.read_bytes,
        write_bytes=profile.write_bytes,
        started_unix_seconds=outcome.started_unix_seconds,
        files=profile.observed_files(place.directory),
        message=message,
    )


def look_first(workspace: SandboxWorkspace, place: Place, measurement: Measurement) -> FirstLook:
    """Return what the program does, or why it cannot be tuned."""
    containers = sorted((place.record_directory / "containers").glob("*.sw"))
    profile = read_containers(containers)
    seen = handshake(profile, place.command, place.directory)
    opened = profile.opened(place.directory)
    outside, temporary = _outside(measurement.files)
    problem = _as_given(seen.message, place) if not seen.ok else ""
    if not problem and outside:
        problem = (
            f"the program writes {shown(outside[0])}, outside of its working directory, where "
            "runs would overwrite each other's files; give it a relative path, or write "
            "{run_dir}/ before the name in the command"
        )
    warnings = list(seen.warnings)
    if temporary:
        names = ", ".join(shown(name) for name in temporary[:3])
        warnings.append(f"the program writes {names}: files there are neither new nor verified")
    inputs = workspace.sandbox.snapshot.entries
    run_id = measurement.run_id
    facts = with_pattern(profile.facts(measurement.elapsed_seconds), containers)
    return FirstLook(
        facts=replace(facts, filesystem=filesystem_type(place.directory)),
        problem=problem,
        no_plugin=seen.state in (HandshakeState.PLUGIN_MISSING, HandshakeState.PLUGIN_WRONG),
        written_inputs=tuple(sorted(str(p) for p in opened.written if str(p) in inputs)),
        replaced_inputs=tuple(
            sorted(
                name
                for name in map(str, opened.replaced)
                if name in inputs and inputs[name].kind == "file"
            )
        ),
        output_bytes=workspace.sandbox.outputs(run_id).size_bytes,
        warnings=tuple(warnings),
    )


def _as_given(message: str, place: Place) -> str:
    """Name files as the user's command does, not by the run's own directory."""
    return message.replace(str(place.directory), ".")


def _outside(files: Sequence[ObservedFile]) -> tuple[list[str], list[str]]:
    """Absolute paths that were written: on storage, and in a directory for temporary files."""
    temporaries = {Path("/tmp"), Path("/var/tmp"), Path(tempfile.gettempdir())}
    outside: list[str] = []
    temporary: list[str] = []
    for file in files:
        path = Path(file.path)
        if not path.is_absolute() or not file.write_bytes:
            continue
        if any(path.is_relative_to(root) for root in _NOT_STORAGE):
            continue
        in_temporary = any(path.is_relative_to(root) for root in temporaries)
        (temporary if in_temporary else outside).append(file.path)
    return outside, temporary


def _without_containers(run_id: str, outcome: Outcome) -> Measurement:
    if outcome.io_seconds is None and outcome.status is RunStatus.OK:
        return _unseen(run_id, outcome, "no process left a mark: LD_PRELOAD was dropped")
    return Measurement(
        run_id=run_id,
        status=outcome.status,
        exit_code=outcome.exit_code,
        elapsed_seconds=outcome.elapsed_seconds,
        io_seconds=outcome.io_seconds or 0.0,
        read_bytes=outcome.read_bytes or 0,
        write_bytes=outcome.write_bytes or 0,
        started_unix_seconds=outcome.started_unix_seconds,
        message=outcome.message,
    )


def _unseen(run_id: str, outcome: Outcome, message: str) -> Measurement:
    return Measurement(
        run_id=run_id,
        status=RunStatus.UNSEEN if outcome.status is RunStatus.OK else outcome.status,
        exit_code=outcome.exit_code,
        elapsed_seconds=outcome.elapsed_seconds,
        started_unix_seconds=outcome.started_unix_seconds,
        message=message,
    )
