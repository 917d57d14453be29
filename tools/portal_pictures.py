# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of docs/tutorials/portal.md again, from a synthetic centre.

python tools/portal_pictures.py; it takes a minute, and needs Chromium and its driver.
"""

from __future__ import annotations

import base64
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from stripewise.centre.database import create_engine, initialise

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "centre")]
from support.browser import Browser, browsing  # noqa: E402
from support.portal_server import serving  # noqa: E402
from synthetic_centre import make_centre, open_accounts  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH = 1280
WORDS = ("--hide-scrollbars", "--disable-lcd-text", "--force-color-profile=srgb")
PICTURES = (
    # name, login, page, first part of it, height
    ("jobs", "user", "/jobs?sort=-avoidable_seconds", "", 640),
    ("job", "user", "{job}", "", 960),
    ("load", "user", "{job}", "#load", 770),
    ("programs", "admin", "/programs", "", 700),
    ("storage", "user", "/storage", "", 860),
    ("servers", "user", "/storage/demo-scratch?period=week", "", 780),
    ("ignored", "admin", "/staff/ignored", "", 700),
)


def main() -> None:
    """Create a centre, and take all pictures of its portal."""
    with tempfile.TemporaryDirectory() as directory:
        database = Path(directory, "centre.sqlite")
        engine = create_engine(str(database))
        initialise(engine)
        centre = make_centre(engine)
        found = open_accounts(engine, centre.logins)
        passwords = {one.login: word for one, word in found.items()}
        logins = {"user": centre.logins[0].login, "admin": "admin"}
        engine.dispose()
        with serving(database) as address, browsing(address, Path(directory), WORDS) as browser:
            for name, login, page, part, height in PICTURES:
                browser.log_in(logins[login], passwords[logins[login]])
                data = picture(browser, page, part, height)
                (IMAGES / f"portal-{name}.png").write_bytes(data)
                print(f"portal-{name}.png {len(data) / 1024:.0f} KiB")


def picture(browser: Browser, page: str, part: str, height: int) -> bytes:
    """Return a part of a page as PNG."""
    if page == "{job}":
        browser.open("/jobs?sort=-avoidable_seconds")
        page = browser.one("#jobs tbody a").get_attribute("href").removeprefix(browser.address)
    browser.open(page)
    browser.wait(lambda: len(browser.all("figure canvas")) >= len(browser.all("figure.chart")))
    top = browser.one(part).rect["y"] - 16 if part else 0
    clip = {"x": 0, "y": top, "width": WIDTH, "height": height, "scale": 1}
    taken = browser.driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    return smaller(base64.b64decode(taken["data"]))


def smaller(png: bytes) -> bytes:
    """Return the same picture with the best compression."""
    chunks = list(_chunks(png))
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    head = next(data for kind, data in chunks if kind == b"IHDR")
    made = [(b"IHDR", head), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in made
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 8
    while place < len(png):
        (size,) = struct.unpack_from(">I", png, place)
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        place += size + 12


if __name__ == "__main__":
    main()
