# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the metadata kernel asks of the system: which names, in which directories, whose."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path, PurePath

import pytest
from metadata_builds import metadata_kernel

pytestmark = pytest.mark.mpi

_CALL = re.compile(r'^(?:\d+ +)?(\w+)\((?:AT_FDCWD, )?"([^"]*)"(.*)= (-?\d+)')
_NAMES = re.compile(r"(?:file|moved|directory|tree|rank)\.|shared")
_KINDS = {"mkdir": "mkdir", "unlink": "unlink", "rmdir": "rmdir", "rename": "rename"}


def calls(ranks: int, words: list[str], tmp_path: Path) -> list[list[tuple[str, str]]]:
    """Of each rank: kind of call and path below the job's directory; all went well."""
    kernel = metadata_kernel("mpich")
    traced = "exec strace -e trace=file -s 4096 -o rank.$PMI_RANK.log " + '"$0" "$@"'
    done = subprocess.run(
        ["mpiexec.mpich", "-n", str(ranks), "sh", "-c", traced, str(kernel.program), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    return [list(_read(tmp_path / f"rank.{rank}.log")) for rank in range(ranks)]


def _read(log: Path) -> list[tuple[str, str]]:
    found = []
    for line in log.read_text().splitlines():
        match = _CALL.match(line)
        if match is None or "/stripewise-metadata-" not in match[2] or not _NAMES.search(match[2]):
            continue
        call, path, rest, result = match.groups()
        assert int(result) >= 0, line
        kind = "create" if "O_CREAT" in rest else "open" if call == "openat" else call
        kind = "stat" if "stat" in call else kind
        found.append((kind, path.split("/", 2)[2]))
    return found


def paths(rank: list[tuple[str, str]], kind: str, word: str = "file.") -> list[str]:
    return [path for one, path in rank if one == kind and PurePath(path).name.startswith(word)]


def test_each_file_is_made_once_and_asked_for_once(tmp_path: Path) -> None:
    words = ["--files", "13", "--depth", "1", "--width", "3", "--phases"]
    (rank,) = calls(1, [*words, "create,stat,read-file,remove"], tmp_path)
    made = paths(rank, "create")
    assert len(made) == len(set(made)) == 13
    assert paths(rank, "stat") == paths(rank, "open") == paths(rank, "unlink") == made
    assert Counter(str(PurePath(path).parent) for path in made) == {
        "shared": 4, "shared/tree.1": 4, "shared/tree.2": 4, "shared/tree.3": 1,
    }  # fmt: skip
    tree = paths(rank, "mkdir", "tree.")
    assert tree == ["shared/tree.1", "shared/tree.2", "shared/tree.3"]
    assert paths(rank, "rmdir", "tree.") == tree[::-1]


def test_files_lie_in_the_leaves_if_asked(tmp_path: Path) -> None:
    words = ["--files", "8", "--depth", "2", "--width", "2", "--spread", "leaves"]
    (rank,) = calls(1, [*words, "--phases", "create,remove"], tmp_path)
    folders = Counter(str(PurePath(path).parent) for path in paths(rank, "create"))
    leaves = ("tree.1/tree.3", "tree.1/tree.4", "tree.2/tree.5", "tree.2/tree.6")
    assert folders == {f"shared/{leaf}": 2 for leaf in leaves}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("sharing", ["shared", "own"])
def test_the_files_of_another_rank_are_asked_for(sharing: str, tmp_path: Path) -> None:
    words = ["--files", "5", "--sharing", sharing, "--shift", "1", "--phases"]
    ranks = calls(2, [*words, "create,stat,read-file,remove"], tmp_path)
    for number, rank in enumerate(ranks):
        other = paths(ranks[1 - number], "create")
        assert paths(rank, "stat") == paths(rank, "open") == paths(rank, "unlink") == other
        root = f"rank.{number}" if sharing == "own" else "shared"
        assert paths(rank, "create") == [f"{root}/file.{number}.{i}" for i in range(5)]


def test_the_order_can_be_drawn(tmp_path: Path) -> None:
    words = ["--files", "40", "--random", "--phases", "create,stat,read-file,remove", "--seed"]
    (first,) = calls(1, [*words, "1"], tmp_path)
    (same,) = calls(1, [*words, "1"], tmp_path)
    (other,) = calls(1, [*words, "2"], tmp_path)
    made, asked = paths(first, "create"), paths(first, "stat")
    assert made != asked
    assert sorted(made) == sorted(asked) == sorted(paths(first, "open"))
    assert paths(first, "open") != asked
    assert paths(first, "unlink") == made
    assert paths(same, "stat") == asked != paths(other, "stat")


def test_renamed_files_are_removed_under_their_new_name(tmp_path: Path) -> None:
    words = ["--files", "4", "--phases", "create,rename,list,remove"]
    (rank,) = calls(1, words, tmp_path)
    assert len(paths(rank, "rename")) == 4
    assert paths(rank, "unlink", "moved.") == [f"shared/moved.0.{i}" for i in range(4)]
    (again,) = calls(1, ["--files", "4", "--phases", "create,rename"], tmp_path)
    assert set(paths(again, "unlink", "moved.")) == set(paths(rank, "unlink", "moved."))
