# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces in the forms of other tools, written from their published layouts.

Recorder: include/recorder-logger.h, lib/recorder-cst-cfg.c and tools/recorder2text.c of 2.5.  Its
grammars are made by Sequitur; here equal pairs are replaced by rules until none is left, which
gives another grammar of the same form.
"""

from __future__ import annotations

import itertools
import struct
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_RESOLUTION = 1e-7
_START = 1_700_000_000.25
_Symbol = tuple[int, int]


class ForeignCall(NamedTuple):
    """A call: times in units of 100 ns since the trace began."""

    start: int
    end: int
    name: str
    level: int
    arguments: tuple[str, ...]
    type: int = 0
    thread: int = 0x7F0000001000


def sample_calls(rank: int, n_writes: int = 50) -> list[ForeignCall]:
    """An HDF5 program: one file through MPI-IO and POSIX, another with stdio by rank 0.

    Rank r writes `n_writes` pieces of 4096 bytes, interleaved over two ranks.
    """
    path, pointer = "/scratch/out.h5", "0x7ffd10"
    calls = [
        ForeignCall(100, 900, "H5Fcreate", 0, (path, "2", "0", "167772177"), 3),
        ForeignCall(150, 800, "MPI_File_open", 1, ("MPI_COMM_WORLD", path, "9", "0x1", "0-0"), 1),
        ForeignCall(200, 300, "open", 2, (path, "66", "438")),
        ForeignCall(1000, 1100, "MPI_Barrier", 0, ("MPI_COMM_WORLD",), 2),
    ]
    now = 2000
    for step in range(n_writes):
        offset = str((2 * step + rank) * 4096)
        written = ("0-0", offset, pointer, "1024", "MPI_INT", "[0_0]")
        calls += [
            ForeignCall(
                now, now + 900, "H5Dwrite", 0, ("8388", "5033", "67", "68", "0", pointer), 3
            ),
            ForeignCall(now + 100, now + 800, "MPI_File_write_at", 1, written, 1),
            ForeignCall(now + 200, now + 700, "pwrite", 2, (path, pointer, "4096", offset)),
        ]
        now += 1000
    calls += [
        ForeignCall(now, now + 500, "H5Fclose", 0, ("16777216",), 3),
        ForeignCall(now + 100, now + 400, "MPI_File_close", 1, ("0-0",), 1),
        ForeignCall(now + 200, now + 300, "close", 2, (path,)),
    ]
    return calls + (_log_file(now + 1000) if rank == 0 else [])


def _log_file(now: int) -> list[ForeignCall]:
    log = "/scratch/run.log"
    return [
        ForeignCall(now, now + 10, "fopen", 0, (log, "w")),
        ForeignCall(now + 20, now + 30, "fwrite", 0, ("0x1", "1", "100", log)),
        ForeignCall(now + 40, now + 50, "fseek", 0, (log, "20", "1")),
        ForeignCall(now + 60, now + 70, "fwrite", 0, ("0x1", "2", "5", log)),
        ForeignCall(now + 80, now + 90, "fclose", 0, (log,)),
    ]


def write_recorder_text(directory: Path, ranks: Sequence[Sequence[ForeignCall]]) -> Path:
    """Write `_text/N.txt` as recorder2text does; returns `directory`."""
    (directory / "_text").mkdir(parents=True)
    for rank, calls in enumerate(ranks):
        lines = [
            f"{call.start * _RESOLUTION:.7f} {call.end * _RESOLUTION:.7f} {call.name} {call.level}"
            f" {call.type} ({''.join(f' {one}' for one in call.arguments)} )\n"
            for call in calls
        ]
        (directory / "_text" / f"{rank}.txt").write_text("".join(lines))
    return directory


def write_recorder_directory(
    directory: Path, ranks: Sequence[Sequence[ForeignCall]], *, merged: bool = False
) -> Path:
    """Write a directory of Recorder 2.5; returns it.

    Args:
        directory: Is made.
        ranks: Calls of each rank.
        merged: As with RECORDER_INTERPROCESS_COMPRESSION: one set of signatures, and each
            grammar once.
    """
    directory.mkdir(parents=True)
    functions = sorted({call.name for calls in ranks for call in calls})
    (directory / "VERSION").write_text("2.5.0")
    head = struct.pack("<i4xddiii4x", len(ranks), _START, _RESOLUTION, 1024, 0, int(merged))
    names = "".join(f"{name}\n" for name in functions).encode()
    (directory / "recorder.mt").write_bytes(head + names)
    shared: dict[bytes, int] = {}
    grammars: dict[bytes, int] = {}
    numbers = []
    for rank, calls in enumerate(ranks):
        signatures = shared if merged else {}
        keys = [_key(call, functions) for call in calls]
        terminals = [signatures.setdefault(key, len(signatures)) for key in keys]
        grammar = _grammar(terminals)
        if merged:
            numbers.append(grammars.setdefault(grammar, len(grammars)))
        else:
            (directory / f"{rank}.cfg").write_bytes(grammar)
            (directory / f"{rank}.cst").write_bytes(_table(signatures, keys, rank))
        (directory / f"{rank}.ts").write_bytes(_times(calls))
    if merged:
        (directory / "0.cst").write_bytes(_table(shared, [], 0))
        for grammar, number in grammars.items():
            (directory / f"{number}.cfg").write_bytes(grammar)
        packed = struct.pack(f"<{len(numbers)}ii", *numbers, len(grammars))
        (directory / "ug.mt").write_bytes(packed)
    return directory


def _key(call: ForeignCall, functions: list[str]) -> bytes:
    text = "".join(f"{argument} " for argument in call.arguments).encode()
    place = functions.index(call.name)
    head = struct.pack("<qBBBi", call.thread, place, call.level, len(call.arguments), len(text))
    return head + text


def _table(signatures: dict[bytes, int], keys: list[bytes], rank: int) -> bytes:
    counts = Counter(keys)
    entries = [
        struct.pack("<iiiI", terminal, rank, len(key), max(counts[key], 1)) + key
        for key, terminal in signatures.items()
    ]
    return struct.pack("<i", len(entries)) + b"".join(entries)


def _times(calls: Sequence[ForeignCall]) -> bytes:
    pairs, before = [], 0
    for call in calls:
        pairs.append(struct.pack("<II", call.start - before, call.end - before))
        before = call.start
    return b"".join(pairs)


def _grammar(terminals: list[int]) -> bytes:
    rules: dict[int, list[_Symbol]] = {-1: _runs([(terminal, 1) for terminal in terminals])}
    while True:
        body = rules[-1]
        pairs = Counter(itertools.pairwise(body))
        pair, times = pairs.most_common(1)[0] if pairs else (None, 0)
        if pair is None or times < 2 or len(rules) > 64:
            break
        name = -1 - len(rules)
        rules[name] = list(pair)
        rules[-1] = _runs(_replaced(body, pair, name))
    parts = [struct.pack("<i", len(rules))]
    for rule, symbols in rules.items():
        flat = [number for symbol in symbols for number in symbol]
        parts.append(struct.pack(f"<ii{len(flat)}i", rule, len(symbols), *flat))
    return b"".join(parts)


def _runs(symbols: list[_Symbol]) -> list[_Symbol]:
    found: list[_Symbol] = []
    for value, times in symbols:
        if found and found[-1][0] == value:
            found[-1] = (value, found[-1][1] + times)
        else:
            found.append((value, times))
    return found


def _replaced(body: list[_Symbol], pair: tuple[_Symbol, _Symbol], name: int) -> list[_Symbol]:
    found: list[_Symbol] = []
    place = 0
    while place < len(body):
        if tuple(body[place : place + 2]) == pair:
            found.append((name, 1))
            place += 2
        else:
            found.append(body[place])
            place += 1
    return found


PH5_EXAMPLE = """\
1396296304.23583 H5Pcreate (H5P_FILE_ACCESS) 167772177 0.00003
1396296304.23587 H5Pset_fapl_mpio (167772177,MPI_COMM_WORLD,469762048) 0 0.00025
1396296304.23613 H5Fcreate (output/ParaEg0.h5,2,0,167772177) 16777216 0.00069
1396296304.23683 H5Pclose (167772177) 0 0.00002
1396296304.23685 H5Screate_simple (2,{24;24},NULL) 67108866 0.00002
1396296304.23688 H5Dcreate2 (16777216,Data1,H5T_STD_I32LE,67108866,0,0,0) 83886080 0.00012
1396296304.23702 H5Dcreate2 (16777216,Data2,H5T_STD_I32LE,67108866,0,0,0) 83886081 0.00003
1396296304.23707 H5Dget_space (83886080) 67108867 0.00001
1396296304.23708 H5Sselect_hyperslab (67108867,0,{%d;0},{1;1},{6;24},NULL) 0 0.00002
1396296304.23710 H5Screate_simple (2,{6;24},NULL) 67108868 0.00001
1396296304.23710 H5Dwrite (83886080,50331660,67108868,67108867,0) 0 0.00009
1396296304.23721 H5Dwrite (83886081,50331660,67108868,67108867,0) 0 0.00002
1396296304.23724 H5Sclose (67108867) 0 0.00000
1396296304.23724 H5Dclose (83886080) 0 0.00001
1396296304.23726 H5Dclose (83886081) 0 0.00001
1396296304.23727 H5Sclose (67108866) 0 0.00000
1396296304.23728 H5Fclose (16777216) 0 0.00043
"""
"""The trace printed in Behzad et al. (PDSW 2015), figure 2; %d: first row of the rank."""

MPIIO_STATS_BLOCKS = """\
+--------------------------------------------------------+
| MPIIO write access patterns for example.data
|   independent writes      = 0
|   collective writes       = 4
|   independent writers     = 0
|   aggregators             = 1
|   stripe count            = 1
|   stripe size             = 4194304
|   system writes           = 2
|   stripe sized writes     = 0
|   aggregators active      = 4,0,0,0 (1, <= 1, > 1, 1)
|   total bytes for writes  = 3600
|   ave system write size   = 1800
|   read-modify-write count = 0
|   read-modify-write bytes = 0
|   number of write gaps    = 0
|   ave write gap size      = NA
| See "Optimizing MPI I/O on Cray XE Systems" S-0013-20 for explanations.
+--------------------------------------------------------+
+--------------------------------------------------------+
| MPIIO read access patterns for example.data
|   independent reads       = 0
|   collective reads        = 4
|   independent readers     = 0
|   aggregators             = 1
|   stripe count            = 1
|   stripe size             = 524288
|   system reads            = 1
|   stripe sized reads      = 0
|   total bytes for reads   = 3200
|   ave system read size    = 3200
|   number of read gaps     = 0
|   ave read gap size       = NA
| See "Optimizing MPI I/O on Cray XE Systems" S-0013-20 for explanations.
+--------------------------------------------------------+
"""
"""Output of a small program under Cray MPICH with MPICH_MPIIO_STATS=1, as published."""


def write_ph5_example(directory: Path, n_ranks: int = 4) -> Path:
    """Write the logs of pH5Example by the 2013 Recorder; returns `directory`."""
    directory.mkdir(parents=True)
    for rank in range(n_ranks):
        (directory / f"log.{rank}").write_text(PH5_EXAMPLE % (24 // n_ranks * rank))
    return directory
