"""The Python blocks of a page: where they are, and what they say."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

BLOCK = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^ *```$", flags=re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code: its text, where it ends in the page, and how far it is indented (in a list)."""

    code: str
    end: int
    indent: str


def blocks(text: str) -> list[Block]:
    """Return the Python blocks of a page in their order."""
    return [Block(textwrap.dedent(m["code"]), m.end(), m["indent"]) for m in BLOCK.finditer(text)]
