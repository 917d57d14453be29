# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Summarises a study in real or virtual time: the facts at the top of its report."""

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
from stripewise.present.blocks import Fact, Facts
from stripewise.present.renderers import block_lines
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
    rejections,
    storage_phrase,
    traffic,
    trials_phrase,
    whole_program,
    wide,
)

MOST_COMMANDS = 3
"""Maximum number of commands in the summary for the winner's settings, one per case."""


def summary_lines(
    result: StudyResult,
    *,
    wrote: Sequence[str] = (),
    encoding: str | None = None,
) -> list[str]:
    """Summarise a study for the terminal.

    Args:
        result: Result of the study.
        wrote: Names of the files written into the study's directory, for the last line.
        encoding: Encoding of the terminal; unsupported characters are replaced.  None for that
            of stdout.
    """
    lines = list(block_lines(summary(result)))
    lines += [line("REJECTED", text) for text in rejections(result)]
    lines += [line("warning", printable(text)) for text in result.warnings]
    if wrote:
        lines.append(line("wrote", _wrote(result.directory, wrote)))
    if result.improved and result.job is None:
        lines += labelled("apply", run_commands(result)[:MOST_COMMANDS])
    return [fit_encoding(text, encoding) for text in lines]


def summary(result: StudyResult) -> Facts:
    """Return what a study measured and decided, starting with the most important facts."""
    found = [
        ("storage", storage_phrase(result)),
        ("baseline", figures_phrase(baseline_figures(result), with_runs=True)),
        ("trials", f"{trials_phrase(result)}, {price_phrase(result.price)}"),
        ("stopped", result.stopped_because),
        *_verification(result),
        *_outcome(result),
        ("whole program", _whole_seconds(result)),
        ("limited by", limits_phrase(result)),
        ("resolution", result.resolution),
        ("without sync", _without_sync(result)),
    ]
    for number, case in enumerate(case_results(result) if result.is_ensemble else ()):
        label = "" if number else "case"
        found.append((label, f"{printable(case.cases[0].name)}: {_case_phrase(case)}"))
    items = [
        Fact(f"{label or 'more'}-{number}", label, text)
        for number, (label, text) in enumerate(found)
        if text
    ]
    return Facts("summary", "Summary", items, is_listed=True)


def _verification(result: StudyResult) -> Iterator[tuple[str, str]]:
    if result.verification.status is VerificationStatus.NOT_DONE:
        return
    yield "verified", describe_verification(result.verification)
    for path, reason in list(result.verification.not_verifiable.items())[:3]:
        yield "", f"not verifiable: {printable(path)}: {printable(reason)}"


def _outcome(result: StudyResult) -> Iterator[tuple[str, str]]:
    if not result.improved:
        yield "result", f"{result.outcome}. {conclusion(result)}"
        return
    gain = faster(result.speedup) if result.speedup is not None else ""
    text = "   ".join(filter(None, (figures_phrase(best_figures(result)), gain)))
    whole = whole_program(result.elapsed_speedup)
    yield "result", f"{text}    {whole}" if whole else text
    if result.winner is not None:
        yield "settings", format_settings(result.winner.settings)
        yield from (("files", text) for text in classes_with_settings(result))
    yield "note", traffic(result)
    yield "note", wide(result.speedup) if result.speedup else ""


def _whole_seconds(result: StudyResult) -> str:
    """Return how long a run of the program takes, without and with the best settings."""
    before, after = baseline_figures(result), best_figures(result)
    if not before.n_runs:
        return ""
    text = seconds_text(before.seconds)
    return f"{text} → {seconds_text(after.seconds)}" if result.improved else text


def _without_sync(result: StudyResult) -> str:
    """Return the times of runs that did not wait for the storage; empty without such runs."""
    unsynced = unsynced_figures(result)
    if unsynced is None:
        return ""
    before, after = (amount_words(one, "io_seconds") for one in unsynced.values())
    return (
        f"I/O {before} → {after} (one run each, for information only; data may still be in "
        "memory when the clock stops)"
    )


