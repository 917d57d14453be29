# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that kill, hang or fail their readers: refused alone, or left for the next time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.ingest import _ingest as module
from stripewise.centre.database.ingest import _work
from stripewise.centre.database.ingest._inputs import PassedOver, walk
from stripewise.centre.database.tables import Ledger
from support import fleet_inputs as inputs
from support.fleet_inputs import take


def test_an_input_that_kills_its_reader_is_refused_alone(
    base: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deadly(module.Read):
        def __reduce__(self) -> object:
            return os.abort, ()

    def read(one: object, *rest: object) -> module.Read:
        kind = Deadly if one.path.name.startswith("3.") else real  # type: ignore[attr-defined]
        return kind(one, *rest)  # type: ignore[arg-type]

    real = module.Read
    monkeypatch.setattr(module, "Read", read)
    for number in range(6):
        inputs.write_report(tmp_path / "spool", number)
    tally = take(base, tmp_path / "spool")
    assert tally.stored == {"report": 5}
    ((name, reason),) = tally.reasons
    assert name.endswith("/3.report.json")
    assert "SIGABRT" in reason
    assert take(base, tmp_path / "spool").unchanged == 6


def test_a_reader_that_is_killed_within_its_answer_is_tried_again(
    base: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = r"b'\0\0\1\0part'"  # of 256 bytes
    end = f"__import__('os').write(f.f_locals['pipe'].fileno(), {part}), __import__('os')._exit(9)"

    class Cut(module.Read):
        def __reduce__(self) -> object:
            return eval, (f"(lambda f: ({end}))(__import__('sys')._getframe(2))",)

    monkeypatch.setattr(module, "Read", Cut)
    inputs.write_report(tmp_path / "spool")
    ((_, reason),) = take(base, tmp_path / "spool").reasons
    assert "ended with exit code 9" in reason


def test_inputs_that_may_not_be_read_have_one_reason(
    base: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(_work, "open_input", denied)
    for number in range(2):
        inputs.write_report(tmp_path / "spool", number)
    (one, other) = walk([tmp_path / "spool"], PassedOver())
    expected = _work.Later("cannot be read: Permission denied")
    assert _work.work(_work.Look(one)) == _work.work(_work.Look(other)) == expected


def test_an_input_that_changed_under_its_reader_is_not_refused(tmp_path: Path) -> None:
    path = inputs.write_report(tmp_path / "spool")
    (one,) = walk([tmp_path / "spool"], PassedOver())
    path.write_text("{")
    answer = _work.work(_work.Read(one, "report", "d"))
    assert answer == _work.Later("it changed while it was read")
    path.unlink()
    answer = _work.work(_work.Read(one, "report", "d"))
    assert answer == _work.Later("cannot be read: No such file or directory")


@pytest.mark.extended
def test_an_input_that_hangs_is_refused_alone(
    base: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs.write_report(tmp_path / "first", 9)
    take(base, tmp_path / "first")  # the server of the readers imports for seconds

    class Slow(module.Read):
        def __reduce__(self) -> object:
            return time.sleep, (600,)

    def read(one: object, *rest: object) -> module.Read:
        kind = Slow if one.path.name.startswith("1.") else real  # type: ignore[attr-defined]
        return kind(one, *rest)  # type: ignore[arg-type]

    real = module.Read
    monkeypatch.setattr(module, "Read", read)
    for number in range(3):
        inputs.write_report(tmp_path / "spool", number)
    tally = take(base, tmp_path / "spool", timeout_seconds=5.0)
    assert tally.stored == {"report": 2}
    ((name, reason),) = tally.reasons
    assert name == f"{tmp_path}/spool/1.report.json"
    assert reason == "it was not read within 5 s; touch it to have it read again"
    monkeypatch.setattr(module, "Read", real)
    assert take(base, tmp_path / "spool").unchanged == 3
    os.utime(tmp_path / "spool/1.report.json")
    again = take(base, tmp_path / "spool")
    assert (again.stored, again.unchanged) == ({"report": 1}, 2)
    with base.connect() as connection:
        assert set(connection.scalars(select(Ledger.outcome))) == {"stored"}
