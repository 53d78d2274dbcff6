"""Observations: the schema, the journal of a running study, and tables on disk.

Takes rows; gives Parquet files in canonical order. Never imports a testbed.
"""
