"""airtoll: what does Wi-Fi security cost?

Data flows one way: study -> plan -> run -> observe -> analyse -> report.
"""

__version__ = "0.1.0"
