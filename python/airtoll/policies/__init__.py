"""The catalogue of security policies: names, composition, octets, services, references.

Takes a policy name (or an alias used by a paper); gives a frozen :class:`Policy`.
Never runs a handshake or a cipher: it describes them.
"""

from airtoll.policies.catalogue import aliases, catalogue, resolve
from airtoll.policies.display import display_name
from airtoll.policies.model import (
    AccessControl,
    Generation,
    Link,
    Policy,
    Reference,
    Services,
    Tunnel,
)
from airtoll.policies.suites import Akm, Cipher, EapMethod

__all__ = [
    "AccessControl",
    "Akm",
    "Cipher",
    "EapMethod",
    "Generation",
    "Link",
    "Policy",
    "Reference",
    "Services",
    "Tunnel",
    "aliases",
    "catalogue",
    "display_name",
    "resolve",
]
