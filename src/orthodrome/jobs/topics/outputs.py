"""The files of a finished fit.

topic-keys.txt       topic, share, top words: tab-separated, as MALLET writes it
bottom-words.txt     topic, share, the words that speak against it (SAM only)
doc-topics.txt       document, name, proportion of each topic, as MALLET writes it
doc-topics-sd.txt    the standard deviations of the proportions, over the draws
topics.csv           every word that is in a figure: topic, side, word, mean, sd
figures/             topics, map, trace: PNG and SVG
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.core.display import for_csv
from orthodrome.jobs.topics.documents import TopicCorpus
from orthodrome.jobs.topics.result import Result
from orthodrome.storage import files


def write_tables(result: Result, documents: TopicCorpus, folder: Path, num_words: int) -> None:
    """Write all text files."""
    write_keys(result, documents.vocabulary, folder / "topic-keys.txt", num_words)
    if result.tells_absence:
        bottoms = (result.bottom(topic, num_words) for topic in range(len(result.mean)))
        write_words(result, documents.vocabulary, folder / "bottom-words.txt", bottoms)
    write_proportions(result.proportions, documents.names, folder / "doc-topics.txt")
    write_proportions(result.proportions_sd, documents.names, folder / "doc-topics-sd.txt")
    write_topics(result, documents.vocabulary, folder / "topics.csv", num_words)


def write_keys(result: Result, vocabulary: tuple[str, ...], path: Path, num_words: int) -> None:
    """Write the topic keys as MALLET does."""
    write_words(result, vocabulary, path, (result.top(topic, num_words) for topic in range(len(result.mean))))


def write_words(result: Result, vocabulary: tuple[str, ...], path: Path, words: Iterable[np.ndarray]) -> None:
    """Write a line per topic: its number, its share, and some words."""
    rows = [
        f"{topic}\t{result.share[topic]:.5f}\t{' '.join(vocabulary[word] for word in chosen)}\n"
        for topic, chosen in enumerate(words)
    ]
    files.write_bytes(path, "".join(rows).encode("utf-8"))


def write_proportions(values: np.ndarray, names: tuple[str, ...], path: Path) -> None:
    """Write a line per document: its number, its name, and a number for each topic."""
    with files.replacing(path, text=True) as file:
        for number, (name, row) in enumerate(zip(names, values, strict=True)):
            file.write("\t".join([str(number), name, *(f"{value:.5f}" for value in row)]) + "\n")


def write_topics(result: Result, vocabulary: tuple[str, ...], path: Path, num_words: int) -> None:
    """Write the words of each topic with their weights."""
    with files.replacing(path, text=True) as file:
        writer = csv.writer(file)
        writer.writerow(["topic", "side", "word", "mean", "sd"])
        for topic in range(len(result.mean)):
            for side, words in {"top": result.top(topic, num_words), "bottom": result.bottom(topic, num_words)}.items():
                mean, spread = result.mean[topic, words], result.spread[topic, words]
                names = [for_csv(vocabulary[word]) for word in words]
                rows = zip(names, mean, spread, strict=True)
                writer.writerows([topic, side, name, f"{m:.5f}", f"{s:.5f}"] for name, m, s in rows)


def write_figures(result: Result, documents: TopicCorpus, folder: Path, seed: int) -> list[Path]:
    """Write the three figures, and return their paths."""
    from orthodrome.plots import style, topics

    folder.mkdir(exist_ok=True)
    figures: dict[str, Any] = {
        "topics": words_figure(result, documents.vocabulary),
        "map": topics.map_figure(result.proportions, labels(result, documents.vocabulary), seed),
    }
    if result.traces:
        figures["trace"] = topics.trace_figure(result.traces, {"temperature": 1.0})
    for name, figure in figures.items():
        style.save(figure, folder / name)
    return [folder / f"{name}.png" for name in figures]


def words_figure(result: Result, vocabulary: tuple[str, ...]) -> Any:
    """Return the figure of the topics' words, without bottom words if topics cannot say that a word is absent."""
    from orthodrome.plots import topics

    bottom = 4 if result.tells_absence else 0
    weights = (result.mean, result.spread, result.corpus, result.share)
    return topics.words_figure(*weights, vocabulary, num_bottom=bottom, quantity=result.quantity)


def labels(result: Result, vocabulary: tuple[str, ...]) -> list[str]:
    """Return the first three words of every topic, in two lines."""
    words = [[vocabulary[word] for word in result.top(topic, 3)] for topic in range(len(result.mean))]
    return [f"{first[0]}\n{' '.join(first[1:])}" for first in words]
