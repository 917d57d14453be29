# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise pattern`: the access pattern of each dataset, and how alike patterns are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, json_option, note
from stripewise.errors import UsageError

if TYPE_CHECKING:
    from stripewise.model import Pattern
    from stripewise.patterns import PatternGroup


@click.command(
    epilog=examples(
        "stripewise pattern program.trace",
        "stripewise pattern job.darshan --file '*/restart.*'",
        "stripewise pattern program.trace --dataset '/unk_*' --words",
        "stripewise pattern program.trace --json > patterns.json",
        "stripewise pattern --compare before.trace after.trace",
    )
)
@click.option(
    "--file", "files", metavar="GLOB", default="*", help="Include only files whose path matches."
)
@click.option(
    "--dataset",
    "datasets",
    metavar="GLOB",
    default="*",
    help="Include only datasets whose name matches.",
)
@click.option("--words", is_flag=True, help="Describe each pattern in plain words as well.")
@click.option(
    "--compare",
    nargs=2,
    metavar="PATH PATH",
    type=click.Path(readable=False),
    help="For each pattern of the first run, show the nearest one of the second and its distance.",
)
@json_option
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False))
def command(
    paths: tuple[str, ...],
    files: str,
    datasets: str,
    words: bool,
    compare: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """Show in which pattern the ranks of a run write and read each dataset.

    PATH is a directory or file of `stripewise trace`, a Darshan log (with DXT, for the places
    in a file), or a directory of Recorder.

    A pattern is <dimensions, (distribution of each), (block of one process)> in the terms of
    High Performance Fortran: BLOCK, CYCLIC, CYCLIC(k), or * for a dimension that is not cut.
    Datasets of the same pattern share a line.
    """
    if bool(paths) == bool(compare):
        raise UsageError("say what to look at: PATH..., or --compare PATH PATH")
    if compare:
        _compare(*(_patterns([path], files, datasets) for path in compare), as_json=as_json)
        return
    patterns = _patterns(paths, files, datasets)
    if not patterns and not as_json:
        note("no places in a file were recorded that a pattern could be found in")
    answer(
        as_json,
        lambda: {"patterns": [pattern_data(one) for one in patterns]},
        lambda: _lines(patterns, words=words),
    )


def _patterns(paths: Sequence[str], files: str, datasets: str) -> list[Pattern]:
    from stripewise.patterns import find_patterns
    from stripewise.readers import read_evidence

    evidence = read_evidence([Path(path) for path in paths])
    chosen = [
        access
        for access in evidence.accesses
        if fnmatchcase(access.file, files)
        and fnmatchcase(getattr(access, "dataset", ""), datasets)
    ]
    return list(find_patterns(chosen))


def _lines(patterns: Sequence[Pattern], *, words: bool) -> Iterator[str]:
    """Yield the text: a line for each group, then what is to be said of it."""
    from stripewise.patterns import describe, group_patterns

    for group in group_patterns(patterns):
        yield _heading(group)
        yield f"  {_facts(group.pattern)}"
        if words:
            yield f"  {describe(group.pattern)}"
        else:
            yield from (f"  {text}" for text in group.pattern.notes)


def _heading(group: PatternGroup) -> str:
    number = len(group.members)
    verb = "write" if group.pattern.writing else "read"
    kind = "datasets" if group.members[0][1] else "arrays"
    many = f"{number} {kind} " if number > 1 else ""
    return f"{verb:5} {many}{group.name}: {group.pattern.notation}"


def _facts(pattern: Pattern) -> str:
    """Return the numbers of a pattern in a line."""
    from stripewise.report import plural

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
        facts.append(f"{plural(pattern.n_deviating, 'rank')} not so ({_named(pattern)})")
    facts.append(f"{100 * pattern.collective:.0f} % collective")
    return ", ".join(facts)


def _named(pattern: Pattern) -> str:
    more = pattern.n_deviating > len(pattern.deviating_ranks)
    return ", ".join(map(str, pattern.deviating_ranks)) + (", ..." if more else "")


def pattern_data(pattern: Pattern) -> dict[str, Any]:
    """Return a pattern as it stands in JSON."""
    from dataclasses import asdict

    from stripewise.patterns import describe

    data = asdict(pattern)
    names = [str(part) for part in pattern.distributions]
    return {"notation": pattern.notation, **data, "names": names, "words": describe(pattern)}


def _compare(first: list[Pattern], second: list[Pattern], *, as_json: bool) -> None:
    """Print, for each pattern of the first run, the nearest one of the second."""
    from stripewise.patterns import distance, distance_parts, group_patterns

    found = []
    others = group_patterns(second)
    for group in group_patterns(first) if others else ():
        apart, place = min(
            (distance(group.pattern, other.pattern), place) for place, other in enumerate(others)
        )
        parts = distance_parts(group.pattern, others[place].pattern)
        found.append((group, others[place], apart, parts))
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
    yield _heading(group)
    yield f"  {apart:.3f}  {_heading(nearest)}"
    unlike = ", ".join(f"{name} {part:.2f}" for name, part in parts.items() if part > 0.005)
    if unlike:
        yield f"  differs in: {unlike}"


def _pair(
    group: PatternGroup, nearest: PatternGroup, apart: float, parts: dict[str, float]
) -> dict[str, Any]:
    names = [{"name": one.name, "notation": one.pattern.notation} for one in (group, nearest)]
    return {"first": names[0], "second": names[1], "distance": apart, "parts": parts}
