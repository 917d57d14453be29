# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports on a run: what was requested, applied, reported and observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stripewise.core import Amount, Configuration, reasons, with_unknown
from stripewise.evidence.containers import HandshakeState
from stripewise.present import (
    amount_words,
    percent_text,
    plural,
    printable,
    rate_text,
    seconds_text,
    size_text,
)

if TYPE_CHECKING:
    from stripewise.core import ObservedFile, ProgramFacts
    from stripewise.run.runtime import InPlaceRun
    from stripewise.storage.emulation import EmulatedRun, EmulatedStorage


_UNSEEN = (HandshakeState.STATIC, HandshakeState.SETUID, HandshakeState.DROPPED)
_NO_CALLS = (
    "no single calls were recorded: the runtime library is older than this Stripewise; "
    "`stripewise doctor build` rebuilds it"
)
_SHOWN_FILES = 4
_SHOWN_HINTS = 6


@dataclass(frozen=True)
class Observation:
    """Observations of a run; `warnings` and `errors` are printed separately from the rest."""

    run: InPlaceRun
    files: Sequence[ObservedFile]
    facts: ProgramFacts
    could_not_act: tuple[str, ...]
    warnings: tuple[str, ...]
    errors: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the observations as plain data, with sizes in bytes and times in seconds."""
        amounts = _amounts(self.run)
        return {
            "run_id": self.run.run_id,
            "exit_code": self.run.exit_code,
            "seconds": self.run.elapsed_seconds,
            **{name: amount.value for name, amount in amounts.items()},
            "bandwidth_bytes_per_second": _bandwidth(self.run),
            "missing": {name: amount.why for name, amount in amounts.items() if amount.why},
            "seen": self.run.handshake.ok,
            "state": str(self.run.handshake.state),
            "files": [with_unknown(dict(vars(file)), file) for file in self.files],
            "facts": with_unknown(asdict(self.facts), self.facts)
            | {name: amount.value for name, amount in amounts.items()},
            "could_not_act": list(self.could_not_act),
            "warnings": list(self.warnings),
            "errors": list(self.errors),
            "emulated": (
                emulation_json(self.run.emulated, self.facts.n_ranks)
                if self.run.emulated
                else None
            ),
        }


def observation(
    run: InPlaceRun,
    configuration: Configuration,
    *,
    captured: bool = False,
    storage: EmulatedStorage | None = None,
) -> Observation:
    """Summarise a run that has ended.

    Args:
        run: Run that has ended.
        configuration: Configuration of the run.
        captured: Whether single calls were to be recorded.
        storage: Storage that was emulated.
    """
    from stripewise.evidence.containers import NOT_RECORDED
    from stripewise.evidence.facts import FilesSeen, program_facts

    files = FilesSeen(run.profile, Path.cwd())
    facts = program_facts(run.profile, run.elapsed_seconds, environment=run.environment)
    facts = storage.seen_by(facts) if storage is not None else facts
    warnings = [run.problem] if run.problem else []
    if not run.handshake.ok and not run.problem:
        message = run.handshake.message
        if run.exit_code and run.handshake.state is HandshakeState.DROPPED:
            message = (
                f"the command failed with exit code {run.shell_exit_code}, perhaps before the "
                f"program began; if the program did run: {message}"
            )
        warnings.append(message)
    errors = _not_emulated(run, warnings)
    warnings += [text for text in run.handshake.warnings if not _is_counted(run, text)]
    warnings += [text for text in run.profile.notes if f" {NOT_RECORDED}: " in text]
    processes = run.profile.processes
    if captured and len(processes) and not processes["capture"].any():
        warnings.append(_NO_CALLS)
    if lost := int(processes["lost_events"].sum()):
        warnings.append(
            f"{plural(lost, 'call')} lost: the trace reached its size limit "
            "(STRIPEWISE_CAPTURE_BYTES)"
        )
    could_not: list[str] = []
    if configuration != Configuration() and run.handshake.ok and not run.problem:
        from stripewise.evidence.facts import cannot_act

        could_not = cannot_act(configuration, files, facts, Path.cwd())
    if run.emulated is not None and not errors:
        problem = run.emulated.why_it_hangs(facts.n_ranks) or run.emulated.problem
        warnings += [text for text in (problem, *run.emulated.warnings) if text]
    return Observation(run, files, facts, tuple(could_not), tuple(warnings), tuple(errors))


def _is_counted(run: InPlaceRun, warning: str) -> bool:
    """Return whether the emulated storage already counts what a warning reports."""
    return run.emulated is not None and ": emulation: " in warning


def _not_emulated(run: InPlaceRun, warnings: list[str]) -> list[str]:
    """Remove and return the warnings that mean that the program used this host's storage."""
    if run.emulated is None or run.handshake.ok or run.problem or run.exit_code:
        return []
    found = [f"nothing was emulated for a part of the program: {text}" for text in warnings]
    warnings.clear()
    return found


def observed_lines(seen: Observation, *, everything: bool) -> list[str]:
    """Return the observations as lines for people.

    Args:
        seen: Observations of the run.
        everything: Whether to list all files and reported hints, not only the first of them.
    """
    if seen.run.handshake.state in _UNSEEN:
        return []
    lines = [_headline(seen)]
    whys = (amount.why for amount in _amounts(seen.run).values())
    if why := reasons(why for why in whys if why not in seen.warnings):
        lines.append(f"   {'unknown':<10} {printable(why)}")
    shown = seen.files if everything else seen.files[:_SHOWN_FILES]
    for file in shown:
        lines += _file_lines(file, everything)
    hidden = len(seen.files) - len(shown)
    if hidden:
        lines.append(f"   {'':<10} and {plural(hidden, 'file')} more (--report shows all)")
    lines += [f"   no effect  {printable(text)}" for text in seen.could_not_act]
    if seen.run.emulated is not None:
        lines += emulation_lines(seen.run.emulated)
    return lines


