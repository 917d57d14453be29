# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Claims the directory of a study and reads its journal, for a new or a resumed study."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from stripewise import core as owned
from stripewise.core import (
    MARK,
    JournalForm,
    OwnedDirectory,
    Proposal,
    Record,
    RunRole,
    check_json,
)
from stripewise.core.errors import StorageError, StripewiseError, StudyError, UsageError
from stripewise.run.launch import sweep
from stripewise.study.plan._options import BUDGETS, StudyOptions
from stripewise.study.workspace import STUDY_SUFFIX

JOURNAL = "journal.jsonl"
_SET_ASIDE = re.compile(rf"\.[0-9]+{re.escape(STUDY_SUFFIX)}$")


@contextmanager
def claim(options: StudyOptions) -> Iterator[OwnedDirectory]:
    """Lock the study's directory for this process.

    Raises:
        StudyError: The directory is in use, contains a study, is not ours, or is another user's.
        StorageError: The directory cannot be created.
    """
    path = find_unfinished(options) if options.resume else options.study_directory
    if options.resume and not (path / JOURNAL).is_file():
        raise StudyError(f"{path} holds no study to continue; leave --resume out")
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
    """Return the directory of the study to resume: the given one, or the only unfinished one.

    Raises:
        UsageError: There is no unfinished study, or more than one.
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
    """Return the user's studies in a directory, and the errors of unreadable ones."""
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
    """Return the records of the journal; empty if there is none or the disk is full."""
    return parse_journal(directory.read(JOURNAL) or b"", directory.path / JOURNAL)[0]


def _is_worth_keeping(directory: OwnedDirectory) -> bool:
    """Return whether a failed study contains a good run, or the output of a bad one."""
    good = any(
        record["kind"] == "run-finished" and record["measurement"].get("status") == "ok"
        for record in _records(directory)
    )
    path = directory.path
    outputs = (*path.glob("runs/*/std*"), *path.glob("cases/*/runs/*/std*"))
    return good or any(path.stat().st_size for path in outputs)


def _is_complete(path: Path) -> bool:
    return _has_ended(_records(OwnedDirectory.find(path, "study")))


def _has_ended(records: Sequence[Record]) -> bool:
    """Return whether the study has ended and its budget was not extended since."""
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
            f"{directory.path} holds a finished study; --force sets it aside and starts over, "
            "--resume shows its result again"
        )
    raise StudyError(
        f"{directory.path} holds an unfinished study; continue with --resume, or start over with "
        "--force"
    )


def _clear(directory: OwnedDirectory) -> None:
    """Remove the files of an attempt that did not get beyond its warm-up."""
    cases = directory.inside("cases")
    for part in (directory, *(cases.inside(name) for name in cases.names())):
        if "runs" in part.names():
            sweep(part.path / "runs")
    for name in ("work", "runs", "inputs", "cases", "inputs.json", JOURNAL):
        directory.remove(name)


def _set_aside(path: Path) -> None:
    """Rename an earlier study of any version unless it is in use."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    try:
        with _unused(path):
            path.rename(aside)
    except OSError as error:
        raise StorageError(f"cannot rename {path}: {error.strerror}") from error


def _unused(path: Path) -> AbstractContextManager[None]:
    """Lock an earlier study of the user; one of another version has no mark."""
    if os.lstat(path).st_uid == os.geteuid() and not (path / MARK).exists():
        return nullcontext()
    return OwnedDirectory.find(path, "study").locked()


# The journal of a study: contents of its records.

VERSION = 2
"""Version of the records; a study with another version cannot be resumed."""
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "study": {"options": dict, "provenance": dict},
    "resumed": {"note": str},
    "run-planned": {"run_id": str, "slot": str, "role": str, "settings": dict, "case": str},
    "run-submitted": {"run_id": str, "handle": dict},
    "run-finished": {"run_id": str, "measurement": dict},
    "run-dropped": {"run_id": str},
    "value": {"name": str},
    "decision": {"name": str, "text": str},
    "warning": {"text": str},
    "extended": {"budgets": dict},
    "end": {"stopped_because": str},
}
"""Kind of a record to its required contents."""
_VALUES: dict[str, Any] = {
    "case-noise": float,
    "final-noise": float,
    "first-look": dict[str, Any],
    "noise": float,
    "pair-noise": tuple[tuple[float, ...], ...],
    "proposal": Proposal,
    "proven": int,
    "search-stopped": str,
    "told": int,
    "verification": dict[str, Any],
}
"""First part of a recorded value's name to its type; other values may have any type."""
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, AssertionError)
"""Errors caused by data that was edited by hand or damaged."""
FORM = JournalForm("study", VERSION, _FIELDS)


class Journal(owned.Journal):
    """Journal of a study; see `owned.Journal`."""

    def __init__(self, path: Path) -> None:
        """Open or create a journal; see `owned.Journal`."""
        super().__init__(path, FORM)


def parse_journal(content: bytes, path: Path) -> tuple[list[Record], int, int]:
    """Read a study's journal; see `owned.parse_journal`."""
    return owned.parse_journal(content, path, FORM)


def described(error: BaseException) -> str:
    """Return an error in a few words."""
    text = str(error) if isinstance(error, ValueError) else repr(error)
    return " ".join(text.split())[:200]


def need(condition: bool, what: str) -> None:
    """Refuse data that violates a condition.

    Raises:
        ValueError: The condition is false; the message says what is wrong.
    """
    if not condition:
        raise ValueError(what)


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a recorded value whose type does not match its name.

    Raises:
        ValueError: The type does not match.
    """
    if record["kind"] != "value":
        return
    name, value = record["name"], record["value"]
    check_json(_VALUES.get(name.rpartition(":")[2].partition("/")[0], Any), value, name)
