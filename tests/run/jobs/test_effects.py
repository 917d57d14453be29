# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the shell lines of a script write, move and remove outside of a run's directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.run.jobs import JobScript
from stripewise.run.shell import Effects, Surroundings, effects_of_words

ENVIRONMENT = {"HOME": "/home/me", "SCRATCH": "/scratch/me", "USER": "me", "TMPDIR": "/tmp/me",
               "STALE": "/abs/c /abs/d"}  # fmt: skip
HERE = Path("/no/such/case")


def effects(
    text: str, files: dict[str, str] | None = None, shell: str = "bash", **more: object
) -> Effects:
    """What a script does, with files that are in its directory."""
    there = {f"{HERE}/{name}": data.encode() for name, data in (files or {}).items()}
    around = Surroundings(HERE, ENVIRONMENT, read=there.get, **more)  # type: ignore[arg-type]
    return JobScript.parse(f"#!/bin/{shell}\n{text}\n".encode()).effects(around)


def outer(text: str, files: dict[str, str] | None = None, **more: object) -> list[str]:
    """The uses outside, as words."""
    return [f"{e.verb} {e.path}" for e in effects(text, files, **more).outer]  # type: ignore[arg-type]


CASES = {
    "a=(/abs/x y); rm ${a[0]} ${a[1]}": "removes /abs/x",
    'a=(); a+=(/abs/x); a+=("/abs/y z"); rm "${a[@]}"': "removes /abs/x; removes /abs/y z",
    'a=(-t /abs); cp "${a[@]}" f': "writes /abs",
    'c=(rm -r /abs/x); "${c[@]}"': "removes /abs/x",
    'a=(/abs/x); for d in "${a[@]}"; do rm $d; done': "removes /abs/x",
    "declare -A m=([a]=/abs/x [b]=y); rm ${m[a]}": "removes /abs/x",
    "a=(/abs/x)\n" + 'a=("${a[@]}" y)\n' * 30 + "rm ${a[@]}": "removes /abs/x",
    "a=([1]=/abs/x [0]=y); rm ${a[0]}": "removes /abs/x",
    "nsys profile -t mpi -o /abs/r srun -o x ./x -o /abs/no": "writes /abs/r",
    "perf stat -o /abs/p ./x -o /abs/no": "writes /abs/p",
    "valgrind --log-file=/abs/v.%p ./x": "writes /abs/v.%p",
    "srun $UNKNOWN -o /abs/log ./x": "writes /abs/log",
    "nsys profile -t mpi srun -o /abs/log rm /abs/x": "writes /abs/log; removes /abs/x",
    "srun -n 2 ${UNKNOWN} $OTHER --error=/abs/e ./x": "writes /abs/e",
    "mpirun $UNKNOWN --output-filename /abs/o ./x": "writes /abs/o",
    "for d in a b; do cd /abs/$d; touch x; done": "writes /abs/$d/x",
    "rm -rf /abs/old": "removes /abs/old",
    "rmdir /abs/d": "removes /abs/d",
    "srun ./x in.nml > /abs/log": "writes /abs/log",
    "srun -o /abs/log.%t ./x": "writes /abs/log.%t",
    "srun -n4 --error=/abs/log ./x": "writes /abs/log",
    "mpiexec -outfile-pattern /abs/x.%r ./a": "writes /abs/x.%r",
    "mpirun --output dir=/abs/o -n 2 ./a": "writes /abs/o",
    "cp -f out.h5 /abs/": "writes /abs/",
    "cp -t /abs a b": "writes /abs",
    "mv /abs/a .": "moves /abs/a",
    "mv out ../archive/": "writes ../archive/",
    "env -C /abs rm x": "works in /abs; removes /abs/x",
    "builtin cd /abs; rm x": "removes /abs/x",
    "cd /abs && rm x": "removes /abs/x",
    "(cd /abs; rm x); rm y": "removes /abs/x",
    "pushd ../other; rm x; popd; rm y": "removes ../other/x",
    "mkdir -p a && cd a && rm ../x && cd ../.. && rm z": "removes ../z",
    "ln -s $PWD/out /abs/latest": "writes /abs/latest",
    "tar -C /abs -xf a.tar": "writes /abs",
    "tar czf /abs/a.tgz out": "writes /abs/a.tgz",
    "rsync -avt out/ /abs/out/": "writes /abs/out/",
    "rsync -a out me@host:/abs": "writes me@host:/abs",
    "find /abs -name '*.o' -delete": "removes /abs",
    r"find out -name x -exec cp {} /abs \;": "writes /abs",
    "sed -i s/a/b/ /abs/x": "writes /abs/x",
    "truncate -s 0 /abs/x": "writes /abs/x",
    "dd if=/abs/in of=/abs/out bs=1": "writes /abs/out",
    "date | tee -a /abs/log": "writes /abs/log",
    "install -m 644 a /abs/": "writes /abs/",
    "cat <<EOF > /abs/x\nrm /abs/no\nEOF": "writes /abs/x",
    "bash <<EOF\nrm /abs/x\nEOF": "removes /abs/x",
    "echo x >| /abs/x": "writes /abs/x",
    "cmd &>> /abs/x": "writes /abs/x",
    "cmd >& /abs/x": "writes /abs/x",
    "exec 3> /abs/log 2>&1": "writes /abs/log",
    "{ a; b; } > /abs/x": "writes /abs/x",
    "for i in 1 2; do :; done >> /abs/y": "writes /abs/y",
    "trap 'rm -rf /abs/t' EXIT": "removes /abs/t",
    'eval "rm /abs/x"': "removes /abs/x",
    "bash -lc 'cd /abs; rm y'": "removes /abs/y",
    "timeout 10 nice -n 5 env A=b rm /abs/x": "removes /abs/x",
    "srun rm -rf /abs/x": "removes /abs/x",
    "ls | xargs -I{} mv {} /abs/": "writes /abs/",
    "echo $(date > /abs/d)": "writes /abs/d",
    "OUT=/abs/res\nmkdir -p $OUT/a": "writes /abs/res/a",
    "BASE=/abs\nLOG=$BASE/log.txt\n./x > $LOG": "writes /abs/log.txt",
    "LOG=${LOG:-/abs/log}; ./x > $LOG": "writes /abs/log",
    "for d in /abs/a rel; do rm -r $d; done": "removes /abs/a",
    "if true; then D=/abs; else D=here; fi; rm $D/x": "removes /abs/x",
    "rm -rf /abs/{a,b}/*.o": "removes /abs/a/*.o; removes /abs/b/*.o",
    "rm -rf $SCRATCH/old": "removes /scratch/me/old",
    "cp x ~/results/": "writes /home/me/results/",
    "cp x /abs/$SLURM_JOB_ID/out": "writes /abs/$SLURM_JOB_ID/out",
    "while read f; do rm /abs/$f; done < list": "removes /abs/$f",
    "F=/abs/a.nc; cp q `dirname $F`/x": "writes /abs/x",
    "D=$(mktemp -d -p /abs); rm -r $D": "makes /abs",
    "gzip -9 /abs/x.nc": "moves /abs/x.nc",
    "make -C /abs install": "writes /abs",
    'cd "$(dirname $PWD)"; rm x': "removes ../x",
    'echo "rm /abs/x" | sh': "removes /abs/x",
    "(echo 'rm /abs/x') | bash -s": "removes /abs/x",
    "alias clean='rm -rf /abs/x'": "removes /abs/x",
    "$(which rm) /abs/x": "removes /abs/x",
    "`command -v rm` /abs/x": "removes /abs/x",
    """awk '{print $1 > "/abs/x"}' in""": "writes /abs/x",
    "gawk -i inplace '{print}' /abs/x": "writes /abs/x",
    "sqlite3 /abs/x.db 'drop table t'": "writes /abs/x.db",
    "fallocate -l 1G /abs/x": "writes /abs/x",
    "ar rc /abs/lib.a x.o": "writes /abs/lib.a",
    "uniq -c in /abs/x": "writes /abs/x",
    "rename old new /abs/*.dat": "writes /abs/*.dat",
    "ROOT=${SLURM_SUBMIT_DIR%/*}; mkdir -p $ROOT/results": "writes ../results",
    'R="${PWD%/*/*}"; rm -r "$R/x"': "removes ../../x",
    "R=$(dirname $SLURM_SUBMIT_DIR); rm ${R%/*}/x": "removes ../../x",
    "cd sub; rm ${PWD%/*}/x ${PWD%/*/*}/y": "removes ../y",
    "D=/abs/d/; rm ${D%/}/x": "removes /abs/d/x",
    "F=/abs/a.tar.gz; cp q ${F%.tar.gz}.nc; cp q /far/${F##*/}": "writes /abs/a.nc; "
    "writes /far/a.tar.gz",
    "D=/abs/$SLURM_JOB_ID; rm -r ${D%/*}/old": "removes /abs/old",
    "for f in /abs/*.nc; do cp q ${f%.nc}.old; done": "writes /abs/*.old",
    "rm $(dirname /abs/x/)/y": "removes /abs/y",
    'L="-o /abs/m.%t"; srun --mpi=pmix $L ./x': "writes /abs/m.%t",
    'O="--mpi=pmix -o $D/m -e /abs/e"; D=/abs; srun $O ./x': "writes /abs/m; writes /abs/e",
    'O="--output-filename /abs"; mpirun $O ./x': "writes /abs",
    "O=--error=/abs/e; srun $O ./x": "writes /abs/e",
    'O="--chdir=/abs"; srun $O rm x': "works in /abs; removes /abs/x",
    "srun ${O:--o /abs/x} --err=/abs/y ./x": "writes /abs/x; writes /abs/y",
    "srun --bcast=/abs/exe ./x; srun --bcast /usr/bin/true": "writes /abs/exe",
    "export SLURM_STDOUTMODE=/abs/o.%t; srun ./x": "writes /abs/o.%t",
    "SLURM_STDERRMODE=/abs/e SLURM_STDOUTMODE=/no srun -o x ./x": "writes /abs/e",
    "export OMPI_MCA_orte_output_filename=/abs/o; mpirun ./x": "writes /abs/o",
    'O="stale /abs/x"; rm -rf $O; rm "$O"': "removes /abs/x",
    'O="stale /abs/x"; for d in $O; do rm "$d"; done': "removes /abs/x",
    "rm -rf $STALE": "removes /abs/c; removes /abs/d",
    'for d in a $STALE; do rm -r "$d/x"; done': "removes /abs/c/x; removes /abs/d/x",
    'A="-t /abs"; cp $A f': "writes /abs",
    'if a; then A="-t /abs"; else A=-r; fi; cp $A f /far/': "writes /abs; writes /far/",
    'CLEAN="rm -r"; CLEAN="cp x"; $CLEAN /abs': "removes /abs; writes /abs",
    "DEBUG=; $DEBUG rm /abs/x": "removes /abs/x",
    'C="rm /abs/x; rm /abs/y"; eval "$C"': "removes /abs/x; removes /abs/y",
    'A="$SLURM_SUBMIT_DIR/../x y"; cd /abs; eval rm $A': "removes ../x; removes /abs/y",
    "IFS=:; D=a:/abs/x; for d in $D; do rm $d; done": "removes /abs/x",
    'O="$O -n 4"; O="$O -o /abs/y"; O="$O -t 1"; srun $O ./x': "writes /abs/y",
    'O="-n 4"; O+=" -o /abs/y"; srun $O ./x': "writes /abs/y",
    "D=/abs; D=$D/x; D+=/y; rm -r $D": "removes /abs; removes /abs/x; removes /abs/x/y",
    'O="$UNKNOWN -o /abs/y"; mpirun -n $SLURM_NTASKS srun $O ./x': "writes /abs/y",
    "rm $STALE/*": "removes /abs/c; removes /abs/d/*",
    "for f in $STALE/x; do rm $f; done": "removes /abs/c; removes /abs/d/x",
    "bash < cleaning": "removes /abs/x",
    'D="-C /abs"; tar $D -xf a.tar; find $STALE -delete': "writes /abs; removes /abs/c; "
    "removes /abs/d",
}


