# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged containers with traces: one clear error, or a partial result that says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.trace_fuzz import check_input
from support.trace_samples import mixed_container

N_INPUTS = 500
TESTS = Path(__file__).parents[2]
CODE = "from support.trace_fuzz import run_inputs; print(run_inputs(0, {}))"


def test_mutated_inputs() -> None:
    command = [sys.executable, "-c", CODE.format(N_INPUTS)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=250, check=False, cwd=TESTS
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "partial" in done.stdout


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 5000, 8192, 12_000])
def test_any_length(size: int) -> None:
    assert check_input(mixed_container()[:size]) in ("error", "partial", "read")


def test_the_sample_itself_is_read() -> None:
    assert check_input(mixed_container()) == "read"
