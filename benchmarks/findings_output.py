# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the results of `bench_findings.py` as a Markdown table."""

from __future__ import annotations


def markdown(document: dict) -> str:
    """Return the table of the programs, and the scores."""
    lines = [
        f"{document['right']} of {document['claims']} claims are right: the remedy gained at "
        f"least half and at most twice as much. {document['told']} of {document['planted']} "
        f"planted faults were told of. In {document['stable']} of {document['repeated']} programs "
        f"that were traced {document['repeats']} times more, at least 19 of 20 runs told the "
        f"same. {document['pairs']} pairs each, {document['processors']} processors, "
        f"{document['file_system']}, {document['minutes']:.0f} minutes in all.",
        "",
        "| Rule | Program | Run | Claimed | Gained (least to most) | Right | Told again |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(row) for row in document["rows"]]
    return "\n".join(lines)


def _row(row: dict) -> str:
    again = f"{sum(row['same'])} of {len(row['same'])}" if row["same"] else ""
    name = f"`{row['rule']}`" if row["rule"] else "nothing to find"
    others = [code for code in row["told"] if code != row["rule"]]
    title = row["name"] + (f" (also told: {', '.join(others)})" if others else "")
    if "claim" not in row:
        answer = "not told" if row["rule"] else "silent" if not others else "no"
        return f"| {name} | {title} | | | | {answer} | {again} |"
    low, claim, high = row["claim"]
    least, gain, most = row["gain"]
    return (
        f"| {name} | {title} | {row['before']:.2f} s | {claim:.2f} s ({low:.2f} to {high:.2f}) | "
        f"{gain:.2f} s ({least:.2f} to {most:.2f}) | {'yes' if row['right'] else 'no'} | {again} |"
    )