REMOTE = {
    "scp out $USER@$HPSS:$D/y; scp h:x /abs": "writes me@$HPSS:$D/y; writes /abs",
    "for h in a b; do scp f $h:/d/; done": "writes a:/d/; writes b:/d/",
    "rsync --remove-source-files h:/q .; rsync x h::m": "moves h:/q; writes h::m",
    "sshpass -p x scp a h:/b; ls | xargs -I{} scp {} h:": "writes h:/b; writes h:",
    "sftp me@h <<X\ncd a\nrm x\nX": "writes me@h:",
    "echo 'put x' | sftp h; sftp -b cmds g": "writes h:; writes g:",
    'lftp -e "mirror -R out /in; bye" h; lftp -c "open h; rm x"': "writes h:; writes lftp:",
    'hsi "cd x; put y"; hsi rm z': "writes hsi:; writes hsi:",
    "htar -cvf /hpss/a.tar out": "writes htar:/hpss/a.tar",
    "curl -T f https://h/x; curl -sX DELETE https://h/y": "writes https://h/x; removes https://h/y",
    "curl -X PUT --data-binary @f -H 'A: b' h/z": "writes http://h/z",
    "curl -sd a=b https://h/x; curl -F a=@f https://h/y": "sends to https://h/x; "
    "sends to https://h/y",
    "wget --post-file=f http://h/x; wget --method=PUT http://h": "sends to http://h/x; "
    "writes http://h",
    "aws s3 cp out s3://b/x --storage-class GLACIER": "writes s3://b/x",
    "aws --profile p s3 sync s3://b/x /abs/y; aws s3 mv s3://b/m .": "writes /abs/y; "
    "moves s3://b/m",
    "aws s3 rm s3://b/z; aws s3api delete-object --bucket b --key k": "removes s3://b/z; "
    "removes s3://b",
    "s3cmd put f s3://b/f; s3cmd del s3://b/g": "writes s3://b/f; removes s3://b/g",
    "rclone copy out r:x --transfers 4; rclone sync r:x /abs": "writes r:x; writes /abs",
    "rclone -v delete r:z; rclone move out r:m": "removes r:z; writes r:m",
    "globus transfer a:/x b:/y --label q; globus delete c:/z": "writes b:/y; removes c:/z",
    "gsutil -m cp -r o gs://b/x; gsutil rm gs://b/y": "writes gs://b/x; removes gs://b/y",
    "gcloud storage rsync a gs://b": "writes gs://b",
    "iput -rf out; iput f /z/x; irm -f y": "writes irods:; writes irods:/z/x; removes irods:y",
    "irsync -r out i:c; irsync i:c /abs": "writes i:c; writes /abs",
    "dsmc archive '/a/*' -desc=q; dsmc delete archive /b": "writes dsmc:/a/*; removes dsmc:/b",
    "gfal-copy a srm://h/x; gfal-rm srm://h/y": "writes srm://h/x; removes srm://h/y",
    "xrdcp a root://h//x; xrdcp root://h//x file:///abs/z": "writes root://h//x; writes /abs/z",
    "date | mail -s 'done $X' me@h you": "sends to mailto:me@h; sends to mailto:you",
    "mutt -s q -a f g -- c@d; sendmail -t < m": "sends to mailto:c@d; sends to mailto:",
    "git push; git push -q git@h:a/b main": "writes git:origin; writes git@h:a/b",
}
CASES |= REMOTE


