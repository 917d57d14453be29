# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the lines that the terminal shows when a study has ended, in real or in virtual time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import PurePath
from typing import Any

from stripewise.core import Price, StudyResult, Value, VerificationStatus, to_json
from stripewise.evidence.facts import class_phrase
from stripewise.present import (
    amount_words,
    bandwidth_words,
    command_line,
    finite,
    fit_encoding,
    interval_text,
    labelled,
    line,
    plural,
    printable,
    rate_text,
    ratio_text,
    seconds_text,
)
from stripewise.settings.tunables import format_settings, scopes
from stripewise.storage.simulation import SimulatedProgram
from stripewise.study.report._digest import (
    Digest,
    baseline_figures,
    baseline_runs,
    best_figures,
    case_results,
    describe_verification,
    digest,
    unsynced_figures,
)
from stripewise.study.report._verdict import (
    conclusion,
    faster,
    limits_phrase,
    outcome_word,
    rejection,
    storage_phrase,
    traffic,
    trials_phrase,
    whole_program,
    wide,
)

MOST_COMMANDS = 3
"""Commands that the summary shows for the winner's settings, one for each case."""


def summary_lines(
    result: StudyResult,
    *,
    wrote: Sequence[str] = (),
    encoding: str | None = None,
) -> list[str]:
    """Summarise a study for the terminal.

    Args:
        result: What the study found.
        wrote: Names of the files written into the study's directory, for the last line.
        encoding: Of the terminal; what it cannot show is replaced. None: that of stdout.
    """
    emulated = storage_phrase(result)
    lines = [line("storage", printable(emulated))] if emulated else []
    lines += [
        line("baseline", figures_phrase(baseline_figures(result), with_runs=True)),
        line("trials", f"{trials_phrase(result)}, {price_phrase(result.price)}"),
    ]
    if result.stopped_because:
        lines.append(line("stopped", printable(result.stopped_because)))
    lines += [
        line("REJECTED", rejection(result, number, found))
        for number, found in result.rejected.items()
    ]
    lines += _verification(result)
    lines += _conclusion(result)
    lines += _cases(result)
    lines += [line("warning", printable(text)) for text in result.warnings]
    if wrote:
        lines.append(line("wrote", _wrote(result.directory, wrote)))
    if result.improved and result.job is None:
        commands = run_commands(result)[:MOST_COMMANDS]
        lines += labelled("apply", commands)
    return [fit_encoding(text, encoding) for text in lines]


def run_commands(result: StudyResult) -> list[str]:
    """Return the commands that run the program under the winner's settings, one for each case."""
    best = command_line([str(PurePath(result.directory) / "best.toml")])
    if words := result.provenance.get("emulated as", ""):
        best += f" {words}"
    return [
        f"stripewise run --config {best} -- {command_line(case.command)}"
        for case in case_results(result)
    ]


def price_phrase(price: Price) -> str:
    """Say how many runs a study made and what they cost."""
    text = f"{plural(price.n_runs, 'run')} in all"
    if isfinite(price.ratio):
        text += f"; they cost as much as {plural(round(price.ratio), 'unchanged run')}"
    return text


def figures_phrase(figures: Digest, *, with_runs: bool = False) -> str:
    """Say runs, I/O time and bandwidth."""
    if not figures.n_runs:
        return "no run that counts"
    runs = f"{plural(figures.n_runs, 'run')}   " if with_runs else ""
    return f"{runs}I/O {amount_words(figures, 'io_seconds')}   {bandwidth_words(figures)}"


def _verification(result: StudyResult) -> list[str]:
    if result.verification.status is VerificationStatus.NOT_DONE:
        return []
    lines = [line("verified", describe_verification(result.verification))]
    lines += [
        line("", f"not verifiable: {printable(path)}: {printable(reason)}")
        for path, reason in list(result.verification.not_verifiable.items())[:3]
    ]
    return lines


def _conclusion(result: StudyResult) -> list[str]:
    if not result.improved:
        lines = [line("result", f"{result.outcome}. {conclusion(result)}")]
    else:
        parts = [figures_phrase(best_figures(result))]
        if result.speedup is not None:
            parts.append(faster(result.speedup))
        text = "   ".join(parts)
        whole = whole_program(result.elapsed_speedup)
        lines = [line("result", f"{text}    {whole}" if whole else text)]
        if result.winner is not None:
            lines.append(line("settings", format_settings(result.winner.settings)))
            lines += [line("files", text) for text in classes_with_settings(result)]
        remarks = (traffic(result), wide(result.speedup) if result.speedup else "")
        lines += [line("note", remark) for remark in remarks if remark]
    if limits := limits_phrase(result):
        lines.append(line("limited by", printable(limits)))
    if result.resolution:
        lines.append(line("resolution", printable(result.resolution)))
    unsynced = unsynced_figures(result)
    if unsynced is not None:
        before, after = (amount_words(one, "io_seconds") for one in unsynced.values())
        text = f"I/O {before} → {after} (one run each, for the record)"
        lines.append(line("without sync", text))
    return lines


def classes_with_settings(result: StudyResult) -> list[str]:
    """Describe the classes of files to which the winner gives settings of their own."""
    own = scopes(result.winner.settings) if result.winner is not None else ()
    return [class_phrase(one) for one in result.facts.file_classes if one.match in own]


def _cases(result: StudyResult) -> list[str]:
    """Say of each of several cases what was gained."""
    if not result.is_ensemble:
        return []
    cases = case_results(result)
    return labelled("case", [f"{printable(c.cases[0].name)}: {_case_phrase(c)}" for c in cases])


def _case_phrase(case: StudyResult) -> str:
    """Say what the study gained for one case, from its view.

    "I/O 0.9 s -> 0.3 s   3.0x faster [2.8-3.3, 95 %, 6 paired runs]    whole program 1.9x"
    """
    before = digest(baseline_runs(case))
    if case.speedup is None or not case.pairs:
        return f"I/O {amount_words(before, 'io_seconds')}"
    after = digest([second for _, second in case.pairs])
    first = digest([first for first, _ in case.pairs])
    text = (
        f"I/O {amount_words(first, 'io_seconds')} → {amount_words(after, 'io_seconds')}"
        f"   {ratio_text(case.speedup.median)}x {outcome_word(case)}"
        f" {interval_text(case.speedup)}"
    )
    if case.elapsed_speedup is not None:
        text += f"    whole program {ratio_text(case.elapsed_speedup.median)}x"
    return text


def _wrote(directory: str, names: Sequence[str]) -> str:
    below = PurePath(directory).is_relative_to(os.getcwd())
    folder = printable(os.path.relpath(directory) if below else directory)
    shown = [printable(name) for name in names]
    return f"{folder}/{shown[0]}" if len(shown) == 1 else f"{folder}/{{{', '.join(shown)}}}"


# A study in virtual time, in words and as JSON.


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
        gain = ratio_text(study.default_seconds / study.seconds)
        yield line("best", format_settings(study.settings))
        yield line("then", f"{_took(study.seconds, work.bytes)}, {gain}x faster")
    else:
        yield line("best", "no improvement")
    spent = sum(run.measurement.elapsed_seconds for run in result.runs)
    yield line(
        "strategy",
        f"{study.strategy}: {plural(len(result.trials), 'trial')}, "
        f"{plural(len(result.runs), 'run')} of {seconds_text(spent)} in virtual time",
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
    return f"{seconds_text(seconds)}, {rate_text(moved / max(seconds, 1e-12))}"
