"""Figures of a fitted topic model: the words of the topics, a map of the documents, and the run itself.

A topic of SAM is a unit vector, and its coordinates may be negative: a document with such a word is *less* likely to be
about the topic. So each topic is shown with its top words and, below them, with its bottom words, those it has least of
beside the corpus; and with the spread of the draws. The map puts documents with similar proportions side by side (in
Hellinger's distance).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from orthodrome.core.display import for_figure
from orthodrome.core.types import Reals
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure

MOST_TOPICS = 40
"""The largest number of topics in a figure."""
MOST_POINTS = 2_000
"""The largest number of documents on a map."""
FOREMOST = 20
"""Documents with the largest proportions of a topic that a map of some documents has in any case."""


def words_figure(
    mean: Reals,
    spread: Reals,
    corpus: Reals,
    share: Reals,
    vocabulary: Sequence[str],
    num_top: int = 8,
    num_bottom: int = 4,
    quantity: str = "coordinate",
) -> Figure:
    """Return a figure with a panel per topic, the largest first: bars of its top words, and below them of its bottom
    words.

    Ticks mark the mean of the corpus.

    mean, spread: topics x words: the mean and the standard deviation of the words' weights
    corpus: the mean of the corpus
    share: of each topic
    vocabulary: the word of each column
    num_top, num_bottom: the numbers of words shown
    quantity: what a weight is
    """
    order = np.argsort(-share, kind="stable")[:MOST_TOPICS]
    columns = min(5, len(order))
    rows = -(-len(order) // columns)
    height = 0.19 * (num_top + num_bottom) + 0.55
    figure, axes = new_figure(rows, columns, (2.7 * columns, height * rows + 0.4))
    limits = room(mean[order], spread[order])
    for panel, topic in zip(axes.flat, order, strict=False):
        bars(panel, mean[topic], spread[topic], corpus, vocabulary, num_top, num_bottom)
        panel.set_xlim(limits)
        panel.set_title(f"topic {topic}  ({share[topic]:.1%})", fontsize=9)
    for panel in axes.flat[len(order) :]:
        panel.axis("off")
    figure.supxlabel(
        f"{quantity} of the word in the topic; line: two standard deviations either way; grey tick: the corpus mean",
        fontsize=8,
        color=GREY,
    )
    place(figure, rows, columns, height)
    return figure


def room(mean: Reals, spread: Reals) -> tuple[float, float]:
    """Return axis limits that every bar fits into."""
    low, high = float((mean - 2 * spread).min()), float((mean + 2 * spread).max())
    return min(1.1 * low, -0.05 * high), 1.05 * high


def place(figure: Figure, rows: int, columns: int, height: float) -> None:
    """Put the panels at fixed places: automatic layout of dozens of them takes seconds."""
    figure.set_layout_engine(None)
    tall = height * rows + 0.4
    figure.subplots_adjust(
        left=0.33 / columns,
        right=0.995,
        bottom=0.45 / tall,
        top=1 - 0.3 / tall,
        wspace=0.5,
        hspace=0.45 / (height - 0.5),
    )


def bars(
    axes: Axes,
    mean: Reals,
    spread: Reals,
    corpus: Reals,
    vocabulary: Sequence[str],
    num_top: int,
    num_bottom: int,
) -> None:
    """Draw the bars of one topic."""
    bottom = np.argsort(mean - corpus, kind="stable")[:num_bottom]
    words = np.concatenate([np.argsort(-mean, kind="stable")[:num_top], bottom[::-1]])
    height = np.arange(len(words), 0, -1) - 0.6 * (np.arange(len(words)) >= num_top)
    colours = [BLUE] * num_top + [ORANGE] * num_bottom
    axes.barh(height, mean[words], height=0.7, color=colours, alpha=0.85)
    axes.errorbar(mean[words], height, xerr=2 * spread[words], fmt="none", ecolor="#333333", elinewidth=0.7)
    axes.plot(corpus[words], height, linestyle="none", marker="|", markersize=7, color=GREY)
    axes.set_yticks(height, [for_figure(vocabulary[word]) for word in words], fontsize=7.5)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.tick_params(axis="x", labelsize=6, length=2, colors=GREY)
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def map_figure(proportions: Reals, labels: Sequence[str], seed: int = 0) -> Figure:
    """Return a map of documents as points, coloured by their largest topic, with each topic's words where its documents
    are.

    proportions: documents x topics
    labels: the words of each topic
    seed: of the map
    """
    proportions = proportions[on_map(proportions, seed)]
    points = positions(proportions, seed)
    largest = np.argmax(proportions, axis=1)
    certainty = np.max(proportions, axis=1)
    figure, ((axes,),) = new_figure(1, 1, (9.5, 7.2))
    colours = palette(proportions.shape[1])
    size = 3 + 22 * (certainty / certainty.max()) ** 2
    axes.scatter(points[:, 0], points[:, 1], s=size, c=colours[largest], alpha=0.6, linewidths=0)
    for topic in range(proportions.shape[1]):
        if (members := points[largest == topic]).shape[0] >= 3:
            label(axes, centre(members, certainty[largest == topic]), labels[topic], colours[topic])
    axes.set_title(f"{len(points):,} documents; colour: the largest topic, size: how large it is", fontsize=9)
    axes.axis("off")
    return figure


def on_map(proportions: Reals, seed: int) -> NDArray[np.int64]:
    """Return the documents on a map: all, or the foremost of every topic and others by chance."""
    count, topics = proportions.shape
    if count <= MOST_POINTS:
        return np.arange(count)
    each = min(FOREMOST, max(1, MOST_POINTS // (2 * topics)))
    foremost = np.unique(np.argsort(-proportions, axis=0, kind="stable")[:each])[:MOST_POINTS]
    others = np.setdiff1d(np.arange(count), foremost, assume_unique=True)
    by_chance = np.random.default_rng(seed).choice(others, MOST_POINTS - len(foremost), replace=False)
    return np.sort(np.concatenate([foremost, by_chance]))


def positions(proportions: Reals, seed: int) -> Reals:
    """Return positions at which neighbours in Hellinger distance are neighbours (t-SNE).

    The last map is remembered: the figure and the report page of a fit show the same one, which takes seconds.
    """
    rows = np.ascontiguousarray(np.sqrt(proportions), np.float32)
    return _embedded(rows.tobytes(), rows.shape[1], seed).copy()


@functools.lru_cache(maxsize=1)
def _embedded(content: bytes, columns: int, seed: int) -> Reals:
    """Return the map of rows of float32 numbers; one thread, since on a busy machine two wait for each other."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    rows = np.frombuffer(content, np.float32).reshape(-1, columns)
    if columns == 1:  # one topic: all documents are the same
        return np.zeros((len(rows), 2), np.float32)
    perplexity = min(30.0, max(2.0, (len(rows) - 1) / 4))
    embedding = TSNE(perplexity=perplexity, init="pca", angle=0.7, max_iter=400, random_state=seed)
    with threadpool_limits(1):
        return embedding.fit_transform(rows)


