# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For the site: what a package imports from its own modules as `NAME as NAME` is public."""

from __future__ import annotations

from typing import Any

import griffe


class PublicNames(griffe.Extension):
    """Packages list their public names as such imports, and not once more in `__all__`."""

    def on_alias_instance(self, *, node: Any, alias: griffe.Alias, **_: Any) -> None:
        """Mark one imported name."""
        for name in getattr(node, "names", ()):
            if name.asname == name.name == alias.name:
                alias.public = True
