# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares trials by the studied file's I/O time, and finds files to keep off the tier."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite
from statistics import median

from stripewise.core import Measurement, ObservedFile, Trial, TrialState, Value
from stripewise.evidence.facts import file_family
from stripewise.present import plural, printable, size_text
from stripewise.settings.formats import literal_glob, matches

# Hybrid runs: large files on the burst buffer, small ones on the parallel file system.
#
# On a burst buffer the metadata of a small file that all ranks read can take longer with more
# nodes: 0.67 s on 2 and 36.6 s on 40 nodes.  Source: Markomanolis (KAUST), ExPBB, CUG 2017.

SMALL_BYTES = 1 << 20
LEAST_COST = 0.05
_NEARLY_ALL = 0.9
_LETTERS = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class SmallFile:
    """Small file that nearly all ranks share and that takes a considerable share of the run.

    Attributes:
        path: Path of the file.
        size_bytes: Estimated size: the bytes read by one reader, or all bytes written.
        sharers: Number of ranks that read or wrote it.
        io_seconds: I/O time of the slowest rank on the file.
        elapsed_seconds: Elapsed time of the run.
    """

    path: str
    size_bytes: int
    sharers: int
    io_seconds: float
    elapsed_seconds: float

    @property
    def text(self) -> str:
        """Description of the file and its cost, for users."""
        return (
            f"{printable(self.path)}, {size_text(self.size_bytes)}, shared by "
            f"{plural(self.sharers, 'rank')}, costs {self.io_seconds:.3g} of "
            f"{self.elapsed_seconds:.3g} s"
        )


