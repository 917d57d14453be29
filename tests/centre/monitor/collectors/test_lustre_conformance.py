# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lustre's collectors pass the suite of all collectors, in the texts of two versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from stripewise.centre.monitor import Host, HostError
from stripewise.testing.collector_suite import Change, CollectorSuite
from support.lustre_servers import parameters
from support.monitor_host import FakeHost

_SUM = r"(write_bytes +\d+ samples \[bytes\] \d+ \d+ )(\d+)"


class _Lustre(CollectorSuite):
    version = "2.15.5"
    growing: str
    unread: str
    reasons = ("denied", "error")

    def host(self) -> Host:
        return FakeHost(parameters(self.version))

    def grown(self) -> Host:
        texts = parameters(self.version)
        name = next(name for name in texts if re.search(self.growing, name))
        return FakeHost({**texts, name: re.sub(_SUM, _more, str(texts[name]), count=1)})

    def empty(self) -> Host:
        return FakeHost()

    def changed(self, change: Change) -> Iterator[tuple[str, Host]]:
        texts = parameters(self.version)
        for name, text in texts.items():
            if isinstance(text, str) and text:
                made = change(text.encode("utf-8", "surrogateescape"))
                broken = (
                    _said(made) if isinstance(made, HostError) else made.decode("utf-8", "replace")
                )
                yield name, FakeHost({**texts, name: broken})

    def is_optional(self, name: str) -> bool:
        """Whether the collector does not read it."""
        return re.search(self.unread, name) is not None


def _said(error: HostError) -> HostError:
    """Return an error in the words of lctl."""
    return HostError(error.reason, "Permission denied" if error.reason == "denied" else "no")


def _more(found: re.Match[str]) -> str:
    return f"{found[1]}{int(found[2]) + 1}"


class TestLustreServer(_Lustre):
    collector_name = "lustre-server"
    growing = r"OST0000\.stats$"
    settings: ClassVar[dict[str, object]] = {"exports": True}
    unread = r"^version$|^llite|MGS|^jobid|pool.granted|-lwp-|-flash"


class TestOldLustreServer(TestLustreServer):
    version = "2.12.9"


class TestLustreClient(_Lustre):
    collector_name = "lustre-client"
    growing = r"llite.*stats$"
    unread = r"^(?!llite)|kbytes|files"
