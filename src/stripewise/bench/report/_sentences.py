# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes the results of a campaign in sentences, and how its figures were protected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite

from stripewise.bench import Case
from stripewise.bench.campaign import Campaign, CaseFigures, Flag
from stripewise.bench.limits import Law
from stripewise.bench.report._axes import (
    Axis,
    axes_of_campaign,
    label_of,
    operation_words,
    rate_of,
)
from stripewise.bench.report._over_time import slow_targets, target_ratios
from stripewise.present import (
    number_text,
    percent_text,
    plural,
    printable,
    seconds_text,
    size_text,
)

MADE, EMULATED, SIMULATED = "measured", "emulated", "simulated"
_FAR_BEHIND = 0.5


def how_made(campaign: Campaign) -> str:
    """Return whether the figures were measured, emulated or simulated."""
    if str(campaign.about.get("launcher", "")).startswith("simulat"):
        return SIMULATED
    return EMULATED if campaign.is_emulated else MADE


def storage_words(campaign: Campaign) -> str:
    """Return on what storage the campaign ran, and how real it is."""
    name = printable(campaign.storage) or "a storage that is not named"
    how = {
        MADE: name,
        EMULATED: f"{name}: emulated here, with the limits of the description"
        f"{_slow_motion(campaign)}",
        SIMULATED: f"{name}: simulated, nothing was written",
    }
    return how[how_made(campaign)]


def _slow_motion(campaign: Campaign) -> str:
    """Return by how much the rates are lower than those of the storage: "archer@1/64"."""
    slow = campaign.machine.rpartition("@1/")[2]
    if not slow.isdigit() or "@1/" not in campaign.machine:
        return ""
    return f", in slow motion (1/{slow}); all rates are those at its full speed"


def peak_of(
    figures: Iterable[CaseFigures], operation: str, *, credible: bool = False
) -> CaseFigures | None:
    """Return the cell with the highest median of an operation.

    Args:
        figures: Figures of a campaign.
        operation: Operation of the figures.
        credible: Whether to leave out those flagged as caching, if others remain.
    """
    found = [one for one in figures if one.operation == operation and isfinite(one.median)]
    sound = [one for one in found if all(flag.name != "caching" for flag in one.flags)]
    return max((credible and sound) or found, key=lambda one: one.median, default=None)


def headline(figures: Sequence[CaseFigures]) -> str:
    """Return the peaks: "105 GiB/s written, 98 GiB/s read"."""
    found = [peak_of(figures, operation, credible=True) for operation in ("write", "read")]
    data = [f"{rate_of(one)} {operation_words(one.operation)}" for one in found if one]
    if data:
        return ", ".join(data)
    names = list(dict.fromkeys(one.operation for one in figures))[:2]
    metadata = [one for name in names
                if (one := peak_of(figures, name, credible=True))]  # fmt: skip
    if metadata:
        return ", ".join(_per_second_text(one) for one in metadata)
    return "No run succeeded"


def _per_second_text(one: CaseFigures) -> str:
    number = rate_of(one).removesuffix(" operations/s")
    return f"{number} {operation_words(one.operation)} per second"


def summary(
    campaign: Campaign, figures: Sequence[CaseFigures], flags: Sequence[Flag] = ()
) -> list[str]:
    """Return the peaks, the range of the series, what is doubtful and what failed."""
    axes = axes_of_campaign(campaign)
    lines = [_extent(campaign)]
    for operation in dict.fromkeys(one.operation for one in figures):
        peak = peak_of(figures, operation)
        if peak is not None:
            lines.append(_peak(peak, axes))
            sound = peak_of(figures, operation, credible=True)
            if sound is not None and sound is not peak:
                lines.append(f"Leaving out figures that a cache may explain: {_at(sound, axes)}.")
            lines += _slow_series(figures, peak)
    lines += [*_doubtful(figures), *(printable(flag.text) for flag in flags)]
    lines += [*_slow(campaign), *_failed(campaign)]
    return lines


