# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of texts of the host: processors, load, memory, network, disks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stripewise.centre.monitor.collectors._disks import read_diskstats
from stripewise.centre.monitor.collectors._host import (
    read_loadavg,
    read_meminfo,
    read_net_dev,
    read_stat,
)
from support.other_hosts import DISKS_3_10, DISKS_4_18, DISKS_5_5, MEMINFO, NET_DEV, STAT
from support.strict_readers import (
    Format,
    Read,
    Said,
    digits,
    each,
    expect,
    lines_of,
    most_have,
    number,
)

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def disks(text: str) -> tuple[Said, bool]:
    lines, has_end = lines_of(text)
    lines = [line for line in lines if line.strip()]
    width = most_have([len(line.split()) for line in lines])

    def disk(line: str) -> tuple[str, Any]:
        expect(len(line.split()) == width and (width in (14, 18) or width >= 20))
        major, rest = line.lstrip(" ").split(" ", 1)
        minor, name, *words = rest.lstrip(" ").split(" ")
        digits(major, 4), digits(minor, 8)
        expect(name.isascii() and name.isprintable() and 0 < len(name) <= 32)
        n = [number(word) for word in words]
        more = n[11:17]
        return name.replace("/", "!"), (
            n[0], 512 * n[2], n[3], n[4], 512 * n[6], n[7], n[8] if n[8] < 1 << 31 else None, n[9],
            *((more[0], more[3]) if len(more) >= 4 else (None, None)),
            *((more[4], more[5]) if len(more) >= 6 else (None, None)),
        )  # fmt: skip

    said, is_whole = each(lines, disk)
    return said, is_whole and has_end


def processors(text: str) -> tuple[Said, bool]:
    lines = [line.split(" ") for line in lines_of(text)[0]]
    (words,) = (words for words in lines if words[0] == "cpu")
    widths = {len(" ".join(words).split()) for words in lines if words[0].startswith("cpu")}
    expect(len(widths) == 1 and words[1] == "" and len(words) >= 6)
    said: Said = dict(zip(MODES, [number(word) for word in words[2:]], strict=False))
    boots = [words[1:] for words in lines if words[0] == "btime"]
    if len(boots) == 1:
        (word,) = boots[0]
        said["boot"] = number(word)
    return said, True


def load(text: str) -> tuple[Said, bool]:
    expect(text.endswith("\n"))
    one, five, fifteen, tasks, last = text[:-1].split(" ")
    for average in (one, five, fifteen):
        whole, hundredths = average.split(".")
        digits(whole, 10), digits(hundredths, 2)
        expect(len(hundredths) == 2)
    for count in (*tasks.split("/"), last):
        digits(count, 10)
    expect(len(tasks.split("/")) == 2)
    return {"load": number(one.split(".")[0]) + int(one.split(".")[1]) / 100}, True


def memory(text: str) -> tuple[Said, bool]:
    def amount(line: str) -> tuple[str, int]:
        name, rest = line.split(":")
        expect(rest[:1] == " ")
        word, unit = rest.lstrip(" ").split(" ")
        expect(unit == "kB")
        return name, 1024 * number(word)

    lines, has_end = lines_of(text)
    wanted = ("MemTotal", "MemAvailable", "Dirty")
    said, is_whole = each((line for line in lines if line.split(":")[0] in wanted), amount)
    return said, is_whole and has_end and {"MemTotal", "Dirty"} <= said.keys()


HEAD = """ face |bytes packets errs drop fifo frame compressed multicast
|bytes packets errs drop fifo colls carrier compressed"""


def interfaces(text: str) -> tuple[Said, bool]:
    lines, has_end = lines_of(text)
    if len(lines) < 2 or lines[1].replace("|", " ").split() != HEAD.replace("|", " ").split():
        return {}, False

    def interface(line: str) -> tuple[str, Any]:
        place = line.rindex(":")
        name = line[:place].strip(" ")
        expect(name.isascii() and name.isprintable() and 0 < len(name) < 16)
        expect(not set(name) & set("/ "))
        n = [number(word) for word in line[place + 1 :].split(" ") if word]
        expect(len(n) == 16)
        return name, (n[0], n[2] + n[3], n[8], n[10] + n[11])

    said, is_whole = each((line for line in lines[2:] if line.strip()), interface)
    return said, is_whole and has_end


def _by_name(read: Callable[[str], tuple[Sequence[Any], list[str]]]) -> Read:
    def named(text: str) -> tuple[Said, list[str]]:
        found, problems = read(text)
        said = {one[0]: tuple(one[1:]) for one in found}
        assert len(said) == len(found)
        return said, problems

    return named


def _or_refused(read: Callable[[str], Said]) -> Read:
    def told(text: str) -> tuple[Said, list[str]]:
        try:
            return read(text), []
        except ValueError as error:
            return {}, [str(error)]

    return told


def _processors(text: str) -> Said:
    found = read_stat(text)
    return {**found.ticks, **({} if found.boot is None else {"boot": found.boot})}


FORMATS = {
    "diskstats": Format(_by_name(read_diskstats), disks, (DISKS_3_10, DISKS_4_18, DISKS_5_5)),
    "stat": Format(_or_refused(_processors), processors, (STAT.format(idle=5000),)),
    "loadavg": Format(_or_refused(lambda text: {"load": read_loadavg(text)}), load,
                      ("1.25 0.50 0.11 1/93 12192\n",)),
    "meminfo": Format(read_meminfo, memory, (MEMINFO,)),
    "net/dev": Format(_by_name(read_net_dev), interfaces, (NET_DEV.format(received=5),)),
}  # fmt: skip
