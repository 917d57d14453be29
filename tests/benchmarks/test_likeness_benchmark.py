# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The fit of likeness finds weights that are there, and the code has those of the page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from stripewise.evidence.patterns import distance_weights
from stripewise.learning.knowledge import _similarity as similarity

ROOT = Path(__file__).parents[2]
PATTERN = ("distribution", "run", "size", "ranks", "dimensions", "direction", "collective",
           "element")  # fmt: skip
REST = ("shares", "read", "noncontiguous", "call", "calls", "n_ranks", "n_hosts", "volume",
        "mpi", "driver", "storage", "halo")  # fmt: skip


def test_weights_that_are_there_are_found(tmp_path):
    draw, rows = Random(1), []
    for n in range(300):
        parts = {name: draw.random() * (draw.random() < 0.3) for name in (*PATTERN, *REST)}
        lost = 0.4 * parts["size"] + 0.2 * parts["collective"] + 0.3 * parts["storage"]
        rows.append(
            {"family": n // 6, "cases": [n % 3, 3 + n % 2], "parts": parts, "lost": [lost] * 2,
             "possible": [1.0, 1.0], "shipped": lost}
        )  # fmt: skip
    kept = tmp_path / "rows.json"
    kept.write_text(json.dumps(rows))
    words = [sys.executable, ROOT / "benchmarks/likeness.py", "--outcomes", kept]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = weights(done.stdout)
    assert found["all that patterns tell"] == pytest.approx(0.6, abs=0.05)
    assert found["size"] == pytest.approx(0.4 / 0.6, abs=0.05)
    assert found["another storage of the type"] == pytest.approx(0.3, abs=0.03)
    assert found["distribution"] < 0.03
    assert re.search(r"distance and loss (0\.9|1)", done.stdout)


def test_the_code_has_the_fitted_weights():
    found = weights((ROOT / "docs/design/memory.md").read_text("utf-8"))
    shares = {name: share for name, (share, _) in distance_weights().items()}
    rest = 1 - shares["halo"]
    for name in PATTERN:
        assert shares[name] == pytest.approx(rest * found[name], abs=0.011), name
    octaves = found["all that patterns tell"] + found["all that counters tell"]
    assert found["all that patterns tell"] / octaves == pytest.approx(
        similarity.PATTERN_WEIGHT, abs=0.01
    )
    scale = sum(found[f"{name} octaves"] for name in ("ranks, of 5", "nodes, of 5",
                                                     "bytes moved, of 10"))  # fmt: skip
    assert scale / octaves == pytest.approx(similarity.SCALE_WEIGHT, abs=0.01)
    mpi = found["another MPI family"] / octaves
    assert mpi == pytest.approx(similarity.STACK_WEIGHT, abs=0.01)
    known = sum(similarity.COUNTED_WEIGHTS[name] for name in ("shared", "libraries"))
    for name in ("shares", "read", "noncontiguous", "call", "calls"):
        share = similarity.COUNTED_WEIGHTS[name] / (1 - known)
        assert share == pytest.approx(found[f"counted {name}"], abs=0.011), name


def weights(page: str) -> dict[str, float]:
    """Return the weights in the table of a page, or as they are printed."""
    lines = re.findall(r"^\| ([^|]+) \| ([\d.]+) \| [\d.]+ to [\d.]+ \|$", page, re.M)
    return {name: float(weight) for name, weight in lines}
