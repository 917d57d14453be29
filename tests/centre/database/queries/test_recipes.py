# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.queries._gains import recipe_of_lines, recipe_of_study
from stripewise.evidence.facts._facts import Mpiio, hint_lines
from stripewise.settings import formats
from support.portal_jobs import LINES

HINTS = {"romio_cb_write": "enable", "romio_cb_read": "enable"}


@pytest.mark.parametrize("mpiio", list(Mpiio))
def test_lines_of_every_mpi_become_settings_that_load(mpiio: Mpiio) -> None:
    found = recipe_of_lines(hint_lines(mpiio, HINTS))
    assert found is not None
    read = formats.get("toml").read(found.toml).configuration
    assert read == found.configuration
    (rule,) = read.files
    assert (rule.match, dict(rule.mpiio)) == ("*", HINTS)
    of_open_mpi = mpiio in (Mpiio.OMPIO, Mpiio.UNKNOWN)
    assert dict(read.job.environment) == ({"OMPI_MCA_io": "^ompio"} if of_open_mpi else {})


def test_the_lines_set_the_same_in_a_shell(tmp_path: Path) -> None:
    write, read = (hint_lines(Mpiio.UNKNOWN, {name: "enable"}) for name in HINTS)
    found = recipe_of_lines([*write, *read])
    assert found is not None
    done = subprocess.run(["sh", "-eu", "-c", found.shell + "env; cat romio-hints"], cwd=tmp_path,
                          env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
                          check=True)  # fmt: skip
    lines = done.stdout.splitlines()
    assert "OMPI_MCA_io=^ompio" in lines
    assert f"ROMIO_HINTS={tmp_path}/romio-hints" in lines
    assert "MPICH_MPIIO_HINTS=*:romio_cb_write=enable:romio_cb_read=enable" in lines
    assert lines[-2:] == ["romio_cb_write enable", "romio_cb_read enable"]


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf ~",
        "sbcast /scratch/in.nml /dev/shm/in.nml   # Slurm",
        "export LD_PRELOAD=/tmp/evil.so",
        "export OMPI_MCA_mca_base_component_path=/tmp/evil",
        "export OMPI_MCA_io='a' 'b",
        "printf '%s\\n' 'romio_cb_write enable'; touch /tmp/evil; export ROMIO_HINTS=x",
        "export MPICH_MPIIO_HINTS='*:",
        "",
    ],
)
def test_what_is_no_setting_does_not_come_through(line: str) -> None:
    assert recipe_of_lines([line]) is None


def test_a_command_behind_a_setting_does_not_come_through() -> None:
    found = recipe_of_lines(["export OMPI_MCA_io=^ompio; touch /tmp/evil", *LINES])
    assert found is not None
    assert "evil" not in found.shell + found.toml


pieces = st.text("ax1 ;'\"$\n#=*:>\\`^&|", max_size=6)
spoilt = st.tuples(st.sampled_from(LINES), st.integers(0, 120), pieces).map(
    lambda one: one[0][: one[1]] + one[2] + one[0][one[1] :]
)


@given(lines=st.lists(spoilt, max_size=3))
def test_whatever_the_lines_are_the_settings_load(lines: list[str]) -> None:
    found = recipe_of_lines(lines)
    if found is not None:
        assert formats.get("toml").read(found.toml).configuration == found.configuration


def test_settings_of_a_study_are_checked() -> None:
    toml = 'version = 1\n\n[[file]]\nmatch = "*.h5"\nmpiio = { cb_nodes = 4 }\n'
    found = recipe_of_study(toml, "export X=1")
    assert found is not None
    assert (found.toml, found.shell) == (toml, "export X=1")
    for text in ("version = 9\n", "no toml", "version = 1\n",
                 'version = 1\n[job]\nenvironment = { LD_PRELOAD = "/x.so" }\n'):  # fmt: skip
        assert recipe_of_study(text, "") is None
