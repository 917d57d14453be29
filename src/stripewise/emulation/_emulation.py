# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One run on an emulated storage: its mapping made, named to the run, read and removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from stripewise.emulation import _claim, _mapping
from stripewise.emulation._layout import check_attributes
from stripewise.emulation._outcome import EmulatedRun, emulated_run
from stripewise.emulation._storage import EmulatedStorage
from stripewise.errors import StorageError, UsageError
from stripewise.machines import Transport

ENV_EMULATE = "STRIPEWISE_EMULATE"


@dataclass
class Emulation:
    """The clocks of one run; a context that removes them whatever happens.

    Attributes:
        storage: That is emulated.
        root: Real path of the directory whose files are.
        path: Of the mapping.
        transport: Set-up of the network that the run has.
    """

    storage: EmulatedStorage
    root: Path
    path: Path
    _descriptor: int
    transport: Transport | None = None

    @classmethod
    def begin(
        cls,
        storage: EmulatedStorage,
        root: Path,
        environment: Mapping[str, str] = os.environ,
        run_id: str = "",
        ranks: int = 0,
    ) -> Emulation:
        """Make fresh clocks for a run in a directory.

        Args:
            storage: To be emulated.
            root: Files below it are on that storage.
            environment: Of the run: it can choose the transport.
            run_id: Of the run; noise depends on it.
            ranks: Of the run; 0: not known.

        Raises:
            UsageError: There is no such directory, or its path is too long.
            StorageError: It cannot be written, keeps no attributes, or there is no room.
            StudyError: It is being emulated by another run.
        """
        real = _checked(root)
        head = _mapping.header(storage, str(real), environment, run_id, ranks)
        with _claim.one_at_a_time():
            path, descriptor = _claim.claim(real)
            made = cls(storage, real, path, descriptor, storage.transport(environment))
            try:
                _mapping.write_mapping(descriptor, head, storage.options.first)
            except BaseException:
                made.end()
                raise
        return made

    @classmethod
    def find_again(cls, storage: EmulatedStorage, root: Path) -> Emulation | None:
        """Return the clocks of a run whose tuner is dead; None if they are gone."""
        found = _claim.find_again(Path(os.path.realpath(root)))
        if found is None:
            return None
        return cls(storage, Path(os.path.realpath(root)), *found)

    @property
    def variables(self) -> dict[str, str]:
        """What the environment of the run needs."""
        return {ENV_EMULATE: str(self.path)}

    def read(self) -> EmulatedRun:
        """Return what the storage saw so far."""
        return emulated_run(
            _mapping.read_counters(self._descriptor),
            storage=self.storage.identity,
            machine=self.storage.options.machine,
            slowdown=self.storage.storage.slowdown,
            ranks_per_node=self.storage.options.ranks_per_node,
            transport=self.transport,
        )

    def end(self) -> None:
        """Remove the mapping; processes that still use it go on with theirs."""
        if self._descriptor >= 0:
            _claim.release(self.path, self._descriptor)
            self._descriptor = -1

    def forget(self) -> None:
        """Let go of the mapping in a forked copy of its owner; it is not removed."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Emulation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()


def _checked(root: Path) -> Path:
    """Return the real path of a directory that can stand for a storage."""
    real = Path(os.path.realpath(root))
    try:
        mode = real.stat().st_mode
    except OSError as error:
        raise UsageError(f"--root {root}: {error.strerror}; give a directory") from None
    if not stat.S_ISDIR(mode):
        raise UsageError(f"--root {root} is no directory")
    if not os.access(real, os.W_OK | os.X_OK):
        raise StorageError(f"--root {root} cannot be written; give a directory of your own")
    check_attributes(real)
    return real
