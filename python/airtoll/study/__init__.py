"""Study files: the cells to compare and their repetitions.

Takes a TOML file; gives a checked, frozen :class:`Study`, or an error that names
file, key, value and what is allowed. Never expands the grid and never runs anything.
"""

from airtoll.study.built import as_toml, built
from airtoll.study.load import (
    StudyFile,
    data_file,
    data_folder,
    load,
    parse,
    shipped,
    studies_folder,
    with_values,
)
from airtoll.study.model import (
    DEFAULT_ANSWERS,
    Compare,
    Duty,
    Edca,
    GroupLoad,
    Head,
    Load,
    Neighbours,
    PassersBy,
    Phy,
    PrintedOrder,
    Rerun,
    Scenario,
    Select,
    Station,
    Study,
    Traffic,
    Trials,
    WiredLink,
    with_level,
)
from airtoll.study.question import Level, Question, Require

__all__ = [
    "DEFAULT_ANSWERS",
    "Compare",
    "Duty",
    "Edca",
    "GroupLoad",
    "Head",
    "Level",
    "Load",
    "Neighbours",
    "PassersBy",
    "Phy",
    "PrintedOrder",
    "Question",
    "Require",
    "Rerun",
    "Scenario",
    "Select",
    "Station",
    "Study",
    "StudyFile",
    "Traffic",
    "Trials",
    "WiredLink",
    "as_toml",
    "built",
    "data_file",
    "data_folder",
    "load",
    "parse",
    "shipped",
    "studies_folder",
    "with_level",
    "with_values",
]
