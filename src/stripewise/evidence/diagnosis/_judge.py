# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the rules, and merges and ranks their hits into findings."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence

from stripewise.core import Interval
from stripewise.evidence.diagnosis._base import ADDED, Hit, Merged, Numbers, PreparedRun, Rule
from stripewise.evidence.diagnosis._collective import (
    ShreddedCollective,
    ShreddedIndependent,
    SmallIndependent,
)
from stripewise.evidence.diagnosis._exchange import SlowExchange
from stripewise.evidence.diagnosis._hdf5_metadata import Hdf5Metadata
from stripewise.evidence.diagnosis._hints import IdleHints
from stripewise.evidence.diagnosis._imbalance import Imbalance
from stripewise.evidence.diagnosis._interleaved import InterleavedCalls
from stripewise.evidence.diagnosis._metadata import (
    NameCalls,
    OpenPerStep,
    RepeatedStat,
    SyncPerWrite,
)
from stripewise.evidence.diagnosis._requests import ChunkMismatch, RedundantReads, SmallRequests
from stripewise.evidence.diagnosis._stripes import Stripes
from stripewise.evidence.figures import Finding, Severity

HIGH_SHARE = 0.2
MOST_FILES = 16
_WORTH_NAMING = 0.01
_LAUNCHERS = ("mpiexec", "mpirun", "srun", "aprun", "jsrun", "orterun", "prterun", "flux")

_UNTOLD = (
    "not estimated: with these costs of the storage it may be nothing, or worth a change; an "
    "experiment can tell"
)

_Claim = tuple[str, str, bool | None]


def judge(run: PreparedRun) -> tuple[Finding, ...]:
    """Return all findings of a run, largest gain first.

    Findings without a claim come last: facts, and causes whose saving cannot be told.
    """
    claimed: set[_Claim] = set()
    findings = []
    left = [(rule, list(rule.hits(run))) for rule in RULES]
    for is_fitting in (_is_likely, _is_possible):
        for rule, hits in left:
            for some in _grouped([hit for hit in hits if not _is_claimed(rule, hit, claimed)]):
                merged = _merge(some)
                if is_fitting(rule, merged, run):
                    findings.append(_finding(rule, merged, run))
                    claimed.update(_claim(rule, hit) for hit in some)
                    told = set(map(id, some))
                    hits[:] = [hit for hit in hits if id(hit) not in told]
    return tuple(sorted(findings, key=lambda found: -(found.cost_seconds or 0.0)))


