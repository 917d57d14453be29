# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders a study as one page: conclusion, files, settings and how to use them."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypeVar

from stripewise.core import (
    Configuration,
    JobStudy,
    Measurement,
    ObservedFile,
    StudyResult,
    TrialState,
)
from stripewise.core.errors import StripewiseError
from stripewise.evidence.facts import class_phrase
from stripewise.present import (
    amount_words,
    bandwidth_words,
    command_line,
    count_text,
    number_text,
    page_template,
    percent_text,
    printable,
    ratio_text,
    seconds_text,
    size_text,
)
from stripewise.run.runtime import command_with_resources, launch_environment, resource_environment
from stripewise.settings import formats
from stripewise.settings.tunables import setting_name
from stripewise.study.report._charts import (
    effects_chart,
    evidence_chart,
    timeline_chart,
    tunable_effects,
)
from stripewise.study.report._digest import (
    baseline_figures,
    baseline_runs,
    best_figures,
    best_runs,
    case_results,
    describe_verification,
    digest,
    is_verified,
)
from stripewise.study.report._job_page import job_section
from stripewise.study.report._summary import classes_with_settings, price_phrase, run_commands
from stripewise.study.report._verdict import (
    conclusion,
    facts_phrase,
    faster,
    headline,
    outcome_word,
    part_ratios,
    rejection,
    traffic,
    wide,
)

MOST_ROWS = 500
_Part = TypeVar("_Part")
_STATES = {state: state.value for state in TrialState} | {
    TrialState.COMPLETE: "measured",
    TrialState.HOPELESS: "stopped early",
}


def render_html(result: StudyResult, job: JobStudy | None = None) -> str:
    """Render the report of a study as one page, with the rungs of a job script's study.

    The same result gives the same page.  Names of files and whatever a program wrote into
    its messages are data: they are escaped, and control characters made visible.
    """
    effects = tunable_effects(result)
    return page_template("report.html.j2", _FILTERS).render(
        result=result,
        headline=headline(result),
        conclusion=conclusion(result),
        program=_program(result),
        before=baseline_figures(result),
        after=best_figures(result),
        cases=case_results(result) if result.is_ensemble else (),
        speedup=faster(result.speedup) if result.speedup else "",
        price=price_phrase(result.price),
        traffic=traffic(result),
        wide=wide(result.speedup) if result.improved and result.speedup else "",
        verified=is_verified(result),
        verification=describe_verification(result.verification),
        rejections=[rejection(result, n, found) for n, found in result.rejected.items()],
        recipes=recipes(result),
        evidence=_by_case(result, evidence_chart),
        timeline=timeline_chart(result),
        effects_chart=effects_chart(effects),
        effects=effects,
        sections=_by_case(result, files_section),
        facts=facts_phrase(result.facts),
        classes=[class_phrase(one) for one in result.facts.file_classes],
        own_classes=classes_with_settings(result),
        all_facts=_facts(result),
        states=_STATES,
        most_rows=MOST_ROWS,
        job=job_section(job) if job is not None else None,
    )


def _by_case(
    result: StudyResult, make: Callable[[StudyResult], _Part | None]
) -> list[tuple[str, _Part]]:
    """Make a part of the page for each case, under its name; "" in a study of one command."""
    made = [(view.cases, make(view)) for view in case_results(result)]
    return [(cases[0].name if cases else "", part) for cases, part in made if part is not None]


def _program(result: StudyResult) -> str:
    name = result.directory.rstrip("/").rpartition("/")[2]
    return printable(name.removesuffix(".stripewise") or "program")


def _facts(result: StudyResult) -> dict[str, str]:
    """Facts that say something, in words and without the layout of version texts."""
    known = {
        k: v
        for k, v in asdict(result.facts).items()
        if k not in ("patterns", "file_classes") and v not in ("", (), 0, False)
    }
    return {name.replace("_", " "): _fact(value) for name, value in known.items()}


