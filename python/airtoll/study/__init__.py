"""Study files: what to compare and how often to repeat it.

Takes a TOML file; gives a checked, frozen :class:`Study`, or an error that names
file, key, value and what is allowed. Never expands the grid and never runs anything.
"""
