# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the blocks of a run from its profile, for the command, its page and the portal.

A profile is the document that `stripewise profile --json` prints and the portal stores, without
numbers that JSON cannot represent; docs/reference/profile.md defines each figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from stripewise.core import Amount, reasons, total
from stripewise.evidence.figures import size_labels
from stripewise.evidence.figures.heat_cells import LAYER_NAMES
from stripewise.present import count_text, plural, size_text
from stripewise.present.blocks import (
    Advice,
    Bars,
    Block,
    Column,
    Fact,
    Facts,
    Findings,
    Notice,
    Part,
    Points,
    Section,
    Split,
    Table,
    written,
)

Row = Mapping[str, Any]
NO_TIME_BINS = (
    "This source has no time bins, so it is not known when I/O happened. `stripewise run "
    "--trace` records them, and so does Darshan with its HEATMAP module (3.4 or later) or "
    "DXT."
)
NO_PATTERNS = (
    "Access patterns are not known: they need single calls, which `stripewise run --trace` "
    "or Darshan's DXT records."
)


# The run in figures.


def why_partly_known(profile: Row) -> str:
    """Return why the run is known only in part; empty if it is fully known."""
    return reasons(profile["figures"].get("missing", {}).values())


def figures(profile: Row) -> Facts:
    """Return the figures of the run, with a reason for each incomplete one."""
    of_run = profile["figures"]
    meta, system = of_run["meta_operations"], of_run["system_meta_operations"]
    at_system = f"{count_text(system)} reached the system" if system != meta else ""
    # For a time that is known in part, the certain part counts.
    io = "io_low_seconds" if "io_seconds" in of_run.get("missing", {}) else "io_seconds"
    items = [
        _figure(of_run, "run_seconds", "Run time", "seconds", _ranks(of_run)),
        _figure(of_run, io, "I/O time", "seconds", _io_note(of_run)),
        *_waiting(of_run),
        _figure(of_run, "read_bytes", "Read", "bytes", "requested by the program"),
        _figure(of_run, "write_bytes", "Written", "bytes", "requested by the program"),
        _figure(of_run, "rate_bytes_per_second", "I/O rate", "rate",
                "bytes moved, divided by the I/O time"),
        _figure(of_run, "n_files", "Files", "count", _kinds_of_files(of_run)),
        _figure(of_run, "meta_operations", "Metadata operations", "count", at_system),
    ]  # fmt: skip
    return Facts("figures", "", items, is_large=True)


def _figure(of_run: Row, name: str, title: str, kind: str, note: str) -> Fact:
    value, why = of_run[name], of_run.get("missing", {}).get(name, "")
    return Fact(name, title, value, kind, note, why=why or ("not known" if value is None else ""))


def _waiting(of_run: Row) -> list[Fact]:
    """Return the time in pipes and the like, if there was any."""
    if not of_run.get("n_waiting_files"):
        return []
    files = plural(
        of_run["n_waiting_files"], "pipe, socket or device", "pipes, sockets or devices"
    )
    note = f"in {files}, at most; not I/O to storage"
    return [_figure(of_run, "waiting_seconds", "Waiting", "seconds", note)]


def _ranks(of_run: Row) -> str:
    who = plural(of_run["n_ranks"], "rank") if of_run["n_ranks"] else ""
    if not who and of_run["n_processes"]:
        who = f"{plural(of_run['n_processes'], 'process', 'processes')} without MPI"
    hosts = plural(of_run["n_hosts"], "node") if of_run["n_hosts"] else ""
    return ", ".join(filter(None, (who, hosts)))


def _io_note(of_run: Row) -> str:
    share, slowest = of_run["io_share"], of_run["slowest_rank"]
    text = f"{'unknown share' if share is None else written(share, 'share')} of the run"
    rank = f"; slowest: rank {slowest}" if slowest >= 0 and of_run["n_ranks"] else ""
    if of_run["io_exact"]:
        threads = of_run.get("threads_seconds")
        together = f"; all its threads together {written(threads, 'seconds')}" if threads else ""
        return text + rank + together
    least = written(of_run["io_low_seconds"], "seconds")
    threads = of_run.get("threads_seconds")
    why = "ranks are not recorded separately"
    if threads:
        why = f"threads were in calls at the same time: {written(threads, 'seconds')} in all"
    return f"{text} at most; at least {least} ({why}){rank}"


