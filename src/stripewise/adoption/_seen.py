# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a run that has ended to what is kept of it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.adoption._feedback import Timed
from stripewise.adoption._session import Plan, Seen
from stripewise.model import Configuration, Evidence, ProgramFacts, reasons

if TYPE_CHECKING:
    from stripewise.emulation import EmulatedStorage
    from stripewise.runtime import InPlaceRun


def seen_of(
    plan: Plan,
    run: InPlaceRun,
    facts: ProgramFacts,
    directory: Path,
    *,
    could_not_act: Sequence[str] = (),
    storage: EmulatedStorage | None = None,
) -> Seen:
    """Return what is kept of a run.

    Args:
        plan: What it got.
        run: As it was.
        facts: Of it.
        directory: It ran in.
        could_not_act: Settings that had no effect, a line each.
        storage: That was emulated.
    """
    if not run.handshake.ok or run.problem:
        return Seen(run.exit_code, None, others_set=True)
    profile = run.profile
    timed: Timed | None = Timed(
        time.time(), profile.io_seconds, profile.read_bytes + profile.write_bytes
    )
    unknown = reasons(profile.missing.values())
    if unknown or (run.emulated is not None and run.emulated.problem):
        timed = None  # what is known is a part, or this host was the limit
    others = run.series is not None and run.series.adopted > 0
    idle = bool(could_not_act) and is_idle(plan.configuration, could_not_act)
    seen = Seen(run.exit_code, timed, idle=idle, others_set=others, unknown=unknown)
    if not plan.capture or run.evidence is None or plan.identity is None:
        return seen
    from stripewise.adoption._consult import CASE, FACTS
    from stripewise.knowledge import describe_case, describe_machine, emulated_machine

    facts = _described(facts, run.evidence, directory, storage)
    machine = describe_machine(directory)
    machine = emulated_machine(machine, storage) if storage is not None else machine
    identity = plan.identity
    case = describe_case(machine, facts, program=identity.program, executable=identity.file)
    return replace(
        seen,
        facts=FACTS.dump_python(facts, mode="json"),
        case=CASE.dump_python(case, mode="json"),
        notation=facts.pattern,
    )


def is_idle(configuration: Configuration, could_not_act: Sequence[str]) -> bool:
    """Whether every setting was observed to have no effect on any file.

    Args:
        configuration: What was applied.
        could_not_act: As `readers.cannot_act` says it; lines of one file, or of a value that
            was changed, prove nothing.
    """
    from stripewise.tunables import all_settings

    told = [line for line in could_not_act if " on " not in line.partition(": ")[0]]
    keys = {key for _, _, key, _ in all_settings(configuration)}
    return bool(keys) and all(
        any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", line) for line in told) for key in keys
    )


def _described(
    facts: ProgramFacts, evidence: Evidence, directory: Path, storage: EmulatedStorage | None
) -> ProgramFacts:
    """Return the facts with patterns, classes of files, and the storage that they are on."""
    from stripewise.machines import find_mount, known_storage
    from stripewise.readers import file_classes, with_patterns

    mount = find_mount(directory)
    facts = replace(
        facts, filesystem=mount.kind, file_classes=file_classes(evidence.profile, directory)
    )
    facts = with_patterns(facts, evidence, directory)
    if storage is not None:
        return storage.seen_by(facts)
    known, _ = known_storage(directory)
    return replace(facts, striping=known.storage.striping if known and mount.is_parallel else None)
