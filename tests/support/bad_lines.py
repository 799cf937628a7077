"""Random bad command lines: a line that works, with one of its words, its input or its folder spoilt.

A line is a list of words; `{name}` in a word stands for a path in the workshop, a folder that holds what the lines
need: corpora in every format, finished and unfinished fits of both models, and files of the user's.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

SIZE = ["--num-topics", "2", "--num-iterations", "5", "--min-df", "1", "--max-df", "1", "--min-words", "1"]
USUAL = [*SIZE, "--num-threads", "1", "--quiet", "--checkpoint-every", "5", "--seed", "3", "--num-top-words", "4"]
FITS = {
    "sam": ["--model", "sam", "--method", "gsgnht", "--doc-topic-prior", "1", "--document-concentration", "30"],
    "lda": ["--model", "lda", "--method", "scir", "--batch-size", "9", "--beta", "0.1", "--alpha", "1"],
}
CORPORA = ("words.npz", "words.jsonl", "words.txt", "words.csv", "words.ldac", "docword.words.txt", "texts")
LINES = [
    *(
        ["topics", "fit", "--input", f"{{in/{name}}}", "--output", "{out}", *FITS[model], *USUAL]
        for name in CORPORA
        for model in FITS
    ),
    *(["topics", "resume", f"{{{model}-{kind}}}", "--quiet"] for model in FITS for kind in ("done", "cut")),
    *(
        ["topics", "show", f"{{{model}-done}}", "--num-top-words", "3", "--word", "rose"]
        for model in FITS
        for _ in "ab"
    ),
    ["demo", "--out", "{out}", "--seed", "1", "--job", "topics"],
    ["reproduce", "gmc-bvmf", "--scale", "quick", "--seed", "1", "--out", "{out}"],
    ["reproduce", "sam-20news", "--scale", "quick", "--data", "{in}", "--out", "{out}"],
]
"""The lines that work (the last for want of data only)."""
SHORT = [
    "--num-warmup",
    "5",
    "--num-draws",
    "4",
    "--num-chains",
    "1",
    "--num-clusters-init",
    "2",
    "--max-components",
    "8",
]
CLUSTERS = [*SHORT, "--max-components", "8", "--num-threads", "1", "--seed", "3", "--checkpoint-every", "5"]
CLUSTERS += ["--num-top", "2", "--quiet"]
ROWS = {
    "rows.csv": ["--family", "gaussian", "--columns", "a,b", "--name-column", "who", "--held-out", "0.1"],
    "rows.npy": ["--family", "vmf", "--normalize", "--method", "sggmc", "--step-size", "0.1", "--batch-size", "9"],
    "words.npz": ["--family", "multinomial", "--method", "scir", "--category-prior", "0.5", "--concentration", "1"],
    "kinds.csv": ["--family", "categorical", "--thin", "2", "--encoding", "utf-8"],
}
CLUSTER_LINES = [
    *(
        ["cluster", "fit", "--input", f"{{in/{name}}}", "--output", "{out}", *own, *CLUSTERS]
        for name, own in ROWS.items()
    ),
    *(["cluster", "resume", f"{{cluster-{kind}}}", "--quiet"] for kind in ("done", "cut")),
    ["cluster", "show", "{cluster-done}", "--num-top", "3", "--cluster", "0"],
]
"""The lines of `cluster` that work."""
NASTY = (
    *("", " ", "abc", "-1", "0", "1e400", "nan", "inf", "-inf", "1e308", "1e-320", "9" * 40, "2.5", "None", "0x10"),
    *("\x1b[31mred", "\ud800", "a\0b", "x" * 5000, "=1+1", "[/bold]", "../../..", ".", "/", "--", "-", "--nonsense"),
    *("/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem", "{pipe}", "{loop}", "{mine}", "{mine/thesis.txt}"),
    *("{in/words.npz}", "{in}", "{empty}", "{mine/thesis.txt}/below", "{sam-done}", "{lda-cut}", "٣", "vi", "gibbs"),
    *("text", "npz", "utf-16", "rot13", "latin-1", "quick", "paper", "recipe-1d", "instruments", "true"),
)
WORDS = ["rose", "tulip", "soil", "rain", "ship", "sail", "anchor", "mast", "bread", "salt", "oven", "knife"]


class BadLine(NamedTuple):
    """A line in a workshop of its own, and what was done to it."""

    words: list[str]
    what: str


def documents() -> list[list[str]]:
    """Return thirty documents of three subjects."""
    random = np.random.default_rng(0)
    return [[WORDS[4 * (n % 3) + int(random.integers(4))] for _ in range(9)] for n in range(30)]


def write_corpora(folder: Path) -> None:
    """Write the same documents in every format."""
    folder.mkdir()
    texts = [" ".join(words) for words in documents()]
    table = np.array([[words.count(word) for word in WORDS] for words in documents()])
    scipy.sparse.save_npz(folder / "words.npz", scipy.sparse.csr_array(table))
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    (folder / "words.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (folder / "words.txt").write_text("\n".join(texts))
    (folder / "words.csv").write_text("text\n" + "\n".join(texts))
    rows = [[f"{word}:{count}" for word, count in enumerate(row) if count] for row in table.tolist()]
    (folder / "words.ldac").write_text("".join(f"{len(row)} {' '.join(row)}\n" for row in rows))
    entries = [f"{d + 1} {w + 1} {n}\n" for (d, w), n in np.ndenumerate(table) if n]
    (folder / "docword.words.txt").write_text(f"30\n12\n{len(entries)}\n{''.join(entries)}")
    write_rows(folder)
    (folder / "texts").mkdir()
    for number, text in enumerate(texts):
        (folder / "texts" / f"{number}.txt").write_text(text)


def write_rows(folder: Path) -> None:
    """Write rows of two clusters as numbers with names, as vectors and as categories."""
    x = np.random.default_rng(0).normal(size=(30, 3)) + 4.0 * (np.arange(30) % 2)[:, None]
    np.save(folder / "rows.npy", x)
    lines = [f"row {n},{a:.3f},{b:.3f},{c:.3f}" for n, (a, b, c) in enumerate(x)]
    (folder / "rows.csv").write_text("\n".join(["who,a,b,c", *lines]))
    (folder / "kinds.csv").write_text("\n".join(["p,q", *(f"{'xy'[n % 2]},{'uvw'[n % 3]}" for n in range(30))]))


def write_user(folder: Path) -> None:
    """Write what is the user's, beside a pipe without a writer, a loop of links and an empty folder."""
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").write_text("mine")
    (folder / "mine" / "result.json").write_text("mine")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(folder / "loop")