def centre(points: Reals, weights: Reals) -> Reals:
    """Return the position of the document that is nearest to all others of the topic: unlike a mean, always among
    them."""
    sample = points[np.argsort(-weights, kind="stable")[:200]]
    distances = np.linalg.norm(sample[:, None] - sample[None], axis=-1)
    return sample[np.argmin(distances.sum(axis=1))]


def label(axes: Axes, place: Reals, text: str, colour: Any) -> None:
    """Write words on the map, readable on any background."""
    outline = [withStroke(linewidth=2.5, foreground="white")]
    dark = tuple(0.6 * part for part in colour[:3])
    x, y = place
    lines = "\n".join(map(for_figure, text.split("\n")))
    axes.text(x, y, lines, ha="center", va="center", fontsize=8, weight="bold", color=dark, path_effects=outline)


def palette(count: int) -> Reals:
    """Return `count` colours, those of neighbouring numbers different."""
    base = np.concatenate([matplotlib.colormaps[name](np.arange(20)) for name in ("tab20", "tab20b")])
    return base[np.arange(count) * 2 % 40 + (np.arange(count) // 20) % 2]


def trace_figure(traces: dict[str, tuple[Reals, Reals]], targets: dict[str, float] | None = None) -> Figure:
    """Return a figure with a panel for each trace.

    traces: name -> (numbers of iterations, values)
    targets: name -> the value at which a trace should settle, drawn as a line
    """
    figure, axes = new_figure(1, len(traces), (4.6 * len(traces), 3.0))
    for panel, (name, (at, values)) in zip(axes.flat, traces.items(), strict=True):
        panel.plot(at, values, color=BLUE, linewidth=0.9, marker="." if len(at) < 60 else None)
        if targets and name in targets:
            panel.axhline(targets[name], color=ORANGE, linewidth=0.9, linestyle="--")
        if np.all(values > 0) and values.max() > 8 * values.min():
            panel.set_yscale("log")
        panel.set_xlabel("iteration", fontsize=8)
        panel.set_title(name, fontsize=9)
    return figure
