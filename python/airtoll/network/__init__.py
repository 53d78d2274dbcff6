"""Networks that one has, from settings of access points and stations, scans, and captures.

Takes files; gives :class:`Network` values with their policy and what was understood. Keeps no
secret.
"""

from airtoll.network.model import Line, Network, Pmf, Role
from airtoll.network.reading import FORMATS, read

__all__ = ["FORMATS", "Line", "Network", "Pmf", "Role", "read"]
