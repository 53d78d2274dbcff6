"""Heat maps: cells without data are drawn as such, the title has the baseline, numbers are readable
on a light and on a dark page.
"""

from __future__ import annotations

import re
from importlib import resources

import pytest

from airtoll.drawing.develop import develop
from airtoll.report import write_report
from airtoll.report.figures.answer import _silent, answer, tint
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.study import load

Colour = tuple[float, ...]


@pytest.fixture(scope="module")
def weak(tmp_path_factory):
    """Links down to a level at which nothing arrives, without a question about the level."""
    grid = {
        "policy": ["open", "wpa2-psk-ccmp"],
        "scenario.rate_mbps": [1, 2, 5.5, 11],
        "scenario.rssi_dbm": [-60, -80, -96, -98],
    }
    values = {"grid": grid, "question": [], "traffic.udp.duration_s": 0.2}
    values["traffic.response.duration_s"] = 0.2
    out = tmp_path_factory.mktemp("weak") / "run"
    return run("signal2006", out=out, values=values, trials=2, jobs=1).path


def test_cells_in_which_nothing_arrived_are_drawn_as_such(weak):
    summary = summarise(weak)
    silent = _silent(summary)
    at_11 = "bench/wpa2-psk-ccmp/udp?scenario.rate_mbps=11;scenario.rssi_dbm="
    assert f"{at_11}-98" in silent
    assert f"{at_11}-60" not in silent
    page = write_report([weak]).read_text("utf-8")
    (map_,) = re.findall(
        r'<figure class="picture" id="figure-answer">.*?</figure>', page, re.DOTALL
    )
    told = set(re.findall(r'data-say="([^"]*): no data arrived"', map_))
    drawn = len(re.findall(r">no data</text>", map_))
    # Each panel is there twice: for a wide page and for a phone. The baseline has no row, and is
    # silent in most of these cells, too, so that there is not even an overhead.
    secured = [cell for cell in silent if "wpa2-psk-ccmp" in cell]
    # A panel in which the policy costs nothing is left out and named.
    assert "left out: UDP, 2 Mb/s" in map_
    secured = [cell for cell in secured if "udp?scenario.rate_mbps=2;" not in cell]
    assert drawn == 2 * len(secured) > 0
    assert "WPA2-Personal, CCMP-128 (-98)" in told
    # None of them has a number: an overhead of 100 % would be no cost of the policy.
    assert not re.search(r">100</text>", map_)


def test_the_title_of_a_map_has_the_baseline_of_its_overheads(weak):
    (picture,) = answer(summarise(weak))
    assert picture.question == "Throughput overhead against Open, %"
    assert "One number per cell" in picture.caption


def test_a_study_by_level_opens_with_lines_of_its_throughput(tmp_path):
    grid = {
        "policy": ["open", "wpa2-psk-ccmp"],
        "scenario.rate_mbps": [1, 2, 5.5, 11],
        "scenario.rssi_dbm": [-60, -80, -88, -98],
    }
    asked = [load("signal2006").study.question[0].model_dump(by_alias=True, exclude_unset=True)]
    asked[0]["to"] = [{"scenario.rssi_dbm": -80}, {"scenario.rssi_dbm": -88}]
    values = {"grid": grid, "question": asked, "traffic.udp.duration_s": 0.2}
    values["traffic.response.duration_s"] = 0.2
    summary = summarise(run("signal2006", out=tmp_path / "run", values=values, trials=3).path)
    (picture,) = answer(summary)
    assert picture.question.startswith("Throughput, ")
    assert picture.caption.startswith("Lines by signal level, dBm, with 95 % intervals")
    assert len(picture.panels) == 8
    plate = picture.panels[0].draw()
    curves = [mark for mark in plate.axes.marks if getattr(mark, "label", None)]
    assert len(curves) == 2
    assert {mark.marker for mark in curves} == {"o", "s"}
    (developed,) = develop([picture])
    assert "open" in developed.in_page[0].lower()


def themes() -> dict[str, dict[str, Colour]]:
    """Ink and background of the light and of the dark page."""
    style = resources.files("airtoll.report").joinpath("pages/frame.html.j2").read_text("utf-8")
    found = re.findall(r"--(ink|back): (#[0-9a-f]{6})", style)
    inks, backs = ([_rgb(value) for name, value in found if name == one] for one in ("ink", "back"))
    return {
        theme: {"ink": ink, "back": back}
        for theme, ink, back in zip(("light", "dark"), inks, backs, strict=True)
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("below_zero", [False, True])
def test_numbers_of_a_map_have_the_contrast_of_wcag_and_steps_of_its_scale_differ(
    theme, below_zero
):
    page = themes()[theme]
    fills = []
    for step in range(6):
        tone, alpha = tint(step / 5, below_zero=below_zero)
        fills.append(_over(_rgb(tone), page["back"], alpha))
    for fill in fills:
        # WCAG 2.2, 1.4.3: text.
        assert _contrast(page["ink"], fill) >= 4.5
    # The least stands out from the page, and a fifth of the scale is more than twice what an eye
    # tells apart (2.3 of CIE 1976).
    for one, other in zip([page["back"], *fills], fills, strict=False):
        assert _distance(one, other) >= 5


def test_the_contrast_is_that_of_wcag():
    assert _contrast((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)) == pytest.approx(21)
    assert _contrast(_rgb("#767676"), _rgb("#ffffff")) == pytest.approx(4.54, abs=0.01)


def _rgb(text: str) -> Colour:
    return tuple(int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _over(front: Colour, back: Colour, alpha: float) -> Colour:
    return tuple(alpha * a + (1 - alpha) * b for a, b in zip(front, back, strict=True))


def _linear(colour: Colour) -> Colour:
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)


def _contrast(one: Colour, other: Colour) -> float:
    """Contrast ratio (WCAG 2.2, definition of relative luminance)."""
    low, high = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), _linear(colour), strict=True))
        for colour in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def _distance(one: Colour, other: Colour) -> float:
    """Colour difference of CIE 1976 (white: D65)."""
    return sum((a - b) ** 2 for a, b in zip(_lab(one), _lab(other), strict=True)) ** 0.5


def _lab(colour: Colour) -> Colour:
    red, green, blue = _linear(colour)
    ratios = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (r ** (1 / 3) if r > 0.008856 else 7.787 * r + 16 / 116 for r in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
