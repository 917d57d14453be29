# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Slow and strict readers of texts of hosts and GPFS: what is believed must stand there, once.

Each returns what a text says as it stands; a line that is there twice says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from stripewise.monitor.texts._disks import read_diskstats
from stripewise.monitor.texts._gpfs import read_fs_io_s
from stripewise.monitor.texts._host import (
    MODES,
    read_loadavg,
    read_meminfo,
    read_net_dev,
    read_stat,
)


def number(word: str) -> int:
    assert word.isascii()
    assert word.isdecimal()
    assert int(word) < 1 << 64
    return int(word)


def numbers(words: list[str], *, among: tuple[int, ...]) -> list[int]:
    assert len(words) in among
    return [number(word) for word in words]


def the_one(text: str, name: str, read: Callable[[str], tuple[str, Any]]) -> Any:
    """What the one line of a name says; lines that say nothing are left out."""
    found = []
    for line in text.splitlines():
        with suppress(AssertionError, IndexError, KeyError, ValueError):
            found.append(read(line))
    (value,) = [value for key, value in found if key == name] or [None]
    assert value is not None, f"nothing tells of {name!r}"
    return value


def _disk(line: str) -> tuple[str, Any]:
    words = line.split()
    among = (14, 18) if len(words) < 20 else (len(words),)
    assert len(words) in among
    numbers(words[:2], among=(2,))
    return words[2].replace("/", "!"), [number(word) for word in words[3:20]]


def disks(text: str) -> None:
    for one in read_diskstats(text)[0]:
        counts = the_one(text, one.name, _disk)
        assert one.reads == counts[0]
        assert (one.read_bytes, one.read_ms) == (512 * counts[2], counts[3])
        assert (one.writes, one.write_bytes, one.write_ms) == (
            counts[4], 512 * counts[6], counts[7],
        )  # fmt: skip
        assert one.in_flight == (counts[8] if counts[8] < 1 << 31 else None)
        assert one.busy_ms == counts[9]
        assert (one.discards, one.discard_ms) == (
            (counts[11], counts[14]) if len(counts) > 14 else (None, None)
        )
        assert (one.flushes, one.flush_ms) == (
            (counts[15], counts[16]) if len(counts) > 16 else (None, None)
        )


def _spaced(line: str) -> tuple[str, Any]:
    name, _, rest = line.partition(" ")
    return name, rest.split()


def processors(text: str) -> None:
    found = read_stat(text)
    words = the_one(text, "cpu", _spaced)
    assert found.ticks == dict(zip(MODES, map(number, words), strict=False))
    if found.boot is not None:
        assert [found.boot] == numbers(the_one(text, "btime", _spaced), among=(1,))


def load(text: str) -> None:
    found = read_loadavg(text)
    word = text.split()[0]
    assert set(word) <= set("0123456789.")
    assert found == float(word)


def _amount(line: str) -> tuple[str, Any]:
    name, _, rest = line.partition(":")
    amount, unit = [*rest.split(), "", ""][:2]
    assert unit == "kB"
    assert len(rest.split()) == 2
    return name, number(amount)


def memory(text: str) -> None:
    for name, amount in read_meminfo(text)[0].items():
        assert amount == 1024 * the_one(text, name, _amount)


def _interface(line: str) -> tuple[str, Any]:
    name, _, rest = line.rpartition(":")
    return name.strip(), numbers(rest.split(), among=(16,))


def interfaces(text: str) -> None:
    for one in read_net_dev(text)[0]:
        counts = the_one(text, one.name, _interface)
        assert (one.received_bytes, one.sent_bytes) == (counts[0], counts[8])
        assert (one.receive_errors, one.send_errors) == (
            counts[2] + counts[3], counts[10] + counts[11],
        )  # fmt: skip


KEYS = {"open": "_oc_", "close": "_cc_", "read": "_rdc_", "write": "_wc_", "readdir": "_dir_",
        "inode_update": "_iu_"}  # fmt: skip


def _file_system(line: str) -> tuple[str, Any]:
    words = line.split()
    told = dict(zip(words[1::2], words[2::2], strict=False))
    assert words[0] == "_fs_io_s_"
    assert told["_rc_"] == "0"
    assert len(told) == len(words[1::2]) == len(words[2::2])
    counts = [number(told[key]) for key in ("_br_", "_bw_", *KEYS.values())]
    return f"{told['_cl_']}:{told['_fs_'].removeprefix('/dev/')}", counts


def gpfs(text: str) -> None:
    whole = text[: text.rfind("\n") + 1]
    for one in read_fs_io_s(text)[0]:
        counts = the_one(whole, f"{one.cluster}:{one.fs}", _file_system)
        assert [one.read_bytes, one.write_bytes] == counts[:2]
        assert [one.operations[name] for name in KEYS] == counts[2:]


STRICT: dict[str, Callable[[str], None]] = {
    "read_diskstats": disks,
    "read_stat": processors,
    "read_loadavg": load,
    "read_meminfo": memory,
    "read_net_dev": interfaces,
    "read_fs_io_s": gpfs,
}
"""By the reader that is checked."""
