# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds effects of a script or command on files outside of the runs' copies.

They are checked before the first run.  The guard handles what only a run can show.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.jobs import JobScript
from stripewise.run.shell import (
    MAKES,
    Effect,
    Effects,
    Surroundings,
    effects_of_words,
    is_remote,
    is_remote_within,
)
from stripewise.study.plan._options import StudyOptions

_NOBODYS = ("/dev", "/proc", "/sys")
_MOST_SHOWN = 60
_MOST_TOLD = 3


@dataclass(frozen=True)
class OutsideUse:
    """Effect of a line on a file or directory outside of the runs' copies.

    Attributes:
        line: Line of the script, from 1.
        script: Script that contains the line; empty for the command itself.
        command: Command as written.
        verb: "writes", "moves", "removes", ...
        path: Path of the file or directory.
        allowed: Whether --allow-outside permits it.
    """

    line: int
    script: str
    command: str
    verb: str
    path: str
    allowed: bool


@dataclass(frozen=True)
class Outside:
    """Effects of shell lines outside of the runs' copies.

    Attributes:
        uses: All known effects.
        remedy: Directories and files that would have to be allowed.
        warnings: What is unknown, and what the guard does not cover.
    """

    uses: tuple[OutsideUse, ...] = ()
    remedy: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def check(self, name: str) -> None:
        """Refuse effects that the user has not allowed.

        Args:
            name: Name of the script or command.

        Raises:
            UsageError: There are such effects; the message lists them and the remedy.
        """
        refused = [use for use in self.uses if not use.allowed]
        if refused:
            raise UsageError(
                f"{printable(name)}: each run would change your own files: "
                f"{'; '.join(map(use_text, refused))}: if runs may do so, give "
                f"{self.remedy_text}, otherwise take the commands out"
            )

    @property
    def remedy_text(self) -> str:
        """Command-line options that would allow all effects."""
        return " ".join(f"--allow-outside {shlex.quote(path)}" for path in self.remedy)

    @property
    def messages(self) -> tuple[str, ...]:
        """Messages for the start of a study: allowed effects and warnings."""
        allowed = [use_text(use) for use in self.uses if use.allowed]
        text = f"each run changes your own files, as allowed: {'; '.join(allowed)}"
        return (*([text] if allowed else []), *self.warnings)


def use_text(use: OutsideUse) -> str:
    """Return one line that describes an effect."""
    where = f"line {use.line}" if not use.script else f"{printable(use.script)}, line {use.line}"
    return f"{where} (`{_short(use.command)}`) {use.verb} {printable(use.path)}"


def outside_of_script(
    script: JobScript, options: StudyOptions, ours: Collection[str]
) -> tuple[Outside, Effects]:
    """Return the effects of a job script outside of the runs' copies.

    Args:
        script: Script of the user.
        options: Options of the study.
        ours: Variables with directories of which each run has its own.
    """
    here = options.origin.absolute()
    around = Surroundings(here, os.environ, frozenset(ours), options.command[1:])
    effects = script.effects(around)
    return _judged(effects, options, script.name), effects


def outside_of_command(options: StudyOptions, command: Sequence[str]) -> Outside:
    """Return the effects of a command outside of the runs' copies: a script, `bash -c`, `cp`..."""
    around = Surroundings(options.origin.absolute(), os.environ, is_job=False)
    return _judged(effects_of_words(command, around), options, "the command")


def checked_command(options: StudyOptions) -> Outside:
    """Return the effects of the command outside of the runs' copies, after checking them.

    Raises:
        UsageError: Some effects are not allowed; the message lists them and the remedy.
    """
    outside = outside_of_command(options, options.command)
    outside.check(shlex.join(options.command))
    return outside


def check_commands(options: StudyOptions) -> None:
    """Refuse commands that would change files of the user that runs must not change.

    Raises:
        UsageError: There is such a command; the message has the remedy.
    """
    if options.job is None:
        for case in options.all_cases:
            if case.command:
                outside_of_command(options, case.command).check(shlex.join(case.command))


