"""Reports and figures made from an analysed run.

Takes a run folder; gives HTML, figures and tables. Never measures anything.
"""

from airtoll.report.write import FORMATS, write_report

__all__ = ["FORMATS", "write_report"]
