"""Plates: drawn figures, and what becomes of them on disk and in a page.

Takes what a report wants drawn; gives SVG for the page and files for a paper. Knows nothing of
studies and runs, so that a process which only prints loads nothing but matplotlib.

    plate.py     style, marks, files, the form inside the page
    font.py      the font of the files, cut to size once
    develop.py   drawings into files, on all processors
"""

from airtoll.drawing.develop import develop
from airtoll.drawing.plate import Developed, Panel, Picture, Plate, save

__all__ = ["Developed", "Panel", "Picture", "Plate", "develop", "save"]
