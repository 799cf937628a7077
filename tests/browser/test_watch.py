"""The page of a run that is watched: it follows the run, asks its own server alone, and asks the run to stop."""

from __future__ import annotations

import json
from pathlib import Path

from browser.driver import Browser
from browser.looks import shoot, violations
from orthodrome.jobs.watch.server import serving
from orthodrome.storage.events import EVENTS, STOP
from support.watched import CHUNK, folder_with


def test_the_page_follows_the_run_and_asks_it_to_stop(browser: Browser, tmp_path: Path) -> None:
    many = [CHUNK | {"done": 5 * k, "temperature": 1 + 0.1 * (-1) ** k / k, "ess": 3.0 * k} for k in range(1, 15)]
    folder = folder_with(tmp_path, *many)
    with serving(folder) as server:
        browser.go(server.address)
        browser.wait("document.querySelector('.verdict').textContent.includes('stalled')")
        assert browser.run("return document.querySelector('progress').value") == 70
        assert browser.run("return document.querySelectorAll('svg path.line').length") >= 3
        shoot(browser, "watch")
        assert violations(browser) == []
        browser.run("document.querySelector('main button').click()")
        browser.wait("document.querySelector('.verdict').textContent.includes('asked to stop')")
        assert (folder / STOP).exists()
        with open(folder / EVENTS, "a") as file:
            file.write(json.dumps({"event": "end", "time": 2000.0, "reason": "interrupted"}) + "\n")
        browser.wait("document.querySelector('.verdict').textContent.includes('stopped in order')")
        asked = {url.rsplit("/", 1)[1] for url in browser.requests() if url.startswith("http")}
        assert asked == {"", "look", "stop"}
        browser.call("/url", {"url": "about:blank"})  # before its server ends