def _extent(campaign: Campaign) -> str:
    good = sum(bool(run.samples) for run in campaign.runs)
    held = sum(run.node_seconds for run in campaign.runs)
    written = sum(run.written_bytes for run in campaign.runs)
    text = f"{plural(len(campaign.suite.cases), 'cell')}, {plural(good, 'successful run')}"
    would = " that would have been" if how_made(campaign) == SIMULATED else ""
    if held > 0:
        text += f", {number_text(held / 3600)} node-hours{would + ' used' if would else ''}"
    if written > 0:
        text += f", {size_text(written)}{would} written"
    ended = printable(campaign.ended_because)
    return f"{text}. " + (
        f"The campaign ended: {ended}." if ended else "The campaign has not ended."
    )


def _peak(one: CaseFigures, axes: Iterable[Axis]) -> str:
    name = printable(one.operation).replace("-", " ")
    doubts = ", ".join(dict.fromkeys(printable(flag.name) for flag in one.flags))
    text = f"The highest {name} rate is {_at(one, axes)}."
    return f"{text} Reasons to doubt it: {doubts}." if doubts else text


def _at(one: CaseFigures, axes: Iterable[Axis]) -> str:
    runs = "one run"
    if len(one.rates) > 1:
        runs = f"median of {len(one.rates)} runs, the best {rate_of(one, one.best)}"
    return f"{rate_of(one)} ({runs}) with {label_of(one.case, axes)}"


def _slow_series(figures: Iterable[CaseFigures], peak: CaseFigures) -> Iterator[str]:
    """Yield the series that stay below half of the peak wherever they were measured."""
    best: dict[str, float] = {}
    for one in figures:
        if one.operation == peak.operation and isfinite(one.median):
            best[one.case.series] = max(best.get(one.case.series, 0.0), one.median)
    slow = {name: rate / peak.median for name, rate in best.items()
            if 0 < rate < _FAR_BEHIND * peak.median}  # fmt: skip
    if slow:
        listed = ", ".join(f"{printable(name)} {percent_text(share)}" for name, share in
                         sorted(slow.items(), key=lambda pair: -pair[1])[:8])  # fmt: skip
        yield f"Always below half of that rate: {listed}."


def _doubtful(figures: Sequence[CaseFigures]) -> Iterator[str]:
    names = Counter(name for one in figures for name in {flag.name for flag in one.flags})
    doubtful = sum(bool(one.flags) for one in figures)
    if doubtful:
        verb = "is" if doubtful == 1 else "are"
        listed = ", ".join(f"{printable(name)} ({count})" for name, count in names.most_common())
        yield f"{doubtful} of {plural(len(figures), 'figure')} {verb} doubtful: {listed}."
    elif figures:
        yield "No figure is doubtful."


def _slow(campaign: Campaign) -> Iterator[str]:
    for target, share in slow_targets(target_ratios(campaign)).items():
        yield f"Target {target} is slow: files on it reach {percent_text(share)} of the others."


def _failed(campaign: Campaign) -> Iterator[str]:
    found = Counter(run.status for run in campaign.runs if run.status != "ok")
    if total := sum(found.values()):
        listed = ", ".join(
            f"{printable(status)} ({count})" for status, count in found.most_common()
        )
        yield f"{plural(total, 'run')} did not succeed: {listed}. None of them is in the figures."


def doubts_of(
    campaign: Campaign, figures: Iterable[CaseFigures]
) -> dict[str, list[tuple[str, str]]]:
    """Return flags by name: name to (cell, sentence) of each figure that has it."""
    axes = axes_of_campaign(campaign)
    found: dict[str, list[tuple[str, str]]] = {}
    for one in figures:
        for flag in one.flags:
            cell = f"{label_of(one.case, axes)}: {printable(one.operation)}"
            found.setdefault(flag.name, []).append((cell, flag.text))
    return found


