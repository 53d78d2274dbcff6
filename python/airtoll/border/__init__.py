"""The border to the native module: typed values for everything that crosses it.

The classes of ``requests`` are re-exported here: ``border.Scenario`` and its parts are built in
Python and sent as canonical JSON (:func:`to_json`). ``airtoll.border.answers`` has typed
dictionaries for what comes back. ``make border`` writes both modules from the Rust types.
"""

from airtoll.border.canonical import plain as plain
from airtoll.border.canonical import to_json as to_json
from airtoll.border.requests import *  # noqa: F403
