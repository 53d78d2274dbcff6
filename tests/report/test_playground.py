"""The playground in a real browser: every lesson draws, its controls act, frames can be stepped."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe

from airtoll import _native
from airtoll.report import browser as in_pages
from airtoll.report.playground import LESSONS
from airtoll.run.lessons import lessons

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(in_pages.module() is None, reason=in_pages.NOT_BUILT),
]


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory):
    place = tmp_path_factory.mktemp("playground")
    subprocess.run([sys.executable, "-m", "airtoll.cli", "playground"], cwd=place, check=True)
    opened = browser.new_page(viewport={"width": 1000, "height": 900})
    problems: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto((place / "playground.html").as_uri())
    opened.wait_for_function("window.airtoll !== undefined")
    yield opened
    assert problems == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests)
    opened.close()


def caption(tab, lesson: str) -> str:
    """The caption once the lesson is drawn: it is computed in a worker."""
    tab.wait_for_function(
        "(id) => !document.getElementById(id).dataset.busy", arg=lesson, timeout=120_000
    )
    return tab.locator(f"#{lesson} figcaption").inner_text()


def test_every_lesson_draws_a_figure_and_reads_on_a_phone(tab):
    for lesson in LESSONS:
        assert re.search(r"\d", caption(tab, lesson)), lesson
        assert tab.locator(f"#{lesson} figure svg").count() == 1
    tab.set_viewport_size({"width": 390, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.set_viewport_size({"width": 1000, "height": 900})
    found = Axe().run(tab).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []


def test_text_of_figures_is_large_enough_on_a_phone_and_ticks_are_round(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    for lesson in LESSONS:
        caption(tab, lesson)
        sizes = tab.locator(f"#{lesson} figure svg text").evaluate_all(
            "(all) => all.map((text) => text.getAttribute('font-size') * text.getScreenCTM().a)"
        )
        assert min(sizes) >= 12, lesson
        cut = tab.locator(f"#{lesson} figure svg").evaluate(_CUT)
        assert cut == [], lesson
    for lesson in ("payload", "symbols", "contention"):
        texts = tab.locator(f'#{lesson} figure svg text[text-anchor="end"]').all_text_contents()
        values = [float(text) for text in texts]
        steps = {round(b - a, 6) for a, b in itertools.pairwise(values)}
        assert len(steps) == 1, (lesson, values)
        assert f"{steps.pop():e}"[0] in "125", (lesson, values)
        # Curves and their legend have markers; each marker of a curve has an interval around it.
        markers = tab.locator(f"#{lesson} figure svg [data-marker]").count()
        assert markers >= 10
        intervals = tab.locator(f"#{lesson} figure svg [data-interval]")
        assert intervals.count() == markers - 2
        heights = intervals.evaluate_all("(all) => all.map((one) => one.getBBox().height)")
        assert max(heights) > 1, lesson
        assert "mean of 5 trials with the 95 % interval" in caption(tab, lesson)
    tab.set_viewport_size({"width": 1000, "height": 900})


#: Texts that end outside of their figure.
_CUT = """(svg) => [...svg.querySelectorAll("text")].filter((text) => {
  const { x, width } = text.getBBox();
  return x < 0 || x + width > svg.viewBox.baseVal.width;
}).map((text) => text.textContent)"""


@pytest.mark.parametrize("rate", ["0", "7"])
def test_no_label_ends_outside_of_its_figure(tab, rate):
    tab.locator('#slow [name="slow"]').select_option(rate)
    for lesson in LESSONS:
        caption(tab, lesson)
        cut = tab.locator(f"#{lesson} figure svg").evaluate(_CUT)
        assert cut == [], lesson


@pytest.mark.parametrize(("options", "count"), [((), len(LESSONS)), (("--no-answers",), 0)])
def test_answers_can_be_left_out(airtoll, tmp_path, options, count):
    assert airtoll("playground", *options, cwd=tmp_path).returncode == 0
    page = (tmp_path / "playground.html").read_text("utf-8")
    assert page.count("<summary>What to notice</summary>") == count


@pytest.mark.parametrize(
    ("lesson", "control"),
    [("payload", "rate"), ("symbols", "rate"), ("slow", "slow"), ("handover", "handover")],
)
def test_a_choice_changes_the_numbers(tab, lesson, control):
    before = caption(tab, lesson)
    tab.locator(f'#{lesson} [name="{control}"]').select_option("0")
    first = caption(tab, lesson)
    tab.locator(f'#{lesson} [name="{control}"]').select_option("3")
    assert len({before, first, caption(tab, lesson)}) >= 2


@pytest.mark.parametrize("lesson", ["contention", "ciphers"])
def test_a_slider_changes_the_numbers(tab, lesson):
    before = caption(tab, lesson)
    tab.locator(f'#{lesson} [name="payload"]').evaluate(
        "(s) => { s.value = 300; s.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    assert caption(tab, lesson) != before


def test_a_hand_over_is_stepped_and_its_gap_is_the_native_module_s(tab):
    tab.locator('#handover [name="handover"]').select_option("0")
    first = caption(tab, "handover")
    tab.locator('#handover [data-step="1"]').click()
    second = caption(tab, "handover")
    assert second != first
    tab.locator('#handover [data-step="-1"]').click()
    assert caption(tab, "handover") == first
    rows = _native.Scenario(lessons().handovers[0][1]).simulate([1])
    (gap,) = (
        value
        for metric, value in zip(rows["metric"], rows["value"], strict=True)
        if metric == "handover_gap_s"
    )
    assert f"Gap of the call: {1000 * gap:.2f} ms" in first
    kinds = []
    steps = int(tab.locator('#handover [name="frame"]').get_attribute("max"))
    for _ in range(steps + 1):
        kinds.append(caption(tab, "handover"))
        tab.locator('#handover [data-step="1"]').click()
    assert sum("association request from phone to ap-2" in text for text in kinds) == 1


def test_a_slider_moves_while_the_page_computes(tab):
    caption(tab, "contention")
    assert len(tab.workers) == 1
    ticks, shown = tab.evaluate(
        """async () => {
          let ticks = 0;
          const clock = setInterval(() => { ticks += 1; }, 5);
          const lesson = document.getElementById("contention");
          const slider = lesson.querySelector('[name="payload"]');
          for (const value of [200, 300, 400]) {
            slider.value = value;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((go) => setTimeout(go, 20));
          }
          while (lesson.dataset.busy) await new Promise((go) => setTimeout(go, 5));
          clearInterval(clock);
          return [ticks, lesson.querySelector("output").textContent];
        }"""
    )
    assert ticks > 10
    assert shown == "400"
    last = caption(tab, "contention")
    # The answer is that of the last place of the slider, whatever was computed for the others.
    tab.locator('#contention [name="payload"]').evaluate(
        "(s) => s.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    assert caption(tab, "contention") == last
