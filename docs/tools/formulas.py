"""Formulas become MathML when the site is built: a browser draws them without a script and without a network."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', flags=re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', flags=re.DOTALL)


NAMED = re.compile(r"(<mi>(?:log|cos|sin|exp|tanh)</mi>)(?!<mo)")


def with_formulas(page: str) -> str:
    """Return a page of HTML whose formulas are MathML."""
    page = INLINE.sub(lambda m: mathml(m[1], "inline"), page)
    return DISPLAYED.sub(lambda m: f'<div class="formula">{mathml(m[1], "block")}</div>', page)


def mathml(formula: str, display: str) -> str:
    """Return one formula; after the name of a function there is a thin space, unless a bracket follows."""
    found = convert(html.unescape(formula).strip(), display=display)
    if "\\" in found:
        raise ValueError(f"a formula has a command that MathML was not made of: {formula}")
    return NAMED.sub(r'\1<mspace width="0.17em"/>', found)
