# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Surfaces by formula, for tests: every possible point, with noise by seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from stripewise.core import ProgramFacts, Value
from stripewise.study.training import (
    Surface,
    SurfaceRun,
    SurfaceWriter,
    plan_runs,
    possible_points,
)
from support.strategy_suite import romio_facts
from support.study_fakes import Noise, no_noise


def save_surface(surface: Surface, path: Path) -> None:
    """Write a surface as a recording does."""
    with SurfaceWriter(path, surface) as writer:
        for run in surface.runs:
            writer.append(run)


def synthetic_surface(
    io_seconds: Callable[[Mapping[str, Value]], float],
    vary: Mapping[str, Sequence[Value]],
    *,
    noise: Noise = no_noise,
    repeats: int = 5,
    facts: ProgramFacts | None = None,
    seed: int = 0,
) -> Surface:
    """Return a surface as a recording would have left it.

    Args:
        io_seconds: True I/O time under given settings.
        vary: Tunable to its values besides the default.
        noise: Factor of one run.
        repeats: Rounds.
        facts: Of the program; default: one on which many tunables act.
        seed: Of order and noise.
    """
    known = facts or romio_facts()
    tunables = {name: tuple(values) for name, values in vary.items()}
    points, impossible = possible_points(tunables, known)
    random = Random(f"surface:{seed}")
    runs: list[SurfaceRun] = []
    for planned in plan_runs(points, repeats, seed, 20):
        seconds = io_seconds(planned.settings) * noise(random)
        runs.append(
            replace(
                planned,
                elapsed_seconds=seconds + 0.3,
                io_seconds=seconds,
                write_bytes=1 << 24,
                started_unix_seconds=float(len(runs)),
            )
        )
    return Surface(
        command=("mpiexec", "-n", "8", "./synthetic"),
        facts=known,
        provenance={"cpu": "none"},
        tunables=tunables,
        runs=tuple(runs),
        plan={
            "repeats": repeats,
            "seed": seed,
            "control_every": 20,
            "configurations": len(points),
            "impossible": impossible,
        },
    )
