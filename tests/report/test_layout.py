"""Where marks, ticks, texts and legends of a figure stand."""

from __future__ import annotations

import math
import sys
from xml.etree import ElementTree

import pytest

from airtoll.drawing import Axes, Panel, Picture, develop, plate, ticks
from airtoll.drawing.layout import layout
from airtoll.drawing.lettering import fitted, width
from airtoll.drawing.plate import WIDTH, Plate, legend_below, new_plate
from airtoll.drawing.sheet import Disc, Sheet, Stroke, Words

INK = "#0072B2"


def shapes(sheet: Sheet, kind):
    return [shape for group in sheet.groups for shape in group.shapes if isinstance(shape, kind)]


@pytest.mark.parametrize(
    ("low", "high", "most", "texts"),
    [
        (0, 10, 5, ["0", "2", "4", "6", "8", "10"]),
        (0, 1, 4, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        (-0.31, 0.2, 3, ["\N{MINUS SIGN}0.2", "0.0", "0.2"]),
        (1000, 5000, 4, ["1000", "2000", "3000", "4000", "5000"]),
        # One tick would give no scale.
        (-18.0, 18.9, 3, ["\N{MINUS SIGN}10", "0", "10"]),
        (0.0012, 0.0018, 3, ["0.0012", "0.0014", "0.0016", "0.0018"]),
    ],
)
def test_ticks_are_round_and_tell_neighbours_apart(low, high, most, texts):
    assert [text for _, text in ticks.linear(low, high, most)] == texts


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (0.5, 40), (3, 8), (1e-6, 1e6)])
def test_ticks_of_ratios_lie_inside_and_are_few(low, high):
    found = [value for value, _ in ticks.logarithmic(low, high, 6)]
    assert 1 <= len(found) <= 7
    assert all(low <= value <= high for value in found)


def test_a_point_is_at_its_share_of_the_axes():
    axes = Axes()
    axes.plot([0, 10, 5], [0, 4, 1], "o", ms=2)
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 4)
    low, high, middle = shapes(layout(axes, "", 300, 200), Disc)
    assert middle.x == pytest.approx((low.x + high.x) / 2)
    assert middle.y == pytest.approx(low.y + (high.y - low.y) / 4)
    assert high.y < low.y


def test_an_interval_that_the_axis_cuts_ends_in_an_arrow():
    axes = Axes()
    axes.plot([-5, 20], [1, 1], "|-", ms=4)
    axes.plot([-1, 1], [2, 2], "|-", ms=4)
    axes.set_xlim(-10, 10)
    axes.set_ylim(0, 3)
    heads = [
        s for s in shapes(layout(axes, "", 300, 200), Stroke) if s.closed and len(s.points) == 3
    ]
    (head,) = heads
    tip = head.points[1]
    assert tip[0] == max(x for x, _ in head.points), "it points outward"


def test_an_axis_has_room_for_intervals_but_not_for_an_outlier():
    few = plate.reach_of([2.9, 0.9, 1.7], [17.6, 3.5, 3.8])
    assert few == 17.6
    assert plate.reach_of([1.0], [50.0]) == 8.0
    assert plate.reach_of([1.0] * 9, [1.2] * 9 + [7.0]) < 1.4
    assert plate.reach_of([1.0], [-1.0]) == 0.0


def test_equal_ratios_are_equal_steps():
    axes = Axes()
    axes.plot([1, 10, 100], [1, 10, 100], "o", ms=2)
    axes.set_log()
    one, ten, hundred = shapes(layout(axes, "", 300, 200), Disc)
    assert ten.x - one.x == pytest.approx(hundred.x - ten.x)
    assert ten.y - one.y == pytest.approx(hundred.y - ten.y)


def test_lines_and_bars_end_at_the_axes():
    axes = Axes()
    axes.plot([-10, 20], [0, 2], color=INK)
    axes.plot([50, 60], [0, 1], color=INK)
    bar = axes.barh(1, 30, 0.5, color="#E69F00")
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 2)
    sheet = layout(axes, "", 300, 200)
    (line,) = [s for s in shapes(sheet, Stroke) if s.stroke == INK]
    (box,) = [s for s in shapes(sheet, Stroke) if s.fill == bar.color]
    assert line.points[0][0] == pytest.approx(min(x for x, _ in box.points))
    assert line.points[1][0] == pytest.approx(max(x for x, _ in box.points))
    heights = [y for _, y in line.points]
    # Cut at x = 0 and x = 10 of a line from (-10, 0) to (20, 2): y = 2/3 and 4/3.
    assert heights[0] - heights[1] == pytest.approx((2 / 3) / 2 * _tall(sheet), abs=0.01)


