# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the dry run says to give as --allow-outside is taken, and allows it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.run.jobs import JobScript
from stripewise.study.plan import StudyOptions
from stripewise.study.plan._outside import Outside, outside_of_script

TEXTS = [
    "scp out.nc me@archive:/data/run/",
    "scp -r out $USER@$ARCHIVE:$DATA/run; rsync -a out host:run.$SLURM_JOB_ID",
    "rsync -a out/ rsync://host/mod; rsync -a out/ host::mod/x",
    "aws s3 cp out s3://bucket/run/; aws s3 rm s3://bucket/run/x; gsutil cp a gs://b/../c",
    "rclone copy out 'my remote:a b/c'; rclone copy out $SOMEWHERE:x",
    "hsi 'put x'; htar -cf /hpss/a.tar out; htar -cf $HPSS/b.tar out; iput out; dsmc ar '/no/a*'",
    "curl -T f https://host:443/x?y; curl -d q $URL; git push; mail -s x me@host you; sendmail -t",
    "sftp host <<X\nput f\nX",
    "rm -rf '/no/a b/c' /no/such/d /no/e; cp x ../y; for d in /no/f/g /no/h; do rm $d/x; done",
    "rm /no/such/a:b/c; date > /no/such/10:30.log",
    "cp out /no/such/z; scp out host:/no/such/z; srun -o /no/log/%t ./x",
]


def found_in(text: str, here: Path, *allow: str) -> tuple[Outside, StudyOptions]:
    options = StudyOptions(("run.sh",), origin=here, allow_outside=tuple(map(Path, allow)))
    script = JobScript.parse(f"#!/bin/bash\n{text}\n".encode())
    return outside_of_script(script, options, ())[0], options


@pytest.mark.parametrize("text", TEXTS)
def test_a_remedy_is_one(text: str, tmp_path: Path) -> None:
    before, _ = found_in(text, tmp_path)
    assert {use.allowed for use in before.uses} == {False}
    words = shlex.split(before.remedy_text)
    assert set(words[::2]) == {"--allow-outside"}
    after, options = found_in(text, tmp_path, *words[1::2])
    after.check("run.sh")
    assert {use.allowed for use in after.uses} == {True}
    assert not any(":" in str(path) for path in options.allowed_outside)


def test_mails_are_warned_of(tmp_path: Path) -> None:
    found, _ = found_in("date | mail -s done me@host", tmp_path)
    assert not found.uses
    (warning,) = found.warnings
    assert "line 2) sends mail in each run" in warning


def test_what_is_allowed_of_another_host(tmp_path: Path) -> None:
    for allowed, names in {
        "me@h:": ["me@h:x", "me@h:/a/b", "me@h::mod"],
        "h:/a/": ["h:/a", "h:/a/b", "h:/a//b/./c"],
        "s3://b": ["s3://b", "s3://b/x"],
    }.items():
        for name in names:
            found, _ = found_in(f"rclone copy f {name}", tmp_path, allowed)
            assert [use.allowed for use in found.uses] == [True], name
    for allowed, name in {
        "h:/a": "h:/ab", "me@h:": "h:x", "h:/a/b": "h:/a", "h:a": "h:/a", "h:/c": "h:/c/../a",
    }.items():  # fmt: skip
        found, _ = found_in(f"rclone copy f {name}", tmp_path, allowed)
        assert [use.allowed for use in found.uses] == [False], name


def test_a_path_with_a_colon_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log:1").touch()
    for path in (f"{tmp_path}/a:b", "log:1"):
        with pytest.raises(UsageError, match="a name with a colon cannot be passed to runs"):
            StudyOptions(("x",), origin=tmp_path, allow_outside=(Path(path),))
