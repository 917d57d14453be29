# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays, chains and other jobs whose files `convert` has staged: they leave what they did before.

Each job is run twice, as it is and converted, and has to leave the same in the user's directory.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.job_cluster import JobCluster, as_datawarp

pytestmark = pytest.mark.extended(keep=1)

HEAD = "#!/bin/bash\n#SBATCH --nodes=1 --time=10\n"
WAYS = {
    "datawarp": ("--bb-nodes", "1"),
    "directory": ("--tier", "directory", "--place", "$FAST"),
    "lua": ("--tier", "lua", "--template", "../site", "--place", "$FAST", "--bb-nodes", "1",
            "--granularity", "1GiB"),
    "rabbit": ("--tier", "rabbit", "--bb-nodes", "1", "--granularity", "1GiB"),
}  # fmt: skip
CHAIN = """\
if [ -f rst.dat ]; then n=$(cat rst.dat); else n=0; fi
sed -i "s/start *= .*/start = $n/" in.nml
srun sh -c "seq $n $((n + 3)) > steps.$n; echo $((n + 3)) > rst.dat"
"""


class Jobs:
    """A user's directory, and one of the same content in which the script runs as it is."""

    def __init__(self, cluster: JobCluster, top: Path, way: str) -> None:
        self.cluster, self.top, self.way, self.count = cluster, top, way, 0
        self.work, self.plain = cluster.work, top / "plain"
        (top / "bin").mkdir()
        (top / "site").write_text("#BB_LUA pool={pool} capacity={capacity}\n")
        srun = top / "bin" / "srun"
        srun.write_text('#!/bin/sh\nexec "$@"\n')
        srun.chmod(0o755)
        (self.work / "input.txt").unlink()

    def convert(self, commands: str, *words: str, head: str = HEAD) -> str:
        """Convert a script; return what was said."""
        self.cluster.write(head + commands)
        shutil.copytree(self.work, self.plain, symlinks=True)
        done = self.cluster.run("settings", "script", "run.sh", *WAYS[self.way], *words)
        assert done.code == 0, done
        return done.err

    def submit(self, meanwhile: str = "", **variables: object) -> str:
        """Run the script as it is, and converted; return what the converted one said."""
        self.count += 1
        fast = self.top / f"fast-{self.count}"
        fast.mkdir()
        given = {name: str(value) for name, value in variables.items()}
        given |= {"SLURM_JOB_ID": str(self.count), "FAST": str(fast), "MEANWHILE": meanwhile}
        given |= {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "HERE": str(self.plain)}
        given["DW_JOB_stripewise"] = str(fast)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in given.items():
                patch.setenv(name, value)
            script = self.plain / "run.sh"
            subprocess.run([script], cwd=self.plain, check=True, capture_output=True)
            patch.setenv("HERE", str(self.work))
            (self.top / f"job-{self.count}").mkdir()
            done = as_datawarp(self.work / "run.bb.sh", self.top / f"job-{self.count}")
        assert done.returncode == 0, done
        assert not list(fast.iterdir())
        return done.stdout + done.stderr

    def check(self) -> None:
        """Check that both directories hold the same."""
        assert dict(contents(self.work)) == dict(contents(self.plain))


def contents(top: Path) -> Iterator[tuple[str, object]]:
    for path in top.rglob("*"):
        name = str(path.relative_to(top))
        if path.is_symlink():
            yield name, os.readlink(path)
        elif path.is_file() and "run." not in name:
            yield name, (path.read_text(), stat.S_IMODE(path.stat().st_mode))


@pytest.fixture(params=["datawarp", "directory"])
def jobs(cluster: JobCluster, tmp_path: Path, request: pytest.FixtureRequest) -> Jobs:
    return Jobs(cluster, tmp_path, request.param)


