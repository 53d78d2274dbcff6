"""Readings of other tools, in the observation schema.

Files of iperf3, irtt, flent or a CSV table, with the cell that they belong to, give observation
rows (``testbed`` = ``imported``) in the schema's units. A value that the file lacks stays missing.
A file with several results one after the other (``iperf3 --json --logfile``) gives a trial each.

    iperf3.py   iperf3 --json
    irtt.py     irtt client -o FILE.json[.gz]
    flent.py    flent's *.flent[.gz]
    files.py    files of any of these formats: rows with their cell
    table.py    CSV with a metric, a value and a unit per row
"""
