# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A second study of a real program begins with what the first one found."""

from __future__ import annotations

from pathlib import Path

import pytest
from system_cli import as_words, mpiexec, stripewise

pytestmark = pytest.mark.mpi

KNOB = "mpiio.romio_cb_write"
ONLY = ("--only", KNOB, "--no-sync", "--json")


@pytest.mark.extended
def test_what_was_right_comes_first_and_what_was_wrong_is_warned_of(
    work, compiled, planted, mpich, knowledge_path: Path
):
    """`enable`, usually first, is fast and wrong; `disable` is right and faster than nothing."""
    command = as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "4096", "8")
    more = {
        "LD_PRELOAD": str(planted(mpich)),
        "PLANTED_KEY": "romio_cb_write",
        "PLANTED_SLEEP": "enable=0,disable=20,=800",
        "PLANTED_FLIP": "enable",
    }

    def study(name: str, *words: str):
        place = ("--study-dir", f"{name}.stripewise")
        return stripewise("tune", *place, *words, *ONLY, "--", *command, cwd=work, more=more)

    first = study("first", "--trials", "2").json()
    assert first["settings"] == {KNOB: "disable"}
    assert first["trials"][0]["settings"] == {KNOB: "enable"}

    done = study("second", "--trials", "1")
    second = done.json()
    assert second["trials"][0]["settings"] == {KNOB: "disable"}
    assert second["settings"] == {KNOB: "disable"}
    assert "1 study like this one (same program, same stack)" in done.err
    assert any("enable changed the output" in warning for warning in second["warnings"])

    kept = stripewise("knowledge", "list", "--json", cwd=work).json()
    assert [lesson["improved"] for lesson in kept] == [True, True]
    assert kept[0]["case"]["stack"]["mpi_family"] == "mpich"
    assert knowledge_path.exists()
