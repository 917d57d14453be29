# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recognises HDF5 files by their signature, and compares them with h5py."""

from __future__ import annotations

from pathlib import Path

from stripewise.study.verify._base import ContentDifferences, ContentFormat, Pair, compared

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_FIRST_USER_BLOCK = 512


class Hdf5(ContentFormat):
    """HDF5, including NetCDF-4."""

    title = "HDF5"
    noun = "an HDF5 file"
    extra = "tune"

    def matches(self, path: Path) -> bool:
        # HDF5 File Format Specification, II.A: the superblock is at 0, 512, 1024, ...
        try:
            size = path.stat().st_size if path.is_file() else 0
            with path.open("rb") as file:
                place = 0
                while place < size:
                    file.seek(place)
                    if file.read(len(_SIGNATURE)) == _SIGNATURE:
                        return True
                    place = 2 * place or _FIRST_USER_BLOCK
        except (OSError, ValueError):
            return False
        return False

    def differences(self, pair: Pair) -> ContentDifferences:
        from stripewise.study.verify._hdf5_compare import Side, compare

        return compared(self.title, pair, Side, compare)
