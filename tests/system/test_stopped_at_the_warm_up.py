# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that cannot be tuned as they were started: one run, one line with the remedy."""

from __future__ import annotations

import pytest
from system_cli import as_words, finished, mpiexec, require_mpi, stripewise

WRITE = "dd if=/dev/zero of={} bs=1000 count=100"


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("known", [True, False], ids=["there before", "new"])
def test_a_program_that_writes_to_an_absolute_path(work, tmp_path, known):
    """The first run makes the file, and the next one is kept from changing it."""
    out = tmp_path / "elsewhere.dat"
    if known:
        out.write_text("the user's own")
    text = WRITE.format(f"$(echo {out})")
    done = stripewise("tune", "--", "sh", "-c", text, cwd=work)
    done.only_error(6, str(out), "refuse", "relative path", "{run_dir}")
    assert "unchanged" not in done.err
    assert len(finished(work / "sh.stripewise")) <= 1
    if known:
        assert out.read_text() == "the user's own"


def test_a_command_that_names_an_absolute_path(work, tmp_path):
    """Nothing is run."""
    out = tmp_path / "elsewhere.dat"
    done = stripewise("tune", "--", "sh", "-c", WRITE.format(out), cwd=work)
    done.only_error(2, f"writes {out}", f"--allow-outside {tmp_path}")
    assert not out.exists()
    assert not (work / "sh.stripewise").exists()


@pytest.mark.extended
@pytest.mark.mpi
@pytest.mark.parametrize(("launcher", "family"), [("openmpi", "mpich"), ("mpich", "openmpi")])
def test_a_program_of_another_mpi_than_mpiexecs(work, compiled, launcher, family):
    """Each process is the only rank of its own job; they write over one another's file."""
    for name in (launcher, family):
        require_mpi(name)
    command = as_words(mpiexec(launcher), compiled("blocks.c", family), "out.dat", "4096", "64")
    done = stripewise("tune", "--", *command, cwd=work)
    done.only_error(6, "only rank of its own job", "mpiexec of that MPI")
    assert len(finished(work / "blocks.stripewise")) <= 1


@pytest.mark.extended
def test_a_program_that_leaves_temporary_files_of_its_own_names(work, tmp_path):
    """They are new in every run, so nothing is refused: a warning, and the study goes on."""
    script = f"t=$(mktemp {tmp_path}/left.XXXXXX); {WRITE.format('$t')}; {WRITE.format('out.dat')}"
    words = ("tune", "--trials", "1", "--", "sh", "-c", script)
    done = stripewise(*words, cwd=work, more={"TMPDIR": str(tmp_path)})
    assert "refuse" not in done.err, done
    assert len(list(tmp_path.glob("left.*"))) >= 1