@pytest.mark.parametrize("text", CASES)
def test_what_lies_outside(text: str) -> None:
    assert "; ".join(outer(text, {"cmds": "ls\nput x\n", "cleaning": "rm /abs/x"})) == CASES[text]


@pytest.mark.parametrize(
    "text",
    [
        "rm *.o; mv a b; mkdir -p out/{a,b}; cp /abs/in .; cat /abs/in > x",
        "cp x $TMPDIR/; D=$(mktemp -d); cp x $D; rm -rf $D",
        "cp x $SLURM_SUBMIT_DIR/res; cp x ${PWD}/y; cd $SLURM_SUBMIT_DIR/a; rm ../b",
        "echo x > log.$SLURM_JOB_ID; cmd 2>&1 >&2; sed s/a/b/ /abs/x > y; gzip -c /abs/a > a.gz",
        "cp x $(basename /abs/y); tar xf /abs/a.tar; find /abs -name x; ln -sf /abs/in data",
        "cd /no/such/case/sub; rm x",
        "awk '$1 > 2/3' /abs/x; awk '{print > \"log/x\"}' /abs/in; alias l='ls /abs'",
        "make; ls /abs; [ -d /abs ] && echo /abs; module load /abs/x; export PATH=/abs:$PATH",
        "cp $DW_JOB_STRIPED/a .; cp b $DW_JOB_STRIPED/",
        "curl https://x -o f; curl -sLO https://x; curl -X GET -d q https://x; wget https://x",
        "curl -Gd a=b https://x; curl -X POST localhost:80/x; cp x a:b; date > log.10:30",
        "aws s3 ls s3://b; aws s3 cp s3://b/x .; rclone ls r:; rclone sync -n a r:b; gsutil ls",
        "s3cmd get s3://b/f; htar -xf /hpss/a; hsi get x; hsi 'ls; cget q'; irsync i:c out",
        "sftp h <<X\nlcd d\nget x\nls put\nX\nlftp -c 'open h; mirror /x out'; mail; dsmc q ar x",
        "scp h:/x .; rsync -a h:x out/; git push --dry-run; globus ls a:/; gfal-copy srm://h/x .",
        "F=/abs/a.nc; cp q out/${F##*/}; cd sub; rm ${PWD%/*}/x; rm ${SLURM_SUBMIT_DIR%/}/y",
    ],
)
def test_what_stays_inside(text: str) -> None:
    found = effects(text, ours=["DW_JOB_STRIPED"])
    assert (found.outer, found.unknown, found.unguarded) == ([], [], [])


