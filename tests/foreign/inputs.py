# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes input files for programs: `inputs.py WHAT FILE [NUMBER]...`, equal in every run."""

from __future__ import annotations

import random
import sys
from pathlib import Path


def many(directory: str, count: int, size_bytes: int, per_directory: int = 100) -> None:
    """Make many files of one size in subdirectories."""
    source = random.Random(1)
    for number in range(count):
        path = Path(directory, f"d{number // per_directory:03}", f"f{number:05}.dat")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.randbytes(size_bytes))


def noise(file: str, size_bytes: int) -> None:
    """Make a file that cannot be compressed."""
    Path(file).write_bytes(random.Random(2).randbytes(size_bytes))


def words(file: str, lines: int) -> None:
    """Make lines of text in random order."""
    source = random.Random(3)
    numbers = list(range(lines))
    source.shuffle(numbers)
    Path(file).write_text("".join(f"{n:08d} {source.choice('abcdefgh') * 8}\n" for n in numbers))


def fasta(file: str, sequences: int, length: int) -> None:
    """Make random sequences of nucleotides."""
    source = random.Random(4)
    with Path(file).open("w") as out:
        for number in range(sequences):
            bases = "".join(source.choices("ACGT", k=length))
            lines = (bases[i : i + 60] for i in range(0, length, 60))
            out.write(f">seq{number}\n" + "\n".join(lines) + "\n")


def sam(file: str, reads: int) -> None:
    """Make alignments in random order."""
    source = random.Random(5)
    with Path(file).open("w") as out:
        out.write("@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:chr1\tLN:1000000\n")
        for number in range(reads):
            bases = "".join(source.choices("ACGT", k=100))
            place = source.randrange(1, 999000)
            out.write(f"r{number}\t0\tchr1\t{place}\t60\t100M\t*\t0\t0\t{bases}\t{'I' * 100}\n")


def picture(file: str, width: int, height: int) -> None:
    """Make a picture of noise as portable pixmap."""
    pixels = random.Random(6).randbytes(3 * width * height)
    Path(file).write_bytes(f"P6 {width} {height} 255\n".encode() + pixels)


def sources(directory: str, count: int) -> None:
    """Make C sources with a shared header."""
    Path(directory).mkdir(parents=True)
    Path(directory, "all.h").write_text("int add(int a, int b);\n" * 50)
    for number in range(count):
        body = f'#include "all.h"\nint f{number}(int x) {{ return x + {number}; }}\n'
        Path(directory, f"f{number}.c").write_text(body)
        Path(directory, f"m{number}.py").write_text(f"def f(x):\n    return x + {number}\n")


if __name__ == "__main__":
    what, file, *numbers = sys.argv[1:]
    globals()[what](file, *map(int, numbers))
