# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is answered to scrapes: made once for each round, however many ask."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable

from stripewise.monitor.sinks._exposition import Exposition, Form

_GZIP = 16 + zlib.MAX_WBITS


class KeptAnswers:
    """Bodies of answers as long as they are right: until the next round, or a series goes.

    Only what is asked for is kept: with Prometheus that is the packed text, a tenth of the plain.
    """

    def __init__(self, exposition: Exposition) -> None:
        """Keep none yet."""
        self._exposition = exposition
        self._lock = threading.Lock()
        self._changes = 0
        self._bodies: dict[tuple[Form, bool], bytes] = {}

    def body(self, form: Form, *, is_packed: bool) -> bytes:
        """Return the text of all that counts now; of many who ask, one makes it."""
        with self._lock:
            changes = self._exposition.changes  # before the text is made: it may be newer
            if changes != self._changes:
                self._bodies.clear()
                self._changes = changes
            body = self._bodies.get((form, is_packed))
            if body is None:
                parts = (part.encode() for part in self._exposition.parts(form))
                body = _packed(parts) if is_packed else b"".join(parts)
                self._bodies[form, is_packed] = body
            return body


def _packed(parts: Iterable[bytes]) -> bytes:
    """Return parts as gzip; the whole text is never in memory."""
    packing = zlib.compressobj(level=1, wbits=_GZIP)
    return b"".join([*map(packing.compress, parts), packing.flush()])