@pytest.mark.parametrize(
    "text",
    [
        "D=$(dirname $(pwd)); rm $D/x",
        "cat cmds | sh",
        "rm -rf $WORK/old",
        "cp x $1",
        "ls | xargs rm -f",
        "cd $X; rm y",
        "rm ${SLURM_SUBMIT_DIR%_run}/x",
        "cp a $(cmd)/b",
    ],
)
def test_what_only_a_run_knows(text: str) -> None:
    found = effects(text)
    assert found.outer == []
    assert len(found.unknown) == 1


@pytest.mark.parametrize(
    "text",
    [
        "env -i ./x",
        "sudo ./x",
        "export LD_PRELOAD=/x.so",
        "unset LD_PRELOAD",
        "ssh h ls",
        "cat x | sftp h",
        "sftp -b $CMDS h",
        "hsi < cmds",
    ],
)
def test_what_no_library_gets_into(text: str) -> None:
    assert len(effects(text).unguarded) == 1


def test_files_that_the_script_reads_and_calls() -> None:
    files = {
        "setup.sh": "cd /abs/other",
        "post.sh": "#!/bin/sh\ncp out $1\nrm -rf /abs/z",
        "prog": "#!/usr/bin/python3\nrm /abs",
    }
    text = "./post.sh /abs/to\n. ./setup.sh\nrm x\n./prog"
    found = effects(text, files)
    assert [f"{e.script}:{e.line} {e.verb} {e.path}" for e in found.outer] == [
        "./post.sh:2 writes /abs/to",
        "./post.sh:3 removes /abs/z",
        ":4 removes /abs/other/x",
    ]


