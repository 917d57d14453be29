# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports what the storage did during a job, and whether the job or others kept it busy."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.centre.database.queries import JobView, ServiceBeside, StorageLoad
from stripewise.centre.portal.pages import _jobs
from stripewise.centre.portal.pages._base import part
from stripewise.centre.portal.pages._storage import width_text
from stripewise.present import printable
from stripewise.present.blocks import Block, Chart, Fact, Facts, Line, Notice, Span, written

_MOSTLY_YOU = 0.5
_BUSY = 0.9
"""Share of earlier hours with less load from which the storage was busy (chosen)."""
_LONGER = 1.5
"""Factor from which operations took longer than usual (chosen)."""
_MOST_SLOW = 3
_WIDE = 2.0
"""Factor from which intervals cover far more than the run (chosen)."""


def loads(view: JobView, found: Sequence[StorageLoad], *, is_served: bool = False) -> list[Block]:
    """Return the load of each storage during the job, and the conclusions from it.

    Args:
        view: The job.
        found: Loads of its storage systems, as far as they are sampled.
        is_served: Whether servers counted something for it.
    """
    if not found and not view.counted and not is_served:
        return []
    if not found:
        text = (
            "The counters of this job's storage are not sampled, or not for the time of its run, "
            "so nothing can be said about the load of others."
        )
        return [Notice("load", "Your load or that of others?", [text])]
    several = len(found) > 1
    return [
        block
        for number, load in enumerate(found, 1)
        for block in _storage_blocks(view, load, f"_{number}" if several else "")
    ]


def verdict(load: StorageLoad) -> str:
    """Return whether the job or the load by others is the likelier cause of slow I/O."""
    share, usual = load.job_share, load.busier_than
    if load.job_bytes is None:
        return (
            f"The servers of {load.file_system} counted metadata operations of this job and no "
            "data, so its share of all that was moved is not known."
        )
    if share is None:
        return (
            f"The counters of {load.file_system} cover {written(load.covered_share, 'share')} of "
            "the run, too little to say who kept the storage busy."
        )
    part = f"{written(share, 'share')} of all that {load.file_system} moved {_during(load)}"
    slow = load.service is not None and bool(load.service.slow)
    if share >= _MOSTLY_YOU:
        return f"Mostly this job: it moved {part}. " + (
            "Targets that were slow, see below, may have cost time as well."
            if slow
            else "Its I/O time is more likely to depend on how it does its I/O than on others."
        )
    if _is_wide(load):
        run = written(max(load.end - load.begin, 1), "seconds")
        return (
            f"The run took {run}, too short for the counters to say who kept the storage busy: "
            f"this job moved {part}, and how much of the rest came at the same time is not known."
        )
    if usual is None:
        return (
            f"This job moved {part}. Whether that load is usual is not known: there are too few "
            "hours before it to compare with."
        )
    compared = (
        f"the storage was busier than in {written(usual, 'share')} of the hours of the four weeks "
        "before"
    )
    longer = took_longer(load.service)
    if usual >= _BUSY:
        return _busy_words(compared, part, longer)
    if slow:
        return (
            f"The load of others does not explain it, but a slow target may: {compared}, which is "
            f"not unusual, and this job moved {part}."
        )
    if longer:
        return (
            "Operations took longer than usual, and the bytes that others moved do not explain "
            f"it: {compared}, which is not unusual, and this job moved {part}."
        )
    return (
        f"The bytes that were moved do not point to others: {compared}, which is not unusual, and "
        f"this job moved {part}."
    )


def metadata_words(load: StorageLoad) -> list[str]:
    """Return the job's share in the metadata operations, if it is worth mentioning."""
    share = load.job_operations_share
    if share is None or (share < _MOSTLY_YOU and load.job_bytes is not None):
        return []
    part = f"{written(share, 'share')} of all metadata operations of {load.file_system}"
    text = f"job made {part} {_during(load)}."
    if share < _MOSTLY_YOU:
        return [f"This {text}"]
    return [
        f"Mostly this job, by metadata operations: this {text} How long these take is more likely "
        "to depend on how it opens, looks up and creates files than on others."
    ]


def _is_wide(load: StorageLoad) -> bool:
    """Return whether the storage's bytes cover a far longer time than the run."""
    return load.covering_seconds >= _WIDE * max(load.end - load.begin, 1)


def _during(load: StorageLoad) -> str:
    """Return a phrase for the time that the storage's bytes cover."""
    if not _is_wide(load):
        return "during the run"
    return f"in {_around(load)} around the run"


def _around(load: StorageLoad) -> str:
    text = width_text(load.covering_seconds)
    return text if text.startswith(("a ", "an ")) else f"the {text}"


