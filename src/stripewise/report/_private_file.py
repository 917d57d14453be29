# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files that appear whole or not at all, for their owner alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stripewise.errors import StorageError


@contextmanager
def private_file(path: Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; it becomes `path` (0600) when all went well.

    Raises:
        StorageError: The file system refuses.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    try:
        yield Path(name)
        os.replace(name, path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        Path(name).unlink(missing_ok=True)
