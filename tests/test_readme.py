"""Every Python block of the README and of the documentation runs, in order, as a reader would type it."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


FUTURE = "from __future__ import annotations\n"


def blocks(text: str) -> list[str]:
    """Return the Python blocks of a page, also those that are indented in a list."""
    found = re.findall(r"^ *```python\n(.*?)^ *```$", text, flags=re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


def as_program(page: Path) -> str:
    """Return all blocks of a page as one program; what must come first in a file comes first in it."""
    code = "\n".join(blocks(page.read_text()))
    return FUTURE + code.replace(FUTURE, "") if FUTURE in code else code


LONG = {
    "bad-input.md",
    "checkpoints.md",
    "choose-a-manifold.md",
    "choose-a-sampler.md",
    "comparisons.md",
    "conventions.md",
    "corpora.md",
    "cores.md",
    "densities.md",
    "developer.md",
    "diagnostics.md",
    "directional.md",
    "first.md",
    "index.md",
    "lda.md",
    "mixtures.md",
    "plots.md",
    "recipe.md",
    "report.md",
    "sam.md",
    "samplers.md",
    "scir.md",
    "stochastic-flat.md",
    "stochastic.md",
    "tempering.md",
    "tuning.md",
    "your-own-model.md",
}


def with_code() -> list:
    """The README and the short pages in the fast suite."""
    pages = [page for page in PAGES if blocks(page.read_text())]
    return [pytest.param(p, id=p.name, marks=[pytest.mark.slow] if p.name in LONG else []) for p in pages]


@pytest.mark.parametrize("page", with_code())
def test_page_runs(page: Path, tmp_path: Path) -> None:
    """In a process of its own and an empty folder: no help from the tests' settings, nothing left behind."""
    done = subprocess.run([sys.executable, "-c", as_program(page)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert list(tmp_path.iterdir()) == []


def test_readme_example_is_short() -> None:
    (example,) = blocks((ROOT / "README.md").read_text())
    assert len([line for line in example.splitlines() if line.strip()]) <= 15


def test_readme_pictures_are_there_and_small() -> None:
    names = re.findall(r"!\[[^]]*\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert names and all(10_000 < (ROOT / name).stat().st_size < 200_000 for name in names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_is_narrow_enough_for_a_page(page: Path) -> None:
    """88 columns, except for what a command answers in one line."""
    shown = re.findall(r"^ *```\w*\n(.*?)^ *```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in shown for line in block.split("\n") if not line.startswith("orthodrome: ")]
    assert [line for line in lines if len(line) > 88] == []


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [page.name for page in PAGES[1:] if f": {page.relative_to(ROOT / 'docs')}" not in menu] == []
