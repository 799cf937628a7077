"""Looking at a page: screenshots for people, and axe-core for what keeps people out."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from browser.driver import Browser


def shoot(browser: Browser, name: str) -> None:
    if folder := os.environ.get("ORTHODROME_SHOTS"):
        browser.picture(Path(folder) / f"{name}.png")


def axe_script() -> Path:
    """Where axe.min.js is; it is not part of the tree."""
    if given := os.environ.get("ORTHODROME_AXE"):
        return Path(given)
    package = importlib.util.find_spec("axe_playwright_python")
    assert package is not None and package.submodule_search_locations, "make browser installs axe-playwright-python"
    return Path(package.submodule_search_locations[0]) / "axe.min.js"


def violations(browser: Browser) -> list[str]:
    """What axe-core objects to in the page that is open: the rule and the first element that breaks it."""
    browser.devtools("Runtime.evaluate", expression=axe_script().read_text("utf-8"))
    run = "axe.run().then((found) => found.violations.map((v) => v.id + ': ' + v.nodes[0].html.slice(0, 200)))"
    answer = browser.devtools("Runtime.evaluate", expression=run, awaitPromise=True, returnByValue=True)
    found: list[str] = answer["result"]["value"]
    return found
