"""Runs a plan on a testbed, saves every trial, and resumes an interrupted run.

Takes a plan and a testbed; gives a run folder. Never loses a finished trial.
"""

from airtoll.called import call_as
from airtoll.run.api import MOST_JOBS, CellCheck, Run, check, open_run, prepare, run, same_run

__all__ = ["MOST_JOBS", "CellCheck", "Run", "check", "open_run", "prepare", "run", "same_run"]

call_as(__name__, run)
