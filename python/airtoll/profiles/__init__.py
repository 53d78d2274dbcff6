"""Device profiles: the costs of a device's host stack, ciphers and handshakes.

Takes a profile name; gives a frozen profile in which every number has a source.
Never fits a number itself (see ``airtoll.analyse``).
"""

from airtoll.profiles.load import load, load_file, shipped
from airtoll.profiles.model import (
    Capabilities,
    Card,
    CardCost,
    CipherCost,
    Engine,
    Number,
    Profile,
    Reading,
    TunnelCost,
)

__all__ = [
    "Capabilities",
    "Card",
    "CardCost",
    "CipherCost",
    "Engine",
    "Number",
    "Profile",
    "Reading",
    "TunnelCost",
    "load",
    "load_file",
    "shipped",
]
