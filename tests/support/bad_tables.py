"""Random bad tables and model files, and the command lines that read them: what works, with its input or a word spoilt.

Spoilt cells hold what people's files hold: gaps, texts among numbers, formulas, escapes of the terminal, markup, bytes
that are no text, lines that are too short. A spoilt file may still be a good one; it must then come out harmless.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

Random = np.random.Generator
NAMES = (
    "=1+1",
    "+cmd",
    "@SUM(A1)",
    "\x1b[31mred\x1b[0m",
    "<script>alert(1)</script>",
    "a,b",
    'a"b',
    "x" * 300,
    "ß漢",
    "‮abc",
)
CELLS = (
    *("", " ", "nan", "inf", "-inf", "1e400", "-1", "0", "1e308", "abc", "1,5", "0x10", "٣", "None", "[]", "9" * 400),
    *NAMES,
)
WORDS = (
    *("", " ", "abc", "-1", "0", "nan", "inf", "1e400", "2.5", "9" * 30, "--", "-", "--nonsense", "a\0b", "../..", "/"),
    *("/dev/null", "/dev/zero", "/proc/self/mem", "gibbs", "torus", "latlon", "axes", "mixture", "utf-16", "rot13"),
    *("\x1b[31mred", "[/bold]", "=1+1", "winners", "i", "lat", "none", "1" * 5000),
)
RUN = ["--num-warmup", "5", "--num-draws", "8", "--num-chains", "2", "--quiet"]
MODEL = """
import jax.numpy as jnp
from orthodrome import Posterior, Sphere, Target

mean = jnp.array([0.0, 0.6, 0.8])
rows = jnp.eye(3)

def logdensity(x):
    return 10 * mean @ x

def logprior(x):
    return 0.0 * x[0]

def loglikelihood(x, row):
    return row @ x

target = Target(Sphere(), logdensity)
start = mean
"""
SDE = """
import jax.numpy as jnp
import numpy as np

def logdensity(z):
    return -jnp.sum(z**2) / 2

def drift(z):
    return -z

def diffusion(z):
    return jnp.eye(2)

