# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes a study as a case, recalls earlier studies for it and stores its lesson."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite, log2
from pathlib import Path

import stripewise
from stripewise.core import (
    FailureCause,
    Measurement,
    ProgramFacts,
    RunRole,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    is_settled,
    joint_cause,
    library_versions,
)
from stripewise.core.errors import StripewiseError
from stripewise.learning.knowledge._file import digest_of
from stripewise.learning.knowledge._recall import Recollection, recall
from stripewise.learning.knowledge._records import (
    LIBRARIES,
    Effect,
    Fingerprint,
    Lesson,
    LibraryVersions,
    Machine,
    StudiedCase,
    Tried,
    TriedState,
)
from stripewise.learning.knowledge._store import Store
from stripewise.present import plural, text_of
from stripewise.settings.tunables import Space
from stripewise.storage.emulation import EmulatedStorage
from stripewise.storage.machines import local_storage

MOST_SAME = 20
"""Number of newest studies of a program with the same name that are checked for failures."""


class Memory:
    """The user's own store and the site's stores; problems with them are warnings, never errors.

    Attributes:
        machine: Machine on which the study takes place.
    """

    def __init__(self, own: Store, sites: Sequence[Store], machine: Machine) -> None:
        """Store the arguments; nothing is opened yet."""
        self._own = own
        self._sites = tuple(sites)
        self.machine = machine

    def recall(self, case: StudiedCase, space: Space, facts: ProgramFacts) -> Recollection:
        """Return what earlier studies suggest for the present one; see `recall`."""
        lessons, known, warnings = lessons_for(case, (self._own, *self._sites))
        found = recall(case, lessons, space, facts, known)
        return replace(found, warnings=(*warnings, *found.warnings))

    def lessons(self, case: StudiedCase) -> list[Lesson]:
        """Return the lessons that are relevant to a case; see `lessons_for`."""
        return lessons_for(case, (self._own, *self._sites))[0]

    def keep(self, result: StudyResult, case: StudiedCase, study_id: str) -> str:
        """Store what a study learned; return a warning, empty if there is none.

        A study that is already stored is left unchanged.
        """
        try:
            lesson = learn(result, case, study_id)
            if lesson is not None:
                self._own.add([lesson])
        except (StripewiseError, OSError) as error:
            return f"this study is not remembered: {error}"
        return ""


def lessons_for(case: StudiedCase, stores: Iterable[Store]) -> tuple[list[Lesson], int, list[str]]:
    """Return the lessons relevant to a case: of similar programs, similar files or this program.

    Args:
        case: Case that is looked up.
        stores: Stores to search; if several contain a study, the first one counts.

    Returns:
        The lessons, the total number of studies with this MPI, and warnings.
    """
    found: dict[str, Lesson] = {}
    known, warnings = 0, []
    for store in stores:
        try:
            near, kept = store.nearest(case)
            found = {one.study_id: one for one in near} | found
            warnings.append(store.damage)
            known += kept
            same = store.lessons(
                mpi_family=case.stack.mpi_family, program=case.fingerprint.program, most=MOST_SAME
            )
            found = {one.study_id: one for one in same} | found
        except (StripewiseError, OSError) as error:
            warnings.append(str(error))
        warnings.append(store.damage)
    return list(found.values()), known, [text for text in dict.fromkeys(warnings) if text]


# The lesson of a finished study for later ones.


def learn(result: StudyResult, case: StudiedCase, study_id: str) -> Lesson | None:
    """Return the lesson of a study; None if the study tried nothing."""
    trials = result.trials
    if not trials:
        return None
    winner = result.winner
    return Lesson(
        study_id=study_id,
        recorded_unix_seconds=time.time(),
        case=case,
        improved=result.improved,
        candidate=dict(winner.settings) if winner is not None else {},
        effect=_effect(result.speedup),
        elapsed_effect=_effect(result.elapsed_speedup),
        resolution=one_line(result.resolution),
        tried=tuple(
            _tried(trial, _failed_pair(result, trial))
            for trial in trials
            if trial.state is not TrialState.LOST
        ),
        n_runs=len(result.runs),
        strategy=one_line(result.provenance.get("strategy", "")),
        stripewise=stripewise.__version__,
    )


def _tried(trial: Trial, failed_pair: TriedState | None) -> Tried:
    state = failed_pair or _state(trial)
    ratio = trial.io_ratio if isfinite(trial.io_ratio) and not state.is_bad else None
    by_class = {m: r for m, r in trial.class_ratios.items() if isfinite(r) and not state.is_bad}
    return Tried(dict(trial.settings), state, ratio, len(trial.measurements), by_class)


def _state(trial: Trial) -> TriedState:
    if trial.state is TrialState.REJECTED:
        return TriedState.REJECTED
    if trial.state is TrialState.FAILED:
        hung = any(run.status is RunStatus.TIMEOUT for run in trial.measurements)
        return TriedState.HUNG if hung else TriedState.FAILED
    return TriedState.SLOWER if trial.state is TrialState.HOPELESS else TriedState.COMPLETE


