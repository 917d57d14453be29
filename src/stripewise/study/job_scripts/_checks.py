# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a script's partition, time limit and directory, and sets the allocation's time."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import ceil
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.jobs import JobScript
from stripewise.run.launch import MARGIN_SECONDS, ScriptJobs, least_wall_seconds
from stripewise.run.shell import (
    WORKS_IN,
    Effect,
    Effects,
    LaunchLine,
    Lead,
    Move,
    lead_of,
    move_before,
    moves_to,
)
from stripewise.run.slurm import (
    Partition,
    Slurm,
    options_of_variables,
    parse_seconds,
    variable_of_option,
)
from stripewise.study.plan import StudyOptions, is_allowed, is_nobodys

_OURS = ("job-name", "output", "error", "open-mode", "signal", "requeue", "no-requeue")
"""Options that allocations have anyway, whatever script and variables say."""


def check_input(script: JobScript) -> None:
    """Refuse an input of the batch script, which its runs would not have.

    Raises:
        UsageError: With the remedy.
    """
    said = {option.name: option.value or "" for option in script.options}
    if (name := said.get("input")) and name != os.devnull:
        raise UsageError(
            f"{script.name}: --input={printable(name)} does not reach the runs of a study: write "
            "< FILE after the program instead"
        )


def cluster_of(script: JobScript, given: Mapping[str, str]) -> str:
    """Return the cluster that the jobs go to; "": this host's own.

    Raises:
        UsageError: There are several, on which runs cannot be compared.
    """
    said = [option.value or "" for option in script.options if option.name == "clusters"]
    name = given.get("clusters", (said or [""])[-1])
    if "," in name or name == "all":
        raise UsageError(
            f"{script.name}: --clusters={printable(name)} names several clusters, on which runs "
            "cannot be compared: name one"
        )
    return name


def find_partition(
    script: JobScript, slurm: Slurm, given: Mapping[str, str], nodes: int
) -> Partition | None:
    """Return the partition that a variable or the script names, or the default one.

    Raises:
        UsageError: There is none of that name, it starts no jobs, or has too few nodes.
    """
    names = given.get("partition", script.resources.partition or "")
    wanted = [name for name in names.split(",") if name]
    known = slurm.partitions()
    there = ", ".join(one.name for one in known)
    for name in wanted:
        if name not in [one.name for one in known]:
            raise UsageError(
                f"{script.name}: there is no partition {printable(name)!r}; there are {there}"
            )
    found = [one for one in known if (one.name in wanted if wanted else one.is_default)]
    if found and not any(one.is_up for one in found):
        names = ", ".join(one.name for one in found)
        raise UsageError(
            f"{script.name}: partition {names} starts no jobs now: choose another of {there}, or "
            "wait"
        )
    most = max((one.nodes for one in found), default=0)
    if 0 < most < nodes:
        raise UsageError(
            f"{script.name} asks for {nodes} nodes, and partition {found[0].name} has {most}: ask "
            "for fewer, or name another partition"
        )
    return next((one for one in found if one.is_up), None)


def wall_seconds_of(
    script: JobScript, partition: Partition | None, given: Mapping[str, str]
) -> float | None:
    """Return the time limit of a run: as said, or the partition's for jobs without one.

    Slurm takes seconds for the next whole minute, and 0 for no limit but the partition's.
    """
    said: float | None = script.resources.wall_seconds
    if "time" in given:
        said = parse_seconds(given["time"])
    if said:
        return ceil(said / 60) * 60.0
    if partition is None:
        return None
    is_said = "time" in given or any(option.name == "time" for option in script.options)
    return partition.most_seconds if is_said else partition.default_seconds


def overridden(script: JobScript) -> Iterator[str]:
    """Say which options of the script sbatch does not heed."""
    given = options_of_variables(os.environ)
    of_script = dict.fromkeys(option.name for option in script.options)
    for name in of_script:
        if name in given and name not in _OURS:
            yield (
                f"sbatch takes --{name} from {variable_of_option(name)} in your environment, not "
                f"from {script.name}"
            )


# How long the allocations of a job script are asked for.

RUNS_OF_AN_ALLOCATION = 12
"""An allocation is asked for so many runs at their limit, as far as the partition allows."""


