# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the library cannot see: said in one line, nothing measured."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from system_cli import as_words, mpiexec, stripewise, tree

WORDS = {
    "static": ("static", "without -static"),
    "dropped": ("LD_PRELOAD",),
    "setuid": ("is setgid", "ordinary copy"),
}


@pytest.fixture
def plain(tmp_path) -> Callable[..., Path]:
    """Compile a program without MPI.

    It ends after a moment: MPICH 4.0.2's mpiexec dies of SIGPIPE now and then (4 of 300 on a busy
    machine) where programs end before it has started them all.
    """
    source = tmp_path / "plain.c"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\nint main(int n, char **words)\n{\n"
        "    usleep(200000);\n"
        '    FILE *out = fopen(words[n - 1], "w");\n'
        '    return fputs("data\\n", out) < 0 || fclose(out) != 0;\n}\n'
    )

    def build(*options: str) -> Path:
        program = tmp_path / "plain"
        built = subprocess.run(["cc", *options, "-o", program, source], capture_output=True)
        if built.returncode != 0:
            pytest.skip(f"cc {' '.join(options)} does not work here")
        return program

    return build


@pytest.fixture
def setuid_program(plain):
    """A program with the rights of another group, so that its loader ignores LD_PRELOAD."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    with tempfile.TemporaryDirectory(prefix="stripewise-tests-", dir="/usr/local") as folder:
        os.chmod(folder, 0o755)
        program = Path(folder, "plain")
        shutil.copy(plain(), program)
        os.chown(program, 0, 65534)
        program.chmod(0o755 | stat.S_ISGID)
        yield program


@pytest.fixture(params=["static", "static under mpiexec", "dropped", "dropped mpiexec", "setuid"])
def unseen(request, mpich, compiled) -> tuple[str, list[str]]:
    """What is wrong, and the command."""
    kind = request.param
    if kind.startswith("static"):
        program = request.getfixturevalue("plain")("-static")
        before = mpiexec(mpich) if "mpiexec" in kind else []
        return "static", as_words(before, program, "out.dat")
    drop = ["env", "-u", "LD_PRELOAD"]
    if kind == "setuid":
        return "setuid", as_words(request.getfixturevalue("setuid_program"), "out.dat")
    program = compiled("blocks.c", mpich)
    if kind == "dropped":
        return "dropped", as_words(mpiexec(mpich), drop, program, "out.dat", "4096", "4")
    return "dropped", as_words(drop, mpiexec(mpich), program, "out.dat", "4096", "4")


@pytest.mark.extended(keep=1)
def test_tune_says_so_and_stops(work, unseen):
    kind, command = unseen
    before = tree(work)
    done = stripewise("tune", "--trials", "2", "--", *command, cwd=work)
    done.only_error(6, *WORDS[kind])
    assert tree(work) == before


@pytest.mark.extended(keep=1)
def test_run_says_so_and_lets_the_program_be(work, unseen):
    kind, command = unseen
    done = stripewise("run", "--json", "--", *command, cwd=work)
    assert done.code == 0
    document = json.loads(done.out.splitlines()[-1])
    assert (document["seen"], document["state"]) == (False, kind)
    assert len(done.warnings) == 1, done.err
    assert all(word in done.warnings[0] for word in WORDS[kind])
    assert (work / "out.dat").stat().st_size > 0
