"""Estimates, intervals, overheads, comparisons, audits and advice.

Takes observations; gives estimates (value, interval, level, n, method) and findings.
Never reads a file, never draws ambient randomness and never runs a trial.
"""

from airtoll.analyse.analysis import Analysis, analyse
from airtoll.analyse.estimate import Estimate
from airtoll.analyse.published import Comparison, compare
from airtoll.called import call_as

__all__ = ["Analysis", "Comparison", "Estimate", "analyse", "compare"]

call_as(__name__, analyse)
