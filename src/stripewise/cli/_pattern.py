# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise pattern`: the access pattern of each dataset, and how alike patterns are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import echo, examples, json_option, note, print_json
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
    if as_json:
        print_json({"patterns": [pattern_data(one) for one in patterns]})
        return
    if not patterns:
        note("no places in a file were recorded that a pattern could be found in")
    for line in _lines(patterns, words=words):
        echo(line)


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
    active, n_ranks = pattern.active_ranks, pattern.n_ranks
    facts = [f"{pattern.kind}"]
    if len(pattern.grid) and max(pattern.grid) > 1:
        order = "" if pattern.rank_order == "C" else f" ({pattern.rank_order} order)"
        facts.append(f"grid {' x '.join(map(str, pattern.grid))}{order}")
    facts.append(f"{active} of {n_ranks} ranks" if active < n_ranks else _number(n_ranks, "rank"))
    facts.append(_number(pattern.element_bytes, "byte") + " an element")
    if pattern.steps > 1:
        facts.append(f"{pattern.steps} steps")
    if pattern.halo:
        facts.append(f"overlap {' x '.join(map(str, pattern.halo))}")
    if pattern.uneven:
        facts.append("uneven")
    if pattern.n_deviating:
        facts.append(f"{_number(pattern.n_deviating, 'rank')} not so ({_named(pattern)})")
    facts.append(f"{100 * pattern.collective:.0f} % collective")
    return ", ".join(facts)


def _number(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


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
    for group in group_patterns(first):
        others = group_patterns(second)
        if not others:
            break
        nearest = min(others, key=lambda other: distance(group.pattern, other.pattern))
        found.append((group, nearest, distance_parts(group.pattern, nearest.pattern)))
    if as_json:
        print_json({"pairs": [_pair(*entry) for entry in found]})
        return
    if not found:
        note("one of the two has no patterns: there is nothing to compare")
    for group, nearest, parts in found:
        echo(_heading(group))
        echo(f"  {_away(group, nearest)}  {_heading(nearest)}")
        unlike = ", ".join(f"{name} {part:.2f}" for name, part in parts.items() if part > 0.005)
        if unlike:
            echo(f"  differs in: {unlike}")


def _away(group: PatternGroup, other: PatternGroup) -> str:
    from stripewise.patterns import distance

    return f"{distance(group.pattern, other.pattern):.3f}"


def _pair(group: PatternGroup, nearest: PatternGroup, parts: dict[str, float]) -> dict[str, Any]:
    from stripewise.patterns import distance

    return {
        "first": {"name": group.name, "notation": group.pattern.notation},
        "second": {"name": nearest.name, "notation": nearest.pattern.notation},
        "distance": distance(group.pattern, nearest.pattern),
        "parts": parts,
    }
