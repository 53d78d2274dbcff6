"""A throw-away Linux guest: no root, no radio and no matching kernel on the host are needed.

Takes a kernel package of the distribution and the host's own files (read-only); gives a running
machine with an agent that runs commands and calls functions in it. Never installs anything on
the host, never writes outside its cache folder and the share, never outlives its owner.
"""
