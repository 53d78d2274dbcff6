"""The report in a real browser: no console error, figures visible, nothing wider than a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from airtoll.report import write_report
from airtoll.run import run

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 768, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report_reads_well(browser, small_study, ledger, tmp_path, width, scheme):
    result = run(small_study(), testbed=ledger(), out=tmp_path / "run", jobs=1)
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    problems: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(write_report([result.path]).as_uri())
    assert problems == []
    assert all(url.startswith("file:") for url in requests)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    # A figure may have one drawing for phones and one for wider screens.
    plates = [plate for plate in page.query_selector_all("figure svg") if plate.is_visible()]
    assert len(plates) >= 8
    for plate in plates:
        box = plate.bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 80
    said = page.locator(".answer p").all_inner_texts()
    assert any("throughput falls by" in line for line in said), said
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    page.close()


def test_marks_say_their_numbers(browser, small_study, ledger, tmp_path):
    result = run(small_study(), testbed=ledger(), out=tmp_path / "run", jobs=1)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(write_report([result.path]).as_uri())
    assert page.locator("#say").is_hidden()
    page.locator("#figure-overhead .mark").first.hover()
    assert page.locator("#say").is_visible()
    assert "WPA2-Personal, CCMP-128, udp: overhead" in page.locator("#say").inner_text()
    page.close()
