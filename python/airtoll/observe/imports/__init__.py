"""Readings of other tools, in the observation schema.

Files of iperf3, irtt, flent or a CSV table, with the cell that they belong to, give observation
rows (``testbed`` = ``imported``) in the schema's units. A value that the file lacks stays missing,
and a caveat of its trial says why. A file with several results one after the other (``iperf3 --json
--logfile``) gives a trial each; two records of one test are one trial.

    documents.py  octets to text to JSON documents, with limits
    iperf3.py     iperf3 --json, iperf3 --json-stream
    irtt.py       irtt client -o FILE.json[.gz]
    flent.py      flent's *.flent[.gz|.bz2]
    table.py      CSV with a metric, a value and a unit per row
    value.py      one value in its range, one test
    trial.py      trials, and the tables that they make
    files.py      files of any of these formats: trials with their cell
    folder.py     a folder of imported readings: journal and tables
"""
