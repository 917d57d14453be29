# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that submit jobs are known, in whatever form; others are not taken for such."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.run.jobs import JobScript
from stripewise.run.jobs._systems import check_command
from stripewise.run.shell._submits import find_submission, submission_of_words
from stripewise.run.shell._submitters import Submission

SHELL = r"""
sbatch next.sh
/usr/bin/sbatch x
ID=$(sbatch --parsable x)
ID=`sbatch x | awk '{print $4}'`
nohup sbatch x &
env A=1 sbatch x
strigger --set --jobid=1 --fini --program=/x
srun ./a; [[ -f x ]] && A=1 sbatch x
env -i PATH=/bin /opt/slurm/bin/sbatch x
for i in 1 2; do sbatch --wrap "srun ./a $i"; done
submit() { sbatch "$@"; }
while read f; do qsub $f; done < list
[ $n -lt 5 ] && sbatch $0
if true; then :; else bsub < x.lsf; fi
trap 'sbatch run.sh' USR1
trap "sbatch run.sh; exit" TERM
eval "sbatch x"
eval sbatch x
bash -c "sbatch x"
bash -lc 'cd a && qsub b'
sh <<EOF\nsbatch x\nEOF
ssh login <<'EOF'\ncd a\nsbatch x\nEOF
ssh login "cd a; sbatch x"
ssh -p 22 login sbatch x
echo "sbatch x" | sh
echo sbatch x | bash
bash <<< "sbatch x"
SUB=sbatch; $SUB x
SUB="sbatch --parsable"; $SUB x
case $h in a) Q=sbatch;; b) Q=qsub;; esac; $Q x
${SBATCH:-sbatch} x
C=(sbatch --parsable x); "${C[@]}"
$(which sbatch) x
ls *.sh | xargs -n1 sbatch
ls | xargs -I{} sbatch {}
find . -name '*.sh' -exec sbatch {} \;
parallel sbatch ::: a b
parallel 'sbatch {}' ::: a b
flux submit -n 4 ./a
flux mini batch x
flux batch -N 1 x.sh
timeout 10 sbatch x
timeout -k 5 10m sbatch x
sudo -u me sbatch x
nice -n 5 qsub x
pjsub x.sh
oarsub -S ./x
time sbatch x
exec sbatch x
! sbatch x
x=1 sbatch y
sbatch\\n x
salloc -N 1 srun ./a
command sbatch x
setsid nohup sbatch x >/dev/null 2>&1 &
alias s='sbatch --parsable'
ssh -o BatchMode=yes login 'bash -l -c "sbatch x"'
{ sbatch x; }
(cd a; sbatch x)
function s { sbatch x; }
echo $(sbatch x)
"sbatch" x
sba""tch x
at now + 1 hour <<< "sbatch x"
flock /tmp/l sbatch x
flock /tmp/l -c "sbatch x"
su - me -c "sbatch x"
qsub -V x.pbs
qsub -h x
sbatch -N 2 run.sh --help
python3 - <<EOF\nimport subprocess\nsubprocess.run(["sbatch", "x"])\nEOF
python3 <<< 'import os; os.system("sbatch x")'
perl <<'EOF'\nsystem("sbatch x");\nEOF
perl -we 'system("sbatch x")'
Rscript -e 'system("sbatch x")'
julia -e 'run(`sbatch x`)'
awk '{system("sbatch " $1)}' list
awk '{print "sbatch", $1}' list | sh
echo "0 * * * * sbatch x" | crontab -
(crontab -l; echo "@daily sbatch x") | crontab -
cmd="sbatch x"; echo "$cmd" | bash
srun -n 1 sbatch x
mpirun -n 1 bash -c 'sbatch x'
tmux new-session -d 'sbatch x'
unshare -r sbatch x
cat > n.sh <<'EOF'\n#!/bin/bash\nsbatch x\nEOF\nbash n.sh
tee ./n.sh <<'EOF'\nsbatch x\nEOF\nchmod +x n.sh; ./n.sh
echo 'sbatch x' > n.sh; sh n.sh
scontrol requeue $SLURM_JOB_ID
trap 'scontrol requeuehold $SLURM_JOB_ID' USR1
snakemake --executor slurm -j 10
snakemake --cluster "sbatch -n {threads}" -j 10
snakemake --profile=cluster
nextflow run main.nf -profile test,slurm
nextflow run main.nf -process.executor pbspro
timeout -s KILL 10 sbatch x
taskset -c 0-3 sbatch x
singularity exec img.sif sbatch x
apptainer exec --nv -B /tmp img.sif sbatch x
srun -n 1 singularity run img.sif bash -c "sbatch x"
podman run --rm -v /tmp:/tmp img qsub x
shifter --image=img sbatch x
scrontab nightly.txt
echo "@daily run.sh" | scrontab -
flux cron event -n 1 x
csub < x
"""
"""A script a line; \\n is a line's end."""
OTHERS = r"""
# sbatch x
echo sbatch
echo "resubmit with sbatch run.sh"
cat <<EOF\nsbatch x\nEOF
cat > n.sh <<EOF\nsbatch x\nEOF
: <<'C'\nsbatch x\nC
which sbatch
command -v sbatch
type sbatch
time grep sbatch log
nohup grep -r sbatch .
cp sbatch.log x
./sbatch_helper.py
cat sbatch
sbatch --version
sbatch --help
srun ./qsub.exe
flux run -n 4 ./a
flux resource list
msg="use sbatch x"; echo $msg
ls qsub
if [ -x /usr/bin/sbatch ]; then echo a; fi
test "$SCHED" = sbatch
mpirun -n 4 ./a sbatch
export SUBMIT=sbatch
SUB=sbatch; echo $SUB
rm -f sbatch.*
printf 'sbatch x\n' > next.sh
echo 'sbatch x' | tee -a log
env | grep sbatch
module load sbatch
hq worker start
sbatch --test-only x
nohup ./a 5 sbatch
python3 <<EOF\nprint("use sbatch x")\nEOF
perl -e 'print "sbatch x"'
perl -ne 'print if /sbatch/' log
awk '/sbatch/ {print $2 | "sort"}' log
cat > n.sh <<'EOF'\nsbatch x\nEOF\nbash other.sh
echo '# sbatch x' > n.sh; sh n.sh
scontrol show job $SLURM_JOB_ID
snakemake -j 4 --cores 4
snakemake --executor local --cluster-cancel x
snakemake --profile slurm --dry-run
nextflow run main.nf -profile docker
make -j 4 submit
srun -n 4 ./a --scheduler sbatch
singularity exec img.sif ./a sbatch
singularity exec sbatch.sif ./a
scrontab -l
"""
CHANGES = r"""
scancel $SLURM_JOB_ID
scancel --user=$USER --name=monitor
timeout 10 scancel 4711
trap 'scancel $SLURM_JOB_ID' EXIT
for j in 1 2; do scancel $j; done
squeue -h -o %i | xargs scancel
KILL=scancel; $KILL 4711
bash -c "scancel 1"
srun -n 1 scancel 1
scontrol update JobId=1 TimeLimit=1
scontrol -o update JobId=4711 Dependency=afterok:1
scontrol release 4711
scontrol --quiet suspend 1
qdel 1
bkill 0
flux cancel --all
python3 -c "import subprocess; subprocess.run(['scancel', '1'])"
python3 -c "import os; os.system('scontrol hold 1')"
python3 -c "import subprocess; subprocess.run(['scontrol', 'update', 'JobId=1'])"
"""
NO_CHANGES = r"""
scontrol show hostnames $SLURM_JOB_NODELIST
scontrol show job 1 | grep update
scontrol ping
strigger --get
scontrol listpids
scancel --help
echo scancel 1
# scancel 1
squeue -u $USER
which scancel
flux jobs
python3 -c "print('scancel 1')"
python3 -c "import subprocess; subprocess.run(['scontrol', 'show', 'job', '1'])"
"""
CSH = ("sbatch x", "set id = `sbatch x`", "if ($n < 5) sbatch x", "foreach i (1)\n sbatch $i\nend",
       "set s = sbatch\n$s x", 'set id = "`sbatch x`"')  # fmt: skip