def _grouped(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Group the hits that make one finding; reads and writes are always separate."""
    found: dict[tuple[bool, bool | None], list[Hit]] = defaultdict(list)
    for hit in hits:
        found[hit.use is None, hit.writing].append(hit)
    return list(found.values())


def _merge(hits: Sequence[Hit]) -> Merged:
    """Merge hits of one rule.

    Times of files that only one rank used add up for that rank, and the slowest rank counts; times
    of other files add up. Files that lose less than a hundredth of the worst one are not named.
    """
    ordered = tuple(sorted(hits, key=lambda hit: -hit.expected))
    least = _WORTH_NAMING * abs(ordered[0].expected)
    rest = (hit for hit in ordered[1:] if hit.gain is None or hit.expected >= least)
    ordered = (ordered[0], *rest)
    paths = dict.fromkeys(hit.use.path for hit in ordered if hit.use is not None)
    gains = [(hit.rank, hit.gain) for hit in ordered if hit.gain is not None]
    ends = ([(rank, gain[end]) for rank, gain in gains] for end in range(3))
    return Merged(
        writing=bool(ordered[0].writing),
        gain=Interval(*map(_together, ends)) if gains else None,
        stake=_together([(hit.rank, hit.stake) for hit in ordered]),
        calls=sum(hit.calls for hit in ordered),
        bytes=sum(hit.bytes for hit in ordered),
        files=tuple(paths)[:MOST_FILES],
        n_files=len(paths),
        evidence={**ordered[0].evidence, **_sums_of_evidence(ordered)},
    )


def _sums_of_evidence(hits: Sequence[Hit]) -> Numbers:
    """Return the sums of the numbers that the texts compare with calls of all files."""
    names = [name for name in ADDED if name in hits[0].evidence]
    return {name: sum(int(hit.evidence[name]) for hit in hits) for name in names}


def _together(parts: Sequence[tuple[int, float]]) -> float:
    by_rank: dict[int, float] = defaultdict(float)
    common = 0.0
    for rank, seconds in parts:
        if rank >= 0:
            by_rank[rank] += seconds
        else:
            common += seconds
    return common + max(by_rank.values(), default=0.0)


def _is_claimed(rule: Rule, hit: Hit, claimed: set[_Claim]) -> bool:
    ways = (True, False, None) if hit.writing is None else (hit.writing, None)
    path = "" if hit.use is None else hit.use.path
    return any((rule.group, path, way) in claimed for way in ways if path)


def _claim(rule: Rule, hit: Hit) -> _Claim:
    return rule.group, "" if hit.use is None else hit.use.path, hit.writing


def _is_likely(rule: Rule, merged: Merged, run: PreparedRun) -> bool:
    """Return whether even the lower end of the gain is worth a change; always true for facts."""
    if not rule.claims:
        return True
    return merged.gain is not None and merged.gain.low >= run.least_gain


def _is_possible(rule: Rule, merged: Merged, run: PreparedRun) -> bool:
    """Return whether a gain worth a change is expected, or unknown, but not certain."""
    if not rule.claims or merged.stake < run.least_gain:
        return False
    return merged.gain is None or merged.gain.middle >= run.least_gain


def _severity(gain: Interval | None, run: PreparedRun) -> Severity:
    if gain is None:
        return Severity.INFO
    whole, io_seconds = run.figures.run_seconds, run.figures.io_seconds
    whole = whole if math.isfinite(whole) else io_seconds
    return Severity.HIGH if gain.middle >= HIGH_SHARE * whole else Severity.WARN


def _finding(rule: Rule, merged: Merged, run: PreparedRun) -> Finding:
    # A change can save no more than the calls that it changes take.
    known = (merged.stake or run.figures.io_seconds, run.profile.elapsed_seconds or math.inf)
    most = min((value for value in known if math.isfinite(value)), default=math.inf)
    gain = None if merged.gain is None else Interval(*(min(end, most) for end in merged.gain))
    basis = rule.basis
    if rule.claims and not _is_likely(rule, merged, run):
        gain, basis = None, _UNTOLD
    options = rule.tune_options(merged)
    sums = (("calls", merged.calls), ("bytes", merged.bytes), ("mean_bytes", merged.mean_bytes))
    evidence = {"seconds": merged.stake} | {name: value for name, value in sums if value}
    return Finding(
        code=rule.code,
        severity=_severity(gain, run),
        phrase=rule.phrase(merged),
        text=rule.text(merged),
        evidence=evidence | dict(merged.evidence),
        cost_seconds=None if gain is None else gain.middle,
        least_seconds=None if gain is None else gain.low,
        most_seconds=None if gain is None else gain.high,
        measured=run.storage.is_measured,
        stake_seconds=min(merged.stake, most),
        cost_basis=basis,
        remedy=rule.remedy(merged),
        lines=rule.lines(merged, run),
        tune="" if options is None else tune_line(run, options),
        files=merged.files,
        n_files=merged.n_files,
    )


def tune_line(run: PreparedRun, options: str) -> str:
    """Return the command that tunes this program; empty if the source has no usable command.

    An anonymised Darshan log has a number instead of a command.
    """
    tune = f"stripewise tune {options} --" if options else "stripewise tune --"
    command = run.profile.command
    if not command:
        return f"{tune} COMMAND"
    shown = "".join(letter if letter.isprintable() else "?" for letter in command)
    first = os.path.basename(shown.split()[0]) if shown.split() else ""
    if not any(letter.isalpha() for letter in first):
        return ""
    launched = first.split(".")[0] in _LAUNCHERS
    if run.n_ranks > 1 and not launched:
        shown = f"mpiexec -n {run.n_ranks} {shown}"
    return f"{tune} {shown}"


# All rules; within a group the more specific ones come first.

RULES: tuple[Rule, ...] = (
    ChunkMismatch(),
    RedundantReads(),
    InterleavedCalls(),
    ShreddedCollective(),
    SlowExchange(),
    ShreddedIndependent(),
    SmallIndependent(),
    SmallRequests(),
    OpenPerStep(),
    RepeatedStat(),
    NameCalls(),
    SyncPerWrite(),
    Hdf5Metadata(),
    Stripes(),
    Imbalance(),
    IdleHints(),
)
