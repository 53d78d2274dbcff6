"""A file of any known form as networks.

Takes a path (``-``: standard input); gives networks with what was understood. Never keeps a secret.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from airtoll.errors import UsageError
from airtoll.network import beacons, hostapd_conf, iw, nmcli, openwrt, supplicant_conf
from airtoll.network.judging import finish
from airtoll.network.model import Network

#: Readers of texts, those that know their own form surest first.
_READERS: Final = (openwrt, supplicant_conf, iw, nmcli, hostapd_conf)
FORMATS: Final = tuple(
    one.FORMAT for one in (hostapd_conf, openwrt, supplicant_conf, nmcli, iw, beacons)
)
#: A text of settings is shorter, octets.
_LARGEST: Final = 4_000_000


def read(source: str) -> tuple[Network, ...]:
    """The networks of a file, in its order.

    Raises ``UsageError`` for a file that cannot be read or has no known form, ``CaptureError`` for
    a damaged capture.
    """
    try:
        if source == "-":
            octets = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with Path(source).open("rb") as handle:
                octets = handle.read(4)
                if beacons.matches(octets):
                    return tuple(finish(draft) for draft in beacons.drafts([source]))
                octets += handle.read(_LARGEST)
    except OSError as error:
        raise UsageError(f"--from {source}: cannot be read: {error.strerror}") from error
    if source == "-" and beacons.matches(octets):
        raise UsageError("--from -: a capture on standard input: give its file")
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"--from {source}: neither text nor a capture") from None
    if len(octets) > _LARGEST:
        raise UsageError(f"--from {source}: larger than {_LARGEST / 1e6:g} MB")
    if not text.strip():
        raise UsageError(f"--from {source}: it is empty; known forms are {', '.join(FORMATS)}")
    for reader in _READERS:
        if reader.matches(text):
            return tuple(finish(draft) for draft in reader.drafts(text, source))
    raise UsageError(f"--from {source}: no known form; known are {', '.join(FORMATS)}")
