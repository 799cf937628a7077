"""One browser for all tests of a file; after each test nothing was asked of the network and no error was told."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from browser.driver import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    assert driver and chromium, "install Debian's chromium and chromium-driver"
    with Browser(driver, chromium) as found:
        yield found


@pytest.fixture(autouse=True)
def desktop(browser: Browser) -> Iterator[None]:
    browser.size(1280, 900)
    browser.dark(False)
    browser.requests(), browser.log("browser")
    yield
    left = [url for url in browser.requests() if not url.startswith(("file:", "data:", "about:", "http://127.0.0.1:"))]
    said = [entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"]
    assert left == [] and said == []
