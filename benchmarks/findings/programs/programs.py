# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Python programs with a planted fault, and the same without it: programs.py CASE bad|good."""

import os
import sys

import numpy as np

MIB = 1 << 20


def lines(bad):
    """Write a table line by line without a buffer."""
    with open("table.csv", "wb", buffering=0 if bad else MIB) as file:
        for step in range(500_000):
            file.write(b"%d,0.123456789,1.0e-12\n" % step)


def appends(bad):
    """Open the log again for every line."""
    file = None if bad else open("run.log", "ab", buffering=MIB)
    for step in range(60_000):
        if bad:
            file = open("run.log", "ab", buffering=0)
        file.write(b"step %d finished\n" % step)
        if bad:
            file.close()
    file.close()


def sync(bad):
    """Force every line to disk."""
    with open("safe.log", "wb") as file:
        for step in range(800):
            file.write(b"x" * 200)
            if bad or step == 799:
                file.flush()
                os.fsync(file.fileno())


def reload(bad):
    """Load the same array in each step."""
    np.save("field.npy", np.zeros(12 * MIB))
    field = None
    for _ in range(25):
        if bad or field is None:
            field = np.fromfile("field.npy", offset=128)
    print(field[0])


def exists(bad):
    """Query the same file before each piece of work."""
    open("stop.txt", "w").close()
    known = True
    for _ in range(400_000 if bad else 1):
        known = os.path.exists("stop.txt")
    print(known)


def _chunked(shape, chunks, **options):
    import h5py

    with h5py.File("field.h5", "w") as file:
        made = file.create_dataset("u", shape, "f8", chunks=chunks, **options)
        made[...] = np.ones(shape)


def _read_rows(n, cache_bytes, bad, step=1):
    import h5py

    options = {} if bad else {"rdcc_nbytes": cache_bytes, "rdcc_nslots": 10_007}
    with h5py.File("field.h5", "r", **options) as file:
        field = file["u"]
        return sum(float(field[row][0]) for row in range(0, n, step))


def rows(bad):
    """Read rows of a dataset whose chunks are columns."""
    _chunked((2048, 2048), (2048, 16))
    print(_read_rows(600, 64 * MIB, bad))


def packed(bad):
    """Read rows of compressed chunks."""
    _chunked((1024, 4096), (512, 512), compression="gzip", compression_opts=1)
    print(_read_rows(1024, 64 * MIB, bad, step=16))


def planes(bad):
    """Read planes of a cube whose chunks contain many of them."""
    _chunked((128, 256, 256), (128, 64, 64))
    print(_read_rows_of_planes(bad))


def _read_rows_of_planes(bad):
    import h5py

    options = {} if bad else {"rdcc_nbytes": 128 * MIB, "rdcc_nslots": 10_007}
    with h5py.File("field.h5", "r", **options) as file:
        field = file["u"]
        return sum(float(field[plane].sum()) for plane in range(128))


def healthy(bad):
    """Write text through a buffer and arrays in one call; there is nothing to improve."""
    del bad
    with open("text.txt", "w") as file:
        for step in range(400_000):
            file.write(f"step {step}\n")
    np.save("field.npy", np.zeros(32 * MIB))
    print(np.load("field.npy").sum())


def contiguous(bad):
    """Read a dataset as it is stored; there is nothing to improve."""
    del bad
    _chunked((2048, 2048), (16, 2048))
    print(_read_rows(2048, 0, True))


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2] == "bad")
