# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.storage.machines import Mount
from stripewise.storage.machines._description import find_mount, mount_in

MOUNTS = r"""27 1 254:0 / / rw - ext4 /dev/vda rw
28 27 0:40 / /scratch rw - lustre 10.0.0.1@tcp:/scratch rw
29 28 0:41 / /scratch/home\040two rw - nfs4 server:/home rw
30 27 0:42 / /over rw - overlay overlay rw
31 30 0:43 / /over rw - tmpfs tmpfs rw
rubbish
"""


@pytest.mark.parametrize(
    ("path", "kind", "source"),
    [
        ("/etc", "ext4", "/dev/vda"),
        ("/scratch/x", "lustre", "10.0.0.1@tcp:/scratch"),
        ("/scratchy", "ext4", "/dev/vda"),
        ("/scratch/home two/y", "nfs4", "server:/home"),
        ("/over/z", "tmpfs", "tmpfs"),
    ],
)
def test_the_file_system_is_that_of_the_longest_mount_point(
    path: str, kind: str, source: str
) -> None:
    found = mount_in(MOUNTS, path)
    assert (found.kind, found.source) == (kind, source)


def test_nothing_is_found_in_rubbish() -> None:
    assert mount_in("rubbish\n", "/") == Mount()
    assert str(Mount()) == "unknown"


def test_what_kinds_are() -> None:
    lustre, nfs, memory = (mount_in(MOUNTS, p) for p in ("/scratch", "/scratch/home two", "/over"))
    assert lustre.is_parallel
    assert lustre.is_network
    assert nfs.is_network
    assert not nfs.is_parallel
    assert memory.is_memory
    assert str(lustre) == "lustre on /scratch (10.0.0.1@tcp:/scratch)"


@pytest.mark.parametrize(
    ("path", "medium"), [("/x", "rotational"), ("/scratch", "network"), ("/over", "memory")]
)
def test_the_medium(path: str, medium: str, tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    queue = tmp_path / "sys/dev/block/254:0/queue"
    queue.mkdir(parents=True)
    (queue / "rotational").write_text("1\n")
    assert find_mount(Path(path), tmp_path).medium == medium


def test_the_real_one_is_known() -> None:
    assert find_mount(Path("/proc")).kind == "proc"
    assert find_mount(Path("/")).identity
