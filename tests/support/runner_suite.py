# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every runner of campaigns must do; subclass it, and say which one and what it prints.

class TestMine(RunnerSuite):
    runner_name = "mine"
    case = Case("mine", runner="mine", local="1024")
    stdout = "what the program prints after that case"
    record = {"mine.json": "what it writes"}
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from random import Random

import pytest

from stripewise.bench import Case, RunFigure
from stripewise.bench.runners import Printed, Runner, find_runner, runner_names
from stripewise.core.errors import UsageError
from stripewise.storage.stacks import find_stack

OPERATIONS = frozenset(
    {"write", "read", "create", "stat", "read-file", "remove"}
    | {"create-directory", "stat-directory", "remove-directory"}
)
_MUTATIONS = 400


def odd_cases(case: Case) -> Iterable[Case]:
    """Return variants of a case, of which a runner need not be able to make any."""
    for operation in ("write", "write-read", "metadata"):
        yield replace(case, operation=operation)
    for backend in ("posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2", "punchcards"):
        for layout in ("shared", "per-process", "per-node"):
            for mode in ("independent", "collective", "serial"):
                yield replace(case, backend=backend, layout=layout, mode=mode)
    for cache in ("shift", "drop", "direct", "none"):
        yield replace(case, operation="write-read", cache=cache)
    for pattern in ("blocks", "array3d", "flash", "no-such-pattern"):
        yield replace(case, pattern=pattern)
    for local in ("", "1", "7,7", "128,128,128", "0"):
        yield replace(case, local=local)
    yield replace(case, local="", size="1000")
    yield replace(case, transfer_bytes=1)
    yield replace(case, stonewall_seconds=0.1, steps=7)
    yield replace(case, files=0, depth=3, width=0)
    yield replace(case, nodes=3, ranks_per_node=5)


class RunnerSuite:
    """Conformance suite; set `runner_name`, `case`, `stdout` and `record`, or override `make`.

    Attributes:
        runner_name: As suites have it.
        case: One that the runner can make.
        stdout: What its program prints after that case.
        record: Name of a file that it leaves in the record's directory -> its text.
        variable: Environment variable with which its program is found; "": it comes along.
    """

    runner_name: str
    case: Case
    stdout: str = ""
    record: Mapping[str, str] = {}
    variable: str = ""

    def make(self) -> Runner:
        """Return the runner."""
        return find_runner(self.runner_name)

    def printed(self, folder: Path, stdout: str, record: Mapping[str, str]) -> Printed:
        """Return what the runner reads from this."""
        folder.mkdir(exist_ok=True)
        for name, text in record.items():
            (folder / name).write_text(text, encoding="utf-8")
        return self.make().printed(self.case, folder, stdout)

    def test_is_found_by_its_name(self) -> None:
        """Suites name it."""
        assert self.runner_name in runner_names()
        assert self.make().name == self.runner_name

    def test_says_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In one line with the remedy, and a program that is not there is missed."""
        assert "\n" not in self.make().missing()
        if self.variable:
            monkeypatch.setenv(self.variable, "/no/such/program")
            assert self.variable in self.make().missing()
            with pytest.raises(UsageError):
                self.make().command(self.case, Path("/d"), Path("/r"))

    def test_takes_its_case_and_refuses_others_in_a_line(self) -> None:
        """No case makes it fail; a reason is one line."""
        assert self.make().why_not(self.case) == ""
        for case in odd_cases(self.case):
            assert "\n" not in self.make().why_not(case), case

    def test_its_workload_is_known_for_what_it_takes(self) -> None:
        """Whatever passes `why_not` can be planned: its bytes and its stack are known."""
        for case in (self.case, *odd_cases(self.case)):
            if self.make().why_not(case):
                continue
            work = self.make().workload(case)
            assert (work is None) == (case.operation == "metadata"), case
            if work is not None:
                assert work.bytes > 0
                assert (work.nodes, work.ranks_per_node) == (case.nodes, case.ranks_per_node)
                assert find_stack(self.make().stack(case, "romio"))

    def test_its_command_only_names_things(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The directory of the data is in it, and asking for it leaves nothing behind."""
        if self.variable:
            program = tmp_path / "program"
            program.write_text("#!/bin/sh\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            monkeypatch.setenv(self.variable, str(program))
        elif self.make().missing():
            pytest.skip(self.make().missing())
        directory, record = tmp_path / "data here", tmp_path / "record"
        directory.mkdir()
        record.mkdir()
        words = self.make().command(self.case, directory, record)
        assert all(isinstance(word, str) and "\0" not in word for word in words)
        assert any(word.startswith(str(directory)) for word in words)
        assert not list(directory.iterdir())
        assert not list(record.iterdir())

    def test_reads_what_its_program_leaves(self, tmp_path: Path) -> None:
        """Amounts, times and phases are those of its operations."""
        found = self.printed(tmp_path / "r", self.stdout, self.record)
        assert found.samples
        for sample in found.samples:
            assert sample.operation in OPERATIONS
            assert sample.amount > 0
            assert isfinite(sample.rate)
            assert all(seconds >= 0 for seconds in sample.phases.values())
        assert all(note.endswith(".") and "\n" not in note for note in found.notes)
        work = self.make().workload(self.case)
        if work is not None and not self.case.stonewall_seconds:
            for sample in found.samples:
                assert sample.amount == pytest.approx(work.bytes)

    def test_nothing_left_is_said_in_a_line(self, tmp_path: Path) -> None:
        """A program that printed nothing has no figures."""
        with pytest.raises(UsageError) as caught:
            self.printed(tmp_path / "r", "", {})
        assert "\n" not in str(caught.value)

    def test_broken_output_is_read_or_refused(self, tmp_path: Path) -> None:
        """Whatever is cut or changed: figures, or one line."""
        random = Random(1)
        for _ in range(_MUTATIONS):
            record = {name: _broken(random, text) for name, text in self.record.items()}
            message = ""
            samples: tuple[RunFigure, ...] = ()
            try:
                samples = self.printed(
                    tmp_path / "r", _broken(random, self.stdout), record
                ).samples
            except UsageError as error:
                message = str(error)
            assert message or samples
            assert "\n" not in message
            assert all(isfinite(sample.rate) for sample in samples)


def _broken(random: Random, text: str) -> str:
    """Return a text that is cut, or in which a part is missing, doubled or replaced."""
    first, last = sorted(random.randrange(len(text) + 1) for _ in range(2))
    last = min(last, first + 40)
    return random.choice(
        [
            text,
            text[:first],
            text[:first] + text[last:],
            text[:last] + text[first:],
            text[:first] + random.choice(["-1", "0", "1e999", "NaN", "null", "[]"]) + text[last:],
        ]
    )
