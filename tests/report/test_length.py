"""Pages of whole studies in a browser: their length, nothing clipped, the answer on top."""

from __future__ import annotations

import pytest

from airtoll.report import write_report
from airtoll.run import run

pytestmark = pytest.mark.browser

#: Text of a drawing that leaves its drawing, and boxes that leave the page without a scroll bar.
OUTSIDE = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("figure svg")) {
    const box = svg.getBoundingClientRect();
    if (!box.width) continue;
    for (const text of svg.querySelectorAll("text")) {
      const own = text.getBoundingClientRect();
      if (own.left < box.left - 2 || own.right > box.right + 2 || own.top < box.top - 2
          || own.bottom > box.bottom + 2) found.push(text.textContent);
    }
  }
  return found;
}"""


#: Boxes that are wider than their frame, without a scroll bar or without the hint below them.
CLIPPED = """() => [...document.querySelectorAll("main *")].filter((box) => {
  const style = getComputedStyle(box);
  if (!box.clientWidth || style.overflowX === "visible" || box.scrollWidth <= box.clientWidth + 1)
    return false;
  if (style.overflowX === "hidden") return true;
  return box.tagName !== "PRE" && !(box.nextElementSibling
    && box.nextElementSibling.classList.contains("hint")
    && box.nextElementSibling.classList.contains("shown"));
}).map((box) => box.tagName + "." + box.className)"""

#: Text as people see it, without code.
TEXT = """() => { const copy = document.querySelector("main").cloneNode(true);
  copy.querySelectorAll("code, pre").forEach((part) => part.remove()); return copy.textContent; }"""


@pytest.fixture(scope="module", params=["quickstart", "tripathi2008", "reauthentication-storm",
                                        "roaming2026"])  # fmt: skip
def page(request, everything, tmp_path_factory):
    place = tmp_path_factory.mktemp("length") / request.param
    result = run(request.param, testbed=everything(), out=place, trials=3, jobs=1)
    return request.param, write_report([result.path])


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_a_page_is_short_and_nothing_is_clipped(browser, page, width):
    name, path = page
    tab = browser.new_page(viewport={"width": width, "height": 800})
    tab.goto(path.as_uri())
    height = tab.evaluate("document.documentElement.scrollHeight")
    if width == 1280:
        assert height < (3000 if name == "quickstart" else 8000)
        # Question and answer are on the first screen, and there begins the figure, or the paper's
        # table.
        assert tab.locator("h1").bounding_box()["y"] < 200
        assert tab.locator(".answer p").first.bounding_box()["y"] < 400
        assert tab.locator("figure, main table").first.bounding_box()["y"] < 800
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(OUTSIDE) == []
    tab.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(OUTSIDE) == []
    assert tab.evaluate(CLIPPED) == []
    assert "`" not in tab.evaluate(TEXT)
    tab.close()


def test_a_link_opens_its_section(browser, page):
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(page[1].as_uri())
    tab.locator("nav a", has_text="Method").click()
    assert tab.locator("#method > details").evaluate("(fold) => fold.open")
    tab.close()


def test_nothing_is_wider_than_the_paper(browser, page):
    tab = browser.new_page(viewport={"width": 720, "height": 1000})
    tab.goto(page[1].as_uri())
    tab.emulate_media(media="print")
    wide = tab.evaluate(
        "[...document.querySelectorAll('table, figure svg, pre')].filter((part) => "
        "part.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wide == 0
    tab.close()
