"""A small client of chromedriver: the W3C WebDriver protocol is JSON over HTTP, and needs nothing but Python."""

from __future__ import annotations

import base64
import json
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which WebDriver keeps the identity of an element."""
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Left": "\ue012", "Right": "\ue014", "Down": "\ue015", "Escape": "\ue00c"}


class Browser:
    """A headless Chromium with one page; it is ended with the `with` block."""

    def __init__(self, chromedriver: str, chromium: str) -> None:
        self.chromedriver, self.chromium = chromedriver, chromium

    def __enter__(self) -> Self:
        self.process = subprocess.Popen([self.chromedriver, "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.base = ""
        for line in self.process.stdout:
            if "successfully on port " in line:
                self.base = f"http://127.0.0.1:{int(line.rstrip().rstrip('.').split()[-1])}"
                break
        options = {"binary": self.chromium, "args": list(OPTIONS)}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        self.base += f"/session/{self.call('/session', {'capabilities': {'alwaysMatch': wanted}})['sessionId']}"
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.request("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait(20)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send one command and return its value."""
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, content, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def call(self, path: str, body: Any) -> Any:
        """Send a command with a body."""
        return self.request("POST", path, body)

    def open(self, page: Path) -> None:
        """Open a file, and wait until the page's script has run."""
        self.go(page.absolute().as_uri())

    def go(self, address: str) -> None:
        """Open an address, and wait until the page's script has run."""
        self.call("/url", {"url": "about:blank"})
        self.devtools("Performance.disable")
        self.devtools("Performance.enable", timeDomain="threadTicks")
        self.call("/url", {"url": address})
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def worked(self) -> float:
        """Return for how many milliseconds the thread of the page has worked, whatever else the machine does."""
        metrics = self.devtools("Performance.getMetrics")["metrics"]
        return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Wait until an expression of the page is true."""
        for _ in range(int(seconds / 0.1)):
            if self.run(f"return Boolean({condition})"):
                return
            time.sleep(0.1)
        raise AssertionError(f"the page never had {condition}")

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Send a command of the DevTools protocol."""
        return self.call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Make the window as large as a screen."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)

    def dark(self, wanted: bool) -> None:
        """Ask for the dark theme as an operating system does."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if wanted else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def keys(self, text: str) -> None:
        """Press keys in the element that has the focus."""
        active = self.request("GET", "/element/active")[ELEMENT]
        self.call(f"/element/{active}/value", {"text": text})

    def click(self, selector: str) -> None:
        """Click an element as a user does, after scrolling to it."""
        self.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector
        )
        element = self.call("/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.call(f"/element/{element}/click", {})

    def drag(self, selector: str, dx: int, dy: int) -> None:
        """Drag an element with the mouse."""
        self.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector
        )
        element = self.call("/element", {"using": "css selector", "value": selector})
        move = {"type": "pointerMove", "duration": 50}
        actions = [
            {**move, "origin": element, "x": 0, "y": 0},
            {"type": "pointerDown", "button": 0},
            {**move, "origin": "pointer", "x": dx, "y": dy},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.call("/actions", {"actions": [pointer]})

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save a screenshot, of the whole page if wanted."""
        content = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(content))

    def log(self, kind: str) -> list[Any]:
        """Return the entries of a log ("performance" or "browser") since the last call."""
        return self.call("/se/log", {"type": kind})

    def requests(self) -> list[str]:
        """Return the addresses of everything that the page asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [one for one in messages if one["method"] == "Network.requestWillBeSent"]
        return [one["params"]["request"]["url"] for one in sent]
