# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recorded surfaces: the files of this directory, and their properties."""

from surfaces._landscape import NEAR, Landscape
from surfaces._show import draw_surface, surface_lines

__all__ = ["NEAR", "Landscape", "draw_surface", "surface_lines"]
