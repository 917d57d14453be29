# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the speed and memory of reading Lustre's job_stats, compared with other readers.

python benchmarks/monitor_texts.py [--entries 20000] [--megabytes 449] [--peers]

The jobs are synthetic: each reads, writes and does a few other things; rows, widths and histograms
are those of the version.  With `--peers`, the crate lustre_collector (which lustrefs-exporter used
until its version 0.8.2; built by cargo) and PyYAML's C loader read the same text; they keep no
state between readings.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from stripewise.centre.monitor._records import TargetJobs
from stripewise.centre.monitor.collectors import JobsRead, JobStatsReader
from stripewise.centre.monitor.sinks._store_growth import EntryState, decode, encode, grow_entries
from support.job_stats_text import OST_ROWS, Job, Row, render

VERSIONS = ("2.12", "2.14", "2.16")
REPEATS = 7
PIECE_BYTES = 64 << 10
BUSY = ("read_bytes", "write_bytes", "read", "write")
OTHERS_SHARE = 0.15
"""Share of jobs for each other kind of operation: 5.7 of 15 rows are in use."""
MANIFEST = """
[package]
name = "peer"
version = "0.0.0"
edition = "2021"
[dependencies]
lustre_collector = "=0.8.2"
"""
PEER = """
use std::{env, fs, time::Instant};
fn main() {
    let text = fs::read(env::args().nth(1).unwrap()).unwrap();
    for _ in 0..REPEATS {
        let began = Instant::now();
        let records = lustre_collector::parse_lctl_output(&text).unwrap();
        println!("{} {}", began.elapsed().as_secs_f64(), records.len());
    }
}
"""


def some_jobs(number: int, chance: random.Random) -> list[Job]:
    """Return jobs with some operations."""
    jobs = []
    for at in range(number):
        job = Job(b"%d" % (10**7 + at), (1_700_000_000 + at) * 10**9 + 5, 0)
        for name in OST_ROWS:
            if name in BUSY or chance.random() < OTHERS_SHARE:
                more(job, name, chance)
        jobs.append(job)
    return jobs


def more(job: Job, name: str, chance: random.Random) -> None:
    """Add operations to a job."""
    row = job.rows.setdefault(name, Row())
    job.latest_ns = job.start_ns + chance.randrange(10**12)
    for _ in range(4):
        of_bytes = chance.choice((777, 4096, 1 << 16, 1 << 20, 1 << 22))
        value = of_bytes if name.endswith("_bytes") else chance.randrange(10, 5000)
        row.add(value, chance.randrange(1, 5000))


def rates(version: str, entries: int) -> tuple[bytes, str]:
    """Return a text, and its table row: MB/s of processor time, median of the repeats."""
    chance = random.Random(1)
    jobs = some_jobs(entries, chance)
    first = render(jobs, version)
    for job in jobs[::10]:
        more(job, "write_bytes", chance)
    second = render(jobs, version)
    seconds: list[list[float]] = [[], [], []]
    for _ in range(REPEATS):
        reader = JobStatsReader()
        for column, (text, changed) in enumerate(
            ((first, entries), (second, len(jobs[::10])), (second, 0))
        ):
            passed, read = timed(lambda text=text, reader=reader: reader.read(pieces(text)))
            assert len(read.changed) == changed, (len(read.changed), changed)
            assert not read.problems, read.problems
            seconds[column].append(passed)
    cells = [f"{len(first) / statistics.median(one) / 1e6:.0f}" for one in seconds]
    best = len(first) / min(seconds[0]) / 1e6
    size = f"{len(first) / 1e6:.0f} MB, {len(first) / entries:.0f} B an entry"
    return first, f"| {version} | {size} | {' | '.join(cells)} | {best:.0f} |"


def timed(call: Callable[[], JobsRead]) -> tuple[float, JobsRead]:
    """Return the processor time of a call, in seconds, and its result."""
    gc.collect()
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def pieces(text: bytes) -> Iterator[bytes]:
    """Yield a text in pieces, like a pipe."""
    for at in range(0, len(text), PIECE_BYTES):
        yield text[at : at + PIECE_BYTES]


