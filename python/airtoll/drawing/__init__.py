"""Plates: drawn figures, and what becomes of them on disk and in a page.

Takes what a report wants drawn; gives SVG for the page and files for a paper. Knows nothing of
studies and runs. Only ``printing`` needs matplotlib (``airtoll[print]``).

    plate.py      panels, pictures, their files
    axes.py       marks of one panel as plain data
    ticks.py      round values on axes
    lettering.py  widths of texts
    layout.py     from axes to shapes on a sheet
    sheet.py      the shapes
    svg.py        a sheet as SVG, in a file or in a page
    printing.py   a sheet as PNG or PDF
    develop.py    panels into files, on all processors
"""

from airtoll.drawing.axes import Axes
from airtoll.drawing.develop import develop
from airtoll.drawing.plate import (
    Developed,
    Panel,
    Picture,
    Plate,
    forms_here,
    forms_in_words,
    save,
)

__all__ = [
    "Axes",
    "Developed",
    "Panel",
    "Picture",
    "Plate",
    "develop",
    "forms_here",
    "forms_in_words",
    "save",
]