def test_an_array(jobs) -> None:
    """Results of an earlier array lie there; each element replaces its own."""
    for number in (1, 2, 3):
        (jobs.work / f"result.{number}").write_text("OLD\n")
    jobs.convert('echo "NEW $SLURM_ARRAY_TASK_ID" | srun tee result.$SLURM_ARRAY_TASK_ID\n')
    for number in (3, 1, 2):
        jobs.submit(SLURM_ARRAY_TASK_ID=number)
    jobs.check()
    assert (jobs.work / "result.1").read_text() == "NEW 1\n"


def test_an_array_with_a_directory_for_each_element(jobs) -> None:
    for number in (1, 2):
        (jobs.work / f"case_{number}").mkdir()
        (jobs.work / f"case_{number}" / "in").write_text(f"{number}\n")
        (jobs.work / f"case_{number}" / "out").write_text("OLD\n")
    jobs.convert("cd case_${SLURM_ARRAY_TASK_ID}\nsrun cp in out\n")
    for number in (2, 1):
        jobs.submit(SLURM_ARRAY_TASK_ID=number)
    jobs.check()
    assert (jobs.work / "case_2" / "out").read_text() == "2\n"


def test_a_chain(jobs) -> None:
    """Each job goes on where the one before it ended."""
    (jobs.work / "in.nml").write_text("start = 0\n")
    jobs.convert(CHAIN)
    for _ in range(3):
        jobs.submit()
    jobs.check()
    assert (jobs.work / "steps.6").read_text() == "6\n7\n8\n9\n"


@pytest.mark.parametrize("way", ["lua", "rabbit"])
def test_a_chain_on_other_tiers(cluster, tmp_path, way) -> None:
    jobs = Jobs(cluster, tmp_path, way)
    (jobs.work / "in.nml").write_text("start = 0\n")
    jobs.convert(CHAIN)
    jobs.submit()
    jobs.submit()
    jobs.check()


def test_a_chain_whose_links_and_names_go_on(jobs) -> None:
    """Numbered restarts, a link to the newest, and a marker that only its existence says."""
    (jobs.work / "run.0").mkdir()
    (jobs.work / "run.0" / "rst").write_text("0\n")
    (jobs.work / "latest").symlink_to("run.0")
    (jobs.work / "todo").mkdir()
    for name in "abc":
        (jobs.work / "todo" / name).write_text(name)
    jobs.convert(
        "n=$(cat latest/rst); m=$((n + 1)); mkdir -p run.$m done\n"
        'srun sh -c "echo $m > run.$m/rst"\nln -sfn run.$m latest; ln -sfn $PWD/run.$m where\n'
        'first=$(ls todo | head -n 1); mv todo/$first "done/$first"; rm -f run.$((n - 1))/rst\n'
        "[ $n != 2 ] || touch finished\n"
    )
    for _ in range(3):
        jobs.submit()
    assert os.readlink(jobs.work / "latest") == "run.3"
    assert os.readlink(jobs.work / "where") == str(jobs.work / "run.3")
    assert [path.name for path in (jobs.work / "done").iterdir()]
    assert not list((jobs.work / "todo").iterdir())
    assert (jobs.work / "finished").exists()
    assert not (jobs.work / "run.0" / "rst").exists()
    kept = jobs.work / "removed.stripewise-1" / "todo" / "a"
    assert kept.read_text() == "a", "nothing of the user's is lost"


@pytest.mark.parametrize("same", [False, True])
def test_what_the_user_changes_meanwhile_stays(jobs, same) -> None:
    for name in ("a", "b", "c"):
        (jobs.work / name).write_text("old\n")
    words = ("--stage-in", f"{jobs.work}", "--stage-out", f"{jobs.work}") if same else ()
    jobs.convert(
        "sleep 0.02; echo mine > $HERE/a; echo mine > $HERE/b; rm $HERE/c\n"
        "srun sh -c 'echo job > b'",
        *words,
    )
    said = jobs.submit()
    assert (jobs.work / "a").read_text() == "mine\n"
    assert (jobs.work / "b").read_text() == "mine\n"
    assert (jobs.work / "b.stripewise-1").read_text() == "job\n"
    assert not (jobs.work / "c").exists()
    assert not (jobs.work / "a.stripewise-1").exists()
    assert "b was changed meanwhile" in said