def _fact(value: object) -> str:
    if value is True:
        return "yes"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int):
        return count_text(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return " ".join(str(value).split())


def _speedup(ratio: float) -> str:
    """Format a time relative to the baseline's as everywhere: 3.8x."""
    return f"{ratio_text(1 / ratio)}x" if 0 < ratio < math.inf else "–"


_FILTERS: dict[str, Callable[..., Any]] = {
    "name": lambda name: setting_name(name).partition(".")[2] or name,
    "setting_name": setting_name,
    "part_ratios": part_ratios,
    "ratio": lambda value: f"{value:.2f}" if math.isfinite(value) else "–",
    "speedup": _speedup,
    "digest": digest,
    "io_time": partial(amount_words, name="io_seconds"),
    "rate": bandwidth_words,
    "outcome": outcome_word,
    "baseline_runs": baseline_runs,
    "faster": lambda speedup: faster(speedup) if speedup else "",
    "compared": describe_verification,
}


# Settings per file: requested, applied, reported by MPI, and what was observed.

MOST_FILES = 20


def files_section(result: StudyResult) -> dict[str, Any] | None:
    """Compare the files of one baseline run with those of one run of the best.

    Returns:
        `files` (each with `path`, `observed`: rows of what, before, after, and `hints`: rows of
        key, then requested by the program, applied by Stripewise and reported by MPI, before and
        after), largest first; `n_left_out`; `runs`: names of the one or two runs.  None without
        files.
    """
    before = _last_with_files(baseline_runs(result)) or _last_with_files(
        [run.measurement for run in result.runs]
    )
    after, name = _other_run(result)
    first = {file.path: file for file in (before.files if before else ())}
    second = {file.path: file for file in (after.files if after else ())}
    paths = list(dict.fromkeys([*first, *second]))
    if not paths:
        return None
    return {
        "files": [
            _compare(path, first.get(path), second.get(path)) for path in paths[:MOST_FILES]
        ],
        "n_left_out": max(len(paths) - MOST_FILES, 0),
        "runs": ["Baseline", name] if second else ["Baseline"],
    }


def _other_run(result: StudyResult) -> tuple[Measurement | None, str]:
    if result.improved:
        return _last_with_files(best_runs(result)), "Best"
    if result.winner is not None:
        runs = [second for _, second in result.pairs] or list(result.winner.measurements)
        return _last_with_files(runs), "Candidate (not kept)"
    complete = [trial for trial in result.trials if trial.state is TrialState.COMPLETE]
    if not complete:
        return None, ""
    fastest = min(complete, key=lambda trial: trial.io_ratio)
    return _last_with_files(fastest.measurements), f"Trial {fastest.number} (not kept)"


def _last_with_files(runs: Sequence[Measurement]) -> Measurement | None:
    return next((run for run in reversed(runs) if run.ok and run.files), None)


def _compare(path: str, first: ObservedFile | None, second: ObservedFile | None) -> dict[str, Any]:
    before, after = _observed(first), _observed(second)
    keys = dict.fromkeys([*before, *after])
    observed = [(key, before.get(key, "–"), after.get(key, "–")) for key in keys]
    return {"path": path, "observed": observed, "hints": _hints(first, second)}


def _observed(file: ObservedFile | None) -> dict[str, str]:
    if file is None:
        return {}
    amounts = ((file.amount("write_bytes"), "written"), (file.amount("read_bytes"), "read"))
    moved = [
        f"{amount.words(size_text)} {verb}"
        for amount, verb in amounts
        if amount.value or not amount.is_exact
    ]
    rows = {
        "Interface of the program": file.interface or "unknown",
        "Program asked for": ", ".join(moved) or "nothing",
        "I/O time (slowest rank)": file.amount("io_seconds").words(seconds_text),
    }
    if file.readers:
        rows["Ranks that issued system reads"] = str(file.readers)
    if file.system_writes:
        rows["Ranks that issued system writes"] = file.amount("writers").words(count_text)
        writes, written = count_text(file.system_writes), size_text(file.system_write_bytes)
        rows["System writes"] = f"{writes} ({written})"
        rows["Size of a system write"] = (
            f"about {size_text(file.median_write_bytes)} (median),"
            f" {size_text(file.largest_write_bytes)} (largest)"
        )
        if file.aligned_fraction:
            rows["Aligned system writes"] = ", ".join(
                f"{percent_text(fraction)} to {size_text(alignment)}"
                for alignment, fraction in sorted(file.aligned_fraction.items())
            )
    return rows


def _hints(
    first: ObservedFile | None, second: ObservedFile | None
) -> list[tuple[str, list[str], list[str]]]:
    """Rows of the settings table: what Stripewise applied first, then what was asked for."""
    nothing = ObservedFile("")
    before, after = (
        (file.requested, file.applied, file.reported)
        for file in (first or nothing, second or nothing)
    )
    rows = [
        (key, [told.get(key, "") for told in before], [told.get(key, "") for told in after])
        for key in sorted({key for told in (*before, *after) for key in told})
    ]
    return sorted(rows, key=lambda row: not (row[2][1] or row[2][0] or row[1][0]))


# How to use the winning settings: with Stripewise, and without it.

_WITHOUT = "Without Stripewise"


@dataclass(frozen=True)
class Recipe:
    """One way to apply settings.

    Attributes:
        title: What it is for.
        text: Lines for a shell.
        lost: What this way cannot carry.
    """

    title: str
    text: str
    lost: tuple[str, ...] = ()


def recipes(result: StudyResult) -> tuple[Recipe, ...]:
    """List the ways to apply the winner's settings; none if nothing won."""
    if not result.improved or result.winner is None:
        return ()
    configuration = result.winner.configuration
    found = [Recipe("With Stripewise, the same binary", "\n".join(run_commands(result)))]
    if configuration.job.resources:
        found.append(_resources(result, configuration))
    openmpi = result.facts.mpi_family == "openmpi"
    if openmpi and configuration.job.mca:
        found.append(Recipe(f"{_WITHOUT}: Open MPI's parameters", _exports(configuration)))
    hints = any(rule.mpiio for rule in configuration.files)
    if hints and _uses_romio(result, configuration):
        title = f"{_WITHOUT}: a hints file for ROMIO"
        found.append(_written(configuration, "romio-hints", title))
    if hints and not openmpi:
        title = f"{_WITHOUT}: Cray MPICH's variable"
        found.append(_written(configuration, "mpich-hints", title))
    if openmpi and os.geteuid() == 0:
        found = [_as_root(recipe) for recipe in found]
    return tuple(found)


def _as_root(recipe: Recipe) -> Recipe:
    """Let root start Open MPI, which Stripewise does by itself and plain mpiexec refuses."""
    if not recipe.text or not recipe.title.startswith(_WITHOUT):
        return recipe
    allowed = "".join(f"export {name}=1\n" for name in launch_environment({}))
    return replace(recipe, title=f"{recipe.title}, as root", text=allowed + recipe.text)


def _resources(result: StudyResult, configuration: Configuration) -> Recipe:
    """Write the commands with the winner's ranks and threads; the rest of it is not in them."""
    title = f"{_WITHOUT}: ranks and threads"
    job = configuration.job
    lines = [f"export {name}={value}" for name, value in resource_environment(job).items()]
    try:
        lines += [
            command_line(command_with_resources(c.command, job)) for c in case_results(result)
        ]
    except StripewiseError as error:
        return Recipe(title, "", (str(error),))
    return Recipe(title, "\n".join(lines))


def _uses_romio(result: StudyResult, configuration: Configuration) -> bool:
    """Whether ROMIO, which alone reads ROMIO_HINTS, does the winner's MPI-IO."""
    chosen = str(configuration.job.mca.get("io", result.facts.mpiio_implementation))
    return chosen.startswith("romio")


def _written(configuration: Configuration, name: str, title: str) -> Recipe:
    written = formats.get(name).write(configuration)
    text = written.text.strip()
    if text and name == "romio-hints":
        text = f"cat > romio-hints <<'END'\n{text}\nEND\nexport ROMIO_HINTS=\"$PWD/romio-hints\""
    return Recipe(title, text, written.lost)


def _exports(configuration: Configuration) -> str:
    return "\n".join(
        f"export {name}={shlex.quote(printable(value))}"
        for name, value in formats.job_environment(configuration).items()
    )
