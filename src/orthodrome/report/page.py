"""From sections to one HTML file that fetches nothing and takes nothing from the data for markup.

The file holds the style, the script and the content. The content is JSON in a script element that is never executed,
its `<`, `>` and `&` escaped, and the script writes every text with `textContent`; what is written outside of the script
is escaped as HTML. A Content-Security-Policy forbids every request and every script and style but these two, by their
SHA-256: markup that came in from the data nevertheless could neither run nor load.
"""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import re
from typing import Any

SCRIPTS = (
    *("elements", "numbers", "figures", "axes", "canvas", "intervals", "facts", "health", "traces", "heatmap"),
    *("sphere/paint", "sphere/globe", "circle", "plane", "ternary", "network", "clusters"),
    *("topics/map", "topics/panels", "topics/search", "topics/explorer", "theme", "page"),
)
"""The parts of the page's script, in their order."""
WATCHING = ("elements", "numbers", "figures", "axes", "theme", "watch")
"""The parts of the script of a page that watches a run, which alone may ask its own server."""
GENERATOR = "orthodrome report"
"""The mark by which a page of ours is known."""
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(title: str, summary: str, content: dict[str, Any], scripts: tuple[str, ...] = SCRIPTS) -> bytes:
    """Return the HTML file.

    title: of the page; summary: a line that is shown also without the script; content: what the script draws
    scripts: the parts of the script
    """
    style, script = asset("style.css"), script_text(scripts)
    ask = "connect-src 'self'; " if scripts == WATCHING else ""
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; {ask}"
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "generator": GENERATOR,
        "policy": policy,
        "title": html.escape(title),
        "summary": html.escape(summary),
        "style": style,
        "content": safe_json(content),
        "script": script,
    }
    # one pass over the template alone: what a part holds is never looked at again
    text = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], asset("page.html"))
    # a lone surrogate of a file name becomes a JSON escape
    return text.encode("utf-8", "backslashreplace")


def asset(name: str) -> str:
    """Return a file of the page."""
    return (importlib.resources.files("orthodrome.report") / "assets" / name).read_text("utf-8")


def script_text(scripts: tuple[str, ...]) -> str:
    """Return the script: its parts in one function, so that nothing is global."""
    parts = "\n".join(asset(f"{name}.js") for name in scripts)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def digest(text: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows exactly this text."""
    found = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{found}'"


def safe_json(content: Any) -> str:
    """Return JSON that cannot end the element it is in, nor begin another."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text
