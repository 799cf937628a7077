"""The report page without a browser: self-contained, harmless whatever the data say, and with tables to be read out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.report import Section, TableTwin, write_report
from orthodrome.report.packing import packed, packed_codes, plain
from orthodrome.report.page import SCRIPTS, asset, page
from orthodrome.report.pictures.summaries import summaries
from orthodrome.report.pictures.traces import rank_counts, traces
from support.pages import PageParts, addresses, parts_of, source_hash
from support.small_draws import HOSTILE, small_draws


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(small_draws(), tmp_path_factory.mktemp("report") / "report.html", title=HOSTILE[0])


def sections(path: Path) -> dict[str, Any]:
    return {one["title"]: one for one in parts_of(path).content["sections"]}


def test_the_page_holds_a_picture_of_every_space_and_the_verdict(written: Path) -> None:
    kinds = {one["kind"] for one in sections(written).values()}
    assert kinds == {"sphere", "circle", "ternary", "intervals", "health", "traces", "variables", "facts"}


def test_nothing_of_the_data_is_markup(written: Path) -> None:
    text, found = written.read_text("utf-8"), parts_of(written)
    tags = [tag for tag, _ in found.elements]
    assert tags.count("script") == 2 and "img" not in tags and tags.count("b") == 0
    assert all(word not in text for word in HOSTILE[:3])
    named = str(found.content["sections"])
    assert "<img src=x onerror=alert(1)>" in named and "\\\\x1b[31m" in named  # they are there, as texts


def test_a_control_page_would_be_caught() -> None:
    parts = PageParts(f"<p>{HOSTILE[1]}</p><script>x</script>{HOSTILE[0]}")
    assert [tag for tag, _ in parts.elements] == ["p", "img", "script", "script"]
    assert addresses('<img src="https://example.org/a.png"><i style="background:url(//b.c/d)">')


def test_the_policy_forbids_everything_but_the_pages_own_script_and_style(written: Path) -> None:
    found = parts_of(written)
    own = {source_hash("".join(found.texts[tag][-1:])) for tag in ("script", "style")}
    assert own <= set(re.findall(r"'sha256-[^']+'", found.policy)) and len(own) == 2
    assert "default-src 'none'" in found.policy and "unsafe" not in found.policy and "http" not in found.policy


def test_the_page_fetches_nothing(written: Path) -> None:
    found = parts_of(written)
    assert addresses(written.read_text("utf-8")) == set()
    assert not [a for _, a in found.elements if {"src", "srcset", "data"} & set(a)]
    assert [a["href"] for tag, a in found.elements if "href" in a] == ["#main"]


def test_every_picture_has_a_table_with_as_many_cells_as_columns(written: Path) -> None:
    for title, section in sections(written).items():
        if section["kind"] != "facts":  # which is a list itself
            table = section["table"]
            assert table["rows"] and all(len(row) == len(table["head"]) for row in table["rows"]), title


def test_every_kind_of_section_is_drawn_by_the_script() -> None:
    script = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    drawn = dict(re.findall(r"^  (\w+): (draw\w+),$", asset("page.js"), re.MULTILINE))
    root = Path(__file__).parents[2] / "src" / "orthodrome" / "report" / "pictures"
    made = set(re.findall(r'Section\(\s*"(\w+)"', "\n".join(path.read_text() for path in root.glob("*.py"))))
    assert made and made <= set(drawn)
    assert all(re.search(rf"function {name}\(", script) for name in drawn.values())


def test_texts_are_written_as_text_alone() -> None:
    script = "\n".join(asset(f"{name}.js") for name in (*SCRIPTS, "watch"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|javascript:", script)


def test_bad_draws_say_what_to_do(tmp_path: Path) -> None:
    tree = small_draws()
    tree["posterior"]["scale"][0] += 100.0  # one chain elsewhere
    health = sections(write_report(tree, tmp_path / "a.html"))["Can the draws be trusted?"]["data"]
    assert not health["ok"] and any("scale" in text for text in health["problems"])
    assert [card["good"] for card in health["cards"] if card["name"] == "R-hat"] == [False]


def test_three_draws_are_not_judged(tmp_path: Path) -> None:
    found = sections(write_report(small_draws(draws=3), tmp_path / "a.html"))
    assert found["Can the draws be trusted?"]["data"]["ok"] is None


def test_only_pages_of_ours_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "notes.html"
    path.write_text("mine")
    for place, text in ((path, "left alone"), (tmp_path, "is a folder"), (tmp_path / "no" / "a.html", "no folder")):
        with pytest.raises(BadInput, match=text):
            write_report(small_draws(4), place)
    assert path.read_text() == "mine" and sorted(tmp_path.iterdir()) == [path]
    with pytest.raises(BadInput, match="of draws, of a fitted model"):
        write_report(3, tmp_path / "b.html")


def test_packed_numbers_come_back_within_half_a_step() -> None:
    values = np.array([[0.0, -3.5, np.nan], [1e9, 2.0, np.inf]])
    for bits, kind in ((8, np.uint8), (16, np.uint16)):
        import base64

        found = packed(values, bits)
        codes = np.frombuffer(base64.b64decode(found["packed"]), kind).reshape(found["shape"])
        back = np.where(codes == 2**bits - 1, np.nan, found["low"] + found["step"] * codes)
        known = np.isfinite(values)
        assert np.all(np.isnan(back[~known])) and np.max(np.abs(back - values)[known]) <= found["step"] / 2 * 1.001
    assert packed(np.full(3, 7.0))["low"] == 7.0
    with pytest.raises(ValueError, match="codes are from"):
        packed_codes([-1])
    assert plain({"a": [np.float32("nan"), np.int64(3), True]}) == {"a": [None, 3, True]}


def test_what_a_sampler_does_not_move_is_not_traced_and_comes_last() -> None:
    tree = small_draws()
    tree.attrs["held"] = '["direction", "angle"]'
    found = traces(tree)
    assert found is not None
    traced = {one["name"].split("[")[0] for one in found.data["traces"]}
    assert traced == {"weight", "frame", "turn", "scale", "lp"}
    assert [one["name"] for one in summaries(tree).data["variables"]][-2:] == ["direction", "angle"]


def test_ranks_of_equal_chains_are_flat_and_of_a_shifted_one_are_not() -> None:
    values = np.random.default_rng(0).normal(size=(4, 500))
    flat = rank_counts(values)
    assert np.all(flat.sum(axis=1) == 500) and np.all(flat.sum(axis=0) == 100)
    values[0] += 1.0
    assert rank_counts(values)[0, -1] > 2 * flat[0].mean()


def test_a_template_in_the_data_is_left_alone() -> None:
    section = Section("facts", "{{script}}", "", {}, TableTwin("", ("{{content}}",), [["{{style}}"]])).content()
    found = PageParts(page("{{content}}", "{{policy}}", {"sections": [section]}).decode())
    assert found.content["sections"][0]["title"] == "{{script}}" and "".join(found.texts["title"]) == "{{content}}"
