# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells what a stored study of a profiled program found, as a finding of its profile."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core.errors import StripewiseError
from stripewise.evidence.figures import Diagnosis, Finding, Severity
from stripewise.learning.adoption._consult import study_of
from stripewise.learning.adoption._known import Identity
from stripewise.learning.knowledge import (
    Lesson,
    Profiles,
    Store,
    describe_machine,
    emulated_machine,
    own_path,
    own_store,
    site_stores,
)
from stripewise.present import plural, ratio_text
from stripewise.run.runtime import program_file, program_name
from stripewise.settings import load_policy
from stripewise.settings.formats import get
from stripewise.settings.tunables import build_configuration, settings_text

if TYPE_CHECKING:
    from stripewise.evidence.trace import RunProfile
    from stripewise.storage.emulation import EmulatedStorage

CODE = "studied"
HIGH_SHARE = 0.2


def with_study(
    diagnosis: Diagnosis, profile: RunProfile, storage: EmulatedStorage | None = None
) -> Diagnosis:
    """Return the diagnosis with what a study of this program on this machine found.

    Settings that were an improvement are the first finding, with the lines that apply them; a
    study without one is a note. Without a study, or a readable store, nothing changes.

    Args:
        diagnosis: Diagnosis of a run without settings.
        profile: Profile of that run.
        storage: Emulated storage of the run; None if it ran on the real one.
    """
    emulated = any(layout.emulated for layout in profile.layouts.values())
    if not diagnosis.command or _was_set(profile) or (emulated and storage is None):
        return diagnosis
    try:
        stores = (own_store(), *site_stores(load_policy().knowledge))
        lesson = _lesson(diagnosis, profile, storage, stores)
    except (StripewiseError, OSError):
        return diagnosis
    if lesson is None:
        return diagnosis
    if not lesson.improved or not lesson.candidate:
        note = (
            f"a study of this program on {lesson.date} found no faster settings in "
            f"{plural(lesson.n_runs, 'run')}"
        )
        return replace(diagnosis, notes=(*diagnosis.notes, note))
    found = _finding(diagnosis, lesson)
    findings = (found, *(one for one in diagnosis.findings if one.code != CODE))
    headline = f"{diagnosis.opening} {found.text}"
    return replace(diagnosis, findings=findings, headline=headline, summary=headline)


def _was_set(profile: RunProfile) -> bool:
    """Return whether the run was made under settings of Stripewise."""
    return any(hints.applied for hints in profile.hints.values())


def _lesson(
    diagnosis: Diagnosis,
    profile: RunProfile,
    storage: EmulatedStorage | None,
    stores: Iterable[Store],
) -> Lesson | None:
    """Return the newest study of the same executable with the same ranks on this machine."""
    command = shlex.split(diagnosis.command)
    directory = _directory(diagnosis)
    file = program_file(command, Path.cwd()) or _executable(profile)
    digest = Profiles(own_path()).digest_of(file) if file is not None else ""
    if not digest:
        return None
    name = program_name(command)
    identity = Identity(name, file, digest, max(profile.n_ranks, 1), "", "")
    machine = describe_machine(directory)
    if storage is not None:
        machine = emulated_machine(machine, storage)
    return study_of(identity, machine, stores)


def _directory(diagnosis: Diagnosis) -> Path:
    """Return the directory of the costliest file that still exists."""
    folders = (Path(row.path).parent for row in diagnosis.files if os.path.isabs(row.path))
    return next((folder for folder in folders if folder.is_dir()), Path.cwd())


def _executable(profile: RunProfile) -> Path | None:
    """Return the file that the ranks ran, as their containers name it; None if unknown."""
    rows = profile.processes[profile.used_mpi] if len(profile.processes) else ()
    paths = [os.fsdecode(bytes(row["exe"])).rstrip("\0") for row in rows]
    return Path(paths[0]) if paths and paths[0] else None


def _finding(diagnosis: Diagnosis, lesson: Lesson) -> Finding:
    figures, effect = diagnosis.figures, lesson.effect
    words = settings_text(lesson.candidate)
    saved = [math.nan] * 3
    if effect is not None and math.isfinite(figures.io_seconds):
        ratios = (effect.low or effect.median, effect.median, effect.high or effect.median)
        saved = [figures.io_seconds * max(1 - 1 / ratio, 0.0) for ratio in ratios]
    known = math.isfinite(saved[1])
    times = f"{ratio_text(effect.median)}x as fast" if effect is not None else "faster"
    pairs = f" in {plural(effect.n_pairs, 'pair')} of runs" if effect and effect.n_pairs else ""
    share = saved[1] / figures.run_seconds if known and figures.run_seconds > 0 else 0.0
    return Finding(
        code=CODE,
        severity=Severity.HIGH if share >= HIGH_SHARE else Severity.WARN,
        phrase=f"I/O without settings that make it {times}",
        text=(
            f"A study of this program with {plural(max(figures.n_ranks, 1), 'rank')} on this "
            f"machine ({lesson.date}) measured its I/O {times} with {words}{pairs}."
        ),
        evidence={"seconds": figures.io_seconds, "settings": words, "study": lesson.study_id},
        cost_seconds=saved[1] if known else None,
        least_seconds=saved[0] if known else None,
        most_seconds=saved[2] if known else None,
        measured=True,
        stake_seconds=figures.io_seconds,
        cost_basis="the ratio that the pairs of the study measured, and the I/O time of this run",
        remedy=f"Run with {words}.",
        lines=_lines(diagnosis.command, lesson),
        files=tuple(row.path for row in diagnosis.files[:1]),
        n_files=len(diagnosis.files),
    )


def _lines(command: str, lesson: Lesson) -> tuple[str, ...]:
    """Return the lines that write the settings to a file, and run the program with it."""
    text = get("toml").write(build_configuration(lesson.candidate)).text
    name = f"{program_name(shlex.split(command))}.best.toml"
    words = " ".join(shlex.quote(line) for line in text.splitlines() if line.strip())
    return (
        f"printf '%s\\n' {words} > {shlex.quote(name)}",
        f"stripewise run --config {shlex.quote(name)} -- {command}",
    )
