# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A hundred thousand damaged traces of other tools, and some hundred damaged Darshan logs."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

import pytest

from stripewise.core.errors import StripewiseError
from stripewise.evidence.readers.darshan._read import DarshanSource
from support.amounts import share_of
from support.fuzz_sources import fuzz
from support.mutations import mutate

pytestmark = [pytest.mark.long, pytest.mark.timeout(3000)]

CASES = {
    "recorder-text": 20_000,
    "recorder-directory": 15_000,
    "recorder-merged": 10_000,
    "hdf5-recorder": 25_000,
    "mpiio-stats": 30_000,
}
CHUNK = 2_500
DARSHAN_CASES = share_of(60)
WORKERS = min(os.cpu_count() or 1, 8)


@pytest.mark.parametrize("kind", CASES)
def test_damaged_traces(kind: str) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context, max_tasks_per_child=1) as pool:
        count = share_of(CASES[kind])
        chunk = min(CHUNK, count)
        runs = [pool.submit(fuzz, kind, seed, chunk) for seed in range(count // chunk)]
        assert [line for run in runs for line in run.result()] == []


@pytest.mark.parametrize("name", ["example", "dxt", "ior_hdf5_example", "noposix", "shane_macsio"])
def test_damaged_darshan_logs(name: str, tmp_path: Path) -> None:
    darshan = pytest.importorskip("darshan")
    folder = Path(darshan.__file__).parent / "examples" / "example_logs"
    (log,) = folder.glob(f"{name}*.darshan")
    good = log.read_bytes()
    broken = tmp_path / "broken.darshan"
    for case in range(DARSHAN_CASES):
        random = Random(f"{name} {case}")
        broken.write_bytes(mutate(good, random))
        said = _said(broken)
        assert said, case
        assert "\n" not in said, case


def _said(path: Path) -> str:
    """What the user learns: the one line of the error, or the first note."""
    try:
        return DarshanSource().read(path).profile.notes[0]
    except StripewiseError as error:
        return str(error)
