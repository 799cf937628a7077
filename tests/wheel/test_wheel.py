"""The wheel in an empty environment, without our constraints: the README's example, the demonstration, the commands.

Run by `make try-dist`, not by `make test`: it installs packages, which takes minutes and a package index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def only(pattern: str) -> Path:
    """The one file of a kind in the folder ORTHODROME_DIST."""
    folder = Path(os.environ["ORTHODROME_DIST"]).absolute()
    (found,) = folder.glob(pattern)
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel and what it asks for, and nothing else."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=True)
    programs = place / "bin"
    pip = [programs / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    assert run([*pip, only("*.whl")], place).returncode == 0
    return programs


def run(command: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, without the settings that would lead it to the sources."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_CONSTRAINT"))}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=kept, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done


def test_the_package_is_that_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = run([installed / "python", "-c", "import orthodrome; print(orthodrome.__file__)"], tmp_path).stdout
    assert Path(where.strip()).is_relative_to(installed.parent)
    version = run([installed / "orthodrome", "--version"], tmp_path).stdout
    assert re.search(r"\d+\.\d+\.\d+", version) and version.split()[-1] in only("*.whl").name


def test_the_example_of_the_readme(installed: Path, tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert "concentration" in run([installed / "python", "-c", code], tmp_path).stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demonstration_writes_figures_and_a_report(installed: Path, tmp_path: Path) -> None:
    done = run([installed / "orthodrome", "demo", "--out", "demo", "--quiet"], tmp_path)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "demo" / "topics" / "report.html").stat().st_size > 100_000
    assert len(list((tmp_path / "demo" / "topics" / "figures").glob("*.png"))) == 3


def test_the_wheel_has_the_whole_package_and_the_sdist_the_whole_tree() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
    if tracked == [""]:
        pytest.skip(f"no list of files: {sys.executable} runs outside a checkout")
    wheel = set(zipfile.ZipFile(only("*.whl")).namelist())
    assert [f for f in tracked if f.startswith("src/") and f.removeprefix("src/") not in wheel] == []
    with tarfile.open(only("*.tar.gz")) as archive:
        sdist = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ("src/", "tests/", "docs/", "examples/", "benchmarks/", "README.md", "Makefile", "constraints.txt")
    assert [f for f in tracked if f.startswith(wanted) and f not in sdist] == []
