# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges stripe count and stripe size of files against ranks, bytes and targets.

Sources: lfs-setstripe(1); Lustre operations manual, "Managing File Layout": as many stripes as a
large shared file needs, one for files of single processes, none beyond the length of the file
(documented). The factors of two are assumed.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stripewise.evidence.diagnosis._base import Hit, Merged, Numbers, PreparedRun, Rule
from stripewise.evidence.diagnosis._facts_base import FactRule, SeenRun, Traffic
from stripewise.evidence.figures import DATA, WRITES, Fact, FileUse
from stripewise.evidence.trace import FileLayout
from stripewise.present import files_of
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

LEAST_BYTES = 8 << 20
"""Length of a file below which its stripes do not matter (assumed)."""

LEAST_FILES = 4
MANY_FILES = 32
"""Files of one process from which one stripe each uses enough targets, if their number is not
known (assumed)."""

LEAST_TIMES = 2
ALL_TARGETS = -1
_GRAIN = 64 << 10
_MOST_NAMED = 64


@dataclass(frozen=True)
class Misfit:
    """A file whose stripes do not fit its use.

    Attributes:
        use: Use of the file.
        kind: "few", "many" (for a file of one process) or "wide" (stripes without data).
        stripes: Advised stripe count; `ALL_TARGETS` for all.
        stripe_bytes: Advised stripe size; 0 for no change.
        length: Length of the file.
    """

    use: FileUse
    kind: str
    stripes: int
    stripe_bytes: int
    length: int

    @property
    def layout(self) -> FileLayout:
        """Layout of the file."""
        return self.use.layout


def misfits(files: Sequence[FileUse]) -> Iterator[Misfit]:
    """Find the files whose stripes do not fit the ranks, the length or the storage."""
    striped = [use for use in files if use.layout.stripe_count > 0 and _length(use) > 0]
    alone = [use for use in striped if use.calls(DATA).ranks == 1]
    for use in striped:
        if _length(use) < LEAST_BYTES:
            continue
        found = _of_shared(use) if use.shared else _of_many(use, alone)
        if found is not None:
            yield found


def _length(use: FileUse) -> int:
    return max(use.extent, use.write_bytes if use.extent < 0 else 0)