def _kinds_of_files(of_run: Row) -> str:
    kinds = {
        "n_read_only": "only read", "n_write_only": "only written",
        "n_read_write": "read and written", "n_no_data": "without data",
        "n_shared": "shared by ranks",
    }  # fmt: skip
    return ", ".join(f"{of_run[name]} {words}" for name, words in kinds.items() if of_run[name])


def io_share(profile: Row) -> Split | Notice:
    """Return the share of I/O in the run, or the reason why it is unknown."""
    of_run = profile["figures"]
    run, io = of_run["run_seconds"], of_run["io_seconds"]
    title = "The run" + " (elapsed, slowest rank)" * (of_run["n_ranks"] > 1)
    why = of_run.get("missing", {}).get("io_seconds", "")
    if not run or io is None or why:
        text = "The share of I/O in the run is not known: "
        text += why or "the source does not record the run time or the I/O time"
        return Notice("run_parts", title, [f"{text}."], "plain")
    parts = [
        Part("io", "I/O", io, "io"),
        Part("rest", "everything else", max(run - io, 0.0), "rest"),
    ]
    return Split("run_parts", title, parts)


def times(profile: Row) -> Table:
    """Return the time in reads, in writes and in metadata calls."""
    of_run, missing = profile["figures"], profile["figures"].get("missing", {})
    kinds = {"write": "writing", "read": "reading", "meta": "metadata"}
    summed = [of_run[f"cumulated_{kind}_seconds"] for kind in kinds]
    is_whole = of_run["meta_share"] is not None and None not in summed and sum(summed) > 0
    rows: list[dict[str, Any]] = [
        {
            "kind": words,
            "cumulated_seconds": seconds,
            "share": of_run["meta_share"]
            if kind == "meta"
            else seconds / sum(summed)
            if is_whole
            else None,
            "elapsed_seconds": of_run[f"elapsed_{kind}_seconds"],
            "missing": {
                "share": missing.get("meta_share", ""),
                **{
                    f"{one}_seconds": missing.get(f"{one}_{kind}_seconds", "")
                    for one in ("cumulated", "elapsed")
                },
            },
        }
        for (kind, words), seconds in zip(kinds.items(), summed, strict=True)
    ]
    columns = (
        Column("kind", "Calls"),
        Column("cumulated_seconds", "All ranks", "seconds"),
        Column("share", "Share", "share"),
        Column("elapsed_seconds", "Slowest rank", "seconds"),
    )
    note = (
        "All ranks: the sum over ranks and their threads. Writing includes syncs. "
        "The slowest rank may differ from row to row."
    )
    return Table("times", "Time in I/O calls", columns, rows, note)


# What the run did, whether or not a saving is known.

_MOST_FACTS = 3
LEAST_IO_SHARE = 0.05


def facts(profile: Row) -> list[Points | Section]:
    """Return what the run did in sentences: share and amounts, then its main facts.

    Documents of earlier versions have no facts, and anonymous ones no sentences.
    """
    if not profile.get("opening"):
        return []
    share = profile["figures"]["io_share"]
    is_little = share is not None and share < LEAST_IO_SHARE
    main = [one for one in profile["facts"] if one["unusual"] and not (is_little and _is_io(one))]
    told = [fact["text"] for fact in main]
    points = [profile["opening"], *told[:_MOST_FACTS]]
    more = [*told[_MOST_FACTS:], *(f["text"] for f in profile["facts"] if f not in main)]
    if usual := [one["subject"] for one in profile["checks"] if not one["why_unknown"]]:
        more.append(f"Checked, and nothing unusual was found: {', '.join(usual)}.")
    whys: dict[str, list[str]] = {}
    for one in profile["checks"]:
        if one["why_unknown"]:
            whys.setdefault(one["why_unknown"], []).append(one["subject"])
    more += [f"Not known ({why}): {', '.join(subjects)}." for why, subjects in whys.items()]
    blocks: list[Points | Section] = [Points.of("facts", "What the run did", points)]
    if more:
        inner: list[Block] = [Points.of("more_facts", "", more)]
        blocks.append(Section("further_facts", "Further facts", inner, is_folded=True))
    return blocks


def _is_io(fact: Row) -> bool:
    return bool(fact["code"] != "waiting")


# Findings and their remedies.


_TUNABLE = frozenset(("mpiio", "hdf5", "pnetcdf", "adios2"))
"""Layers whose behaviour settings can change."""


def findings(profile: Row) -> Findings:
    """Return the findings and their remedies as a block."""
    if profile["figures"]["io_seconds"] is None and not profile["files_total"]:
        empty = "What the program did is not known, so nothing can be said about its cost."
    elif profile["partial"] or why_partly_known(profile):
        empty = (
            "No known cause of slow I/O was found in what this source records; parts of the "
            "run are not known."
        )
    else:
        empty = _untold(profile)
    return Findings("findings", "Findings", advices(profile), empty)


