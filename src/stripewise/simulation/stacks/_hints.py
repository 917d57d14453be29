# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ROMIO's hints with their defaults, out of the settings of a setup."""

from __future__ import annotations

from dataclasses import dataclass

from stripewise.errors import UsageError
from stripewise.model import Value
from stripewise.simulation.stacks._base import Setup

MIB = 1 << 20
NAMES = (
    "cb_nodes", "cb_config_list", "cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size",
    "romio_cb_read", "romio_cb_write", "romio_ds_read", "romio_ds_write", "romio_no_indep_rw",
    "romio_min_fdomain_size", "striping_unit",
)  # fmt: skip
LUSTRE_NAMES = (
    "romio_lustre_co_ratio", "romio_lustre_coll_threshold", "romio_lustre_ds_in_coll",
)  # fmt: skip


def names(*hints: str) -> frozenset[str]:
    """Return the tunables' names of MPI-IO hints."""
    return frozenset(f"mpiio.{hint}" for hint in hints)


@dataclass(frozen=True)
class Hints:
    """What ROMIO makes of the hints.

    Defaults: `ROMIO_PRINT_HINTS=1` of MPICH 4.0.2; adio/common/ad_hints.c,
    ad_lustre/ad_lustre_hints.c.

    Attributes:
        cb_nodes: 0: not given.
        cb_config_list: Aggregators on each host.
        cb_buffer_size: Bytes of a round of an aggregator.
        ind_rd_buffer_size / ind_wr_buffer_size: Bytes of a window of data sieving.
        cb_read / cb_write / ds_read / ds_write: "enable", "disable" or "automatic".
        deferred_open: Only aggregators open the file.
        min_fdomain_size: Least bytes of an aggregator's share.
        striping_unit: The hint, 0: not given.
        co_ratio / coll_threshold / ds_in_coll: Of the Lustre driver.
    """

    cb_nodes: int = 0
    cb_config_list: str = "*:1"
    cb_buffer_size: int = 16 * MIB
    ind_rd_buffer_size: int = 4 * MIB
    ind_wr_buffer_size: int = MIB // 2
    cb_read: str = "automatic"
    cb_write: str = "automatic"
    ds_read: str = "automatic"
    ds_write: str = "automatic"
    deferred_open: bool = False
    min_fdomain_size: int = 0
    striping_unit: int = 0
    co_ratio: int = 1
    coll_threshold: int = 0
    ds_in_coll: bool = True

    def buffering(self, writing: bool) -> str:
        """Return when collective calls are buffered: "enable", "disable", "automatic"."""
        return self.cb_write if writing else self.cb_read

    def sieves(self, writing: bool) -> bool:
        """Return whether independent accesses with holes are sieved."""
        return (self.ds_write if writing else self.ds_read) != "disable"


def read_hints(setup: Setup, *, config_list: str = "*:1") -> Hints:
    """Return the hints of a setup.

    Raises:
        UsageError: A value is of the wrong kind.
    """
    given = {
        name.partition(".")[2]: value
        for name, value in setup.settings.items()
        if name.startswith("mpiio.")
    }
    alone = _truth(given.get("romio_no_indep_rw"))  # read last: it overrules romio_cb_*
    automatic = "enable" if alone else "automatic"
    return Hints(
        cb_nodes=number(setup, "mpiio.cb_nodes", 0),
        cb_config_list=str(given.get("cb_config_list", config_list)),
        cb_buffer_size=_size(setup, "cb_buffer_size", 16 * MIB),
        ind_rd_buffer_size=_size(setup, "ind_rd_buffer_size", 4 * MIB),
        ind_wr_buffer_size=_size(setup, "ind_wr_buffer_size", MIB // 2),
        cb_read=automatic if alone else str(given.get("romio_cb_read", automatic)),
        cb_write=automatic if alone else str(given.get("romio_cb_write", automatic)),
        ds_read=str(given.get("romio_ds_read", "automatic")),
        ds_write=str(given.get("romio_ds_write", "automatic")),
        deferred_open=alone,
        min_fdomain_size=number(setup, "mpiio.romio_min_fdomain_size", 0),
        striping_unit=number(setup, "mpiio.striping_unit", 0),
        co_ratio=max(number(setup, "mpiio.romio_lustre_co_ratio", 1), 1),
        coll_threshold=number(setup, "mpiio.romio_lustre_coll_threshold", 0),
        ds_in_coll=given.get("romio_lustre_ds_in_coll", "enable") != "disable",
    )


def number(setup: Setup, name: str, default: int) -> int:
    """Return a setting that is an integer.

    Raises:
        UsageError: It is none.
    """
    value = setup.settings.get(name, default)
    try:
        return int(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise UsageError(
            f"{name} is {value!r}: give an integer, in bytes where it is a size"
        ) from None


def _size(setup: Setup, hint: str, default: int) -> int:
    """Return the bytes of a buffer.

    Raises:
        UsageError: There are none.
    """
    size = number(setup, f"mpiio.{hint}", default)
    if size < 1:
        raise UsageError(f"mpiio.{hint} is {size}: a buffer has at least 1 byte")
    return size


def _truth(value: Value | None) -> bool:
    return value is True or str(value).lower() in ("true", "enable", "1")
