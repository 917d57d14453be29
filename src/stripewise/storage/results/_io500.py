# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the results of IO500: `result.txt`, `result_summary.txt`, what it printed, a directory.

Source: IO500/io500 of 2019 to 2024, src/main.c (both files), phase_ior_*.c and phase_mdtest_*.c
(options of the phases). A phase's score is its bandwidth in GiB/s, or its rate in 1,000/s. The
script of 2019 and before (io-500-dev) printed the same with other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import geometric_mean

from stripewise.core.errors import UsageError
from stripewise.core.inputs import RESULTS, read_input
from stripewise.present import plural
from stripewise.storage.results._base import (
    Data,
    Found,
    Launch,
    MetadataTest,
    Reader,
    Test,
    Timed,
    nodes_of,
    possible,
)
from stripewise.storage.results._lines import (
    lines_of,
    number,
    option_size,
    options_of,
    ranks_in,
    shown,
    whole,
)

_SUMMARY = re.compile(
    r"\[(RESULT|RESULT-invalid|      )\] {1,40}([a-zA-Z0-9-]{1,40}) {1,40}(\S{1,40}) {1,9}"
    r"(GiB/s|kIOPS) {0,9}: time (\S{1,40}) seconds( \[INVALID\])?",
    re.ASCII,
)
_OF_SCRIPT = re.compile(
    r"\[(RESULT|RESULT-invalid)\] {1,9}(?:BW|IOPS) {1,9}(?:phase {1,9}\d{1,2} {1,40})?"
    r"([a-z_]{1,40}) {1,40}(\S{1,40}) {1,9}(GB/s|GiB/s|kiops) {0,9}: time {1,9}(\S{1,40}) seconds",
    re.ASCII,
)
_SECTION = re.compile(r"\[([a-zA-Z0-9-]{1,40})\]", re.ASCII)
_PAIR = re.compile(r"([a-zA-Z_-]{1,40}) {0,40}= (.{0,1500})", re.ASCII)
_VERSION = re.compile(r"IO500 version (\S{1,60})")
_PHASE = re.compile(r"(ior|mdtest)-([a-zA-Z0-9-]{1,30})-(write|read|stat|delete)", re.ASCII)
_RANDOM = re.compile(r"rnd(\d{1,6}[kKmM])", re.ASCII)
_OPERATIONS = {
    ("ior", "write"): "write", ("ior", "read"): "read", ("mdtest", "write"): "create",
    ("mdtest", "stat"): "stat", ("mdtest", "read"): "read-file", ("mdtest", "delete"): "remove",
}  # fmt: skip
_TOTALS = re.compile(
    r"\[SCORE ?\] Bandwidth (\S{1,40}) G(?:i?)B/s {0,9}: IOPS (\S{1,40}) kiops", re.ASCII
)
_COUNTED = {
    "BW": ("ior-easy-write", "ior-easy-read", "ior-hard-write", "ior-hard-read"),
    "MD": (
        *("mdtest-easy-write", "mdtest-easy-stat", "mdtest-easy-delete", "find"),
        *("mdtest-hard-write", "mdtest-hard-stat", "mdtest-hard-read", "mdtest-hard-delete"),
    ),
}
"""Phases whose geometric mean is a part of the total (src/main.c, `calc_score`)."""
_CLOSE = 0.002
_UNITS = {"ior": float(1 << 30), "mdtest": 1000.0}
_SECONDS = 300.0
"""Time after which a phase that writes is ended; documented, rules of IO500."""
_HARD_TRANSFER_BYTES = 47008
_HARD_FILE_BYTES = 3901
_FILES = ("result.txt", "result_summary.txt")


@dataclass
class _Phase:
    """One phase as it is reported."""

    name: str
    score: float | None = None
    seconds: float = 0.0
    command: str = ""
    is_valid: bool = True