def _untold(profile: Row) -> str:
    """Return what to try where no finding has a cause: the advice of the main facts."""
    share = profile["figures"]["io_share"]
    if share is not None and share < LEAST_IO_SHARE:
        return "I/O is less than 5 % of the run: there is little to gain."
    main = [one for one in profile.get("facts", ()) if one["unusual"] and one.get("advice")]
    steps = list(dict.fromkeys(f"{one['advice']}." for one in main[:_MOST_FACTS]))
    text = f"To try: {' '.join(steps)} " if steps else ""
    text += "What a change would save cannot be told in advance."
    if not _TUNABLE.isdisjoint(row["layer"] for row in profile["layers"]):
        text += " To search for settings by experiment: `stripewise tune`."
    return text


def advices(profile: Row, proof: str | None = None) -> list[Advice]:
    """Return the findings of a run.

    Args:
        profile: Profile of the run.
        proof: What pairs of runs showed of settings; empty if nothing yet; None to omit it.
    """
    return [_advice(found, profile["figures"], proof) for found in profile["findings"]]


_AS_IN_PROFILE = (
    *("code", "severity", "title", "text", "cost_seconds", "least_seconds", "most_seconds"),
    *("remedy", "lines", "evidence", "stake_seconds", "files", "n_files"),
)


def _advice(found: Row, of_run: Row, proof: str | None) -> Advice:
    is_tunable = bool(found["lines"] or found["tune"])
    return Advice(
        **{name: found[name] for name in _AS_IN_PROFILE},
        command=found["tune"],
        basis=_basis(found),
        proof=proof if is_tunable or proof is None else "",
        of_seconds=of_run["run_seconds"] or None,
        parts=_cost_parts(found, of_run["run_seconds"] or of_run["io_seconds"] or 0.0),
    )


def _basis(found: Row) -> str:
    """Describe what the estimated gain is based on, or why none is claimed."""
    basis = found["cost_basis"]
    if found["cost_seconds"] is not None:
        assumed = "" if found["measured"] else " (storage costs are assumed)"
        return f"Expected after the change: {basis}{assumed}." if basis else ""
    if basis.startswith("not estimated"):
        return f"The gain is {basis}."
    return f"No gain is claimed{f': {basis}' if basis else ''}."


def _cost_parts(found: Row, whole: float) -> tuple[Part, ...]:
    """Return cost and stake of a finding in the run time; () if the cost is unknown."""
    cost = found["cost_seconds"]
    if cost is None or not whole > 0:
        return ()
    cost = min(max(cost, 0.0), whole)
    stake = min(max(found["stake_seconds"] or 0.0, cost), whole)
    return (
        Part("cost", "could be saved", cost, "cost"),
        Part("stake", "rest of the calls concerned", stake - cost, "stake"),
        Part("rest", "rest of the run", whole - stake, "rest"),
    )


# Tables: of layers, of files, of the ranks of shared files, of requests.

