# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Heat maps as small images inside the page, one for light and one for dark pages.

A cell without I/O is transparent.  Within a ramp lightness rises or falls steadily, so that it
reads without colour vision and in grey print.
"""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Colour = tuple[int, int, int]

RAMPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "write": (
        ("#fde6d0", "#f3a25e", "#c04a00", "#521c00"),
        ("#40260f", "#a5531a", "#ff9b57", "#fff0e0"),
    ),
    "read": (
        ("#deecf8", "#74b0dc", "#0072b2", "#002c48"),
        ("#112c3f", "#1d6a98", "#56b4e9", "#e6f5fe"),
    ),
    "busy": (
        ("#ebe6f4", "#a794cf", "#5e3c99", "#241048"),
        ("#2a2140", "#66509c", "#b39ddb", "#f3edff"),
    ),
    "both": (
        ("#dff0e6", "#77bd98", "#0a7a52", "#02301f"),
        ("#123226", "#1f7a57", "#3ccfa5", "#e4fbf2"),
    ),
}
"""Anchors from little to much, for light and for dark pages."""

LEVELS = 255


@dataclass(frozen=True)
class Scale:
    """Value of the least and the most intense colour; equal ratios between if `logarithmic`."""

    low: float
    high: float
    logarithmic: bool

    def middle(self) -> float:
        """Value of the colour in the middle."""
        if self.logarithmic:
            return math.sqrt(self.low * self.high)
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Picture:
    """Data addresses of the same image for light and dark pages."""

    light: str
    dark: str


def scale_of(values: Floats, top: float | None = None) -> Scale:
    """Choose a scale: linear up to `top`, otherwise logarithmic over at most four decades."""
    if top is not None:
        return Scale(0.0, top, False)
    positive = values[values > 0]
    if not positive.size:
        return Scale(0.0, 1.0, False)
    high = float(positive.max())
    low = max(float(positive.min()), high / 1e4)
    if high < 8 * low:
        return Scale(0.0, high, False)
    return Scale(low, high, True)


def heat_picture(values: Floats, scale: Scale, ramp: str) -> Picture:
    """Draw a matrix, one pixel a cell; rows from top to bottom."""
    return _picture(_levels(values, scale), ramp)


def ramp_picture(ramp: str) -> Picture:
    """Draw the colours from little to much, one pixel high."""
    return _picture(np.arange(1, LEVELS + 1, dtype=np.uint8)[None, :], ramp)


def _picture(levels: NDArray[np.uint8], ramp: str) -> Picture:
    light, dark = RAMPS[ramp]
    return Picture(_address(levels, light), _address(levels, dark))


def _levels(values: Floats, scale: Scale) -> NDArray[np.uint8]:
    """Bring values to 1 .. 255; 0 is nothing."""
    positive = values > 0
    safe = np.where(positive, values, scale.high)
    if scale.logarithmic:
        part = np.log(safe / scale.low) / math.log(scale.high / scale.low)
    else:
        part = safe / (scale.high or 1.0)
    level = 1 + np.rint(np.clip(part, 0, 1) * (LEVELS - 1))
    return np.where(positive, level, 0).astype(np.uint8)


def ramp_colours(anchors: tuple[str, ...]) -> NDArray[np.uint8]:
    """Blend anchors into `LEVELS` colours: (LEVELS, 3) uint8."""
    points = np.array([[int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in anchors])
    where = np.linspace(0, len(anchors) - 1, LEVELS)
    blended = [np.interp(where, range(len(anchors)), points[:, part]) for part in range(3)]
    colours: NDArray[np.uint8] = np.rint(np.stack(blended, axis=1)).astype(np.uint8)
    return colours


def _address(levels: NDArray[np.uint8], anchors: tuple[str, ...]) -> str:
    from PIL import Image

    palette = np.zeros((LEVELS + 1, 3), np.uint8)
    palette[1:] = ramp_colours(anchors)
    image = Image.fromarray(levels)
    image.putpalette(palette.tobytes())
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", transparency=0, optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
