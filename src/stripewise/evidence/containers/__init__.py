# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the runtime library's containers, joins those of a run, and reports what is missing."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.containers._handshake import Handshake as Handshake
    from stripewise.evidence.containers._handshake import HandshakeState as HandshakeState
    from stripewise.evidence.containers._handshake import handshake as handshake
    from stripewise.evidence.containers._join import read_containers as read_containers
    from stripewise.evidence.containers._join import read_run as read_run
    from stripewise.evidence.containers._parse import NOT_RECORDED as NOT_RECORDED
    from stripewise.evidence.containers._parse import parse_header as parse_header
    from stripewise.evidence.containers._trace_blocks import make_single as make_single
    from stripewise.evidence.containers.container import container_bytes as container_bytes
    from stripewise.evidence.containers.container import is_container as is_container
    from stripewise.evidence.containers.container import open_store as open_store
else:
    __getattr__, __all__ = lazy_exports(__name__)