def test_where_commands_work() -> None:
    text = "#!/bin/bash\ncd sub\na\ncd ../../other\nb\ncd -\nc\ncd $X\nd\n"
    script = JobScript.parse(text.encode())
    places = script.effects(Surroundings(HERE, {})).places
    assert {text[at]: place for at, place in places.items() if text[at + 1] == "\n"} == {
        "a": "", "b": "../other", "c": "", "d": "",
    }  # fmt: skip


def test_a_script_of_csh() -> None:
    text = "rm -f /abs/x >& /abs/log\nset d = /abs/q\ncp x $d\ncd /abs\ncp a b >! c"
    assert outer(text, shell="csh") == [
        "writes /abs/log", "removes /abs/x", "writes /abs/q", "writes /abs/c", "writes /abs/b",
    ]  # fmt: skip


def test_lists_of_csh() -> None:
    text = "foreach d (/abs/a b)\nrm $d\nend\nset l = (/abs/c /abs/d)\nset r=(rm -r)\n"
    text += "touch $l[2]\nrm $l\nforeach x ($l)\nmkdir $x/e\nend\n$r /abs/f\nset u = $1\nrm $u[1]"
    found = effects(text, shell="tcsh")
    assert [f"{each.verb} {each.path}" for each in found.outer] == [
        "removes /abs/a", "writes /abs/d", "removes /abs/c", "removes /abs/d", "writes /abs/c/e",
        "writes /abs/d/e", "removes /abs/f",
    ]  # fmt: skip
    assert [each.text for each in found.unknown] == ["rm $u[1]"]