def _tall(sheet: Sheet) -> float:
    corner = next(s for s in shapes(sheet, Stroke) if len(s.points) == 3)
    return corner.points[1][1] - corner.points[0][1]


def test_a_value_that_is_not_finite_is_not_drawn():
    axes = Axes()
    axes.plot([0, math.nan, 2, 3], [0, 1, math.inf, 1], "-o", color=INK)
    sheet = layout(axes, "", 300, 200)
    assert len(shapes(sheet, Disc)) == 2
    assert [s for s in shapes(sheet, Stroke) if s.stroke == INK] == []


@pytest.mark.parametrize("inches", [4.3, 8.8])
def test_texts_stay_on_the_sheet(inches):
    axes = Axes()
    for place, name in enumerate(("short", "a policy with a long name, a cipher\nand a tunnel")):
        axes.barh(place, 7.0 * (place + 1), 0.5, color=INK, label=f"{name.splitlines()[0]} {place}")
        axes.annotate("12.3456 %", (7.0 * (place + 1), place), xytext=(4, 0), va="center")
    axes.set_yticks([0, 1], ["short", "a policy with a long name\nand a tunnel"])
    axes.set_xlabel("throughput against the mean of the cell, %")
    axes.legend_columns = 3
    sheet = layout(axes, "title", 72 * inches, 150)
    for words in shapes(sheet, Words):
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[words.anchor]
        start = words.x - before * width(words.text, words.size)
        assert start >= 0, words
        assert start + width(words.text, words.size) <= sheet.width, words
        assert words.size / 2 < words.y <= sheet.height, words


def test_a_long_legend_makes_the_sheet_taller_and_not_the_data_smaller():
    def sheet(count: int) -> Sheet:
        axes = Axes()
        for n in range(count):
            axes.plot([0, 1], [0, n], color=INK, label=f"series {n}")
        axes.legend_columns = 1
        return layout(axes, "", 300, 200)

    assert _tall(sheet(8)) == pytest.approx(_tall(sheet(1)))
    assert sheet(8).height > sheet(1).height + 60


def test_text_is_broken_where_it_must():
    assert fitted("a b", 8, 100) == "a b"
    lines = fitted("one two three four", 8, width("three four", 8)).splitlines()
    assert " ".join(lines) == "one two three four"
    assert max(width(line, 8) for line in lines) <= width("three four", 8)


def _picture() -> Picture:
    def draw() -> Plate:
        drawn, axes = new_plate(2.0, "<title> & more")
        drawn.say(axes.plot([0, 1], [0, 1], "-o", label="a < b"), 'says "1 < 2"')
        legend_below(drawn)
        return drawn

    return Picture("p", "costs", "Why?", "Because.", (Panel("p", draw),))


def test_without_matplotlib_there_is_svg_and_the_command_for_the_rest(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(plate, "available", lambda: False)
    assert plate.forms_here() == ("svg",)
    assert "pip install 'airtoll[print]'" in plate.forms_in_words(["p.svg"])
    (developed,) = develop([_picture()], plate.forms_here())
    assert list(developed.files) == ["p.svg"]
    ElementTree.fromstring(developed.files["p.svg"])
    ElementTree.fromstring(developed.in_page[0])
    assert 'data-say="says &quot;1 &lt; 2&quot;"' in developed.in_page[0]


def test_print_has_the_size_of_the_page():
    (developed,) = develop([_picture()], ("svg", "png", "pdf"))
    root = ElementTree.fromstring(developed.files["p.svg"])
    wide, high = (float(root.get(name).removesuffix("pt")) for name in ("width", "height"))
    png = developed.files["p.png"]
    size = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    assert size == (round(wide * 160 / 72), int(high * 160 / 72))
    assert f"/MediaBox [ 0 0 {72 * WIDTH:g}".encode() in developed.files["p.pdf"]