@dataclass
class _Run:
    """One run of IO500, parsed line by line."""

    phases: dict[str, _Phase] = field(default_factory=dict)
    version: str = ""
    ranks: str = ""
    section: str = ""
    by_script: bool = False
    totals: dict[str, float] = field(default_factory=dict)

    def take(self, line: str) -> None:
        """Parse one line of either file; ignore it if it is not IO500's."""
        line = line.strip()
        if match := _SUMMARY.match(line) or _OF_SCRIPT.match(line):
            name = match[2].replace("_", "-")
            phase = self.phases.setdefault(name, _Phase(name))
            self.by_script = self.by_script or match[4] == "GB/s"
            phase.score, phase.seconds = number(match[3]), number(match[5]) or 0.0
            phase.is_valid = "[INVALID]" not in line and match[1] != "RESULT-invalid"
        elif match := _TOTALS.match(line):
            self.totals = {"BW": number(match[1]) or 0.0, "MD": number(match[2]) or 0.0}
        elif match := _SECTION.fullmatch(line):
            self.section = match[1]
        elif match := _VERSION.match(line):
            self.version = match[1]
        elif match := _PAIR.fullmatch(line):
            self._pair(match[1], match[2].strip())
        elif line.startswith(("; ERROR INVALID", "ERROR INVALID")) and self.section in self.phases:
            self.phases[self.section].is_valid = False

    def _pair(self, key: str, value: str) -> None:
        if self.section in ("", "run"):
            self.version = value if key == "version" else self.version
            self.ranks = value if key == "procs" else self.ranks
            return
        if self.section == "SCORE" and key in _COUNTED:
            self.totals[key] = number(value) or 0.0
        if not _PHASE.fullmatch(self.section) and self.section != "find":
            return
        phase = self.phases.setdefault(self.section, _Phase(self.section))
        if key == "score":
            phase.score = number(value)
        elif key == "t_delta":
            phase.seconds = number(value) or 0.0
        elif key == "exe":
            phase.command = value


@dataclass(frozen=True)
class Io500(Reader):
    """Reader of the results of IO500.

    Attributes:
        launch: Ranks and ranks on each node, where the results do not contain them.
    """

    launch: Launch = field(default_factory=Launch)
    name = "io500"

    def with_launch(self, launch: Launch) -> Reader:
        """Return a reader that takes these ranks if the results do not contain them."""
        return replace(self, launch=launch)

    def recognises(self, text: str, name: str) -> bool:
        """Return whether IO500 wrote it."""
        is_report = "\n[SCORE]" in text and "\nscore " in text and "-write]" in text
        has_lines = "[RESULT" in text and (_SUMMARY.search(text) or _OF_SCRIPT.search(text))
        return is_report or bool(has_lines)

    def tests(self, text: str, name: str, ranks_per_node: int) -> Found:
        """Return a test for each of IOR and mdtest, easy and hard."""
        run = _Run()
        for line in lines_of(text):
            run.take(line)
        RESULTS.check_entries(len(run.phases), name)
        notes = list(_notes(run, name))
        groups: dict[str, list[tuple[_Phase, Timed]]] = {}
        for phase in run.phases.values():
            if (timed := _timed(phase)) is not None:
                groups.setdefault(phase.name.rpartition("-")[0], []).append((phase, timed))
        if not groups:
            raise UsageError(f"{name}: IO500's results without a score above 0: check that the "
                             "run ended")  # fmt: skip
        ranks, nodes = self._ranks(run, name, ranks_per_node)
        found = [_test(group, parts, run.version, name, ranks, nodes)
                 for group, parts in groups.items()]  # fmt: skip
        return Found(tuple(found), tuple(notes))

    def _ranks(self, run: _Run, name: str, ranks_per_node: int) -> tuple[int, int]:
        ranks = ranks_in(name, "procs", run.ranks) if run.ranks else self.launch.ranks
        if not ranks:
            raise UsageError(
                f"{name} does not say how many ranks there were: give --ranks, or the directory "
                "of the run's results"
            )
        return ranks, nodes_of(name, ranks, ranks_per_node or self.launch.ranks_per_node)


def _notes(run: _Run, name: str) -> Iterator[str]:
    if run.by_script:
        yield f"{name}: GB/s of IO500's script is taken as GiB/s, as IOR's MiB/s by 1024."
    for key, phases in _COUNTED.items():
        scores = [run.phases[one].score or 0.0 for one in phases if one in run.phases]
        total = run.totals.get(key, 0.0)
        if len(scores) == len(phases) and min(scores) > 0 < total:
            mean = geometric_mean(scores)
            if abs(mean / total - 1) > _CLOSE:
                yield (f"{name}: the scores of the phases give {mean:.6g}, and IO500 says {key} = "
                       f"{total:.6g}: a line may be damaged.")  # fmt: skip
    for phase in run.phases.values():
        if phase.name == "timestamp":
            continue
        if not _PHASE.fullmatch(phase.name):
            yield (f"{name}: {shown(phase.name)} is left out, as a campaign has no such operation"
                   f" (its score is {phase.score or 0:g}).")  # fmt: skip
        elif _timed(phase) is None:
            yield f"{name}: {phase.name} is left out: it has no score above 0."
        elif not phase.is_valid:
            yield f"{name}: IO500 marks {phase.name} as invalid; its figure is read all the same."


def _timed(phase: _Phase) -> Timed | None:
    """Return the figure of a phase; None if it has none that is possible."""
    match = _PHASE.fullmatch(phase.name)
    operation = _OPERATIONS.get((match[1], match[3])) if match else None
    if match is None or operation is None or not phase.score:
        return None
    rate = phase.score * _UNITS[match[1]]
    seconds = phase.seconds if phase.seconds > 0 else 1.0
    if not possible(operation, rate, rate * seconds):
        return None
    worn_out = match[3] == "write"
    return Timed(operation, rate * seconds, seconds, worn_out=worn_out)


