# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The study's directory: made, locked, begun anew or gone on with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from stripewise.errors import StorageError, StripewiseError, StudyError, UsageError
from stripewise.launch import sweep
from stripewise.model import RunRole
from stripewise.owned import MARK, OwnedDirectory, Record
from stripewise.study._journal import parse_journal
from stripewise.study._options import BUDGETS, StudyOptions
from stripewise.workspace import STUDY_SUFFIX

JOURNAL = "journal.jsonl"
_SET_ASIDE = re.compile(rf"\.[0-9]+{re.escape(STUDY_SUFFIX)}$")


@contextmanager
def claim(options: StudyOptions) -> Iterator[OwnedDirectory]:
    """Lock the study's directory for this process.

    Raises:
        StudyError: It is in use, holds a study already, is not ours, or another user's.
        StorageError: It cannot be made.
    """
    path = find_unfinished(options) if options.resume else options.study_directory
    if options.resume and not (path / JOURNAL).is_file():
        raise StudyError(f"{path} holds no study to go on with; leave --resume out")
    if options.force and (path / JOURNAL).exists():
        _set_aside(path)
    is_new = not os.path.lexists(path)
    directory = OwnedDirectory.take(path, "study")
    try:
        with directory.locked():
            if not options.resume:
                _refuse_existing(directory)
            yield directory
    except StripewiseError:
        if is_new and not _is_worth_keeping(directory):
            with suppress(StripewiseError):
                directory.discard()
        raise


def find_unfinished(options: StudyOptions) -> Path:
    """Return the directory to go on in: the given one, or the only unfinished one.

    Raises:
        UsageError: There is none, or more than one.
    """
    if options.command or options.directory is not None:
        return options.study_directory
    found, refused = _found_in(options.origin)
    unfinished = [p for p in found if not _SET_ASIDE.search(p.name) and not _is_complete(p)]
    if len(unfinished) == 1:
        return unfinished[0]
    if len(found) == 1 and any(getattr(options, name) is not None for name in BUDGETS):
        return found[0]
    if not unfinished and refused:
        raise refused[0]
    if not unfinished:
        ended = ", ".join(path.name for path in found)
        raise UsageError(
            f"there is no unfinished study in {options.origin}; give --study-dir"
            + (f" to see a finished one again ({ended})" if ended else "")
        )
    names = ", ".join(path.name for path in unfinished)
    raise UsageError(f"several studies are unfinished ({names}); say which with --study-dir")


def _found_in(origin: Path) -> tuple[list[Path], list[StudyError]]:
    """Return the user's studies in a directory, and why others there are not believed."""
    found: list[Path] = []
    refused: list[StudyError] = []
    for journal in sorted(origin.glob(f"*{STUDY_SUFFIX}/{JOURNAL}")):
        try:
            OwnedDirectory.find(journal.parent, "study")
            found.append(journal.parent)
        except StudyError as error:
            refused.append(error)
    return found, refused


def _records(directory: OwnedDirectory) -> list[Record]:
    """Return what the journal holds; nothing where there is none, or the disk is full."""
    return parse_journal(directory.read(JOURNAL) or b"", directory.path / JOURNAL)[0]


def _is_worth_keeping(directory: OwnedDirectory) -> bool:
    """Whether a study that failed holds a good run, or what a bad one said."""
    good = any(
        record["kind"] == "run-finished" and record["measurement"].get("status") == "ok"
        for record in _records(directory)
    )
    path = directory.path
    said = (*path.glob("runs/*/std*"), *path.glob("cases/*/runs/*/std*"))
    return good or any(path.stat().st_size for path in said)


def _is_complete(path: Path) -> bool:
    return _has_ended(_records(OwnedDirectory.find(path, "study")))


def _has_ended(records: Sequence[Record]) -> bool:
    """Whether the study has ended and was not given a larger budget since."""
    marks = [record["kind"] for record in records if record["kind"] in ("end", "extended")]
    return marks[-1:] == ["end"]


def _refuse_existing(directory: OwnedDirectory) -> None:
    records = _records(directory)
    roles = {r["run_id"]: r["role"] for r in records if r["kind"] == "run-planned"}
    finished = [roles.get(r["run_id"]) for r in records if r["kind"] == "run-finished"]
    if all(role == RunRole.WARM_UP.value for role in finished):
        _clear(directory)
        return
    if _has_ended(records):
        raise StudyError(
            f"{directory.path} holds a finished study; --force sets it aside and begins anew, "
            "--resume shows its result again"
        )
    raise StudyError(
        f"{directory.path} holds an unfinished study; go on with --resume, or begin anew with "
        "--force"
    )


def _clear(directory: OwnedDirectory) -> None:
    """Remove what an attempt left that did not come past its warm-up."""
    cases = directory.inside("cases")
    for part in (directory, *(cases.inside(name) for name in cases.names())):
        if "runs" in part.names():
            sweep(part.path / "runs")
    for name in ("work", "runs", "inputs", "cases", "inputs.json", JOURNAL):
        directory.remove(name)


def _set_aside(path: Path) -> None:
    """Rename an earlier study, of whatever version, when nobody works on it."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    try:
        with _unused(path):
            path.rename(aside)
    except OSError as error:
        raise StorageError(f"cannot rename {path}: {error.strerror}") from error


def _unused(path: Path) -> AbstractContextManager[None]:
    """Lock an earlier study of the user's; one of another version has no mark."""
    if os.lstat(path).st_uid == os.geteuid() and not (path / MARK).exists():
        return nullcontext()
    return OwnedDirectory.find(path, "study").locked()