def allocation_seconds(
    options: StudyOptions, jobs: ScriptJobs, partition: Partition | None
) -> float | None:
    """Return the time limit of an allocation, in which at least one run fits.

    Raises:
        UsageError: The partition does not allow it.
    """
    job = options.job
    assert job is not None
    most = partition.most_seconds if partition else None
    wanted = job.allocation_seconds
    if wanted is not None and most is not None and wanted > most:
        raise UsageError(
            f"--allocation-time: partition {partition and partition.name} allows {most / 60:.0f} "
            "minutes"
        )
    if most is not None and most <= MARGIN_SECONDS:
        raise UsageError(
            f"partition {partition and partition.name} allows {most:g} s, too short for a run: "
            f"Slurm may end an allocation {MARGIN_SECONDS:g} s early; choose another partition"
        )
    if wanted is None and jobs.wall_seconds is not None:
        wanted = jobs.wall_seconds * (1 if job.per_run else RUNS_OF_AN_ALLOCATION)
        if options.node_hours is not None:  # accounts are asked for all of it beforehand
            wanted = min(wanted, _whole_minutes(3600 * options.node_hours / jobs.nodes))
    if wanted is not None:
        wanted = max(wanted, _least_seconds(options, jobs))
    if wanted is None or most is None:
        return wanted
    return min(wanted, most)


def _least_seconds(options: StudyOptions, jobs: ScriptJobs) -> float:
    """Return the least time limit of an allocation."""
    return _whole_minutes(least_wall_seconds(_run_seconds(options, jobs)))


def _whole_minutes(seconds: float) -> float:
    """Return a time limit as Slurm has it."""
    return ceil(seconds / 60) * 60.0


def _run_seconds(options: StudyOptions, jobs: ScriptJobs) -> float | None:
    """Return the time limit of a run, as far as it is known beforehand."""
    return options.timeout_seconds or jobs.wall_seconds


def too_short(options: StudyOptions, jobs: ScriptJobs) -> list[str]:
    """Say where an allocation is longer than asked for, or cannot be as long as a run needs."""
    asked = options.job.allocation_seconds if options.job else None
    given, run_seconds = jobs.allocation_seconds, _run_seconds(options, jobs)
    if given is None or run_seconds is None:
        return []
    early = f"Slurm may end an allocation {MARGIN_SECONDS:g} s early"
    if (most := given - MARGIN_SECONDS) < run_seconds:
        return [
            f"a run may take {run_seconds:g} s, and the partition allows {given:g} s: {early}, so "
            f"runs are stopped after {most:g} s; choose another partition if they need more"
        ]
    if asked is not None and asked < given:
        return [
            f"--allocation-time: {asked:g} s are too short for a run of {run_seconds:g} s, since "
            f"{early}; {given:g} s are asked for"
        ]
    return []


# Where a job script works: runs of a study must not leave their copies of its directory.

_IN_LAUNCH = ("-D", "--chdir", "-wdir", "--wdir", "-wd")
_JOB = "SLURM_JOB"
_MOST_TOLD = 3


def check_place(
    script: JobScript,
    launch: LaunchLine,
    here: Path,
    ours: Collection[str],
    effects: Effects,
    allowed: Collection[Path] = (),
) -> None:
    """Refuse a script whose program works elsewhere: its runs would change the user's files.

    A directory that only the job knows, as one for each job is, may be allowed.

    Args:
        script: The user's.
        launch: The line that is tuned.
        here: Absolute: the directory that the job is submitted from.
        ours: Variables with directories that each run has of its own.
        effects: What its shell lines do.
        allowed: What runs may change outside of their copies.

    Raises:
        UsageError: With the remedy.
    """
    said = [option.value for option in script.options if option.name == "chdir" and option.value]
    for target in said[-1:]:
        if os.path.realpath(here / target) != os.path.realpath(here):
            raise _elsewhere(script, f"#SBATCH --chdir={target}", here / target)
    if move := move_before(script.moves, launch.start):
        lead, path = lead_of(move, here, os.environ, ours)
        if lead is Lead.ELSEWHERE:
            raise _elsewhere(script, f"line {move.line}: {move.text}", path)
    words = [text for text, _ in launch.known]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == launch.program:
            break
        name, equals, value = word.partition("=")
        target = value if equals else following
        if name in _IN_LAUNCH and target.startswith(("/", "~")):
            raise UsageError(
                f"{script.name}, line {launch.first_line}: {name} {printable(target)} starts the "
                "program in a directory that runs would share with your own files: take it out, "
                "and write `cd` before the launch line if need be"
            )
    if place := effects.places.get(launch.start):
        _check_outer(
            script,
            allowed,
            Effect(
                launch.first_line,
                launch.text,
                WORKS_IN,
                str(here / place),
                effects.unclear.get(launch.start, str(here / place)),
            ),
        )
    for effect in _given_in_launch(launch, effects):
        _check_outer(script, allowed, replace(effect, path=str(here / effect.path)))


