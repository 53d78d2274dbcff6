"""airtoll: what does Wi-Fi security cost?

Data flows one way: study -> plan -> run -> observe -> analyse -> report. Each stage is a package
whose name is a verb or a noun of that line, and whose main function has the same name:
``from airtoll.run import run``, ``from airtoll.analyse import analyse``.
"""

__version__ = "0.1.0"