PYTHON = (
    "os.system('sbatch x')", "s.run(['sbatch', 'x'])", "a = ['sbatch'] + b", "run(f'sbatch {x}')",
    "cmd = 'sbatch %s' % x\nos.system(cmd)", "subprocess.check_output('sbatch x'.split())",
    "go(f'cd run{i}; sbatch job.sh')", "queue.append('qsub ' + name)", "call('bsub < ' + x)",
    "import submitit", "from submitit import AutoExecutor", "os.system('cd a && qsub b')",
    "def submit(x): return subprocess.run(('bsub',), stdin=x)", "Popen('/opt/sbatch x', 1)",
)  # fmt: skip
NO_PYTHON = (
    "print('use sbatch run.sh')", "'''sbatch x'''\nx = 1", "# sbatch x", "shutil.which('sbatch')",
    "p.add_argument('--x', help='sbatch x')", "p.add_argument('-s', choices=['sbatch', 'qsub'])",
    "COMMANDS = {'slurm': 'sbatch'}", "msg = 'sbatch failed'", "raise ValueError('sbatch failed')",
    "log.info('sbatch %s', x)", "f.write('#!/bin/sh\\nsbatch x\\n')", "x.startswith('sbatch ')",
)  # fmt: skip


def _found(text: str, kind: str) -> bool:
    return find_submission(text.encode(), kind) is not None


