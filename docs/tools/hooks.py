"""What MkDocs calls while it builds the site: outputs beside examples, formulas, the reference and the gallery."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import formulas
import gallery
import outputs
import reference
import reproduction
from blocks import blocks
from mkdocs.structure.files import File

PICTURES = "pictures/made"


def on_config(config: Any) -> Any:
    """Add the pages of the reference and the gallery's scripts to the menu."""
    for section in config.nav:
        if "Reference" in section:
            section["Reference"].extend({title: path} for title, path in reference.menu())
    return config


def on_files(files: Any, config: Any) -> Any:
    """Execute what has not been executed, and add the pictures and pages that are made."""
    if not outputs.kept():
        outputs.run_all()
    for file in outputs.sources():
        found = outputs.outputs_of(file)
        for picture in sorted(found[0].glob("*.png")) if found else ():
            files.append(File.generated(config, f"{PICTURES}/{picture.name}", content=picture.read_bytes()))
    for path, text in (reference.pages() | gallery.pages()).items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put the output of every block below it, and the cards of the gallery where its page wants them."""
    file = Path(config.docs_dir) / page.file.src_uri
    up = "../" * page.file.src_uri.count("/")
    markdown = reproduction.with_claims(markdown.replace("<!-- cards -->", gallery.cards(up, PICTURES)))
    found = outputs.outputs_of(file) if file.exists() and blocks(markdown) else None
    if found is None:
        return markdown
    for block, output in reversed(list(zip(blocks(markdown), found[1], strict=True))):
        shown = shown_output(output, block.code, up)
        indented = "".join(f"{block.indent}{line}\n" if line else "\n" for line in shown.split("\n"))
        markdown = markdown[: block.end] + (f"\n\n{indented}" if shown else "") + markdown[block.end :]
    return markdown


def shown_output(output: dict[str, Any], code: str, up: str) -> str:
    """Return the text and the pictures of a block as Markdown."""
    parts = []
    if text := output["text"].rstrip():
        parts.append(f"``` {{ .text .output }}\n{text}\n```")
    last = re.sub(r"[\[\]]", "", code.rstrip().split("\n")[-1])
    parts += [f"![What `{last}` draws]({up}{PICTURES}/{name})" for name in output["figures"]]
    return "\n\n".join(parts)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Draw the formulas."""
    return formulas.with_formulas(html)
