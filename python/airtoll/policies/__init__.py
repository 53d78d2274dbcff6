"""The catalogue of security policies: names, composition, octets, services, references.

Takes a policy name (or an alias used by a paper); gives a frozen :class:`Policy`.
Never runs a handshake or a cipher: it describes them.
"""