def law_words(law: Law) -> str:
    """Return whether a law is valid, and what was observed."""
    holds = "holds" if law.holds else "does not hold"
    off = f" ({percent_text(law.error)} off)" if isfinite(law.error) else ""
    return f"{printable(law.name).replace('-', ' ')} {holds}{off}: {printable(law.sentence)}"


def undetermined_words(undetermined: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return unknown limits grouped by reason: their figures, the reason."""
    found: dict[str, list[str]] = {}
    for figure, why in undetermined.items():
        found.setdefault(printable(why), []).append(printable(figure))
    return [(", ".join(figures), why) for why, figures in found.items()]


# ---- how the figures were protected ----------------------------------------------------------

_CACHE = {
    "shift": "other ranks read the data, on another node, whose page cache does not hold it",
    "drop": (
        "the pages of the file are dropped from the cache before it is read, and other "
        "ranks read it"
    ),
    "direct": "requests go past the page cache (O_DIRECT)",
    "same node": "other ranks read the data, but on the same node, so its page cache may answer",
    "none": "nothing keeps the page cache from answering them",
}


_METADATA = {
    False: (
        "files are looked up, read and removed by ranks on another node than the one that "
        "created them, so no client's cache answers"
    ),
    True: "files are looked up on the node that created them, so its cache may answer",
}


def protections(campaign: Campaign) -> list[str]:
    """Return for every kind of case how its figures are protected from caches."""
    kinds: dict[tuple[str, bool, str, float, bool], list[Case]] = {}
    for case in campaign.suite.cases:
        shared = case.nodes == 1 and case.cache == "shift" and case.operation != "write"
        key = case.operation, case.sync, case.cache, case.stonewall_seconds, shared
        kinds.setdefault(key, []).append(case)
    lines = []
    for (operation, sync, cache, stonewall, shared), cases in kinds.items():
        who = _who(cases, campaign) + (", on one node" if shared else "")
        if operation == "metadata":
            lines.append(f"{who}: {_METADATA[shared or cache != 'shift']}")
        else:
            lines += _data_protections(who, operation, sync, "same node" if shared else cache)
        if stonewall:
            lines.append(
                f"{who}: a stonewall of {seconds_text(stonewall)}; then all ranks write as much "
                "as the fastest (wear-out)"
            )
    return [f"{line}." for line in (*lines, *_memory(campaign))]


def _data_protections(who: str, operation: str, sync: bool, cache: str) -> Iterator[str]:
    if sync:
        yield f"{who}: the time of a write includes fsync, so the data is on the storage"
    else:
        yield f"{who}: writes are not synced: the figures may be those of the nodes' memory"
    if operation == "write-read":
        yield f"{who}: reads: {_CACHE.get(cache, printable(cache))}"


def _who(cases: Sequence[Case], campaign: Campaign) -> str:
    if len(cases) == len(campaign.suite.cases):
        return "All cases"
    names = list(dict.fromkeys(case.series for case in cases))
    shown = ", ".join(printable(name) for name in names[:6])
    return f"{shown} and {len(names) - 6} more" if len(names) > 6 else shown


def _memory(campaign: Campaign) -> Iterator[str]:
    """Yield comparisons of the bytes of a run with the memory of its nodes."""
    memory = campaign.about.get("memory_bytes")
    if not isinstance(memory, int | float) or not memory > 0:
        yield "The memory of the nodes is not known, so the bytes written are not compared with it"
        return
    nodes = {case.key: case.nodes for case in campaign.suite.cases}
    shares = [run.written_bytes / (memory * nodes[run.key]) for run in campaign.runs
              if run.written_bytes > 0 and run.key in nodes]  # fmt: skip
    if shares:
        low, high = min(shares), max(shares)
        text = f"A run writes {percent_text(low)} to {percent_text(high)} of its nodes' memory"
        enough = "which is at least twice" if low >= 2 else "which alone would not defeat a cache"
        yield f"{text} ({size_text(memory)} each), {enough}"
