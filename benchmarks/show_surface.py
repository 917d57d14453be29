# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows a recorded surface: optimum, default, noise, and the effect of each tunable.

python benchmarks/show_surface.py benchmarks/surfaces/emulated/vpic.jsonl --picture vpic.svg
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from surfaces import draw_surface, surface_lines

from stripewise.study.training import Surface


def main() -> int:
    """Print the properties of a surface, and draw it if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("surface", type=Path)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="an .svg, .png or .pdf")
    given = parser.parse_args()
    surface = Surface.load(given.surface)
    print("\n".join(surface_lines(surface, given.surface.name)))
    if given.picture:
        draw_surface(surface, given.picture, given.surface.stem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
