# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows other forms of a profile: patterns, single calls, contents of logs, files of calls."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stripewise.cli._common import answer, echo, note, print_json
from stripewise.core.errors import TraceError, UsageError

if TYPE_CHECKING:
    from stripewise.evidence.patterns import Pattern, PatternGroup
    from stripewise.evidence.trace import Trace


@dataclass(frozen=True)
class Chosen:
    """Selection of the parts of a log to include.

    Attributes:
        files / datasets / ranks / layers: The ones to include; empty for all.
        every_call: Whether calls that were recorded together are shown one by one.
        limit: Maximum number of rows; None for the usual number.
        everything: Whether to show all rows.
    """

    files: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    layers: tuple[str, ...] = ()
    every_call: bool = False
    limit: int | None = None
    everything: bool = False

    def limit_of(self, usual: int, *, as_json: bool = False) -> int | None:
        """Return the maximum number of rows, None for all of them."""
        if self.everything or (as_json and self.limit is None):
            return None
        return usual if self.limit is None else self.limit

    def has_access(self, file: str, dataset: str) -> bool:
        """Return whether a file and a dataset are included."""
        return (
            not self.files or any(one in file or fnmatchcase(file, one) for one in self.files)
        ) and (not self.datasets or any(fnmatchcase(dataset, one) for one in self.datasets))


# ---- single calls


def show_info(paths: tuple[Path, ...], chosen: Chosen, *, as_json: bool) -> None:
    """Show the contents of a log: processes, calls, files, losses and size."""
    from stripewise.evidence.readers import read_evidence
    from stripewise.evidence.report import info_content, trace_info
    from stripewise.present.renderers import as_lines

    found = trace_info(read_evidence(paths), sum(_size(path) for path in paths))
    content = info_content(found, everything=chosen.everything)
    answer(as_json, lambda: found, lambda: as_lines(content))


def show_calls(paths: tuple[Path, ...], chosen: Chosen, *, as_json: bool) -> None:
    """Show the calls of a trace in order of time; with JSON, a document for each line.

    A folded sequence of equal calls is one line with their number, distance and total time.
    """
    from stripewise.evidence.report import row_as_json, select_rows, table_lines
    from stripewise.evidence.trace import expand

    trace = _trace_of(paths)
    rows = select_rows(trace, ranks=chosen.ranks, files=chosen.files, layers=chosen.layers)
    if chosen.every_call:
        rows = expand(trace, rows)
        rows = rows[rows["start_ns"].argsort(kind="stable")]
    limit = chosen.limit_of(50, as_json=as_json)
    if as_json:
        for row in rows[:limit]:
            print_json(row_as_json(trace, row), indent=None)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines(trace, rows[:limit], width):
        echo(line)
    if limit is not None and len(rows) > limit:
        note(f"{len(rows) - limit} more; --all shows all", kind="note")


def export(paths: tuple[Path, ...], chosen: Chosen, output: Path) -> None:
    """Write the calls of a trace as Parquet, or as a timeline in the trace-event format."""
    from stripewise.evidence.report import select_rows, write_parquet, write_trace_events
    from stripewise.evidence.trace import expand

    writers = {".parquet": write_parquet, ".json": write_trace_events}
    write = writers.get(output.suffix.lower())
    if write is None:
        raise UsageError(f"--export {output}: the name must end in .parquet or .json")
    trace = _trace_of(paths)
    rows = select_rows(trace, ranks=chosen.ranks, files=chosen.files, layers=chosen.layers)
    rows = expand(trace, rows) if chosen.every_call else rows
    write(trace, rows, output)
    note(f"{len(rows)} {'calls' if chosen.every_call else 'records'} in {output}")


def collect(sources: tuple[Path, ...], output: Path, *, as_json: bool) -> None:
    """Copy containers from the directories of the nodes into one directory.

    Each copy is atomic and readable only by its owner; the sources are kept. Containers of
    different runs are refused.
    """
    from stripewise.evidence.readers import collect_containers
    from stripewise.present import plural

    copies = collect_containers(sources, output)
    if as_json:
        print_json({"copied": [str(copy) for copy in copies]})
        return
    note(f"{plural(len(copies), 'container')} copied to {output}")


def _trace_of(paths: tuple[Path, ...]) -> Trace:
    from stripewise.evidence.readers import read_evidence

    evidence = read_evidence(paths)
    if evidence.trace is None:
        raise TraceError(
            f"{paths[0]} has counters but no single calls; `stripewise run --trace` records them"
        )
    return evidence.trace


