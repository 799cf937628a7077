"""A fit in a terminal: the topics with their top and bottom words, and the topics of one word."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from orthodrome.core.display import short, shown
from orthodrome.errors import BadInput
from orthodrome.jobs.topics.result import Result

if TYPE_CHECKING:
    from rich.console import Console

NUM_BOTTOM = 4
"""The number of bottom words in a line."""


def show_topics(result: Result, vocabulary: tuple[str, ...], num_words: int, console: Console) -> None:
    """Print a line per topic, the largest first."""
    from rich.table import Table
    from rich.text import Text

    table = Table("topic", "share", "top words", box=None, pad_edge=False)
    if result.tells_absence:
        table.add_column("bottom words")
    for topic in result.order:
        top = Text(words(vocabulary, result.top(topic, num_words)), style="bold")
        bottom = Text(words(vocabulary, result.bottom(topic, NUM_BOTTOM)), style="dim")
        table.add_row(str(topic), f"{result.share[topic]:.1%}", top, *([bottom] if result.tells_absence else []))
    console.print(table)


def words(vocabulary: tuple[str, ...], columns: np.ndarray) -> str:
    """Return some words in one line, each in a form that is safe in a terminal."""
    return " ".join(short(vocabulary[column]) for column in columns)


def show_numbers(result: Result, console: Console) -> None:
    """Print the numbers of the run in one line."""
    console.print(", ".join(f"{name} {value:,.4g}" for name, value in result.numbers.items()))


def show_word(result: Result, vocabulary: tuple[str, ...], word: str, console: Console) -> None:
    """Print the weight of a word in every topic, the largest first."""
    from rich.table import Table
    from rich.text import Text

    column = find_word(vocabulary, word)
    table = Table("topic", f"{result.quantity} of {word!r}", "top words", box=None, pad_edge=False)
    for topic in np.argsort(-result.mean[:, column], kind="stable"):
        mean, spread = result.mean[topic, column], result.spread[topic, column]
        top = Text(words(vocabulary, result.top(topic, 6)))
        weight = f"{mean:+.4f} ± {spread:.4f}" if result.tells_absence else f"{mean:.5f} ± {spread:.5f}"
        table.add_row(str(topic), weight, top)
    console.print(table)


def find_word(vocabulary: tuple[str, ...], word: str) -> int:
    """Return the column of a word, or raise with similar words if it is not in the vocabulary."""
    if word in vocabulary:
        return vocabulary.index(word)
    like = difflib.get_close_matches(word, vocabulary, 3)
    hint = f"; there is {', '.join(like)}" if like else ""
    raise BadInput(f"{word!r} is not among the {len(vocabulary)} words of this fit{hint}")


def show_places(folder: Path, figures: list[Path], console: Console) -> None:
    """Print where the files are."""
    names = ", ".join(path.name for path in figures)
    place = shown(str(folder))
    console.print(f"figures: {place}/figures/ ({names})", soft_wrap=True)
    console.print(f"draws, state, topic keys and document topics: {place}/", soft_wrap=True)
