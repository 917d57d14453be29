# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the software stacks, and finds one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stripewise.core.errors import UsageError
from stripewise.settings.tunables import suggest
from stripewise.storage.stacks._adios2 import Adios2Stack
from stripewise.storage.stacks._base import Stack
from stripewise.storage.stacks._ompio import OmpioLustre, OmpioStack
from stripewise.storage.stacks._pnetcdf import Pnetcdf, PnetcdfCray, PnetcdfNonblocking
from stripewise.storage.stacks._posix import PosixNode, PosixProcess, PosixSerial, PosixShared
from stripewise.storage.stacks._romio import Cray, Romio, RomioLustre

_MEMBERS: tuple[Stack, ...] = (
    Romio(),
    RomioLustre(),
    Cray(),
    Pnetcdf(),
    PnetcdfCray(),
    PnetcdfNonblocking(),
    OmpioStack(),
    OmpioLustre(),
    Adios2Stack(),
    PosixProcess(),
    PosixNode(),
    PosixShared(),
    PosixSerial(),
)

STACKS: Mapping[str, Stack] = MappingProxyType({stack.name: stack for stack in _MEMBERS})
"""Stacks by name, in the order in which they are shown."""


def stack_names() -> tuple[str, ...]:
    """Return the names of all stacks."""
    return tuple(STACKS)


def find_stack(name: str) -> Stack:
    """Return a stack by name.

    Raises:
        UsageError: There is no such stack.
    """
    if name not in STACKS:
        raise UsageError(
            f"no software stack is called {name!r}{suggest(name, STACKS)}:"
            f" use one of {', '.join(STACKS)}"
        )
    return STACKS[name]
