# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads traces of Recorder, both of the University of Illinois and The HDF Group's first one."""
