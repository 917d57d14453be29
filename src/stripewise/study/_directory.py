# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The study's directory: made, locked, begun anew or gone on with."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from stripewise.errors import StorageError, StripewiseError, StudyError, UsageError
from stripewise.launch import sweep
from stripewise.model import RunRole
from stripewise.study._journal import Record, parse
from stripewise.study._options import BUDGETS, StudyOptions
from stripewise.study._snapshot import STUDY_SUFFIX

JOURNAL = "journal.jsonl"
LOCK = "lock"
_PID = "lock.pid"
_SET_ASIDE = re.compile(rf"\.[0-9]+{re.escape(STUDY_SUFFIX)}$")


@contextmanager
def claim(options: StudyOptions) -> Iterator[Path]:
    """Lock the study's directory for this process.

    Raises:
        StudyError: It is in use, holds a study already, or is not ours.
        StorageError: It cannot be made.
    """
    directory = find_unfinished(options) if options.resume else options.study_directory
    if options.resume and not (directory / JOURNAL).is_file():
        raise StudyError(f"{directory} holds no study to go on with; leave --resume out")
    if options.force and (directory / JOURNAL).exists():
        with _locked(directory):
            _set_aside(directory)
    is_new = not directory.exists()
    _make(directory)
    try:
        with _locked(directory):
            if not options.resume:
                _refuse_existing(directory)
            yield directory
    except StripewiseError:
        if is_new and not _is_worth_keeping(directory):
            shutil.rmtree(directory, ignore_errors=True)
        raise


def find_unfinished(options: StudyOptions) -> Path:
    """Return the directory to go on in: the given one, or the only unfinished one.

    Raises:
        UsageError: There is none, or more than one.
    """
    if options.command or options.directory is not None:
        return options.study_directory
    found = sorted(p.parent for p in options.origin.glob(f"*{STUDY_SUFFIX}/{JOURNAL}"))
    unfinished = [p for p in found if not _SET_ASIDE.search(p.name) and not _is_complete(p)]
    if len(unfinished) == 1:
        return unfinished[0]
    if len(found) == 1 and any(getattr(options, name) is not None for name in BUDGETS):
        return found[0]
    if not unfinished:
        ended = ", ".join(path.name for path in found)
        raise UsageError(
            f"there is no unfinished study in {options.origin}; give --study-dir"
            + (f" to see a finished one again ({ended})" if ended else "")
        )
    names = ", ".join(path.name for path in unfinished)
    raise UsageError(f"several studies are unfinished ({names}); say which with --study-dir")


def _is_worth_keeping(directory: Path) -> bool:
    """Whether a study that failed holds a good run, or what a bad one said."""
    if not (directory / JOURNAL).is_file():  # the disk is full, say
        return False
    records, _ = parse((directory / JOURNAL).read_bytes(), directory / JOURNAL)
    good = any(r["kind"] == "run-finished" and r["measurement"]["status"] == "ok" for r in records)
    said = (*directory.glob("runs/*/std*"), *directory.glob("cases/*/runs/*/std*"))
    return good or any(path.stat().st_size for path in said)


def _is_complete(directory: Path) -> bool:
    records, _ = parse((directory / JOURNAL).read_bytes(), directory / JOURNAL)
    return _has_ended(records)


def _has_ended(records: Sequence[Record]) -> bool:
    """Whether the study has ended and was not given a larger budget since."""
    marks = [record["kind"] for record in records if record["kind"] in ("end", "extended")]
    return marks[-1:] == ["end"]


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"cannot make {directory}: {error.strerror}; give --study-dir"
        ) from error
    foreign = [path for path in directory.iterdir() if path.name not in (LOCK, _PID)]
    if foreign and not (directory / JOURNAL).exists():
        raise StudyError(
            f"{directory} exists and is not a study ({foreign[0].name} lies in it); "
            "give another --study-dir"
        )


def _refuse_existing(directory: Path) -> None:
    path = directory / JOURNAL
    records = parse(path.read_bytes(), path)[0] if path.exists() else []
    roles = {r["run_id"]: r["role"] for r in records if r["kind"] == "run-planned"}
    finished = [roles[r["run_id"]] for r in records if r["kind"] == "run-finished"]
    if all(role == RunRole.WARM_UP.value for role in finished):
        _clear(directory)
        return
    if _has_ended(records):
        raise StudyError(
            f"{directory} holds a finished study; --force sets it aside and begins anew, "
            "--resume shows its result again"
        )
    raise StudyError(
        f"{directory} holds an unfinished study; go on with --resume, or begin anew with --force"
    )


def _clear(directory: Path) -> None:
    """Remove what an attempt left that did not come past its warm-up."""
    for records in (directory / "runs", *directory.glob("cases/*/runs")):
        sweep(records)
    for name in ("work", "runs", "inputs", "cases"):
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in ("inputs.json", JOURNAL):
        (directory / name).unlink(missing_ok=True)


def _set_aside(directory: Path) -> None:
    number = 1
    while (aside := directory.with_name(f"{directory.stem}.{number}{directory.suffix}")).exists():
        number += 1
    try:
        directory.rename(aside)
    except OSError as error:
        raise StorageError(f"cannot rename {directory}: {error.strerror}") from error


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    lock = FileLock(directory / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StudyError(
            f"{directory} is in use by pid {_owner(directory)}; wait for it, or give another "
            "--study-dir"
        ) from None
    except OSError as error:
        raise StorageError(f"cannot lock {directory}: {error.strerror}") from error
    try:
        _sign(directory)
        yield
    finally:
        lock.release()


def _sign(directory: Path) -> None:
    """Leave our pid for those who find the directory in use."""
    try:
        (directory / _PID).write_text(f"{os.getpid()}\n", encoding="ascii")
    except OSError as error:
        raise StorageError(
            f"cannot write in {directory}: {error.strerror}; make room, or give --study-dir"
        ) from error


def _owner(directory: Path) -> str:
    try:
        return (directory / _PID).read_text(encoding="ascii").strip() or "unknown"
    except OSError:
        return "unknown"
