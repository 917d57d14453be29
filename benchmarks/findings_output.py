# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The results of `bench_findings.py` as a part of a page."""

from __future__ import annotations

from pathlib import Path

BEGIN = "<!-- findings: begin (python benchmarks/bench_findings.py --into THIS FILE) -->"
END = "<!-- findings: end -->"


def markdown(document: dict) -> str:
    """Table of the programs, and the scores."""
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


def into_page(page: Path, document: dict) -> None:
    """Replace the marked part of a page."""
    text = page.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{markdown(document)}\n\n{END}{after}", "utf-8")
