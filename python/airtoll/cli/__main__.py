"""``python -m airtoll.cli``: the same as ``airtoll``."""

from airtoll.cli import main

main()
