# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A probe beside other work is repeated, or its costs are marked and have wider intervals."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from stripewise.core import Interval, StorageCosts
from stripewise.storage.machines import _probe as probing
from stripewise.storage.machines import description_text, load_description, probe_storage
from stripewise.storage.machines._disturbance import Watch, unsteady
from stripewise.storage.machines._probe import Effort, Samples, Transfer

COSTS = StorageCosts(
    host="here",
    processors=2,
    measured=1.7e9,
    write={1024: Interval(1e-6, 2e-6, 3e-6)},
    calls={"open": Interval(1e-6, 2e-6, 4e-6)},
)
SHORT = Effort(rounds=3, seconds=0.01, region=8 << 20, files=5)


def _proc(directory: Path, busy: float, steal: float = 0.0) -> Path:
    tick = os.sysconf("SC_CLK_TCK")
    lines = ["cpu 0 0 0 0 0 0 0 0 0 0"]
    for number in sorted(os.sched_getaffinity(0)):
        user, stolen = int(busy * tick), int(steal * tick)
        lines.append(f"cpu{number} {user} 0 0 0 0 0 0 {stolen} 0 0")
    directory.mkdir(exist_ok=True)
    (directory / "stat").write_text("\n".join(lines) + "\n")
    return directory


@pytest.mark.parametrize(
    ("busy", "steal", "word"),
    [(5.0, 0.0, "other programs used"), (0.0, 5.0, "to other machines"), (0.0, 0.0, "")],
)
def test_processors_that_others_use_are_seen(
    tmp_path: Path, busy: float, steal: float, word: str
) -> None:
    proc = _proc(tmp_path / "proc", 100.0)
    with Watch(proc) as watch:
        time.sleep(0.02)
        _proc(proc, 100.0 + busy, steal)
    assert word in " ".join(watch.reasons)
    assert bool(watch.reasons) is bool(word)


def test_without_proc_nothing_is_claimed(tmp_path: Path) -> None:
    with Watch(tmp_path) as watch:
        pass
    assert watch.reasons == ()


@pytest.mark.parametrize(
    ("repeats", "words"),
    [
        ([[100, 104, 98, 101]] * 3, ""),
        ([[100, 99, 60, 50]] * 3, "2.0 times as slow"),
        ([[50, 60, 99, 100]] * 3, "2.0 times as fast"),
        ([[100, 40, 160, 90]] * 3, "repeats differ by"),
        ([[100, 100, 100], [100, 40, 160], [100, 101, 99]], ""),  # one of three kinds
        ([[100.0]], ""),  # nothing to compare
        ([], ""),
    ],
)
def test_repeats_that_differ(repeats: list[list[float]], words: str) -> None:
    found = " ".join(unsteady(repeats))
    assert words in found
    assert bool(found) is bool(words)


def test_a_storage_that_always_varies_is_not_disturbed() -> None:
    assert unsteady([[100, 40, 160, 90]] * 3, usual_cv=0.4) == ()


def _measured(monkeypatch: pytest.MonkeyPatch, *rounds: list[float]) -> list[int]:
    """Make attempts find these rates, and the processors free."""
    attempts: list[int] = []

    def measure(work: Path, processes: int, effort: Effort) -> Samples:
        rates = rounds[min(len(attempts), len(rounds) - 1)]
        attempts.append(1)
        kinds = probing.transfers(processes)
        calls = {(call, n): [1e-5] * 3 for call in probing.METADATA for n in (1, processes)}
        found: dict[Transfer, list[float]] = {kind: list(rates) for kind in kinds}
        return Samples(processes, True, found, calls)

    monkeypatch.setattr(probing, "measure_rounds", measure)
    monkeypatch.setattr(probing, "measure_costs", lambda work, stacks: COSTS)
    monkeypatch.setattr(Watch, "_now", lambda self: None)
    return attempts


def test_what_was_disturbed_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = _measured(monkeypatch, [1e8, 9e7, 3e7], [1e8, 1.01e8, 1e8])
    told: list[str] = []
    found = probe_storage(tmp_path, effort=SHORT, tell=told.append)
    assert len(attempts) == 2
    assert "measuring again" in told[0]
    assert found.costs == COSTS


def test_what_stays_disturbed_is_marked_and_wider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = _measured(monkeypatch, [1e8, 9e7, 3e7])
    found = probe_storage(tmp_path, effort=SHORT)
    assert len(attempts) == 2
    assert "times as slow" in found.costs.disturbed
    assert found.costs.write[1024] == Interval(5e-7, 2e-6, 6e-6)
    assert found.costs.spread > COSTS.spread or COSTS.spread == 0.5
    kept: Any = load_description(description_text(found))
    assert kept == found
    figure = found.figures["client.process_write"]
    assert figure.low is not None
    assert figure.low <= figure.value / 2


def test_a_quiet_machine_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = _measured(monkeypatch, [1e8, 1.05e8, 9.8e7])
    assert probe_storage(tmp_path, effort=SHORT).costs.disturbed == ""
    assert len(attempts) == 1