def large(megabytes: int, most: int) -> None:
    """Read a text that is never entirely in memory, twice, and print time and memory."""
    before = peak_mebibytes()
    reader = JobStatsReader(most_entries=most)
    for name in ("all new", "unchanged"):
        gc.collect()
        began = time.perf_counter()
        read = reader.read(endless(megabytes * 10**6))
        passed = time.perf_counter() - began
        print(
            f"{megabytes} MB in pieces, {name}: {passed:.1f} s, {read.count} entries,"
            f" {len(read.changed)} given; peak {peak_mebibytes()} MiB, {before} MiB before"
        )


def endless(size: int) -> Iterator[bytes]:
    """Yield a text with the given number of bytes: the same few jobs with ever new ids."""
    text = render(some_jobs(500, random.Random(2)), "2.16")
    bodies = [part[part.index(b"\n") :] for part in text.split(b"- job_id:")[1:]]
    yield b"job_stats:\n"
    number = given = 0
    while given < size:
        ids = range(number, number + len(bodies))
        piece = b"".join(
            b"- job_id:          %d%b" % (n, b) for n, b in zip(ids, bodies, strict=True)
        )
        yield piece
        number, given = number + len(bodies), given + len(piece)


def peak_mebibytes() -> int:
    """Return the maximum memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def growth(entries: int) -> None:
    """Print the cost of a reading's growth, and its state."""
    chance = random.Random(1)
    jobs = some_jobs(entries, chance)
    reader = JobStatsReader()
    state = EntryState(0.0)
    for name in ("all new", "all changed"):
        read = reader.read([render(jobs, "2.16")])
        began = time.process_time()
        _, state = grow_entries(
            state, TargetJobs("fs", "t", read.changed, read.gone, read.count, read.is_first)
        )
        passed = time.process_time() - began
        print(f"growth, {name}: {1e6 * passed / entries:.1f} us an entry")
        for job in jobs:
            more(job, "write_bytes", chance)
    kept = sum(map(sys.getsizeof, state.packed.values())) / entries
    names = sum(map(sys.getsizeof, state.packed)) / entries + sys.getsizeof(state.packed) / entries
    began = time.process_time()
    data = encode(state)
    middle = time.process_time()
    decode(data)
    print(
        f"state: {kept:.0f} B of counters and {names:.0f} B of ids an entry in memory,"
        f" {len(data) / entries:.0f} B stored; {1e3 * (middle - began):.0f} ms to bytes,"
        f" {1e3 * (time.process_time() - middle):.0f} ms back"
    )


def peers(version: str, text: bytes) -> None:
    """Let other readers read a text, and print their rates in MB/s of processor time."""
    if importlib.util.find_spec("yaml"):
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        small = text[: text.index(b"- job_id:", len(text) // 20)]
        began = time.process_time()
        yaml.load(small, loader)
        rate = len(small) / (time.process_time() - began) / 1e6
        print(f"{version}: PyYAML {yaml.__version__}, {loader.__name__}: {rate:.1f} MB/s")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "text")
        path.write_bytes(b"obdfilter.scratch-OST0000.job_stats=\n" + text)
        program, began = built_peer(), children_seconds()
        done = subprocess.run([program, path], capture_output=True, text=True, check=False)
        seconds = (children_seconds() - began) / REPEATS
    name = MANIFEST.split("\n")[-2]
    if done.returncode:
        print(f"{version}: {name} fails: {done.stderr.strip()[:200]}")
    else:
        print(f"{version}: {name}: {len(text) / seconds / 1e6:.1f} MB/s")


def children_seconds() -> float:
    """Return the processor time of ended child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def built_peer() -> Path:
    """Build a program with the crate, once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    directory = cache / "stripewise" / "lustre-collector-peer"
    (directory / "src").mkdir(parents=True, exist_ok=True)
    (directory / "Cargo.toml").write_text(MANIFEST)
    (directory / "src" / "main.rs").write_text(PEER.replace("REPEATS", str(REPEATS)))
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=directory, check=True)
    return directory / "target" / "release" / "peer"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--megabytes", type=int, default=449)
    parser.add_argument("--most", type=int, default=1_000_000, help="entries that are followed")
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    large(options.megabytes, options.most)
    print("| version | text | all new | 10 % changed | unchanged | all new, best |")
    print("|---|---|---|---|---|---|")
    texts = {}
    for version in VERSIONS:
        texts[version], line = rates(version, options.entries)
        print(line, flush=True)
    growth(options.entries)
    if options.peers:
        for version, text in texts.items():
            peers(version, text)


if __name__ == "__main__":
    main()