_LAYERS = (
    Column("name", "Layer"),
    Column("files", "Files", "count"),
    Column("read_calls", "Reads", "count"),
    Column("write_calls", "Writes", "count"),
    Column("collective_calls", "Collective", "count"),
    Column("meta_operations", "Metadata", "count"),
    Column("read_bytes", "Read", "bytes"),
    Column("write_bytes", "Written", "bytes"),
    Column("elapsed_seconds", "Time, slowest rank", "seconds"),
    Column("cumulated_seconds", "Time, all ranks", "seconds"),
    Column("own_seconds", "Time, program's own calls", "seconds"),
)
_FILES = (
    Column("path", "File", "path"),
    Column("interface", "Interface"),
    Column("elapsed_seconds", "Time, slowest rank", "seconds"),
    Column("cumulated_seconds", "Time, all ranks", "seconds"),
    Column("read_bytes", "Read", "bytes"),
    Column("write_bytes", "Written", "bytes"),
    Column("read_calls", "Reads", "count"),
    Column("write_calls", "Writes", "count"),
    Column("meta_operations", "Metadata operations", "count"),
    Column("rank_count", "Ranks", "count"),
    Column("data_rank_count", "Ranks with data", "count"),
    Column("stripe_count", "Stripes", "count"),
    Column("stripe_bytes", "Stripe size", "bytes"),
)
_ACCESS = (
    Column("path", "File", "path"),
    Column(
        "histogram",
        f"Requests from {size_labels()[0]} to {size_labels()[-1]}",
        "picture",
        order="calls",
    ),
    Column("common", "Most common sizes"),
    Column("collective", "Collective", "share"),
    Column("sequential", "Sequential", "share"),
    Column("consecutive", "Consecutive", "share"),
    Column("opens", "Opens", "count"),
    Column("extent_bytes", "Length", "bytes"),
)
_VARIANCE = (
    Column("path", "File", "path"),
    Column("processes", "Ranks", "count"),
    Column("fastest_rank", "Fastest rank", "id"),
    Column("fastest_seconds", "Its time", "seconds"),
    Column("fastest_bytes", "Its bytes", "bytes"),
    Column("slowest_rank", "Slowest rank", "id"),
    Column("slowest_seconds", "Time of slowest", "seconds"),
    Column("slowest_bytes", "Bytes of slowest", "bytes"),
    Column("seconds_deviation", "Deviation of time", "seconds"),
    Column("bytes_deviation", "Deviation of bytes", "bytes"),
)
_REQUESTS = (
    Column("path", "File", "path", small="direction"),
    Column("program_calls", "MPI-IO calls", "count"),
    Column("collective_calls", "Collective", "count"),
    Column("program_mean_bytes", "Mean MPI-IO call", "bytes"),
    Column("program_ranks", "MPI-IO ranks", "count"),
    Column("system_calls", "System calls", "count"),
    Column("system_mean_bytes", "Mean system call", "bytes"),
    Column("system_ranks", "System processes", "count"),
    Column("modify_reads", "Read-modify-write reads", "count", small="modified"),
    Column("gaps", "Gaps", "count"),
    Column("aligned", "Aligned to the unit", "share"),
    Column("unit_sized", "Size of one unit", "share"),
    Column("unit_bytes", "Unit", "bytes"),
    Column("source", "From"),
)


def layers(profile: Row, empty: str = "") -> Table:
    """Return calls, bytes and time of each layer; `empty` is the reason if there are none."""
    names = {layer.name.lower(): name for layer, name in LAYER_NAMES.items()}
    rows = [{**row, "name": names.get(row["layer"], row["layer"])} for row in profile["layers"]]
    total = (
        "From the program down; a call to an upper layer is counted again in the layers "
        "that serve it"
    )
    return Table("layers", "Operations by layer", _LAYERS, rows, empty=empty, total=total)


def files_table(
    rows: Sequence[Row], title: str = "Files", *, empty: str = "No file was used.", **more: Any
) -> Table:
    """Return what was done to files, with the columns that the rows have; paths may be hidden."""
    columns = [column for column in _FILES if not rows or column.name in rows[0]]
    if rows and rows[0]["path"] is None:
        columns = columns[1:]
    return Table("files", title, columns, rows, empty=empty, **more)


def files_of_profile(profile: Row, most: int, empty: str = "") -> list[Table]:
    """Return the files with most time, the sum of the others, and how they were accessed."""
    listed, rest = profile["files"][:most], profile["files"][most:]
    rows = [_file(row) for row in listed]
    number = profile["files_total"]
    left_out = number > len(listed)
    whole = f"The {len(listed)} files with the most I/O time, of {number}"
    shown = whole if left_out else plural(number, "file")
    summary = [_rest(rest)] if rest else []
    tables = [
        files_table([*rows, *summary], empty=empty, total=shown, is_sortable=True,
                    note=(
                        "Calls are those that the program made. Time, all ranks: the sum "
                        "over ranks."
                    ))
    ]  # fmt: skip
    if rows:
        note = (
            "Collective: share of the data calls that were carried out collectively. "
            "Sequential: share of the calls that begin at or after the end of the previous call; "
            "consecutive: exactly at its end (both in the lowest layer)."
        )
        tables.append(
            Table("access", "How files were accessed", _ACCESS, rows, note, is_sortable=True)
        )
    return tables


def _file(row: Row) -> dict[str, Any]:
    extent, layout = row["extent_bytes"], row["layout"]
    common = ", ".join(f"{size_text(size)} x{count}" for size, count in row["common_sizes"][:2])
    return {
        **row,
        "calls": row["read_calls"] + row["write_calls"],
        "common": common or None,
        "histogram": _histogram(row["write_sizes"], row["read_sizes"]),
        "rank_count": row["rank_count"] or None,
        "data_rank_count": row["data_rank_count"] if row["rank_count"] else None,
        "extent_bytes": extent if extent >= 0 else None,
        "stripe_count": layout["stripe_count"] or None,
        "stripe_bytes": layout["stripe_bytes"] or None,
    }