def _busy_words(compared: str, part: str, longer: bool | None) -> str:
    """Return what a busy storage means: only longer times, not load by itself, delay a job."""
    if longer:
        return (
            f"Others, at least in part: {compared}, its operations took longer than usual, and "
            f"this job moved only {part}."
        )
    if longer is None:
        return f"Others may be part of it: {compared}, and this job moved only {part}."
    return (
        f"Others were busy, but that does not show in its times: {compared}, and this job moved "
        f"only {part}, but operations took about as long as usual."
    )


def took_longer(service: ServiceBeside | None) -> bool | None:
    """Return whether operations took longer than usual, or at some target; None if unknown."""
    if service is None:
        return None
    if service.slow:
        return True
    known = [
        one.seconds >= _LONGER * one.usual_seconds
        for one in service.kinds
        if one.seconds is not None and one.usual_seconds
    ]
    return any(known) if known else None


def _storage_blocks(view: JobView, load: StorageLoad, ending: str) -> list[Block]:
    share = load.job_share
    tone = (
        "warn"
        if share is not None
        and share < _MOSTLY_YOU
        and (load.busier_than or 0) >= _BUSY
        and took_longer(load.service) is not False
        and not _is_wide(load)
        else "calm"
    )
    origin = "by the servers' counters" if load.is_served else "by its profile"
    if load.job_bytes is None:
        origin = "the servers counted no data of it"
    facts = [
        Fact("job_bytes_per_second", "This job, average of its run", load.job_bytes_per_second,
             "rate", origin),
        Fact("storage_bytes_per_second",
             f"All jobs together, {_around(load)} around the run" if _is_wide(load)
             else "All jobs together, same time",
             load.storage_bytes_per_second, "rate",
             f"{written(load.covered_share, 'share')} of the run is sampled",
             f"/storage/{part(load.file_system)}"),
        Fact("job_share", "Share of this job", share, "share"),
        *_metadata_facts(load),
        Fact("busier_than", "Busier than", load.busier_than, "share",
             f"of {load.compared_hours} hours in the four weeks before"),
        *_service_facts(load.service),
    ]  # fmt: skip
    words = [*metadata_words(load), verdict(load), *service_words(load.service)]
    if load.service is not None and load.service.slow:
        tone = "warn"
    return [
        Notice(f"load{ending}", f"Your load or that of others? {load.file_system}", words, tone),
        Facts(f"load_facts{ending}", "", facts),
        _chart(view, load, ending),
    ]


def _metadata_facts(load: StorageLoad) -> list[Fact]:
    if load.job_operations_share is None:
        return []
    return [
        Fact("job_operations_share", "Share of metadata operations", load.job_operations_share,
             "share", "by the servers' counters")
    ]  # fmt: skip


def _service_facts(service: ServiceBeside | None) -> list[Fact]:
    """Return how long operations took at the servers, by kind of target."""
    return [
        Fact(f"{one.kind.lower() or 'target'}_operation_seconds",
             f"Mean time at {_kind_text(one.kind)}", one.seconds, "seconds",
             "too few operations before it to compare with" if one.usual_seconds is None
             else f"usual at these hours: {written(one.usual_seconds, 'seconds')}")
        for one in (service.kinds if service is not None else ())
    ]  # fmt: skip


def service_words(service: ServiceBeside | None) -> list[str]:
    """Return how long operations took during the run against usual, and which target was slow."""
    if service is None:
        return []
    said = []
    for one in service.kinds:
        if one.seconds is not None and one.usual_seconds:
            ratio = one.seconds / one.usual_seconds
            said.append(
                f"An operation at {_kind_text(one.kind)} took {written(one.seconds, 'seconds')} "
                f"during the run, {written(ratio, 'factor')} what is usual at these hours."
            )
    for slow in service.slow[:_MOST_SLOW]:
        others = "usual" if slow.is_own else "the others"
        said.append(
            f"{printable(slow.target)} was slow: {written(slow.seconds, 'seconds')} an operation, "
            f"{others} {written(slow.usual_seconds, 'seconds')}."
        )
    return said


def _kind_text(kind: str) -> str:
    names = {"OST": "storage targets (OST)", "MDT": "metadata targets (MDT)"}
    return names.get(kind, printable(f"targets {kind}".strip()))


def _chart(view: JobView, load: StorageLoad, ending: str) -> Chart:
    last = max(load.end, load.begin + 1)
    during = [load.begin - load.resolution_seconds < one < last for one in load.at]
    mine = load.job or [load.job_bytes_per_second if inside else None for inside in during]
    title = "This job" if load.job else "This job, average"
    return Chart(
        f"load_chart{ending}",
        f"Load of {load.file_system} around the run",
        load.at,
        [
            Line("read_bytes_per_second", "Read by all jobs", load.read),
            Line("write_bytes_per_second", "Written by all jobs", load.write),
            Line("job_bytes_per_second", title, mine),
        ],
        "rate",
        spans=[Span(f"Job {_jobs.job_id(view.row)}", load.begin, last)],
        description=f"Means over {width_text(load.resolution_seconds)}; the run is marked.",
        note="Sums over all users, who are not shown. Gaps were not sampled.",
        style="steps",
    )