def _failed_pair(result: StudyResult, trial: Trial) -> TriedState | None:
    """Return how a trial failed in its confirmation pairs; None if it did not fail."""
    attempts: dict[tuple[int | None, str], list[Measurement]] = {}
    for entry in result.runs:
        if entry.role is RunRole.PAIR_WINNER and entry.trial_number == trial.number:
            pair = attempts.setdefault((entry.pair_number, entry.case), [])
            pair.append(entry.measurement)
    causes = {joint_cause(pair) for pair in attempts.values() if is_settled(pair)}
    if FailureCause.HANG in causes:
        return TriedState.HUNG
    return TriedState.FAILED if FailureCause.PROGRAM in causes else None


def _effect(speedup: Speedup | None) -> Effect | None:
    if speedup is None or not isfinite(speedup.median):
        return None
    low, high = (bound if isfinite(bound) else None for bound in (speedup.low, speedup.high))
    return Effect(speedup.median, low, high, speedup.n_pairs)


# The case by which studies are compared: the machine without its name, the stack, the program.

_MOST_CHARACTERS = 300
_SAME_IN_FACTS = (
    "n_ranks", "n_hosts", "noncontiguous", "shared_files", "patterns", "file_classes"
)  # fmt: skip


def describe_case(
    machine: Machine,
    facts: ProgramFacts,
    *,
    program: str,
    executable: Path | None = None,
    synced: bool = True,
) -> StudiedCase:
    """Describe a case.

    Args:
        machine: Machine on which the program runs.
        facts: Facts of the program's first run.
        program: Name of the program.
        executable: File of the program; None if unknown.
        synced: Whether runs wait for the storage.
    """
    stack = LibraryVersions(
        mpi_family=facts.mpi_family,
        mpi_version=version_of(facts.mpi_version),
        mpiio=facts.mpiio_implementation,
        mpiio_driver=facts.mpiio_driver,
        **(library_versions(executable) if executable else {}),
    )
    return StudiedCase(machine, stack, _fingerprint(facts, program, executable), synced)


def describe_machine(directory: Path, root: Path = Path("/")) -> Machine:
    """Describe the machine and storage of a directory.

    Args:
        directory: Directory of the study.
        root: Directory that contains `proc` and `sys` (for tests).
    """
    found = local_storage(directory, root)
    mount = found.mount
    source = mount.source.encode("utf-8", "surrogateescape")
    return Machine(
        architecture=platform.machine(),
        cpu=cpu_model(text_of(root / "proc/cpuinfo")),
        processors=os.cpu_count() or 0,
        memory_bytes=memory_bytes(text_of(root / "proc/meminfo")),
        kernel=one_line(platform.release()),
        filesystem=one_line(mount.kind),
        device=mount.medium,
        storage=hashlib.sha256(source).hexdigest()[:16] if mount.is_network else "",
        described=found.name if found.is_described else "",
    )


def emulated_machine(machine: Machine, storage: EmulatedStorage) -> Machine:
    """Return a machine with the emulated storage of its runs."""
    return replace(
        machine,
        filesystem=storage.storage.kind,
        device="",
        storage=storage.digest,
        emulated=storage.identity,
        described="",
    )


def tier_machine(machine: Machine, tier: str, nodes: int, details: Sequence[str] = ()) -> Machine:
    """Return a machine with its runs' burst buffer, a separate storage for each size.

    Args:
        machine: The machine without the burst buffer.
        tier: Kind of the burst buffer.
        nodes: Number of nodes of the burst buffer.
        details: Other properties that distinguish it: pool, access mode, directory.
    """
    text = "\0".join((machine.storage, tier, str(nodes), *details))
    return replace(
        machine,
        filesystem=one_line(f"{tier}, {plural(nodes, 'node')}"),
        device="burst buffer",
        storage=hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16],
        described="",
    )


def version_of(text: str) -> str:
    """Return the version number in an MPI's own description; empty if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return found.group() if found else ""


def cpu_model(text: str) -> str:
    """Return the processor model from /proc/cpuinfo; some architectures only name parts."""
    for name in ("model name", "cpu", "CPU part"):
        found = re.search(rf"^{name}\s*:\s*(.+)$", text, flags=re.M)
        if found:
            return one_line(" ".join(found.group(1).split()))
    return ""


def memory_bytes(text: str) -> int:
    """Return the memory size from /proc/meminfo; 0 if it is not given."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, flags=re.M)
    return int(found.group(1)) * 1024 if found else 0


def one_line(text: str) -> str:
    """Return a text shortened and without characters that a terminal cannot show."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown[:_MOST_CHARACTERS]


def _fingerprint(facts: ProgramFacts, program: str, executable: Path | None) -> Fingerprint:
    moved = facts.read_bytes + facts.write_bytes
    calls = facts.read_calls + facts.write_calls
    by_interface = facts.collective_bytes + facts.independent_bytes + facts.posix_bytes
    return Fingerprint(
        program=one_line(program),
        executable_sha256=digest_of(executable),
        collective_share=_share(facts.collective_bytes, by_interface),
        independent_share=_share(facts.independent_bytes, by_interface),
        posix_share=_share(facts.posix_bytes, by_interface),
        read_share=_share(facts.read_bytes, moved),
        bytes_per_call_log2=_logarithm(moved, calls),
        calls_per_rank_log2=_logarithm(calls, facts.n_ranks),
        volume_log2=_logarithm(moved, 1),
        **{name: getattr(facts, name) for name in (*_SAME_IN_FACTS, *LIBRARIES)},
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole > 0 else 0.0


def _logarithm(amount: int, number: int) -> float:
    return round(log2(amount / number), 3) if amount > 0 and number > 0 else 0.0
