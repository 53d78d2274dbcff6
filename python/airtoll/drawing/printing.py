"""A sheet as PNG or PDF, by matplotlib (``airtoll[print]``).

Takes a laid out sheet; gives the octets of a file. Matplotlib paints shapes where the layout has
put them and decides nothing, so that a figure for print is the figure of the page.
"""

from __future__ import annotations

import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from airtoll.drawing.sheet import Disc, Shape, Sheet, Stroke

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Forms that need matplotlib.
FORMS: Final = ("png", "pdf")
_STYLE: Any = {"font.family": "DejaVu Sans", "pdf.fonttype": 42, "path.simplify": False}
_DPI: Final = 160
_METADATA: Final[dict[str, dict[str, str | None]]] = {
    "png": {"Software": "airtoll"},
    "pdf": {"CreationDate": None, "Creator": "airtoll"},
}
#: Latin with its accents, Greek, punctuation, superscripts, letterlike signs, arrows, operators,
#: geometric shapes. Whatever is not among them comes from the whole font.
_BLOCKS: Final = ((0x20, 0x250), (0x370, 0x400), (0x2000, 0x2400), (0x25A0, 0x2600))


def available() -> bool:
    """Whether this installation can print."""
    return find_spec("matplotlib") is not None


def printed(sheet: Sheet, forms: tuple[str, ...]) -> dict[str, bytes]:
    """The sheet in each of ``forms``; matplotlib must be there."""
    import matplotlib as mpl

    mpl.use("agg")
    _cut_font()
    with mpl.rc_context(_STYLE):
        figure = _figure(sheet)
        found = {}
        for form in forms:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=form, dpi=_DPI, metadata=_METADATA[form])
            found[form] = buffer.getvalue()
    return found


def _figure(sheet: Sheet) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Affine2D

    figure = Figure(figsize=(sheet.width / 72, sheet.height / 72))
    place = Affine2D().scale(1 / sheet.width, -1 / sheet.height).translate(0, 1) + (
        figure.transFigure
    )
    for group in sheet.groups:
        for shape in group.shapes:
            figure.add_artist(_artist(shape, place))
    return figure


def _artist(shape: Shape, place: Any) -> Any:
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path
    from matplotlib.text import Text

    if isinstance(shape, Stroke):
        points = [*shape.points, shape.points[0]] if shape.closed else list(shape.points)
        dash = (0, shape.dash) if shape.dash else "-"
        return PathPatch(
            Path(points, closed=shape.closed), facecolor=shape.fill, edgecolor=shape.stroke,
            linewidth=shape.width if shape.stroke != "none" else 0, linestyle=dash,
            alpha=shape.alpha, transform=place, capstyle="butt",
        )  # fmt: skip
    if isinstance(shape, Disc):
        return Circle(
            (shape.x, shape.y), shape.radius, facecolor=shape.fill, edgecolor=shape.stroke,
            linewidth=shape.width, alpha=shape.alpha, transform=place,
        )  # fmt: skip
    return Text(
        shape.x, shape.y, shape.text, fontsize=shape.size, transform=place,
        ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor], va="baseline",
        rotation=90 if shape.upward else 0, rotation_mode="anchor", parse_math=False,
    )  # fmt: skip


@cache
def _cut_font() -> TemporaryDirectory[str]:
    """Let this process print with a cut font; the folder that holds it goes with the process.

    Every PDF holds a font cut to its characters: cut from this one it need not be cut from the
    whole font each time.
    """
    from fontTools import subset
    from matplotlib.font_manager import FontProperties, fontManager

    folder = TemporaryDirectory(prefix="airtoll-font-")
    whole = fontManager.findfont(FontProperties(family="DejaVu Sans"))
    options = subset.Options(
        glyph_names=True, layout_features=[], legacy_kern=True, name_IDs=["*"], notdef_outline=True
    )
    options.drop_tables += ["FFTM"]
    font = subset.load_font(whole, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for block in _BLOCKS for code in range(*block)])
    cutter.subset(font)
    path = File(folder.name) / File(whole).name
    subset.save_font(font, str(path), options)
    fontManager.addfont(path)
    # Of equals the first is taken; the whole font stays behind it as the fallback.
    fontManager.ttflist.insert(0, fontManager.ttflist.pop())
    return folder