def _given_in_launch(launch: LaunchLine, effects: Effects) -> list[Effect]:
    """Return the directories that the launch line itself names to work in."""
    lines = range(launch.first_line, launch.last_line + 1)
    return [
        effect
        for effect in effects.outer
        if effect.verb == WORKS_IN and effect.line in lines and not effect.script
    ]


def _check_outer(script: JobScript, allowed: Collection[Path], effect: Effect) -> None:
    """Refuse a directory in which the program works, unless it is the job's own and allowed."""
    what = f"line {effect.line}: {effect.text}"
    if os.path.normpath(effect.path) == os.path.normpath(effect.known):
        raise _elsewhere(script, what, Path(effect.path))
    if not is_allowed(effect.known, allowed) and not is_nobodys(effect):
        option = f"--allow-outside {shlex.quote(effect.known)}"
        allow = f"if they may do so, give {option}, otherwise " if effect.known != "/" else ""
        raise UsageError(
            f"{script.name}, {printable(what)}: the program works in {printable(effect.path)}, "
            f"where runs might change your own files: {printable(allow)}"
            'let it work where it is submitted from (cd "$SLURM_SUBMIT_DIR")'
        )


def shared_places(script: JobScript, launch: LaunchLine, effects: Effects) -> Iterator[str]:
    """Yield a warning if the program works in a directory of the job, which holds many runs."""
    entered = effects.places.get(launch.start, "") if launch.start in effects.unclear else ""
    named = [one.path for one in _given_in_launch(launch, effects) if one.path != one.known]
    if place := next((path for path in (*named, entered) if _JOB in path), ""):
        yield (
            f"{script.name}: the program works in {printable(place)}, which all runs of an "
            "allocation share, with what earlier runs left there: remove that at the end of the "
            "script, or give --job-per-run"
        )


def works_on_tier(script: JobScript, launch: LaunchLine, variable: str) -> bool:
    """Return whether the program of a script with lines of its own works in the tier's directory.

    Otherwise it works where the job is submitted from.

    Args:
        script: The user's.
        launch: The line that is tuned.
        variable: Names the tier's directory.
    """
    move = move_before(script.moves, launch.start)
    lead = lead_of(move, Path("/"), os.environ, [variable])[0] if move else Lead.HERE
    return bool(move and (lead is Lead.UNKNOWN or move.target.startswith(f"${{{variable}}}")))


def where_unclear(script: JobScript, here: Path, ours: Collection[str]) -> Iterator[str]:
    """Yield a warning for commands that go, or may go, to directories that runs share."""
    away = moves_to(script.moves, Lead.ELSEWHERE, here, os.environ, ours)
    unknown = moves_to(
        [move for move in script.moves if _reaches_a_launch(script, move)],
        Lead.UNKNOWN,
        here,
        os.environ,
        ours,
    )
    for moves, why in (
        (away, "leads to another directory"),
        (unknown, "may lead to another directory"),
    ):
        told = [f"`{printable(move.text)}` (line {move.line})" for move in moves][:_MOST_TOLD]
        if told:
            yield (
                f"{script.name}: {', '.join(told)} {why}: what the script changes there is "
                "refused in runs, unless --allow-outside names it"
            )


def _reaches_a_launch(script: JobScript, move: Move) -> bool:
    return any(move.start < launch.start < move.until for launch in script.launches)


def _elsewhere(script: JobScript, what: str, path: Path) -> UsageError:
    """Return the refusal of a script that works in another directory."""
    remedy = (
        f"run this command there (cd {shlex.quote(str(path))})"
        if (path := Path(os.path.normpath(path))).is_dir()
        else 'let it work where it is submitted from (cd "$SLURM_SUBMIT_DIR")'
    )
    return UsageError(
        f"{script.name}, {printable(what)}: the program works in {printable(str(path))}, where "
        f"runs would change your own files: {printable(remedy)}"
    )
