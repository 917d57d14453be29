# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where a job script works: runs of a study must not leave their copies of its directory."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.jobs import (
    WORKS_IN,
    Effect,
    Effects,
    JobScript,
    LaunchLine,
    Lead,
    Move,
    lead_of,
    move_before,
    moves_to,
)
from stripewise.study._outside import is_allowed, is_nobodys
from stripewise.text import printable

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
            f"{script.name}: the program works in {printable(place)}, which the runs of an "
            "allocation share, with what those before them left there: remove it at the end of "
            "the script, or give --job-per-run"
        )


def works_on_tier(script: JobScript, launch: LaunchLine, variable: str) -> bool:
    """Whether the program of a script with lines of its own works in the tier's directory.

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
    for moves, why in ((away, "leads to another directory"), (unknown, "is not known to stay")):
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
