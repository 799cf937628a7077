"""Words are data: a text from a file is escaped for the place where it is shown.

terminal   control characters would move the cursor, ring or recolour: they become visible escapes
figures    matplotlib reads $...$ as mathematics: the dollar is escaped
CSV        spreadsheets run what begins with = + - @ as a formula: an apostrophe is put before it
"""

from __future__ import annotations

import unicodedata

LONGEST = 60
"""Characters of a word in a figure or a terminal; longer ones are cut."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def shown(text: str) -> str:
    """Return a text for a terminal: every character that is not printed becomes an escape such as \\x1b."""
    return text if text.isprintable() else "".join(map(_visible, text))


def short(text: str) -> str:
    """Return a word for a line among others: printable and not too long."""
    printable = shown(text)
    return printable if len(printable) <= LONGEST else printable[: LONGEST - 1] + "…"


def for_figure(text: str) -> str:
    """Return a word as matplotlib draws it literally."""
    return short(text).replace("$", r"\$")


def for_csv(text: str) -> str:
    """Return a word that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _visible(character: str) -> str:
    # Cc, Cf, Cs, Co, Cn: controls, direction marks, half characters, and what has no meaning; Zl, Zp break lines
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return character.encode("unicode_escape").decode("ascii") if hidden else character
