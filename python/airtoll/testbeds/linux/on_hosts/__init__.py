"""Programs that run on the hosts of a trial, by the hosts' own Python.

They import the standard library, attrs and a few modules of this package that are pure Python:
``shipping`` sends these to a host that does not have them. Never imports the native module.
"""
