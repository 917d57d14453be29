# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where rounds go: one member for each kind of database."""

from stripewise.monitor.sinks._base import Sink, SinkError, SinkSettings

__all__ = ["Sink", "SinkError", "SinkSettings"]