def estimated_bytes(file: ObservedFile) -> int:
    """Return the likely size of a file: bytes written, or bytes read by each of its readers."""
    return max(file.write_bytes, file.read_bytes // max(file.readers, 1))


def last_run(trial: Trial | None) -> Measurement | None:
    """Return the last successful run of a trial that shows its files; None without one."""
    runs = trial.measurements if trial else ()
    return next((run for run in reversed(runs) if run.ok and run.files), None)


def costly_small_file(
    run: Measurement | None,
    n_ranks: int,
    small_bytes: int = SMALL_BYTES,
    least_cost: float = LEAST_COST,
) -> SmallFile | None:
    """Return the small shared file that takes most of a run; None if none takes enough.

    Args:
        run: Run with its files.
        n_ranks: Number of ranks of the run; nine tenths of them must share the file.
        small_bytes: Largest size of a small file.
        least_cost: Share of the run's elapsed time, 0 to 1, above which a file is costly.
    """
    if run is None or n_ranks < 2:
        return None
    shared = [
        file
        for file in run.files
        if estimated_bytes(file) <= small_bytes and _sharers(file) >= _NEARLY_ALL * n_ranks
    ]
    found = max(shared, key=lambda file: (file.io_seconds, file.path), default=None)
    if found is None or found.io_seconds <= least_cost * run.elapsed_seconds:
        return None
    size = estimated_bytes(found)
    return SmallFile(found.path, size, _sharers(found), found.io_seconds, run.elapsed_seconds)


def _sharers(file: ObservedFile) -> int:
    return max(file.readers, file.writers)


def large_file_globs(run: Measurement | None, small_bytes: int = SMALL_BYTES) -> str:
    """Return globs of the large files of a run, separated by commas; empty if there are none.

    Numbers in names are generalised (`wrfout_d01_2007-04-03`: `wrfout*`) unless a small file of
    the run would match: those stay on the parallel file system.
    """
    files = run.files if run else ()
    large = [file.path for file in files if estimated_bytes(file) > small_bytes]
    small = [file.path for file in files if estimated_bytes(file) <= small_bytes]
    globs = dict.fromkeys(_glob(name, small) for name in large)
    return ",".join(glob for glob in globs if glob)


def _glob(name: str, others: Sequence[str]) -> str:
    """Return the most general glob that matches none of the others; empty if there is none."""
    for glob in _candidates(name):
        exact = matches(glob, name) and not any(matches(glob, other) for other in others)
        if exact and glob.isprintable():
            return glob
    return ""


def _candidates(name: str) -> Iterator[str]:
    base = posixpath.basename(name)
    general, letters = file_family(base), _LETTERS.match(base)
    if general != literal_glob(base):
        if letters:
            yield f"{letters.group()}*"
        yield _without_commas(general)
        yield _without_commas(file_family(base, "[0-9]*"))
    yield _without_commas(literal_glob(base))
    yield _without_commas(literal_glob(name))


def _without_commas(glob: str) -> str:
    """Return a glob with `?` instead of commas, which separate globs."""
    return glob.replace(",", "?")


# Comparison of trials by the studied file's I/O time and the elapsed time, like ExPBB.


class TrialComparison(StrEnum):
    """Result of comparing a trial with the best one so far."""

    FASTER = "faster"
    """The studied file is faster, and the whole run is not slower."""
    IO_ONLY = "I/O faster, whole run slower"
    EQUAL = "not faster by more than the tolerance"
    SLOWER = "slower"
    FAILED = "failed"
    UNKNOWN = "not known"
    """The runs were ended from outside, or the output differed by chance."""


_FAILURES = {
    TrialState.LOST: "it says nothing of its settings",
    TrialState.REJECTED: "the output differs from the baseline's",
}
_PROGRAM_FAILED = "the program failed"


@dataclass(frozen=True)
class Score:
    """Result of a trial.

    Attributes:
        settings: Settings of its point.
        io_ratio / run_ratio: I/O time and elapsed time relative to the adjacent baseline; infinite
            after a failure.
        share: I/O time on the studied file relative to all files; None if no file was observed.
        calls: Number of system calls on the studied file; 0 if unknown.
        run: Last of its runs that shows files.
        failure: Why it has no times, for users; empty if it has.
        is_lost: Whether the failure says nothing about its settings.
    """

    settings: Mapping[str, Value]
    io_ratio: float = 1.0
    run_ratio: float = 1.0
    share: float | None = None
    calls: int = 0
    run: Measurement | None = None
    failure: str = ""
    is_lost: bool = False

    @property
    def is_failed(self) -> bool:
        """Whether the trial has no times."""
        return not isfinite(self.io_ratio)


def without_times(trial: Trial) -> Score:
    """Return the score of a trial without valid times."""
    failure = _FAILURES.get(trial.state, _PROGRAM_FAILED)
    is_lost = trial.state is TrialState.LOST
    return Score(trial.settings, inf, inf, failure=failure, is_lost=is_lost)


class StudiedFile:
    """The large file with most I/O time, and its time in each trial.

    Times are compared as ratios to the baseline run beside each trial, since the load of a storage
    changes: the ratio of the file is the trial's I/O ratio times the file's share of the I/O time
    of the same run.  For users they are shown in seconds at the load of the first trial.
    """

    def __init__(self, tolerance: float, small_bytes: int = SMALL_BYTES) -> None:
        self.tolerance = tolerance
        self.name = ""
        self._small_bytes = small_bytes
        self._share = 1.0
        self._base_seconds: tuple[float, float] | None = None

    def score(self, trial: Trial) -> Score:
        """Return the score of a trial; the first trial with files determines the studied one."""
        if trial.state in _FAILURES or not isfinite(trial.io_ratio):
            return without_times(trial)
        run = last_run(trial)
        self._learn((trial.io_ratio, trial.elapsed_ratio), run)
        shares = [found for one in trial.measurements if (found := self._share_in(one))]
        share = median(shares) if shares else None
        ratios = trial.io_ratio, trial.elapsed_ratio
        return Score(trial.settings, *ratios, share, self._calls_in(run), run)

    def baseline(self, run: Measurement | None) -> Score:
        """Return the score of the default.

        Args:
            run: Run of the default; None if its files are unknown.  Then the studied file's share
                of the I/O time is assumed to be that of the first trial.
        """
        if run is None or not run.ok or not run.files:
            return Score({})
        self._learn((1.0, 1.0), run)
        share = self._share_in(run) or None
        return Score({}, 1.0, 1.0, share, self._calls_in(run), run)

    def example(self, score: Score) -> ObservedFile | None:
        """Return one of the studied files of a trial."""
        files = score.run.files if score.run else ()
        return next((file for file in files if self._is_studied(file)), None)

    def io(self, score: Score) -> float:
        """Return the time on the studied file relative to the baseline's I/O time."""
        return score.io_ratio * (self._share if score.share is None else score.share)

    def judge(self, score: Score, best: Score, least_run: float) -> TrialComparison:
        """Compare a trial with the best one.

        Args:
            score: Score of the trial.
            best: Score of the best trial so far.
            least_run: Least ratio of the elapsed time among the trials kept: several steps
                together must not cost more than the tolerance either.
        """
        if score.is_failed:
            return TrialComparison.UNKNOWN if score.is_lost else TrialComparison.FAILED
        is_longer = score.run_ratio > least_run * (1 + self.tolerance)
        if self.io(score) < self.io(best) * (1 - self.tolerance):
            return TrialComparison.IO_ONLY if is_longer else TrialComparison.FASTER
        is_slower = is_longer or self.io(score) > self.io(best) * (1 + self.tolerance)
        return TrialComparison.SLOWER if is_slower else TrialComparison.EQUAL

    def shortens_run(self, score: Score, best: Score, least_run: float) -> bool:
        """Return whether the run is shorter by the tolerance, with the studied file no slower."""
        if score.is_failed or self.io(score) > self.io(best) * (1 + self.tolerance):
            return False
        return score.run_ratio < min(best.run_ratio, least_run) * (1 - self.tolerance)

    def change(self, before: Score, after: Score) -> str:
        """Return both times before and after: "I/O of btio.nc 12.1 -> 8.3 s, whole run ..."."""
        if after.is_failed:
            return after.failure or _PROGRAM_FAILED
        of, unit = f" of {self.name}" if self.name else "", " of the baseline's"
        io_base, run_base = 1.0, 1.0
        if self._base_seconds is not None:
            (io_base, run_base), unit = self._base_seconds, " s"
        io = self.io(before) * io_base, self.io(after) * io_base
        run = before.run_ratio * run_base, after.run_ratio * run_base
        return f"I/O{of} {_arrow(*io)}{unit}, whole run {_arrow(*run)}{unit}"

    def _learn(self, ratios: tuple[float, float], run: Measurement | None) -> None:
        if self.name or run is None or not all(0 < ratio < inf for ratio in ratios):
            return
        families: dict[str, float] = {}
        large = [file for file in run.files if estimated_bytes(file) > self._small_bytes]
        for file in large or run.files[:1]:
            family = _family(file)
            families[family] = families.get(family, 0.0) + file.io_seconds
        self.name = printable(max(families, key=lambda family: (families[family], family)))
        self._share = self._share_in(run) or 1.0
        if run.io_seconds > 0 and run.elapsed_seconds > 0:
            self._base_seconds = run.io_seconds / ratios[0], run.elapsed_seconds / ratios[1]

    def _calls_in(self, run: Measurement | None) -> int:
        files = [file for file in (run.files if run else ()) if self._is_studied(file)]
        return sum(file.system_writes + file.system_reads for file in files)

    def _share_in(self, run: Measurement) -> float:
        seconds = sum(file.io_seconds for file in run.files if self._is_studied(file))
        return seconds / run.io_seconds if run.ok and run.io_seconds > 0 else 0.0

    def _is_studied(self, file: ObservedFile) -> bool:
        return bool(self.name) and printable(_family(file)) == self.name


def _family(file: ObservedFile) -> str:
    return file_family(posixpath.basename(file.path))


def _arrow(before: float, after: float) -> str:
    return f"{before:.3g} -> {after:.3g}"
