# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the partition, time limit and directory of a script; sets the allocation's time."""

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
    Move,
    MoveTarget,
    is_temporary,
    known_directory,
    move_before,
    moves_to,
    target_of_move,
)
from stripewise.run.slurm import (
    Partition,
    Slurm,
    options_of_variables,
    parse_seconds,
    variable_of_option,
)
from stripewise.study.plan import StudyOptions, is_allowed, is_device_or_temporary

_OURS = ("job-name", "output", "error", "open-mode", "signal", "requeue", "no-requeue")
"""Options that allocations always set, whatever the script and the environment say."""


def check_input(script: JobScript) -> None:
    """Refuse an input file of the batch script, which its runs would not get.

    Raises:
        UsageError: The script has an input; the message has the remedy.
    """
    options = {option.name: option.value or "" for option in script.options}
    if (name := options.get("input")) and name != os.devnull:
        raise UsageError(
            f"{script.name}: --input={printable(name)} does not reach the runs of a study: write "
            "< FILE after the program instead"
        )


def cluster_of(script: JobScript, given: Mapping[str, str]) -> str:
    """Return the cluster to which the jobs are submitted; empty for this host's own.

    Raises:
        UsageError: There are several clusters, whose runs cannot be compared.
    """
    clusters = [option.value or "" for option in script.options if option.name == "clusters"]
    name = given.get("clusters", (clusters or [""])[-1])
    if "," in name or name == "all":
        raise UsageError(
            f"{script.name}: --clusters={printable(name)} names several clusters, on which runs "
            "cannot be compared: name one"
        )
    return name


def find_partition(
    script: JobScript, slurm: Slurm, given: Mapping[str, str], nodes: int
) -> Partition | None:
    """Return the partition that the environment or the script selects, or the default one.

    Raises:
        UsageError: The partition does not exist, starts no jobs, or has too few nodes.
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
    """Return the time limit of a run: as requested, or the partition's default for jobs.

    Slurm rounds seconds up to whole minutes; 0 stands for the limit of the partition.
    """
    limit: float | None = script.resources.wall_seconds
    if "time" in given:
        limit = parse_seconds(given["time"])
    if limit:
        return ceil(limit / 60) * 60.0
    if partition is None:
        return None
    is_said = "time" in given or any(option.name == "time" for option in script.options)
    return partition.most_seconds if is_said else partition.default_seconds


def overridden(script: JobScript) -> Iterator[str]:
    """Yield a message for each option of the script that sbatch ignores."""
    given = options_of_variables(os.environ)
    of_script = dict.fromkeys(option.name for option in script.options)
    for name in of_script:
        if name in given and name not in _OURS:
            yield (
                f"sbatch takes --{name} from {variable_of_option(name)} in your environment, not "
                f"from {script.name}"
            )


# Time limits of a job script's allocations.

RUNS_OF_AN_ALLOCATION = 12
"""Number of runs at their time limit that an allocation should hold, if the partition allows."""


def allocation_seconds(
    options: StudyOptions, jobs: ScriptJobs, partition: Partition | None
) -> float | None:
    """Return the time limit of an allocation, which is long enough for at least one run.

    Raises:
        UsageError: The partition does not allow such a time limit.
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
        if options.node_hours is not None:  # accounts are charged for all of it in advance
            wanted = min(wanted, _whole_minutes(3600 * options.node_hours / jobs.nodes))
    if wanted is not None:
        wanted = max(wanted, _least_seconds(options, jobs))
    if wanted is None or most is None:
        return wanted
    return min(wanted, most)


def _least_seconds(options: StudyOptions, jobs: ScriptJobs) -> float:
    """Return the shortest useful time limit of an allocation."""
    return _whole_minutes(least_wall_seconds(_run_seconds(options, jobs)))


def _whole_minutes(seconds: float) -> float:
    """Return a time limit rounded up to whole minutes, as Slurm does."""
    return ceil(seconds / 60) * 60.0


def _run_seconds(options: StudyOptions, jobs: ScriptJobs) -> float | None:
    """Return the time limit of a run, if it is known in advance."""
    return options.timeout_seconds or jobs.wall_seconds


def too_short(options: StudyOptions, jobs: ScriptJobs) -> list[str]:
    """Return warnings if an allocation is longer than requested or too short for a run."""
    requested = options.job.allocation_seconds if options.job else None
    given, run_seconds = jobs.allocation_seconds, _run_seconds(options, jobs)
    if given is None or run_seconds is None:
        return []
    early = f"Slurm may end an allocation {MARGIN_SECONDS:g} s early"
    if (most := given - MARGIN_SECONDS) < run_seconds:
        return [
            f"a run may take {run_seconds:g} s, and the partition allows {given:g} s: {early}, so "
            f"runs are stopped after {most:g} s; choose another partition if they need more"
        ]
    if requested is not None and requested < given:
        return [
            f"--allocation-time: {requested:g} s are too short for a run of {run_seconds:g} s, "
            f"since {early}; {given:g} s are asked for"
        ]
    return []