def _size(path: Path) -> int:
    """Return the size of a file, or of all files below a directory."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


# ---- patterns


def show_patterns(paths: tuple[Path, ...], chosen: Chosen, *, words: bool, as_json: bool) -> None:
    """Show how the ranks divide each dataset; datasets of the same pattern share a line."""
    patterns = _patterns(paths, chosen)
    if not patterns and not as_json:
        note("no pattern can be found: the log has no file offsets")
    answer(
        as_json,
        lambda: {"patterns": [pattern_data(one) for one in patterns]},
        lambda: _lines(patterns, words=words),
    )


def _patterns(paths: Sequence[Path], chosen: Chosen) -> list[Pattern]:
    from stripewise.evidence.patterns import find_patterns
    from stripewise.evidence.readers import read_evidence

    accesses = read_evidence(paths).accesses
    return list(
        find_patterns(
            [one for one in accesses if chosen.has_access(one.file, getattr(one, "dataset", ""))]
        )
    )


def _lines(patterns: Sequence[Pattern], *, words: bool) -> Iterator[str]:
    """Yield a line for each group of patterns, followed by details."""
    from stripewise.evidence.patterns import describe, group_patterns
    from stripewise.evidence.report import pattern_heading

    for group in group_patterns(patterns):
        yield pattern_heading(group)
        yield f"  {_facts(group.pattern)}"
        if words:
            yield f"  {describe(group.pattern)}"
        else:
            yield from (f"  {text}" for text in group.pattern.notes)


def _facts(pattern: Pattern) -> str:
    """Return the figures of a pattern in a line."""
    from stripewise.present import plural

    active, n_ranks = pattern.active_ranks, pattern.n_ranks
    facts = [f"{pattern.kind}"]
    if len(pattern.grid) and max(pattern.grid) > 1:
        order = "" if pattern.rank_order == "C" else f" ({pattern.rank_order} order)"
        facts.append(f"grid {' x '.join(map(str, pattern.grid))}{order}")
    facts.append(f"{active} of {n_ranks} ranks" if active < n_ranks else plural(n_ranks, "rank"))
    facts.append(plural(pattern.element_bytes, "byte") + " an element")
    if pattern.steps > 1:
        facts.append(f"{pattern.steps} steps")
    if pattern.halo:
        facts.append(f"overlap {' x '.join(map(str, pattern.halo))}")
    if pattern.uneven:
        facts.append("uneven")
    if pattern.n_deviating:
        facts.append(f"{plural(pattern.n_deviating, 'rank')} different ({_named(pattern)})")
    facts.append(f"{100 * pattern.collective:.0f} % collective")
    return ", ".join(facts)


def _named(pattern: Pattern) -> str:
    more = pattern.n_deviating > len(pattern.deviating_ranks)
    return ", ".join(map(str, pattern.deviating_ranks)) + (", ..." if more else "")


def pattern_data(pattern: Pattern) -> dict[str, Any]:
    """Return a pattern as data for JSON."""
    from stripewise.evidence.patterns import describe

    data = asdict(pattern)
    names = [str(part) for part in pattern.distributions]
    return {"notation": pattern.notation, **data, "names": names, "words": describe(pattern)}


def compare_patterns(
    paths: Sequence[Path], others: Sequence[Path], chosen: Chosen, *, as_json: bool
) -> None:
    """Show, for each pattern of the first run, the nearest one of the second and its distance."""
    from stripewise.evidence.patterns import distance, distance_parts, group_patterns

    found = []
    candidates = group_patterns(_patterns(others, chosen))
    for group in group_patterns(_patterns(paths, chosen)) if candidates else ():
        apart, place = min(
            (distance(group.pattern, other.pattern), place)
            for place, other in enumerate(candidates)
        )
        parts = distance_parts(group.pattern, candidates[place].pattern)
        found.append((group, candidates[place], apart, parts))
    if not found and not as_json:
        note("one of the two has no patterns: there is nothing to compare")
    answer(
        as_json,
        lambda: {"pairs": [_pair(*entry) for entry in found]},
        lambda: [line for entry in found for line in _pair_lines(*entry)],
    )


def _pair_lines(
    group: PatternGroup, nearest: PatternGroup, apart: float, parts: dict[str, float]
) -> Iterator[str]:
    from stripewise.evidence.report import pattern_heading

    yield pattern_heading(group)
    yield f"  {apart:.3f}  {pattern_heading(nearest)}"
    unlike = ", ".join(f"{name} {part:.2f}" for name, part in parts.items() if part > 0.005)
    if unlike:
        yield f"  differs in: {unlike}"


def _pair(
    group: PatternGroup, nearest: PatternGroup, apart: float, parts: dict[str, float]
) -> dict[str, Any]:
    names = [{"name": one.name, "notation": one.pattern.notation} for one in (group, nearest)]
    return {"first": names[0], "second": names[1], "distance": apart, "parts": parts}
