# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several emulated storages in one process: each request is held back by that of its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from emulated_hosts import Emulation
from native_hosts import Host, Programs

from emulated_machine import LUSTRE, LUSTRE_MAGIC, Machine, counters, near

MIB = 1 << 20


@dataclass
class Several(Emulation):
    """Storages below the working directory, by the directory that is theirs."""

    machines: Mapping[str, Machine] = field(default_factory=dict)
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make the mappings, and the list of them."""
        self.files = {}
        for name, machine in self.machines.items():
            root = self.host.directory / name
            root.mkdir(parents=True, exist_ok=True)
            self.files[name] = self.host.directory.parent / f"mapping-{len(self.files)}"
            machine.write(self.files[name], root)
        self.file = Path(":".join([*map(str, self.files.values()), *self.extra]))

    def counted(self, name: str) -> dict[str, int]:
        """What one of them counted."""
        return counters(self.files[name])


Make = Callable[..., Several]


@pytest.fixture
def several(host: Host, programs: Programs) -> Make:
    """Make storages in directories."""
    program = programs.executable("requests")

    def make(machines: Mapping[str, Machine], *extra: str) -> Several:
        return Several(host, Machine({}), program, machines, extra)

    return make


def writes(rate: float, **more: object) -> Machine:
    """A storage that writes so many bytes a second."""
    return Machine({"servers.target_write": rate}, **more)  # type: ignore[arg-type]


def test_each_file_is_held_back_by_its_own_storage(several: Make) -> None:
    both = several({"fast": writes(20 * MIB), "slow": writes(5 * MIB)})
    found = both.alone(
        *("create:fast/data", "pwrite:0:1048576", "close"),
        *("create:slow/data", "pwrite:0:1048576", "close"),
        *("create:neither", "pwrite:0:1048576", "close"),
    )
    assert [found[i].seconds for i in (1, 4, 7)] == [near(0.05), near(0.2), near(0)]
    for name in ("fast", "slow"):
        assert both.counted(name)["written_bytes"] == MIB
        assert both.counted(name)["processes"] == 1


def test_descriptors_of_both_at_the_same_time(several: Make) -> None:
    both = several({"fast": writes(20 * MIB), "slow": writes(5 * MIB)})
    (both.host.directory / "fast/input").write_bytes(b"x" * MIB)
    found = both.alone("create:slow/data", "copy:fast/input:1048576", "pwrite:0:1048576")
    assert [one.seconds for one in found[1:]] == [near(0.2), near(0.2)]
    assert both.counted("fast")["read_bytes"] == MIB
    assert both.counted("slow")["written_bytes"] == 2 * MIB


def test_clocks_are_apart(several: Make) -> None:
    both = several({"one": writes(10 * MIB), "two": writes(10 * MIB)})
    tables = [(f"create:{name}/data", "pwrite:0:1048576") for name in ("one", "two")]
    assert max(each[-1].end for each in both.together(*tables)) == near(0.1)


def test_of_nested_roots_the_inner_one_counts(several: Make) -> None:
    both = several({"outer": writes(20 * MIB), "outer/inner": writes(5 * MIB)})
    found = both.alone(
        *("create:outer/data", "pwrite:0:1048576", "close"),
        *("create:outer/inner/data", "pwrite:0:1048576"),
    )
    assert [found[1].seconds, found[4].seconds] == [near(0.05), near(0.2)]


def test_names_are_looked_up_where_they_are(several: Make) -> None:
    both = several(
        {
            "slow": Machine({"metadata.stat": 0.05, "metadata.remove": 0.06}),
            "slower": Machine({"metadata.stat": 0.1, "metadata.remove": 0.12}),
        }
    )
    for name in ("slow/a", "slower/a"):
        (both.host.directory / name).touch()
    found = both.alone(
        *("stat:slow/a", "stat:slower/a", "stat:slower/../slow/a", "!stat:slower/none"),
        *("rename:slow/a:slow/b", "rename:slow/b:slower/b", "unlink:slower/b"),
    )
    expected = [0.05, 0.1, 0.05, 0.1, 0.06, 0.12, 0.12]
    assert [one.seconds for one in found] == [near(seconds) for seconds in expected]
    assert both.counted("slow")["metadata"] == 3


def test_only_a_lustre_answers_as_one(several: Make) -> None:
    both = several({"lustre": Machine({}, flags=LUSTRE), "other": Machine({})})
    for name, expected in (("lustre", True), ("other", False)):
        found = both.check("stat", "-f", "-c", "%t", name)
        assert (int(found, 16) == LUSTRE_MAGIC) == expected


def test_layouts_are_those_of_the_files_storage(several: Make) -> None:
    both = several(
        {"narrow": writes(10 * MIB), "wide": writes(10 * MIB, stripe_count=4, targets=8)}
    )
    found = both.alone(
        *("create:narrow/data", "pwrite:0:4194304", "close"),
        *("create:wide/data", "pwrite:0:4194304"),
    )
    assert [found[1].seconds, found[4].seconds] == [near(0.4), near(0.1)]


def test_sync_at_close_and_asynchronous_writes(several: Make) -> None:
    both = several(
        {
            "quick": Machine({"metadata.latency": 0.03, "servers.target_write": 20.0 * MIB}),
            "slow": Machine({"metadata.latency": 0.09, "servers.target_write": 5.0 * MIB}),
        }
    )
    table = [
        word
        for name in ("quick", "slow")
        for word in (f"create:{name}/data", "aio:0:1048576", "sync", "pwrite:0:1", "close")
    ]
    found = both.alone(*table, STRIPEWISE_SYNC="1")
    assert [found[i].seconds for i in (1, 6)] == [near(0.05), near(0.2)]
    assert [found[i].seconds for i in (2, 4, 7, 9)] == [
        near(seconds) for seconds in (0.03, 0.03, 0.09, 0.09)
    ]


def test_one_that_cannot_be_used_leaves_the_others(several: Make) -> None:
    both = several({"one": writes(5 * MIB), "two": writes(20 * MIB)}, "/nowhere/at-all", "")
    both.files["two"].write_bytes(b"not a mapping")
    found = both.alone(
        *("create:one/data", "pwrite:0:1048576", "close"),
        *("create:two/data", "pwrite:0:1048576"),
    )
    assert [found[1].seconds, found[4].seconds] == [near(0.2), near(0)]
    notes = [note for note in both.host.profile.notes if "STRIPEWISE_EMULATE" in note]
    assert len(notes) == 1


def test_more_than_four_are_too_many(several: Make) -> None:
    names = "abcde"
    many = several({name: writes(20 * MIB) for name in names})
    table = [w for n in names for w in (f"create:{n}/data", "pwrite:0:1048576", "close")]
    found = many.alone(*table)
    assert [one.seconds for one in found[1::3]] == [near(0.05)] * 4 + [near(0)]
    assert any("more than 4" in note for note in many.host.profile.notes)