def _amounts(run: InPlaceRun) -> dict[str, Amount]:
    """Return the bytes moved and the times of the run, with reasons for unknown ones."""
    profile = run.profile
    amounts = {
        "io_seconds": profile.io_amount,
        "read_bytes": profile.read_amount,
        "write_bytes": profile.write_amount,
    }
    if run.handshake.ok:
        return amounts
    why = run.handshake.message
    return {name: Amount.of(amount.value, amount.why or why) for name, amount in amounts.items()}


def _bandwidth(run: InPlaceRun) -> float | None:
    if any(not amount.is_exact for amount in _amounts(run).values()):
        return None
    profile = run.profile
    total = profile.read_bytes + profile.write_bytes
    return total / profile.io_seconds if profile.io_seconds > 0 else 0.0


def _headline(seen: Observation) -> str:
    """Return the time and the amount of the I/O in one line."""
    facts, amounts = seen.facts, _amounts(seen.run)
    words = [
        f"stripewise: I/O {_io_words(amounts['io_seconds'], seen.run.elapsed_seconds)}",
        f"written {amounts['write_bytes'].words(size_text)},"
        f" read {amounts['read_bytes'].words(size_text)}",
    ]
    if rate := _bandwidth(seen.run):
        words.append(rate_text(rate))
    if facts.mpi_family:
        stack = f"{facts.mpi_family} {facts.mpiio_implementation}".strip()
        words.append(f"{plural(facts.n_ranks, 'rank')}, {stack}")
    return "   ".join(words)


def _io_words(spent: Amount, elapsed_seconds: float) -> str:
    """Return the I/O time and the time of the run; threads can sum up to more than the run."""
    whole = seconds_text(elapsed_seconds)
    if spent.value is not None and spent.value > elapsed_seconds > 0:
        return f"at most all {whole}: {spent.words(seconds_text)} in the calls of all threads"
    return f"{spent.words(seconds_text)} of {whole}"


def _file_lines(file: ObservedFile, everything: bool) -> list[str]:
    name = f"   {printable(file.path)}   {file.interface}"
    lines = [
        f"{name}   written {amount_words(file, 'write_bytes', size_text)},"
        f" read {amount_words(file, 'read_bytes', size_text)}"
        f" in {amount_words(file, 'io_seconds')}"
    ]
    for label, hints in (
        ("requested", file.requested),
        ("applied", file.applied),
        ("reported", file.reported),
    ):
        if hints:
            lines.append(f"     {label:<9} {_hints(hints, everything)}")
    if file.system_writes:
        aligned = ", ".join(
            f"{percent_text(fraction)} aligned to {size_text(size)}"
            for size, fraction in file.aligned_fraction.items()
            if fraction > 0
        )
        about = "" if file.median_write_bytes == file.largest_write_bytes else "about "
        nothing = "none aligned" if file.aligned_fraction else "alignment unknown"
        lines.append(
            f"     {'observed':<9} {plural(file.writers, 'writer')}, "
            f"{plural(file.system_writes, 'system write')}, "
            f"median {about}{size_text(file.median_write_bytes)}, "
            f"largest {size_text(file.largest_write_bytes)}, {aligned or nothing}"
        )
    return lines


def _hints(hints: Mapping[str, str], everything: bool) -> str:
    pairs = [f"{key}={value}" for key, value in sorted(hints.items())]
    more = len(pairs) - _SHOWN_HINTS
    if everything or more <= 0:
        return printable(" ".join(pairs))
    return printable(" ".join(pairs[:_SHOWN_HINTS])) + f" and {more} more"


# Report on a run on emulated storage.


def emulation_lines(run: EmulatedRun) -> list[str]:
    """Return what the emulated storage recorded, as lines to follow those of the files."""
    requests = f"{plural(run.requests, 'request')}, {run.held} held back"
    lines = [
        f"   {printable(run.storage)}   emulated: {requests} "
        f"({seconds_text(run.held_seconds)} in all)"
    ]
    if run.limits_text:
        lines.append(f"     {'limits':<9} {run.limits_text}")
    if run.slowdown != 1:
        lines.append(f"     {'time':<9} {run.slowdown:g} times as long as on the storage itself")
    return lines


def emulation_json(run: EmulatedRun, n_ranks: int) -> dict[str, Any]:
    """Return what the emulated storage recorded as plain data, with times in seconds."""
    problem = run.why_it_hangs(n_ranks) or run.problem
    return {
        **{name: getattr(run, name) for name in ("storage", "machine", "slowdown")},
        "counted": not problem,
        "problem": problem,
        **{name: getattr(run, name) for name in _COUNTED},
        "limits": dict(run.limits),
        **{name: getattr(run, name) for name in ("mapped", "rings", "static_programs")},
    }


_COUNTED = (
    *("transport", "ranks_per_node", "processes", "writes", "reads", "metadata"),
    *("held", "held_seconds", "model_seconds", "late", "late_seconds"),
)
