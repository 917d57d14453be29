# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What of the outputs can be compared, known before anything is tried."""

from __future__ import annotations

from functools import partial

from stripewise.model import Verification, VerificationStatus, from_json, to_json
from stripewise.study._context import Baseline, Context
from stripewise.tunables import SafetyClass, Space
from stripewise.verify import NO_FILE


def say_what_is_not_verifiable(context: Context) -> None:
    """Warn, with the remedy, where no candidate could be proven: two baselines tell."""
    for baseline in context.baselines:
        if why := _nothing_to_compare(baseline):
            baseline.context.warn(
                f"no settings can be verified, since the output cannot be compared: {why}"
            )


def _nothing_to_compare(baseline: Baseline) -> str:
    """Say why the two kept baselines cannot be compared; "" if they can."""
    case, (first, second) = baseline.context, baseline.kept_runs
    found = from_json(
        Verification,
        case.remember(
            "comparable",
            lambda: to_json(case.tools.compare((first, second), second, True, baseline.traced)),
        ),
    )
    if found.status is not VerificationStatus.NOT_VERIFIABLE:
        return ""
    if not found.compared and set(found.not_verifiable) <= {NO_FILE}:
        return "the program leaves no file in its directory; " + (
            "see that it writes there"
            if case.options.keep_removed
            else "if it removes its output itself, give --keep-removed"
        )
    name, reason = next(iter(found.not_verifiable.items()))
    return (
        f"{name}: {reason}; let the program write the same in every run (a fixed seed, no time "
        "stamp)"
    )


def verifiable_space(context: Context) -> Space:
    """Leave out the tunables that may change the layout of an output that cannot be read."""
    for baseline in context.baselines:
        case, run_id = baseline.context, baseline.kept_runs[0]
        # recorded: the strategy must see the same tunables after a restart
        if why := case.remember("unreadable", partial(case.tools.unreadable, run_id)):
            return _without_layout(context, case.said(why))
    return context.space


def _without_layout(context: Context, why: str) -> Space:
    space = context.space
    safe = tuple(d for d in space.dimensions if d.tunable.safety is SafetyClass.SAFE)
    names = [d.tunable.name for d in space.dimensions if d not in safe]
    if names:
        context.warn(f"only settings that leave every byte as it is are tried: {why}")
    return Space(safe, {**space.left_out, **dict.fromkeys(names, why)})
