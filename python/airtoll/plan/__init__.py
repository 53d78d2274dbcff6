"""The ordered, seeded list of trials to which a study expands.

Takes a study; gives cells and trials. Never measures and never reads a clock.
"""