def filled(word: str, folder: Path) -> str:
    """Return a word with its path put in."""
    begin, end = word.find("{"), word.find("}")
    return word if begin < 0 else f"{word[:begin]}{folder / word[begin + 1 : end]}{word[end + 1 :]}"


# --- what can be done to a line ---------------------------------------------------------------------------------------

Spoiling = Callable[[list[str], Path, np.random.Generator], str]


def spoil_word(words: list[str], folder: Path, random: np.random.Generator) -> str:
    """Replace a word behind the command."""
    place, nasty = int(random.integers(2, len(words))), NASTY[int(random.integers(len(NASTY)))]
    what = f"{words[place]!r} -> {nasty!r:.40}"
    words[place] = filled(nasty, folder)
    return what


def drop_word(words: list[str], folder: Path, random: np.random.Generator) -> str:
    return f"without {words.pop(int(random.integers(len(words))))!r}"


def add_word(words: list[str], folder: Path, random: np.random.Generator) -> str:
    extra = (
        "--normalize",
        "--learn-prior",
        "--sweeps",
        "--text-column",
        "--format",
        "--all",
        "--encoding",
        "--vocabulary",
    )
    added = [extra[int(random.integers(len(extra)))], filled(NASTY[int(random.integers(len(NASTY)))], folder)]
    words.extend(added)
    return f"with {added!r:.80}"


def swap_words(words: list[str], folder: Path, random: np.random.Generator) -> str:
    i, j = random.choice(len(words), 2, replace=False)
    words[i], words[j] = words[j], words[i]
    return f"{words[j]!r} and {words[i]!r} exchanged"


def spoil_file(words: list[str], folder: Path, random: np.random.Generator) -> str:
    """Damage a file of the input, or of the fit that is to be resumed or shown."""
    places = [Path(word) for word in words if word.startswith(str(folder)) and Path(word).exists()]
    files = sorted(p for place in places for p in (place.rglob("*") if place.is_dir() else [place]) if p.is_file())
    if not files:
        return spoil_word(words, folder, random)
    path = files[int(random.integers(len(files)))]
    return f"{DAMAGES[int(random.integers(len(DAMAGES)))](path, random)} {path.relative_to(folder)}"


def flipped(path: Path, random: np.random.Generator) -> str:
    damaged = bytearray(path.read_bytes() or b"x")
    for _ in range(int(random.integers(1, 4))):
        damaged[int(random.integers(len(damaged)))] ^= 1 << int(random.integers(8))
    path.write_bytes(damaged)
    return "flipped"


def cut(path: Path, random: np.random.Generator) -> str:
    path.write_bytes(path.read_bytes()[: int(random.integers(path.stat().st_size + 1))])
    return "cut"


def garbage(path: Path, random: np.random.Generator) -> str:
    path.write_bytes(random.bytes(int(random.integers(200))))
    return "garbage in"


def removed(path: Path, random: np.random.Generator) -> str:
    path.unlink()
    return "removed"


def replaced(path: Path, random: np.random.Generator) -> str:
    """A folder in its place."""
    path.unlink()
    path.mkdir()
    return "a folder for"


DAMAGES = (flipped, cut, garbage, removed, replaced)
SPOILINGS: tuple[Spoiling, ...] = (
    spoil_word,
    spoil_word,
    spoil_word,
    drop_word,
    add_word,
    swap_words,
    spoil_file,
    spoil_file,
)


def bad_lines(seed: int, workshop: Path, base: Path, working: list[list[str]] = LINES) -> Iterator[BadLine]:
    """Yield spoilt lines without end, each in a fresh copy of the workshop in the folder `base`."""
    random = np.random.default_rng(seed)
    for number in range(10**6):
        folder = base / str(number) / "deep" / "down"
        shutil.copytree(workshop, folder)
        write_user(folder)
        words = [filled(word, folder) for word in working[int(random.integers(len(working)))]]
        command = " ".join(words[:2])
        what = SPOILINGS[int(random.integers(len(SPOILINGS)))](words, folder, random)
        yield BadLine(words, f"{number}: {command}: {what}")
        shutil.rmtree(base / str(number))
