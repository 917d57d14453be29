# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the commands of a script lead that change the directory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stripewise.run.jobs import Changes, JobScript, revert, rewrite
from stripewise.run.shell import MoveTarget, move_before, moves_to
from stripewise.run.shell._moves import target_of_move

ENVIRONMENT = {"HOME": "/home/me", "USER": "me", "SCRATCH": "/scratch/me", "TMPDIR": "/t"}
HERE = Path("/scratch/me/case")


def parsed(text: str, shell: str = "bash") -> JobScript:
    return JobScript.parse(
        f"#!/bin/{shell}\n{text}\nsrun ./a\n".encode("utf-8", "surrogateescape")
    )


@pytest.mark.parametrize(
    ("text", "lead", "path"),
    [
        ("cd $SLURM_SUBMIT_DIR", MoveTarget.HERE, "."),
        ('cd "${SLURM_SUBMIT_DIR}/run"', MoveTarget.HERE, "."),
        ("D=$SLURM_SUBMIT_DIR/x; cd $D", MoveTarget.HERE, "."),
        ("D=$(pwd); cd $D/x", MoveTarget.HERE, "."),
        ("cd `pwd`", MoveTarget.HERE, "."),
        ("cd $PWD", MoveTarget.HERE, "."),
        ("cd run_$i", MoveTarget.HERE, "."),
        ("cd ..", MoveTarget.ELSEWHERE, "/scratch/me"),
        ("cd ../case", MoveTarget.NAMED, "."),
        ("cd sub/../..", MoveTarget.ELSEWHERE, "/scratch/me"),
        ("cd $SLURM_SUBMIT_DIR/../case2", MoveTarget.ELSEWHERE, "/scratch/me/case2"),
        ('cd "$SLURM_SUBMIT_DIR/../case/sub"', MoveTarget.NAMED, "sub"),
        ("cd $SLURM_SUBMIT_DIR/sub/..", MoveTarget.HERE, "."),
        ("cd $DW_JOB_STRIPED/..", MoveTarget.UNKNOWN, "."),
        ("cd -", MoveTarget.HERE, "."),
        ("cd $DW_JOB_STRIPED/x", MoveTarget.HERE, "."),
        ("cd /scratch/me/case", MoveTarget.NAMED, "."),
        ("cd -P -- /scratch/me/./case/", MoveTarget.NAMED, "."),
        ('pushd "/scratch/me/case/a b" >/dev/null', MoveTarget.NAMED, "a b"),
        ("cd $SCRATCH/case/run", MoveTarget.NAMED, "run"),
        ("export W=/scratch/$USER\nR=$W/case\ncd ${R}/run || exit 1", MoveTarget.NAMED, "run"),
        ("cd /scratch/me/cases", MoveTarget.ELSEWHERE, "/scratch/me/cases"),
        ("cd /scratch/me/case/../other", MoveTarget.ELSEWHERE, "/scratch/me/other"),
        ("cd", MoveTarget.ELSEWHERE, "/home/me"),
        ("cd ~/run", MoveTarget.ELSEWHERE, "/home/me/run"),
        ("D=~/run; cd $D", MoveTarget.ELSEWHERE, "/home/me/run"),
        ("cd $WORK", MoveTarget.UNKNOWN, "."),
        ("cd $SLURM_TMPDIR", MoveTarget.UNKNOWN, "."),
        ("cd /scratch/$SLURM_JOB_ID", MoveTarget.UNKNOWN, "."),
        ("cd $1", MoveTarget.UNKNOWN, "."),
        ("cd ${1:-/scratch/me/case}", MoveTarget.UNKNOWN, "."),
        ("cd $(mktemp -d)", MoveTarget.UNKNOWN, "."),
        ("cd `mktemp -d`", MoveTarget.UNKNOWN, "."),
        ("for D in /a /b; do cd $D; done", MoveTarget.UNKNOWN, "."),
        ("for D in /a b; do cd $D; done", MoveTarget.UNKNOWN, "."),
        ("for D in .. b; do cd $D; done", MoveTarget.UNKNOWN, "."),
        ("for D in a/b c; do cd $D; done", MoveTarget.HERE, "."),
        ("cd $TMPDIR/x", MoveTarget.UNKNOWN, "."),
        ("cd '/scratch/$USER'", MoveTarget.UNKNOWN, "."),
        ("cd ~other", MoveTarget.HERE, "."),
        ("A=$B; B=$A; cd $A", MoveTarget.UNKNOWN, "."),
    ],
)
def test_leads(text: str, lead: MoveTarget, path: str) -> None:
    (move,) = parsed(text).moves
    assert target_of_move(move, HERE, ENVIRONMENT, ["DW_JOB_STRIPED"]) == (lead, Path(path))


