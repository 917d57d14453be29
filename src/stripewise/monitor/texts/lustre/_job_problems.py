# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was left out of a text, in a few sentences however much it was."""

from __future__ import annotations

from dataclasses import dataclass, field

from stripewise.text import plural, printable

_EXAMPLES = 3
_EXCERPT_CHARACTERS = 80


@dataclass
class Problems:
    """Counts what was left out by reason, with the first few of each."""

    _found: dict[str, list[str]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, tag: str = "", excerpt: bytes = b"") -> None:
        """Take one more; the reason is one of few."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        examples = self._found.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(_example(tag, excerpt))

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each reason."""
        return tuple(
            f"{plural(count, 'entry', 'entries')} of job_stats: {reason}"
            f" ({'; '.join(filter(None, self._found[reason])) or 'no id'})"
            for reason, count in self._counts.items()
        )


def _example(tag: str, excerpt: bytes) -> str:
    text = excerpt[: 4 * _EXCERPT_CHARACTERS].decode(errors="replace")
    shown = printable(" ".join(text.split()))[:_EXCERPT_CHARACTERS]
    job = f"job {printable(tag)[:_EXCERPT_CHARACTERS]}" if tag else ""
    return ": ".join(filter(None, (job, shown)))
