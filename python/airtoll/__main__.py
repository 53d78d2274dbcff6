"""``python -m airtoll``: the command line."""

from airtoll.cli import main

main()