def run_commands(result: StudyResult) -> list[str]:
    """Return the commands that run the program with the winner's settings, one per case."""
    best = command_line([str(PurePath(result.directory) / "best.toml")])
    if words := result.provenance.get("emulated as", ""):
        best += f" {words}"
    return [
        f"stripewise run --config {best} -- {command_line(case.command)}"
        for case in case_results(result)
    ]


def price_phrase(price: Price) -> str:
    """Return how many runs a study made and what they cost."""
    text = f"{plural(price.n_runs, 'run')} in all"
    if isfinite(price.ratio):
        text += f"; total cost: {plural(round(price.ratio), 'normal run')}"
    return text


def figures_phrase(figures: Digest, *, with_runs: bool = False) -> str:
    """Return runs, I/O time and bandwidth as a phrase."""
    if not figures.n_runs:
        return "no usable run"
    runs = f"{plural(figures.n_runs, 'run')}   " if with_runs else ""
    return f"{runs}I/O {amount_words(figures, 'io_seconds')}   {bandwidth_words(figures)}"


def classes_with_settings(result: StudyResult) -> list[str]:
    """Return descriptions of the classes of files to which the winner gives own settings."""
    own = scopes(result.winner.settings) if result.winner is not None else ()
    return [class_phrase(one) for one in result.facts.file_classes if one.match in own]


def case_io(case: StudyResult) -> str:
    """Return the I/O time of one case from its view: "0.9 s → 0.3 s" if there are pairs."""
    if not case.pairs:
        return amount_words(digest(baseline_runs(case)), "io_seconds")
    first, second = (digest(runs) for runs in zip(*case.pairs, strict=True))
    before = amount_words(first, "io_seconds")
    return f"{before} → {amount_words(second, 'io_seconds')}" if second.n_runs else before


def _case_phrase(case: StudyResult) -> str:
    """Return the gain of one case from its view.

    "I/O 0.9 s → 0.3 s   3.0x faster [2.8–3.3, 95 %, 6 paired runs]    whole program 1.9x"
    """
    text = f"I/O {case_io(case)}"
    if case.speedup is None or not case.pairs:
        return text
    text += (
        f"   {ratio_text(case.speedup.median)}x {outcome_word(case)} {interval_text(case.speedup)}"
    )
    whole = whole_program(case.elapsed_speedup)
    return f"{text}    {whole}" if whole else text


def _wrote(directory: str, names: Sequence[str]) -> str:
    below = PurePath(directory).is_relative_to(os.getcwd())
    folder = printable(os.path.relpath(directory) if below else directory)
    shown = [printable(name) for name in names]
    return f"{folder}/{shown[0]}" if len(shown) == 1 else f"{folder}/{{{', '.join(shown)}}}"


# A study in virtual time, as text and as JSON.


@dataclass(frozen=True)
class SimulatedStudy:
    """Result of a strategy on a described storage.

    Attributes:
        program: Program that was tuned.
        strategy: Name of the strategy.
        result: Result of the study.
    """

    program: SimulatedProgram
    strategy: str
    result: StudyResult

    @property
    def settings(self) -> dict[str, Value]:
        """Confirmed settings; empty if there are none."""
        winner = self.result.winner if self.result.improved else None
        return dict(winner.settings) if winner else {}

    @property
    def default_seconds(self) -> float:
        """I/O time without settings, without noise."""
        return self.program.seconds({}) or 0.0

    @property
    def seconds(self) -> float:
        """I/O time with the confirmed settings, without noise."""
        return self.program.seconds(self.settings) or 0.0


def simulated_study_lines(study: SimulatedStudy) -> Iterator[str]:
    """Yield what a strategy found, and after how many simulated runs."""
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
    """Return the result as JSON; times are those of the model, without noise."""
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
