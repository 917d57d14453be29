# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads traces of Recorder, of the University of Illinois and the first one of The HDF Group."""
