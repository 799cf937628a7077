"""The built-in corpus: the docstrings of the standard library of the running interpreter, without any download.

Sources are parsed, never imported, so none of their code runs. A document is the docstring of a module, class or
function that has at least `LONG_ENOUGH` words left; shorter ones ("Return the next line.") are added to what
encloses them, where together they say something. Left out: test suites, what is kept for old programs only, doctest
sessions, and words that every docstring has ("returns", "argument", "default"), which are about Python and not about
the module.
"""

from __future__ import annotations

import ast
import os
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from orthodrome.core.garbage import collected_later
from orthodrome.corpora.corpus import Corpus, from_words
from orthodrome.corpora.words import STOP_WORDS, fold_plurals, word_set, words_of
from orthodrome.errors import BadInput

LONG_ENOUGH = 8
"""The least number of words of a document."""
PASSED_OVER = word_set(
    "test tests idle_test site-packages dist-packages lib-dynload __pycache__ __phello__ lib2to3 distutils ensurepip "
    "idlelib pydoc_data turtledemo encodings msilib _pyrepl"
)
BOILERPLATE = word_set(
    """
    abstract accept according add added additional allow allowed applied apply appropriate arg args argument
    associated attempt attribute automatically available base based behavior behaviour belong better bool boolean
    builtin call callable called calling calls case change changed check class code common compatibility compatible
    complete completely consist construct constructor contain containing contains convenience convert correct
    correctly corresponding create created creates current currently default define defined defines depending detail
    determine determined dict dictionary different directly doc docstring documentation does effect empty end ends
    entire equal equivalent error exactly example exception exist existing exists expected explicitly extra fail
    fails false fewer final fixed follow following follows form found full func function general greater handle
    handled handles helper ignore ignored immediately implement implementation implemented implements implicitly
    include included includes including indicate indicates information initial initialize instance instantiate int
    intended interface internal internally invoke invoked invoking item iterable keyword kind know kwargs larger len
    list long longer main major mean means method mode module multiple must name named necessary needed new non
    normal normally note number obj object occur old omitted optional optionally order original overridden override
    param parameter part particular pass passed passes passing perform performed place possibly present previous
    previously primarily private produce properly property provide provided provides public purpose python raise
    raised raises raising reason relevant removed replace repr represent representation represented representing
    represents require required requires respectively result resulting return returned returning returns second self
    seq sequence set sets setting short should similar simple single small smaller special specific specified
    specifies specify specifying standard start str string subclass subclasses subset suitable suited support
    supported supports sure temporarily true try tuple tuples type typically unchanged unspecified usage user usual
    valid value values variable version want whose work works wrap wrapper zero
    """
)


def python_docstrings(min_df: int = 5, max_df: float = 0.15) -> Corpus:
    """Return the docstrings of Python's standard library: thousands of short documents on asyncio, email, XML and more.

    min_df, max_df: the lowest and highest document frequency of a word, as in `Corpus.keep_words`
    """
    found = list(docstrings(Path(sysconfig.get_path("stdlib"))))
    if len(found) < 500:
        raise BadInput(
            f"only {len(found)} docstrings in {sysconfig.get_path('stdlib')}: this interpreter lacks the sources of "
            "its standard library (stripped or zipped); give a corpus of your own"
        )
    names, texts = zip(*found, strict=True)
    folded = fold_plurals([words_of(text) for text in texts])
    documents = [[word for word in document if word not in BOILERPLATE] for document in folded]
    return from_words(documents, names).keep_words(min_df, max_df).keep_long(LONG_ENOUGH - 2)


def docstrings(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (dotted name, text) of the documents of every source below a folder, in the order of their paths."""
    with collected_later():  # syntax trees have no cycles, and looking for them takes a third of the time
        for path in sources(folder):
            dotted = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError, OSError):  # a template, or a file for another version
                continue
            yield from gather(tree, dotted)[0]


def sources(folder: Path) -> list[Path]:
    """Return the Python files that are neither tests nor kept for old programs only."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER and not name.startswith("config-"))
        found += [Path(place, name) for name in sorted(files) if name.endswith(".py") and name != "turtle.py"]
    return found


def gather(node: ast.AST, name: str) -> tuple[list[tuple[str, str]], str]:
    """Return the documents at and below a node, and the text that is too short to stand alone."""
    text, below = docstring(node), []
    for child in getattr(node, "body", []):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            documents, rest = gather(child, f"{name}.{child.name}")
            below += documents
            text += "\n\n" + rest
    if len(words_of(text, STOP_WORDS | BOILERPLATE)) < LONG_ENOUGH:
        return below, text
    return [(name, text), *below], ""


def docstring(node: ast.AST) -> str:
    """Return the docstring without its doctest sessions."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    return SESSION.sub("\n", ast.get_docstring(node, clean=False) or "")


SESSION = re.compile(r"^[ \t]*(?:>>>|\$ ).*(?:\n[ \t]*\S.*)*", re.MULTILINE)
"""A prompt, and the lines up to the next empty one."""
