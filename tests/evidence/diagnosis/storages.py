# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A storage with plain costs: 10 us a request and 1 GiB/s, known to 10 %."""

from stripewise.core import Exchange, Interval, StorageCosts


def exactly(seconds):
    return Interval(0.9 * seconds, seconds, 1.1 * seconds)


_REQUESTS = {size: exactly(1e-5 + size / (1 << 30)) for size in (16, 4096, 65536, 1 << 20)}
_PIECES = {64: exactly(1e-8), 4096: exactly(2e-9), 1 << 20: exactly(1e-9)}
LOCAL = StorageCosts(
    measured=1.0,
    write=_REQUESTS,
    read=_REQUESTS,
    sync={4096: exactly(0.01), 1 << 30: exactly(1.0)},
    calls={name: exactly(1e-5) for name in ("open", "create", "stat", "unlink")},
    processors=8,
    exchange=[
        Exchange(stack, 2, collective, exactly(1e-3), _PIECES, _PIECES)
        for stack in ("mpich", "openmpi-romio")
        for collective in (True, False)
    ],
)