def _histogram(written_sizes: Sequence[int], read_sizes: Sequence[int]) -> Markup | None:
    """Draw the requests of a file by size; None without any."""
    top = max(*written_sizes, *read_sizes)
    if not top:
        return None
    bars, words = [], []
    for place, (verb, colour, counts) in enumerate(
        (("written", "write", written_sizes), ("read", "read", read_sizes))
    ):
        for number, (label, count) in enumerate(zip(size_labels(), counts, strict=True)):
            if count:
                x, height = 12 * number + 5 * place + 1, max(2.0, 30 * count / top)
                bars.append(
                    f'<rect class="c-{colour}" x="{x}" y="{31 - height:.3g}" width="5" '
                    f'height="{height:.3g}"/>'
                )
                words.append(f"{label}: {verb} {count}")
    return Markup(
        '<svg class="sizes" viewBox="0 0 120 32" width="120" height="32" role="img" '
        'aria-label="Requests by size. {words}"><title>{words}</title>'
        '<path d="M0 31.5H120" stroke="currentColor" stroke-opacity=".3"/>{bars}</svg>'
    ).format(words="; ".join(words), bars=Markup("".join(bars)))  # only numbers and our own words


def _rest(rows: Sequence[Row]) -> dict[str, Any]:
    names = ("read_bytes", "write_bytes", "cumulated_seconds", "read_calls", "write_calls",
             "meta_operations")  # fmt: skip
    path = plural(len(rows), "other file")
    return {**dict.fromkeys(column.name for column in _FILES), "path": path, "look": "rest",
            **summed(rows, names)}  # fmt: skip


def summed(rows: Iterable[Row], names: Sequence[str]) -> dict[str, Any]:
    """Add rows up; if a row lacks a value, the sum is marked as a lower bound."""
    every = list(rows)
    sums = {
        name: total(Amount.of(row[name], row["missing"].get(name, "")) for row in every)
        for name in names
    }
    missing = {name: amount.why for name, amount in sums.items() if amount.why}
    return {**{name: amount.value for name, amount in sums.items()}, "missing": missing}


def variance(profile: Row, most: int, empty: str = "") -> Table:
    """Return the fastest and the slowest rank of each shared file."""
    note = (
        "In a healthy collective run the times of the ranks are close. One rank that is much "
        "slower than the others holds them all up; find out what only that rank does to the file."
    )
    number = profile["variance_total"]
    table = Table(
        "variance",
        "Shared files: slowest and fastest rank",
        _VARIANCE,
        profile["variance"][:most],
        note,
        empty,
        total=f"{plural(number, 'file')} used by several ranks, slowest first",
        is_sortable=True,
    )
    return _bounded(table, number)


def requests(profile: Row, most: int, title: str, empty: str = "") -> Table:
    """Return the requests to MPI-IO for each file, and the system calls that followed."""
    rows = [
        {
            **row,
            "direction": "write" if row["writing"] else "read",
            "source": "single calls" if row["exact"] else "counters",
            # If no bytes are known, there is no mean size.
            "program_mean_bytes": row["program_mean_bytes"] or None,
            "system_mean_bytes": row["system_mean_bytes"] or None,
            "modified": size_text(row["modify_bytes"]) if row["modify_bytes"] else "",
        }
        for row in profile["requests"][:most]
    ]
    note = (
        "MPI-IO may gather the requests of many ranks (collective buffering), or read "
        "around small ones (data sieving), before anything reaches the file system. It "
        "worked if a few processes made fewer, larger, aligned system calls. If there are "
        "as many as before, and as small, it had no effect."
    )
    table = Table("requests_by_file", title, _REQUESTS, rows, note, empty, is_sortable=True)
    return _bounded(table, profile["requests_total"])


def size_bars(name: str, title: str, counts: Sequence[int], note: str) -> Bars:
    """Return how many calls there were of each size, from the smallest to the largest."""
    used = [place for place, count in enumerate(counts) if count]
    shown = slice(used[0], used[-1] + 1) if used else slice(0)
    return Bars(name, title, size_labels()[shown], list(counts[shown]), "calls", note)


def _bounded(table: Table, number: int) -> Table:
    """Add a note on the total number of rows if the table shows only the first ones."""
    if number <= len(table.rows):
        return table
    shown = f"the first {len(table.rows)} of {number} rows"
    return replace(table, total="; ".join(filter(None, (table.total, shown))))
