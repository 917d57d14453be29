# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prepares a run whose settings come from stored knowledge, and stores its results.

Any problem with stored data is a warning, and the program runs with its defaults.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core import Configuration, ProgramFacts, reasons
from stripewise.core.errors import StripewiseError
from stripewise.core.regression import PastRun, slowdown
from stripewise.evidence.trace import Evidence
from stripewise.learning.adoption._known import (
    SAME_BYTES,
    AppliedOutcome,
    Identity,
    Judged,
    Judgement,
    Known,
    KnownSettings,
    Prepared,
    Timed,
    default_answer,
    failed,
    full_state,
    identify,
    judge,
    known_from_json,
    known_to_json,
)
from stripewise.learning.knowledge import KeptProfile, Profiles, own_path
from stripewise.present import ratio_text, seconds_text

if TYPE_CHECKING:
    from stripewise.run.runtime import InPlaceRun
    from stripewise.storage.emulation import EmulatedStorage


_LOST = Judgement(AppliedOutcome.FAILED, None, "were set in a run that did not end", True)
LONGEST_SECONDS = 30 * 86400


@dataclass(frozen=True)
class AdoptionPlan:
    """Settings of a run and what is known about its program.

    Attributes:
        prepared: Answer that the run uses.
        capture: Whether single calls have to be recorded because the program is unknown.
        identity: Identity of the program; None if nothing can be stored.
        known: Stored record of the program.
        warnings: Warnings for the user.
        state: State of the stored studies.
    """

    prepared: KnownSettings
    capture: bool = False
    identity: Identity | None = None
    known: Known = field(default_factory=Known)
    warnings: tuple[str, ...] = ()
    state: str = ""

    @property
    def configuration(self) -> Configuration:
        """Settings that the run gets."""
        return self.prepared.configuration

    @property
    def is_default(self) -> bool:
        """Whether nothing is set."""
        return self.configuration.is_empty


@dataclass(frozen=True)
class Seen:
    """Results of a run that has ended.

    Attributes:
        exit_code: Exit code of the command.
        run: Times of the run; None if it was not observed or its times are not usable.
        facts / case: Facts and case as JSON data; None if single calls were not recorded.
        notation: Notation of the run's pattern.
        idle: Whether no setting was observed to have any effect.
        others_set: Whether the run had settings that are not from the plan.
        unknown: Why not all of its I/O is known; empty if all is known.
    """

    exit_code: int
    run: Timed | None
    facts: dict[str, object] | None = None
    case: dict[str, object] | None = None
    notation: str = ""
    idle: bool = False
    others_set: bool = False
    unknown: str = ""


