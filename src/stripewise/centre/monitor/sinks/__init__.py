# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where rounds of readings go, one file a kind of database."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.monitor.sinks._base import Sink as Sink
    from stripewise.centre.monitor.sinks._base import SinkError as SinkError
    from stripewise.centre.monitor.sinks._base import SinkSettings as SinkSettings
    from stripewise.centre.monitor.sinks._base import create_sink as create_sink
    from stripewise.centre.monitor.sinks._base import sink_class as sink_class
    from stripewise.centre.monitor.sinks._base import sink_names as sink_names
else:
    __getattr__, __all__ = lazy_exports(__name__)
