# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Words of a script that lead above the directory of its job, which alone is copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.run.jobs import JobScript
from stripewise.run.shell import Surroundings, check_inside

HERE = Path("/scratch/me/case")


def check(text: str, shell: str = "bash", is_named: bool = False) -> None:
    script = JobScript.parse(f"#!/bin/{shell}\n{text}\n".encode(), "r.sh")
    effects = script.effects(Surroundings(HERE, {"HOME": "/home/me"}))
    check_inside(effects, script.name, HERE, is_named)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("mkdir -p ../results", "../results"),
        ("mv x ../results/ && echo saved", "../results"),
        ('ROOT=$(dirname "$SLURM_SUBMIT_DIR"); mv x $ROOT/r', "../r"),
        ("mv x ${SLURM_SUBMIT_DIR%/*}/r", "../r"),
        ("cp $SLURM_SUBMIT_DIR/../in/x .", "../in/x"),
        ("mkdir x && cd ../case2", "../case2"),
        ("cd sub; cd ../..; srun ./a", ".."),
        ("cd /scratch/me/case; cp ../x y", "../x"),
        ("cp ../forcing/x in", "../forcing/x"),
        ("srun -n 2 ../bin/ocean", "../bin/ocean"),
        ("time env A=1 mpiexec -n 2 ../bin/ocean", "../bin/ocean"),
        ("srun ./ocean --out=../r/x", "../r/x"),
        ("IN=../forcing; srun ./a $IN/x", "../forcing/x"),
        ("srun ./a < ../in.nml", "../in.nml"),
        ("srun ./a > ../log", "../log"),
        ("srun --multi-prog ../conf", "../conf"),
        ("srun --chdir=.. ./a", ".."),
        ("for f in ../in/*.nc; do cp $f .; done", "../in/*.nc"),
        ("[ -f ../STOP ] && exit", "../STOP"),
        (". ../env.sh", "../env.sh"),
        ("bash ../post.sh", "../post.sh"),
        ("bash -c '../post'", "../post"),
        ("export LD_LIBRARY_PATH=/x:../lib:$LD_LIBRARY_PATH", "../lib"),
        ("ROOT=$(cd ..; pwd)", ".."),
        ("gcc -I../include x.c", "../include"),
        ("LD_LIBRARY_PATH=../lib srun ./a", "../lib"),
        ("A=1 B=/x:../lib:$C mpirun -n 2 ./a", "../lib"),
        ("T=../tables; export A=1 T", "../tables"),
        ("T=../tables; declare -x T", "../tables"),
        ("HOME=../home", "../home"),
        ("mpiexec -genv LD_LIBRARY_PATH /x:../lib ./a", "../lib"),
        ("srun --export=ALL,T=../tables ./a", "../tables"),
        ("if [[ -f ../restart && $x = y ]]; then A=-r; fi", "../restart"),
        ("[[ $x -nt ../y || ! -d ../z ]] || exit", "../z"),
        ("a=(-m ../mesh); srun ./a ${a[@]}", "../mesh"),
        ("a=(x); a+=(../mesh); srun ./a ${a[1]}", "../mesh"),
        ("for m in a ../mesh; do srun ./a $m; done", "../mesh"),
        ("ln -s ../data/x .", "../data/x"),
        ("ln -sf ../data data", "../data"),
        ("mkdir -p a; ln -s ../../data a/data", "../data"),
        ("ln -t . -s ../data", "../data"),
        ("ln ../data data", "../data"),
    ],
)
def test_what_leads_above_is_refused(text: str, path: str) -> None:
    with pytest.raises(UsageError) as error:
        check(text)
    assert str(error.value) == (
        f"r.sh, line 2: {path} lies outside of the job's directory, which alone is copied: start "
        "from the directory above, or use an absolute path"
    )


def test_all_of_it_is_told_in_one_line() -> None:
    with pytest.raises(UsageError) as error:
        check("cp ../in/x .\nsrun ../bin/ocean ../in/y\nmv out ../r\nrm ../r/old\ntouch ../done")
    assert "line 2: ../in/x; line 3: ../bin/ocean, ../in/y; line 4: ../r and 2 more lines lie" in (
        str(error.value)
    )
    with pytest.raises(UsageError, match=r"and back.*: write \$SLURM_SUBMIT_DIR/sub/x$"):
        check("cp ../case/sub/x y")
    with pytest.raises(UsageError, match=r"line 3: \.\./in lies"):
        check("set d = ..\ncp x $d/in", "tcsh")


@pytest.mark.parametrize(
    "text",
    [
        "cd sub; cp ../x y; cd ..; srun ./a",
        "mkdir a && cd a && srun ../a.out ../in.nml > ../log; cd ..",
        "cd ../case/sub; cp ../x y",
        "cd $SLURM_SUBMIT_DIR/../case; cp x y",
        "cd /scratch/me/case/sub; cp ../x y",
        "for d in a b; do cd $d; cp ../x .; cd ..; done",
        "for i in $(seq 3); do cd run_$i; cp ../in.nml .; cd ..; done",
        "pushd a; cp ../x .; popd; (cd b; cp ../x .); cp x y",
        "cp ${SLURM_SUBMIT_DIR%/}/x y",
        "cp /scratch/me/case/../forcing/x .",
        "cd $WORK; cp ../x .; cd $TMPDIR; mv ../x .",
        'cd "$(dirname "$0")/.."; cp ../x .',
        "rsync -a host:../x .",
        "echo saved to ../results; printf '../%s' x; ls ..; df ..",
        'sed -i "s/../x/" f; grep -r ".." f; [ "$x" = ../y ]; cut -d/ -f2 f',
        "P=$(basename $(dirname $SLURM_SUBMIT_DIR)); echo $P",
        "cat <<E > x\n../y\nE\n# ../z",
        "cp ...x ..y; srun ./a..b",
        "OUT=../results; echo $OUT",
        "mkdir -p a/b; ln -s ../x a/x; ln -sfn ../../y a/b/",
        "cd a; ln -s ../x y; cd ..; ln -s ../in/x runs/link",
        "[[ $x == ../y ]] && echo; [[ -f x && a/../b = c ]]",
        "rsync a.b:../x host:../y .",
        "for d in a b/c; do cd $d; srun ./a > ../log; cd $SLURM_SUBMIT_DIR; done",
    ],
)
def test_what_stays_below_is_not(text: str) -> None:
    check(text)


def test_what_comes_back_into_a_copy_of_the_same_name() -> None:
    check("cp ../case/in.nml x; srun ../case/a", is_named=True)
    for text in ("mv x ../case/y", "srun ./a > ../case/log", "cp ../cases/in x"):
        with pytest.raises(UsageError):
            check(text, is_named=True)