def _test(
    group: str, parts: list[tuple[_Phase, Timed]], version: str, name: str, ranks: int, nodes: int
) -> Test:
    program, _, kind = group.partition("-")
    command = next((phase.command for phase, _ in parts if phase.command), "")
    work = _data(kind, command) if program == "ior" else _metadata(kind)
    notes = ["amounts are the score times the time of the phase."]
    if not all(phase.seconds for phase, _ in parts):
        notes = ["the results have no times: amounts are those of one second."]
    return Test(
        program, f"{name}: IO500 {group}", nodes, ranks, work,
        tuple(timed for _, timed in parts), version, cache="shift" if ranks > 1 else "none",
        stonewall_seconds=_stonewall(parts), notes=tuple(notes),
    )  # fmt: skip


def _data(kind: str, command: str) -> Data:
    """Return the work of a phase of IOR, from its command or else from IO500's rules."""
    options = options_of(command, "abdefGhikJloOpQsStTuvVxXdDN")
    hard = kind == "hard"
    own = "F" in options if options else kind.endswith("easy")
    backend = options.get("a", "POSIX").lower()
    mode = "collective" if "c" in options else "independent"
    size = _RANDOM.match(kind)
    transfer = option_size(options.get("t", "") or (size[1] if size else ""))
    transfer = transfer or (_HARD_TRANSFER_BYTES if hard else 0)
    return Data(
        backend if backend.isalnum() else "posix", "per-process" if own else "shared", mode,
        transfer_bytes=transfer, sync=True,
    )  # fmt: skip


def _metadata(kind: str) -> MetadataTest:
    if kind == "hard":
        return MetadataTest(0, "shared", file_bytes=_HARD_FILE_BYTES)
    return MetadataTest(0, "own")


def _stonewall(parts: Iterable[tuple[_Phase, Timed]]) -> float:
    for phase, _ in parts:
        options = options_of(phase.command, "abdefGhikJloOpQsStTuvVxXdDNnwWzI")
        value = number(options.get("D", "") or options.get("W", "")) or 0.0
        if 0 < value < 1e9:
            return value
    return _SECONDS


# A directory of results: one of both files, and the outputs of IOR and mdtest beside it.

_TASKS = re.compile(r"^(tasks|nodes) {1,40}: {1,9}(\d{1,12})$", re.ASCII | re.MULTILINE)
_LAUNCHED = re.compile(r"launched with (\d{1,12}) total task\(s\) on (\d{1,12}) node", re.ASCII)
_OUTPUTS = ("ior-easy-write.txt", "ior-hard-write.txt", "mdtest-easy-write.txt",
            "mdtest-hard-write.txt", "ior-easy.txt", "mdtest-easy.txt")  # fmt: skip
_MOST_HEAD = 1 << 16


def result_file(directory: Path) -> Path:
    """Return the file of results in a directory of IO500.

    Raises:
        UsageError: There is none, or there are those of several runs.
    """
    for name in _FILES:
        if (directory / name).is_file():
            return directory / name
    below = sorted({one.parent for name in _FILES for one in directory.glob(f"*/{name}")})
    if len(below) == 1:
        return result_file(below[0])
    where = (f"results of {plural(len(below), 'run')} of IO500: name one of its directories"
             if below else "a directory without IO500's result.txt or result_summary.txt: give "
             "files")  # fmt: skip
    raise UsageError(f"{directory}: {where}")


def launch_beside(path: Path) -> Launch:
    """Return the ranks that the files beside a result name: IOR's and mdtest's outputs."""
    if path.name not in _FILES:
        return Launch()
    for name in (*_OUTPUTS, "result.txt"):
        one = path.parent / name
        if not one.is_file():
            continue
        try:
            text = read_input(one, RESULTS)[:_MOST_HEAD].decode("utf-8", "replace")
        except OSError:
            continue
        if launch := _launch(text):
            return launch
    return Launch()


def _launch(text: str) -> Launch | None:
    said = {match[1]: int(match[2]) for match in _TASKS.finditer(text)}
    if match := _LAUNCHED.search(text):
        said = {"tasks": int(match[1]), "nodes": int(match[2])}
    if match := re.search(r"^procs {0,40}= (\d{1,12})$", text, re.ASCII | re.MULTILINE):
        said = {"tasks": int(match[1])}
    ranks, nodes = said.get("tasks", 0), said.get("nodes", 0)
    if not whole(str(ranks), 100_000_000) or nodes > ranks:
        return None
    return Launch(ranks, -(-ranks // nodes) if nodes else 0)
