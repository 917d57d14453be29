# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Effective settings: what was requested, what the stack reported, what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stripewise.formats import matches
from stripewise.model import Measurement, ObservedFile, ProgramFacts, Trial, Value
from stripewise.readers import cannot_act
from stripewise.text import size_text
from stripewise.tunables import hint_text, said_of_files, scopes, split_scope


def effective_settings(
    settings: Mapping[str, Value],
    candidates: Sequence[Measurement],
    baselines: Sequence[Measurement],
) -> dict[str, str]:
    """Return, for each tunable of a trial, requested / reported / observed in one line."""
    files = _files(candidates)
    if not files:
        return {}
    before = _files(baselines)
    lines = {
        name: _line(name, value, _matching(split_scope(name)[1], files))
        for name, value in settings.items()
    }
    lines["observed"] = observed_line(files)
    lines["observed without"] = observed_line(before)
    return lines


def without_effect(
    trial: Trial,
    candidates: Sequence[Measurement],
    baselines: Sequence[Measurement],
    facts: ProgramFacts,
) -> Iterator[str]:
    """Yield a warning for each setting of a winner that cannot have acted."""
    files = _files(candidates)
    if not files:
        return
    yield from cannot_act(trial.configuration, files, facts)
    before, matches_of = _files(baselines), scopes(trial.settings) or ("",)
    elsewhere = trial.configuration.job.burst_buffer  # another storage, asked for the same
    if not elsewhere and all(
        observed_line(_matching(match, files)) == observed_line(_matching(match, before))
        for match in matches_of
    ):
        yield (
            f"what reaches the storage looks the same with and without "
            f"{said_of_files(trial.settings, lambda name, _: name)}: the gain lies in "
            "what happens before (copying, communication, locks)"
        )


def same_requests(first: Measurement, second: Measurement) -> bool:
    """Whether two runs asked the storage for the same: who, how often, how much, how aligned."""
    asked = [{file.path: _requests(file) for file in run.files} for run in (first, second)]
    return bool(asked[0]) and asked[0] == asked[1]


def _requests(file: ObservedFile) -> tuple[object, ...]:
    written = (file.writers, file.system_writes, file.system_write_bytes)
    sizes = (file.median_write_bytes, file.largest_write_bytes, file.aligned_fraction)
    return (*written, *sizes, file.system_reads, file.system_read_bytes)


def observed_line(files: Sequence[ObservedFile]) -> str:
    """Say what reached the storage: who wrote, in which sizes, how aligned."""
    written = [f for f in files if f.system_writes]
    if not written:
        return "no system writes seen"
    largest = max(written, key=lambda file: file.system_write_bytes)
    aligned = largest.aligned_fraction.get(1 << 20, 0.0)
    return (
        f"{largest.amount('writers').words(_count)} writer(s), "
        f"{sum(f.system_writes for f in written)} system writes, "
        f"median {size_text(largest.median_write_bytes)}, "
        f"largest {size_text(largest.largest_write_bytes)}, {aligned:.0%} aligned to 1 MiB"
    )


def _count(number: float) -> str:
    return str(int(number))


def _line(name: str, value: Value, files: Sequence[ObservedFile]) -> str:
    key = split_scope(name)[0].partition(".")[2]
    reported = sorted({f.reported[key] for f in files if key in f.reported})
    applied = any(key in _keys(f.applied) for f in files)
    line = f"requested {hint_text(value)}"
    if name.startswith("mca."):
        return f"{line}, in the environment of all ranks"
    if name.startswith("job."):
        how = "environment" if name == "job.threads" else "launcher's options"
        return f"{line}, in the {how}"
    line += ", applied" if applied else ", not applied to any file"
    return f"{line}, reported {', '.join(reported)}" if reported else line


def _matching(match: str, files: Sequence[ObservedFile]) -> list[ObservedFile]:
    """Return the files that settings are for; all for the glob ""."""
    return [file for file in files if not match or matches(match, file.path)]


def _files(measurements: Sequence[Measurement]) -> tuple[ObservedFile, ...]:
    return measurements[0].files if measurements else ()


def _keys(settings: Mapping[str, str]) -> set[str]:
    return {key.rpartition(".")[2] for key in settings}
