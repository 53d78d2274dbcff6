"""The catalogue of security policies: names, composition, octets, services, references.

Takes a policy name (or an alias used by a paper); gives a frozen :class:`Policy`.
Never runs a handshake or a cipher: it describes them.
"""

from airtoll.policies.catalogue import aliases, catalogue, resolve
from airtoll.policies.model import (
    AccessControl,
    Cipher,
    Generation,
    Link,
    Policy,
    Reference,
    Services,
    Tunnel,
)

__all__ = [
    "AccessControl",
    "Cipher",
    "Generation",
    "Link",
    "Policy",
    "Reference",
    "Services",
    "Tunnel",
    "aliases",
    "catalogue",
    "resolve",
]
