"""The report in a real browser: clicks, search, rotation, keyboard, themes, a phone's width, and no request leaves.

Run by `make browser`, not by `make test`: Chromium and chromedriver of the operating system drive the pages. The
screenshots go to the folder ORTHODROME_SHOTS, if it is set, to be looked at.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from browser.driver import KEYS, Browser
from browser.looks import shoot, violations
from orthodrome.report import write_report
from orthodrome.report.pictures.topics import topics
from support.small_draws import HOSTILE, small_draws
from support.topic_tables import tables

TOPICS, WORDS, DOCUMENTS = 100, 8000, 3000


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    draws = small_draws(400)
    explorer = topics(tables(TOPICS, WORDS, DOCUMENTS))
    return {
        "draws": write_report(draws, folder / "draws.html", title=HOSTILE[1]),
        "topics": write_report(draws, folder / "topics.html", sections=[explorer], title="A hundred topics"),
    }


def painted(browser: Browser, selector: str) -> int:
    """How many colours a canvas shows."""
    script = """const c = document.querySelector(arguments[0]);
        const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
        return new Set(d).size"""
    return int(browser.run(script, selector))


def test_the_explorer_opens_at_once_and_follows_clicks(browser: Browser, pages: dict[str, Path]) -> None:
    assert pages["topics"].stat().st_size <= 3_000_000
    browser.open(pages["topics"])
    ready = browser.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    print(f"interactive after {ready:.0f} ms, of which the page's thread worked {browser.worked():.0f} ms")
    assert browser.run("return document.querySelectorAll('.topic-list button').length") == TOPICS
    assert painted(browser, ".map canvas") > 20
    shoot(browser, "topics-desktop")
    browser.click(".topic-list li:nth-child(3) button")
    browser.wait("document.querySelector('.topic-list li:nth-child(3) button').getAttribute('aria-pressed') === 'true'")
    number = browser.run("return document.querySelector('.topic-list li:nth-child(3) button').dataset.topic")
    assert browser.run("return document.querySelector('.panel h3').textContent") == f"Topic {number}"
    browser.click(".panel .documents .link")
    browser.wait("location.hash.startsWith('#document=')")
    browser.click(".panel .intervals button.name")
    browser.wait("location.hash.startsWith('#topic=')")
    shoot(browser, "topics-chosen")


def test_search_by_keyboard_alone(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["topics"])
    browser.run("document.querySelector('input[type=search]').focus()")
    browser.keys("word123")
    browser.wait("document.querySelectorAll('.found [role=option]').length > 1")
    shoot(browser, "topics-search")
    browser.keys(KEYS["Enter"])
    browser.wait("document.querySelector('.panel h3').textContent === 'The word word123'")
    browser.run("document.querySelector('input[type=search]').select()")
    browser.keys("<img")
    browser.wait("document.querySelector('.found [role=option] bdi')?.textContent.startsWith('<img')")
    browser.keys(KEYS["Enter"])
    browser.wait("document.querySelector('.panel h3').textContent.includes('<img src=x')")
    assert browser.run("return document.images.length") == 0


def test_everything_is_reached_by_the_tab_key(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["draws"])
    browser.run("document.body.focus()")
    seen = set()
    for _ in range(60):
        browser.keys(KEYS["Tab"])
        seen.add(browser.run("const a = document.activeElement; return a.tagName + (a.type || '')"))
    assert {"A", "BUTTONbutton", "CANVAS", "SELECTselect-one", "SUMMARY", "INPUTcheckbox"} <= seen


def test_the_globe_turns(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["draws"])
    globe = "[data-kind=sphere] canvas"
    look = f"return document.querySelector('{globe}').toDataURL()"
    browser.wait(f"document.querySelector('{globe}').width > 100")
    first = browser.run(look)
    browser.drag(globe, 80, 30)
    second = browser.run(look)
    browser.run(f"document.querySelector('{globe}').focus()")
    browser.keys(KEYS["Right"])
    third = browser.run(look)
    browser.click("[data-kind=sphere] .tools input")
    fourth = browser.run(look)
    assert len({first, second, third, fourth}) == 4
    turn = np.array(browser.run(f"return document.querySelector('{globe}').dataset.turn.split(' ').map(Number)"))
    assert np.allclose(turn.reshape(3, 3) @ turn.reshape(3, 3).T, np.eye(3), atol=1e-3)


@pytest.mark.parametrize("name", ["draws", "topics"])
def test_a_phone_has_no_sideways_scrolling_and_the_dark_theme_is_dark(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.size(375, 812, phone=True)
    browser.dark(True)
    browser.open(pages[name])
    assert browser.run("return document.documentElement.scrollWidth") <= 375
    paper = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert max(browser.run(paper)) < 60
    shoot(browser, f"{name}-phone-dark")
    browser.click("#theme")
    assert min(browser.run(paper)) > 200


@pytest.mark.parametrize("width", [375, 1280])
def test_intervals_of_a_list_have_one_scale(browser: Browser, pages: dict[str, Path], width: int) -> None:
    browser.size(width, 900)
    widths = """return [...document.querySelectorAll('.intervals')].map((list) => {
        list.querySelector('.value').textContent = '-0.0000001234 (-0.0000005678 to -0.0000000012)';
        return new Set([...list.querySelectorAll('.track')].map((one) => Math.round(one.clientWidth))).size })"""
    shares = """return [...document.querySelectorAll('[data-kind=variables], [data-kind=intervals]')].map((one) =>
        one.querySelector('.intervals').clientWidth / one.clientWidth)"""
    for page in pages.values():
        browser.open(page)
        wide, found = browser.run(shares), browser.run(widths)
        assert found and set(found) == {1}
        assert wide and min(wide) > 0.9  # a list in a narrower one had no room for its lines


def test_every_axis_has_two_numbers_at_least(browser: Browser, pages: dict[str, Path]) -> None:
    """One alone gives no scale; every traced number is chosen in turn."""
    lines = """const select = document.querySelector('#traces select, .traces select') ||
      [...document.querySelectorAll('select')].find((one) => one.textContent.includes('lp'));
      const counts = () => [...document.querySelectorAll('svg g.axis')].map((g) => g.querySelectorAll('line').length);
      return [...select.options].flatMap((option) => {
        select.value = option.value; select.dispatchEvent(new Event('change')); return counts(); });"""
    browser.open(pages["draws"])
    found = browser.run(lines)
    assert len(found) > 10 and min(found) >= 2


def test_every_picture_has_its_table_and_every_image_its_name(browser: Browser, pages: dict[str, Path]) -> None:
    for name in pages:
        browser.open(pages[name])
        browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        browser.wait("[...document.querySelectorAll('details.twin')].every((one) => one.querySelector('tbody tr'))")
        unnamed = "[role=img]:not([aria-label]), [role=img][aria-label=''], canvas:not([aria-label])"
        assert browser.run(f'return document.querySelectorAll("{unnamed}").length') == 0
        assert browser.run("return document.querySelectorAll('section h2').length") >= 4


def test_axe_finds_nothing(browser: Browser, pages: dict[str, Path]) -> None:
    for name, dark in ((name, dark) for name in pages for dark in (False, True)):
        browser.dark(dark)
        browser.open(pages[name])
        browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert violations(browser) == [], f"{name}, dark: {dark}"
