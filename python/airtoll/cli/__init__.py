"""The command line: data to stdout, everything else to stderr.

Takes arguments; gives exit codes and text. Never holds logic that the API lacks.
"""
