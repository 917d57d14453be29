# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Decompositions of arrays over ranks, whose patterns `profile --as pattern` must name.

The input of a case is the decomposition (`decompositions.py`); its answer is `patterns`, one table
for each pattern with the fields of `--json` that must be equal, or `irregular`: it has no name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.decomposed import STRIPEWISE, run, traced

_ALWAYS = ("dataset", "writing", "active_ranks", "collective")


class TheKind(Kind):
    """Decompositions over HDF5, NetCDF-4, PnetCDF, MPI-IO and ADIOS2."""

    title = "access patterns"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Run the decomposition and compare its patterns with those of the answer.

        A pattern with a name that is called irregular, with the right ranks and calls, counts as
        refused rightly.
        """
        trace = traced(case.input, directory)
        command = [STRIPEWISE, "profile", "--as", "pattern", "--json", trace]
        found = json.loads(run(command, directory))["patterns"]
        found = [one for one in found if Path(one["file"]).name.startswith(("out", "data."))]
        wanted = [dict(one) for one in case.answer["patterns"]]
        if len(found) != len(wanted):
            names = ", ".join(f"{one['dataset']} {one['notation']}" for one in found)
            return Outcome(Verdict.WRONG, f"{len(found)} patterns, not {len(wanted)}: {names}")
        pairs = list(zip(_ordered(found), _ordered(wanted), strict=True))
        wrong = [text for one, right in pairs for text in _differences(one, right)]
        if not wrong:
            return Outcome(Verdict.RIGHT)
        called = all(
            one["kind"] == "irregular" and not list(_differences(one, right, _ALWAYS))
            for one, right in pairs
            if list(_differences(one, right))
        )
        return Outcome(Verdict.REFUSED if called else Verdict.WRONG, "; ".join(wrong))


def _ordered(patterns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(patterns, key=lambda one: (one.get("dataset", ""), one.get("file_offset", 0)))


def _differences(
    found: Mapping[str, Any], right: Mapping[str, Any], names: Sequence[str] = ()
) -> list[str]:
    shown = {**found, "interleave": [one.get("interleave") for one in found["distributions"]]}
    return [
        f"{name} is {shown.get(name)}, not {value}"
        for name, value in right.items()
        if (not names or name in names) and shown.get(name) != value
    ]