points = np.random.default_rng(0).normal(size=(12, 2))
"""
LINES_OF_PYTHON = (
    *(
        "1 / 0",
        "raise SystemExit",
        "raise SystemExit(3)",
        "def (",
        "import nosuchmodule",
        "target = 3",
        "target = Target",
    ),
    *(
        "start = 'abc'",
        "start = [1, 2]",
        "del target",
        "raise ValueError('\\x1b[31m')",
        "sampler = 5",
        "posterior = target",
    ),
    *(
        "points = 3",
        "drift = 7",
        "del points",
        "recipe = 2",
        "exact_draws = 1",
        "start = None",
        "raise BaseException('x')",
    ),
    *("diffusion = None", "logdensity = None", "gradient = 1", "\tx = 1", "x = '\\ud800'", "assert False", "[] [0]"),
)


class BadTable(NamedTuple):
    """A command line, its input, and what was done to it."""

    words: list[str]
    what: str
    folder: Path


class Case(NamedTuple):
    """A command that works: its words without input and output, its file, and the columns of the file."""

    words: list[str]
    suffix: str
    text: Callable[[Random], list[list[str]] | str]


def contests(random: Random) -> list[list[str]]:
    rows = [["winners", "losers", "count"]]
    for _ in range(12):
        team = random.permutation(6)
        rows.append([f"p{team[0]} p{team[1]}", f"p{team[2]}", str(int(random.integers(1, 4)))])
    return rows


def edges(random: Random) -> list[list[str]]:
    pairs = {tuple(sorted(random.choice(9, 2, replace=False).tolist())) for _ in range(16)}
    return [["i", "j"], *([f"n{a}", f"n{b}"] for a, b in sorted(pairs))]


def numbers(head: list[str], low: float, high: float) -> Callable[[Random], list[list[str]]]:
    return lambda random: [list(head), *([f"{x:.4f}" for x in random.uniform(low, high, len(head))] for _ in range(12))]


def vectors(random: Random) -> list[list[str]]:
    rows = random.normal(size=(12, 3)) + np.array([2, 0, 0])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return [["x", "y", "z"], *([f"{value:.7f}" for value in row] for row in rows)]


CASES = (
    Case(["compare-teams", "fit", *RUN], ".csv", contests),
    Case(
        ["compare-teams", "fit", "--winners", "winners", "--losers", "losers", "--count", "count", *RUN],
        ".csv",
        contests,
    ),
    Case(["network", "fit", "--rank", "2", "--restarts", "0", *RUN], ".csv", edges),
    Case(["network", "fit", "--source", "i", "--target", "j", "--held-out", "0.2", *RUN], ".csv", edges),
    Case(["directional", "fit", "--kind", "angles", *RUN], ".csv", numbers(["angle"], 0, 6)),
    Case(["directional", "fit", "--kind", "angles", "--units", "degrees", *RUN], ".tsv", numbers(["angle"], 0, 360)),
    Case(["directional", "fit", "--kind", "latlon", *RUN], ".csv", numbers(["lon", "lat"], -80, 80)),
    Case(["directional", "fit", "--kind", "torus", *RUN], ".csv", numbers(["phi", "psi"], 0, 6)),
    Case(["directional", "fit", "--kind", "vectors", "--law", "mixture", *RUN], ".csv", vectors),
    Case(["directional", "fit", "--kind", "axes", *RUN], ".csv", vectors),
    Case(["sample", *RUN], ".py", lambda random: MODEL),
    Case(["sample", "--sampler", "GeodesicHMC", "--set", "num_steps=5", *RUN], ".py", lambda random: MODEL),
    Case(["check", "--seed", "1"], ".py", lambda random: SDE),
)


def spoilt_cells(rows: list[list[str]], random: Random) -> str:
    """Put something nasty into some cells."""
    picked = []
    for _ in range(int(random.integers(1, 4))):
        row, cell = int(random.integers(len(rows))), CELLS[int(random.integers(len(CELLS)))]
        rows[row][int(random.integers(len(rows[row])))] = cell
        picked.append(cell[:20])
    return f"cells {picked}"


def spoilt_shape(rows: list[list[str]], random: Random) -> str:
    """Take rows or cells away, or put too many in."""
    kind = int(random.integers(5))
    if kind == 0:
        del rows[int(random.integers(len(rows)))][-1:]
        return "a short line"
    if kind == 1:
        del rows[1:]
        return "the header alone"
    if kind == 2:
        rows.clear()
        return "nothing"
    if kind == 3:
        rows[int(random.integers(len(rows)))].append("more")
        return "a long line"
    rows[0] = [rows[0][0]] * len(rows[0])
    return "one name for all columns"


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n\t') else cell


def spoilt_bytes(content: bytes, random: Random) -> tuple[bytes, str]:
    """Damage the bytes of a file."""
    kind = int(random.integers(6))
    if kind == 0:
        return content[: int(random.integers(len(content) + 1))], "cut"
    if kind == 1:
        return content.decode("utf-8", "ignore").encode("utf-16"), "utf-16"
    if kind == 2:
        return random.bytes(int(random.integers(1, 300))), "garbage"
    if kind == 3:
        return gzip.compress(content), "packed under another name"
    damaged = bytearray(content or b"x")
    for _ in range(3):
        damaged[int(random.integers(len(damaged)))] = int(random.integers(256)) if kind == 4 else 0
    return bytes(damaged), "bytes changed"


def spoilt_python(text: str, random: Random) -> tuple[str, str]:
    """Put a bad line into a model file, or take one away."""
    lines = text.splitlines()
    if random.random() < 0.3:
        return "\n".join(lines[: int(random.integers(len(lines)))]), "cut"
    bad = LINES_OF_PYTHON[int(random.integers(len(LINES_OF_PYTHON)))]
    return "\n".join([*lines, bad]), bad


def spoilt_words(words: list[str], random: Random) -> str:
    """Replace, drop or add a word behind the command."""
    nasty, place = WORDS[int(random.integers(len(WORDS)))], int(random.integers(1, len(words)))
    kind = int(random.integers(3))
    if kind == 0:
        return f"without {words.pop(place)!r}"
    if kind == 1:
        words.insert(place, nasty)
        return f"with {nasty!r:.30}"
    before, words[place] = words[place], nasty
    return f"{before!r:.60} -> {nasty!r:.30}"


def bad_tables(seed: int, base: Path) -> Iterator[BadTable]:
    """Yield spoilt inputs without end, each in a folder of its own inside `base`."""
    random = np.random.default_rng(seed)
    for number in range(10**6):
        folder = base / f"{seed}-{number}"
        folder.mkdir()
        case = CASES[int(random.integers(len(CASES)))]
        made, path, how = case.text(random), folder / f"input{case.suffix}", random.random()
        what = "as it is"
        if isinstance(made, list):
            if how < 0.6:
                what = (spoilt_cells if how < 0.35 else spoilt_shape)(made, random)
            mark = "\t" if case.suffix == ".tsv" else ","
            content = "\n".join(mark.join(map(quoted, row)) for row in made).encode("utf-8", "surrogatepass")
        else:
            text, what = spoilt_python(made, random) if how < 0.6 else (made, what)
            content = text.encode("utf-8", "surrogatepass")
        if 0.6 <= how < 0.75:
            content, what = spoilt_bytes(content, random)
        path.write_bytes(content)
        words = [case.words[0], *([str(path)] if case.suffix == ".py" else []), *case.words[1:]]
        if case.suffix != ".py":
            words += ["--input", str(path)]
        words += [] if words[0] == "check" else ["--output", str(folder / "out")]
        if how >= 0.75:
            what = spoilt_words(words, random)
        yield BadTable(words, f"{seed}-{number}: {case.words[0]}: {what}", folder)
