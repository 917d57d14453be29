# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Containers of one run -> everything that they tell of it."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.model import Evidence
from stripewise.readers._accesses import accesses
from stripewise.readers._join import join_containers
from stripewise.readers._parse import RawContainer
from stripewise.readers._profile import Profile
from stripewise.readers._run_profile import run_profile
from stripewise.readers._trace_join import join_traces


def evidence_of(raws: Sequence[RawContainer], counters: Profile | None = None) -> Evidence:
    """Join the containers of one run, parsed with their events.

    Args:
        raws: The containers; their rows are given up.
        counters: Joined from the same, if that was done.
    """
    counters = join_containers(raws) if counters is None else counters
    trace = join_traces(raws, counters)
    profile = run_profile(counters, trace, _problems(raws))
    return Evidence(profile, trace, accesses(trace) if trace is not None else ())


def _problems(raws: Sequence[RawContainer]) -> list[str]:
    return list(dict.fromkeys(f"{raw.host}: {text}" for raw in raws for text in raw.problems))