def test_shell_scripts_that_submit() -> None:
    for line in SHELL.strip().splitlines():
        assert _found(line.replace("\\n", "\n"), "sh"), line


def test_shell_scripts_that_do_not() -> None:
    for line in OTHERS.strip().splitlines():
        text = line if line.startswith("printf") else line.replace("\\n", "\n")
        assert not _found(text, "sh"), line


def test_scripts_that_change_jobs() -> None:
    for line in CHANGES.strip().splitlines():
        found = find_submission(line.encode(), "sh")
        assert found is not None, line
        assert not found.submits, line
    for line in NO_CHANGES.strip().splitlines():
        assert not _found(line, "sh"), line
    both = find_submission(b"scancel 1\nsbatch x\n", "sh")
    assert both is not None
    assert (both.command, both.submits) == ("sbatch", True)


def test_scripts_of_other_languages() -> None:
    for text in CSH:
        assert _found(text, "csh"), text
    assert not _found("echo sbatch\n# sbatch x\n", "csh")
    for text in PYTHON:
        assert _found(text, "python"), text
    for text in NO_PYTHON:
        assert not _found(text, "python"), text
    assert _found("#!/usr/bin/perl\nsystem('sbatch x');\n", "other")
    assert not _found("#!/usr/bin/perl\n# sbatch\nprint 1;\n", "other")


def test_scripts_that_are_called_are_looked_into() -> None:
    files = {
        "./a.sh": b"#!/bin/sh\n./b.sh\n",
        "./b.sh": b"#!/bin/sh\n\nsource c.inc\n",
        "c.inc": b"next() {\n qsub n\n}\n",
        "./loop.sh": b"./loop.sh\n",
    }
    assert submission_of_words(["bash", "./a.sh"], files.get) == Submission("qsub", 2, "c.inc")
    assert submission_of_words(["./loop.sh"], files.get) is None
    assert submission_of_words(["cat", "./a.sh"], files.get) is None


@pytest.mark.parametrize("depth", [3, 5000])
def test_deep_nesting_ends(depth: int) -> None:
    find_submission(b"eval " * depth + b"'" + b"$(" * depth + b"'\n", "sh")


@pytest.mark.parametrize("word", ["x = 1\n" * 1000, "a\0b", "\udcff", "~nobody-at-all/x", ""])
def test_words_that_are_no_paths_are_no_scripts(word: str, tmp_path: Path) -> None:
    for words in (["python3", "-c", word], ["sh", "-c", word], [word], ["mpiexec", word]):
        check_command(words, tmp_path, "run")


@pytest.mark.parametrize(
    "line",
    ["make", "make submit", "make -C . -j4 go", "make A=b go", "make -f other.mk", "$PWD/next.sh",
     "${SLURM_SUBMIT_DIR}/next.sh", "$(pwd)/next.sh a", "D=.; bash $D/next.sh", "srun ./next.sh",
     "nextflow run x"],
)  # fmt: skip
def test_files_that_drivers_are_given(line: str) -> None:
    files = {
        "Makefile": b".PHONY: go\ngo: submit\n\n# sbatch\nbuild:\n\tcc x.c\n"
        b"submit: x.sh\n\t@cd a && sbatch x.sh\n",
        "other.mk": b"all: ; sbatch x\n",
        "next.sh": b"#!/bin/sh\nsbatch x\n",
        "nextflow.config": b"process {\n  executor = 'slurm'\n}\n",
    }
    where = {name.removeprefix("./"): data for name, data in files.items()}
    found = find_submission(
        line.encode(), "sh", None, lambda path: where.get(path.removeprefix("./"))
    )
    assert found is not None
    for other in ("make build", "make -n", "make -f build", "$X/next.sh", "make x.sh"):
        assert find_submission(other.encode(), "sh", None, where.get) is None, other


def test_a_job_that_starts_itself_anew_is_converted_and_not_tuned() -> None:
    script = JobScript.parse(b"#!/bin/sh\nsrun ./a\nscontrol requeue $SLURM_JOB_ID\n", "run.sh")
    script.check_no_submission(requeues=True)
    with pytest.raises(
        UsageError, match=r"run.sh restarts its own job \(scontrol requeue, line 3"
    ):
        script.check_no_submission()
    both = JobScript.parse(b"#!/bin/sh\nscontrol requeue $J\nsbatch x\n")
    with pytest.raises(UsageError, match=r"submits jobs itself \(sbatch, line 3"):
        both.check_no_submission(requeues=True)
