"""A sheet as SVG: a file that stands alone, or an element that takes the page's ink and font."""

from __future__ import annotations

from html import escape
from typing import Final

from airtoll.drawing.axes import INK
from airtoll.drawing.sheet import Disc, Group, Shape, Sheet, Stroke, Words

#: Fonts of a file that stands alone, in the order of choice.
_FONTS: Final = "DejaVu Sans, Verdana, Arial, sans-serif"


def file(sheet: Sheet) -> str:
    """An SVG document without a date: equal sheets give equal octets."""
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(sheet.width)}pt" '
        f'height="{_n(sheet.height)}pt" viewBox="0 0 {_n(sheet.width)} {_n(sheet.height)}" '
        f'font-family="{_FONTS}" fill="{INK}">\n'
    )
    groups = [_titled(group) for group in sheet.groups]
    return head + "\n".join(groups) + "\n</svg>\n"


def element(sheet: Sheet) -> str:
    """An element of a page: colours by the page's variables, texts of marks in ``data-say``."""
    head = (
        f'<svg aria-hidden="true" focusable="false" viewBox="0 0 {_n(sheet.width)} '
        f'{_n(sheet.height)}">\n'
    )
    body = "\n".join(_said(group) for group in sheet.groups)
    return head + body.replace(INK, "var(--ink)") + "\n</svg>"


def _titled(group: Group) -> str:
    shapes = "".join(map(_shape, group.shapes))
    if group.say is None:
        return shapes
    return f"<g><title>{escape(group.say)}</title>{shapes}</g>"


def _said(group: Group) -> str:
    shapes = "".join(map(_shape, group.shapes))
    if group.say is None:
        return shapes
    return f'<g class="mark" data-say="{escape(group.say, quote=True)}">{shapes}</g>'


def _shape(shape: Shape) -> str:
    match shape:
        case Stroke():
            return _stroke(shape)
        case Disc():
            return (
                f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'
                f"{_paint(shape.fill, shape.stroke, shape.width, shape.alpha)}/>"
            )
        case Words():
            return _words(shape)


def _stroke(shape: Stroke) -> str:
    first, *rest = shape.points
    path = f"M{_n(first[0])} {_n(first[1])}" + "".join(f"L{_n(x)} {_n(y)}" for x, y in rest)
    dash = f' stroke-dasharray="{_n(shape.dash[0])} {_n(shape.dash[1])}"' if shape.dash else ""
    end = "Z" if shape.closed else ""
    return (
        f'<path d="{path}{end}"{_paint(shape.fill, shape.stroke, shape.width, shape.alpha)}{dash}/>'
    )


def _words(words: Words) -> str:
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    at = f'x="{_n(words.x)}" y="{_n(words.y)}"'
    turn = f' transform="rotate(-90 {_n(words.x)} {_n(words.y)})"' if words.upward else ""
    return f'<text {at} font-size="{_n(words.size)}"{anchor}{turn}>{escape(words.text)}</text>'


def _paint(fill: str, stroke: str, width: float, alpha: float) -> str:
    text = f' fill="{fill}"'
    if stroke != "none":
        text += f' stroke="{stroke}" stroke-width="{_n(width)}"'
    return text + (f' opacity="{_n(alpha)}"' if alpha < 1 else "")


def _n(value: float) -> str:
    """A coordinate: to the hundredth of a point."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
