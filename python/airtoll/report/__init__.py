"""Reports and figures made from an analysed run.

Takes a run folder; gives HTML, figures and tables. Never measures anything.
"""
