# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders a title, a conclusion and blocks as HTML, JSON, CSV, terminal lines or Markdown."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.present.renderers._data import as_csv as as_csv
    from stripewise.present.renderers._data import as_json as as_json
    from stripewise.present.renderers._html import as_page as as_page
    from stripewise.present.renderers._html import page_script as page_script
    from stripewise.present.renderers._html import prose as prose
    from stripewise.present.renderers._html import slug as slug
    from stripewise.present.renderers._html import template_environment as template_environment
    from stripewise.present.renderers._markdown import as_markdown as as_markdown
    from stripewise.present.renderers._terminal import as_lines as as_lines
    from stripewise.present.renderers._terminal import block_lines as block_lines
else:
    __getattr__, __all__ = lazy_exports(__name__)
