"""What builds the site: outputs of code, parts of docstrings, links of the gallery."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "docs" / "tools"
sys.path.insert(0, str(TOOLS))

import docstrings  # noqa: E402
import reference  # noqa: E402
from blocks import blocks  # noqa: E402

PAGE = """# A page

```python
from __future__ import annotations
x = 2
print("two", x)
```

1. In a list:

   ```python
   def double(a: Missing):
       return 2 * a

   double(x)
   ```

```python
from matplotlib.figure import Figure
Figure()
```

```text
not code
```
"""


def execute(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / "execute.py"), str(page), str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


def test_outputs_are_those_of_the_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("a: Missing", "a"))
    done = execute(page, tmp_path / "page-out")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "page-out" / "outputs.json").read_text())
    assert [one["text"] for one in found] == ["two 2\n", "4\n", ""]
    assert found[2]["figures"] == ["page-3.png"] and (tmp_path / "page-out" / "page-3.png").stat().st_size > 500


def test_a_page_that_fails_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\nraise ValueError(x)\n```\n")
    done = execute(page, tmp_path / "page-out")
    assert done.returncode != 0 and "page.md, block 1" in done.stderr
    assert not (tmp_path / "page-out" / "outputs.json").exists()


def test_blocks_in_lists_are_found_where_they_end() -> None:
    found = blocks(PAGE)
    assert len(found) == 3 and found[1].indent == "   " and found[1].code.startswith("def double")
    assert PAGE[: found[1].end].endswith("   double(x)\n   ```")


def documented(a: int, b: int = 2, c: int = 3) -> None:
    """Do a thing with x_i and <b>.

        y = a_1 * b

    a: the first,
        on two lines
    b: the second; c: the third: |x|
    note: no parameter
    """


def test_docstrings_fall_into_text_and_parameters() -> None:
    parsed = docstrings.parsed(documented, {"a", "b", "c"})
    assert parsed.parameters == [("a", "the first, on two lines"), ("b", "the second"), ("c", r"the third: \|x\|")]
    assert r"x\_i and \<b\>" in parsed.text and "    y = a_1 * b" in parsed.text and "note: no parameter" in parsed.text


def test_signatures_are_narrow_and_plain() -> None:
    import orthodrome

    text = reference.written("sample", reference.signature_of(orthodrome.sample))
    assert text.startswith(
        "sample(\n    sampler: Sampler | Target | Posterior,\n    start: Any,\n    *,\n    seed: int,\n"
    )
    assert max(map(len, text.split("\n"))) <= 88 and "'" not in text and text.endswith(") -> xarray.DataTree")


@pytest.mark.parametrize("group", ["manifolds", "running", "citing"])
def test_every_name_of_a_group_is_on_its_page(group: str) -> None:
    page = reference.pages()[reference.path_of(group)]
    assert [name for _, name in reference.groups()[group] if f"{{ #{name} }}" not in page] == []


def test_every_picture_has_a_title_and_a_page() -> None:
    import gallery

    scripts = sorted((ROOT / "examples" / "gallery").glob("*.py"))
    assert len(scripts) >= 12 and len(gallery.pages()) == len(scripts)
    assert [s.stem for s in scripts if len(gallery.about(s)[0]) > 60 or not gallery.about(s)[1]] == []
    assert all(f"gallery/{s.stem}.md" in gallery.cards("", "pictures") for s in scripts)


def test_claims_are_those_of_the_recorded_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import reproduction

    claim = {"id": "a", "text": "a < b", "paper": 1, "measured": 2.5, "holds": False, "why": "too | short"}
    content = {"experiment": "scir-bias", "scale": "quick", "seed": 3, "seconds": 1.0, "claims": [claim]}
    (tmp_path / "run" / "scir-bias").mkdir(parents=True)
    (tmp_path / "run" / "scir-bias" / "result.json").write_text(json.dumps(content))
    monkeypatch.setattr(reproduction, "RESULTS", tmp_path / "theory" / "results")
    reproduction.record(tmp_path / "run")
    page = reproduction.with_claims("text\n\n<!-- claims quick -->\n\n<!-- not results -->\n")
    assert (
        r"| a &lt; b | 1 | 2.5 | **no** | too \| short |" in page
        and "| `scir-bias` | 3 | - | 0 of 1 claims hold |" in page
    )
    assert "Algorithm 1, geodesic Monte Carlo" in page and "<!--" not in page


def test_scripts_of_the_gallery_are_narrow_enough_for_a_page() -> None:
    wide = [script.name for script in (ROOT / "examples" / "gallery").glob("*.py") if widest(script) > 88]
    assert wide == []


def widest(script: Path) -> int:
    return max(map(len, script.read_text(encoding="utf-8").splitlines()))


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted((ROOT / "examples" / "gallery").glob("*.py")), ids=lambda path: path.stem)
def test_every_script_of_the_gallery_draws(script: Path, tmp_path: Path) -> None:
    picture = tmp_path / "figure.png"
    command = [sys.executable, str(script), str(picture)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert picture.stat().st_size > 5000


def test_a_page_that_does_not_end_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import outputs

    monkeypatch.setattr(outputs, "SECONDS", 0.05)
    script = outputs.ROOT / "examples" / "gallery" / "distance.py"
    with pytest.raises(SystemExit, match=r"distance\.py has not ended after 0\.05 s; what ran is kept"):
        outputs.run(script)
