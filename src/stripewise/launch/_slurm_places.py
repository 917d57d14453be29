# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""In which allocation the order of each run is; a tuner that starts anew finds them again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.launch import _agent_files as files
from stripewise.launch import _records
from stripewise.launch._base import Handle
from stripewise.launch._slurm_pool import Pool, pool_of
from stripewise.launch._slurm_spool import Spool
from stripewise.slurm import Slurm, SlurmError

NAME = "slurm"
"""Of the launcher, in handles."""
PLACE = "slurm.json"
"""In a run's record: the spool and the number of its order, which may move to another."""


@dataclass
class Place:
    """Where a run's order is."""

    spool: Path
    number: int
    record: Path


class Places:
    """The orders of a launcher's runs.

    Attributes:
        slurm: Submits jobs.
        places: How many runs may be in flight.
    """

    def __init__(
        self, directory: Path, slurm: Slurm, places: int, options: dict[str, Any]
    ) -> None:
        self.slurm, self.places = slurm, places
        self._directory, self._options = directory, options
        self._where: dict[str, Place] = {}

    @property
    def pool(self) -> Pool:
        """The allocations."""
        return pool_of(self._directory, self.slurm, self.places, self._options)

    def put(self, run_id: str, spool: Spool, order: dict[str, Any], record: Path) -> Place:
        """Give an order to an allocation.

        First what finds the run again, then the order, then the job, and at last the agent is
        told: a tuner that dies in between neither loses the run nor makes it twice.

        Raises:
            StorageError: The order cannot be written.
            SubmissionError: Slurm refuses the job.
        """
        number = spool.orders + 1
        where = {"spool": str(spool.path), "order": number}
        try:
            files.replace(str(record / PLACE), where)
        except OSError as error:
            raise _records.storage_error(error, record / PLACE) from error
        spool.put(order)
        self._where[run_id] = Place(spool.path, number, record)
        self.pool.use(spool)
        try:
            self.pool.submit(spool)
        except SlurmError:
            spool.close()
            raise
        spool.tell()
        return self._where[run_id]

    def find(self, handle: Handle) -> Place:
        """Return where the order of a run is."""
        if handle.run_id not in self._where:
            record = Path(str(handle.data["record_directory"]))
            spool, number = Path(str(handle.data["spool"])), int(handle.data["order"])
            place = recorded_place(record) or Place(spool, number, record)
            self._where[handle.run_id] = place
        return self._where[handle.run_id]

    def spool(self, handle: Handle) -> Spool | None:
        """Return the allocation of a run; None if it is gone."""
        return self.pool.spool(self.find(handle).spool)

    def handle(self, run_id: str, place: Place) -> Handle:
        """Return what finds a run again."""
        spool = self.pool.spool(place.spool)
        data: dict[str, str | int | float] = {
            "record_directory": str(place.record),
            "spool": str(place.spool),
            "order": place.number,
            "job_id": spool.job_id if spool else 0,
        }
        return Handle(NAME, run_id, data)

    def find_again(self, run_id: str, record: Path) -> Handle | None:
        """Return the handle of a run whose order was written; None if there is none."""
        place = recorded_place(record)
        if place is None:
            return None
        order = files.read(str(place.spool / files.order_name(place.number)))
        if order is None or order["run_id"] != run_id:
            return None  # the tuner died before it was written
        return self.handle(run_id, place)


def recorded_place(record: Path) -> Place | None:
    """Return where the record of a run says that its order is; None: it has none."""
    data = files.read(str(record / PLACE))
    if data is None:
        return None
    return Place(Path(str(data["spool"])), int(data["order"]), record)