def test_inputs_that_came_and_went_since(jobs) -> None:
    """The list of inputs is no part of the script."""
    (jobs.work / "slurm-12.out").write_text("a log\n")
    (jobs.work / "optional.dat").write_text("gone soon\n")
    jobs.convert("srun sh -c 'cat *.dat > all'\n")
    for top in (jobs.work, jobs.plain):
        (top / "slurm-12.out").unlink()
        (top / "optional.dat").unlink()
        (top / "new.dat").write_text("new\n")
    jobs.submit()
    jobs.check()
    assert (jobs.work / "all").read_text() == "new\n"


def test_logs_and_files_of_ours_are_no_inputs(jobs) -> None:
    for name in ("slurm-12.out", "slurm-12_3.out", "o.7.log", "in.dat"):
        (jobs.work / name).write_text(name)
    for name in ("logs", "run.stripewise", "slurm-tools.out.d"):
        (jobs.work / name).mkdir()
        (jobs.work / name / "job-7.err").write_text("x")
    (jobs.work / "in.dat.stripewise-5").write_text("beside")
    head = HEAD + "#SBATCH --output=o.%j.log --error logs/job-%4j.err\n"
    jobs.convert("srun find . -type f; srun touch in.dat\n", head=head)
    said = jobs.submit().splitlines()
    assert sorted(said) == ["./in.dat", "./run.sh", "./slurm-tools.out.d/job-7.err"]
    jobs.check()


def test_a_log_that_the_script_reads_is_an_input(jobs) -> None:
    (jobs.work / "model.log").write_text("step 3\n")
    jobs.convert("srun cp model.log seen\n", head=HEAD + "#SBATCH --output=model.log\n")
    jobs.submit()
    jobs.check()


def test_links_lead_where_they_led(jobs) -> None:
    shared = jobs.top / "shared"
    (shared / "d").mkdir(parents=True)
    for name in ("in", "out", "d/x", "sed"):
        (shared / name).write_text("shared\n")
    (jobs.work / "sub").mkdir()
    (jobs.work / "rst.1").write_text("1\n")
    links = {
        "in": "../shared/in", "out": shared / "out", "d": "../shared/d", "none": "../shared/new",
        "sub/deep": "../../shared/in", "rst": "rst.1", "abs": jobs.work / "rst.1", "sed": shared /
        "sed", "sub/up": "../rst.1",
    }  # fmt: skip
    for name, target in links.items():
        (jobs.work / name).symlink_to(target)
    jobs.convert(
        "cat in d/x sub/deep rst abs sub/up > seen; echo new > rst; echo sent > out\n"
        "echo y > d/y; echo made > none; sed -i s/shared/own/ sed\nsrun true\n"
    )
    jobs.submit()
    assert (jobs.work / "seen").read_text() == "shared\n" * 3 + "1\n" * 3
    assert {name: os.readlink(jobs.work / name) for name in links if name != "sed"} == {
        name: str(target) for name, target in links.items() if name != "sed"
    }
    assert (jobs.work / "rst.1").read_text() == "new\n"
    assert (shared / "out").read_text() == "sent\n", "as the script would have done"
    assert (shared / "sed").read_text() == "shared\n"
    assert (jobs.work / "sed").read_text() == "own\n"
    assert (shared / "new").read_text() == "made\n"
    assert (shared / "d" / "y").read_text() == "y\n"