# Directories of a job script: runs of a study must not leave their copies of its directory.

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
    """Refuse a script whose program works in another directory and would change the user's files.

    A directory that belongs to the job, such as a scratch directory per job, may be allowed.

    Args:
        script: Script of the user.
        launch: Launch line to tune.
        here: Absolute path of the directory from which the job is submitted.
        ours: Variables with directories of which each run has its own.
        effects: Effects of the script's shell lines.
        allowed: Files and directories outside of their copies that runs may change.

    Raises:
        UsageError: The program works elsewhere; the message has the remedy.
    """
    directories = [
        option.value for option in script.options if option.name == "chdir" and option.value
    ]
    for target in directories[-1:]:
        if os.path.realpath(here / target) != os.path.realpath(here):
            raise _elsewhere(script, f"#SBATCH --chdir={target}", here / target)
    if move := move_before(script.moves, launch.start):
        target_kind, path = target_of_move(move, here, os.environ, ours)
        if target_kind is MoveTarget.ELSEWHERE:
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
    """Return the working directories that the launch line itself sets."""
    lines = range(launch.first_line, launch.last_line + 1)
    return [
        effect
        for effect in effects.outer
        if effect.verb == WORKS_IN and effect.line in lines and not effect.script
    ]


def _check_outer(script: JobScript, allowed: Collection[Path], effect: Effect) -> None:
    """Refuse a working directory of the program unless it belongs to the job and is allowed."""
    what = f"line {effect.line}: {effect.text}"
    if os.path.normpath(effect.path) == os.path.normpath(effect.known):
        raise _elsewhere(script, what, Path(effect.path))
    if not is_allowed(effect.known, allowed) and not is_device_or_temporary(effect):
        option = f"--allow-outside {shlex.quote(effect.known)}"
        allow = f"if they may do so, give {option}, otherwise " if effect.known != "/" else ""
        raise UsageError(
            f"{script.name}, {printable(what)}: the program works in {printable(effect.path)}, "
            f"where runs might change your own files: {printable(allow)}"
            'let it work where it is submitted from (cd "$SLURM_SUBMIT_DIR")'
        )


def shared_places(script: JobScript, launch: LaunchLine, effects: Effects) -> Iterator[str]:
    """Yield a warning if the program works in a directory of the job, shared by many runs."""
    entered = effects.places.get(launch.start, "") if launch.start in effects.unclear else ""
    named = [one.path for one in _given_in_launch(launch, effects) if one.path != one.known]
    temporary = "$TMPDIR" if launch.start in effects.temporary else ""
    place = next((path for path in (*named, entered) if _JOB in path), temporary)
    if place:
        yield (
            f"{script.name}: the program works in {printable(place)}, which all runs of an "
            "allocation share, with what earlier runs left there: remove that at the end of the "
            "script, or give --job-per-run"
        )


def works_on_tier(script: JobScript, launch: LaunchLine, variable: str) -> bool:
    """Return whether the program of a script with own tier lines works in the tier's directory.

    Otherwise it works in the directory from which the job is submitted.

    Args:
        script: Script of the user.
        launch: Launch line to tune.
        variable: Variable with the tier's directory.
    """
    move = move_before(script.moves, launch.start)
    target_kind = (
        target_of_move(move, Path("/"), os.environ, [variable])[0] if move else MoveTarget.HERE
    )
    return bool(
        move and (target_kind is MoveTarget.UNKNOWN or move.target.startswith(f"${{{variable}}}"))
    )


def where_unclear(
    script: JobScript, here: Path, ours: Collection[str], allowed: Collection[Path] = ()
) -> Iterator[str]:
    """Yield a warning for each command that changes, or may change, to a shared directory.

    Directories that the user allows runs to change, and those for temporary files, need none.
    """
    away = moves_to(script.moves, MoveTarget.ELSEWHERE, here, os.environ, ours)
    unknown = moves_to(
        [move for move in script.moves if _reaches_a_launch(script, move)],
        MoveTarget.UNKNOWN,
        here,
        os.environ,
        ours,
    )
    for moves, why in (
        (away, "leads to another directory"),
        (unknown, "may lead to another directory"),
    ):
        told = [move for move in moves if not (is_temporary(move) or _is_allowed(move, allowed))]
        commands = [f"`{printable(move.text)}` (line {move.line})" for move in told][:_MOST_TOLD]
        if commands:
            yield (
                f"{script.name}: {', '.join(commands)} {why}: what the script changes there is "
                "refused in runs, unless --allow-outside names it"
            )


def _is_allowed(move: Move, allowed: Collection[Path]) -> bool:
    known = known_directory(move, os.environ)
    return bool(known) and is_allowed(known, allowed)


def _reaches_a_launch(script: JobScript, move: Move) -> bool:
    return any(move.start < launch.start < move.until for launch in script.launches)


def _elsewhere(script: JobScript, what: str, path: Path) -> UsageError:
    """Return the error for a script that works in another directory."""
    remedy = (
        f"run this command there (cd {shlex.quote(str(path))})"
        if (path := Path(os.path.normpath(path))).is_dir()
        else 'let it work where it is submitted from (cd "$SLURM_SUBMIT_DIR")'
    )
    return UsageError(
        f"{script.name}, {printable(what)}: the program works in {printable(str(path))}, where "
        f"runs would change your own files: {printable(remedy)}"
    )
