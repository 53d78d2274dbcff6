"""Hosts with real radios: the lab file, its cells, questions beforehand, regulation."""