def test_the_same_script_in_several_directories(jobs) -> None:
    """Inputs are those of the directory in which a job begins, as for any script."""
    jobs.convert("srun cp in out\n")
    other = jobs.top / "other"
    other.mkdir()
    (other / "in").write_text("other\n")
    fast = jobs.top / "fast"
    fast.mkdir()
    variables = {**os.environ, "FAST": str(fast), "DW_JOB_STRIPED": str(fast)}
    variables |= {"SLURM_JOB_ID": "1", "PATH": f"{jobs.top}/bin:{os.environ['PATH']}"}
    subprocess.run([jobs.work / "run.bb.sh"], cwd=other, env=variables, check=True)
    assert dict(contents(other)) == {"in": ("other\n", 0o644), "out": ("other\n", 0o644)}
    assert not (jobs.work / "out").exists()


HET = "#!/bin/bash\n#SBATCH -N1 -n1\n#SBATCH {}\n#SBATCH -N1 -n1\nsrun --het-group=0,1 ./a\n"


@pytest.mark.parametrize("word", ["hetjob", "packjob"])
@pytest.mark.parametrize("own", ["", "#DW jobdw type=scratch access_mode=striped capacity=1GiB\n"])
def test_heterogeneous_jobs(cluster, word, own) -> None:
    cluster.write(HET.format(word).replace("-n1\n", f"-n1\n{own}", 1))
    said = cluster.run("settings", "script", "run.sh", "--bb-nodes", "1")
    said.error("run.sh is a heterogeneous job", "one of its parts", "--tier directory")
    assert cluster.names == {"run.sh", "input.txt"}
    if not own:
        done = cluster.run(
            "settings", "script", "run.sh", "--tier", "directory", "--place", "/flash/$USER"
        )
        assert done.code == 0, done


PROBE = HEAD + "if ! [ -s rst.dat ]; then touch first; fi\nsrun ./a\n"


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (HEAD + "srun ./a\n", ("--stage-in", "."), ("--stage-in", "where results go")),
        (PROBE, ("--stage-in", "IN", "--stage-out", "OUT"), ("run.sh, line 3", "does not look")),
        (PROBE, ("--stage-out", "OUT"), ("line 3", "leave --stage-in and --stage-out out")),
        (HEAD.replace("=1", "=2", 1) + "srun ./a\n", ("--access", "private"),
         ("takes 2 nodes", "access_mode=private")),
        (HEAD.replace("=1", "=4", 1) + "#SBATCH -C nvme\nsrun ./a\n",
         ("--tier", "directory", "--place", "/tmp/$USER"), ("takes 4 nodes", "/tmp/$USER")),
    ],
)  # fmt: skip
def test_jobs_whose_files_cannot_be_staged(cluster, text, words, says) -> None:
    cluster.write(text)
    folders = {"IN": str(cluster.work), "OUT": f"{cluster.work}/out", ".": str(cluster.work)}
    given = [folders.get(word, word) for word in words]
    way = () if "directory" in words else ("--bb-nodes", "1")
    cluster.run("settings", "script", "run.sh", *way, *given).error(*says)
    assert cluster.names == {"run.sh", "input.txt"}


def test_a_place_that_the_sites_lines_name(cluster, tmp_path) -> None:
    """Some sites choose the directory in their lines, and no variable names it."""
    fast = tmp_path / "sbb"
    fast.mkdir()
    (cluster.work / "site").write_text(f"#BB_LUA SBF storagesize={{capacity}} path={fast}\n")
    cluster.write(HEAD + "cat input.txt > out; pwd\nsrun true\n")
    words = ("--tier", "lua", "--template", "site", "--bb-nodes", "1", "--granularity", "100GiB")
    done = cluster.run("settings", "script", "run.sh", *words, "--place", str(fast))
    assert done.code == 0, done
    made = (cluster.work / "run.bb.sh").read_text()
    assert f"\n#BB_LUA SBF storagesize=100GiB path={fast}\n" in made
    program = (cluster.work / "run.bb.sh.copies").read_text()
    assert f"expand_place() {{ printf '%s\\n' {fast}; }}" in program