class Adoption:
    """Automatic settings for runs in one directory.

    Attributes:
        directory: Directory of the runs.
        storage: Emulated storage; None if the real storage is used.
    """

    def __init__(
        self, directory: Path, storage: EmulatedStorage | None = None, *, sync: bool = False
    ) -> None:
        """Store the arguments; nothing is opened yet."""
        self.directory = directory
        self.storage = storage
        self._sync = sync
        self._profiles = Profiles(own_path())

    def plan(self, command: Sequence[str]) -> AdoptionPlan:
        """Return the plan for a run of a command."""
        try:
            return self._plan(command)
        except (StripewiseError, OSError) as error:
            return AdoptionPlan(
                default_answer("what is known cannot be used"), warnings=(str(error),)
            )

    def begin(self, plan: AdoptionPlan) -> None:
        """Record that a run with settings starts: one that never ends counts as a loss."""
        if plan.identity is not None and not plan.is_default:
            try:
                self._store_profile(plan.identity, replace(plan.known, pending=process_mark()))
            except (StripewiseError, OSError):
                return

    def finish(self, plan: AdoptionPlan, seen: Seen) -> tuple[str, tuple[str, ...]]:
        """Judge the settings of a run and store its results.

        Returns:
            A line for the user, which may be empty, and warnings.
        """
        if plan.identity is None:
            return "", ()
        known, verdict = known_after(plan, seen)
        line = "; ".join(filter(None, (_slower(plan, seen), _line(verdict))))
        warnings = tuple[str, ...]()
        try:
            if known.prepared is None:
                prepared, warnings = self._consult(known, plan.state, plan.identity)
                known = replace(known, prepared=prepared)
            self._store_profile(plan.identity, known)
        except (StripewiseError, OSError) as error:
            return line, (f"this run is not remembered: {error}",)
        return line, warnings

    def _plan(self, command: Sequence[str]) -> AdoptionPlan:
        found = identify(
            command, self.directory, self._profiles, storage=self.storage, sync=self._sync
        )
        if not found.executable_sha256:
            why = f"the file of {found.program} cannot be read, so it is not recognised"
            return AdoptionPlan(default_answer(why))
        looked = self._profiles.look(found.identity, found.executable_sha256, found.ground)
        if looked.exact is None:
            return self._plan_from_other_arguments(found, looked.others, looked.state)
        known = known_from_json(looked.exact.document)
        if was_lost(known.pending):
            known = _with_judgement(replace(known, pending=""), _LOST)
        return self._plan_from_known(found, known, looked.state)

    def _plan_from_other_arguments(
        self, found: Identity, others: Sequence[KeptProfile], state: str
    ) -> AdoptionPlan:
        """Use what is known about runs with other arguments, if all of them did the same."""
        several = [known_from_json(one.document) for one in others]
        several = [one for one in several if one.facts]
        if len({one.notation for one in several}) == 1:
            known = replace(several[0], under=(), pending="")
            return self._plan_from_known(found, known, state)
        if not several and state.partition(":")[0] not in ("", "0"):
            return self._plan_from_known(found, Known(), state)
        why = "no earlier run of this program is known; this one is recorded"
        if several:
            why = "what this program does depends on its arguments; this run is recorded"
        return AdoptionPlan(default_answer(why), True, found, state=state)

    def _plan_from_known(self, found: Identity, known: Known, state: str) -> AdoptionPlan:
        full = full_state(state)
        prepared, warnings = known.prepared, tuple[str, ...]()
        if prepared is None or not prepared.holds(full):
            prepared, warnings = self._consult(known, state, found)
        if not prepared.configuration.is_empty:
            from stripewise.learning.adoption._question import check_adoptable

            check_adoptable(prepared.configuration)
        known = replace(known, prepared=prepared)
        return AdoptionPlan(prepared, not known.facts, found, known, warnings, state)

    def _consult(
        self, known: Known, state: str, identity: Identity
    ) -> tuple[Prepared, tuple[str, ...]]:
        from stripewise.learning.adoption._consult import consult

        return consult(known, self.directory, state, self.storage, identity)

    def _store_profile(self, identity: Identity, known: Known) -> None:
        kept = KeptProfile(
            identity.identity, identity.executable_sha256, identity.ground, known_to_json(known)
        )
        self._profiles.keep(kept)


def known_after(plan: AdoptionPlan, seen: Seen) -> tuple[Known, Judgement | None]:
    """Return what is known after a run, and the verdict on its settings; None if it had none."""
    known = replace(plan.known, pending="")
    if plan.is_default:
        if seen.exit_code:
            return known, None
        if seen.facts is not None and seen.case is not None:
            found = replace(known, facts=seen.facts, case=seen.case, notation=seen.notation)
            known = replace(found, prepared=None)
        if seen.others_set:
            return known, None
        if seen.facts is None and seen.run is not None and _moved_other_amount(known, seen.run):
            known = _to_be_observed(known)
        return (known.with_plain(seen.run) if seen.run else known), None
    if seen.exit_code:
        verdict = failed(seen.exit_code)
    elif seen.run is None:
        words = f"cannot be judged: not all of the I/O is known: {seen.unknown}"
        return known, Judgement(AppliedOutcome.UNKNOWN, None, words) if seen.unknown else None
    else:
        known = known.with_under(seen.run)
        verdict = judge(known.plain, known.under, idle=seen.idle)
        if verdict.outcome is AppliedOutcome.UNKNOWN and _moved_other_amount(known, seen.run):
            known = _to_be_observed(known)
    return (_with_judgement(known, verdict) if verdict.is_final else known), verdict


def _to_be_observed(known: Known) -> Known:
    return replace(known, facts={}, case={}, under=(), prepared=None)


def _moved_other_amount(known: Known, run: Timed) -> bool:
    """Return whether the amount of data differs from that of all runs without settings."""
    amounts = [one.moved_bytes for one in known.plain]
    return bool(amounts) and all(
        abs(amount - run.moved_bytes) > SAME_BYTES * max(amount, run.moved_bytes)
        for amount in amounts
    )


def _with_judgement(known: Known, verdict: Judgement) -> Known:
    if known.prepared is None:
        return known
    now = time.time()
    words = f"{verdict.words} on {time.strftime('%Y-%m-%d', time.localtime(now))}"
    return known.with_judged(Judged(known.prepared.settings, now, words))


