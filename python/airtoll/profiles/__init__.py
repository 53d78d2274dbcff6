"""Device profiles: what a device's host stack, ciphers and handshakes cost, number by number.

Takes a profile name; gives a frozen profile in which every number has a source.
Never fits a number itself (see ``airtoll.analyse``).
"""