def _judged(effects: Effects, options: StudyOptions, name: str) -> Outside:
    outer = [one for one in effects.outer if not (is_device_or_temporary(one) or _is_mail(one))]
    uses = tuple(
        OutsideUse(e.line, e.script, e.text, e.verb, e.path, _is_allowed(e.known, options))
        for e in outer
    )
    open_ones = [e for e, use in zip(outer, uses, strict=True) if not use.allowed]
    return Outside(uses, _remedy(open_ones), tuple(_warnings(effects, name)))


def _is_allowed(known: str, options: StudyOptions) -> bool:
    if is_remote(known):
        return any(is_remote_within(known, top) for top in options.allowed_remotes)
    return is_allowed(known, options.allowed_outside)


def is_allowed(path: str, allowed: Iterable[Path]) -> bool:
    """Return whether a path is one of the allowed paths or below one."""
    names = {os.path.normpath(path), os.path.realpath(path)} if path.startswith("/") else {path}
    return any(
        Path(name).is_relative_to(top)
        for name in names
        for top in (*allowed, *(Path(os.path.realpath(each)) for each in allowed))
    )


def is_device_or_temporary(effect: Effect) -> bool:
    """Return whether a path is a device, or a temporary file that does not exist yet."""
    path = effect.known
    if any(Path(path).is_relative_to(top) for top in _NOBODYS):
        return True
    for top in {"/tmp", "/var/tmp", tempfile.gettempdir()}:
        if Path(path).is_relative_to(top):
            is_new = effect.verb == MAKES or not os.path.lexists(path)
            above = os.path.dirname(os.path.normpath(path))
            is_in_nobodys = effect.verb == MAKES or above == top or not os.path.lexists(above)
            return path.rstrip("/") == top or (is_new and is_in_nobodys)
    return False


def _remedy(effects: Sequence[Effect]) -> tuple[str, ...]:
    """Return the fewest directories and files that contain everything that is changed."""
    found = {_directory(effect) for effect in effects}
    return tuple(
        sorted(
            path
            for path in found
            if not any(path != top and _is_within(path, top) for top in found)
        )
    )


def _is_within(path: str, top: str) -> bool:
    if is_remote(top):
        return is_remote(path) and is_remote_within(path, top)
    return Path(path).is_relative_to(top)


def _directory(effect: Effect) -> str:
    """Return the directory to allow for an effect, or its path if the directory is too large.

    A location on another host is returned unchanged; a path with a colon is replaced by a parent.
    """
    if is_remote(effect.known):
        return effect.known
    path = os.path.normpath(effect.known)
    if ":" in path:  # the separator of the directories that a run gets
        return path.partition(":")[0].rpartition("/")[0] or "/"
    above = os.path.dirname(path)
    too_large = above.count("/") < 2 or above == os.path.expanduser("~")
    if effect.known.endswith("/") or effect.path != effect.known or os.path.isdir(path):
        return path
    return path if too_large or not path.startswith("/") else above


def _warnings(effects: Effects, name: str) -> Iterator[str]:
    if effects.unknown:
        unknown = ", ".join(_effect_text(effect) for effect in effects.unknown[:_MOST_TOLD])
        more = f" and {len(effects.unknown) - _MOST_TOLD} more"
        yield (
            f"{name}: where {unknown}{more if len(effects.unknown) > _MOST_TOLD else ''} leads is "
            "known only during a run: a run may not change anything outside of its copy unless "
            "--allow-outside names it"
        )
    for effect in filter(_is_mail, effects.outer):
        yield f"{name}: {_effect_text(effect)} sends mail in each run"
    for effect in effects.unguarded:
        yield (
            f"{name}: {_effect_text(effect)}: {effect.verb}, and nothing prevents it from "
            "changing your own files"
        )


def _is_mail(effect: Effect) -> bool:
    return effect.known.startswith("mailto:")


def _effect_text(effect: Effect) -> str:
    where = f"{printable(effect.script)}, " if effect.script else ""
    return f"`{_short(effect.text)}` ({where}line {effect.line})"


def _short(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 3]}..."
