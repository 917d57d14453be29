# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study in virtual time, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stripewise.model import StudyResult, Value, to_json
from stripewise.report._columns import line
from stripewise.report._text import format_bandwidth, format_seconds, plural
from stripewise.simulation import SimulatedProgram
from stripewise.text import finite, format_ratio, printable
from stripewise.tunables import format_settings


@dataclass(frozen=True)
class SimulatedStudy:
    """What a strategy found on a described storage.

    Attributes:
        program: That was tuned.
        strategy: Its name.
        result: Of the study.
    """

    program: SimulatedProgram
    strategy: str
    result: StudyResult

    @property
    def settings(self) -> dict[str, Value]:
        """What was confirmed; empty: nothing was."""
        winner = self.result.winner if self.result.improved else None
        return dict(winner.settings) if winner else {}

    @property
    def default_seconds(self) -> float:
        """I/O time without settings, without noise."""
        return self.program.seconds({}) or 0.0

    @property
    def seconds(self) -> float:
        """I/O time under what was confirmed, without noise."""
        return self.program.seconds(self.settings) or 0.0


def simulated_study_lines(study: SimulatedStudy) -> Iterator[str]:
    """Say what a strategy found, and after how many simulated runs."""
    program, result = study.program, study.result
    work = program.workload
    yield line("storage", printable(f"{program.storage.name}: {program.storage.title}"))
    yield line("default", _took(study.default_seconds, work.bytes))
    if study.settings:
        gain = format_ratio(study.default_seconds / study.seconds)
        yield line("best", format_settings(study.settings))
        yield line("then", f"{_took(study.seconds, work.bytes)}, {gain}x faster")
    else:
        yield line("best", "no improvement")
    spent = sum(run.measurement.elapsed_seconds for run in result.runs)
    yield line(
        "strategy",
        f"{study.strategy}: {plural(len(result.trials), 'trial')}, "
        f"{plural(len(result.runs), 'run')} of {format_seconds(spent)} in virtual time",
    )


def simulated_study_json(study: SimulatedStudy) -> dict[str, Any]:
    """Return the same as JSON; times are those of the model, without noise."""
    program, result = study.program, study.result
    speedup = result.speedup
    document = {
        "storage": program.storage.name,
        "stack": program.stack,
        "strategy": study.strategy,
        "improved": result.improved,
        "settings": to_json(study.settings),
        "default_seconds": study.default_seconds,
        "seconds": study.seconds,
        "bytes": program.workload.bytes,
        "bandwidth_bytes_per_second": program.workload.bytes / max(study.seconds, 1e-12),
        "speedup": to_json(speedup) if speedup else None,
        "trials": len(result.trials),
        "runs": len(result.runs),
        "virtual_seconds": sum(run.measurement.elapsed_seconds for run in result.runs),
    }
    found: dict[str, Any] = finite(document)
    return found


def _took(seconds: float, moved: int) -> str:
    return f"{format_seconds(seconds)}, {format_bandwidth(moved / max(seconds, 1e-12))}"
