# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Facts about HDF5's transfers: fallbacks with HDF5's own cause, and conversions of types."""

from dataclasses import replace

import numpy as np
import pytest
from runs import MIB, RunBuilder

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.trace import TRANSFER_ROW, Cause, IoLayer, IoMode, Op

FILE = "/d/out.h5"


def run_of(transfers, *, ops, below=None, names=("/q",)):
    """A run of two ranks with these counters in HDF5, MPI-IO and the system, and transfers."""
    run = RunBuilder(n_ranks=2, elapsed=10.0)
    run.everyone(FILE, IoLayer.HDF5, ops)
    run.everyone(FILE, IoLayer.MPIIO, below or ops, own=False)
    system = {Op.WRITE: (100, 64 * MIB, 1.0), Op.READ: (100, 60 * MIB, 1.0)}
    run.everyone(FILE, IoLayer.POSIX, system, own=False)
    evidence = run.evidence()
    rows = np.zeros(len(transfers), TRANSFER_ROW)
    for row, values in zip(rows, transfers, strict=True):
        row["writes"] = True
        for name, value in values.items():
            row[name] = value
        row["process"] = max(row["rank"], 0)
    profile = replace(evidence.profile, transfers=rows, datasets=names)
    return diagnose(replace(evidence, profile=profile))


def fallen(rank, calls, cause, seconds=2.0, **more):
    """Collective transfers of a rank, all of them independent for a cause."""
    modes, causes = np.zeros(5, int), np.zeros(16, int)
    modes[IoMode.INDEPENDENT] = calls
    if cause is not None:
        causes[cause] = calls
    return {
        "rank": rank,
        "count": calls,
        "compared": calls,
        "collective": calls,
        "answered": calls,
        "modes": modes,
        "global_causes": causes,
        "independent_seconds": seconds,
        **more,
    }


def facts_of(diagnosis, code):
    return [fact for fact in diagnosis.facts if fact.code == code]


COLLECTIVE = {Op.WRITE_COLLECTIVE: (4, 8 * MIB, 3.0)}


@pytest.mark.parametrize("cause", list(Cause))
def test_a_fallback_names_its_cause_and_remedy(cause):
    diagnosis = run_of([fallen(0, 4, cause), fallen(1, 4, cause)], ops=COLLECTIVE)
    (fact,) = facts_of(diagnosis, "fallback")
    assert "8 of 8 collective writes to out.h5 (dataset /q) independently" in fact.text
    assert fact.figures["cause"] == cause.name.lower()
    assert fact.unusual
    assert fact.seconds == pytest.approx(2.0)
    (row,) = diagnosis.files
    assert row.collective == 0
    assert diagnosis.layers[0].collective_calls == 0


def test_a_rank_without_a_part_is_no_fallback():
    """HDF5 reports that nothing was collective there, without any cause."""
    diagnosis = run_of([fallen(0, 4, None), fallen(1, 4, None)], ops=COLLECTIVE)
    assert facts_of(diagnosis, "fallback") == []
    assert diagnosis.files[0].collective == 1


def test_some_of_the_calls_fell_back():
    one = fallen(0, 4, Cause.STORAGE)
    one["collective"] = one["answered"] = one["count"] = 6
    diagnosis = run_of([one], ops={Op.WRITE_COLLECTIVE: (3, 8 * MIB, 3.0)})
    (fact,) = facts_of(diagnosis, "fallback")
    assert "4 of 6" in fact.text
    assert "compact" in fact.text
    assert diagnosis.files[0].collective == pytest.approx(1 / 3)


def test_chunks_that_were_independent_one_by_one():
    row = fallen(0, 4, None)
    row["modes"] = [0, 4, 0, 0, 0]
    (fact,) = facts_of(run_of([row], ops=COLLECTIVE), "fallback")
    assert "H5FD_MPIO_CHUNK_ONE_IO" in fact.text


def test_a_fallback_shows_in_mpiio_where_hdf5_was_not_asked():
    below = {Op.WRITE_COLLECTIVE: (1, 0, 0.0), Op.WRITE: (320, 8 * MIB, 2.0)}
    (fact,) = facts_of(run_of([], ops=COLLECTIVE, below=below), "fallback")
    assert "8 collective HDF5 writes" in fact.text
    assert "2 collective and 640 independent" in fact.text
    assert fact.figures["cause"] == "unknown"


def test_collective_transfers_that_stayed_so():
    modes = np.zeros(5, int)
    modes[IoMode.CONTIGUOUS_COLLECTIVE] = 4
    row = fallen(0, 4, None, seconds=0.0, modes=modes)
    diagnosis = run_of([row], ops=COLLECTIVE)
    assert facts_of(diagnosis, "fallback") == []
    (check,) = [one for one in diagnosis.checks if one.code == "fallback"]
    assert check.why_unknown == ""


def test_no_answers_are_unknown_and_not_as_usual():
    diagnosis = run_of([], ops=COLLECTIVE)
    checks = {one.code: one.why_unknown for one in diagnosis.checks}
    assert "does not record" in checks["fallback"]
    assert "does not record" in checks["conversion"]


def test_members_of_a_compound():
    row = {"rank": 0, "count": 32, "compared": 32, "members": 32}
    row |= {"members_bytes": 16 * MIB, "members_seconds": 2.5, "element_bytes": 32}
    diagnosis = run_of([row], ops={Op.WRITE: (16, 8 * MIB, 3.0)})
    (fact,) = facts_of(diagnosis, "conversion")
    assert "32 HDF5 writes" in fact.text
    assert "16 MiB of members; in all, 120 MiB were read and 128 MiB were written" in fact.text
    assert "whole compound" in fact.text
    assert fact.unusual
    assert fact.figures["kind"] == "members"


def test_values_that_are_converted():
    row = {"rank": 0, "count": 32, "compared": 32, "converted": 32}
    row |= {"converted_bytes": 16 * MIB, "converted_seconds": 2.5, "element_bytes": 8}
    (fact,) = facts_of(run_of([row], ops={Op.WRITE: (16, 8 * MIB, 3.0)}), "conversion")
    assert "converted the values of 32 writes of out.h5 (/q), 16 MiB" in fact.text
    assert fact.figures["kind"] == "values"


def test_a_small_conversion_does_not_matter():
    row = {"rank": 0, "count": 2, "compared": 2, "converted": 2, "converted_bytes": 16}
    assert facts_of(run_of([row], ops={Op.WRITE: (16, 8 * MIB, 3.0)}), "conversion") == []