def _of_shared(use: FileUse) -> Misfit | None:
    """Judge a file that several ranks share."""
    layout, ranks, length = use.layout, use.calls(DATA).ranks, _length(use)
    unit = max(layout.stripe_bytes, 1)
    filled = math.ceil(length / unit)
    if layout.stripe_bytes and LEAST_TIMES * filled <= min(layout.stripe_count, ranks):
        smaller = max(length // min(layout.stripe_count, ranks) // _GRAIN * _GRAIN, _GRAIN)
        return Misfit(use, "wide", layout.stripe_count, smaller, length)
    most = layout.n_targets or math.inf
    wanted = min(ranks, filled if layout.stripe_bytes else ranks, most)
    if wanted < LEAST_TIMES * layout.stripe_count:
        return None
    advised = int(wanted)
    if wanted == most or (not layout.n_targets and wanted > _MOST_NAMED):
        advised = ALL_TARGETS
    return Misfit(use, "few", advised, 0, length)


def _of_many(use: FileUse, alone: Sequence[FileUse]) -> Misfit | None:
    """Judge a file of one process, of which there are many."""
    layout = use.layout
    targets = layout.n_targets
    objects = sum(one.layout.stripe_count for one in alone)
    crowded = objects > LEAST_TIMES * targets if targets else len(alone) >= MANY_FILES
    if layout.stripe_count < LEAST_TIMES or len(alone) < LEAST_FILES or not crowded:
        return None
    advised = max(targets // len(alone), 1)
    if advised * LEAST_TIMES > layout.stripe_count:
        return None
    return Misfit(use, "many", advised, 0, _length(use))


def _sentence(found: Sequence[Misfit]) -> str:
    """Describe the costliest of some files of one kind, and how many there are."""
    first = found[0]
    layout, paths = first.layout, [one.use.path for one in found]
    stripes = things(layout.stripe_count, "stripe")
    names = files_of(paths[:16], len(paths))
    if first.kind == "few":
        of = f" of {layout.n_targets} targets" if layout.n_targets else ""
        verb = "lies" if len(paths) == 1 else "lie"
        users = things(first.use.calls(DATA).ranks, "rank")
        text = f"{names} {verb} on {stripes}{of}, used by {users} ({size(first.length)})"
    elif first.kind == "many":
        text = (
            f"{things(len(paths), 'file')} of one process each lie over {stripes} each: every "
            "process waits for all of their targets"
        )
    else:
        filled = math.ceil(first.length / layout.stripe_bytes)
        text = (
            f"{names} has {stripes} of {size(layout.stripe_bytes)}, but only {filled} of them "
            f"{'holds' if filled == 1 else 'hold'} data ({size(first.length)})"
        )
    asked = first.use.hints.requested.get("striping_factor", "")
    if asked.strip().isdigit() and int(asked) != layout.stripe_count:
        text += f"; {asked} stripes were requested"
    return f"{text}."


def _by_kind(found: Iterable[Misfit]) -> list[list[Misfit]]:
    kinds: dict[str, list[Misfit]] = {}
    for one in sorted(found, key=lambda one: -one.use.calls().cumulated):
        kinds.setdefault(one.kind, []).append(one)
    return list(kinds.values())


class StripesFact(FactRule):
    """Stripes that do not fit the ranks that use a file, or its length."""

    code = "stripes"
    subject = "stripes of files against ranks, lengths and targets"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        for found in _by_kind(misfits(run.files)):
            uses = {one.use.index for one in found}
            concern = run.concern(part for part in run.traffic if _is_of(part, uses))
            if concern is not None:
                layout = found[0].layout
                numbers: Numbers = {
                    "kind": found[0].kind,
                    "stripe_count": layout.stripe_count,
                    "stripe_bytes": layout.stripe_bytes,
                    "ranks": found[0].use.calls(DATA).ranks,
                    "files": len(found),
                }
                yield run.fact(self.code, _sentence(found), concern, numbers)

    def why_unknown(self, run: SeenRun) -> str:
        known = any(use.layout.stripe_count for use in run.files)
        return "" if known else "the layout of the files is not known"


def _is_of(part: Traffic, files: set[int]) -> bool:
    return part.use.index in files


class Stripes(Rule):
    """The same as a finding, with the lines that give new files other stripes."""

    code = "stripes"
    group = "stripes"
    basis = "not estimated: it depends on what else uses the storage targets"
    title = "The stripes of a file do not fit its use"
    general_remedy = "Set another stripe count or size on the directory, before files are made."
    tunes = True

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find the costliest kind of misfit among the files."""
        for found in _by_kind(misfits(run.files))[:1]:
            first = found[0]
            evidence: Numbers = {
                "kind": first.kind,
                "stripe_count": first.layout.stripe_count,
                "stripe_bytes": first.layout.stripe_bytes,
                "advised_count": first.stripes,
                "advised_bytes": first.stripe_bytes,
                "emulated": int(first.layout.emulated),
                "described": _sentence(found),
            }
            for one in found:
                calls = one.use.calls(DATA)
                writing = bool(one.use.calls(WRITES).count)
                yield Hit(
                    one.use, None, calls.elapsed, calls.count, calls.bytes, evidence, writing,
                    one.use.only_rank,
                )  # fmt: skip

    def phrase(self, merged: Merged) -> str:
        stripes = things(int(merged.evidence["stripe_count"]), "stripe")
        return f"{merged.way_files}, with {stripes} {_PHRASES[str(merged.evidence['kind'])]}"

    def text(self, merged: Merged) -> str:
        return (
            f"{merged.evidence['described']} The slowest rank spent {seconds(merged.stake)} in "
            f"{things(merged.calls, 'call')} for data."
        )

    def remedy(self, merged: Merged) -> str:
        advised, unit = (int(merged.evidence[f"advised_{one}"]) for one in ("count", "bytes"))
        stripes = "all targets" if advised == ALL_TARGETS else things(advised, "stripe")
        whole = f"{stripes} of {size(unit)}" if unit else stripes
        return (
            f"Give new files {whole}: set the layout of their directory before they are made. A "
            "layout acts only on new files: remove or copy an old one (`lfs migrate` does so in "
            "place). Whether fewer or more are faster only runs can tell."
        )

    def lines(self, merged: Merged, run: PreparedRun) -> tuple[str, ...]:
        advised, unit = (int(merged.evidence[f"advised_{one}"]) for one in ("count", "bytes"))
        command = (
            "stripewise machine layout set" if merged.evidence["emulated"] else "lfs setstripe"
        )
        options = f"-c {advised}" + (f" -S {unit // 1024}K" if unit else "")
        folders = dict.fromkeys(os.path.dirname(path) or "." for path in merged.files)
        where = " ".join(shlex.quote(folder) for folder in folders)
        return (f"{command} {options} {where}   # for files made in it from now on",)


_PHRASES = {
    "few": "for all ranks",
    "many": "for files of one process each",
    "wide": "that hold no data in part",
}
