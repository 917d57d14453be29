# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A real browser (Chromium) that tests look at the portal with."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

AXE = Path(__file__).parents[1] / "centre/portal/browser/axe.min.js"
_LAYOUT_SECONDS = 10.0
_WAIT_SECONDS = 60
_STARTS = 3
_DESKTOP = (1280, 900)
_LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation",
    (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""
_AXE = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations.map(
    (one) => [one.impact, one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));
"""
Found = TypeVar("Found")


def missing() -> str:
    """Return why there is no browser here; "": there is one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed (stripewise[dev])"
    if _program() is None:
        return "no chromium (Debian: chromium)"
    if shutil.which("chromedriver") is None:
        return "no chromedriver (Debian: chromium-driver)"
    return ""


def _program() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@dataclass(frozen=True)
class Place:
    """A portal that shows a small centre.

    Attributes:
        address: Of the portal.
        user: Somebody with jobs.
        job: Number of one of them, which has a finding with settings against it.
        passwords: By login; those of staff are "support" and "admin".
    """

    address: str
    user: str
    job: str
    passwords: dict[str, str]


class Browser:
    """One window, and what its pages complain of.

    Attributes:
        driver: Of selenium.
        address: Of the portal.
        downloads: Directory into which files are downloaded.
    """

    def __init__(self, driver: Any, address: str, downloads: Path) -> None:
        self.driver = driver
        self.address = address
        self.downloads = downloads
        self._send("Page.addScriptToEvaluateOnNewDocument", source=_LISTEN)

    def _send(self, command: str, **words: Any) -> None:
        self.driver.execute_cdp_cmd(command, words)

    def open(self, path: str) -> None:
        """Open a page of the portal, as somebody who types its address."""
        self.driver.get(self.address + path)

    @property
    def path(self) -> str:
        """Return the address of the page within the portal."""
        return str(self.driver.current_url).removeprefix(self.address)

    def log_in(self, user: str, password: str) -> None:
        """Log in, after logging out whoever is in."""
        self.driver.delete_all_cookies()
        self.open("/login")
        self.one("#user").send_keys(user)
        self.one("#secret").send_keys(password)
        self.one("form[action='/login'] button").click()
        self.wait(lambda: not self.path.startswith("/login"))

    def all(self, selector: str) -> list[Any]:
        """Return all elements that a CSS selector finds."""
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        """Return the first element that a CSS selector finds."""
        return self.driver.find_element("css selector", selector)

    def link(self, text: str) -> Any:
        """Return the link with this text."""
        return self.driver.find_element("link text", text)

    def text(self, selector: str = "body") -> str:
        """Return the text that is seen."""
        return str(self.one(selector).text)

    def run(self, script: str, *words: Any) -> Any:
        """Run a script, and return what it returns."""
        return self.driver.execute_script(script, *words)

    def wait(self, condition: Callable[[], Found]) -> Found:
        """Wait until a condition is true, and return it."""
        from selenium.common.exceptions import (
            NoSuchElementException,
            StaleElementReferenceException,
        )

        end = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                if found := condition():
                    return found
            except (NoSuchElementException, StaleElementReferenceException):
                pass  # the page is being replaced
            assert time.monotonic() < end, f"waited in vain at {self.path}"
            time.sleep(0.05)

    def settle(self) -> None:
        """Wait until what was put into the page last works: until then a link leaves the page."""
        self.wait(lambda: not self.all(".htmx-swapping, .htmx-settling, .htmx-added"))

    def press(self, *keys: str) -> Any:
        """Press keys one after the other; return the element that has the focus then."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()
        return self.driver.switch_to.active_element

    def downloaded(self, name: str) -> str:
        """Wait for a file, and return its text."""
        return self.wait(lambda: self.downloads / name in self._complete() and
                         (self.downloads / name).read_text())  # fmt: skip

    def _complete(self) -> list[Path]:
        found = list(self.downloads.iterdir())
        return [] if any(one.suffix == ".crdownload" for one in found) else found

    def use(self, *, dark: bool = False, width: int = _DESKTOP[0], scripts: bool = True) -> None:
        """Make it a browser in the dark, on a phone, or without scripts."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=_DESKTOP[1],
                   deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        self._send("Emulation.setScriptExecutionDisabled", value=not scripts)

    def complaints(self) -> list[str]:
        """Return what the browser complained of since the last time: errors, violations."""
        logged = [f"{one['level']} {one['message']}" for one in self.driver.get_log("browser")
                  if one["level"] in ("SEVERE", "WARNING")]  # fmt: skip
        return logged + list(self.run("return window.violations || []"))

    def barriers(self) -> list[Any]:
        """Return what axe-core finds in this page that is serious or critical."""
        if not self.run("return typeof axe === 'object'"):
            self.run(AXE.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(_AXE)
        return [one for one in found if one[0] in ("serious", "critical")]

    def overflow(self) -> int:
        """Return by how many pixels the page stays wider than its window.

        It is laid out anew, and charts are drawn anew, a moment after the window has changed.
        """
        end = time.monotonic() + _LAYOUT_SECONDS
        while True:
            found = int(self.run("const e = document.documentElement;"
                                 "return Math.max(e.scrollWidth, document.body.scrollWidth)"
                                 " - e.clientWidth"))  # fmt: skip
            if found <= 0 or time.monotonic() > end:
                return found
            time.sleep(0.05)


def _started(start: Callable[[], Found]) -> Found:
    """Start a browser again that crashes or hangs before its first page."""
    from selenium.common.exceptions import WebDriverException

    for _ in range(_STARTS - 1):
        with suppress(WebDriverException):
            return start()
    return start()


@contextmanager
def browsing(address: str, downloads: Path, words: Sequence[str] = ()) -> Iterator[Browser]:
    """Start a browser; quit it at the end."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = _program() or ""
    width, height = _DESKTOP
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                 f"--window-size={width},{height}", *words):  # fmt: skip
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    driver = _started(lambda: webdriver.Chrome(
        options=options, service=Service(shutil.which("chromedriver"))))  # fmt: skip
    driver.set_script_timeout(120)
    try:
        yield Browser(driver, address, downloads)
    finally:
        driver.quit()