def was_lost(pending: str) -> bool:
    """Return whether a run that started has ended without a result: its process is gone.

    For a run on another host this is assumed once it is older than any job.

    Args:
        pending: Mark written by `process_mark`; empty if there is none.
    """
    host, _, rest = pending.partition(" ")
    process, _, begun = rest.partition(" ")
    if not (process.isdigit() and begun.isdigit()):
        return bool(pending)
    if host != platform.node():
        return time.time() - int(begun) > LONGEST_SECONDS
    return not os.path.exists(f"/proc/{process}")


def process_mark() -> str:
    """Return a mark that identifies this process: host, process number and start time."""
    return f"{platform.node()} {os.getpid()} {int(time.time())}"


def _line(verdict: Judgement | None) -> str:
    """Return the sentence about the outcome of settings and its consequence."""
    if verdict is None:
        return ""
    text = f"the settings {verdict.words}"
    if verdict.is_final:
        return f"{text}; the next run has none"
    return text


def _slower(plan: AdoptionPlan, seen: Seen) -> str:
    """Return that a run was slower than earlier ones with the same settings, or ""."""
    if seen.run is None or seen.exit_code or seen.others_set:
        return ""
    earlier = plan.known.plain if plan.is_default else plan.known.under
    found = slowdown(_past(seen.run), map(_past, earlier))
    if found is None:
        return ""
    return (
        f"its I/O took {ratio_text(found.factor)}x its usual time: "
        f"{seconds_text(seen.run.io_seconds)} instead of {seconds_text(found.usual_seconds)}, the "
        f"median of the last {found.run_count} runs that moved as much; look at the stripes of "
        "its files and at the load of the storage"
    )


def _past(run: Timed) -> PastRun:
    return PastRun(run.io_seconds, float(run.moved_bytes))


# Conversion of a finished run to its stored results.


def seen_of(
    plan: AdoptionPlan,
    run: InPlaceRun,
    facts: ProgramFacts,
    directory: Path,
    *,
    could_not_act: Sequence[str] = (),
    storage: EmulatedStorage | None = None,
) -> Seen:
    """Return the results of a run in the form in which they are stored.

    Args:
        plan: Plan of the run.
        run: Finished run.
        facts: Facts of the run.
        directory: Working directory of the run.
        could_not_act: Settings without effect, one line each.
        storage: Emulated storage.
    """
    if not run.handshake.ok or run.problem:
        return Seen(run.exit_code, None, others_set=True)
    profile = run.profile
    timed: Timed | None = Timed(
        time.time(), profile.io_seconds, profile.read_bytes + profile.write_bytes
    )
    unknown = reasons(profile.missing.values())
    if unknown or (run.emulated is not None and run.emulated.problem):
        timed = None  # only a part is known, or this host was the limit
    others = run.series is not None and run.series.adopted > 0
    idle = bool(could_not_act) and is_idle(plan.configuration, could_not_act)
    seen = Seen(run.exit_code, timed, idle=idle, others_set=others, unknown=unknown)
    if not plan.capture or run.evidence is None or plan.identity is None:
        return seen
    from stripewise.learning.adoption._consult import CASE, FACTS
    from stripewise.learning.knowledge import describe_case, describe_machine, emulated_machine

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
    """Return whether no setting had an effect on any file.

    Args:
        configuration: Configuration that was applied.
        could_not_act: Lines of `facts.cannot_act`; those about one file, or about a value that
            was changed, prove nothing.
    """
    from stripewise.settings.tunables import all_settings

    of_all_files = [line for line in could_not_act if " on " not in line.partition(": ")[0]]
    keys = {key for _, _, key, _ in all_settings(configuration)}
    return bool(keys) and all(
        any(re.search(rf"(?<!\w){re.escape(key)}(?!\w)", line) for line in of_all_files)
        for key in keys
    )


def _described(
    facts: ProgramFacts, evidence: Evidence, directory: Path, storage: EmulatedStorage | None
) -> ProgramFacts:
    """Return the facts with patterns, classes of files and the type of their storage."""
    from stripewise.evidence.facts import file_classes, with_patterns
    from stripewise.storage.machines import find_mount, known_storage

    mount = find_mount(directory)
    facts = replace(
        facts, filesystem=mount.kind, file_classes=file_classes(evidence.profile, directory)
    )
    facts = with_patterns(facts, evidence, directory)
    if storage is not None:
        return storage.seen_by(facts)
    known, _ = known_storage(directory)
    return replace(facts, striping=known.storage.striping if known and mount.is_parallel else None)
