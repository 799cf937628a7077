"""A page taken apart as a browser does it, without one."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any


class PageParts(HTMLParser):
    """The elements of a page with their attributes, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts.setdefault(self.inside, []).append(data)

    @property
    def content(self) -> Any:
        """What the page's script draws."""
        return json.loads(self.texts["script"][0])

    @property
    def policy(self) -> str:
        """The Content-Security-Policy."""
        return next(a["content"] or "" for tag, a in self.elements if "http-equiv" in a and tag == "meta")


def parts_of(path: Path) -> PageParts:
    return PageParts(path.read_text("utf-8"))


def source_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def addresses(text: str) -> set[str]:
    """Everything in a page that could be an address elsewhere, but in its data, which are no code; the name of SVG is
    none."""
    code = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    found = set(re.findall(r"(?:[a-z]+:)?//[^\s\"'`<>)]+", code))
    return {one for one in found if one.startswith(("http", "ws", "ftp", "//")) and "w3.org/2000/svg" not in one}
