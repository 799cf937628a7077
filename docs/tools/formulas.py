"""Formulas become MathML when the site is built: a browser draws them without a script and without a network."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', flags=re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', flags=re.DOTALL)


def with_formulas(page: str) -> str:
    """Return a page of HTML whose formulas are MathML."""
    page = INLINE.sub(lambda m: convert(html.unescape(m[1]).strip()), page)
    return DISPLAYED.sub(lambda m: f'<div class="formula">{convert(html.unescape(m[1]).strip(), "block")}</div>', page)
