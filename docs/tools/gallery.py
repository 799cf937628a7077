"""The gallery: a card for each script of `examples/gallery`, and a page with its picture and its source."""

from __future__ import annotations

import ast
import html
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import outputs

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "gallery"


def scripts() -> list[Path]:
    """Return the scripts, without those that have not been executed (where old outputs will do)."""
    found = sorted(SCRIPTS.glob("*.py"))
    return [script for script in found if outputs.found_place(script) is not None] if outputs.kept() else found


def about(script: Path) -> tuple[str, str]:
    """Return the title and the text of a script: the first line of its docstring, and the rest."""
    doc = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    title, _, rest = doc.partition("\n")
    return title.rstrip("."), rest.strip()


def pages() -> dict[str, str]:
    """Return the page of every script by its path."""
    found = {}
    for script in scripts():
        title, rest = about(script)
        picture = f"![{title}](../pictures/made/gallery-{script.stem}-1.png)"
        source = f"`examples/gallery/{script.name}` draws it:\n\n```py\n{script.read_text(encoding='utf-8')}```"
        found[f"gallery/{script.stem}.md"] = f"# {title}\n\n{rest}\n\n{picture}\n\n{source}\n"
    return found


def cards(up: str, pictures: str) -> str:
    """Return the cards as HTML inside Markdown."""
    found = []
    for script in scripts():
        title = html.escape(about(script)[0])
        picture = f"![{title}]({up}{pictures}/gallery-{script.stem}-1.png)"
        found.append(f"-   [{picture}]({up}gallery/{script.stem}.md)\n\n    [{title}]({up}gallery/{script.stem}.md)\n")
    return '<div class="cards" markdown>\n\n' + "\n".join(found) + "\n</div>"
