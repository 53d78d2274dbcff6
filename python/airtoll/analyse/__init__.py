"""Estimates, intervals, overheads, comparisons, audits and advice.

Takes observations; gives estimates (value, interval, level, n, method) and findings.
Never reads a file, never draws ambient randomness and never runs a trial.
"""