def test_directories_for_temporary_files() -> None:
    script = JobScript.parse(b"#!/bin/sh\nsrun ./a\ncd $TMPDIR/x\nsrun ./b > log\n")
    found = script.effects(Surroundings(HERE, ENVIRONMENT))
    assert found.temporary == {script.launches[1].start}
    assert not found.outer + found.unknown


def test_where_a_shell_splits_words() -> None:
    text = "D='x /abs/y'; rm -r $D"
    assert outer(text) == outer(f"setopt sh_word_split; {text}", shell="zsh") == ["removes /abs/y"]
    assert outer(text, shell="zsh") == []
    assert outer("p=(a /abs/x)\nrm $p[2]\nrm $p", shell="zsh") == ["removes /abs/x"] * 2
    for text in ("set D = 'x /abs/y'; rm -r $D", "set L = '-o /abs/y'\nsrun $L ./x"):
        assert [each.partition(" ")[2] for each in outer(text, shell="csh")] == ["/abs/y"]


def test_words_of_the_script() -> None:
    assert outer("rm $1/x", words=["/abs"]) == ["removes /abs/x"]
    found = effects("save() { cp out $1; }\nsave /abs", words=[])
    assert (found.outer, len(found.unknown)) == ([], 1)


def test_a_link_that_leads_outside(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "case" / "results").symlink_to(tmp_path / "far")
    around = Surroundings(tmp_path / "case", {})
    script = JobScript.parse(b"#!/bin/sh\ncp out results/\necho > results/x\nrm results\n")
    found = [(e.verb, e.path) for e in script.effects(around).outer]
    assert found == [("writes", f"{tmp_path}/far"), ("writes", f"{tmp_path}/far/x")]


def test_the_repository_around_a_copy_is_the_users(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "case").mkdir()
    around = Surroundings(tmp_path / "case", {})
    script = JobScript.parse(b"#!/bin/sh\ngit clean -fdx\ngit describe\n")
    (found,) = script.effects(around).outer
    assert (found.line, found.path) == (2, str(tmp_path))


def test_a_command_without_a_script() -> None:
    around = Surroundings(HERE, ENVIRONMENT, is_job=False, read=lambda path: None)
    for words in (["bash", "-c", "rm $HOME/x"], ["mpiexec", "-n", "2", "sh", "-c", "rm ~/x"]):
        (found,) = effects_of_words(words, around).outer
        assert (found.verb, found.path) == ("removes", "/home/me/x")
    assert effects_of_words(["mpiexec", "./a", "/abs/out.h5"], around).outer == []


@pytest.mark.parametrize("text", ["rm $(", "$((", "a <<", "cd", "source", "bash -c", "find", ">",
                                  "x() {", "srun", "env", "xargs", "tar", "eval '`'"])  # fmt: skip
def test_what_cannot_be_read_is_no_harm(text: str) -> None:
    effects(f"rm /abs\n{text}")
