"""The developer guide, tried from its text alone: its manifold, sampler and model in a copy of the tree.

The files are written from the guide's blocks, exported and registered with the guide's lines, and the tests that they
are said to inherit run on them. A wrong manifold and a wrong sampler must fail there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "development" / "developer.md").read_text()
pytestmark = pytest.mark.slow


def blocks(kind: str) -> list[str]:
    """Return the blocks of the guide of one kind, without their indentation."""
    found = re.findall(rf"^ *```{kind}\n(.*?)^ *```$", GUIDE, flags=re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


def files() -> dict[str, str]:
    """Return the content of the files that the guide writes, by their paths."""
    named = (re.match(r"# (src/\S+\.py)\n", block) for block in blocks("python"))
    return {match[1]: match.string[match.end() :] for match in named if match}


def registered(word: str) -> str:
    """Return the lines of the guide that register something."""
    return next(block for block in blocks("text") if word in block)


def insert(path: Path, after: str, lines: str) -> None:
    """Insert lines after the first line that starts with a text."""
    text = path.read_text()
    end = text.index("\n", text.index(f"\n{after}") + 1) + 1
    path.write_text(text[:end] + lines + "\n" + text[end:])


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree to which the guide has been applied."""
    root = tmp_path_factory.mktemp("guide")
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    for name, content in files().items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(content)
    package, registry = root / "src" / "orthodrome", root / "tests" / "support" / "registry"
    scaled, barker = "orthodrome.manifolds.scaled_sphere", "orthodrome.samplers.exact.barker_walk"
    insert(package / "manifolds" / "__init__.py", "from", f"from {scaled} import ScaledSphere as ScaledSphere")
    insert(package / "samplers" / "__init__.py", "from", f"from {barker} import BarkerWalk as BarkerWalk")
    model = "from orthodrome.models.mean_direction.model import MeanDirection as MeanDirection\n"
    (package / "models" / "mean_direction" / "__init__.py").write_text('"""The mean direction."""\n\n' + model)
    insert(registry / "manifolds.py", "import jax.numpy", f"from {scaled} import ScaledSphere")
    insert(registry / "manifolds.py", "MANIFOLDS", registered('"scaled-sphere"'))
    function, entry = registered("def barker_walk").split("\n\n")
    for name in ("construction.py", "samplers.py"):
        insert(registry / name, "from orthodrome", f"from {barker} import BarkerWalk")
    insert(registry / "construction.py", "EDGES", f"\n\n{function}\n")
    insert(registry / "samplers.py", "SAMPLERS", entry)
    architecture = root / "tests" / "test_architecture.py"
    architecture.write_text(
        architecture.read_text().replace('"models.network', '"models.mean_direction models.network')
    )
    return root


def run(root: Path, *choice: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    return subprocess.run([*command, *choice], cwd=root, env=os.environ | {"PYTHONPATH": paths}, **CAPTURED)


CAPTURED = {"capture_output": True, "text": True, "timeout": 900}
MANIFOLD = ("tests/manifolds/test_contract.py", "-k", "scaled-sphere")
SAMPLER = (
    "tests/samplers/test_contract.py",
    "tests/samplers/test_stay_in_truth.py",
    "-k",
    "BarkerWalk and not Tempering",
)


def test_the_examples_pass_what_they_inherit(copy: Path) -> None:
    for choice, fewest in ((("tests/test_architecture.py",), 10), (MANIFOLD, 10), (SAMPLER, 8)):
        done = run(copy, *choice)
        assert done.returncode == 0, done.stdout[-3000:]
        passed = re.search(r"(\d+) passed", done.stdout)
        assert passed is not None and int(passed[1]) >= fewest, done.stdout[-300:]


@pytest.mark.parametrize(
    ("name", "right", "wrong", "choice"),
    [
        ("src/orthodrome/manifolds/scaled_sphere.py", "/ self.radius**2", "/ self.radius", MANIFOLD),
        ("src/orthodrome/samplers/exact/barker_walk.py", "jax.nn.sigmoid(change)", "0.5", SAMPLER),
    ],
)
def test_wrong_examples_fail(copy: Path, name: str, right: str, wrong: str, choice: tuple[str, ...]) -> None:
    text = (copy / name).read_text()
    assert text.count(right) == 1
    (copy / name).write_text(text.replace(right, wrong))
    try:
        assert run(copy, *choice, "-x").returncode == 1
    finally:
        (copy / name).write_text(text)
