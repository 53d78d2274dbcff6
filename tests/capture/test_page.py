"""The capture page in a real browser: no console error, pictures visible, fits a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from airtoll.capture import capture_report, page

CORPUS = Path(__file__).parent / "corpus" / "linux"
pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_reads_well(browser, tmp_path, width, scheme):
    folder = CORPUS / "wpa2-eap-tls-ccmp"
    files = [folder / "air.pcap", folder / "wire.pcap"]
    report = capture_report(files, key_logs=[folder / "keys.json"])
    file = tmp_path / "page.html"
    file.write_text(page(report))
    tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    problems: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(file.as_uri())
    assert problems == []
    assert all(url.startswith("file:") for url in requests)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    sizes = tab.locator("small").evaluate_all(
        "(all) => all.map((text) => parseFloat(getComputedStyle(text).fontSize))"
    )
    assert min(sizes) >= 12
    for name in ("#airtime .whole", "#airtime .course", ".waterfall ol"):
        box = tab.locator(name).first.bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 30
    rows = tab.locator(".waterfall").first.locator("li")
    phases = report.sessions[0]["steps"]["phase"]
    assert rows.count() == sum(phase not in ("rekey", "end") for phase in phases)
    marks = tab.locator(".waterfall").first.locator(".track b")
    lefts = [marks.nth(index).bounding_box()["x"] for index in range(rows.count())]
    assert lefts == sorted(lefts)
    assert lefts[-1] - lefts[0] > 80
    ticks = tab.locator(".waterfall .scale").first.locator("span")
    assert ticks.first.inner_text() == "0 ms"
    assert 2 <= ticks.count() <= 5
    found = Axe().run(tab).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    tab.close()
