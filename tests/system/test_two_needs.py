# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program whose two kinds of files want opposite settings gets a rule for one of them."""

from __future__ import annotations

import tomllib

import pytest
from system_cli import as_words, file_of, mpiexec, run, stripewise, tune

pytestmark = pytest.mark.mpi

KNOB = "mpiio.romio_ds_write"
PLOT = "plt*.dat"
SHORT = ("--only", KNOB, "--trials", "3", "--no-memory")


@pytest.mark.extended
def test_a_rule_acts_on_its_files_only(compiled, mpich, work):
    best = work / "best.toml"
    rule = f'[[file]]\nmatch = "{PLOT}"\nmpiio = {{ romio_ds_write = "disable" }}\n'
    best.write_text(f"version = 1\n\n{rule}override = true\n")
    _acts_on_plots_only(best, as_words(mpiexec(mpich), compiled("two_needs.c", mpich), "1"), work)


@pytest.mark.extended
@pytest.mark.long  # what it finds rests on the speed of the storage, which others may use
def test_one_kind_of_files_gets_a_setting_of_its_own(compiled, mpich, work):
    """Without data sieving plt*.dat is several times faster and chk*.dat several times slower."""
    program = as_words(mpiexec(mpich), compiled("two_needs.c", mpich), "1")
    document = tune(*SHORT, "--", *program, cwd=work)
    assert len(document["trials"]) > 1, (document["trials"], document["decisions"])
    first, second = document["trials"][:2]
    assert first["settings"] == {KNOB: "disable"}
    assert first["class_speedups"][PLOT] > 1.2
    assert first["class_speedups"]["chk*.dat"] < 0.8
    assert second["settings"] == {f"{KNOB}@{PLOT}": "disable"}
    assert document["result"] == "improved"
    assert document["settings"] == second["settings"]
    assert document["verified"] is True
    assert document["speedup"]["low"] > 1

    study = work / "two_needs.stripewise"
    best = tomllib.loads((study / "best.toml").read_text())
    assert best["file"] == [
        {"match": PLOT, "mpiio": {"romio_ds_write": "disable"}, "override": True}
    ]
    shown = stripewise("settings", "show", study / "best.toml", cwd=work)
    assert PLOT in shown.out

    again = tune("--resume", "--study-dir", study, cwd=work)
    assert [t["settings"] for t in again["trials"]] == [t["settings"] for t in document["trials"]]

    _acts_on_plots_only(study / "best.toml", program, work)


def _acts_on_plots_only(best, program, work):
    observed = run("--config", best, "--", *program, cwd=work)
    for name, applied, largest in (
        ("plt0000.dat", {"romio_ds_write": "disable"}, 4096),
        ("chk0000.dat", {}, 512 * 1024),
    ):
        file = file_of(observed, name)
        assert file["applied"] == applied
        assert file["largest_write_bytes"] == largest