@pytest.mark.parametrize(
    ("text", "leads"),
    [
        ("cd sub; cd ..", "hh"),
        ("cd sub; cd ../..", "he"),
        ("(cd sub; make); cd ..", "he"),
        ("(cd sub; (cd a); cd ..); (cd b); cd c; cd ..", "hhhhhh"),
        ("pushd a; popd; cd ..", "hhe"),
        ("cd /scratch/me/case/sub; cd ..", "nn"),
        ("cd /scratch/me/case/sub; cd ../..", "ne"),
        ("cd /other; cd ..", "eh"),
        ("cd $1; cd ..", "uh"),
        ("cd ..; cd ../me/case", "en"),
    ],
)
def test_leads_of_moves_after_others(text: str, leads: str) -> None:
    found = [target_of_move(move, HERE, ENVIRONMENT)[0] for move in parsed(text).moves]
    assert "".join(lead.name[0].lower() for lead in found) == leads


@pytest.mark.parametrize(
    ("text", "decisive"),
    [
        ("", None),
        ("cd run", None),
        ("cd /a", "/a"),
        ("cd /a\ncd run\ncd ..", "/a"),
        ("cd /a; cd -", None),
        ("cd /a; cd /b; cd -", "/a"),
        ("pushd /a; make; popd", None),
        ("(cd /a && make)", None),
        ("X=$(cd /a; pwd)", None),
        ("X=`cd /a; pwd`", None),
        ("cd /a; (cd /b; X=$(cd /c))", "/a"),
        ("(cd /a\n(cd /b)", "/a"),
        ("cd $1", "${1}"),
        ("cd $(mktemp -d)", ""),
        ("f() { cd /a; }", "/a"),
    ],
)
def test_what_decides_where_the_program_works(text: str, decisive: str | None) -> None:
    script = parsed(text + ("\nsrun ./x\n)" if text.count("(") > text.count(")") else ""))
    move = move_before(script.moves, script.launches[0].start)
    assert (move and move.target) == decisive


def test_csh() -> None:
    script = parsed("set w = /scratch/$USER\ncd $w/case/run", "tcsh")
    moves = moves_to(script.moves, MoveTarget.NAMED, HERE, ENVIRONMENT)
    assert list(moves.values()) == [Path("run")]
    assert b'\ncd "$SLURM_SUBMIT_DIR"/run\n' in rewrite(script, Changes(moved=moves))


def test_what_is_no_move() -> None:
    script = parsed("echo cd /a\n# cd /b\ncat <<E\ncd /c\nE\nx='cd /d'\ngit -C /e cd /f")
    assert script.moves == ()


def test_a_link_to_the_directory_names_it(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "link").symlink_to("case")
    (move,) = parsed(f"cd {tmp_path}/link/sub").moves
    assert target_of_move(move, tmp_path / "case", {}) == (MoveTarget.NAMED, Path("sub"))


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_the_script_works_in_the_other_directory(tmp_path: Path, shell: str) -> None:
    """Statements with moves and the launch line in any arrangement: run, and taken back."""
    here, there = tmp_path / "he're;touch canary", tmp_path / "there"
    for path in (here / "a b", there / "a b"):
        path.mkdir(parents=True)
    quoted = "'" + str(here).replace("'", "'\\''") + "'"
    text = (
        f"D={quoted}\n"
        f"cd {quoted}/'a b' && pwd\n"
        f'(cd "$D"; pwd); x=$(cd {quoted}\n  pwd); echo "$x"\n'
        f"if cd {quoted}; then srun ./a $(cd {quoted}/'a b'\n pwd); fi\n"
    )
    script = JobScript.parse(f'#!/bin/{shell}\nsrun() {{ echo "$@"; }}\n{text}'.encode())
    moves = moves_to(script.moves, MoveTarget.NAMED, here, {})
    assert len(moves) == 5
    changed = rewrite(script, Changes(moved=moves, wrap=("w",)))
    assert revert(changed) == script.data
    done = subprocess.run(
        [shell],
        input=changed,
        cwd=there,
        env={"PATH": "/usr/bin:/bin", "SLURM_SUBMIT_DIR": str(there)},
        capture_output=True,
        check=True,
    )
    said = done.stdout.decode().splitlines()
    assert said == [f"{there}/a b", str(there), str(there), f"w ./a {there}/a b"]
    assert not done.stderr
    assert not list(tmp_path.rglob("canary"))
