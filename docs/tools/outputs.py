"""What the pages' code prints and draws, executed once for each state of the code: `python docs/tools/outputs.py`.

Outputs are kept in `.cache/docs/KEY`, KEY being a hash of the page's code and of the package, so that a page is
executed again when either changes. With `DOCS_OUTPUTS=kept` the last outputs of a page are shown, whatever has changed
since, and pages without any have none: for looking at a page while it is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from blocks import blocks

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "docs"
GALLERY = ROOT / "examples" / "gallery"
AT_ONCE = 2
SECONDS = 3600
"""The longest that a page may take by the clock, on a machine that does much else."""


def sources() -> list[Path]:
    """Return the pages that have code, and the scripts of the gallery."""
    pages = [page for page in sorted((ROOT / "docs").rglob("*.md")) if blocks(page.read_text(encoding="utf-8"))]
    return pages + sorted(GALLERY.glob("*.py"))


@cache
def package_hash() -> str:
    """Return a hash of the package's source."""
    files = sorted((ROOT / "src").rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def name_of(file: Path) -> str:
    """Return a name that no other page or script has: `guides-tempering`, `gallery-tempering`."""
    return "-".join(file.relative_to(ROOT).with_suffix("").parts[1:])


def place_of(file: Path) -> Path:
    """Return the folder of a page's outputs."""
    text = file.read_text(encoding="utf-8")
    code = text if file.suffix == ".py" else "\0".join(block.code for block in blocks(text))
    key = hashlib.sha256((package_hash() + code).encode()).hexdigest()[:16]
    return CACHE / f"{name_of(file)}-{key}"


def kept() -> bool:
    """Whether old outputs will do."""
    return os.environ.get("DOCS_OUTPUTS") == "kept"


def found_place(file: Path) -> Path | None:
    """Return the folder that has a page's outputs, if there is one."""
    places = [place_of(file)]
    if kept():
        old = [p for p in CACHE.glob(f"{name_of(file)}-" + "?" * 16) if (p / "outputs.json").exists()]
        places += sorted(old, key=lambda p: p.stat().st_mtime, reverse=True)
    return next((place for place in places if (place / "outputs.json").exists()), None)


def run(file: Path) -> None:
    """Execute a page; what it prints and draws replaces what older states of it did."""
    place = place_of(file)
    print(f"executing {file.relative_to(ROOT)}", flush=True)
    command = [sys.executable, str(Path(__file__).parent / "execute.py"), str(file), str(place)]
    environment = os.environ | {"COLUMNS": "88"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired:
        shutil.rmtree(place, ignore_errors=True)
        name = file.relative_to(ROOT)
        raise SystemExit(f"{name} has not ended after {SECONDS} s; what ran is kept, and `make docs` goes on") from None
    if done.returncode:
        shutil.rmtree(place, ignore_errors=True)
        raise SystemExit(f"{file.relative_to(ROOT)} does not run:\n{done.stderr[-3000:]}")
    for old in CACHE.glob(f"{name_of(file)}-" + "?" * 16):
        if old != place:
            shutil.rmtree(old)


def run_all() -> None:
    """Execute every page whose outputs are missing."""
    missing = [file for file in sources() if found_place(file) is None]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(run, missing))


def outputs_of(file: Path) -> tuple[Path, list[dict[str, Any]]] | None:
    """Return the folder of a page's outputs and the outputs of its blocks; None if old ones would do but none are."""
    place = found_place(file)
    if place is None:
        return None
    return place, json.loads((place / "outputs.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    run_all()
